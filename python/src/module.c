/* The module: every file adds its part. */
#include "core.h"

#include <string.h>

int fpy_add_class(PyObject *module, PyTypeObject *class)
{
    if (PyType_Ready(class) < 0)
        return -1;
    return PyModule_AddObjectRef(module, strrchr(class->tp_name, '.') + 1, (PyObject *)class);
}

PyObject *fpy_items(PyObject *sequence, const char *what)
{
    if (PyUnicode_Check(sequence) || PyBytes_Check(sequence)) {
        PyErr_Format(PyExc_TypeError, "%s, not %s", what, Py_TYPE(sequence)->tp_name);
        return NULL;
    }
    PyObject *items = PySequence_Fast(sequence, what);
    PyObject *tuple = items == NULL ? NULL : PySequence_Tuple(items);
    Py_XDECREF(items);
    return tuple;
}

PyObject *fpy_pairs(PyObject *mapping)
{
    PyObject *items = PyMapping_Items(mapping);
    for (Py_ssize_t i = 0; items != NULL && i < PyList_GET_SIZE(items); i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 2)
            continue;
        PyErr_Format(PyExc_TypeError, "the items of a %s are not pairs of a key and a value",
                     Py_TYPE(mapping)->tp_name);
        Py_CLEAR(items);
    }
    return items;
}

PyDoc_STRVAR(memory_doc,
             "memory()\n--\n\n"
             "What tensors take: a dict of `bytes_in_use`, `bytes_idle`, `bytes_bound`,\n"
             "`num_reused` and `num_fresh`. Tensors below about 32 KiB are not counted.\n\n"
             ">>> sorted(ferrule.memory())[0]\n"
             "'bytes_bound'");

static PyObject *memory(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    fer_memory_figures figures = fer_memory_read();
    return Py_BuildValue("{sKsKsKsKsK}", "bytes_in_use", (unsigned long long)figures.bytes_in_use,
                         "bytes_idle", (unsigned long long)figures.bytes_idle, "bytes_bound",
                         (unsigned long long)figures.bytes_bound, "num_reused",
                         (unsigned long long)figures.num_reused, "num_fresh",
                         (unsigned long long)figures.num_fresh);
}

PyDoc_STRVAR(counters_doc,
             "counters()\n--\n\n"
             "What this process has done so far: a dict of `compiles` (compiler runs),\n"
             "`cache_hits` and `cache_misses` (of kernels); and `bindings`, the kernels that are\n"
             "loaded now.\n\n"
             ">>> list(ferrule.counters())\n"
             "['compiles', 'cache_hits', 'cache_misses', 'bindings']");

static PyObject *counters(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    fer_counters figures = fer_read_counters();
    return Py_BuildValue("{sKsKsKsK}", "compiles", (unsigned long long)figures.compiles,
                         "cache_hits", (unsigned long long)figures.cache_hits, "cache_misses",
                         (unsigned long long)figures.cache_misses, "bindings",
                         (unsigned long long)figures.bindings);
}

PyDoc_STRVAR(
    set_checking_doc,
    "set_checking(on, /)\n--\n\n"
    "Whether every call of a kernel is checked from now on, in the whole process. Gives what\n"
    "it was; at first that is what $FERRULE_CHECK says. `checking` is the same for a block.\n\n"
    ">>> before = ferrule.set_checking(True)\n"
    ">>> ferrule.set_checking(before)\n"
    "True");

static PyObject *set_checking(PyObject *module, PyObject *on)
{
    (void)module;
    int is_on = PyObject_IsTrue(on);
    if (is_on < 0)
        return NULL;
    fpy_is_checking = is_on != 0;
    return PyBool_FromLong(fer_set_checking(is_on != 0));
}

static PyMethodDef functions[] = {
    {"memory", memory, METH_NOARGS, memory_doc},
    {"counters", counters, METH_NOARGS, counters_doc},
    {"set_checking", set_checking, METH_O, set_checking_doc},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ferrule._core",
    .m_doc = "The C library's objects. Import them from `ferrule` and `ferrule.custom`.",
    .m_size = -1,
    .m_methods = functions,
};

static int fill(PyObject *module)
{
    static int (*const PARTS[])(PyObject *) = {
        fpy_add_errors,  fpy_add_dtypes, fpy_add_dims,   fpy_add_types,  fpy_add_templates,
        fpy_add_tensors, fpy_add_ops,    fpy_add_graphs, fpy_add_models,
    };
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (PARTS[i](module) < 0)
            return -1;
    if (fpy_add_shapes() < 0 || fpy_precede_numpy() < 0)
        return -1;
    fpy_watch_signals();
    fpy_watch_compiles();
    if (fpy_ready_exchange() < 0 || fpy_ready_calls() < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", fer_version());
}

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
