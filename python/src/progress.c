/* What the compiler is at: a bar on sys.stderr while the main thread waits long for it. What it
 * looks like, and where there is one, is in _progress.py; that is imported when a compile has taken
 * long.
 *
 * The library tells what is compiled on the thread that waits, without the GIL; the bar is written
 * when that thread has the GIL, which it takes several times a second to handle signals. */
#include "core.h"

#include <time.h>

enum { MOST_SHOWN = 60 };
static const double DELAY_SECONDS = 0.5;

static _Thread_local struct {
    bool is_running;
    bool is_silent; /* as long as the bar would be there */
    bool is_shown;
    const fer_graph *graph; /* that a model is made of, or NULL: one kernel alone */
    size_t total;
    double start;
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
    if (is_done)
        return;
    PyOS_snprintf(progress.what, sizeof progress.what, "%s", what);
    if (progress.graph == NULL || progress.total == 0) {
        progress.total = 1;
        progress.start = now();
    }
}

void fpy_watch_compiles(void)
{
    fer_set_compile_observer(observe, NULL);
}

/* One at least, of what runs: checked kernels are others than those that the ops have. */
static size_t num_left(void)
{
    size_t num_lacking = progress.graph == NULL ? 0 : fer_graph_num_lacking(progress.graph);
    return num_lacking > 0 ? num_lacking : progress.is_running;
}

void fpy_begin_graph(const fer_graph *graph)
{
    progress.graph = graph;
    progress.total = num_left();
    progress.start = now();
}

void fpy_end_graph(void)
{
    progress.graph = NULL;
}

/* Whether it shows anything; -1 with an exception, which is of a signal's handler. */
static int call(const char *function, double seconds)
{
    size_t left = num_left();
    size_t done = progress.total > left ? progress.total - left : 0;
    PyObject *module = PyImport_ImportModule("ferrule._progress");
    PyObject *answer =
        module == NULL ? NULL
                       : PyObject_CallMethod(module, function, "snnd", progress.what,
                                             (Py_ssize_t)done, (Py_ssize_t)progress.total, seconds);
    int is_shown = answer == NULL ? -1 : answer == Py_True;
    Py_XDECREF(answer);
    Py_XDECREF(module);
    return is_shown;
}

void fpy_show_progress(void)
{
    double seconds = now() - progress.start;
    if (!progress.is_running || progress.is_silent || PyErr_Occurred() != NULL ||
        seconds < DELAY_SECONDS)
        return;
    progress.is_shown = call("show", seconds) > 0;
    progress.is_silent = !progress.is_shown;
}

void fpy_end_progress(void)
{
    if (progress.is_running)
        return;
    progress.is_silent = false;
    if (!progress.is_shown)
        return;
    progress.is_shown = false;
    PyObject *exception = PyErr_Occurred() == NULL ? NULL : fpy_take_exception();
    if (call("end", now() - progress.start) < 0) {
        /* The work is done, so a Ctrl-C that came just now is for what comes next. */
        if (exception == NULL && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
            PyErr_SetInterrupt();
        PyErr_Clear();
    }
    if (exception != NULL)
        fpy_put_exception(exception);
}
