/* Control flow and calls of graphs: the arms and bodies are Python's functions, called once, while
 * their block is open. */
#include "core.h"

/* The values that a function's result, or an argument, stands for: None is none, a TensorValue one,
 * a sequence several. */
typedef struct values {
    PyObject *items; /* keeps the values' graphs, which may be others than the one that is built */
    fer_value **values;
    size_t count;
    bool is_bare; /* one that came alone goes alone */
} values;

static void clear(values *v)
{
    Py_XDECREF(v->items);
    PyMem_Free(v->values);
    *v = (values){.values = NULL};
}

const char *fpy_value_hint(PyObject *object)
{
    bool has_elements = PyNumber_Check(object) || PyObject_CheckBuffer(object) ||
                        PyObject_HasAttrString(object, "__dlpack__");
    if (PyTuple_Check(object) || PyList_Check(object))
        return "; several are given one by one, as in f(*values)";
    return has_elements ? "; graph.constant(...) makes one of it" : "";
}

static int take_value(PyObject *object, const char *what, fer_value **out_value)
{
    if (!Py_IS_TYPE(object, &fpy_class_value)) {
        PyErr_Format(PyExc_TypeError, "%s is '%s', not a TensorValue%s", what,
                     Py_TYPE(object)->tp_name, fpy_value_hint(object));
        return -1;
    }
    *out_value = ((fpy_value *)object)->value;
    return 0;
}

/* 0 or -1; the caller clears what is there. `what` begins messages. */
static int take_values(PyObject *object, const char *what, values *out)
{
    out->is_bare = Py_IS_TYPE(object, &fpy_class_value);
    bool is_several = PyTuple_Check(object) || PyList_Check(object);
    out->items = is_several          ? PySequence_Tuple(object)
                 : object == Py_None ? PyTuple_New(0)
                                     : PyTuple_Pack(1, object);
    if (out->items == NULL)
        return -1;
    size_t count = (size_t)PyTuple_GET_SIZE(out->items);
    int result = 0;
    out->values = PyMem_Calloc(count + 1, sizeof *out->values);
    if (out->values == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (; result == 0 && out->count < count; out->count++)
        result = take_value(PyTuple_GET_ITEM(out->items, (Py_ssize_t)out->count), what,
                            &out->values[out->count]);
    return result;
}

static PyObject *tuple_of(fpy_graph *graph, const values *v)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)v->count);
    for (size_t i = 0; tuple != NULL && i < v->count; i++) {
        PyObject *value = fpy_value_object(graph, v->values[i]);
        if (value == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, value);
    }
    return tuple;
}

/* As ops give results: one alone (here, if it was given so), several in a list, none as None. */
static PyObject *give(fpy_graph *graph, const values *v)
{
    if (v->count == 0)
        return Py_NewRef(Py_None);
    if (v->is_bare)
        return fpy_value_object(graph, v->values[0]);
    PyObject *tuple = tuple_of(graph, v);
    PyObject *list = tuple == NULL ? NULL : PySequence_List(tuple);
    Py_XDECREF(tuple);
    return list;
}

/* What a function yields when it is called with these values. */
static int call_block(PyObject *function, fpy_graph *graph, const values *arguments,
                      const char *what, values *out)
{
    PyObject *given = tuple_of(graph, arguments);
    PyObject *result = given == NULL ? NULL : PyObject_CallObject(function, given);
    int taken = result == NULL ? -1 : take_values(result, what, out);
    Py_XDECREF(given);
    Py_XDECREF(result);
    return taken;
}

/* A block has begun and cannot end any more: the exception that is set goes on unchanged. */
static void abandon_block(fpy_graph *graph)
{
    fpy_abandon(graph, PyErr_Occurred());
}

/* Before a block begins: it would stay open. */
static int check_function(PyObject *object, const char *method, const char *name)
{
    if (PyCallable_Check(object))
        return 0;
    PyErr_Format(PyExc_TypeError,
                 "%s: `%s` is '%s', not a function that stages a block and returns what it gives, "
                 "as in lambda: x",
                 method, name, Py_TYPE(object)->tp_name);
    return -1;
}

static int check(fer_status status, fer_error *error)
{
    if (status == FER_OK)
        return 0;
    fpy_raise(error);
    return -1;
}

/* --- cond ------------------------------------------------------------------------------------- */

static int build_arms(fpy_graph *self, PyObject *const arms[2], values yielded[2])
{
    static const values NONE = {.values = NULL};
    fer_error error = FER_ERROR_INIT;
    if (call_block(arms[0], self, &NONE, "what the first arm returns", &yielded[0]) < 0 ||
        check(fer_graph_else(self->graph, yielded[0].values, yielded[0].count, &error), &error) < 0)
        return -1;
    if (arms[1] == Py_None && yielded[0].count > 0) {
        PyErr_Format(PyExc_ValueError,
                     "graph '%s': cond: `first` returns %zu value%s, so `other` must be given and "
                     "return as many",
                     fer_graph_name(self->graph), yielded[0].count,
                     yielded[0].count == 1 ? "" : "s");
        return -1;
    }
    if (arms[1] != Py_None &&
        call_block(arms[1], self, &NONE, "what the other arm returns", &yielded[1]) < 0)
        return -1;
    values *last = &yielded[1];
    return check(fer_graph_end_if(self->graph, last->values, last->count, last->values, &error),
                 &error);
}

PyObject *fpy_graph_cond(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"predicate", "first", "other", NULL};
    fpy_graph *self = (fpy_graph *)object;
    PyObject *predicate, *arms[2] = {NULL, Py_None};
    fer_value *value = NULL;
    fer_error error = FER_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:cond", names, &predicate, &arms[0],
                                     &arms[1]) ||
        check_function(arms[0], "cond", "first") < 0 ||
        (arms[1] != Py_None && check_function(arms[1], "cond", "other") < 0) ||
        take_value(predicate, "the predicate", &value) < 0 ||
        check(fer_graph_if(self->graph, value, &error), &error) < 0)
        return NULL;
    values yielded[2] = {{.values = NULL}, {.values = NULL}};
    PyObject *result = NULL;
    if (build_arms(self, arms, yielded) == 0)
        result = give(self, &yielded[1]);
    else
        abandon_block(self);
    clear(&yielded[0]);
    clear(&yielded[1]);
    return result;
}

/* --- while_loop ------------------------------------------------------------------------------- */

static int build_loop(fpy_graph *self, PyObject *condition, PyObject *body, values *carried,
                      values *next)
{
    fer_error error = FER_ERROR_INIT;
    values predicate = {.values = NULL};
    int result = call_block(condition, self, carried, "what the condition returns", &predicate);
    if (result == 0 && predicate.count != 1) {
        PyErr_Format(PyExc_ValueError,
                     "graph '%s': the condition returns %zu values, but must "
                     "return one",
                     fer_graph_name(self->graph), predicate.count);
        result = -1;
    }
    if (result == 0)
        result = check(fer_graph_do(self->graph, predicate.values[0], &error), &error);
    if (result == 0)
        result = call_block(body, self, carried, "what the body returns", next);
    if (result == 0)
        result =
            check(fer_graph_end_while(self->graph, next->values, next->count, next->values, &error),
                  &error);
    if (result < 0)
        abandon_block(self);
    clear(&predicate);
    return result;
}

PyObject *fpy_graph_while_loop(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"condition", "body", "initial", NULL};
    fpy_graph *self = (fpy_graph *)object;
    PyObject *condition, *body, *initial = Py_None;
    fer_error error = FER_ERROR_INIT;
    values carried = {.values = NULL};
    values next = {.values = NULL};
    PyObject *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:while_loop", names, &condition, &body,
                                     &initial) ||
        check_function(condition, "while_loop", "condition") < 0 ||
        check_function(body, "while_loop", "body") < 0)
        return NULL;
    if (take_values(initial, "an initial value", &carried) == 0 &&
        check(fer_graph_while(self->graph, carried.values, carried.count, carried.values, &error),
              &error) == 0 &&
        build_loop(self, condition, body, &carried, &next) == 0) {
        next.is_bare = carried.is_bare;
        result = give(self, &next);
    }
    clear(&carried);
    clear(&next);
    return result;
}

/* --- call ------------------------------------------------------------------------------------- */

PyObject *fpy_graph_call(PyObject *object, PyObject *const *given, Py_ssize_t count)
{
    fpy_graph *self = (fpy_graph *)object;
    if (count == 0 || !Py_IS_TYPE(given[0], &fpy_class_graph)) {
        PyErr_Format(PyExc_TypeError, "call: the first argument is the Graph to call, not '%s'",
                     count == 0 ? "nothing" : Py_TYPE(given[0])->tp_name);
        return NULL;
    }
    const fer_graph *callee = ((fpy_graph *)given[0])->graph;
    fer_error error = FER_ERROR_INIT;
    values arguments = {.count = (size_t)count - 1};
    values results = {.count = fer_graph_num_outputs(callee)};
    PyObject *made = NULL;
    results.is_bare = results.count == 1;
    arguments.values = PyMem_Calloc(arguments.count + 1, sizeof *arguments.values);
    results.values = PyMem_Calloc(results.count + 1, sizeof *results.values);
    int status = 0;
    if (arguments.values == NULL || results.values == NULL) {
        PyErr_NoMemory();
        status = -1;
    }
    for (size_t i = 0; status == 0 && i < arguments.count; i++)
        status = take_value(given[i + 1], "an argument of the call", &arguments.values[i]);
    if (status == 0)
        status = check(fer_graph_call(self->graph, callee, arguments.values, arguments.count,
                                      results.values, results.count, &error),
                       &error);
    if (status == 0)
        made = give(self, &results);
    clear(&arguments);
    clear(&results);
    return made;
}
