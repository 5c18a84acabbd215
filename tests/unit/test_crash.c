/* What is said of a crash inside a kernel, and that nothing else changes. Each case is a child that
 * crashes; a sanitizer may stand in the way of the signal, so how it ends is judged by what a
 * host's handler saw. */
#include "testing_op.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char SOURCE[] =
    "#include <ferrule/kernel.h>\n"
    "#include <pthread.h>\n"
    "#include <signal.h>\n"
    "#include <unistd.h>\n"
    "KERNEL(crash, OUT(f32, 1, y), IN(f32, 2, x), IN(i64, 0, number))\n"
    "{\n"
    "    (void)x, (void)y;\n"
    "    raise((int)AT(number));\n"
    "    return OK;\n"
    "}\n"
    "SHAPE(measure, IN(i64, 0, number)) { raise((int)AT(number)); EXTENT(n) = 1; return OK; }\n"
    "KERNEL(measure, OUT(f32, 1, y), IN(i64, 0, number)) { (void)y, (void)number; return OK; }\n"
    "static void *other(void *number) { raise(*(int *)number); return NULL; }\n"
    "KERNEL(threads, OUT(f32, 0, y), IN(i64, 0, number))\n"
    "{\n"
    "    int of = (int)AT(number);\n"
    "    pthread_t thread;\n"
    "    (void)y;\n"
    "    if (pthread_create(&thread, NULL, other, &of) == 0)\n"
    "        pthread_join(thread, NULL);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(stay, OUT(f32, 0, y), IN(i64, 0, told))\n"
    "{\n"
    "    (void)y;\n"
    "    if (write((int)AT(told), \"\", 1) == 1)\n"
    "        for (;;)\n"
    "            pause();\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(scribble, OUT(f32, 1, y), IN(f32, 2, x), IN(i64, 1, places), IN(i64, 0, number))\n"
    "{\n"
    "    (void)x, (void)y;\n"
    "    for (index_t i = 0; i < DIM(places, 0); i++)\n"
    "        for (int j = 0; j < 16; j++)\n"
    "            ((char *)AT(places, i))[j] = 1;\n"
    "    raise((int)AT(number));\n"
    "    return OK;\n"
    "}\n";

#define CRASH "crash(x: f32[n, m], number: i64[]) -> f32[n]"

static void call(const char *signature, int number)
{
    fer_op *op = declare_source(signature, SOURCE);
    fer_tensor *x = make_ones(FER_F32, EXTENTS(2, 3));
    fer_tensor *of = make_scalar(FER_I64, number);
    fer_tensor *y = NULL;
    bool has_two = fer_signature_folded(fer_op_signature(op))->num_operands == 2;
    fer_status status = has_two ? fer_call(op, OPERANDS(x, of), 2, &y, 1, &error)
                                : fer_call(op, &of, 1, &y, 1, &error);
    assert_int_equal(status, FER_OK);
    RELEASE(x, of, y);
    fer_op_release(op);
}

static void say_and_leave(int number)
{
    char text[] = "host saw NN\n";
    text[9] = (char)('0' + number / 10);
    text[10] = (char)('0' + number % 10);
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written > 0 ? 3 : 4);
}

static void say_with_info(int number, siginfo_t *info, void *context)
{
    if (info->si_signo == number && context != NULL)
        say_and_leave(number);
}

/* Runs `body` in a child with the errors going to `out`; gives how it ended. */
static int in_child(void (*body)(int), int number, char *out, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body(number);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], out + length, size - 1 - length)) > 0;)
        length += (size_t)n;
    out[length] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void crash_unreported(int number)
{
    signal(number, SIG_DFL);
    call(CRASH, number);
}

static void crash_reported(int number)
{
    signal(number, SIG_DFL); /* a sanitizer's own would not let the process die of it */
    fer_report_crashes();
    fer_report_crashes();
    call(CRASH, number);
}

static void crash_below_a_handler(int number)
{
    signal(number, say_and_leave);
    fer_report_crashes();
    call(CRASH, number);
}

static void crash_below_a_handler_with_info(int number)
{
    struct sigaction action = {.sa_sigaction = say_with_info, .sa_flags = SA_SIGINFO};
    sigaction(number, &action, NULL);
    fer_report_crashes();
    call(CRASH, number);
}

/* A kernel that writes over the sizes of its operand and over the operand's name. */
static void crash_with_rubbish(int number)
{
    signal(number, say_and_leave);
    fer_report_crashes();
    fer_op *op =
        declare_source("scribble(an_operand_s_name: f32[n, m], places: i64[k], number: i64[]) -> "
                       "f32[n]",
                       SOURCE);
    fer_tensor *x = make_ones(FER_F32, EXTENTS(2, 3));
    const int64_t addresses[] = {
        (int64_t)(intptr_t)fer_tensor_shape(x),
        (int64_t)(intptr_t)fer_signature_folded(fer_op_signature(op))->operands[0].name,
    };
    fer_tensor *places = NULL;
    fer_tensor *of = make_scalar(FER_I64, number);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 1, (int64_t[]){2}, addresses, (fer_device){0},
                                           &places, &error));
    (void)!fer_call(op, OPERANDS(x, places, of), 3, &y, 1, &error);
}

static void crash_in_shape(int number)
{
    signal(number, say_and_leave);
    fer_report_crashes();
    call("measure(number: i64[]) -> f32[n]", number);
}

static void crash_in_another_thread(int number)
{
    signal(number, say_and_leave);
    fer_report_crashes();
    call("threads(number: i64[]) -> f32[]", number);
}

/* The slot of a thread that is gone serves the next one. */
static void *crash_in_this_thread(void *number)
{
    call(CRASH, *(int *)number);
    return NULL;
}

static void crash_in_the_second_thread(int number)
{
    int harmless = 0; /* raise(0) only asks */
    pthread_t thread;
    signal(number, say_and_leave);
    fer_report_crashes();
    call(CRASH, harmless);
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&thread, NULL, crash_in_this_thread, i == 0 ? &harmless : &number) == 0)
            pthread_join(thread, NULL);
    }
}

static void crash_outside_of_kernels(int number)
{
    signal(number, say_and_leave);
    fer_report_crashes();
    call(CRASH, 0);
    raise(number);
}

static sigjmp_buf before_the_call;

static void jump_and_then_leave(int number)
{
    static volatile sig_atomic_t has_jumped;
    if (has_jumped)
        say_and_leave(number);
    has_jumped = 1;
    siglongjmp(before_the_call, 1);
}

/* A host that goes on behind a kernel that crashed. */
static void crash_and_go_on(int number)
{
    signal(number, jump_and_then_leave);
    fer_report_crashes();
    if (sigsetjmp(before_the_call, 1) == 0)
        call(CRASH, number);
    raise(number);
}

static void *stay_in_kernel(void *told)
{
    call("stay(told: i64[]) -> f32[]", *(int *)told);
    return NULL;
}

/* The thread that is in a kernel is not there in a child. */
static void crash_in_a_child(int number)
{
    int ends[2];
    char told;
    pthread_t thread;
    int status = 0;
    signal(number, say_and_leave);
    fer_report_crashes();
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, stay_in_kernel, &ends[1]) != 0 ||
        read(ends[0], &told, 1) != 1)
        _exit(5);
    pid_t child = fork();
    if (child == 0)
        raise(number);
    _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 6);
}

static void ignore(int number)
{
    signal(number, SIG_IGN);
    fer_report_crashes();
    call(CRASH, number);
    call(CRASH, number);
}

static const struct {
    int number;
    const char *name;
} SIGNALS[] = {{SIGSEGV, "SIGSEGV"},
               {SIGBUS, "SIGBUS"},
               {SIGILL, "SIGILL"},
               {SIGFPE, "SIGFPE"},
               {SIGABRT, "SIGABRT"}};

enum { NUM_SIGNALS = sizeof SIGNALS / sizeof *SIGNALS };

#define SAID ": crash: the kernel (inline.c:5) crashed with x: f32[2, 3], number: i64[]\n"

static void test_without_asking_nothing_is_said(void **state)
{
    (void)state;
    char out[4096];
    for (size_t i = 0; i < NUM_SIGNALS; i++) {
        int status = in_child(crash_unreported, SIGNALS[i].number, out, sizeof out);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGNALS[i].number);
        assert_string_equal(out, "");
    }
}

static void test_the_process_dies_of_the_signal(void **state)
{
    (void)state;
    char out[4096], expected[256];
    for (size_t i = 0; i < NUM_SIGNALS; i++) {
        int status = in_child(crash_reported, SIGNALS[i].number, out, sizeof out);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGNALS[i].number);
        snprintf(expected, sizeof expected, "ferrule: %s" SAID, SIGNALS[i].name);
        assert_string_equal(out, expected);
    }
}

static void assert_host_sees(void (*body)(int), const char *said)
{
    char out[4096], expected[512];
    for (size_t i = 0; i < NUM_SIGNALS; i++) {
        int status = in_child(body, SIGNALS[i].number, out, sizeof out);
        snprintf(expected, sizeof expected, "%s%s%shost saw %02d\n",
                 *said == '\0' ? "" : "ferrule: ", *said == '\0' ? "" : SIGNALS[i].name, said,
                 SIGNALS[i].number);
        assert_string_equal(out, expected);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
}

static void test_handlers_of_the_host_are_called(void **state)
{
    (void)state;
    assert_host_sees(crash_below_a_handler, SAID);
    assert_host_sees(crash_below_a_handler_with_info, SAID);
    assert_host_sees(crash_in_the_second_thread, SAID);
    assert_host_sees(crash_and_go_on, SAID);
}

static void test_where_it_crashed(void **state)
{
    (void)state;
    assert_host_sees(crash_in_shape,
                     ": measure: the SHAPE (inline.c:11) crashed with number: i64[]\n");
    assert_host_sees(crash_in_another_thread,
                     ": threads: the kernel (inline.c:14) was running when a thread crashed, with "
                     "number: i64[]\n");
    assert_host_sees(crash_with_rubbish,
                     ": scribble: the kernel (inline.c:31) crashed with ????????????????e: "
                     "f32[2, 3], places: i64[2], number: i64[]\n");
    assert_host_sees(crash_outside_of_kernels, "");
    assert_host_sees(crash_in_a_child, "");
}

static void test_an_ignored_signal_stays_ignored(void **state)
{
    (void)state;
    char out[4096];
    int status = in_child(ignore, SIGFPE, out, sizeof out);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(out, "ferrule: SIGFPE" SAID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_asking_nothing_is_said),
        cmocka_unit_test(test_the_process_dies_of_the_signal),
        cmocka_unit_test(test_handlers_of_the_host_are_called),
        cmocka_unit_test(test_where_it_crashed),
        cmocka_unit_test(test_an_ignored_signal_stays_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
