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
    if (progress.graph == NULL) {
        progress.total = 1;
        progress.start = now();
    }
}

void fpy_watch_compiles(void)
{
    fer_set_compile_observer(observe, NULL);
}

void fpy_begin_graph(const fer_graph *graph)
{
    progress.graph = graph;
    progress.total = fer_graph_num_lacking(graph);
    progress.start = now();
}

void fpy_end_graph(void)
{
    progress.graph = NULL;
}

static size_t num_done(void)
{
    size_t num_left = progress.is_running;
    if (progress.graph != NULL)
        num_left = fer_graph_num_lacking(progress.graph);
    return progress.total > num_left ? progress.total - num_left : 0;
}

/* Whether it shows anything; -1 with an exception, which is of a signal's handler. */
static int call(const char *function, double seconds)
{
    PyObject *module = PyImport_ImportModule("ferrule._progress");
    PyObject *answer = module == NULL ? NULL
                                      : PyObject_CallMethod(module, function, "snnd", progress.what,
                                                            (Py_ssize_t)num_done(),
                                                            (Py_ssize_t)progress.total, seconds);
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
    (void)call("end", now() - progress.start);
    if (exception == NULL)
        return;
    PyErr_Clear();
    fpy_put_exception(exception);
}
