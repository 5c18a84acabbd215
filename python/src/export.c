/* What leaves a tensor: buffers, DLPack, NumPy arrays, Python numbers. */
#include "core.h"

#include <string.h>

static fer_tensor *of(PyObject *self)
{
    return ((fpy_tensor *)self)->tensor;
}

/* --- The buffer protocol ---------------------------------------------------------------------- */

_Static_assert(sizeof(long) == sizeof(int64_t), "NumPy's own int64 is C's long");

/* NULL: Python has no code for it. */
static char *format_of(fer_dtype dtype)
{
    static char *const FORMATS[FER_NUM_DTYPES] = {
        [FER_BOOL] = "?", [FER_I8] = "b",  [FER_I16] = "h", [FER_I32] = "i",
        [FER_I64] = "l",  [FER_U8] = "B",  [FER_U16] = "H", [FER_U32] = "I",
        [FER_U64] = "L",  [FER_F16] = "e", [FER_F32] = "f", [FER_F64] = "d",
    };
    return FORMATS[dtype];
}

static int fail_buffer(const char *why)
{
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
}

static void fill_strides(const fer_tensor *tensor, Py_ssize_t *strides)
{
    int64_t elements[FER_MAX_RANK];
    fer_tensor_strides(tensor, elements);
    for (size_t i = 0; i < fer_tensor_rank(tensor); i++)
        strides[i] = elements[i] * (Py_ssize_t)fer_dtype_bytes(fer_tensor_dtype(tensor));
}

/* In the order that the consumer asks for; who takes no strides takes C's. */
static int check_order(const Py_buffer *view, int flags)
{
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS)
        return PyBuffer_IsContiguous(view, 'F') ? 0 : fail_buffer("the tensor is not column-major");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS)
        return PyBuffer_IsContiguous(view, 'A') ? 0 : fail_buffer("the tensor is not compact");
    bool needs_c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                   (flags & PyBUF_STRIDES) != PyBUF_STRIDES;
    return !needs_c || PyBuffer_IsContiguous(view, 'C')
               ? 0
               : fail_buffer("the tensor is not compact row-major");
}

/* Who asks for no format gets the bytes, of every dtype. */
static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    fer_tensor *tensor = of(self);
    fer_dtype dtype = fer_tensor_dtype(tensor);
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) != 0 && fer_tensor_is_read_only(tensor))
        return fail_buffer("the tensor is read-only");
    if ((flags & PyBUF_FORMAT) != 0 && format_of(dtype) == NULL)
        return fail_buffer("Python's buffers have no format for these elements; numpy() gives an "
                           "array when ml_dtypes is installed");
    size_t rank = fer_tensor_rank(tensor);
    Py_ssize_t *strides = PyMem_Malloc((rank + 1) * sizeof *strides);
    if (strides == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    fill_strides(tensor, strides);
    *view = (Py_buffer){
        .buf = fer_tensor_data(tensor),
        .len = (Py_ssize_t)fer_tensor_num_bytes(tensor),
        .itemsize = (Py_ssize_t)fer_dtype_bytes(dtype),
        .readonly = fer_tensor_is_read_only(tensor),
        .ndim = (int)rank,
        .format = (flags & PyBUF_FORMAT) != 0 ? format_of(dtype) : NULL,
        .shape = rank > 0 ? (Py_ssize_t *)(uintptr_t)fer_tensor_shape(tensor) : NULL,
        .strides = rank > 0 ? strides : NULL,
        .internal = strides,
    };
    if (check_order(view, flags) < 0) {
        PyMem_Free(strides);
        return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
        view->strides = NULL;
    if ((flags & PyBUF_ND) == 0) {
        view->shape = NULL;
        view->ndim = 1;
    }
    view->obj = Py_NewRef(self);
    return 0;
}

static void release_buffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    PyMem_Free(view->internal);
}

PyBufferProcs fpy_tensor_as_buffer = {
    .bf_getbuffer = get_buffer,
    .bf_releasebuffer = release_buffer,
};

/* --- DLPack ----------------------------------------------------------------------------------- */

static const char OLD[] = "dltensor";
static const char VERSIONED[] = "dltensor_versioned";

/* A capsule that nobody consumed still has its name. */
static void drop_old(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, OLD))
        return;
    fer_dl_managed_tensor *managed = PyCapsule_GetPointer(capsule, OLD);
    managed->deleter(managed);
}

static void drop_versioned(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, VERSIONED))
        return;
    fer_dl_managed_tensor_versioned *managed = PyCapsule_GetPointer(capsule, VERSIONED);
    managed->deleter(managed);
}

static PyObject *offer_old(fer_tensor *tensor, bool as_copy, fer_error *error)
{
    fer_dl_managed_tensor *managed;
    if (fer_tensor_to_dlpack(tensor, as_copy, &managed, error) != FER_OK)
        return NULL;
    PyObject *capsule = PyCapsule_New(managed, OLD, drop_old);
    if (capsule == NULL)
        managed->deleter(managed);
    return capsule;
}

static PyObject *offer_versioned(fer_tensor *tensor, bool as_copy, fer_error *error)
{
    fer_dl_managed_tensor_versioned *managed;
    if (fer_tensor_to_dlpack_versioned(tensor, as_copy, &managed, error) != FER_OK)
        return NULL;
    PyObject *capsule = PyCapsule_New(managed, VERSIONED, drop_versioned);
    if (capsule == NULL)
        managed->deleter(managed);
    return capsule;
}

static bool is_given(PyObject *object)
{
    return object != NULL && object != Py_None;
}

static int read_pair(PyObject *pair, const char *what, int *out_first, int *out_second)
{
    if (PyTuple_Check(pair))
        return PyArg_ParseTuple(pair, "ii", out_first, out_second) ? 0 : -1;
    PyErr_Format(PyExc_TypeError, "%s is a tuple of two integers, not %s", what,
                 Py_TYPE(pair)->tp_name);
    return -1;
}

static int check_place(const fer_tensor *tensor, PyObject *stream, PyObject *device)
{
    int kind, id;
    if (is_given(stream))
        return fail_buffer("host memory has no streams; stream has to be None");
    if (!is_given(device))
        return 0;
    if (read_pair(device, "dl_device", &kind, &id) < 0)
        return -1;
    if (kind == 1 && id == fer_tensor_device(tensor).id)
        return 0;
    return fail_buffer("the tensor is in host memory and is not moved to another device");
}

PyObject *fpy_tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    int major = 0, minor = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version,
                                     &device, &copy) ||
        check_place(of(self), stream, device) < 0)
        return NULL;
    if (is_given(version) && read_pair(version, "max_version", &major, &minor) < 0)
        return NULL;
    int as_copy = is_given(copy) ? PyObject_IsTrue(copy) : 0;
    if (as_copy < 0)
        return NULL;
    fer_error error = FER_ERROR_INIT;
    PyObject *capsule = major >= FER_DL_VERSION_MAJOR
                            ? offer_versioned(of(self), as_copy != 0, &error)
                            : offer_old(of(self), as_copy != 0, &error);
    if (capsule == NULL && error.kind == FER_VALUE_ERROR)
        PyErr_SetString(PyExc_BufferError, error.message);
    else if (capsule == NULL && error.kind != FER_OK)
        return fpy_raise(&error);
    fer_error_clear(&error);
    return capsule;
}

PyObject *fpy_tensor_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("ii", 1, (int)fer_tensor_device(of(self)).id);
}

/* --- NumPy ------------------------------------------------------------------------------------ */

/* A tensor of integers over the same memory. */
static PyObject *make_bits(fer_tensor *tensor)
{
    fer_tensor *bits;
    fer_error error = FER_ERROR_INIT;
    fer_dl_managed_tensor_versioned *managed;
    if (fer_tensor_to_dlpack_versioned(tensor, false, &managed, &error) != FER_OK)
        return fpy_raise(&error);
    managed->dl_tensor.dtype.code = fer_dtype_dlpack_code(FER_U8);
    if (fer_tensor_from_dlpack_versioned(managed, FER_DL_COPY_IF_NEEDED, &bits, &error) == FER_OK)
        return fpy_tensor_object(bits);
    managed->deleter(managed);
    return fpy_raise(&error);
}

/* The bits, then called what they are. */
static PyObject *array_of_bits(PyObject *numpy, fer_tensor *tensor)
{
    PyObject *dtype = fpy_dtype_numpy(fer_tensor_dtype(tensor));
    PyObject *bits = dtype == NULL ? NULL : make_bits(tensor);
    PyObject *array = bits == NULL ? NULL : PyObject_CallMethod(numpy, "asarray", "O", bits);
    PyObject *named = array == NULL ? NULL : PyObject_CallMethod(array, "view", "O", dtype);
    Py_XDECREF(array);
    Py_XDECREF(bits);
    Py_XDECREF(dtype);
    return named;
}

PyObject *fpy_tensor_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return NULL;
    PyObject *array = format_of(fer_tensor_dtype(of(self))) == NULL
                          ? array_of_bits(numpy, of(self))
                          : PyObject_CallMethod(numpy, "asarray", "O", self);
    Py_DECREF(numpy);
    return array;
}

PyObject *fpy_tensor_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = NULL, *copy = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    PyObject *array = fpy_tensor_numpy(self, NULL);
    if (array == NULL || (!is_given(dtype) && copy != Py_True))
        return array;
    PyObject *given = is_given(dtype) ? Py_NewRef(dtype) : PyObject_GetAttrString(array, "dtype");
    PyObject *astype = given == NULL ? NULL : PyObject_GetAttrString(array, "astype");
    PyObject *options =
        astype == NULL ? NULL : Py_BuildValue("{sO}", "copy", copy == Py_True ? Py_True : Py_False);
    PyObject *made = options == NULL ? NULL : PyObject_VectorcallDict(astype, &given, 1, options);
    if (made != NULL && copy == Py_False && made != array) {
        Py_CLEAR(made);
        PyErr_SetString(PyExc_ValueError, "another dtype needs a copy, and copy=False forbids it");
    }
    Py_XDECREF(options);
    Py_XDECREF(astype);
    Py_XDECREF(given);
    Py_DECREF(array);
    return made;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static PyObject *number_object(fer_number number)
{
    switch (number.kind) {
    case FER_NUMBER_BOOL:
        return PyBool_FromLong(number.value.as_bool);
    case FER_NUMBER_INT:
        return PyLong_FromLongLong(number.value.as_int);
    case FER_NUMBER_UINT:
        return PyLong_FromUnsignedLongLong(number.value.as_uint);
    case FER_NUMBER_FLOAT:
        break;
    }
    return PyFloat_FromDouble(number.value.as_float);
}

PyObject *fpy_tensor_item(PyObject *self, PyObject *unused)
{
    (void)unused;
    int64_t count = fer_tensor_num_elements(of(self));
    if (count == 1)
        return number_object(fer_tensor_element(of(self), 0));
    return PyErr_Format(PyExc_ValueError, "a tensor of %lld elements is no single number",
                        (long long)count);
}

/* Depth is the rank, at most FER_MAX_RANK. */
static PyObject *list_part(const fer_tensor *tensor, size_t axis, int64_t index)
{
    if (axis == fer_tensor_rank(tensor))
        return number_object(fer_tensor_element(tensor, index));
    int64_t extent = fer_tensor_shape(tensor)[axis];
    PyObject *list = PyList_New((Py_ssize_t)extent);
    for (int64_t i = 0; list != NULL && i < extent; i++) {
        PyObject *item = list_part(tensor, axis + 1, index * extent + i);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
    }
    return list;
}

PyObject *fpy_tensor_tolist(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_part(of(self), 0, 0);
}

/* --- From sequences --------------------------------------------------------------------------- */

static bool is_nested(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object);
}

/* What a sequence holds, found by its first items and checked of all. */
typedef struct reading {
    size_t rank;
    int64_t extents[FER_MAX_RANK];
    fer_dtype dtype;
    bool has_float, has_int, has_bool;
    fer_tensor *tensor;
    char *cursor; /* the next element */
    size_t element_bytes;
} reading;

static int find_shape(PyObject *data, reading *r)
{
    PyObject *part = Py_NewRef(data);
    while (is_nested(part)) {
        Py_ssize_t length = PySequence_Size(part);
        if (r->rank == FER_MAX_RANK) {
            PyErr_SetString(PyExc_ValueError, "the sequences are nested more than 8 deep");
            length = -1;
        }
        if (length < 0) {
            Py_DECREF(part);
            return -1;
        }
        r->extents[r->rank++] = length;
        PyObject *first = length == 0 ? Py_NewRef(Py_None) : PySequence_GetItem(part, 0);
        Py_DECREF(part);
        if (first == NULL)
            return -1;
        part = first;
    }
    Py_DECREF(part);
    return 0;
}

int fpy_any_number_from(PyObject *object, fer_number *out_number)
{
    int is_number = fpy_number_from(object, out_number);
    if (is_number != 0)
        return is_number;
    PyObject *number = NULL;
    if (PyIndex_Check(object))
        number = PyNumber_Index(object);
    else if (Py_TYPE(object)->tp_as_number != NULL &&
             Py_TYPE(object)->tp_as_number->nb_float != NULL)
        number = PyNumber_Float(object);
    else
        PyErr_Format(PyExc_TypeError, "expected a number, not %s", Py_TYPE(object)->tp_name);
    is_number = number == NULL ? -1 : fpy_number_from(number, out_number);
    Py_XDECREF(number);
    return is_number;
}

static int note_kind(fer_number number, reading *r)
{
    r->has_float |= number.kind == FER_NUMBER_FLOAT;
    r->has_int |= number.kind == FER_NUMBER_INT || number.kind == FER_NUMBER_UINT;
    r->has_bool |= number.kind == FER_NUMBER_BOOL;
    return 0;
}

static int store(fer_number number, reading *r)
{
    fer_tensor *scalar;
    fer_error error = FER_ERROR_INIT;
    if (fer_tensor_scalar(r->dtype, (fer_device){0}, number, &scalar, &error) != FER_OK) {
        fpy_raise(&error);
        return -1;
    }
    memcpy(r->cursor, fer_tensor_const_data(scalar), r->element_bytes);
    r->cursor += r->element_bytes;
    fer_tensor_release(scalar);
    return 0;
}

static int visit(PyObject *data, size_t axis, reading *r, int (*take)(fer_number, reading *))
{
    if (axis == r->rank) {
        fer_number number;
        return fpy_any_number_from(data, &number) < 0 ? -1 : take(number, r);
    }
    if (!is_nested(data) || PySequence_Size(data) != r->extents[axis]) {
        PyErr_Format(PyExc_ValueError, "the nested sequences are of different lengths at axis %zu",
                     axis);
        return -1;
    }
    int result = 0;
    for (int64_t i = 0; result == 0 && i < r->extents[axis]; i++) {
        PyObject *item = PySequence_GetItem(data, (Py_ssize_t)i);
        result = item == NULL ? -1 : visit(item, axis + 1, r, take);
        Py_XDECREF(item);
    }
    return result;
}

PyObject *fpy_tensor_from_sequence(PyObject *data, fer_dtype dtype, fer_device device)
{
    reading r = {.dtype = dtype};
    fer_error error = FER_ERROR_INIT;
    if (find_shape(data, &r) < 0 || visit(data, 0, &r, note_kind) < 0)
        return NULL;
    if (dtype == FER_DTYPE_INVALID && r.has_bool && !r.has_int && !r.has_float)
        r.dtype = FER_BOOL;
    else if (dtype == FER_DTYPE_INVALID)
        r.dtype = r.has_int && !r.has_float ? FER_I64 : FER_F32;
    if (fer_tensor_empty(r.dtype, r.rank, r.extents, device, &r.tensor, &error) != FER_OK)
        return fpy_raise(&error);
    r.cursor = fer_tensor_data(r.tensor);
    r.element_bytes = fer_dtype_bytes(r.dtype);
    if (visit(data, 0, &r, store) == 0)
        return fpy_tensor_object(r.tensor);
    fer_tensor_release(r.tensor);
    return NULL;
}
