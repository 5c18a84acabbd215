/* How many threads kernels use: MAP over large tensors, OpenMP in a KERNEL, forked children. */
#include "testing_op.h"

#include "base/path.h"
#include "op/threads.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 300007 }; /* enough for nine threads, and no whole number of blocks */

static const char KERNELS[] =
    "#include <ferrule/kernel.h>\n"
    "#include <math.h>\n"
    "#ifdef _OPENMP\n"
    "#include <omp.h>\n"
    "#else\n"
    "static int omp_get_thread_num(void) { return -1; }\n"
    "static int omp_get_num_threads(void) { return -1; }\n"
    "#endif\n"
    /* Whose bits would tell another code for another place. */
    "MAP(mixed, f32, IN(f32, a), IN(u8, b), IN(f64, c))\n"
    "{ return a * (f32)b / 7 + (f32)sqrt(c) * a; }\n"
    "MAP(small, f16, IN(f32, a), IN(bool, b), IN(f16, c)) { return b ? a + c : c / 3; }\n"
    /* Which thread made each element. */
    "MAP(who, i32, IN(i32, x)) { return 0 * x + omp_get_thread_num(); }\n"
    /* How many threads there are: as a rule, and where four are asked for. */
    "KERNEL(team, OUT(i32, 1, y), IN(i32, 1, x))\n"
    "{\n"
    "    int usual = -1, own = -1;\n"
    "    #pragma omp parallel\n"
    "    {\n"
    "        #pragma omp single\n"
    "        usual = omp_get_num_threads();\n"
    "    }\n"
    "    #pragma omp parallel num_threads(4)\n"
    "    {\n"
    "        #pragma omp single\n"
    "        own = omp_get_num_threads();\n"
    "    }\n"
    "    AT(y, 0) = usual;\n"
    "    AT(y, 1) = own;\n"
    "    return OK;\n"
    "}\n"
    "SHAPE(measured, IN(i32, 1, x))\n"
    "{\n"
    "    index_t most = -1;\n"
    "    #pragma omp parallel\n"
    "    {\n"
    "        #pragma omp single\n"
    "        most = omp_get_num_threads();\n"
    "    }\n"
    "    EXTENT(most) = most < 0 ? 0 : most;\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(measured, OUT(i32, 1, y), IN(i32, 1, x)) { return OK; }\n"
    /* What a parallel loop may do that notes a failure. */
    "KERNEL(positive, OUT(f32, 1, y), IN(f32, 1, x))\n"
    "{\n"
    "    bool has_failed = false;\n"
    "    #pragma omp parallel for reduction(|| : has_failed)\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++) {\n"
    "        has_failed = has_failed || AT(x, i) < 0;\n"
    "        AT(y, i) = 2 * AT(x, i);\n"
    "    }\n"
    "    CHECK(!has_failed, \"a negative element\");\n"
    "    return OK;\n"
    "}\n";

static fer_op *declare(const char *signature)
{
    return declare_source(signature, KERNELS);
}

static fer_tensor *call(const fer_op *op, fer_tensor *const *operands, size_t num_operands)
{
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, operands, num_operands, &y, 1, &error));
    return y;
}

static void set_threads(uint32_t num_threads)
{
    ASSERT_OK(&error, fer_set_num_threads(num_threads, &error));
}

/* --- How many there are ----------------------------------------------------------------------- */

static void test_the_number_is_set_and_read(void **state)
{
    (void)state;
    setenv("FERRULE_NUM_THREADS", "3", 1);
    setenv("OMP_NUM_THREADS", "5,2", 1);
    set_threads(0);
    assert_int_equal(fer_num_threads(), 3);
    set_threads(7);
    assert_int_equal(fer_num_threads(), 7);
    set_threads(FER_MAX_THREADS);
    assert_int_equal(fer_num_threads(), FER_MAX_THREADS);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_set_num_threads(FER_MAX_THREADS + 1, &error),
                 "1025 threads are too many", "1024");
    assert_int_equal(fer_num_threads(), FER_MAX_THREADS);
    static const char *const UNSET[] = {"", "0", "two", "2x", "-1", "1025", "2,3", " 2"};
    for (size_t i = 0; i < sizeof UNSET / sizeof *UNSET; i++) {
        setenv("FERRULE_NUM_THREADS", UNSET[i], 1);
        set_threads(0);
        assert_int_equal(fer_num_threads(), 5);
        if (UNSET[i][0] == '\0')
            ASSERT_OK(&error, fer_threads_check_environment(&error));
        else
            ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_threads_check_environment(&error),
                         "FERRULE_NUM_THREADS", UNSET[i], "1 to 1024");
    }
    unsetenv("FERRULE_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    set_threads(0);
    assert_in_range(fer_num_threads(), 1, FER_MAX_THREADS);
}

/* --- MAP -------------------------------------------------------------------------------------- */

/* The result with one thread, held against that with every other number. */
static void assert_same_bits(const fer_op *op, fer_tensor *const *operands)
{
    static const uint32_t COUNTS[] = {2, 3, 4, 7, 16, 64};
    set_threads(1);
    fer_tensor *expected = call(op, operands, 3);
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        set_threads(COUNTS[i]);
        fer_tensor *y = call(op, operands, 3);
        assert_memory_equal(fer_tensor_const_data(y), fer_tensor_const_data(expected),
                            fer_tensor_num_bytes(expected));
        fer_tensor_release(y);
    }
    fer_tensor_release(expected);
}

static void test_a_map_gives_the_same_bits_for_every_number(void **state)
{
    (void)state;
    static const int64_t SIZES[] = {1, 15, 65535, 65536, 65537, 98303, 131072, LARGE};
    fer_op *mixed[] = {declare("mixed(a: f32[*s], b: u8[*s], c: f64[*s]) -> f32[*s]"),
                       declare("mixed(a: f32[*s], b: u8[*s], c: f64[]) -> f32[*s]")};
    fer_op *small[] = {declare("small(a: f32[*s], b: bool[*s], c: f16[*s]) -> f16[*s]"),
                       declare("small(a: f32[*s], b: bool[*s], c: f16[]) -> f16[*s]")};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        for (size_t last_is_scalar = 0; last_is_scalar < 2; last_is_scalar++) {
            const int64_t size = SIZES[i];
            fer_tensor *a = make_counting(FER_F32, size);
            fer_tensor *b = make_ones(FER_U8, EXTENTS(size));
            fer_tensor *is = make_ones(FER_BOOL, EXTENTS(size));
            fer_tensor *c = make_ones(FER_F64, last_is_scalar ? 0 : 1, &size);
            fer_tensor *d = make_ones(FER_F16, last_is_scalar ? 0 : 1, &size);
            for (int64_t j = 0; j < size; j++) {
                ((uint8_t *)fer_tensor_data(b))[j] = (uint8_t)(j * 7);
                ((bool *)fer_tensor_data(is))[j] = j % 3 == 0;
            }
            for (int64_t j = 0; j < (last_is_scalar ? 1 : size); j++)
                ((double *)fer_tensor_data(c))[j] = (double)j * 0.37;
            assert_same_bits(mixed[last_is_scalar], OPERANDS(a, b, c));
            assert_same_bits(small[last_is_scalar], OPERANDS(a, is, d));
            RELEASE(a, b, is, c, d);
        }
    for (size_t i = 0; i < 2; i++) {
        fer_op_release(mixed[i]);
        fer_op_release(small[i]);
    }
}

/* The last elements come again after the threads, by the calling one. */
static void test_a_map_is_cut_into_a_piece_for_each_thread(void **state)
{
    (void)state;
    fer_op *who = declare("who(x: i32[n]) -> i32[n]");
    fer_tensor *x = make_counting(FER_I32, LARGE);
    for (uint32_t num_threads = 1; num_threads <= 12; num_threads++) {
        set_threads(num_threads);
        fer_tensor *y = call(who, &x, 1);
        const int32_t *made_by = fer_tensor_const_data(y);
        const int useful = num_threads < 9 ? (int)num_threads : 9;
        int pieces = 1;
        for (int64_t i = 1; i < LARGE - 16; i++)
            pieces += made_by[i] != made_by[i - 1];
        if (made_by[0] >= 0)
            assert_int_equal(pieces, useful);
        fer_tensor_release(y);
    }
    set_threads(8);
    fer_tensor *few = make_counting(FER_I32, 65535);
    fer_tensor *y = call(who, &few, 1);
    for (int64_t i = 1; i < 65535; i++)
        assert_int_equal(((const int32_t *)fer_tensor_const_data(y))[i],
                         *(const int32_t *)fer_tensor_const_data(y));
    fer_tensor_release(y);
    fer_tensor_release(few);
    fer_tensor_release(x);
    fer_op_release(who);
}

/* --- OpenMP in a KERNEL ----------------------------------------------------------------------- */

typedef struct team {
    int usual;
    int own; /* of a region that asks for four threads */
} team;

static team ask_team(const fer_op *op)
{
    fer_tensor *x = make_ones(FER_I32, EXTENTS(2));
    fer_tensor *y = call(op, &x, 1);
    const int32_t *counts = fer_tensor_const_data(y);
    const team found = {counts[0], counts[1]};
    fer_tensor_release(x);
    fer_tensor_release(y);
    return found;
}

static bool has_openmp(const fer_op *team)
{
    return ask_team(team).usual >= 0;
}

/* What the caller's own regions would have, all runtimes that are loaded added up. */
static int callers_threads(void)
{
    static const char *const RUNTIMES[] = {"libgomp.so.1", "libomp.so.5"};
    int total = 0;
    for (size_t i = 0; i < sizeof RUNTIMES / sizeof *RUNTIMES; i++) {
        void *runtime = dlopen(RUNTIMES[i], RTLD_NOW | RTLD_NOLOAD);
        if (runtime == NULL)
            continue;
        int (*get)(void);
        void *symbol = dlsym(runtime, "omp_get_max_threads");
        memcpy(&get, &symbol, sizeof get);
        total += get();
        dlclose(runtime);
    }
    assert_true(total > 0);
    return total;
}

static void test_a_kernel_has_the_threads_that_are_set(void **state)
{
    (void)state;
    fer_op *op = declare("team(x: i32[n]) -> i32[n]");
    fer_op *measured = declare("measured(x: i32[n]) -> i32[most]");
    fer_tensor *x = make_ones(FER_I32, EXTENTS(1));
    if (!has_openmp(op))
        print_message("kernels are built without OpenMP here\n");
    else
        for (uint32_t num_threads = 3; num_threads > 0; num_threads--) {
            int before = callers_threads();
            set_threads(num_threads);
            const team found = ask_team(op);
            assert_int_equal(found.usual, num_threads);
            assert_int_equal(found.own, num_threads == 1 ? 1 : 4);
            fer_tensor *y = call(measured, &x, 1);
            assert_int_equal(fer_tensor_num_elements(y), num_threads);
            assert_int_equal(callers_threads(), before);
            fer_tensor_release(y);
        }
    fer_tensor_release(x);
    fer_op_release(op);
    fer_op_release(measured);
}

static void test_a_parallel_loop_notes_a_failure(void **state)
{
    (void)state;
    fer_op *op = declare("positive(x: f32[n]) -> f32[n]");
    fer_tensor *x = make_counting(FER_F32, LARGE);
    set_threads(3);
    fer_tensor *y = call(op, &x, 1);
    for (int64_t i = 0; i < LARGE; i++)
        assert_true(((const float *)fer_tensor_const_data(y))[i] == (float)(2 * i));
    fer_tensor_release(y);
    ((float *)fer_tensor_data(x))[LARGE / 2] = -1;
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, op, 1, &x, "positive: a negative element");
    fer_tensor_release(x);
    fer_op_release(op);
}

/* --- Threads of the caller -------------------------------------------------------------------- */

typedef struct task {
    const fer_op *op;
    float start;
    bool is_right;
} task;

static void *call_often(void *context)
{
    task *task = context;
    const int64_t size = LARGE;
    fer_tensor *x = NULL;
    task->is_right = fer_tensor_empty(FER_F32, 1, &size, host, &x, NULL) == FER_OK;
    for (int64_t i = 0; task->is_right && i < LARGE; i++)
        ((float *)fer_tensor_data(x))[i] = task->start + (float)i;
    for (int round = 0; task->is_right && round < 10; round++) {
        fer_tensor *y = NULL;
        task->is_right = fer_call(task->op, &x, 1, &y, 1, NULL) == FER_OK;
        for (int64_t i = 0; task->is_right && i < LARGE; i++)
            task->is_right =
                ((const float *)fer_tensor_const_data(y))[i] == 2 * (task->start + (float)i);
        fer_tensor_release(y);
    }
    fer_tensor_release(x);
    return NULL;
}

static void test_many_threads_call_what_uses_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    fer_op *ops[] = {
        declare_source(
            "twice(x: f32[n]) -> f32[n]",
            "#include <ferrule/kernel.h>\nMAP(twice, f32, IN(f32, x)) { return 2 * x; }\n"),
        declare("positive(x: f32[n]) -> f32[n]"),
    };
    set_threads(2);
    task tasks[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (task){.op = ops[i % 2], .start = (float)i};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &tasks[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(tasks[i].is_right);
    }
    fer_op_release(ops[0]);
    fer_op_release(ops[1]);
}

/* --- Forked children -------------------------------------------------------------------------- */

/* 0, or where it failed. gcc's runtime would wait here for threads of the parent. */
static int use_in_child(const fer_op *who, const fer_op *teams, fer_tensor *x)
{
    alarm(60);
    if (fer_num_threads() != 1 || fer_set_num_threads(4, NULL) != FER_OK || fer_num_threads() != 1)
        return 1;
    fer_tensor *y = NULL;
    if (fer_call(who, &x, 1, &y, 1, NULL) != FER_OK)
        return 2;
    for (int64_t i = 0; i < LARGE; i++)
        if (((const int32_t *)fer_tensor_const_data(y))[i] > 0)
            return 3;
    fer_tensor_release(y);
    const team found = ask_team(teams);
    return found.usual == 1 && found.own == 1 ? 0 : 4;
}

static void test_a_child_of_a_process_with_threads(void **state)
{
    (void)state;
    fer_op *who = declare("who(x: i32[n]) -> i32[n]");
    fer_op *teams = declare("team(x: i32[n]) -> i32[n]");
    fer_tensor *x = make_counting(FER_I32, LARGE);
    set_threads(4);
    fer_tensor_release(call(who, &x, 1));
    if (has_openmp(teams)) {
        pid_t child = fork();
        if (child == 0)
            _exit(use_in_child(who, teams, x));
        int result = -1;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        assert_int_equal(fer_num_threads(), 4);
        assert_int_equal(ask_team(teams).usual, 4);
    }
    fer_tensor_release(x);
    fer_op_release(who);
    fer_op_release(teams);
}

/* --- A compiler without OpenMP ---------------------------------------------------------------- */

/* Says that it is clang, and has no runtime of OpenMP to link to. */
static const char SCRIPT[] = "#!/bin/sh\n"
                             "case \" $* \" in\n"
                             "*' --version '*) echo 'clang version 14.0.6 (a script)'; exit 0 ;;\n"
                             "*' -fopenmp'*) echo 'cannot find -lomp' >&2; exit 1 ;;\n"
                             "esac\n"
                             "for word; do\n"
                             "    shift\n"
                             "    case $word in -fmacro-*) ;; *) set -- \"$@\" \"$word\" ;; esac\n"
                             "done\n"
                             "exec cc \"$@\"\n";

static void test_a_compiler_without_openmp(void **state)
{
    (void)state;
    char folder[] = "/tmp/ferrule-test.XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    snprintf(path, sizeof path, "%s/compiler", folder);
    ASSERT_OK(&error, fer_file_write(path, SCRIPT, strlen(SCRIPT), &error));
    assert_int_equal(chmod(path, 0755), 0);
    const char *usual = getenv("FERRULE_CC");
    char *kept = usual == NULL ? NULL : strdup(usual);
    setenv("FERRULE_CC", path, 1);
    fer_op *who = declare("who(x: i32[n]) -> i32[n]");
    fer_op *teams = declare("team(x: i32[n]) -> i32[n]");
    fer_tensor *x = make_counting(FER_I32, LARGE);
    set_threads(4);
    fer_tensor *y = call(who, &x, 1);
    for (int64_t i = 0; i < LARGE; i++)
        assert_int_equal(((const int32_t *)fer_tensor_const_data(y))[i], -1);
    assert_false(has_openmp(teams));
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_op_release(who);
    fer_op_release(teams);
    unsetenv("FERRULE_CC");
    if (kept != NULL)
        setenv("FERRULE_CC", kept, 1);
    free(kept);
    fer_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_number_is_set_and_read),
        cmocka_unit_test(test_a_map_gives_the_same_bits_for_every_number),
        cmocka_unit_test(test_a_map_is_cut_into_a_piece_for_each_thread),
        cmocka_unit_test(test_a_kernel_has_the_threads_that_are_set),
        cmocka_unit_test(test_a_parallel_loop_notes_a_failure),
        cmocka_unit_test(test_many_threads_call_what_uses_threads),
        cmocka_unit_test(test_a_child_of_a_process_with_threads),
        cmocka_unit_test(test_a_compiler_without_openmp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
