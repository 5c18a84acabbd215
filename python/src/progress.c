/* What the compiler is at: one line on sys.stderr while the main thread waits long for it, with the
 * seconds so far, gone when it is done. The conventions are tqdm's: nothing where stderr is no
 * terminal, but in a notebook; a line is overwritten from its start.
 *
 * The library tells what is compiled on the thread that waits, without the GIL; the line is written
 * when that thread has the GIL, which it takes several times a second to handle signals. */
#include "core.h"

#include <string.h>
#include <time.h>

enum { MOST_SHOWN = 60, LINE = MOST_SHOWN + 48 };
static const double DELAY_SECONDS = 0.5;

static _Thread_local struct {
    bool is_running;
    bool is_silent; /* for this compile */
    double start;
    long seconds; /* that the line says */
    int length;   /* of the line that is shown, 0: none */
    char what[MOST_SHOWN + 1];
} progress;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void observe(void *context, const char *what, bool is_done)
{
    (void)context;
    progress.is_running = !is_done;
    progress.is_silent = false;
    progress.start = now();
    progress.seconds = -1;
    if (!is_done)
        PyOS_snprintf(progress.what, sizeof progress.what, "%s", what);
}

void fpy_watch_compiles(void)
{
    fer_set_compile_observer(observe, NULL);
}

static bool is_in_notebook(void)
{
    PyObject *name = PyUnicode_FromString("ipykernel");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    bool is_loaded = module != NULL;
    Py_XDECREF(module);
    Py_XDECREF(name);
    return is_loaded;
}

static bool is_terminal(PyObject *stream)
{
    PyObject *answer = PyObject_CallMethod(stream, "isatty", NULL);
    bool is_true = answer != NULL && PyObject_IsTrue(answer) == 1;
    Py_XDECREF(answer);
    return is_true;
}

static bool is_watched(void)
{
    PyObject *stream = PySys_GetObject("stderr"); /* borrowed */
    if (stream == NULL || stream == Py_None)
        return false;
    Py_INCREF(stream);
    bool result = is_in_notebook() || is_terminal(stream);
    Py_DECREF(stream);
    PyErr_Clear();
    return result;
}

void fpy_show_progress(void)
{
    double seconds = now() - progress.start;
    if (!progress.is_running || progress.is_silent || PyErr_Occurred() != NULL ||
        seconds < DELAY_SECONDS || (long)seconds == progress.seconds)
        return;
    progress.is_silent = !is_watched();
    if (progress.is_silent)
        return;
    char line[LINE];
    progress.seconds = (long)seconds;
    PyOS_snprintf(line, sizeof line, "compiling %s ... %ld s", progress.what, progress.seconds);
    int length = (int)strlen(line);
    PySys_WriteStderr("\r%-*s", progress.length, line);
    progress.length = length;
}

void fpy_end_progress(void)
{
    if (progress.is_running || progress.length == 0)
        return;
    PySys_WriteStderr("\r%*s\r", progress.length, "");
    progress.length = 0;
}
