#include "base/process.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ASK_EVERY_MS = 100 };

static struct {
    bool (*ask)(void *context);
    void *context;
} interrupt;

void fer_process_set_interrupt(bool (*is_interrupted)(void *context), void *context)
{
    interrupt.ask = is_interrupted;
    interrupt.context = context;
}

bool fer_process_is_interrupted(void)
{
    return interrupt.ask != NULL && interrupt.ask(interrupt.context);
}

/* A coarse clock is right to some milliseconds, and costs as many nanoseconds. */
bool fer_process_is_interrupted_now(int64_t *last_ms)
{
    if (interrupt.ask == NULL)
        return false;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    bool is_first = *last_ms == 0;
    if (!is_first && now_ms - *last_ms < ASK_EVERY_MS)
        return false;
    *last_ms = now_ms;
    return !is_first && fer_process_is_interrupted();
}

/* Reads until the other end closes. False: interrupted before. */
static bool collect(int file, fer_text *output)
{
    char buffer[4096];
    for (;;) {
        struct pollfd reading = {.fd = file, .events = POLLIN};
        int num_ready = poll(&reading, 1, interrupt.ask == NULL ? -1 : ASK_EVERY_MS);
        if (num_ready <= 0 && fer_process_is_interrupted())
            return false;
        if (num_ready == 0 || (num_ready < 0 && errno == EINTR))
            continue;
        ssize_t count = read(file, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return true;
        fer_text_append_bytes(output, buffer, (size_t)count);
    }
}

/* The environment with LC_ALL=C in it, for the caller to free (not what it points to). Programs
 * then speak the language that their output is read in. */
static char **make_environment(void)
{
    static char LOCALE[] = "LC_ALL=C";
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **made = calloc(count + 2, sizeof *made);
    if (made == NULL)
        return NULL;
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], LOCALE, strlen("LC_ALL=")) != 0)
            made[filled++] = environ[i];
    made[filled] = LOCALE;
    return made;
}

static int add_actions(posix_spawn_file_actions_t *actions, const char *folder, int output)
{
    int cause = folder == NULL ? 0 : posix_spawn_file_actions_addchdir_np(actions, folder);
    if (cause == 0)
        cause = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (cause == 0)
        cause = posix_spawn_file_actions_adddup2(actions, output, 1);
    return cause == 0 ? posix_spawn_file_actions_adddup2(actions, output, 2) : cause;
}

/* What may be interrupted is a process group, so that it is ended with all that it starts. Anything
 * else stays in the group that a terminal's Ctrl-C ends. */
static int add_attributes(posix_spawnattr_t *attributes)
{
    return interrupt.ask == NULL ? 0 : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP);
}

/* posix_spawn, not fork: it does not copy the page tables of a large process, and no code of ours
 * runs between the two. */
static int spawn(const char *const *argv, const char *folder, int output, pid_t *out_process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = make_environment();
    if (environment == NULL)
        return ENOMEM;
    (void)posix_spawn_file_actions_init(&actions); /* neither fails in the C libraries of Linux */
    (void)posix_spawnattr_init(&attributes);
    int cause = add_actions(&actions, folder, output);
    if (cause == 0)
        cause = add_attributes(&attributes);
    if (cause == 0)
        cause = posix_spawnp(out_process, argv[0], &actions, &attributes, (char *const *)argv,
                             environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return cause;
}

/* --- Forking ---------------------------------------------------------------------------------- */

/* Held while the end of a pipe that a program writes to is open here. A forked child would have it,
 * too, and nobody would see the output's end before that child's: for ever, if it waits for us. */
static pthread_mutex_t ends_lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
    pthread_mutex_lock(&ends_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&ends_lock);
}

static void after_fork_in_child(void)
{
    ends_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Starts a program, and gives the end of a pipe that its output comes from. Gives errno; `out_what`
 * is what could not be done. */
static int start(const char *const *argv, const char *folder, int *out_output, pid_t *out_process,
                 const char **out_what)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int ends[2];
    int cause = 0;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&ends_lock);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cause = errno;
        *out_what = "cannot make a pipe";
    } else {
        cause = spawn(argv, folder, ends[1], out_process);
        *out_what = "cannot be run";
        *out_output = ends[0];
        close(ends[1]);
        if (cause != 0)
            close(ends[0]);
    }
    pthread_mutex_unlock(&ends_lock);
    return cause;
}

/* --- Running ---------------------------------------------------------------------------------- */

/* SIGTERM, at which a compiler removes its temporary files; whoever is left when it has gone is
 * killed. Until it is collected nobody else gets the group's number. */
static void end_group(pid_t group)
{
    siginfo_t about;
    kill(-group, SIGTERM);
    int result;
    while ((result = waitid(P_PID, (id_t)group, &about, WEXITED | WNOWAIT)) < 0 && errno == EINTR)
        continue;
    if (result == 0)
        kill(-group, SIGKILL);
}

fer_status fer_process_run(const char *const *argv, const char *folder,
                           fer_process_result *out_result, int *out_errno, fer_error *error)
{
    *out_result = (fer_process_result){0};
    int file = -1;
    pid_t process;
    const char *what;
    int cause = start(argv, folder, &file, &process, &what);
    if (out_errno != NULL)
        *out_errno = cause;
    if (cause == ENOMEM)
        return fer_fail_memory(error);
    if (cause != 0)
        return fer_fail(error, FER_IO_ERROR, "%s: %s: %s", argv[0], what, strerror(cause));
    fer_text output = FER_TEXT_INIT;
    bool is_whole = collect(file, &output);
    close(file);
    if (!is_whole)
        end_group(process);
    int state = 0;
    while (waitpid(process, &state, 0) < 0 && errno == EINTR)
        continue;
    if (!is_whole) {
        fer_text_free(&output);
        return fer_fail(error, FER_COMPILE_ERROR, "%s: interrupted", argv[0]);
    }
    out_result->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    out_result->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return fer_text_take(&output, &out_result->output, error);
}
