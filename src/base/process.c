#include "base/process.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads until the other end closes. */
static void collect(int file, fer_text *output)
{
    char buffer[4096];
    for (;;) {
        ssize_t count = read(file, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
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

/* posix_spawn, not fork: it does not copy the page tables of a large process, and no code of ours
 * runs between the two. */
static int spawn(const char *const *argv, const char *folder, int output, pid_t *out_process)
{
    posix_spawn_file_actions_t actions;
    char **environment = make_environment();
    if (environment == NULL)
        return ENOMEM;
    int cause = posix_spawn_file_actions_init(&actions);
    if (cause != 0) {
        free(environment);
        return cause;
    }
    if (folder != NULL)
        cause = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (cause == 0)
        cause = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (cause == 0)
        cause = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (cause == 0)
        cause = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (cause == 0)
        cause =
            posix_spawnp(out_process, argv[0], &actions, NULL, (char *const *)argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return cause;
}

fer_status fer_process_run(const char *const *argv, const char *folder,
                           fer_process_result *out_result, int *out_errno, fer_error *error)
{
    *out_result = (fer_process_result){0};
    if (out_errno != NULL)
        *out_errno = 0;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        if (out_errno != NULL)
            *out_errno = errno;
        return fer_fail(error, FER_IO_ERROR, "%s: cannot make a pipe: %s", argv[0],
                        strerror(errno));
    }
    pid_t process;
    int cause = spawn(argv, folder, ends[1], &process);
    close(ends[1]);
    if (cause != 0) {
        close(ends[0]);
        if (out_errno != NULL)
            *out_errno = cause;
        if (cause == ENOMEM)
            return fer_fail_memory(error);
        return fer_fail(error, FER_IO_ERROR, "%s: cannot be run: %s", argv[0], strerror(cause));
    }
    fer_text output = FER_TEXT_INIT;
    collect(ends[0], &output);
    close(ends[0]);
    int state = 0;
    while (waitpid(process, &state, 0) < 0 && errno == EINTR)
        continue;
    out_result->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    out_result->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return fer_text_take(&output, &out_result->output, error);
}
