/* Graphs as program files. */
#include "core.h"

PyObject *fpy_graph_write(PyObject *self, PyObject *path)
{
    PyObject *bytes = NULL;
    fer_error error = FER_ERROR_INIT;
    if (PyUnicode_FSConverter(path, &bytes) == 0)
        return NULL;
    fer_status status =
        fer_module_write(((fpy_graph *)self)->module, PyBytes_AS_STRING(bytes), &error);
    Py_DECREF(bytes);
    return status == FER_OK ? Py_NewRef(Py_None) : fpy_raise(&error);
}

static PyObject *input_names(const fer_graph *graph)
{
    size_t count = fer_graph_num_inputs(graph);
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; names != NULL && i < count; i++) {
        PyObject *name = fpy_text(fer_value_name(fer_graph_input_at(graph, i)));
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
    }
    return names;
}

/* The one that is asked for, else the only one, else the one called main. */
static fer_graph *choose(const fer_module *module, PyObject *path, const char *name)
{
    fer_graph *graph = name == NULL && fer_module_num_graphs(module) == 1
                           ? fer_module_graph_at(module, 0)
                           : fer_module_find(module, name == NULL ? "main" : name);
    if (graph == NULL && name != NULL)
        PyErr_Format(PyExc_ValueError, "%S has no graph '%s'", path, name);
    else if (graph == NULL)
        PyErr_Format(PyExc_ValueError,
                     "%S has %zu graphs and none is called 'main'; give the name of one", path,
                     fer_module_num_graphs(module));
    return graph;
}

/* Takes the module. */
static PyObject *wrap(fer_module *module, PyObject *path, const char *name)
{
    fer_graph *graph = choose(module, path, name);
    PyObject *names = graph == NULL ? NULL : input_names(graph);
    fpy_graph *self = names == NULL ? NULL : fpy_new(&fpy_class_graph);
    if (self == NULL) {
        Py_XDECREF(names);
        fer_module_release(module);
        return NULL;
    }
    self->module = module;
    self->graph = graph;
    self->names = names;
    return (PyObject *)self;
}

PyObject *fpy_graph_read(PyObject *unused, PyObject *args, PyObject *kwargs)
{
    (void)unused;
    static char *keywords[] = {"path", "name", NULL};
    PyObject *path, *name = Py_None, *bytes = NULL;
    const char *chosen = NULL;
    fer_module *module;
    fer_error error = FER_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:read", keywords, &path, &name))
        return NULL;
    if ((name != Py_None && (chosen = fpy_c_text(name, "a graph's name")) == NULL) ||
        PyUnicode_FSConverter(path, &bytes) == 0)
        return NULL;
    fpy_let_go();
    fer_status status = fer_module_read(PyBytes_AS_STRING(bytes), &module, &error);
    fpy_take_back();
    Py_DECREF(bytes);
    return status == FER_OK ? wrap(module, path, chosen) : fpy_raise_interrupted(&error);
}
