/* Dims: Dim, and by what a dim is SymbolicDim, StaticDim or AlgebraicDim; Symbol and Param are the
 * symbols of a declaration. All arithmetic is the library's. */
#include "core.h"

#include <string.h>

static PyTypeObject class_symbolic;
static PyTypeObject class_static;
static PyTypeObject class_algebraic;

static fer_dim *of(PyObject *self)
{
    return ((fpy_dim *)self)->dim;
}

static bool is_dim(PyObject *object)
{
    return PyObject_TypeCheck(object, &fpy_class_dim);
}

static PyTypeObject *class_of(const fer_dim *dim)
{
    fer_namespace space;
    if (fer_dim_is_static(dim))
        return &class_static;
    if (fer_dim_symbol_name(dim, &space) == NULL)
        return &class_algebraic;
    if (space == FER_NAMESPACE_CALLER)
        return &class_symbolic;
    return space == FER_NAMESPACE_SIGNATURE ? &fpy_class_symbol : &fpy_class_param;
}

PyObject *fpy_dim_object(fer_dim *dim)
{
    fpy_dim *self = fpy_new(class_of(dim));
    if (self == NULL)
        fer_dim_release(dim);
    else
        self->dim = dim;
    return (PyObject *)self;
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    fer_dim_release(of(self));
    Py_TYPE(self)->tp_free(self);
}

/* --- From Python ------------------------------------------------------------------------------ */

static int from_integer(PyObject *object, fer_dim **out_dim)
{
    PyObject *number = PyNumber_Index(object);
    if (number == NULL)
        return -1;
    int64_t value = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (value == -1 && PyErr_Occurred() != NULL)
        return -1;
    fer_error error = FER_ERROR_INIT;
    if (fer_dim_constant(value, out_dim, &error) == FER_OK)
        return 0;
    fpy_raise(&error);
    return -1;
}

static int from_text(PyObject *object, fer_dim **out_dim)
{
    const char *text = fpy_c_text(object, "a dim");
    fer_error error = FER_ERROR_INIT;
    if (text == NULL)
        return -1;
    if (fer_dim_parse(text, out_dim, &error) == FER_OK)
        return 0;
    fpy_raise(&error);
    return -1;
}

/* An integer, not a bool: True is no size. */
static bool is_integer(PyObject *object)
{
    return !PyBool_Check(object) && PyIndex_Check(object);
}

int fpy_dim_from(PyObject *object, fer_dim **out_dim)
{
    *out_dim = NULL;
    if (is_dim(object)) {
        *out_dim = fer_dim_retain(of(object));
        return 0;
    }
    if (PyUnicode_Check(object))
        return from_text(object, out_dim);
    if (is_integer(object))
        return from_integer(object, out_dim);
    PyErr_Format(PyExc_TypeError, "a dim is an integer, a Dim or a name, not %s",
                 Py_TYPE(object)->tp_name);
    return -1;
}

int fpy_dims_from(PyObject *shape, fer_dim **dims, size_t capacity, size_t *out_rank)
{
    *out_rank = 0;
    PyObject *items = fpy_items(shape, "a shape is a sequence of dims, as in [3, 4]");
    if (items == NULL)
        return -1;
    Py_ssize_t rank = PyTuple_GET_SIZE(items);
    for (Py_ssize_t i = 0; i < rank && (size_t)i < capacity; i++)
        if (fpy_dim_from(PyTuple_GET_ITEM(items, i), &dims[i]) < 0) {
            fpy_dims_clear(dims, (size_t)i);
            Py_DECREF(items);
            return -1;
        }
    Py_DECREF(items);
    *out_rank = (size_t)rank;
    return 0;
}

void fpy_dims_clear(fer_dim **dims, size_t num_dims)
{
    for (size_t i = 0; i < num_dims; i++)
        fer_dim_release(dims[i]);
}

static PyObject *create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"value", NULL};
    PyObject *value;
    fer_dim *dim;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &value) ||
        fpy_dim_from(value, &dim) < 0)
        return NULL;
    PyObject *self = fpy_dim_object(dim);
    if (self == NULL || PyType_IsSubtype(Py_TYPE(self), class))
        return self;
    PyErr_Format(PyExc_TypeError, "%S is no %s", self, class->tp_name);
    Py_DECREF(self);
    return NULL;
}

static PyObject *create_named(PyObject *args, PyObject *kwargs, fer_namespace space)
{
    static char *names[] = {"name", NULL};
    const char *name;
    fer_dim *dim;
    fer_error error = FER_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s", names, &name))
        return NULL;
    if (fer_dim_symbol(space, name, &dim, &error) != FER_OK)
        return fpy_raise(&error);
    return fpy_dim_object(dim);
}

static PyObject *create_symbol(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return create_named(args, kwargs, FER_NAMESPACE_SIGNATURE);
}

static PyObject *create_param(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    (void)class;
    return create_named(args, kwargs, FER_NAMESPACE_PARAMETER);
}

/* --- Arithmetic ------------------------------------------------------------------------------- */

typedef fer_status (*operation)(const fer_dim *a, const fer_dim *b, fer_dim **out_dim,
                                fer_error *error);

/* Dims and integers; a text beside an operator would be read as something to join. */
static PyObject *combine(PyObject *left, PyObject *right, operation work)
{
    if ((!is_dim(left) && !is_integer(left)) || (!is_dim(right) && !is_integer(right)))
        Py_RETURN_NOTIMPLEMENTED;
    fer_dim *a = NULL, *b = NULL, *dim = NULL;
    PyObject *result = NULL;
    fer_error error = FER_ERROR_INIT;
    if (fpy_dim_from(left, &a) == 0 && fpy_dim_from(right, &b) == 0)
        result = work(a, b, &dim, &error) == FER_OK ? fpy_dim_object(dim) : fpy_raise(&error);
    fer_dim_release(a);
    fer_dim_release(b);
    return result;
}

static PyObject *add(PyObject *a, PyObject *b)
{
    return combine(a, b, fer_dim_add);
}

static PyObject *subtract(PyObject *a, PyObject *b)
{
    return combine(a, b, fer_dim_subtract);
}

static PyObject *multiply(PyObject *a, PyObject *b)
{
    return combine(a, b, fer_dim_multiply);
}

static PyObject *floor_divide(PyObject *a, PyObject *b)
{
    return combine(a, b, fer_dim_floor_divide);
}

static PyObject *modulo(PyObject *a, PyObject *b)
{
    return combine(a, b, fer_dim_modulo);
}

static PyObject *negate(PyObject *self)
{
    fer_dim *dim;
    fer_error error = FER_ERROR_INIT;
    if (fer_dim_negate(of(self), &dim, &error) != FER_OK)
        return fpy_raise(&error);
    return fpy_dim_object(dim);
}

static PyObject *itself(PyObject *self)
{
    return Py_NewRef(self);
}

static PyObject *to_integer(PyObject *self)
{
    int64_t value;
    fer_error error = FER_ERROR_INIT;
    if (fer_dim_value(of(self), &value, &error) != FER_OK)
        return fpy_raise(&error);
    return PyLong_FromLongLong(value);
}

/* An unknown size is not known to be nothing. */
static int is_true(PyObject *self)
{
    int64_t value;
    return !fer_dim_is_static(of(self)) || fer_dim_value(of(self), &value, NULL) != FER_OK ||
           value != 0;
}

static PyNumberMethods numbers = {
    .nb_add = add,
    .nb_subtract = subtract,
    .nb_multiply = multiply,
    .nb_remainder = modulo,
    .nb_floor_divide = floor_divide,
    .nb_negative = negate,
    .nb_positive = itself,
    .nb_bool = is_true,
    .nb_int = to_integer,
    .nb_index = to_integer,
};

/* --- Comparing -------------------------------------------------------------------------------- */

/* A caller's bare symbol equals its name, a static dim its integer; a symbol of a signature equals
 * no text. */
static PyObject *as_plain(const fer_dim *dim)
{
    fer_namespace space;
    int64_t value;
    if (fer_dim_value(dim, &value, NULL) == FER_OK)
        return PyLong_FromLongLong(value);
    const char *name = fer_dim_symbol_name(dim, &space);
    return name != NULL && space == FER_NAMESPACE_CALLER ? PyUnicode_FromString(name)
                                                         : Py_NewRef(Py_None);
}

static PyObject *compare(PyObject *self, PyObject *other, int comparison)
{
    bool is_equality = comparison == Py_EQ || comparison == Py_NE;
    if (is_equality && is_dim(other))
        return PyBool_FromLong(fer_dim_equal(of(self), of(other)) == (comparison == Py_EQ));
    if (!is_equality &&
        !(fer_dim_is_static(of(self)) && (!is_dim(other) || fer_dim_is_static(of(other)))))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *left = as_plain(of(self));
    PyObject *right = is_dim(other) ? as_plain(of(other)) : Py_NewRef(other);
    PyObject *result = NULL;
    if (left == Py_None)
        result = PyBool_FromLong(comparison == Py_NE);
    else if (left != NULL && right != NULL)
        result = PyObject_RichCompare(left, right, comparison);
    Py_XDECREF(left);
    Py_XDECREF(right);
    return result;
}

static Py_hash_t hash(PyObject *self)
{
    PyObject *plain = as_plain(of(self));
    if (plain == NULL)
        return -1;
    Py_hash_t result = plain == Py_None ? (Py_hash_t)fer_dim_hash(of(self)) : PyObject_Hash(plain);
    Py_DECREF(plain);
    return result == -1 ? -2 : result;
}

static PyObject *text(PyObject *self)
{
    return fpy_text(fer_dim_text(of(self)));
}

static PyObject *show(PyObject *self)
{
    const char *format = fer_dim_is_static(of(self)) ? "%s(%s)" : "%s('%s')";
    const char *name = strrchr(Py_TYPE(self)->tp_name, '.') + 1;
    return PyUnicode_FromFormat(format, name, fer_dim_text(of(self)));
}

/* --- Symbols ---------------------------------------------------------------------------------- */

static PyObject *get_parameters(PyObject *self, void *closure)
{
    (void)closure;
    size_t count = fer_dim_num_symbols(of(self));
    PyObject *symbols = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; symbols != NULL && i < count; i++) {
        fer_namespace space;
        fer_dim *dim;
        fer_error error = FER_ERROR_INIT;
        const char *name = fer_dim_symbol_at(of(self), i, &space);
        PyObject *symbol = NULL;
        if (fer_dim_symbol(space, name, &dim, &error) == FER_OK)
            symbol = fpy_dim_object(dim);
        else
            fpy_raise(&error);
        if (symbol == NULL)
            Py_CLEAR(symbols);
        else
            PyTuple_SET_ITEM(symbols, (Py_ssize_t)i, symbol);
    }
    return symbols;
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_text(fer_dim_symbol_name(of(self), NULL));
}

/* The keys' dims live in `held` as long as the names in `out` are used. */
static int read_substitution(PyObject *key, PyObject *value, fer_dim **held, fer_substitution *out)
{
    if (fpy_dim_from(key, &held[0]) < 0)
        return -1;
    out->name = fer_dim_symbol_name(held[0], &out->space);
    if (out->name == NULL) {
        PyErr_Format(PyExc_TypeError, "%R is no symbol, and only symbols are substituted", key);
        return -1;
    }
    if (fpy_dim_from(value, &held[1]) < 0)
        return -1;
    out->dim = held[1];
    return 0;
}

static PyObject *substitute_all(const fer_dim *dim, PyObject *items)
{
    size_t count = (size_t)PyList_GET_SIZE(items);
    fer_dim **held = PyMem_Calloc(2 * count + 1, sizeof *held);
    fer_substitution *substitutions = PyMem_Calloc(count + 1, sizeof *substitutions);
    PyObject *result = NULL;
    fer_dim *made;
    fer_error error = FER_ERROR_INIT;
    bool is_good = held != NULL && substitutions != NULL;
    if (!is_good)
        PyErr_NoMemory();
    for (size_t i = 0; is_good && i < count; i++) {
        PyObject *item = PyList_GET_ITEM(items, (Py_ssize_t)i);
        is_good = read_substitution(PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1),
                                    &held[2 * i], &substitutions[i]) == 0;
    }
    if (is_good)
        result = fer_dim_substitute(dim, substitutions, count, &made, &error) == FER_OK
                     ? fpy_dim_object(made)
                     : fpy_raise(&error);
    if (held != NULL)
        fpy_dims_clear(held, 2 * count);
    PyMem_Free(held);
    PyMem_Free(substitutions);
    return result;
}

static PyObject *substitute(PyObject *self, PyObject *mapping)
{
    PyObject *items = fpy_pairs(mapping);
    if (items == NULL)
        return NULL;
    PyObject *result = substitute_all(of(self), items);
    Py_DECREF(items);
    return result;
}

/* The text reads as a caller's dim; its symbols then go where they belong. */
static PyObject *restore(PyObject *class, PyObject *args)
{
    (void)class;
    PyObject *text, *symbols;
    fer_dim *dim;
    if (!PyArg_ParseTuple(args, "UO!", &text, &PyDict_Type, &symbols) || from_text(text, &dim) < 0)
        return NULL;
    PyObject *items = PyDict_Items(symbols);
    PyObject *result = items == NULL ? NULL : substitute_all(dim, items);
    Py_XDECREF(items);
    fer_dim_release(dim);
    return result;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const fer_dim *dim = of(self);
    const char *name = fer_dim_symbol_name(dim, NULL);
    if (fer_dim_is_static(dim) || name != NULL)
        return Py_BuildValue("O(N)", Py_TYPE(self),
                             name == NULL ? to_integer(self) : fpy_text(name));
    PyObject *symbols = get_parameters(self, NULL);
    PyObject *mapping = symbols == NULL ? NULL : PyDict_New();
    for (Py_ssize_t i = 0; mapping != NULL && i < PyTuple_GET_SIZE(symbols); i++) {
        PyObject *symbol = PyTuple_GET_ITEM(symbols, i);
        PyObject *key = fpy_text(fer_dim_symbol_name(of(symbol), NULL));
        if (key == NULL || PyDict_SetItem(mapping, key, symbol) < 0)
            Py_CLEAR(mapping);
        Py_XDECREF(key);
    }
    Py_XDECREF(symbols);
    if (mapping == NULL)
        return NULL;
    return Py_BuildValue("N(sN)", PyObject_GetAttrString((PyObject *)&fpy_class_dim, "_restore"),
                         fer_dim_text(dim), mapping);
}

/* --- The classes ------------------------------------------------------------------------------ */

static PyGetSetDef members[] = {
    {"parameters", get_parameters, NULL,
     "The distinct symbols of the dim, in the order of its text.\n\n"
     ">>> Dim('n * w // 2').parameters\n"
     "(SymbolicDim('n'), SymbolicDim('w'))",
     NULL},
    {0},
};

static PyGetSetDef named_members[] = {
    {"name", get_name, NULL,
     "The symbol's name.\n\n"
     ">>> Dim('n').name\n"
     "'n'",
     NULL},
    {0},
};

static PyGetSetDef static_members[] = {
    {"dim", (getter)(void (*)(void))to_integer, NULL,
     "The integer.\n\n"
     ">>> Dim(3).dim\n"
     "3",
     NULL},
    {0},
};

static PyMethodDef methods[] = {
    {"substitute", substitute, METH_O,
     "substitute($self, mapping, /)\n--\n\n"
     "The dim with these symbols replaced: keys are symbols or a\n"
     "caller's names, values are dims, integers or text.\n"
     "ZeroDivisionError, OverflowError: as in arithmetic.\n\n"
     ">>> (Dim('n') // 2).substitute({'n': 7})\n"
     "StaticDim(3)"},
    {"_restore", restore, METH_VARARGS | METH_STATIC, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {0},
};

PyDoc_STRVAR(dim_doc,
             "Dim(value)\n--\n\n"
             "A size: an integer, a name, or an expression of them with + - * // %, always in\n"
             "canonical form, so that equal dims compare equal. `//` floors.\n\n"
             "ValueError: a fault of syntax; OverflowError: a number outside int64;\n"
             "ZeroDivisionError.\n\n"
             ">>> Dim('n') * 2 // 4 == Dim('n // 2')\n"
             "True");

PyTypeObject fpy_class_dim = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.Dim",
    .tp_doc = dim_doc,
    .tp_basicsize = sizeof(fpy_dim),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create,
    .tp_dealloc = destroy,
    .tp_repr = show,
    .tp_str = text,
    .tp_hash = hash,
    .tp_richcompare = compare,
    .tp_as_number = &numbers,
    .tp_methods = methods,
    .tp_getset = members,
};

PyDoc_STRVAR(symbolic_doc, "SymbolicDim(name)\n--\n\n"
                           "A caller's dim that is one name. It equals the name.\n\n"
                           ">>> Dim('n'), Dim('n') == 'n'\n"
                           "(SymbolicDim('n'), True)");
PyDoc_STRVAR(static_doc, "StaticDim(value)\n--\n\n"
                         "A dim that is an integer. It equals the integer.\n\n"
                         ">>> Dim(3), Dim(3) == 3\n"
                         "(StaticDim(3), True)");
PyDoc_STRVAR(algebraic_doc, "A dim that is an expression.\n\n"
                            ">>> Dim('n') // 2 + 1\n"
                            "AlgebraicDim('n // 2 + 1')");
PyDoc_STRVAR(symbol_doc, "Symbol(name)\n--\n\n"
                         "A symbol of a declaration: operands bind it to their sizes.\n\n"
                         ">>> custom.Symbol('w') // 2\n"
                         "AlgebraicDim('w // 2')");
PyDoc_STRVAR(param_doc, "Param(name)\n--\n\n"
                        "A parameter of a declaration, by name: as a dim it stands for its\n"
                        "integer, and as the dtype of a TemplateType for its dtype.\n\n"
                        ">>> custom.TemplateType(custom.Param('to'), [custom.Param('g')])\n"
                        "TemplateType(to[g])");

static PyTypeObject class_symbolic = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.SymbolicDim",
    .tp_doc = symbolic_doc,
    .tp_basicsize = sizeof(fpy_dim),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &fpy_class_dim,
    .tp_getset = named_members,
};

static PyTypeObject class_static = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.StaticDim",
    .tp_doc = static_doc,
    .tp_basicsize = sizeof(fpy_dim),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &fpy_class_dim,
    .tp_getset = static_members,
};

static PyTypeObject class_algebraic = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.AlgebraicDim",
    .tp_doc = algebraic_doc,
    .tp_basicsize = sizeof(fpy_dim),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &fpy_class_dim,
};

PyTypeObject fpy_class_symbol = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.custom.Symbol",
    .tp_doc = symbol_doc,
    .tp_basicsize = sizeof(fpy_dim),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &class_symbolic,
    .tp_new = create_symbol,
};

PyTypeObject fpy_class_param = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.custom.Param",
    .tp_doc = param_doc,
    .tp_basicsize = sizeof(fpy_dim),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &class_symbolic,
    .tp_new = create_param,
};

int fpy_add_dims(PyObject *module)
{
    PyTypeObject *classes[] = {&fpy_class_dim,   &class_symbolic,   &class_static,
                               &class_algebraic, &fpy_class_symbol, &fpy_class_param};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (fpy_add_class(module, classes[i]) < 0)
            return -1;
    return 0;
}
