/* Model: a finished graph made ready to run. Any number of threads may run one at once. */
#include "core.h"

#include <string.h>

typedef struct model {
    FPY_OBJECT_HEAD vectorcallfunc vectorcall;
    fer_model *model;
    fpy_graph *graph;
    size_t num_inputs;
    size_t num_outputs;
    fpy_pace paces[FPY_NUM_PACES];
} model;

static model *as_model(PyObject *self)
{
    return (model *)self;
}

/* One run, with room for inputs and outputs. */
typedef struct run {
    model *model;
    size_t num_inputs;
    fer_tensor **inputs;
    fer_tensor **outputs;
    fpy_loan *loans;
    size_t num_loans;
} run;

static fer_status run_model(void *context, fer_error *error)
{
    const run *r = context;
    return fer_model_run(r->model->model, r->inputs, r->num_inputs, r->outputs,
                         r->model->num_outputs, error);
}

/* What an input is in messages. */
static int fail_input(const run *r, size_t index)
{
    char graph[128], place[128];
    PyObject *names = r->model->graph->names;
    const char *name = index < (size_t)PyTuple_GET_SIZE(names)
                           ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, (Py_ssize_t)index))
                           : NULL;
    PyOS_snprintf(place, sizeof place, "input '%.100s'", name == NULL ? "" : name);
    PyOS_snprintf(graph, sizeof graph, "graph '%.100s'", fer_graph_name(r->model->graph->graph));
    fpy_name_place(graph, place);
    return -1;
}

static int add_input(run *r, size_t index, PyObject *object)
{
    fpy_loan *loan = &r->loans[r->num_loans];
    PyObject *made = NULL;
    bool is_inout = fer_value_is_inout(fer_graph_input_at(r->model->graph->graph, index));
    int lent = fpy_lend(object, is_inout ? FPY_SHARE : FPY_COPY_IF_NEEDED, loan);
    if (lent == 0 && is_inout) { /* what is changed would be lost */
        PyErr_Format(PyExc_TypeError, "a buffer is a tensor or an array, not of type '%s'",
                     Py_TYPE(object)->tp_name);
        return fail_input(r, index);
    }
    if (lent == 0) { /* numbers, alone or in sequences */
        made = fpy_tensor_from_sequence(object, FER_DTYPE_INVALID, (fer_device){0});
        lent = made == NULL ? -1 : fpy_lend(made, FPY_SHARE, loan);
        if (made != NULL) {
            loan->tensor = fer_tensor_retain(loan->tensor);
            loan->is_ours = true;
            Py_DECREF(made);
        }
    }
    if (lent < 0)
        return fail_input(r, index);
    r->num_loans++;
    r->inputs[index] = loan->tensor;
    return 0;
}

static int index_of_input(const model *self, PyObject *keyword, size_t *out_index)
{
    PyObject *names = self->graph->names;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), keyword) == 0) {
            *out_index = (size_t)i;
            return 0;
        }
    PyErr_Format(PyExc_TypeError, "graph '%s': there is no input '%U'; the inputs are %S",
                 fer_graph_name(self->graph->graph), keyword, names);
    return -1;
}

static int find_input(const run *r, PyObject *keyword, size_t *out_index)
{
    if (index_of_input(r->model, keyword, out_index) < 0)
        return -1;
    if (r->inputs[*out_index] == NULL)
        return 0;
    PyErr_Format(PyExc_TypeError, "graph '%s': input '%U' is given twice",
                 fer_graph_name(r->model->graph->graph), keyword);
    return -1;
}

static int read_inputs(run *r, PyObject *const *given, size_t num_positional, PyObject *keywords)
{
    for (size_t i = 0; i < num_positional; i++)
        if (add_input(r, i, given[i]) < 0)
            return -1;
    size_t num_keywords = keywords == NULL ? 0 : (size_t)PyTuple_GET_SIZE(keywords);
    for (size_t i = 0; i < num_keywords; i++) {
        size_t index;
        if (find_input(r, PyTuple_GET_ITEM(keywords, (Py_ssize_t)i), &index) < 0 ||
            add_input(r, index, given[num_positional + i]) < 0)
            return -1;
    }
    return 0;
}

/* What a loop takes is in its data, so a run that has one never keeps the GIL: it may last for
 * ever, and Ctrl-C is to end it. */
static fer_status run_loop(run *r, fer_error *error)
{
    fpy_let_go();
    fer_status status = run_model(r, error);
    fpy_take_back();
    return status;
}

static fer_status run_measured(run *r, fer_error *error)
{
    uint64_t dtypes = 0;
    size_t num_bytes = 0;
    for (size_t i = 0; i < r->num_inputs; i++) {
        dtypes = (dtypes << 4 | dtypes >> 60) ^ (uint64_t)fer_tensor_dtype(r->inputs[i]);
        num_bytes += fer_tensor_num_bytes(r->inputs[i]);
    }
    return fpy_run_paced(r->model->paces, dtypes | (uint64_t)1 << 63, num_bytes, run_model, r,
                         error);
}

static PyObject *finish(run *r)
{
    fer_error error = FER_ERROR_INIT;
    bool has_loop = fer_graph_has_loop(r->model->graph->graph);
    if ((has_loop ? run_loop(r, &error) : run_measured(r, &error)) != FER_OK)
        return fpy_raise_interrupted(&error);
    return fpy_wrap_tensors(r->outputs, r->model->num_outputs);
}

/* A name that is no input, such as `out`, explains more than the number does. */
static PyObject *refuse_count(const model *self, size_t num_given, PyObject *keywords)
{
    for (Py_ssize_t i = 0; keywords != NULL && i < PyTuple_GET_SIZE(keywords); i++) {
        size_t index;
        if (index_of_input(self, PyTuple_GET_ITEM(keywords, i), &index) < 0)
            return NULL;
    }
    return PyErr_Format(PyExc_TypeError, "graph '%s': expected %zu input%s, got %zu",
                        fer_graph_name(self->graph->graph), self->num_inputs,
                        self->num_inputs == 1 ? "" : "s", num_given);
}

enum { ON_STACK = 8 };

static PyObject *call(PyObject *object, PyObject *const *given, size_t num_flagged,
                      PyObject *keywords)
{
    model *self = as_model(object);
    size_t num_positional = (size_t)PyVectorcall_NARGS(num_flagged);
    size_t num_inputs =
        num_positional + (keywords == NULL ? 0 : (size_t)PyTuple_GET_SIZE(keywords));
    if (num_inputs != self->num_inputs)
        return refuse_count(self, num_inputs, keywords);
    fer_tensor *tensors[2 * ON_STACK];
    fpy_loan loans[ON_STACK];
    size_t num_tensors = num_inputs + self->num_outputs;
    bool is_small = num_inputs <= ON_STACK && num_tensors <= 2 * ON_STACK;
    run r = {.model = self, .num_inputs = num_inputs};
    r.inputs = is_small ? tensors : PyMem_Malloc((num_tensors + 1) * sizeof *r.inputs);
    r.loans = is_small ? loans : PyMem_Malloc((num_inputs + 1) * sizeof *r.loans);
    PyObject *result = NULL;
    if (r.inputs == NULL || r.loans == NULL) {
        PyErr_NoMemory();
    } else {
        for (size_t i = 0; i < num_inputs; i++)
            r.inputs[i] = NULL;
        r.outputs = r.inputs + num_inputs;
        if (read_inputs(&r, given, num_positional, keywords) == 0)
            result = finish(&r);
        for (size_t i = 0; i < r.num_loans; i++)
            fpy_end_loan(&r.loans[i]);
    }
    if (!is_small) {
        PyMem_Free(r.inputs);
        PyMem_Free(r.loans);
    }
    return result;
}

PyObject *fpy_model_create(fpy_graph *graph, const char *executor)
{
    fer_model *made;
    fer_error error = FER_ERROR_INIT;
    fpy_begin_graph(graph->graph);
    fpy_let_go();
    fer_status status = fer_model_create(graph->graph, executor, &made, &error);
    fpy_take_back();
    fpy_end_graph();
    if (status != FER_OK)
        return fpy_raise_interrupted(&error);
    model *self = fpy_new(&fpy_class_model);
    if (self == NULL) {
        fer_model_release(made);
        return NULL;
    }
    *self = (model){
        .ob_base = self->ob_base,
        .vectorcall = call,
        .model = made,
        .graph = (fpy_graph *)Py_NewRef((PyObject *)graph),
        .num_inputs = fer_graph_num_inputs(graph->graph),
        .num_outputs = fer_graph_num_outputs(graph->graph),
    };
    return (PyObject *)self;
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    fer_model_release(as_model(self)->model);
    Py_DECREF((PyObject *)as_model(self)->graph);
    PyObject_Free(self);
}

static PyObject *show(PyObject *self)
{
    const model *m = as_model(self);
    return PyUnicode_FromFormat("<Model of graph '%s': %zu input%s, %zu output%s>",
                                fer_graph_name(m->graph->graph), m->num_inputs,
                                m->num_inputs == 1 ? "" : "s", m->num_outputs,
                                m->num_outputs == 1 ? "" : "s");
}

static PyObject *get_graph(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef((PyObject *)as_model(self)->graph);
}

static PyGetSetDef members[] = {
    {"graph", get_graph, NULL,
     "The graph that it runs.\n\n"
     ">>> graph = Graph('g')\n"
     ">>> graph.output(graph.constant(2))\n"
     ">>> graph.compile().graph is graph\n"
     "True",
     NULL},
    {0},
};

PyDoc_STRVAR(
    model_doc,
    "A graph made ready to run, by Graph.compile(). Call it with a tensor for each input, by\n"
    "position or by the input's name; anything that ops take will do. One output comes\n"
    "bare, several come as a list.\n\n"
    "TypeError: the number or names of inputs. ValueError: dtype, rank, sizes.\n"
    "ferrule.KernelError: a kernel failed, a rebind is false.\n\n"
    ">>> graph = Graph('g', {'x': TensorType('f32', ['n'])})\n"
    ">>> graph.output(graph.inputs[0] + 1)\n"
    ">>> model = graph.compile()\n"
    ">>> model(Tensor([1.0])).tolist(), model(x=Tensor([2.0, 3.0])).tolist()\n"
    "([2.0], [3.0, 4.0])");

PyTypeObject fpy_class_model = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.Model",
    .tp_doc = model_doc,
    .tp_basicsize = sizeof(model),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(model, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = destroy,
    .tp_repr = show,
    .tp_getset = members,
};

int fpy_add_models(PyObject *module)
{
    return fpy_add_class(module, &fpy_class_model);
}
