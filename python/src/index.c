/* Indexing and operators. An index describes its elements with strides; the library copies them, so
 * that every tensor stays compact, and what is assigned is written there. Operators are ops of the
 * standard package, which ferrule._operators calls. */
#include "core.h"

#include <string.h>

static fer_tensor *of(PyObject *self)
{
    return ((fpy_tensor *)self)->tensor;
}

/* --- Indexing --------------------------------------------------------------------------------- */

typedef struct selection {
    const fer_tensor *tensor;
    int64_t strides[FER_MAX_RANK]; /* of the tensor's own axes */
    size_t next;                   /* the axis that the next item is for */
    int64_t offset;                /* of the first element, in elements */
    size_t rank;
    int64_t shape[FER_MAX_RANK + 1];
    int64_t steps[FER_MAX_RANK + 1];
} selection;

static int add_axis(selection *s, int64_t extent, int64_t step)
{
    if (s->rank == FER_MAX_RANK) {
        PyErr_SetString(PyExc_ValueError, "the result would have more than 8 axes");
        return -1;
    }
    s->shape[s->rank] = extent;
    s->steps[s->rank++] = step;
    return 0;
}

static int take_whole(selection *s, size_t num_axes)
{
    for (; num_axes > 0; num_axes--, s->next++)
        if (add_axis(s, fer_tensor_shape(s->tensor)[s->next], s->strides[s->next]) < 0)
            return -1;
    return 0;
}

static int take_slice(selection *s, PyObject *slice)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0)
        return -1;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)fer_tensor_shape(s->tensor)[s->next],
                                             &start, &stop, step);
    int64_t stride = s->strides[s->next++];
    if (count > 0)
        s->offset += start * stride;
    return add_axis(s, count, count > 1 ? step * stride : stride);
}

static int take_one(selection *s, PyObject *index)
{
    int64_t extent = fer_tensor_shape(s->tensor)[s->next];
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred() != NULL)
        return -1;
    if (i < -extent || i >= extent) {
        PyErr_Format(PyExc_IndexError, "index %zd is outside axis %zu of %lld", i, s->next,
                     (long long)extent);
        return -1;
    }
    s->offset += (i < 0 ? i + extent : i) * s->strides[s->next++];
    return 0;
}

/* `rest` is how many axes an ellipsis stands for. */
static int take_item(selection *s, PyObject *item, size_t rest)
{
    if (item == Py_None)
        return add_axis(s, 1, 0);
    if (item == Py_Ellipsis)
        return take_whole(s, rest);
    if (PySlice_Check(item))
        return take_slice(s, item);
    if (PyIndex_Check(item) && !PyBool_Check(item))
        return take_one(s, item);
    PyErr_Format(PyExc_TypeError,
                 "an index is an integer, a slice, an ellipsis or None, not %s; take(...) "
                 "takes the places that a list or tensor says",
                 Py_TYPE(item)->tp_name);
    return -1;
}

static int select_items(selection *s, PyObject *const *items, Py_ssize_t num_items)
{
    size_t rank = fer_tensor_rank(s->tensor);
    size_t num_used = 0, num_ellipses = 0;
    for (Py_ssize_t i = 0; i < num_items; i++) {
        num_ellipses += items[i] == Py_Ellipsis;
        num_used += items[i] != Py_None && items[i] != Py_Ellipsis;
    }
    if (num_used > rank || num_ellipses > 1) {
        PyErr_Format(PyExc_IndexError,
                     num_used > rank ? "%zu indices for a tensor of rank %zu"
                                     : "more than one ellipsis",
                     num_used, rank);
        return -1;
    }
    for (Py_ssize_t i = 0; i < num_items; i++)
        if (take_item(s, items[i], rank - num_used) < 0)
            return -1;
    return take_whole(s, rank - s->next);
}

static PyObject *copy_selection(const selection *s)
{
    const fer_tensor *tensor = s->tensor;
    fer_dtype dtype = fer_tensor_dtype(tensor);
    uintptr_t first = (uintptr_t)fer_tensor_const_data(tensor) +
                      (uintptr_t)s->offset * fer_dtype_bytes(dtype); /* negative ones wrap */
    fer_dl_managed_tensor managed = {
        .dl_tensor = {.data = (void *)first,
                      .device = {1, fer_tensor_device(tensor).id},
                      .ndim = (int32_t)s->rank,
                      .dtype = {fer_dtype_dlpack_code(dtype), fer_dtype_dlpack_bits(dtype), 1},
                      .shape = (int64_t *)(uintptr_t)s->shape,
                      .strides = (int64_t *)(uintptr_t)s->steps}};
    fer_tensor *made;
    fer_error error = FER_ERROR_INIT;
    if (fer_tensor_from_dlpack(&managed, FER_DL_COPY_ALWAYS, &made, &error) != FER_OK)
        return fpy_raise(&error);
    return fpy_tensor_object(made);
}

static void start(selection *s, const fer_tensor *tensor)
{
    *s = (selection){.tensor = tensor};
    fer_tensor_strides(tensor, s->strides);
}

static int select_key(selection *s, const fer_tensor *tensor, PyObject *key)
{
    start(s, tensor);
    bool is_tuple = PyTuple_Check(key);
    PyObject *const *items = is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key;
    return select_items(s, items, is_tuple ? PyTuple_GET_SIZE(key) : 1);
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    selection s;
    return select_key(&s, of(self), key) < 0 ? NULL : copy_selection(&s);
}

static Py_ssize_t length(PyObject *self)
{
    if (fer_tensor_rank(of(self)) > 0)
        return (Py_ssize_t)fer_tensor_shape(of(self))[0];
    PyErr_SetString(PyExc_TypeError, "a tensor of rank 0 has no length");
    return -1;
}

/* For iteration, which ends with IndexError. */
static PyObject *item(PyObject *self, Py_ssize_t index)
{
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *result = key == NULL ? NULL : subscript(self, key);
    Py_XDECREF(key);
    return result;
}

/* A function of ferrule._indexing. */
static PyObject *call_indexing(const char *name, PyObject *self, PyObject *first, PyObject *second)
{
    PyObject *module = PyImport_ImportModule("ferrule._indexing");
    if (module == NULL)
        return NULL;
    PyObject *result = second == NULL
                           ? PyObject_CallMethod(module, name, "OO", self, first)
                           : PyObject_CallMethod(module, name, "OOO", self, first, second);
    Py_DECREF(module);
    return result;
}

/* --- Assignment ------------------------------------------------------------------------------- */

/* Writes as many compact elements as are selected. */
static void write_selection(const selection *s, void *first, const char *from)
{
    int64_t size = (int64_t)fer_dtype_bytes(fer_tensor_dtype(s->tensor));
    int64_t at[FER_MAX_RANK] = {0};
    int64_t count = 1, run = 1;
    size_t num_outer = s->rank;
    for (size_t axis = 0; axis < s->rank; axis++)
        count *= s->shape[axis];
    if (count == 0)
        return;
    char *to = (char *)first + s->offset * size;
    if (num_outer > 0 && s->steps[num_outer - 1] == 1)
        run = s->shape[--num_outer];
    for (int64_t i = 0; i < count; i += run, from += run * size) {
        memcpy(to, from, (size_t)(run * size));
        for (size_t axis = num_outer; axis-- > 0;) {
            to += s->steps[axis] * size;
            if (++at[axis] < s->shape[axis])
                break;
            to -= at[axis] * s->steps[axis] * size;
            at[axis] = 0;
        }
    }
}

static int assign(PyObject *self, PyObject *key, PyObject *value)
{
    selection s;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "a tensor's elements cannot be deleted");
        return -1;
    }
    if (fer_tensor_is_read_only(of(self))) {
        PyErr_SetString(PyExc_ValueError, "the tensor is read-only");
        return -1;
    }
    if (select_key(&s, of(self), key) < 0)
        return -1;
    PyObject *elements = call_indexing("elements", self, value, NULL);
    PyObject *shape = elements == NULL ? NULL : fpy_extents(s.shape, s.rank);
    PyObject *whole = shape == NULL ? NULL : fpy_tensor_broadcast(elements, shape);
    if (whole != NULL)
        write_selection(&s, fer_tensor_data(of(self)), fer_tensor_const_data(of(whole)));
    Py_XDECREF(elements);
    Py_XDECREF(shape);
    Py_XDECREF(whole);
    return whole == NULL ? -1 : 0;
}

PyMappingMethods fpy_tensor_as_mapping = {
    .mp_length = length, .mp_subscript = subscript, .mp_ass_subscript = assign};
PySequenceMethods fpy_tensor_as_sequence = {.sq_length = length, .sq_item = item};

/* The same elements over and over on axes that are of length 1 or not there: a stride of 0. */
PyObject *fpy_tensor_broadcast(PyObject *self, PyObject *shape)
{
    selection s;
    start(&s, of(self));
    int64_t wanted[FER_MAX_RANK];
    size_t rank, own = fer_tensor_rank(of(self));
    if (fpy_extents_from(shape, wanted, &rank) < 0)
        return NULL;
    bool is_good = rank <= FER_MAX_RANK && own <= rank;
    for (size_t i = 0; is_good && i < rank; i++) {
        size_t axis = i + own - rank; /* wraps for axes that are new */
        bool is_own = i + own >= rank;
        int64_t extent = is_own ? fer_tensor_shape(of(self))[axis] : 1;
        is_good = extent == wanted[i] || extent == 1;
        (void)add_axis(&s, wanted[i], extent == 1 ? 0 : s.strides[axis]);
    }
    if (is_good)
        return copy_selection(&s);
    PyObject *own_shape = fpy_extents(fer_tensor_shape(of(self)), own);
    if (own_shape != NULL)
        PyErr_Format(PyExc_ValueError, "%S cannot be broadcast to %S", own_shape, shape);
    Py_XDECREF(own_shape);
    return NULL;
}

/* A graph value's index is ops, which ferrule._indexing stages, and so is what is assigned. */
static PyObject *subscript_value(PyObject *self, PyObject *key)
{
    return call_indexing("index", self, key, NULL);
}

static int assign_to_value(PyObject *self, PyObject *key, PyObject *value)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "a value's elements cannot be deleted");
        return -1;
    }
    PyObject *result = call_indexing("assign", self, key, value);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

PyMappingMethods fpy_value_as_mapping = {.mp_subscript = subscript_value,
                                         .mp_ass_subscript = assign_to_value};

/* --- Operators -------------------------------------------------------------------------------- */

/* The function of ferrule._operators, which every interpreter has for itself. */
static PyObject *operate(const char *name, PyObject *a, PyObject *b)
{
    PyObject *module = PyImport_ImportModule("ferrule._operators");
    if (module == NULL)
        return NULL;
    PyObject *result = b == NULL ? PyObject_CallMethod(module, "unary", "sO", name, a)
                                 : PyObject_CallMethod(module, "binary", "sOO", name, a, b);
    Py_DECREF(module);
    return result;
}

#define BINARY(function, name)                                                                     \
    static PyObject *function(PyObject *a, PyObject *b)                                            \
    {                                                                                              \
        return operate(name, a, b);                                                                \
    }

BINARY(add, "add")
BINARY(subtract, "sub")
BINARY(multiply, "mul")
BINARY(divide, "div")
BINARY(floor_divide, "floor_div")
BINARY(modulo, "floor_mod")
BINARY(divide_both, "divmod")
BINARY(both, "bitwise_and")
BINARY(either, "bitwise_or")
BINARY(one_of_both, "bitwise_xor")
BINARY(matrix_multiply, "matmul")

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus)
{
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return operate("pow", a, b);
}

#define UNARY(function, name)                                                                      \
    static PyObject *function(PyObject *self)                                                      \
    {                                                                                              \
        return operate(name, self, NULL);                                                          \
    }

UNARY(negate, "neg")
UNARY(absolute, "abs")
UNARY(keep, "pos")
UNARY(invert, "invert")

PyObject *fpy_compare(PyObject *a, PyObject *b, int comparison)
{
    static const char *const NAMES[] = {
        [Py_LT] = "lt", [Py_LE] = "le", [Py_EQ] = "eq",
        [Py_NE] = "ne", [Py_GT] = "gt", [Py_GE] = "ge",
    };
    return operate(NAMES[comparison], a, b);
}

/* The only element, for bool(), int() and float(). */
static PyObject *element(PyObject *self)
{
    if (fpy_is_tensor(self))
        return fpy_tensor_item(self, NULL);
    return PyErr_Format(
        PyExc_TypeError,
        "a graph value has no number before the graph runs, so Python cannot branch on it; "
        "Graph.cond and Graph.while_loop can, and & | ~ are and, or, not");
}

static int is_true(PyObject *self)
{
    PyObject *number = element(self);
    int result = number == NULL ? -1 : PyObject_IsTrue(number);
    Py_XDECREF(number);
    return result;
}

static PyObject *to_float(PyObject *self)
{
    PyObject *number = element(self);
    PyObject *result = number == NULL ? NULL : PyNumber_Float(number);
    Py_XDECREF(number);
    return result;
}

static PyObject *to_int(PyObject *self)
{
    PyObject *number = element(self);
    PyObject *result = number == NULL ? NULL : PyNumber_Long(number);
    Py_XDECREF(number);
    return result;
}

PyNumberMethods fpy_operators = {
    .nb_add = add,
    .nb_subtract = subtract,
    .nb_multiply = multiply,
    .nb_remainder = modulo,
    .nb_divmod = divide_both,
    .nb_power = power,
    .nb_negative = negate,
    .nb_positive = keep,
    .nb_absolute = absolute,
    .nb_invert = invert,
    .nb_and = both,
    .nb_or = either,
    .nb_xor = one_of_both,
    .nb_bool = is_true,
    .nb_int = to_int,
    .nb_float = to_float,
    .nb_floor_divide = floor_divide,
    .nb_true_divide = divide,
    .nb_matrix_multiply = matrix_multiply,
};

static int set_in_class(PyTypeObject *class, const char *name, PyObject *value)
{
    int result = value == NULL ? -1 : PyDict_SetItemString(class->tp_dict, name, value);
    Py_XDECREF(value);
    PyType_Modified(class);
    return result;
}

int fpy_precede_numpy(void)
{
    return set_in_class(&fpy_class_tensor, "__array_priority__", PyFloat_FromDouble(1000)) < 0
               ? -1
               : set_in_class(&fpy_class_value, "__array_ufunc__", Py_NewRef(Py_None));
}
