/* The library's errors as Python's exceptions: one class for each kind, the same words. */
#include "core.h"

#include <string.h>
#include <unistd.h>

static PyObject *compile_error;
static PyObject *kernel_error;

int fpy_add_errors(PyObject *module)
{
    compile_error = PyErr_NewExceptionWithDoc(
        "ferrule.CompileError",
        "A kernel could not be compiled: the compiler's own words, or that there is none.\n\n"
        ">>> source = '''#include <ferrule/kernel.h>\n"
        "... MAP(f, f32, IN(f32, x)) { return nonsense; }'''\n"
        ">>> try:\n"
        "...     custom.declare('f(x: f32[]) -> f32[]', source=source)\n"
        "... except CompileError as error:\n"
        "...     print('nonsense' in str(error))\n"
        "True",
        PyExc_RuntimeError, NULL);
    kernel_error = PyErr_NewExceptionWithDoc(
        "ferrule.KernelError",
        "A kernel failed while it ran, or what a graph was promised turned out false.\n\n"
        ">>> Tensor([1]) // 0\n"
        "Traceback (most recent call last):\n"
        "    ...\n"
        "ferrule.KernelError: floor_div: division by zero: element 0 of b is 0 (floor_div.c:13)",
        PyExc_RuntimeError, NULL);
    if (compile_error == NULL || kernel_error == NULL ||
        PyModule_AddObjectRef(module, "CompileError", compile_error) < 0)
        return -1;
    return PyModule_AddObjectRef(module, "KernelError", kernel_error);
}

static PyObject *class_of(fer_status kind)
{
    switch (kind) {
    case FER_TYPE_ERROR:
        return PyExc_TypeError;
    case FER_VALUE_ERROR:
        return PyExc_ValueError;
    case FER_ZERO_DIVISION_ERROR:
        return PyExc_ZeroDivisionError;
    case FER_OVERFLOW_ERROR:
        return PyExc_OverflowError;
    case FER_IO_ERROR:
        return PyExc_OSError;
    case FER_COMPILE_ERROR:
        return compile_error;
    case FER_RUNTIME_ERROR:
        return kernel_error;
    case FER_UNSUPPORTED_ERROR:
        return PyExc_NotImplementedError;
    case FER_OK:
    case FER_MEMORY_ERROR:
        break;
    }
    return PyExc_MemoryError;
}

PyObject *fpy_text(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *fpy_printed(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    PyObject *result = fpy_text(text);
    fer_string_free(text);
    return result;
}

/* Steals `value`, which may be NULL with an exception. */
static int set_attribute(PyObject *object, const char *name, PyObject *value)
{
    int result = value == NULL ? -1 : PyObject_SetAttrString(object, name, value);
    Py_XDECREF(value);
    return result;
}

static int set_text(PyObject *object, const char *name, const char *text)
{
    return text == NULL ? 0 : set_attribute(object, name, fpy_text(text));
}

static int set_members(PyObject *exception, const fer_error *error)
{
    if (set_text(exception, "op", error->op) < 0 ||
        set_text(exception, "operand", error->operand) < 0 ||
        set_text(exception, "expected", error->expected) < 0 ||
        set_text(exception, "actual", error->actual) < 0)
        return -1;
    return error->axis < 0 ? 0 : set_attribute(exception, "axis", PyLong_FromLong(error->axis));
}

/* The place in a text that the error is about, which a traceback shows below the message. */
static int add_excerpt(PyObject *exception, const fer_error *error)
{
    if (fer_error_excerpt(error) == NULL)
        return 0;
    PyObject *note = fpy_text(fer_error_excerpt(error));
    PyObject *result = note == NULL ? NULL : PyObject_CallMethod(exception, "add_note", "O", note);
    Py_XDECREF(note);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* The library speaks of a program's text: what is a word there is a class here. */
PyObject *fpy_raise(fer_error *error)
{
    bool is_of_inout = error->expected != NULL && strcmp(error->expected, "an inout input") == 0;
    return fpy_raise_with_advice(error, is_of_inout ? " (in Python, a BufferType)" : "");
}

PyObject *fpy_raise_with_advice(fer_error *error, const char *advice)
{
    PyObject *class = class_of(error->kind);
    PyObject *said = fpy_text(error->message == NULL ? "out of memory" : error->message);
    PyObject *message = said == NULL ? NULL : PyUnicode_FromFormat("%U%s", said, advice);
    Py_XDECREF(said);
    PyObject *exception = message == NULL ? NULL : PyObject_CallOneArg(class, message);
    if (exception != NULL && set_members(exception, error) == 0 &&
        add_excerpt(exception, error) == 0)
        PyErr_SetObject(class, exception);
    Py_XDECREF(exception);
    Py_XDECREF(message);
    fer_error_clear(error);
    return NULL;
}

/* Of a thread that let the GIL go. */
static _Thread_local PyThreadState *waiting;

void fpy_let_go(void)
{
    waiting = PyEval_SaveThread();
}

void fpy_take_back(void)
{
    PyThreadState *state = waiting;
    waiting = NULL;
    PyEval_RestoreThread(state);
    fpy_end_progress();
}

/* Python handles signals on its main thread only; there it is also sure that the interpreter does
 * not end meanwhile. A handler may call and declare too. */
static bool is_interrupted(void *context)
{
    (void)context;
    if (waiting == NULL || gettid() != getpid())
        return false;
    fpy_take_back();
    fpy_show_progress();
    bool has_raised = PyErr_CheckSignals() != 0;
    fpy_let_go();
    return has_raised;
}

void fpy_watch_signals(void)
{
    fer_set_interrupt(is_interrupted, NULL);
}

PyObject *fpy_raise_interrupted(fer_error *error)
{
    if (PyErr_Occurred() == NULL && PyErr_CheckSignals() == 0)
        return fpy_raise(error);
    fer_error_clear(error);
    return NULL;
}

const char *fpy_c_text(PyObject *object, const char *what)
{
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is a str, not %s", what, Py_TYPE(object)->tp_name);
        return NULL;
    }
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text == NULL || strlen(text) == (size_t)length)
        return text;
    PyErr_Format(PyExc_ValueError, "%s has a character 0 in it", what);
    return NULL;
}

#if PY_VERSION_HEX < 0x030C0000
PyObject *fpy_take_exception(void)
{
    PyObject *class, *value, *trace;
    PyErr_Fetch(&class, &value, &trace);
    PyErr_NormalizeException(&class, &value, &trace);
    if (trace != NULL)
        (void)PyException_SetTraceback(value, trace);
    Py_XDECREF(class);
    Py_XDECREF(trace);
    return value;
}

void fpy_put_exception(PyObject *exception)
{
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
}
#else
PyObject *fpy_take_exception(void)
{
    return PyErr_GetRaisedException();
}

void fpy_put_exception(PyObject *exception)
{
    PyErr_SetRaisedException(exception);
}
#endif

/* Only what conversions raise for what they are given; anything else passes as it is. */
void fpy_name_place(const char *op, const char *place)
{
    PyObject *const named[] = {PyExc_TypeError,   PyExc_ValueError,  PyExc_OverflowError,
                               PyExc_BufferError, PyExc_ImportError, PyExc_NotImplementedError};
    PyObject *exception = fpy_take_exception();
    PyObject *class = (PyObject *)Py_TYPE(exception);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (class == named[i]) {
            PyErr_Format(class, "%s: %s: %S", op, place, exception);
            Py_DECREF(exception);
            return;
        }
    fpy_put_exception(exception);
}
