/* Ops between threads, and in forked children. */
#include "testing_op.h"

#include "base/path.h"
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder; /* of the test that runs */
static char *package;

static const char KERNELS[] = "#include <ferrule/kernel.h>\n"
                              "#define HEADER \"value.h\"\n"
                              "#include \"../beside/base.h\"\n"
                              "#include HEADER\n"
                              "DTYPE_VAR(T, i32);\n"
                              "PARAM(int, step, 1);\n"
                              "MAP(add, T, IN(T, x)) { return (T)(x + BASE + VALUE + step); }\n";
static const char ADD[] = "add<T: i32|i64|f32|f64, step: int = 1>(x: T[*s]) -> T[*s]";

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[256];
    char *parent = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ASSERT_OK(&error, fer_path_folder(path, &parent, &error));
    ASSERT_OK(&error, fer_folder_make(parent, &error));
    free(parent);
    ASSERT_OK(&error, fer_file_write(path, text, strlen(text), &error));
    assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
    (void)state;
    char template[] = "/tmp/ferrule-test.XXXXXX";
    if (mkdtemp(template) == NULL)
        return -1;
    folder = strdup(template);
    char path[256];
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("FERRULE_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/package", folder);
    package = strdup(path);
    write_file("package/add.c", KERNELS, 0644);
    write_file("package/value.h", "#define VALUE 10\n", 0644);
    write_file("beside/base.h", "#define BASE 100\n", 0644);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unsetenv("FERRULE_CC");
    fer_folder_remove(folder);
    free(folder);
    free(package);
    return 0;
}

/* Calls with x = 1 of this dtype and tells the result, or -1. */
static double call_with(const fer_op *op, fer_dtype dtype, fer_error *own)
{
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    double value = -1;
    if (fer_tensor_ones(dtype, 0, NULL, host, &x, own) == FER_OK &&
        fer_call(op, &x, 1, &y, 1, own) == FER_OK && fer_tensor_dtype(y) == dtype) {
        const void *data = fer_tensor_const_data(y);
        value = dtype == FER_I32   ? *(const int32_t *)data
                : dtype == FER_I64 ? (double)*(const int64_t *)data
                : dtype == FER_F32 ? *(const float *)data
                                   : *(const double *)data;
    }
    fer_tensor_release(x);
    fer_tensor_release(y);
    return value;
}

static fer_status declare_add(fer_op **out_op, fer_error *own)
{
    return fer_declare(&(fer_declaration){.signature = ADD, .packages = {package}}, out_op, own);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static const fer_dtype DTYPES[] = {FER_I32, FER_I64, FER_F32, FER_F64};

/* Declares, specialises, calls and releases, while others do the same. */
static bool work_once(const fer_op *shared, int round, fer_error *own)
{
    fer_op *op = NULL;
    fer_op *made = NULL;
    const fer_dtype dtype = DTYPES[round % 4];
    const int64_t step = round % 3;
    const fer_param param = int_param("step", step);
    bool is_right =
        declare_add(&op, own) == FER_OK && fer_op_specialise(op, &param, 1, &made, own) == FER_OK &&
        call_with(made, dtype, own) == 111 + step && call_with(shared, dtype, own) == 112 &&
        call_with(op, dtype, own) == 112 && fer_op_equal(made, shared) == (step == 1);
    fer_op *retained = fer_op_retain(shared);
    is_right = is_right && strcmp(fer_op_token(retained), fer_op_token(op)) == 0;
    fer_op_release(retained);
    fer_op_release(op);
    fer_op_release(made);
    return is_right;
}

static void *work(void *shared)
{
    static _Atomic int next;
    fer_error own = FER_ERROR_INIT;
    int first = next++;
    for (int round = 0; round < 12; round++)
        if (!work_once(shared, first + round, &own)) {
            print_error("%s\n", own.message == NULL ? "a wrong value" : own.message);
            fer_error_clear(&own);
            return shared;
        }
    fer_error_clear(&own);
    return NULL;
}

static void test_threads_do_everything_at_once(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    fer_op *op = NULL;
    ASSERT_OK(&error, declare_add(&op, &error));
    uint64_t compiles = fer_read_counters().compiles;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, op), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(fer_op_num_binaries(op), 4);
    /* Four dtypes and three steps, each once however many asked; one is there already. */
    assert_int_equal(fer_read_counters().compiles - compiles, 11);
    fer_op_release(op);
}

/* What is asked of one new op by all at once. */
typedef struct question {
    const fer_op *op;
    const fer_op *equal;
    pthread_barrier_t *start;
    bool is_answered;
} question;

static void *ask(void *context)
{
    question *question = context;
    pthread_barrier_wait(question->start);
    const fer_op *a = question->op;
    const fer_op *b = question->equal;
    question->is_answered = fer_op_hash(a) == fer_op_hash(b) &&
                            strcmp(fer_op_token(a), fer_op_token(b)) == 0 &&
                            strcmp(fer_op_text(a), fer_op_text(b)) == 0 && fer_op_equal(a, b) &&
                            fer_op_is_complete(a) && fer_op_num_extensions(a) == 1;
    return NULL;
}

static void test_threads_ask_one_new_op(void **state)
{
    (void)state;
    enum { THREADS = 8, ROUNDS = 20 };
    fer_op *first = NULL;
    pthread_barrier_t start;
    ASSERT_OK(&error, declare_add(&first, &error));
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int round = 0; round < ROUNDS; round++) {
        fer_op *op = NULL;
        pthread_t threads[THREADS];
        question questions[THREADS];
        ASSERT_OK(&error, declare_add(&op, &error));
        for (int i = 0; i < THREADS; i++) {
            questions[i] = (question){.op = op, .equal = first, .start = &start};
            assert_int_equal(pthread_create(&threads[i], NULL, ask, &questions[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_true(questions[i].is_answered);
        }
        fer_op_release(op);
    }
    pthread_barrier_destroy(&start);
    fer_op_release(first);
}

/* --- Forked children -------------------------------------------------------------------------- */

/* Waits for a child, which an alarm ends if it hangs. */
static void assert_child_is_well(pid_t child)
{
    int result = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    if (WIFSIGNALED(result))
        print_error("the child was ended by signal %d\n", WTERMSIG(result));
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* What a child does: 0, or where it failed. */
static int use_in_child(const fer_op *op)
{
    fer_op *made = NULL;
    fer_op *again = NULL;
    const fer_param param = int_param("step", 5);
    alarm(280); /* for what hangs: it compiles four times, however busy the machine is */
    if (call_with(op, FER_I32, NULL) != 112)
        return 1;
    if (call_with(op, FER_F64, NULL) != 112) /* compiles */
        return 2;
    if (fer_op_specialise(op, &param, 1, &made, NULL) != FER_OK ||
        call_with(made, FER_I64, NULL) != 116)
        return 3;
    if (declare_add(&again, NULL) != FER_OK || !fer_op_equal(op, again) ||
        call_with(again, FER_F32, NULL) != 112)
        return 4;
    fer_op_release(made);
    fer_op_release(again);
    return 0;
}

static void test_a_child_goes_on_with_its_parents_op(void **state)
{
    (void)state;
    fer_op *op = NULL;
    ASSERT_OK(&error, declare_add(&op, &error));
    assert_float_equal(call_with(op, FER_I32, &error), 112, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(use_in_child(op));
    assert_child_is_well(child);
    assert_float_equal(call_with(op, FER_F64, &error), 112, 0);
    fer_op_release(op);
}

/* A compiler that says that it has begun and then waits. */
static void use_slow_compiler(void)
{
    char text[512];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "case \" $* \" in *--version*) exec cc \"$@\" ;; esac\n"
             "touch '%s/begun'\n"
             "sleep 1\n"
             "exec cc \"$@\"\n",
             folder);
    write_file("slow-cc", text, 0755);
    snprintf(text, sizeof text, "%s/slow-cc", folder);
    setenv("FERRULE_CC", text, 1);
}

static void *declare_slowly(void *result)
{
    fer_op *op = NULL;
    *(fer_status *)result = declare_add(&op, NULL);
    fer_op_release(op);
    return NULL;
}

/* The build that another thread is at goes on in the parent only: the child builds for itself. */
static void test_a_child_of_a_process_that_compiles(void **state)
{
    (void)state;
    use_slow_compiler();
    pthread_t thread;
    fer_status status = FER_RUNTIME_ERROR;
    char begun[256];
    snprintf(begun, sizeof begun, "%s/begun", folder);
    assert_int_equal(pthread_create(&thread, NULL, declare_slowly, &status), 0);
    while (access(begun, F_OK) != 0)
        usleep(1000);
    pid_t child = fork();
    if (child == 0) {
        fer_op *op = NULL;
        alarm(120);
        _exit(declare_add(&op, NULL) == FER_OK && call_with(op, FER_I32, NULL) == 112 ? 0 : 1);
    }
    pthread_join(thread, NULL);
    assert_int_equal(status, FER_OK);
    assert_child_is_well(child);
}

/* The same where the op itself is what the other thread is compiling for a new dtype. */
typedef struct first_call {
    const fer_op *op;
    double value;
} first_call;

static void *call_first(void *argument)
{
    first_call *call = argument;
    call->value = call_with(call->op, FER_F64, NULL);
    return NULL;
}

static void test_a_child_calls_an_op_that_is_being_compiled(void **state)
{
    (void)state;
    fer_op *op = NULL;
    ASSERT_OK(&error, declare_add(&op, &error));
    use_slow_compiler();
    first_call call = {.op = op};
    pthread_t thread;
    char begun[256];
    snprintf(begun, sizeof begun, "%s/begun", folder);
    assert_int_equal(pthread_create(&thread, NULL, call_first, &call), 0);
    while (access(begun, F_OK) != 0)
        usleep(1000);
    pid_t child = fork();
    if (child == 0) {
        alarm(120);
        _exit(call_with(op, FER_F64, NULL) == 112 ? 0 : 1);
    }
    pthread_join(thread, NULL);
    assert_float_equal(call.value, 112, 0);
    assert_child_is_well(child);
    fer_op_release(op);
}

/* Where nothing can be kept, parent and child have a private folder each. */
static void test_a_child_without_a_store(void **state)
{
    (void)state;
    write_file("file", "no folder", 0644);
    char path[256];
    snprintf(path, sizeof path, "%s/file/cache", folder);
    setenv("FERRULE_CACHE_DIR", path, 1);
    setenv("TMPDIR", folder, 1);
    write_file("package/add.c", "", 0644);
    write_file("package/kept.c", KERNELS, 0644); /* not what another test has loaded */
    fer_op *op = NULL;
    ASSERT_OK(&error, declare_add(&op, &error));
    pid_t child = fork();
    if (child == 0)
        exit(use_in_child(op)); /* its private folder goes, the parent's stays */
    assert_child_is_well(child);
    assert_int_equal(access(fer_op_binary(op, 0), R_OK), 0);
    assert_float_equal(call_with(op, FER_F64, &error), 112, 0);
    fer_op_release(op);
    unsetenv("TMPDIR");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_threads_do_everything_at_once),
        TEST(test_threads_ask_one_new_op),
        TEST(test_a_child_goes_on_with_its_parents_op),
        TEST(test_a_child_of_a_process_that_compiles),
        TEST(test_a_child_calls_an_op_that_is_being_compiled),
        TEST(test_a_child_without_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
