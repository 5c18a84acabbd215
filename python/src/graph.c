/* Graph and TensorValue: ops staged once, to be run many times. */
#include "core.h"

#include <stdio.h>
#include <string.h>

static fpy_graph *as_graph(PyObject *self)
{
    return (fpy_graph *)self;
}

static fpy_value *as_value(PyObject *self)
{
    return (fpy_value *)self;
}

/* --- Values ----------------------------------------------------------------------------------- */

PyObject *fpy_value_object(fpy_graph *graph, fer_value *value)
{
    fpy_value *self = fpy_new(&fpy_class_value);
    if (self == NULL)
        return NULL;
    self->graph = (fpy_graph *)Py_NewRef((PyObject *)graph);
    self->value = value;
    return (PyObject *)self;
}

static void value_destroy(PyObject *self)
{
    fpy_forget(self);
    Py_DECREF((PyObject *)as_value(self)->graph);
    PyObject_Free(self);
}

static const fer_type *type_of(PyObject *self)
{
    return fer_value_type(as_value(self)->value);
}

static PyObject *value_get_type(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_value_type_object(as_value(self)->value);
}

static PyObject *value_get_shape(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_type_shape(type_of(self));
}

static PyObject *value_get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_dtype_object(fer_type_dtype(type_of(self)));
}

static PyObject *value_get_rank(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(fer_type_rank(type_of(self)));
}

static PyObject *value_get_device(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_device_object(fer_type_device(type_of(self)));
}

static PyObject *value_get_graph(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)as_value(self)->graph);
}

/* All but inputs that are no buffers. */
static PyObject *value_may_change(PyObject *self, void *closure)
{
    (void)closure;
    const fer_value *value = as_value(self)->value;
    const fer_graph *graph = fer_value_graph(value);
    for (size_t i = 0; i < fer_graph_num_inputs(graph); i++)
        if (fer_graph_input_at(graph, i) == value)
            return PyBool_FromLong(fer_value_is_inout(value));
    Py_RETURN_TRUE;
}

static PyObject *value_show(PyObject *self)
{
    return PyUnicode_FromFormat("<TensorValue %s%s of graph '%s'>",
                                fer_value_is_inout(as_value(self)->value) ? "inout " : "",
                                fer_type_text(type_of(self)),
                                fer_graph_name(as_value(self)->graph->graph));
}

/* By object, though a value has many: where two hashes are the same a dict asks `==`, which would
 * stage an op. */
static Py_hash_t value_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)self >> 4);
}

static PyObject *move_to(PyObject *self, PyObject *device_given)
{
    fer_device device;
    fer_value *made;
    fer_error error = FER_ERROR_INIT;
    fpy_graph *graph = as_value(self)->graph;
    if (fpy_device_from(device_given, &device) < 0)
        return NULL;
    if (device.id == fer_type_device(type_of(self)).id)
        return Py_NewRef(self);
    fer_status status =
        fer_graph_transfer(graph->graph, as_value(self)->value, device, &made, &error);
    return status == FER_OK ? fpy_value_object(graph, made) : fpy_raise(&error);
}

static PyGetSetDef value_members[] = {
    {"type", value_get_type, NULL,
     "The TensorType, or of a buffer the BufferType.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].type\n"
     "TensorType(f32[n, 3])",
     NULL},
    {"shape", value_get_shape, NULL,
     "A tuple of dims.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].shape\n"
     "(SymbolicDim('n'), StaticDim(3))",
     NULL},
    {"dtype", value_get_dtype, NULL,
     "The DType.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].dtype\n"
     "DType.float32",
     NULL},
    {"rank", value_get_rank, NULL,
     "The number of dims.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].rank\n"
     "2",
     NULL},
    {"device", value_get_device, NULL,
     "The DeviceRef.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].device\n"
     "DeviceRef.CPU()",
     NULL},
    {"graph", value_get_graph, NULL,
     "The Graph that it belongs to.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].graph is graph\n"
     "True",
     NULL},
    {"_may_change", value_may_change, NULL, "Whether a step may change it in its place.", NULL},
    {0},
};

/* Else NumPy makes an array of one object of it. */
static PyObject *refuse_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    return PyErr_Format(PyExc_TypeError,
                        "%R has no elements before the graph runs: output() it, and run the model",
                        self);
}

static PyMethodDef value_methods[] = {
    {"__array__", (PyCFunction)(void (*)(void))refuse_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"to", move_to, METH_O,
     "to($self, device, /)\n--\n\n"
     "A copy on that device, or the value itself where it is there already; None is the host.\n"
     "TypeError: what is no DeviceRef. ValueError: a finished graph.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs[0].to(DeviceRef.CPU()).device\n"
     "DeviceRef.CPU()"},
    {0},
};

PyDoc_STRVAR(
    value_doc,
    "A value in a graph: an input, or the result of an op that was staged.\n\n"
    "`value[...] = other`, `value[1:3] = other` and `value[1:3] += other` change it in its place,\n"
    "for the steps that follow: an input has to be of BufferType for that (ValueError).\n"
    "Operators stage ops of the standard package and broadcast where the dims say what fits (they\n"
    "are equal, or one is 1). Indices are integers, slices, `...` and None; where a size is a\n"
    "name, bounds lie within it, which is checked when the graph runs (ValueError).\n\n"
    "TypeError: what has no elements. ValueError: shapes or dtypes that do not fit, a finished\n"
    "graph. IndexError: a place outside a known size.\n\n"
    ">>> x, y = Graph('g', [TensorType('f32', ['n', 1]), TensorType('f32', ['m'])]).inputs\n"
    ">>> (x + y)[:, 1:].type\n"
    "TensorType(f32[n, m - 1])");

PyTypeObject fpy_class_value = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.TensorValue",
    .tp_doc = value_doc,
    .tp_basicsize = sizeof(fpy_value),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = value_destroy,
    .tp_repr = value_show,
    .tp_hash = value_hash,
    .tp_richcompare = fpy_compare,
    .tp_as_number = &fpy_operators,
    .tp_as_mapping = &fpy_value_as_mapping,
    .tp_methods = value_methods,
    .tp_getset = value_members,
};

/* --- Making a graph --------------------------------------------------------------------------- */

/* A list of (name, type): of a mapping its items, of a sequence named by position. */
static PyObject *name_inputs(PyObject *types)
{
    if (PyDict_Check(types) || PyObject_HasAttrString(types, "keys"))
        return fpy_pairs(types);
    PyObject *items = fpy_items(
        types,
        "input_types is a sequence of TensorType or BufferType, or a mapping of names to them");
    PyObject *pairs = items == NULL ? NULL : PyList_New(0);
    for (Py_ssize_t i = 0; pairs != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *name = PyUnicode_FromFormat("input%zd", i);
        PyObject *pair = name == NULL ? NULL : PyTuple_Pack(2, name, PyTuple_GET_ITEM(items, i));
        if (pair == NULL || PyList_Append(pairs, pair) < 0)
            Py_CLEAR(pairs);
        Py_XDECREF(pair);
        Py_XDECREF(name);
    }
    Py_XDECREF(items);
    return pairs;
}

/* `pairs` outlives the inputs. */
static int read_inputs(PyObject *pairs, fer_graph_input *inputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs); i++) {
        PyObject *pair = PyList_GET_ITEM(pairs, i);
        PyObject *type = PyTuple_GET_ITEM(pair, 1);
        inputs[i].name = fpy_c_text(PyTuple_GET_ITEM(pair, 0), "an input's name");
        if (inputs[i].name == NULL)
            return -1;
        inputs[i].is_inout = Py_IS_TYPE(type, &fpy_class_buffer_type);
        if (!inputs[i].is_inout && !Py_IS_TYPE(type, &fpy_class_type)) {
            PyErr_Format(PyExc_TypeError, "input '%s' is %s, not a TensorType or BufferType",
                         inputs[i].name, Py_TYPE(type)->tp_name);
            return -1;
        }
        inputs[i].type = ((fpy_type *)type)->type;
    }
    return 0;
}

static int start_graph(fpy_graph *self, const char *name, PyObject *pairs)
{
    size_t count = (size_t)PyList_GET_SIZE(pairs);
    fer_error error = FER_ERROR_INIT;
    fer_graph_input *inputs = PyMem_Calloc(count + 1, sizeof *inputs);
    int result = -1;
    if (inputs == NULL)
        PyErr_NoMemory();
    else if (read_inputs(pairs, inputs) == 0)
        result = 0;
    if (result == 0 &&
        ((self->module == NULL && fer_module_create(&self->module, &error) != FER_OK) ||
         fer_graph_create(self->module, name, inputs, count, &self->graph, &error) != FER_OK)) {
        fpy_raise(&error);
        result = -1;
    }
    PyMem_Free(inputs);
    return result;
}

static PyObject *name_tuple(PyObject *pairs)
{
    PyObject *names = PyTuple_New(PyList_GET_SIZE(pairs));
    for (Py_ssize_t i = 0; names != NULL && i < PyList_GET_SIZE(pairs); i++)
        PyTuple_SET_ITEM(names, i, Py_NewRef(PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, i), 0)));
    return names;
}

static PyObject *create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"name", "input_types", "module", NULL};
    PyObject *name, *types = NULL, *beside = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:Graph", keywords, &name, &types, &beside))
        return NULL;
    if (beside != Py_None && !Py_IS_TYPE(beside, &fpy_class_graph)) {
        PyErr_Format(PyExc_TypeError, "module is '%s', not a Graph", Py_TYPE(beside)->tp_name);
        return NULL;
    }
    const char *text = fpy_c_text(name, "a graph's name");
    PyObject *pairs = text == NULL ? NULL : types == NULL ? PyList_New(0) : name_inputs(types);
    if (pairs == NULL)
        return NULL;
    fpy_graph *self = fpy_new(class);
    if (self != NULL) {
        self->module = beside == Py_None ? NULL : fer_module_retain(as_graph(beside)->module);
        self->graph = NULL;
        self->names = name_tuple(pairs);
        if (self->names == NULL || start_graph(self, text, pairs) < 0) {
            Py_DECREF((PyObject *)self);
            self = NULL;
        }
    }
    Py_DECREF(pairs);
    return (PyObject *)self;
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    fer_module_release(as_graph(self)->module);
    Py_XDECREF(as_graph(self)->names);
    PyObject_Free(self);
}

/* --- Building --------------------------------------------------------------------------------- */

static PyObject *output(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    fer_value **values = PyMem_Calloc((size_t)count + 1, sizeof(fer_value *));
    fer_error error = FER_ERROR_INIT;
    if (values == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!Py_IS_TYPE(given[i], &fpy_class_value)) {
            PyErr_Format(PyExc_TypeError,
                         "graph '%s': output %zd is of type '%s', not a TensorValue%s",
                         fer_graph_name(as_graph(self)->graph), i, Py_TYPE(given[i])->tp_name,
                         fpy_value_hint(given[i]));
            PyMem_Free(values);
            return NULL;
        }
        values[i] = as_value(given[i])->value;
    }
    fer_status status = fer_graph_output(as_graph(self)->graph, values, (size_t)count, &error);
    PyMem_Free(values);
    return status == FER_OK ? Py_NewRef(Py_None) : fpy_raise(&error);
}

static PyObject *constant(PyObject *self, PyObject *data)
{
    fpy_loan loan;
    if (Py_IS_TYPE(data, &fpy_class_value))
        return PyErr_Format(PyExc_TypeError,
                            "graph '%s': a TensorValue is no constant; use it as it is",
                            fer_graph_name(as_graph(self)->graph));
    int lent = fpy_lend(data, FPY_COPY_IF_NEEDED, &loan);
    if (lent < 0)
        return NULL;
    if (lent == 0) {
        PyObject *tensor = fpy_tensor_from_sequence(data, FER_DTYPE_INVALID, (fer_device){0});
        PyObject *value = tensor == NULL ? NULL : constant(self, tensor);
        Py_XDECREF(tensor);
        return value;
    }
    fer_value *value;
    fer_error error = FER_ERROR_INIT;
    fer_status status = fer_graph_constant(as_graph(self)->graph, loan.tensor, &value, &error);
    fpy_end_loan(&loan);
    return status == FER_OK ? fpy_value_object(as_graph(self), value) : fpy_raise(&error);
}

static PyObject *copy(PyObject *self, PyObject *name)
{
    const char *text = fpy_c_text(name, "a graph's name");
    fer_graph *graph;
    fer_error error = FER_ERROR_INIT;
    if (text == NULL)
        return NULL;
    if (fer_graph_copy(as_graph(self)->module, as_graph(self)->graph, text, &graph, &error) !=
        FER_OK)
        return fpy_raise(&error);
    fpy_graph *made = fpy_new(&fpy_class_graph);
    if (made == NULL)
        return NULL;
    made->module = fer_module_retain(as_graph(self)->module);
    made->graph = graph;
    made->names = Py_NewRef(as_graph(self)->names);
    return (PyObject *)made;
}

static PyObject *compile(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"executor", NULL};
    const char *executor = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|z:compile", names, &executor))
        return NULL;
    return fpy_model_create(as_graph(self), executor);
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *leave(PyObject *self, PyObject *args)
{
    PyObject *class = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None;
    if (PyExceptionClass_Check(class))
        fpy_abandon(as_graph(self), class);
    Py_RETURN_NONE;
}

void fpy_abandon(fpy_graph *graph, PyObject *exception)
{
    char why[160];
    snprintf(why, sizeof why, "an exception, %.100s", ((PyTypeObject *)exception)->tp_name);
    /* Without memory for it the graph only says later that a block has not ended. */
    (void)!fer_graph_abandon(graph->graph, why, NULL);
}

/* --- Looking ---------------------------------------------------------------------------------- */

static PyObject *list_values(PyObject *self, size_t count,
                             fer_value *(*value_at)(const fer_graph *graph, size_t index))
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *value = fpy_value_object(as_graph(self), value_at(as_graph(self)->graph, i));
        if (value == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, value);
    }
    return tuple;
}

static PyObject *get_inputs(PyObject *self, void *closure)
{
    (void)closure;
    return list_values(self, fer_graph_num_inputs(as_graph(self)->graph), fer_graph_input_at);
}

static PyObject *get_outputs(PyObject *self, void *closure)
{
    (void)closure;
    return list_values(self, fer_graph_num_outputs(as_graph(self)->graph), fer_graph_output_at);
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_text(fer_graph_name(as_graph(self)->graph));
}

static PyObject *get_input_names(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(as_graph(self)->names);
}

static PyObject *get_num_ops(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(fer_graph_num_ops(as_graph(self)->graph));
}

/* The program's text, as a file of it would be. */
static PyObject *text(PyObject *self)
{
    char *program = NULL;
    fer_error error = FER_ERROR_INIT;
    if (fer_module_print(as_graph(self)->module, &program, &error) != FER_OK)
        return fpy_raise(&error);
    PyObject *result = fpy_text(program);
    fer_string_free(program);
    return result;
}

/* The same, but for a graph without outputs yet, or what no text can say: debuggers and notebooks
 * show everything. */
static PyObject *show(PyObject *self)
{
    PyObject *program = text(self);
    if (program != NULL || !PyErr_ExceptionMatches(PyExc_ValueError))
        return program;
    PyErr_Clear();
    const fer_graph *graph = as_graph(self)->graph;
    size_t num_inputs = fer_graph_num_inputs(graph), num_ops = fer_graph_num_ops(graph);
    return PyUnicode_FromFormat("<Graph '%s': %zu input%s, %zu op%s>", fer_graph_name(graph),
                                num_inputs, num_inputs == 1 ? "" : "s", num_ops,
                                num_ops == 1 ? "" : "s");
}

static PyObject *to_dot(PyObject *self, PyObject *unused)
{
    (void)unused;
    char *dot = NULL;
    fer_error error = FER_ERROR_INIT;
    if (fer_module_draw(as_graph(self)->module, &dot, &error) != FER_OK)
        return fpy_raise(&error);
    return fpy_printed(dot);
}

static PyObject *draw(PyObject *self, PyObject *unused)
{
    PyObject *dot = to_dot(self, unused);
    PyObject *module = dot == NULL ? NULL : PyImport_ImportModule("ferrule._drawing");
    PyObject *result = module == NULL ? NULL : PyObject_CallMethod(module, "svg", "O", dot);
    Py_XDECREF(module);
    Py_XDECREF(dot);
    return result;
}

static PyGetSetDef members[] = {
    {"name", get_name, NULL,
     "The graph's name.\n\n"
     ">>> Graph('g').name\n"
     "'g'",
     NULL},
    {"inputs", get_inputs, NULL,
     "A tuple of TensorValue.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.inputs\n"
     "(<TensorValue f32[n, 3] of graph 'g'>,)",
     NULL},
    {"input_names", get_input_names, NULL,
     "A tuple of the inputs' names.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.input_names\n"
     "('x',)",
     NULL},
    {"outputs", get_outputs, NULL,
     "A tuple of TensorValue; empty before output().\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.output(graph.inputs[0])\n"
     ">>> len(graph.outputs)\n"
     "1",
     NULL},
    {"num_ops", get_num_ops, NULL,
     "How many ops were staged.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> y = graph.inputs[0] * 2\n"
     ">>> graph.num_ops\n"
     "1",
     NULL},
    {0},
};

static PyMethodDef methods[] = {
    {"output", (PyCFunction)(void (*)(void))output, METH_FASTCALL,
     "output($self, /, *values)\n--\n\n"
     "Finishes the graph. ValueError: a second call, a value of another\n"
     "graph. TypeError: what is no value.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.output(graph.inputs[0], graph.inputs[0])\n"
     ">>> len(graph.outputs)\n"
     "2"},
    {"constant", constant, METH_O,
     "constant($self, data, /)\n--\n\n"
     "A value that is always this tensor, array, number or nested\n"
     "sequence; it is copied. Dtypes and errors are Tensor()'s. ValueError: the graph is\n"
     "finished.\n\n"
     ">>> Graph('g').constant([1, 2]).type\n"
     "TensorType(i64[2])"},
    {"cond", (PyCFunction)(void (*)(void))fpy_graph_cond, METH_VARARGS | METH_KEYWORDS,
     "cond($self, predicate, first, other=None)\n--\n\n"
     "What one of two functions returns, by a predicate, bool[]: `first` is called for\n"
     "the ops that run when it is true, `other` for those that run when it is false.\n"
     "Both return values of the same types: None, one, or a list or tuple.\n"
     "ValueError: they do not. After an exception in them the graph cannot be finished.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', [])})\n"
     ">>> x = graph.inputs[0]\n"
     ">>> graph.output(graph.cond(x < 0, lambda: -x, lambda: x))\n"
     ">>> graph.compile()(-2.0).item()\n"
     "2.0"},
    {"while_loop", (PyCFunction)(void (*)(void))fpy_graph_while_loop, METH_VARARGS | METH_KEYWORDS,
     "while_loop($self, condition, body, initial=None)\n--\n\n"
     "What a loop carries in the end. `condition(*values)` returns a bool[]; as long as\n"
     "it is true, `body(*values)` returns the next values. `initial` are the first ones:\n"
     "None, one, or a list or tuple; the body returns as many, of the same types.\n"
     "ValueError: it does not. After an exception in them the graph cannot be finished.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', [])})\n"
     ">>> x = graph.inputs[0]\n"
     ">>> graph.output(graph.while_loop(lambda y: y < 100, lambda y: y * 2, x))\n"
     ">>> graph.compile()(3.0).item()\n"
     "192.0"},
    {"call", (PyCFunction)(void (*)(void))fpy_graph_call, METH_FASTCALL,
     "call($self, graph, /, *values)\n--\n\n"
     "What another graph of the module gives for these inputs, as an op would.\n"
     "ValueError: a graph that is not finished, of another module, or this one.\n\n"
     ">>> square = Graph('square', {'x': TensorType('f32', ['n'])})\n"
     ">>> square.output(square.inputs[0] * square.inputs[0])\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n'])}, module=square)\n"
     ">>> graph.output(graph.call(square, graph.inputs[0]) + 1)\n"
     ">>> graph.compile()([3.0]).tolist()\n"
     "[10.0]"},
    {"copy", copy, METH_O,
     "copy($self, name, /)\n--\n\n"
     "A finished graph once more in its module, under another name. ValueError: it holds\n"
     "a data-dependent dim, or the name is taken.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n'])})\n"
     ">>> graph.output(graph.inputs[0])\n"
     ">>> graph.copy('h').name\n"
     "'h'"},
    {"compile", (PyCFunction)(void (*)(void))compile, METH_VARARGS | METH_KEYWORDS,
     "compile($self, executor=None)\n--\n\n"
     "A Model of the finished graph. ValueError: it is not finished,\n"
     "or there is no such executor. `executor` is its name, or None for\n"
     "the default.\n\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n', 3])})\n"
     ">>> graph.output(graph.inputs[0] * 2)\n"
     ">>> graph.compile()(Tensor.ones((1, 3))).tolist()\n"
     "[[2.0, 2.0, 2.0]]"},
    {"write", fpy_graph_write, METH_O,
     "write($self, path, /)\n--\n\n"
     "Writes the graph, and the others of its module, as a program file, for read() and\n"
     "`ferrule run`. Constants of more than 4096 bytes go to files of their own in a folder\n"
     "beside it, g.data for g.fer; moved together they are the same. ValueError: a graph is\n"
     "not finished. OSError.\n\n"
     ">>> import tempfile\n"
     ">>> graph = Graph('g', {'x': TensorType('f32', ['n'])})\n"
     ">>> graph.output(graph.inputs[0] * 2)\n"
     ">>> with tempfile.TemporaryDirectory() as folder:\n"
     "...     graph.write(f'{folder}/g.fer')\n"
     "...     again = Graph.read(f'{folder}/g.fer')\n"
     ">>> again.compile()([1.5]).tolist()\n"
     "[3.0]"},
    {"read", (PyCFunction)(void (*)(void))fpy_graph_read, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "read($type, /, path, name=None)\n--\n\n"
     "A graph of a program file: the one of that name, else the only one, else the one called\n"
     "main. Its ops are declared, which may compile. Files of constants stay mapped: they may be\n"
     "replaced, but not be changed or cut, while the graph or a model of it is there. ValueError:\n"
     "no program, or no such graph. OSError, and what declaring raises.\n\n"
     ">>> import pathlib, tempfile\n"
     ">>> with tempfile.TemporaryDirectory() as folder:\n"
     "...     path = pathlib.Path(folder, 'g.fer')\n"
     "...     _ = path.write_text('graph g(x: f32[n]) { return x }')\n"
     "...     Graph.read(path).input_names\n"
     "('x',)"},
    {"to_dot", to_dot, METH_NOARGS,
     "to_dot($self)\n--\n\n"
     "The graph in Graphviz's language, finished or not. A notebook shows the picture that\n"
     "`dot` makes of it, where that is installed.\n\n"
     ">>> Graph('g', [TensorType('f32', ['n'])]).to_dot().splitlines()[0]\n"
     "'digraph {'"},
    {"_repr_svg_", draw, METH_NOARGS,
     "_repr_svg_($self)\n--\n\nWhat a notebook shows; None without Graphviz's `dot`."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", leave, METH_VARARGS, NULL},
    {0},
};

PyDoc_STRVAR(
    graph_doc,
    "Graph(name, input_types=(), module=None)\n--\n\n"
    "A graph under construction. `input_types` is a sequence of TensorType, or a mapping of\n"
    "names to them; without names they are input0, input1, ... An input that ops are to change\n"
    "in its place has a BufferType. Ops that are called with its values are staged in it, and\n"
    "output() finishes it. Printed it is a program's text.\n"
    "With `module`, a Graph, it stands beside that one, and one can call the other.\n\n"
    "TypeError: an input dim that is an expression. ValueError: a name that occurs twice.\n\n"
    ">>> with Graph('g', input_types=[TensorType(DType.float32, ['n'])]) as graph:\n"
    "...     graph.output(graph.inputs[0])\n"
    ">>> graph.compile()([1.5]).tolist()\n"
    "[1.5]");

PyTypeObject fpy_class_graph = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.Graph",
    .tp_doc = graph_doc,
    .tp_basicsize = sizeof(fpy_graph),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = create,
    .tp_dealloc = destroy,
    .tp_repr = show,
    .tp_str = text,
    .tp_methods = methods,
    .tp_getset = members,
};

int fpy_add_graphs(PyObject *module)
{
    return fpy_add_class(module, &fpy_class_graph) < 0 ? -1
                                                       : fpy_add_class(module, &fpy_class_value);
}
