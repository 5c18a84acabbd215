/* Programs that are run while the process forks. */
#include "testing.h"

#include "base/process.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool is_over;

static void *run_programs(void *context)
{
    static const char *const PROGRAM[] = {"sh", "-c", "echo said; exit 3", NULL};
    bool *is_right = context;
    while (*is_right && !atomic_load(&is_over)) {
        fer_process_result result = {0};
        *is_right = fer_process_run(PROGRAM, NULL, &result, NULL, NULL) == FER_OK &&
                    result.exit_code == 3 && strcmp(result.output, "said\n") == 0;
        free(result.output);
    }
    return NULL;
}

/* The open ends of pipes that this process could write to, beside what it was started with. */
static int count_ends(void)
{
    int count = 0;
    for (int file = STDERR_FILENO + 1; file < 256; file++) {
        struct stat about;
        count += fstat(file, &about) == 0 && S_ISFIFO(about.st_mode) &&
                 (fcntl(file, F_GETFL) & O_ACCMODE) == O_WRONLY;
    }
    return count;
}

/* Who reads a program's output waits until everybody has closed it. */
static void test_a_child_keeps_no_output_open(void **state)
{
    (void)state;
    enum { THREADS = 2, CHILDREN = 60 };
    pthread_t threads[THREADS];
    bool is_right[THREADS] = {true, true};
    int num_ends = count_ends();
    int num_wrong = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_programs, &is_right[i]), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int result = -1;
        usleep(500); /* another moment of what the threads do */
        pid_t child = fork();
        if (child == 0)
            _exit(count_ends() == num_ends ? 0 : 1);
        num_wrong += waitpid(child, &result, 0) != child || result != 0;
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(is_right[i]);
    }
    assert_int_equal(num_wrong, 0);
}

/* A child runs programs of its own, whatever another thread was at. */
static void test_a_child_runs_programs(void **state)
{
    (void)state;
    pthread_t thread;
    bool is_right = true;
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, run_programs, &is_right), 0);
    for (int i = 0; i < 20; i++) {
        static const char *const PROGRAM[] = {"true", NULL};
        fer_process_result result;
        int state_of_child = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(fer_process_run(PROGRAM, NULL, &result, NULL, NULL) == FER_OK ? 0 : 1);
        assert_int_equal(waitpid(child, &state_of_child, 0), child);
        assert_int_equal(state_of_child, 0);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    assert_true(is_right);
}

/* --- Interrupting ----------------------------------------------------------------------------- */

static bool can_be_read(void *context)
{
    struct pollfd reading = {.fd = *(int *)context, .events = POLLIN};
    return poll(&reading, 1, 0) == 1;
}

/* What it started as well, and what does not heed SIGTERM. */
static void test_an_interrupted_program_ends_whole(void **state)
{
    (void)state;
    int ends[2]; /* every process of the program has them, and one writes when it is ready */
    char script[128];
    char byte;
    fer_process_result result;
    fer_error error = FER_ERROR_INIT;
    assert_int_equal(pipe(ends), 0);
    snprintf(script, sizeof script,
             "sleep 600 & (trap '' TERM; echo >&%d; sleep 600; sleep 600) & wait", ends[1]);
    fer_process_set_interrupt(can_be_read, &ends[0]);
    ASSERT_FAILS(&error, FER_COMPILE_ERROR,
                 fer_process_run((const char *const[]){"sh", "-c", script, NULL}, NULL, &result,
                                 NULL, &error),
                 "sh: interrupted");
    fer_process_set_interrupt(NULL, NULL);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    struct pollfd reading = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&reading, 1, 60000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* nobody has the other end any more */
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_child_keeps_no_output_open),
        cmocka_unit_test(test_a_child_runs_programs),
        cmocka_unit_test(test_an_interrupted_program_ends_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
