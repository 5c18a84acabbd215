/* DType: one object for each dtype, so that they compare by identity. DeviceRef: a value. */
#include "core.h"

#include <string.h>

static fpy_dtype *objects[FER_NUM_DTYPES];

PyObject *fpy_dtype_object(fer_dtype dtype)
{
    return Py_NewRef((PyObject *)objects[dtype]);
}

static fer_dtype of(PyObject *self)
{
    return ((fpy_dtype *)self)->dtype;
}

static PyObject *from_numpy(PyObject *class, PyObject *given);

/* Whether NumPy is there and this is a dtype of it, or a class of its scalars. */
static int is_numpys(PyObject *object)
{
    PyObject *name = PyUnicode_FromString("numpy");
    PyObject *numpy = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *class = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "dtype");
    PyObject *scalar = class == NULL ? NULL : PyObject_GetAttrString(numpy, "generic");
    int result = PyErr_Occurred() == NULL ? 0 : -1;
    if (scalar != NULL)
        result = PyType_Check(object) ? PyObject_IsSubclass(object, scalar)
                                      : PyObject_IsInstance(object, class);
    Py_XDECREF(scalar);
    Py_XDECREF(class);
    Py_XDECREF(numpy);
    Py_XDECREF(name);
    return result;
}

int fpy_dtype_of(PyObject *object, fer_dtype *out_dtype)
{
    if (Py_IS_TYPE(object, &fpy_class_dtype)) {
        *out_dtype = of(object);
        return 1;
    }
    int is_foreign = PyUnicode_Check(object) ? 0 : is_numpys(object);
    if (is_foreign != 1)
        return is_foreign;
    PyObject *dtype = from_numpy(NULL, object);
    if (dtype == NULL)
        return -1;
    *out_dtype = of(dtype);
    Py_DECREF(dtype);
    return 1;
}

int fpy_dtype_from(PyObject *object, fer_dtype *out_dtype)
{
    int is_dtype = fpy_dtype_of(object, out_dtype);
    if (is_dtype != 0)
        return is_dtype < 0 ? -1 : 0;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "expected a DType, its name or a NumPy dtype, not %s%s",
                     Py_TYPE(object)->tp_name,
                     PyLong_Check(object) ? "; a shape is one argument, as in (2, 3)" : "");
        return -1;
    }
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    fer_error error = FER_ERROR_INIT;
    if (text == NULL)
        return -1;
    if (fer_dtype_parse(text, (size_t)length, out_dtype, &error) == FER_OK)
        return 0;
    fpy_raise(&error);
    return -1;
}

static PyObject *create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    static char *names[] = {"name", NULL};
    PyObject *name;
    fer_dtype dtype;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:DType", names, &name) ||
        fpy_dtype_from(name, &dtype) < 0)
        return NULL;
    return fpy_dtype_object(dtype);
}

static PyObject *show(PyObject *self)
{
    return PyUnicode_FromFormat("DType.%s", fer_dtype_long_name(of(self)));
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(fer_dtype_long_name(of(self)));
}

static PyObject *get_short_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(fer_dtype_name(of(self)));
}

static PyObject *get_size(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(fer_dtype_bytes(of(self)));
}

static PyObject *in_set(PyObject *self, uint32_t set)
{
    return PyBool_FromLong((FER_DTYPE_BIT(of(self)) & set) != 0);
}

static PyObject *is_float(PyObject *self, PyObject *unused)
{
    (void)unused;
    return in_set(self, FER_ANY_FLOAT | FER_DTYPE_BIT(FER_F8E4M3FN) | FER_DTYPE_BIT(FER_F8E5M2));
}

static PyObject *is_integral(PyObject *self, PyObject *unused)
{
    (void)unused;
    return in_set(self, FER_ANY_INT);
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(s)", &fpy_class_dtype, fer_dtype_long_name(of(self)));
}

/* --- NumPy ------------------------------------------------------------------------------------ */

PyObject *fpy_dtype_numpy(fer_dtype dtype)
{
    const char *name = fer_dtype_long_name(dtype);
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return NULL;
    PyObject *result = NULL;
    bool is_foreign = dtype == FER_BF16 || dtype == FER_F8E4M3FN || dtype == FER_F8E5M2;
    PyObject *types = is_foreign ? PyImport_ImportModule("ml_dtypes") : NULL;
    if (!is_foreign) {
        result = PyObject_CallMethod(numpy, "dtype", "s", name);
    } else if (types != NULL) {
        PyObject *class = PyObject_GetAttrString(types, name);
        result = class == NULL ? NULL : PyObject_CallMethod(numpy, "dtype", "O", class);
        Py_XDECREF(class);
    } else if (PyErr_ExceptionMatches(PyExc_ImportError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_ImportError,
                     "NumPy has no %s of its own; install ml_dtypes, which brings it", name);
    }
    Py_XDECREF(types);
    Py_DECREF(numpy);
    return result;
}

static PyObject *to_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return fpy_dtype_numpy(of(self));
}

/* The name of what NumPy makes of it; a dtype of the other byte order is another type. */
static PyObject *from_numpy(PyObject *class, PyObject *given)
{
    (void)class;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *made = numpy == NULL ? NULL : PyObject_CallMethod(numpy, "dtype", "O", given);
    PyObject *name = made == NULL ? NULL : PyObject_GetAttrString(made, "name");
    PyObject *is_native = name == NULL ? NULL : PyObject_GetAttrString(made, "isnative");
    PyObject *result = NULL;
    fer_dtype dtype;
    if (is_native == Py_False)
        PyErr_Format(PyExc_NotImplementedError,
                     "the NumPy dtype '%S' is of the other byte order, which is not supported",
                     made);
    else if (is_native != NULL && fpy_dtype_from(name, &dtype) == 0)
        result = fpy_dtype_object(dtype);
    Py_XDECREF(is_native);
    Py_XDECREF(name);
    Py_XDECREF(made);
    Py_XDECREF(numpy);
    return result;
}

static PyGetSetDef members[] = {
    {"name", get_name, NULL,
     "The long name: 'float32', 'float8_e4m3fn'.\n\n"
     ">>> DType.float32.name\n"
     "'float32'",
     NULL},
    {"short_name", get_short_name, NULL,
     "The name in signatures: 'f32', 'f8e4m3fn'.\n\n"
     ">>> DType.float32.short_name\n"
     "'f32'",
     NULL},
    {"size_in_bytes", get_size, NULL,
     "Bytes of one element.\n\n"
     ">>> DType.bfloat16.size_in_bytes\n"
     "2",
     NULL},
    {0},
};

static PyMethodDef methods[] = {
    {"is_float", is_float, METH_NOARGS,
     "is_float($self)\n--\n\n"
     "Whether elements are floating-point numbers, the small ones too.\n\n"
     ">>> DType.bfloat16.is_float()\n"
     "True"},
    {"is_integral", is_integral, METH_NOARGS,
     "is_integral($self)\n--\n\n"
     "Whether elements are integers, signed or not. A bool is none.\n\n"
     ">>> DType.uint8.is_integral(), DType.bool.is_integral()\n"
     "(True, False)"},
    {"to_numpy", to_numpy, METH_NOARGS,
     "to_numpy($self)\n--\n\n"
     "The NumPy dtype. bfloat16 and the two float8 need ml_dtypes\n"
     "(ImportError).\n\n"
     ">>> DType.float32.to_numpy()\n"
     "dtype('float32')"},
    {"from_numpy", from_numpy, METH_O | METH_CLASS,
     "from_numpy($type, dtype, /)\n--\n\n"
     "The DType of a NumPy dtype, or of what numpy.dtype() takes.\n"
     "TypeError: there is none; NotImplementedError: the other byte order.\n\n"
     ">>> DType.from_numpy('i4')\n"
     "DType.int32"},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {0},
};

PyDoc_STRVAR(dtype_doc,
             "DType(name)\n--\n\n"
             "An element type. `DType.float32` and the like are its only objects;\n"
             "`DType('f32')` finds one by its short or long name, or by NumPy's dtype or class of\n"
             "scalars, which all serve wherever a dtype is given. TypeError: there is none.\n\n"
             ">>> DType('f32') is DType.float32\n"
             "True");

PyTypeObject fpy_class_dtype = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.DType",
    .tp_doc = dtype_doc,
    .tp_basicsize = sizeof(fpy_dtype),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create,
    .tp_repr = show,
    .tp_methods = methods,
    .tp_getset = members,
};

static int add_objects(void)
{
    for (int i = FER_BOOL; i < FER_NUM_DTYPES; i++) {
        objects[i] = fpy_new(&fpy_class_dtype);
        if (objects[i] == NULL)
            return -1;
        objects[i]->dtype = (fer_dtype)i;
        if (PyDict_SetItemString(fpy_class_dtype.tp_dict, fer_dtype_long_name((fer_dtype)i),
                                 (PyObject *)objects[i]) < 0)
            return -1;
    }
    PyType_Modified(&fpy_class_dtype);
    return 0;
}

/* --- Devices ---------------------------------------------------------------------------------- */

PyObject *fpy_device_object(fer_device device)
{
    fpy_device *self = fpy_new(&fpy_class_device);
    if (self != NULL)
        self->device = device;
    return (PyObject *)self;
}

int fpy_device_from(PyObject *object, fer_device *out_device)
{
    *out_device = (fer_device){0};
    if (object == NULL || object == Py_None)
        return 0;
    if (!Py_IS_TYPE(object, &fpy_class_device)) {
        PyErr_Format(PyExc_TypeError, "expected a DeviceRef, not %s", Py_TYPE(object)->tp_name);
        return -1;
    }
    *out_device = ((fpy_device *)object)->device;
    return 0;
}

static PyObject *make_cpu(PyObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    static char *names[] = {"id", NULL};
    int id = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|i:CPU", names, &id))
        return NULL;
    if (id >= 0 && id < fer_device_count())
        return fpy_device_object((fer_device){id});
    return PyErr_Format(PyExc_ValueError,
                        "there is no host device %d; there are %d, and the environment variable "
                        "FERRULE_HOST_DEVICES sets how many",
                        id, fer_device_count());
}

static PyObject *device_get_id(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((fpy_device *)self)->device.id);
}

static PyObject *device_get_label(PyObject *self, void *closure)
{
    (void)self;
    (void)closure;
    return PyUnicode_FromString("cpu");
}

static PyObject *device_show(PyObject *self)
{
    int id = ((fpy_device *)self)->device.id;
    return id == 0 ? PyUnicode_FromString("DeviceRef.CPU()")
                   : PyUnicode_FromFormat("DeviceRef.CPU(%d)", id);
}

static PyObject *device_compare(PyObject *a, PyObject *b, int comparison)
{
    if (!Py_IS_TYPE(b, &fpy_class_device) || (comparison != Py_EQ && comparison != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    bool are_equal = ((fpy_device *)a)->device.id == ((fpy_device *)b)->device.id;
    return PyBool_FromLong(are_equal == (comparison == Py_EQ));
}

static Py_hash_t device_hash(PyObject *self)
{
    return ((fpy_device *)self)->device.id + 1000003;
}

static PyObject *device_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("N(i)", PyObject_GetAttrString((PyObject *)&fpy_class_device, "CPU"),
                         ((fpy_device *)self)->device.id);
}

static PyGetSetDef device_members[] = {
    {"id", device_get_id, NULL,
     "Which of the logical host devices.\n\n"
     ">>> DeviceRef.CPU().id\n"
     "0",
     NULL},
    {"label", device_get_label, NULL,
     "The kind of device: 'cpu'.\n\n"
     ">>> DeviceRef.CPU().label\n"
     "'cpu'",
     NULL},
    {0},
};

static PyMethodDef device_methods[] = {
    {"CPU", (PyCFunction)(void (*)(void))make_cpu, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "CPU($type, id=0)\n--\n\n"
     "A logical host device. There is one unless the environment variable\n"
     "FERRULE_HOST_DEVICES says how many; ValueError: there is none with that id.\n\n"
     ">>> DeviceRef.CPU()\n"
     "DeviceRef.CPU()"},
    {"__reduce__", device_reduce, METH_NOARGS, NULL},
    {0},
};

static void device_destroy(PyObject *self)
{
    fpy_forget(self);
    PyObject_Free(self);
}

PyDoc_STRVAR(device_doc, "Where a tensor lies. `DeviceRef.CPU()` is the host.\n\n"
                         ">>> Tensor.ones(2).device == DeviceRef.CPU()\n"
                         "True");

PyTypeObject fpy_class_device = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.DeviceRef",
    .tp_doc = device_doc,
    .tp_basicsize = sizeof(fpy_device),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = device_destroy,
    .tp_repr = device_show,
    .tp_hash = device_hash,
    .tp_richcompare = device_compare,
    .tp_methods = device_methods,
    .tp_getset = device_members,
};

int fpy_add_dtypes(PyObject *module)
{
    if (fpy_add_class(module, &fpy_class_dtype) < 0 || add_objects() < 0)
        return -1;
    return fpy_add_class(module, &fpy_class_device);
}
