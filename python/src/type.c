/* TensorType and BufferType: a dtype, dims and a device. */
#include "core.h"

#include <string.h>

static fer_type *of(PyObject *self)
{
    return ((fpy_type *)self)->type;
}

static PyObject *make(PyTypeObject *class, fer_type *type)
{
    fpy_type *self = fpy_new(class);
    if (self == NULL)
        fer_type_release(type);
    else
        self->type = type;
    return (PyObject *)self;
}

PyObject *fpy_type_object(fer_type *type)
{
    return make(&fpy_class_type, type);
}

PyObject *fpy_value_type_object(const fer_value *value)
{
    return make(fer_value_is_inout(value) ? &fpy_class_buffer_type : &fpy_class_type,
                fer_type_retain(fer_value_type(value)));
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    fer_type_release(of(self));
    PyObject_Free(self);
}

static PyObject *create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "shape", "device", NULL};
    PyObject *given_dtype, *given_shape, *given_device = NULL;
    fer_dtype dtype;
    fer_device device;
    fer_dim *dims[FER_MAX_RANK];
    size_t rank;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O", names, &given_dtype, &given_shape,
                                     &given_device) ||
        fpy_dtype_from(given_dtype, &dtype) < 0 || fpy_device_from(given_device, &device) < 0 ||
        fpy_dims_from(given_shape, dims, FER_MAX_RANK, &rank) < 0)
        return NULL;
    fer_type *type;
    fer_error error = FER_ERROR_INIT;
    fer_status status =
        fer_type_create(dtype, rank, (const fer_dim *const *)dims, device, &type, &error);
    fpy_dims_clear(dims, rank < FER_MAX_RANK ? rank : FER_MAX_RANK);
    return status == FER_OK ? make(class, type) : fpy_raise(&error);
}

PyObject *fpy_type_shape(const fer_type *type)
{
    size_t rank = fer_type_rank(type);
    PyObject *shape = PyTuple_New((Py_ssize_t)rank);
    for (size_t i = 0; shape != NULL && i < rank; i++) {
        const fer_dim *dim = fer_type_dim(type, i);
        PyObject *item = dim == NULL ? Py_NewRef(Py_None) : fpy_dim_object(fer_dim_retain(dim));
        if (item == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, (Py_ssize_t)i, item);
    }
    return shape;
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_dtype_object(fer_type_dtype(of(self)));
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_type_shape(of(self));
}

static PyObject *get_rank(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(fer_type_rank(of(self)));
}

static PyObject *get_device(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_device_object(fer_type_device(of(self)));
}

static PyObject *text(PyObject *self)
{
    return fpy_text(fer_type_text(of(self)));
}

static PyObject *show(PyObject *self)
{
    return PyUnicode_FromFormat("%s(%s)", strrchr(Py_TYPE(self)->tp_name, '.') + 1,
                                fer_type_text(of(self)));
}

static PyObject *compare(PyObject *a, PyObject *b, int comparison)
{
    if (!Py_IS_TYPE(b, Py_TYPE(a)) || (comparison != Py_EQ && comparison != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(fer_type_equal(of(a), of(b)) == (comparison == Py_EQ));
}

static Py_hash_t hash(PyObject *self)
{
    PyObject *key = text(self);
    Py_hash_t result = key == NULL ? -1 : PyObject_Hash(key);
    Py_XDECREF(key);
    return result;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(NNN)", Py_TYPE(self), get_dtype(self, NULL), get_shape(self, NULL),
                         get_device(self, NULL));
}

static PyGetSetDef members[] = {
    {"dtype", get_dtype, NULL,
     "The DType.\n\n"
     ">>> TensorType('f32', ['n', 3]).dtype\n"
     "DType.float32",
     NULL},
    {"shape", get_shape, NULL,
     "A tuple of dims; None where only the data tells.\n\n"
     ">>> TensorType('f32', ['n', 3]).shape\n"
     "(SymbolicDim('n'), StaticDim(3))",
     NULL},
    {"rank", get_rank, NULL,
     "The number of dims.\n\n"
     ">>> TensorType('f32', ['n', 3]).rank\n"
     "2",
     NULL},
    {"device", get_device, NULL,
     "The DeviceRef.\n\n"
     ">>> TensorType('f32', []).device\n"
     "DeviceRef.CPU()",
     NULL},
    {0},
};

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {0},
};

PyDoc_STRVAR(type_doc,
             "TensorType(dtype, shape, device=None)\n--\n\n"
             "The type of a tensor or a graph's value. Dims are integers, names and\n"
             "expressions of them.\n\n"
             "TypeError: what is no dtype or dim; a symbol of a declaration.\n"
             "ValueError: rank above 8; a negative dim. OverflowError: too many elements.\n\n"
             ">>> TensorType(DType.float32, ['n', 8])\n"
             "TensorType(f32[n, 8])");

PyDoc_STRVAR(
    buffer_type_doc,
    "BufferType(dtype, shape, device=None)\n--\n\n"
    "The type of a graph's input that ops may change in its place: the caller's tensor\n"
    "changes. What it takes and refuses is TensorType's; the two are never equal.\n\n"
    ">>> graph = Graph('g', {'total': BufferType('f32', ['n']), 'x': TensorType('f32', [])})\n"
    ">>> total, x = graph.inputs\n"
    ">>> total[...] += x\n"
    ">>> graph.output()\n"
    ">>> tensor = Tensor([1.0, 2.0])\n"
    ">>> graph.compile()(tensor, 10.0)\n"
    ">>> tensor.tolist()\n"
    "[11.0, 12.0]");

#define TYPE_CLASS(name, doc)                                                                      \
    {                                                                                              \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = name, .tp_doc = doc,                              \
                                    .tp_basicsize = sizeof(fpy_type),                              \
                                    .tp_weaklistoffset = offsetof(fpy_object, weak_references),    \
                                    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = create,              \
                                    .tp_dealloc = destroy, .tp_repr = show, .tp_str = text,        \
                                    .tp_hash = hash, .tp_richcompare = compare,                    \
                                    .tp_methods = methods, .tp_getset = members,                   \
    }

PyTypeObject fpy_class_type = TYPE_CLASS("ferrule.TensorType", type_doc);
PyTypeObject fpy_class_buffer_type = TYPE_CLASS("ferrule.BufferType", buffer_type_doc);

int fpy_add_types(PyObject *module)
{
    return fpy_add_class(module, &fpy_class_type) < 0
               ? -1
               : fpy_add_class(module, &fpy_class_buffer_type);
}
