/* What the compiler is at: one line on a terminal while it takes long, with the seconds so far,
 * gone when it is done; and its warnings. */
#include "cli/cli.h"
#include "package/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DELAY_NANOSECONDS 500000000L
#define SECOND_NANOSECONDS 1000000000L
#define SHOWN_LENGTH 60

/* The compile that is watched: the first of those that run at once. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t is_done;
    pthread_t watcher;
    bool has_watcher;
    unsigned num_running;
    unsigned num_ended; /* tells a watcher that its compile is over */
    char what[SHOWN_LENGTH + 1];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether the compile is over before this time has gone. */
static bool ends_within(unsigned num_ended, struct timespec *end, long nanoseconds)
{
    end->tv_nsec += nanoseconds;
    end->tv_sec += end->tv_nsec / SECOND_NANOSECONDS;
    end->tv_nsec %= SECOND_NANOSECONDS;
    int cause = 0;
    while (progress.num_ended == num_ended && cause != ETIMEDOUT)
        cause = pthread_cond_timedwait(&progress.is_done, &progress.lock, end);
    return progress.num_ended != num_ended;
}

static void *watch(void *context)
{
    unsigned num_ended = *(const unsigned *)context;
    free(context);
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    time_t start = end.tv_sec;
    pthread_mutex_lock(&progress.lock);
    bool is_over = ends_within(num_ended, &end, DELAY_NANOSECONDS);
    bool is_shown = !is_over;
    while (!is_over) {
        fprintf(stderr, "\rcompiling %s ... %lld s", progress.what,
                (long long)(end.tv_sec - start));
        fflush(stderr);
        is_over = ends_within(num_ended, &end, SECOND_NANOSECONDS);
    }
    if (is_shown) {
        fputs("\r\033[K", stderr); /* to the start of the line, and clear it */
        fflush(stderr);
    }
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

static bool start_watcher(void)
{
    unsigned *num_ended = malloc(sizeof *num_ended);
    if (num_ended == NULL)
        return false;
    *num_ended = progress.num_ended;
    if (pthread_create(&progress.watcher, NULL, watch, num_ended) == 0)
        return true;
    free(num_ended);
    return false;
}

static void begin(const char *what)
{
    pthread_mutex_lock(&progress.lock);
    if (progress.num_running++ == 0) {
        snprintf(progress.what, sizeof progress.what, "%s", what);
        progress.has_watcher = start_watcher();
    }
    pthread_mutex_unlock(&progress.lock);
}

static void end(void)
{
    pthread_mutex_lock(&progress.lock);
    bool is_last = --progress.num_running == 0;
    bool has_watcher = is_last && progress.has_watcher;
    pthread_t watcher = progress.watcher;
    if (is_last) {
        progress.num_ended++;
        progress.has_watcher = false;
        pthread_cond_broadcast(&progress.is_done);
    }
    pthread_mutex_unlock(&progress.lock);
    if (has_watcher)
        pthread_join(watcher, NULL);
}

static void observe(void *context, const char *what, bool is_done)
{
    (void)context;
    if (is_done)
        end();
    else
        begin(what);
}

static void print_warnings(const char *what, const char *said)
{
    size_t length = strlen(said);
    fprintf(stderr, "ferrule: the compiler says of %s:\n%s%s", what, said,
            length > 0 && said[length - 1] != '\n' ? "\n" : "");
}

void fer_progress_start(void)
{
    fer_set_warning_reader(print_warnings);
    if (!isatty(STDERR_FILENO))
        return;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.is_done, &attributes);
    pthread_condattr_destroy(&attributes);
    fer_set_compile_observer(observe, NULL);
}
