/* What a declaration in objects is made of: DTypeVar, Run, TemplateType. */
#include "core.h"

#include <string.h>

/* A name; of a dtype variable with what it may be. Runs have the same struct. */
typedef struct named {
    FPY_OBJECT_HEAD PyObject *name;
    uint32_t allowed; /* 0: any */
} named;

typedef struct template
{
    FPY_OBJECT_HEAD PyObject *dtype; /* a DType, DTypeVar or Param */
    PyObject *axes;                  /* a tuple of Dim and Run */
}
template;

PyObject *fpy_name_of(PyObject *variable_or_run)
{
    return ((named *)variable_or_run)->name;
}

uint32_t fpy_dtype_var_allowed(PyObject *variable)
{
    return ((named *)variable)->allowed;
}

PyObject *fpy_template_dtype(PyObject *self)
{
    return ((template *)self)->dtype;
}

PyObject *fpy_template_axes(PyObject *self)
{
    return ((template *)self)->axes;
}

/* --- Dtype variables and runs ----------------------------------------------------------------- */

static PyObject *make_named(PyTypeObject *class, PyObject *name, uint32_t allowed)
{
    named *self = fpy_new(class);
    if (self == NULL)
        return NULL;
    self->name = Py_NewRef(name);
    self->allowed = allowed;
    return (PyObject *)self;
}

static void named_destroy(PyObject *self)
{
    fpy_forget(self);
    Py_DECREF(fpy_name_of(self));
    PyObject_Free(self);
}

static const struct dtype_class {
    const char *name;
    uint32_t dtypes;
} DTYPE_CLASSES[] = {
    {"any_float", FER_ANY_FLOAT},
    {"any_int", FER_ANY_INT},
    {"any_signed", FER_ANY_SIGNED},
    {"any_unsigned", FER_ANY_UNSIGNED},
};

static int read_dtypes(PyObject *allowed, uint32_t *out_set)
{
    PyObject *items = fpy_items(
        allowed, "what a dtype variable may be is a class, 'any_float', or a sequence of dtypes");
    if (items == NULL)
        return -1;
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        fer_dtype dtype = FER_DTYPE_INVALID;
        result = fpy_dtype_from(PyTuple_GET_ITEM(items, i), &dtype);
        *out_set |= FER_DTYPE_BIT(dtype);
    }
    if (result == 0 && *out_set == 0) {
        PyErr_SetString(PyExc_ValueError, "a dtype variable has to be some dtype");
        result = -1;
    }
    Py_DECREF(items);
    return result;
}

static int read_allowed(PyObject *allowed, uint32_t *out_set)
{
    *out_set = 0;
    if (allowed == NULL || allowed == Py_None)
        return 0;
    if (!PyUnicode_Check(allowed))
        return read_dtypes(allowed, out_set);
    for (size_t i = 0; i < sizeof DTYPE_CLASSES / sizeof *DTYPE_CLASSES; i++)
        if (PyUnicode_CompareWithASCIIString(allowed, DTYPE_CLASSES[i].name) == 0)
            *out_set = DTYPE_CLASSES[i].dtypes;
    if (*out_set != 0)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "there is no class of dtypes %R; there are any_float, any_int, any_signed and "
                 "any_unsigned",
                 allowed);
    return -1;
}

static PyObject *create_dtype_var(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"name", "allowed", NULL};
    PyObject *name, *allowed = NULL;
    uint32_t set;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|O:DTypeVar", names, &name, &allowed) ||
        read_allowed(allowed, &set) < 0)
        return NULL;
    return make_named(class, name, set);
}

static PyObject *create_run(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"name", NULL};
    PyObject *name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U:Run", names, &name))
        return NULL;
    return make_named(class, name, 0);
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(fpy_name_of(self));
}

static PyObject *get_allowed(PyObject *self, void *closure)
{
    (void)closure;
    uint32_t set = fpy_dtype_var_allowed(self);
    if (set == 0)
        Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int i = FER_BOOL; list != NULL && i < FER_NUM_DTYPES; i++) {
        PyObject *dtype = fpy_dtype_object((fer_dtype)i);
        if ((set & FER_DTYPE_BIT(i)) != 0 && PyList_Append(list, dtype) < 0)
            Py_CLEAR(list);
        Py_DECREF(dtype);
    }
    PyObject *allowed = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    return allowed;
}

static PyObject *named_compare(PyObject *a, PyObject *b, int comparison)
{
    if (Py_TYPE(a) != Py_TYPE(b) || (comparison != Py_EQ && comparison != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    bool are_equal = fpy_dtype_var_allowed(a) == fpy_dtype_var_allowed(b) &&
                     PyUnicode_Compare(fpy_name_of(a), fpy_name_of(b)) == 0;
    return PyBool_FromLong(are_equal == (comparison == Py_EQ));
}

static Py_hash_t named_hash(PyObject *self)
{
    return PyObject_Hash(fpy_name_of(self));
}

static PyObject *dtype_var_show(PyObject *self)
{
    if (fpy_dtype_var_allowed(self) == 0)
        return PyUnicode_FromFormat("DTypeVar(%R)", fpy_name_of(self));
    PyObject *allowed = get_allowed(self, NULL);
    PyObject *text = allowed == NULL
                         ? NULL
                         : PyUnicode_FromFormat("DTypeVar(%R, %R)", fpy_name_of(self), allowed);
    Py_XDECREF(allowed);
    return text;
}

static PyObject *run_show(PyObject *self)
{
    return PyUnicode_FromFormat("Run(%R)", fpy_name_of(self));
}

static PyObject *dtype_var_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(ON)", &fpy_class_dtype_var, fpy_name_of(self), get_allowed(self, NULL));
}

static PyObject *run_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(O)", &fpy_class_run, fpy_name_of(self));
}

static PyGetSetDef dtype_var_members[] = {
    {"name", get_name, NULL,
     "The variable's name.\n\n"
     ">>> custom.DTypeVar('T').name\n"
     "'T'",
     NULL},
    {"allowed", get_allowed, NULL,
     "A tuple of the DTypes it may be, or None for any.\n\n"
     ">>> custom.DTypeVar('T', ['f32', 'f64']).allowed\n"
     "(DType.float32, DType.float64)",
     NULL},
    {0},
};

static PyGetSetDef run_members[] = {
    {"name", get_name, NULL,
     "The run's name.\n\n"
     ">>> custom.Run('s').name\n"
     "'s'",
     NULL},
    {0},
};

static PyMethodDef dtype_var_methods[] = {{"__reduce__", dtype_var_reduce, METH_NOARGS, NULL}, {0}};
static PyMethodDef run_methods[] = {{"__reduce__", run_reduce, METH_NOARGS, NULL}, {0}};

PyDoc_STRVAR(
    dtype_var_doc,
    "DTypeVar(name, allowed=None)\n--\n\n"
    "A dtype variable: operands that share it have one dtype, and results take it from\n"
    "them. `allowed` is a class ('any_float', 'any_int', 'any_signed', 'any_unsigned') or\n"
    "a sequence of dtypes. TypeError, ValueError: a name or a constraint that is none.\n\n"
    ">>> custom.DTypeVar('T', 'any_unsigned').allowed[0]\n"
    "DType.uint8");

PyTypeObject fpy_class_dtype_var = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.custom.DTypeVar",
    .tp_doc = dtype_var_doc,
    .tp_basicsize = sizeof(named),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create_dtype_var,
    .tp_dealloc = named_destroy,
    .tp_repr = dtype_var_show,
    .tp_hash = named_hash,
    .tp_richcompare = named_compare,
    .tp_methods = dtype_var_methods,
    .tp_getset = dtype_var_members,
};

PyDoc_STRVAR(run_doc,
             "Run(name)\n--\n\n"
             "Any number of dims, also none: `*name` in a declaration's text. Operands with the\n"
             "same run agree in it.\n\n"
             ">>> custom.TemplateType(DType.float32, [custom.Run('s'), 3])\n"
             "TemplateType(f32[*s, 3])");

PyTypeObject fpy_class_run = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.custom.Run",
    .tp_doc = run_doc,
    .tp_basicsize = sizeof(named),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create_run,
    .tp_dealloc = named_destroy,
    .tp_repr = run_show,
    .tp_hash = named_hash,
    .tp_richcompare = named_compare,
    .tp_methods = run_methods,
    .tp_getset = run_members,
};

/* --- Templates -------------------------------------------------------------------------------- */

/* Takes both, which may be NULL with an exception. */
static PyObject *make_template(PyObject *dtype, PyObject *axes)
{
    template *self = dtype == NULL || axes == NULL ? NULL : fpy_new(&fpy_class_template);
    if (self == NULL) {
        Py_XDECREF(dtype);
        Py_XDECREF(axes);
        return NULL;
    }
    self->dtype = dtype;
    self->axes = axes;
    return (PyObject *)self;
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    Py_DECREF(fpy_template_dtype(self));
    Py_DECREF(fpy_template_axes(self));
    PyObject_Free(self);
}

static PyObject *read_axis(PyObject *item)
{
    fer_dim *dim;
    if (Py_IS_TYPE(item, &fpy_class_run))
        return Py_NewRef(item);
    return fpy_dim_from(item, &dim) < 0 ? NULL : fpy_dim_object(dim);
}

static PyObject *read_axes(PyObject *shape)
{
    PyObject *items = fpy_items(shape, "a template's shape is a sequence of dims");
    if (items == NULL)
        return NULL;
    PyObject *axes = PyTuple_New(PyTuple_GET_SIZE(items));
    for (Py_ssize_t i = 0; axes != NULL && i < PyTuple_GET_SIZE(axes); i++) {
        PyObject *axis = read_axis(PyTuple_GET_ITEM(items, i));
        if (axis == NULL)
            Py_CLEAR(axes);
        else
            PyTuple_SET_ITEM(axes, i, axis);
    }
    Py_DECREF(items);
    return axes;
}

static PyObject *read_dtype(PyObject *given)
{
    fer_dtype dtype;
    if (Py_IS_TYPE(given, &fpy_class_dtype_var) || Py_IS_TYPE(given, &fpy_class_param))
        return Py_NewRef(given);
    return fpy_dtype_from(given, &dtype) < 0 ? NULL : fpy_dtype_object(dtype);
}

static PyObject *create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    static char *names[] = {"dtype", "shape", NULL};
    PyObject *dtype, *shape;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:TemplateType", names, &dtype, &shape))
        return NULL;
    PyObject *axes = read_axes(shape);
    return axes == NULL ? NULL : make_template(read_dtype(dtype), axes);
}

/* The variable or parameter of that name, with what the variable may be. */
static PyObject *named_dtype(const fer_signature_spec *spec, const char *name)
{
    PyObject *text = PyUnicode_FromString(name);
    if (text == NULL)
        return NULL;
    PyObject *result = NULL;
    for (size_t i = 0; result == NULL && i < spec->num_dtype_vars; i++)
        if (strcmp(spec->dtype_vars[i].name, name) == 0)
            result = make_named(&fpy_class_dtype_var, text, spec->dtype_vars[i].allowed);
    if (result == NULL && PyErr_Occurred() == NULL)
        result = PyObject_CallOneArg((PyObject *)&fpy_class_param, text);
    Py_DECREF(text);
    return result;
}

static PyObject *axis_object(const fer_axis *axis)
{
    if (axis->run == NULL)
        return fpy_dim_object(fer_dim_retain(axis->dim));
    PyObject *name = PyUnicode_FromString(axis->run);
    PyObject *run = name == NULL ? NULL : make_named(&fpy_class_run, name, 0);
    Py_XDECREF(name);
    return run;
}

PyObject *fpy_template_object(const fer_signature_spec *spec, const fer_template *type)
{
    PyObject *axes = PyTuple_New((Py_ssize_t)type->num_axes);
    for (size_t i = 0; axes != NULL && i < type->num_axes; i++) {
        PyObject *axis = axis_object(&type->axes[i]);
        if (axis == NULL)
            Py_CLEAR(axes);
        else
            PyTuple_SET_ITEM(axes, (Py_ssize_t)i, axis);
    }
    if (axes == NULL)
        return NULL;
    return make_template(type->dtype_var == NULL ? fpy_dtype_object(type->dtype)
                                                 : named_dtype(spec, type->dtype_var),
                         axes);
}

/* --- Looking at a template -------------------------------------------------------------------- */

static PyObject *axis_text(PyObject *axis)
{
    if (Py_IS_TYPE(axis, &fpy_class_run))
        return PyUnicode_FromFormat("*%U", fpy_name_of(axis));
    return PyObject_Str(axis);
}

static PyObject *dtype_text(PyObject *dtype)
{
    if (Py_IS_TYPE(dtype, &fpy_class_dtype))
        return PyUnicode_FromString(fer_dtype_name(((fpy_dtype *)dtype)->dtype));
    return Py_IS_TYPE(dtype, &fpy_class_param) ? PyObject_Str(dtype)
                                               : Py_NewRef(fpy_name_of(dtype));
}

static PyObject *text(PyObject *self)
{
    PyObject *axes = fpy_template_axes(self);
    PyObject *parts = PyList_New(0);
    for (Py_ssize_t i = 0; parts != NULL && i < PyTuple_GET_SIZE(axes); i++) {
        PyObject *part = axis_text(PyTuple_GET_ITEM(axes, i));
        if (part == NULL || PyList_Append(parts, part) < 0)
            Py_CLEAR(parts);
        Py_XDECREF(part);
    }
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *inside = parts == NULL || comma == NULL ? NULL : PyUnicode_Join(comma, parts);
    PyObject *dtype = inside == NULL ? NULL : dtype_text(fpy_template_dtype(self));
    PyObject *result = dtype == NULL ? NULL : PyUnicode_FromFormat("%U[%U]", dtype, inside);
    Py_XDECREF(dtype);
    Py_XDECREF(inside);
    Py_XDECREF(comma);
    Py_XDECREF(parts);
    return result;
}

static PyObject *show(PyObject *self)
{
    PyObject *type = text(self);
    PyObject *result = type == NULL ? NULL : PyUnicode_FromFormat("TemplateType(%U)", type);
    Py_XDECREF(type);
    return result;
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(fpy_template_dtype(self));
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(fpy_template_axes(self));
}

static PyObject *pair(PyObject *self)
{
    return PyTuple_Pack(2, fpy_template_dtype(self), fpy_template_axes(self));
}

static PyObject *compare(PyObject *a, PyObject *b, int comparison)
{
    if (!Py_IS_TYPE(b, &fpy_class_template) || (comparison != Py_EQ && comparison != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *left = pair(a);
    PyObject *right = pair(b);
    PyObject *result =
        left == NULL || right == NULL ? NULL : PyObject_RichCompare(left, right, comparison);
    Py_XDECREF(left);
    Py_XDECREF(right);
    return result;
}

static Py_hash_t hash(PyObject *self)
{
    PyObject *key = pair(self);
    Py_hash_t result = key == NULL ? -1 : PyObject_Hash(key);
    Py_XDECREF(key);
    return result;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(OO)", &fpy_class_template, fpy_template_dtype(self),
                         fpy_template_axes(self));
}

static PyGetSetDef members[] = {
    {"dtype", get_dtype, NULL,
     "A DType, a DTypeVar, or the Param that gives it.\n\n"
     ">>> custom.TemplateType('f32', ['n']).dtype\n"
     "DType.float32",
     NULL},
    {"shape", get_shape, NULL,
     "A tuple of dims and runs.\n\n"
     ">>> custom.TemplateType('f32', [custom.Run('s'), 3]).shape\n"
     "(Run('s'), StaticDim(3))",
     NULL},
    {0},
};

static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {0}};

PyDoc_STRVAR(
    template_doc,
    "TemplateType(dtype, shape)\n--\n\n"
    "The type of an operand or a result in a declaration. `dtype` is a DType or its name, a\n"
    "DTypeVar, or a Param. `shape` is a sequence of integers, expressions of Symbol and\n"
    "Param, and Run. TypeError: what is none of them.\n\n"
    ">>> n, w = custom.Symbols('n', 'w')\n"
    ">>> custom.TemplateType(DType.float32, [n, w // 2])\n"
    "TemplateType(f32[n, w // 2])");

PyTypeObject fpy_class_template = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.custom.TemplateType",
    .tp_doc = template_doc,
    .tp_basicsize = sizeof(template),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create,
    .tp_dealloc = destroy,
    .tp_repr = show,
    .tp_str = text,
    .tp_hash = hash,
    .tp_richcompare = compare,
    .tp_methods = methods,
    .tp_getset = members,
};

int fpy_add_templates(PyObject *module)
{
    if (fpy_add_class(module, &fpy_class_dtype_var) < 0 ||
        fpy_add_class(module, &fpy_class_run) < 0)
        return -1;
    return fpy_add_class(module, &fpy_class_template);
}
