/* Tensor: its life, making it, and what it says of itself. What leaves it is in export.c. */
#include "core.h"

#include <string.h>

static fer_tensor *of(PyObject *self)
{
    return ((fpy_tensor *)self)->tensor;
}

/* --- Life ------------------------------------------------------------------------------------- */

/* Objects of tensors that went, for those to come: each call makes one. The GIL guards it. */
#define MAX_FREE 64
static fpy_tensor *free_objects[MAX_FREE];
static int num_free;

PyObject *fpy_tensor_object(fer_tensor *tensor)
{
    fpy_tensor *self;
    if (num_free > 0) {
        self = free_objects[--num_free];
        (void)PyObject_Init((PyObject *)self, &fpy_class_tensor);
    } else {
        self = fpy_new(&fpy_class_tensor);
    }
    if (self == NULL)
        fer_tensor_release(tensor);
    else
        self->tensor = tensor;
    return (PyObject *)self;
}

void fpy_tensor_release(fer_tensor *tensor)
{
    PyObject *exception = PyErr_Occurred() == NULL ? NULL : fpy_take_exception();
    fer_tensor_release(tensor);
    if (exception != NULL)
        fpy_put_exception(exception);
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    fpy_tensor_release(of(self));
    if (num_free < MAX_FREE)
        free_objects[num_free++] = (fpy_tensor *)self;
    else
        PyObject_Free(self);
}

static PyObject *make(fer_status status, fer_tensor *tensor, fer_error *error)
{
    return status == FER_OK ? fpy_tensor_object(tensor) : fpy_raise(error);
}

/* --- Making ----------------------------------------------------------------------------------- */

static int read_extent(PyObject *object, int64_t *out_extent)
{
    PyObject *number = PyNumber_Index(object);
    *out_extent = number == NULL ? -1 : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    return PyErr_Occurred() == NULL ? 0 : -1;
}

int fpy_extents_from(PyObject *shape, int64_t *extents, size_t *out_rank)
{
    *out_rank = 1;
    if (PyIndex_Check(shape) && !PySequence_Check(shape))
        return read_extent(shape, &extents[0]);
    PyObject *items = fpy_items(shape, "a shape is an integer or a sequence of integers");
    int result = items == NULL ? -1 : 0;
    Py_ssize_t rank = items == NULL ? 0 : PyTuple_GET_SIZE(items);
    for (Py_ssize_t i = 0; result == 0 && i < rank && i < FER_MAX_RANK; i++)
        result = read_extent(PyTuple_GET_ITEM(items, i), &extents[i]);
    Py_XDECREF(items);
    *out_rank = (size_t)rank;
    return result;
}

/* What the creators share: where and of what. */
typedef struct layout {
    fer_dtype dtype;
    size_t rank;
    int64_t extents[FER_MAX_RANK];
    fer_device device;
} layout;

static int read_layout(PyObject *shape, PyObject *dtype, PyObject *device, layout *out)
{
    out->dtype = FER_F32;
    if (dtype != NULL && dtype != Py_None && fpy_dtype_from(dtype, &out->dtype) < 0)
        return -1;
    if (fpy_device_from(device, &out->device) < 0)
        return -1;
    return fpy_extents_from(shape, out->extents, &out->rank);
}

typedef fer_status (*creator)(fer_dtype dtype, size_t rank, const int64_t *shape, fer_device device,
                              fer_tensor **out_tensor, fer_error *error);

static PyObject *make_with(PyObject *args, PyObject *kwargs, creator create)
{
    static char *names[] = {"shape", "dtype", "device", NULL};
    PyObject *shape, *dtype = NULL, *device = NULL;
    layout l;
    fer_tensor *tensor = NULL;
    fer_error error = FER_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO", names, &shape, &dtype, &device) ||
        read_layout(shape, dtype, device, &l) < 0)
        return NULL;
    fer_status status = create(l.dtype, l.rank, l.extents, l.device, &tensor, &error);
    return make(status, tensor, &error);
}

static PyObject *make_ones(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return make_with(args, kwargs, fer_tensor_ones);
}

static PyObject *make_zeros(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return make_with(args, kwargs, fer_tensor_zeros);
}

static PyObject *make_empty(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return make_with(args, kwargs, fer_tensor_empty);
}

static PyObject *make_full(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    static char *names[] = {"shape", "value", "dtype", "device", NULL};
    PyObject *shape, *value, *dtype = NULL, *device = NULL;
    layout l;
    fer_number number;
    fer_tensor *tensor = NULL;
    fer_error error = FER_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:full", names, &shape, &value, &dtype,
                                     &device) ||
        read_layout(shape, dtype, device, &l) < 0 || fpy_any_number_from(value, &number) < 0)
        return NULL;
    fer_status status =
        fer_tensor_full(l.dtype, l.rank, l.extents, l.device, number, &tensor, &error);
    return make(status, tensor, &error);
}

/* Integers alone make i64, as Python's range does. */
static PyObject *make_arange(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    static char *names[] = {"start", "stop", "step", "dtype", "device", NULL};
    PyObject *given[3] = {NULL, NULL, NULL}, *dtype_given = NULL, *device_given = NULL;
    fer_number numbers[3] = {{.kind = FER_NUMBER_INT},
                             {.kind = FER_NUMBER_INT},
                             {.kind = FER_NUMBER_INT, .value.as_int = 1}};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOO:arange", names, &given[0], &given[1],
                                     &given[2], &dtype_given, &device_given))
        return NULL;
    if (given[1] == NULL || given[1] == Py_None) {
        given[1] = given[0];
        given[0] = NULL;
    }
    fer_dtype dtype = FER_I64;
    for (int i = 0; i < 3; i++) {
        if (given[i] != NULL && given[i] != Py_None &&
            fpy_any_number_from(given[i], &numbers[i]) < 0)
            return NULL;
        if (numbers[i].kind == FER_NUMBER_FLOAT)
            dtype = FER_F32;
    }
    fer_device device;
    if ((dtype_given != NULL && dtype_given != Py_None &&
         fpy_dtype_from(dtype_given, &dtype) < 0) ||
        fpy_device_from(device_given, &device) < 0)
        return NULL;
    fer_tensor *tensor = NULL;
    fer_error error = FER_ERROR_INIT;
    fer_status status =
        fer_tensor_arange(dtype, numbers[0], numbers[1], numbers[2], device, &tensor, &error);
    return make(status, tensor, &error);
}

/* What has memory, else None. */
static PyObject *import_any(PyObject *object, PyObject *copy)
{
    fpy_sharing sharing = FPY_COPY_IF_NEEDED;
    if (copy != NULL && copy != Py_None) {
        int is_copy = PyObject_IsTrue(copy);
        if (is_copy < 0)
            return NULL;
        sharing = is_copy ? FPY_COPY : FPY_SHARE;
    }
    fer_tensor *tensor;
    int result = fpy_import(object, sharing, &tensor);
    if (result < 0)
        return NULL;
    return result == 0 ? Py_NewRef(Py_None) : fpy_tensor_object(tensor);
}

static PyObject *from_object(PyObject *args, PyObject *kwargs, const char *format, const char *what)
{
    static char *names[] = {"", "copy", NULL};
    PyObject *object, *copy = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &object, &copy))
        return NULL;
    PyObject *tensor = import_any(object, copy);
    if (tensor != Py_None)
        return tensor;
    Py_DECREF(tensor);
    return PyErr_Format(PyExc_TypeError, "%s has no %s", Py_TYPE(object)->tp_name, what);
}

static PyObject *from_dlpack(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return from_object(args, kwargs, "O|$O:from_dlpack",
                       "memory to share by DLPack or as a buffer");
}

static PyObject *from_numpy(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return from_object(args, kwargs, "O|$O:from_numpy", "elements; it is no array");
}

/* Numbers of another dtype than the object's own would be a conversion, which `cast` does. */
static PyObject *check_dtype(PyObject *tensor, fer_dtype wanted)
{
    fer_dtype dtype = fer_tensor_dtype(of(tensor));
    if (dtype == wanted)
        return tensor;
    Py_DECREF(tensor);
    return PyErr_Format(
        PyExc_ValueError,
        "the elements are %s, not %s; convert them first (the standard op `cast` does)",
        fer_dtype_name(dtype), fer_dtype_name(wanted));
}

static PyObject *create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    static char *names[] = {"data", "dtype", "device", NULL};
    PyObject *data, *dtype_given = NULL, *device_given = NULL;
    fer_dtype dtype = FER_DTYPE_INVALID;
    fer_device device;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:Tensor", names, &data, &dtype_given,
                                     &device_given) ||
        (dtype_given != NULL && dtype_given != Py_None &&
         fpy_dtype_from(dtype_given, &dtype) < 0) ||
        fpy_device_from(device_given, &device) < 0)
        return NULL;
    PyObject *tensor = import_any(data, Py_True);
    if (tensor == Py_None) {
        Py_DECREF(tensor);
        return fpy_tensor_from_sequence(data, dtype, device);
    }
    if (tensor != NULL && dtype != FER_DTYPE_INVALID)
        tensor = check_dtype(tensor, dtype);
    if (tensor == NULL || device.id == fer_tensor_device(of(tensor)).id)
        return tensor;
    fer_tensor *moved = NULL;
    fer_error error = FER_ERROR_INIT;
    fer_status status = fer_tensor_clone(of(tensor), device, &moved, &error);
    Py_DECREF(tensor);
    return make(status, moved, &error);
}

static PyObject *copy_to(PyObject *self, PyObject *device_given)
{
    fer_device device;
    fer_tensor *tensor = NULL;
    fer_error error = FER_ERROR_INIT;
    if (fpy_device_from(device_given, &device) < 0)
        return NULL;
    if (device.id == fer_tensor_device(of(self)).id)
        return Py_NewRef(self);
    fer_status status = fer_tensor_clone(of(self), device, &tensor, &error);
    return make(status, tensor, &error);
}

static PyObject *copy_here(PyObject *self, PyObject *unused)
{
    (void)unused;
    fer_tensor *tensor = NULL;
    fer_error error = FER_ERROR_INIT;
    fer_status status = fer_tensor_clone(of(self), fer_tensor_device(of(self)), &tensor, &error);
    return make(status, tensor, &error);
}

/* The elements go as bytes; on the way back a tensor of the same type and device is filled. */
static PyObject *restore(PyObject *class, PyObject *args)
{
    (void)class;
    PyObject *dtype_given, *shape, *device;
    Py_buffer bytes;
    layout l = {0};
    if (!PyArg_ParseTuple(args, "OOOy*", &dtype_given, &shape, &device, &bytes))
        return NULL;
    fer_tensor *tensor = NULL;
    fer_error error = FER_ERROR_INIT;
    fer_status status = FER_OK;
    PyObject *result = NULL;
    if (read_layout(shape, dtype_given, device, &l) == 0) {
        status = fer_tensor_empty(l.dtype, l.rank, l.extents, l.device, &tensor, &error);
        if (status == FER_OK && fer_tensor_num_bytes(tensor) == (size_t)bytes.len)
            memcpy(fer_tensor_data(tensor), bytes.buf, (size_t)bytes.len);
        result = make(status, tensor, &error);
        if (result != NULL && fer_tensor_num_bytes(tensor) != (size_t)bytes.len) {
            Py_CLEAR(result);
            PyErr_SetString(PyExc_ValueError, "the bytes are not as many as the shape needs");
        }
    }
    PyBuffer_Release(&bytes);
    return result;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    fer_tensor *tensor;
    fer_error error = FER_ERROR_INIT;
    if (fer_tensor_compact(of(self), &tensor, &error) != FER_OK)
        return fpy_raise(&error);
    PyObject *reduced =
        Py_BuildValue("N(NNNN)", PyObject_GetAttrString((PyObject *)&fpy_class_tensor, "_restore"),
                      fpy_dtype_object(fer_tensor_dtype(tensor)),
                      fpy_extents(fer_tensor_shape(tensor), fer_tensor_rank(tensor)),
                      fpy_device_object(fer_tensor_device(tensor)),
                      PyBytes_FromStringAndSize(fer_tensor_const_data(tensor),
                                                (Py_ssize_t)fer_tensor_num_bytes(tensor)));
    fpy_tensor_release(tensor);
    return reduced;
}

/* --- Looking ---------------------------------------------------------------------------------- */

PyObject *fpy_extents(const int64_t *extents, size_t rank)
{
    PyObject *shape = PyTuple_New((Py_ssize_t)rank);
    for (size_t i = 0; shape != NULL && i < rank; i++) {
        PyObject *extent = PyLong_FromLongLong(extents[i]);
        if (extent == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, (Py_ssize_t)i, extent);
    }
    return shape;
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_extents(fer_tensor_shape(of(self)), fer_tensor_rank(of(self)));
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_dtype_object(fer_tensor_dtype(of(self)));
}

static PyObject *get_device(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_device_object(fer_tensor_device(of(self)));
}

static PyObject *get_rank(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(fer_tensor_rank(of(self)));
}

static PyObject *get_num_elements(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(fer_tensor_num_elements(of(self)));
}

static PyObject *get_num_bytes(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(fer_tensor_num_bytes(of(self)));
}

static PyObject *get_read_only(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(fer_tensor_is_read_only(of(self)));
}

static PyObject *get_compact(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(fer_tensor_is_compact(of(self)));
}

static PyObject *get_type(PyObject *self, void *closure)
{
    (void)closure;
    fer_type *type;
    fer_error error = FER_ERROR_INIT;
    return fer_tensor_type(of(self), &type, &error) == FER_OK ? fpy_type_object(type)
                                                              : fpy_raise(&error);
}

static PyObject *show(PyObject *self)
{
    char *text = NULL;
    fer_error error = FER_ERROR_INIT;
    if (fer_tensor_print(of(self), &text, &error) != FER_OK)
        return fpy_raise(&error);
    return fpy_printed(text);
}

static PyGetSetDef members[] = {
    {"shape", get_shape, NULL,
     "A tuple of ints.\n\n"
     ">>> Tensor.ones((2, 3)).shape\n"
     "(2, 3)",
     NULL},
    {"dtype", get_dtype, NULL,
     "The DType.\n\n"
     ">>> Tensor([1, 2]).dtype\n"
     "DType.int64",
     NULL},
    {"device", get_device, NULL,
     "The DeviceRef.\n\n"
     ">>> Tensor(1).device\n"
     "DeviceRef.CPU()",
     NULL},
    {"rank", get_rank, NULL,
     "The number of axes.\n\n"
     ">>> Tensor.ones((2, 3)).rank\n"
     "2",
     NULL},
    {"ndim", get_rank, NULL,
     "The number of axes, by NumPy's name.\n\n"
     ">>> Tensor.ones((2, 3)).ndim\n"
     "2",
     NULL},
    {"size", get_num_elements, NULL,
     "The number of elements.\n\n"
     ">>> Tensor.ones((2, 3)).size\n"
     "6",
     NULL},
    {"nbytes", get_num_bytes, NULL,
     "Bytes of all elements.\n\n"
     ">>> Tensor.ones((2, 3), 'f64').nbytes\n"
     "48",
     NULL},
    {"type", get_type, NULL,
     "The TensorType.\n\n"
     ">>> Tensor.ones((2, 3)).type\n"
     "TensorType(f32[2, 3])",
     NULL},
    {"is_read_only", get_read_only, NULL,
     "Whether the elements must not be written: borrowed from what says so.\n\n"
     ">>> Tensor.from_dlpack(b'ab').is_read_only\n"
     "True",
     NULL},
    {"is_compact", get_compact, NULL,
     "Whether the elements lie in row-major order without gaps, as kernels need them.\n\n"
     ">>> Tensor.ones((2, 3)).is_compact\n"
     "True",
     NULL},
    {0},
};

#define FUNCTION(function) (PyCFunction)(void (*)(void))(function)
#define CREATOR (METH_VARARGS | METH_KEYWORDS | METH_CLASS)

static PyMethodDef methods[] = {
    {"ones", FUNCTION(make_ones), CREATOR,
     "ones($type, shape, dtype=None, device=None)\n--\n\n"
     "A tensor of ones, float32 unless `dtype` says.\n\n"
     "ValueError: a negative extent, rank above 8. OverflowError, MemoryError.\n\n"
     ">>> Tensor.ones((2, 3)).shape\n"
     "(2, 3)"},
    {"zeros", FUNCTION(make_zeros), CREATOR,
     "zeros($type, shape, dtype=None, device=None)\n--\n\n"
     "A tensor of zeros; arguments and errors as of ones.\n\n"
     ">>> Tensor.zeros(2, 'i8').tolist()\n"
     "[0, 0]"},
    {"empty", FUNCTION(make_empty), CREATOR,
     "empty($type, shape, dtype=None, device=None)\n--\n\n"
     "A tensor whose elements are whatever the memory holds; for `out=`. Arguments and errors as\n"
     "of ones.\n\n"
     ">>> Tensor.empty((2, 0)).shape\n"
     "(2, 0)"},
    {"full", FUNCTION(make_full), CREATOR,
     "full($type, shape, value, dtype=None, device=None)\n--\n\n"
     "A tensor of one number, float32 unless `dtype` says. A float is rounded to a float dtype;\n"
     "everything else has to be exact (ValueError).\n\n"
     ">>> Tensor.full(2, 7, DType.int8).tolist()\n"
     "[7, 7]"},
    {"arange", FUNCTION(make_arange), CREATOR,
     "arange($type, start, stop=None, step=1, dtype=None, device=None)\n--\n\n"
     "start, start + step, ... up to and without stop; `arange(n)` starts at 0. int64 when all\n"
     "are integers, else float32, unless `dtype` says.\n\n"
     ">>> Tensor.arange(3).tolist()\n"
     "[0, 1, 2]"},
    {"from_numpy", FUNCTION(from_numpy), CREATOR,
     "from_numpy($type, array, /, *, copy=None)\n--\n\n"
     "A tensor over an array's memory, which it keeps. Elements that are not compact stay where\n"
     "they are, too, and each call that reads them copies them; copy=False refuses them\n"
     "(ValueError), copy=True always copies, to a compact writable tensor.\n"
     "NotImplementedError: elements that have no dtype here, or the other byte order.\n\n"
     ">>> import numpy\n"
     ">>> array = numpy.zeros(2, 'f4')\n"
     ">>> array[0] = Tensor.from_numpy(array).numpy()[1] = 1\n"
     ">>> array\n"
     "array([1., 1.], dtype=float32)"},
    {"from_dlpack", FUNCTION(from_dlpack), CREATOR,
     "from_dlpack($type, x, /, *, copy=None)\n--\n\n"
     "A tensor over the memory of what has `__dlpack__` or a buffer, or of a DLPack capsule,\n"
     "which it consumes. `copy` as in from_numpy. NotImplementedError: memory of another "
     "device.\n\n"
     ">>> Tensor.from_dlpack(bytearray(b'ab')).tolist()\n"
     "[97, 98]"},
    {"numpy", fpy_tensor_numpy, METH_NOARGS,
     "numpy($self)\n--\n\n"
     "A NumPy array over the same memory. bfloat16 and the two float8 need ml_dtypes\n"
     "(ImportError).\n\n"
     ">>> Tensor.arange(3).numpy()\n"
     "array([0, 1, 2])"},
    {"item", fpy_tensor_item, METH_NOARGS,
     "item($self)\n--\n\n"
     "The only element, as a Python number. ValueError: there is not one.\n\n"
     ">>> Tensor.full((), 2.5).item()\n"
     "2.5"},
    {"tolist", fpy_tensor_tolist, METH_NOARGS,
     "tolist($self)\n--\n\n"
     "The elements in nested lists, of rank 0 a number.\n\n"
     ">>> Tensor.ones((1, 2)).tolist()\n"
     "[[1.0, 1.0]]"},
    {"to", copy_to, METH_O,
     "to($self, device, /)\n--\n\n"
     "A copy on that device, or the tensor itself where it is there already; None is the host.\n"
     "TypeError: what is no DeviceRef.\n\n"
     ">>> Tensor([1]).to(DeviceRef.CPU()).device\n"
     "DeviceRef.CPU()"},
    {"broadcast_to", fpy_tensor_broadcast, METH_O,
     "broadcast_to($self, shape, /)\n--\n\n"
     "A copy of that shape, by NumPy's rules (ValueError).\n\n"
     ">>> Tensor.arange(2).broadcast_to((2, 2)).tolist()\n"
     "[[0, 1], [0, 1]]"},
    {"copy", copy_here, METH_NOARGS,
     "copy($self)\n--\n\n"
     "A compact writable copy: of the same shape and dtype, on the same device.\n\n"
     ">>> Tensor.from_dlpack(b'ab').copy().is_read_only\n"
     "False"},
    {"__copy__", copy_here, METH_NOARGS, NULL},
    {"__deepcopy__", FUNCTION(copy_here), METH_O, NULL},
    {"__array__", FUNCTION(fpy_tensor_array), METH_VARARGS | METH_KEYWORDS,
     "__array__($self, dtype=None, copy=None)\n--\n\nWhat numpy.asarray asks for."},
    {"__dlpack__", FUNCTION(fpy_tensor_dlpack), METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule over the same memory, or with copy=True a copy.\n"
     "BufferError: another device, or memory that is read-only where the consumer's version\n"
     "cannot say so."},
    {"__dlpack_device__", fpy_tensor_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\nDLPack's (device type, id)."},
    {"_restore", restore, METH_VARARGS | METH_STATIC, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {0},
};

PyDoc_STRVAR(
    tensor_doc,
    "Tensor(data, dtype=None, device=None)\n--\n\n"
    "A compact row-major array in host memory. `data` is copied: numbers in nested\n"
    "sequences (floats become float32, integers int64, unless `dtype` says), or an array.\n"
    "from_numpy and from_dlpack share memory instead, however its elements lie.\n\n"
    "Its dtype, shape and address never change; its elements may: by `x[1:3] = y`, through\n"
    "NumPy, `out=` and `inout` operands.\n\n"
    "Operators are ops of the standard package, with NumPy's rules of broadcasting. Dtypes are\n"
    "not mixed; a number takes the tensor's dtype, and integers are divided as float64. Indices\n"
    "are integers, slices, `...` and None, and give copies.\n\n"
    "ValueError: ragged sequences, a number that the dtype cannot hold; operands whose shapes or\n"
    "dtypes do not fit. IndexError. KernelError: an integer by zero.\n\n"
    ">>> x = Tensor([[1, 2], [3, 4]])\n"
    ">>> x[0] += 10\n"
    ">>> x.shape, x.tolist()\n"
    "((2, 2), [[11, 12], [3, 4]])");

PyTypeObject fpy_class_tensor = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.Tensor",
    .tp_doc = tensor_doc,
    .tp_basicsize = sizeof(fpy_tensor),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create,
    .tp_dealloc = destroy,
    .tp_repr = show,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_richcompare = fpy_compare,
    .tp_as_number = &fpy_operators,
    .tp_as_sequence = &fpy_tensor_as_sequence,
    .tp_as_mapping = &fpy_tensor_as_mapping,
    .tp_as_buffer = &fpy_tensor_as_buffer,
    .tp_methods = methods,
    .tp_getset = members,
};

int fpy_add_tensors(PyObject *module)
{
    return fpy_add_class(module, &fpy_class_tensor);
}
