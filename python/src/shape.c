/* Other shapes of tensors and graph values: reshape is the library's; what is made of it and of ops
 * of the standard package is in ferrule._shapes. */
#include "core.h"

/* --- reshape ---------------------------------------------------------------------------------- */

/* The shape of `reshape(2, -1)` and of `reshape((2, -1))`, borrowed. A str is one dim. */
static PyObject *shape_of(PyObject *args)
{
    PyObject *first = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    bool is_shape = first != NULL && PySequence_Check(first) && !PyUnicode_Check(first);
    return is_shape ? first : args;
}

static PyObject *reshape_tensor(PyObject *self, PyObject *args)
{
    int64_t extents[FER_MAX_RANK];
    size_t rank;
    fer_tensor *made;
    fer_error error = FER_ERROR_INIT;
    if (fpy_extents_from(shape_of(args), extents, &rank) < 0)
        return NULL;
    fer_status status =
        fer_tensor_reshape(((fpy_tensor *)self)->tensor, rank, extents, &made, &error);
    return status == FER_OK ? fpy_tensor_object(made) : fpy_raise(&error);
}

typedef fer_status (*fpy_view)(fer_graph *graph, fer_value *value, const fer_dim *const *dims,
                               size_t num_dims, fer_value **out_value, fer_error *error);

static PyObject *view_value(PyObject *self, PyObject *shape, fpy_view view)
{
    fer_dim *dims[FER_MAX_RANK];
    size_t rank;
    fer_value *made;
    fer_error error = FER_ERROR_INIT;
    fpy_value *value = (fpy_value *)self;
    if (fpy_dims_from(shape, dims, FER_MAX_RANK, &rank) < 0)
        return NULL;
    fer_status status =
        view(value->graph->graph, value->value, (const fer_dim *const *)dims, rank, &made, &error);
    fpy_dims_clear(dims, rank < FER_MAX_RANK ? rank : FER_MAX_RANK);
    return status == FER_OK ? fpy_value_object(value->graph, made) : fpy_raise(&error);
}

static PyObject *reshape_value(PyObject *self, PyObject *args)
{
    return view_value(self, shape_of(args), fer_graph_reshape);
}

static PyObject *rebind_value(PyObject *self, PyObject *shape)
{
    return view_value(self, shape, fer_graph_rebind);
}

/* --- What Python has -------------------------------------------------------------------------- */

/* The function of ferrule._shapes, which every interpreter has for itself. */
static PyObject *delegate(const char *name, PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *result = NULL;
    PyObject *module = PyImport_ImportModule("ferrule._shapes");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    PyObject *first = function == NULL ? NULL : PyTuple_Pack(1, self);
    PyObject *all = first == NULL ? NULL : PySequence_Concat(first, args);
    if (all != NULL)
        result = PyObject_Call(function, all, kwargs);
    Py_XDECREF(all);
    Py_XDECREF(first);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

#define DELEGATE(function)                                                                         \
    static PyObject *function(PyObject *self, PyObject *args, PyObject *kwargs)                    \
    {                                                                                              \
        return delegate(#function, self, args, kwargs);                                            \
    }

DELEGATE(squeeze)
DELEGATE(unsqueeze)
DELEGATE(flatten)
DELEGATE(transpose)
DELEGATE(permute)
DELEGATE(take)
DELEGATE(cast)
DELEGATE(broadcast_to)
DELEGATE(dim)

#define FUNCTION(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef of_both[] = {
    {"squeeze", FUNCTION(squeeze),
     "squeeze($self, axis)\n--\n\n"
     "Without that axis, whose length is 1, as reshape. ValueError: another length; of a graph\n"
     "value whose dim is a name it is checked when the graph runs (KernelError).\n\n"
     ">>> Tensor([[1, 2]]).squeeze(0).shape\n"
     "(2,)"},
    {"unsqueeze", FUNCTION(unsqueeze),
     "unsqueeze($self, axis)\n--\n\n"
     "With a new axis of length 1 at that place, as reshape.\n\n"
     ">>> Tensor([1, 2]).unsqueeze(-1).shape\n"
     "(2, 1)"},
    {"flatten", FUNCTION(flatten),
     "flatten($self, start_axis=0, end_axis=-1)\n--\n\n"
     "With the axes from start_axis to end_axis, both included, as one, as reshape. Rank 0\n"
     "becomes rank 1.\n\n"
     ">>> Tensor.ones((2, 3, 4)).flatten(1).shape\n"
     "(2, 12)"},
    {"transpose", FUNCTION(transpose),
     "transpose($self, axis_1, axis_2)\n--\n\n"
     "A copy with the two axes in each other's place.\n\n"
     ">>> Tensor.ones((2, 3, 4)).transpose(0, 2).shape\n"
     "(4, 3, 2)"},
    {"permute", FUNCTION(permute),
     "permute($self, axes)\n--\n\n"
     "A copy whose axis i is axis axes[i] of this one. ValueError: each axis does not stand there\n"
     "once.\n\n"
     ">>> Tensor.ones((2, 3, 4)).permute([2, 0, 1]).shape\n"
     "(4, 2, 3)"},
    {"take", FUNCTION(take),
     "take($self, index, axis=0)\n--\n\n"
     "The elements of an axis at the places that `index` says, int32 or int64 of any shape, which\n"
     "stands in the result in place of the axis. KernelError: a place outside, also a negative\n"
     "one.\n\n"
     ">>> Tensor([[1, 2, 3], [4, 5, 6]]).take([2, 0], axis=1).tolist()\n"
     "[[3, 1], [6, 4]]"},
    {"cast", FUNCTION(cast),
     "cast($self, dtype)\n--\n\n"
     "A copy in another dtype, as the standard op `cast` converts: floats to integers by dropping\n"
     "the fraction, to small floats by rounding to nearest even.\n\n"
     ">>> Tensor([1.5, -1.5]).cast('i8').tolist()\n"
     "[1, -1]"},
    {0},
};

static PyMethodDef of_tensors[] = {
    {"reshape", reshape_tensor, METH_VARARGS,
     "reshape($self, *shape)\n--\n\n"
     "The same elements, in row-major order, under another shape, given as one or number by\n"
     "number. One extent may be -1, which is inferred. The memory is shared where this is\n"
     "compact, else copied. ValueError: another number of elements.\n\n"
     ">>> x = Tensor.arange(6)\n"
     ">>> x.reshape(2, -1).shape\n"
     "(2, 3)"},
    {0},
};

static PyMethodDef of_values[] = {
    {"rebind", rebind_value, METH_O,
     "rebind($self, shape, /)\n--\n\n"
     "The same value with these dims, which is checked when the graph\n"
     "runs (KernelError). ValueError: another rank, a dim that cannot hold.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].rebind([2, 3]).shape\n"
     "(StaticDim(2), StaticDim(3))"},
    {"reshape", reshape_value, METH_VARARGS,
     "reshape($self, *shape)\n--\n\n"
     "The same elements, in row-major order, under another shape, given as one or dim by dim. One\n"
     "may be -1, which is inferred. No element is copied. ValueError: a shape that fits no size;\n"
     "what only sizes can tell is checked when the graph runs (KernelError).\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 4])})\n"
     ">>> graph.inputs[0].reshape(-1, 2).type\n"
     "TensorType(f32[2 * n, 2])"},
    {"broadcast_to", FUNCTION(broadcast_to),
     "broadcast_to($self, shape)\n--\n\n"
     "A copy of that shape, by NumPy's rules: dims are equal, or this one's is 1 or missing.\n"
     "ValueError: they are not, or nothing in the graph says what a name is.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 1])})\n"
     ">>> graph.inputs[0].broadcast_to([2, 'n', 'n']).type\n"
     "TensorType(f32[2, n, n])"},
    {"dim", FUNCTION(dim),
     "dim($self, axis)\n--\n\n"
     "The length of an axis as a value, int64 of rank 0, to compute with when the graph runs.\n"
     "(`shape` has it as a dim.)\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].dim(0).type\n"
     "TensorType(i64[])"},
    {0},
};

static int add_methods(PyTypeObject *class, PyMethodDef *methods)
{
    for (; methods->ml_name != NULL; methods++) {
        PyObject *method = PyDescr_NewMethod(class, methods);
        if (method == NULL || PyDict_SetItemString(class->tp_dict, methods->ml_name, method) < 0) {
            Py_XDECREF(method);
            return -1;
        }
        Py_DECREF(method);
    }
    PyType_Modified(class);
    return 0;
}

int fpy_add_shapes(void)
{
    bool has_all = add_methods(&fpy_class_tensor, of_both) == 0 &&
                   add_methods(&fpy_class_value, of_both) == 0 &&
                   add_methods(&fpy_class_tensor, of_tensors) == 0 &&
                   add_methods(&fpy_class_value, of_values) == 0;
    return has_all ? 0 : -1;
}
