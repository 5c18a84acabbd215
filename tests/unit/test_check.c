/* Checked calls: what a kernel did that it must not, told eagerly and from every place of a graph;
 * and no false alarm. */
#include "testing_op.h"

#include "tensor/tensor.h"
#include <ferrule/ferrule.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACKAGE FERRULE_TEST_DATA "/kernels/checked"

static const int64_t THREE[] = {3};
static const char *program; /* this one's path */

static int set_up(void **state)
{
    (void)state;
    fer_set_checking(true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fer_set_checking(false);
    return 0;
}

static fer_op *declare(const char *kernel)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = kernel, .packages = {PACKAGE}}, &op,
                                  &error));
    return op;
}

/* The call failed with exactly this message. Clears the error. */
static void assert_fault(fer_status status, const char *message)
{
    assert_string_equal(status == FER_OK ? "no fault" : error.message, message);
    assert_int_equal(status, FER_RUNTIME_ERROR);
    fer_error_clear(&error);
}

/* --- Faults ----------------------------------------------------------------------------------- */

/* Of ops of a vector of three and `turn`. */
static const struct {
    const char *op;
    const char *operand;
    const char *message;
} FAULTS[] = {
    {"writes_operand", "x",
     "writes_operand: operand 'x' is not inout, but the kernel wrote element [1] and 1 more "
     "(checked.c:12)"},
    {"writes_behind", "y",
     "writes_behind: result 'y' has 3 elements, but the kernel wrote element 3 (checked.c:21)"},
    {"writes_before", NULL,
     "writes_before: result 0 has 3 elements, but the kernel wrote element -1 (checked.c:30)"},
    {"indexes_outside", "x",
     "indexes_outside: AT with index 1000000007 on axis 0 of 'x', whose extent is 3 "
     "(checked.c:54)"},
    {"writes_outside", "y",
     "writes_outside: AT with index 3 on axis 0 of 'y', whose extent is 3 (checked.c:63)"},
    {"asks_outside", "x", "asks_outside: DIM of axis 1 of 'x', which has rank 1 (checked.c:73)"},
    {"overruns_scratch", NULL,
     "overruns_scratch: a SCRATCH has 12 bytes, but the kernel wrote byte 12 (checked.c:79)"},
    {"forgets", "y",
     "forgets: result 'y' is not whole: the kernel did not write element [1] and 1 more "
     "(checked.c:88)"},
};
enum { NUM_FAULTS = sizeof FAULTS / sizeof *FAULTS };

static void assert_operand(const char *expected)
{
    assert_string_equal(error.operand == NULL ? "none" : error.operand,
                        expected == NULL ? "none" : expected);
}

static void test_each_fault_of_a_call_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_FAULTS; i++) {
        fer_op *op = declare(FAULTS[i].op);
        fer_tensor *x = make_counting(FER_F32, 3);
        fer_tensor *good[] = {x, make_scalar(FER_I64, 0)};
        fer_tensor *bad[] = {x, make_scalar(FER_I64, 1)};
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_call(op, good, 2, &y, 1, &error));
        assert_floats(y, FLOATS(0, 1, 2));
        fer_tensor *refused = (fer_tensor *)&error;
        fer_status status = fer_call(op, bad, 2, &refused, 1, &error);
        assert_null(refused);
        assert_operand(FAULTS[i].operand);
        assert_string_equal(error.op, FAULTS[i].op);
        assert_fault(status, FAULTS[i].message);
        /* What was given stays as it was, results too. */
        float *given = fer_tensor_data(y);
        given[0] = 50;
        assert_fault(fer_call_into(op, bad, 2, &y, 1, &error), FAULTS[i].message);
        assert_floats(y, FLOATS(50, 1, 2));
        assert_floats(x, FLOATS(0, 1, 2));
        ASSERT_OK(&error, fer_call_into(op, good, 2, &y, 1, &error));
        assert_floats(y, FLOATS(0, 1, 2));
        fer_tensor_release(y);
        release_tensors(2, good);
        fer_tensor_release(bad[1]);
        fer_op_release(op);
    }
}

/* A strided operand is copied before it comes to the kernel; the fault is the same one. */
static void test_strided_operands(void **state)
{
    (void)state;
    float memory[] = {0, -1, 1, -1, 2, -1};
    const int64_t stride = 2;
    fer_op *op = declare("writes_operand");
    fer_tensor *tensors[] = {NULL, make_scalar(FER_I64, 1)};
    ASSERT_OK(&error, fer_tensor_borrow_strided(FER_F32, 1, THREE, &stride, memory, false, host,
                                                NULL, NULL, &tensors[0], &error));
    fer_tensor *y = NULL;
    assert_fault(fer_call(op, tensors, 2, &y, 1, &error), FAULTS[0].message);
    release_tensors(2, tensors);
    fer_op_release(op);
}

static void test_an_inout_operand_may_be_written_and_no_further(void **state)
{
    (void)state;
    fer_op *op = declare("writes_beside");
    double total = 5;
    fer_tensor *tensors[] = {make_counting(FER_F32, 3), make_scalar(FER_I64, 0),
                             make_view(FER_F64, 0, NULL, &total)};
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, tensors, 3, &y, 1, &error));
    assert_floats(y, FLOATS(0, 1, 2));
    assert_float_equal(total, 6, 0);
    fer_tensor_release(y);
    fer_tensor_release(tensors[1]);
    tensors[1] = make_scalar(FER_I64, 1);
    fer_status status = fer_call(op, tensors, 3, &y, 1, &error);
    assert_operand("total");
    assert_fault(status, "writes_beside: operand 'total' has 1 element, but the kernel wrote "
                         "element 2 (checked.c:40)");
    assert_float_equal(total, 6, 0);
    release_tensors(3, tensors);
    fer_op_release(op);
}

static void test_what_a_shape_function_writes(void **state)
{
    (void)state;
    fer_op *op = declare("measures");
    fer_tensor *tensors[] = {make_counting(FER_F32, 3), make_scalar(FER_I64, 0)};
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, tensors, 2, &y, 1, &error));
    assert_floats(y, FLOATS(0, 1, 2));
    fer_tensor_release(y);
    fer_tensor_release(tensors[1]);
    tensors[1] = make_scalar(FER_I64, 1);
    assert_fault(fer_call(op, tensors, 2, &y, 1, &error),
                 "measures: operand 'x' is not SHAPE's to write, but the SHAPE wrote element [0] "
                 "(checked.c:108)");
    assert_floats(tensors[0], FLOATS(0, 1, 2));
    release_tensors(2, tensors);
    fer_op_release(op);
}

/* However far away the index leads, nothing is touched there. */
static void test_an_empty_tensor_has_no_element(void **state)
{
    (void)state;
    fer_op *op = declare("touches_nothing");
    fer_tensor *x = make_ones(FER_F32, EXTENTS(0, 1, (int64_t)1 << 40));
    fer_tensor *y = NULL;
    assert_fault(fer_call(op, &x, 1, &y, 1, &error),
                 "touches_nothing: AT with index 0 on axis 0 of 'x', whose extent is 0 "
                 "(checked.c:134)");
    fer_tensor_release(x);
    fer_op_release(op);
}

/* --- No false alarms -------------------------------------------------------------------------- */

/* A result may well be the bytes that an unwritten one would hold. */
static void test_any_bytes_may_be_a_result(void **state)
{
    (void)state;
    fer_op *op = declare("same_bytes");
    fer_tensor *tensors[] = {NULL, make_ones(FER_U8, 1, THREE)};
    for (int byte = 0; byte < 256; byte++) {
        fer_tensor *y = NULL;
        tensors[0] = make_scalar(FER_U8, byte);
        ASSERT_OK(&error, fer_call(op, tensors, 2, &y, 1, &error));
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(((const uint8_t *)fer_tensor_const_data(y))[i], byte);
        fer_tensor_release(y);
        fer_tensor_release(tensors[0]);
    }
    fer_tensor_release(tensors[1]);
    fer_op_release(op);
}

/* What it left unwritten is then not told, and is what no other memory held. */
static void test_what_changes_something_runs_once(void **state)
{
    (void)state;
    fer_op *op = declare("forgets_once");
    double total = 0;
    fer_tensor *tensors[] = {make_counting(FER_F32, 3), make_scalar(FER_I64, 1),
                             make_view(FER_F64, 0, NULL, &total)};
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, tensors, 3, &y, 1, &error));
    assert_float_equal(total, 1, 0);
    fer_tensor_release(y);
    release_tensors(3, tensors);
    fer_op_release(op);
}

static void test_all_that_a_kernel_may_do(void **state)
{
    (void)state;
    fer_op *op = declare("adds_up");
    static const int64_t SIZES[] = {0, 1, 7, 100000};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        fer_tensor *tensors[] = {make_counting(FER_F32, SIZES[i]),
                                 make_ones(FER_F32, 1, &SIZES[i])};
        fer_tensor *results[2];
        fer_tensor *again[2];
        ASSERT_OK(&error, fer_call(op, tensors, 2, results, 2, &error));
        const float *total = fer_tensor_const_data(tensors[1]);
        for (int64_t j = 0; j < SIZES[i]; j++)
            assert_float_equal(total[j], 1 + j, 0);
        fer_set_checking(false);
        ASSERT_OK(&error, fer_call(op, tensors, 2, again, 2, &error));
        fer_set_checking(true);
        for (size_t j = 0; j < 2; j++)
            assert_memory_equal(fer_tensor_const_data(results[j]), fer_tensor_const_data(again[j]),
                                fer_tensor_num_bytes(again[j]));
        release_tensors(2, results);
        release_tensors(2, again);
        release_tensors(2, tensors);
    }
    fer_op_release(op);
}

/* One operand twice, and an operand that is read-only. */
static void test_operands_that_are_shared(void **state)
{
    (void)state;
    fer_op *op = NULL;
    ASSERT_OK(&error,
              fer_declare(&(fer_declaration){.kernel = "add", .packages = {"std"}}, &op, &error));
    static const float VALUES[] = {1, 2, 3};
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, THREE, (void *)VALUES, true, host, NULL, NULL,
                                        &x, &error));
    fer_tensor *operands[] = {x, x};
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, operands, 2, &y, 1, &error));
    assert_floats(y, FLOATS(2, 4, 6));
    release_tensors(1, &y);
    release_tensors(1, &x);
    fer_op_release(op);
}

/* --- Graphs ----------------------------------------------------------------------------------- */

/* A graph, with the op in some place of it, of a vector and the number of turns, and what stands
 * before the fault's message. */
static const struct {
    const char *program;
    int64_t turns; /* the last one is faulty */
    const char *before;
} PLACES[] = {
    {"graph g(x: f32[3], turn: i64[]) {\n"
     "  y = %s(x, turn)\n"
     "  return y }",
     1, "t.fer:4:7: graph 'g': "},
    {"graph g(x: f32[3], turn: i64[]) {\n"
     "  c = is_positive(turn)\n"
     "  y = if c { arm = %s(x, turn) yield arm }\n"
     "      else { other = twice(x) yield other }\n"
     "  return y }",
     1, "t.fer:5:20: graph 'g': "},
    {"graph g(x: f32[3], turn: i64[]) {\n"
     "  y, i = while s = x, j = turn { go = is_positive(j) yield go }\n"
     "  do { t = %s(s, j) next = count_down(j) yield t, next }\n"
     "  return y }",
     3, "t.fer:5:12: graph 'g': iteration 3 of while: "},
    {"graph inner(v: f32[m], k: i64[]) {\n"
     "  w = %s(v, k)\n"
     "  return w }\n"
     "graph g(x: f32[3], turn: i64[]) {\n"
     "  y, i = while s = x, j = turn { go = is_positive(j) yield go } do {\n"
     "    c = is_positive(j)\n"
     "    t = if c { u = call inner(s, j) yield u } else { o = twice(s) yield o }\n"
     "    next = count_down(j) yield t, next }\n"
     "  return y }",
     3, "t.fer:4:7: graph 'g': iteration 3 of while: call of 'inner': "},
};

enum { NUM_PLACES = sizeof PLACES / sizeof *PLACES };

/* The model of the last graph of a program in which %s is the op. */
static fer_model *make_model(const char *format, const char *op)
{
    char text[2048];
    size_t length =
        (size_t)snprintf(text, sizeof text, "use \"kernels/checked\"\nuse \"kernels/graph\"\n");
    const char *place = strstr(format, "%s");
    snprintf(text + length, sizeof text - length, "%.*s%s%s", (int)(place - format), format, op,
             place + 2);
    fer_module *module = NULL;
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_module_parse(text, "t.fer", FERRULE_TEST_DATA, &module, &error));
    ASSERT_OK(&error,
              fer_model_create(fer_module_graph_at(module, fer_module_num_graphs(module) - 1), NULL,
                               &model, &error));
    fer_module_release(module);
    return model;
}

/* Runs a model of PLACES on 0, 1, 2. */
static fer_status run_model(const fer_model *model, int64_t turn, fer_tensor **out_y,
                            fer_error *own)
{
    fer_tensor *inputs[] = {make_counting(FER_F32, 3), make_scalar(FER_I64, turn)};
    fer_status status = fer_model_run(model, inputs, 2, out_y, 1, own);
    assert_floats(inputs[0], FLOATS(0, 1, 2));
    release_tensors(2, inputs);
    return status;
}

static void test_each_fault_is_told_from_every_place_of_a_graph(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_FAULTS; i++)
        for (size_t j = 0; j < NUM_PLACES; j++) {
            fer_model *model = make_model(PLACES[j].program, FAULTS[i].op);
            fer_tensor *y = NULL;
            char message[512];
            snprintf(message, sizeof message, "%s%s", PLACES[j].before, FAULTS[i].message);
            ASSERT_OK(&error, run_model(model, 0, &y, &error));
            fer_tensor_release(y);
            fer_status status = run_model(model, PLACES[j].turns, &y, &error);
            assert_null(y);
            assert_operand(FAULTS[i].operand);
            assert_string_equal(error.op, FAULTS[i].op);
            assert_fault(status, message);
            /* A state that has seen a fault serves again. */
            ASSERT_OK(&error, run_model(model, 0, &y, &error));
            fer_tensor_release(y);
            fer_model_release(model);
        }
}

static void test_a_shape_function_in_a_graph(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[3], turn: i64[]) {\n"
                                  "  y = %s(x, turn)\n"
                                  "  return y }",
                                  "measures");
    fer_tensor *y = NULL;
    ASSERT_OK(&error, run_model(model, 0, &y, &error));
    assert_floats(y, FLOATS(0, 1, 2));
    fer_tensor_release(y);
    assert_fault(run_model(model, 1, &y, &error),
                 "t.fer:4:7: graph 'g': measures: operand 'x' is not SHAPE's to write, but the "
                 "SHAPE wrote element [0] (checked.c:108)");
    fer_model_release(model);
}

static void test_what_a_graph_changes_in_place(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[3], inout total: f32[3]) {\n"
                                  "  a, b = %s(x, total)\n"
                                  "  accumulate(total, a)\n"
                                  "  return a, b }",
                                  "adds_up");
    fer_tensor *inputs[] = {make_counting(FER_F32, 3), make_ones(FER_F32, 1, THREE)};
    fer_tensor *outputs[2];
    ASSERT_OK(&error, fer_model_run(model, inputs, 2, outputs, 2, &error));
    assert_floats(outputs[0], FLOATS(0, 1, 3));
    assert_floats(outputs[1], FLOATS(3));
    assert_floats(inputs[1], FLOATS(1, 3, 6));
    release_tensors(2, outputs);
    release_tensors(2, inputs);
    fer_model_release(model);
}

/* --- Switching -------------------------------------------------------------------------------- */

static void test_it_is_switched_for_what_starts_from_then_on(void **state)
{
    (void)state;
    fer_op *op = declare("forgets");
    fer_model *model = make_model(PLACES[0].program, "forgets");
    fer_tensor *operands[] = {make_counting(FER_F32, 3), make_scalar(FER_I64, 1)};
    for (int i = 0; i < 4; i++) {
        const bool checks = i % 2 == 0;
        fer_tensor *y = NULL;
        fer_tensor *z = NULL;
        assert_true(fer_set_checking(checks));
        assert_int_equal(fer_set_checking(checks), checks);
        fer_status called = fer_call(op, operands, 2, &y, 1, &error);
        fer_error_clear(&error);
        fer_status ran = run_model(model, 1, &z, &error);
        fer_error_clear(&error);
        assert_int_equal(called, checks ? FER_RUNTIME_ERROR : FER_OK);
        assert_int_equal(ran, checks ? FER_RUNTIME_ERROR : FER_OK);
        fer_tensor_release(y);
        fer_tensor_release(z);
        fer_set_checking(true);
    }
    /* It leaves the number of threads alone, and that leaves it. */
    ASSERT_OK(&error, fer_set_num_threads(3, &error));
    assert_int_equal(fer_num_threads(), 3);
    fer_set_checking(false);
    assert_int_equal(fer_num_threads(), 3);
    ASSERT_OK(&error, fer_set_num_threads(0, &error));
    assert_false(fer_set_checking(true));
    release_tensors(2, operands);
    fer_model_release(model);
    fer_op_release(op);
}

/* What the words of the variable come to, in processes that have not read it yet. */
static void test_the_environment_says_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *refusal;
        bool checks;
    } CASES[] = {{"1", NULL, true},
                 {"0", NULL, false},
                 {"", NULL, false},
                 {"on", "FERRULE_CHECK is 'on'; the choices are '0', '1'", false},
                 {"10", "FERRULE_CHECK is '10'; the choices are '0', '1'", false}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char *const argv[] = {(char *)program, (char *)"environment",
                              (char *)(CASES[i].refusal == NULL ? "" : CASES[i].refusal),
                              (char *)(CASES[i].checks ? "1" : "0"), NULL};
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setenv("FERRULE_CHECK", CASES[i].text, 1);
            execv(program, argv);
            _exit(99);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* The other process of that test. */
static int check_environment(const char *refusal, bool checks)
{
    fer_op *op = NULL;
    fer_status status =
        fer_declare(&(fer_declaration){.kernel = "forgets", .packages = {PACKAGE}}, &op, &error);
    const bool is_right = strcmp(status == FER_OK ? "" : error.message, refusal) == 0 &&
                          status == (*refusal == '\0' ? FER_OK : FER_VALUE_ERROR);
    fer_op_release(op);
    fer_error_clear(&error);
    return is_right && fer_set_checking(false) == checks ? 0 : 1;
}

/* --- Threads and processes -------------------------------------------------------------------- */

enum { NUM_THREADS = 6, NUM_TURNS = 40 };

typedef struct worker {
    pthread_t thread;
    const fer_op *op;
    const fer_model *model;
    bool is_faulty;
    size_t num_right;
} worker;

/* Each thread's faults are its own. */
static void *work(void *context)
{
    worker *self = context;
    const int64_t turn = self->is_faulty;
    for (int i = 0; i < NUM_TURNS; i++) {
        fer_error own = FER_ERROR_INIT;
        fer_tensor *operands[2] = {NULL, NULL};
        fer_tensor *y = NULL;
        fer_tensor *z = NULL;
        bool is_right =
            fer_tensor_ones(FER_F32, 1, THREE, host, &operands[0], &own) == FER_OK &&
            fer_tensor_copy_from(FER_I64, 0, NULL, &turn, host, &operands[1], &own) == FER_OK &&
            (fer_call(self->op, operands, 2, &y, 1, &own) == FER_OK) != self->is_faulty;
        fer_error_clear(&own);
        is_right = is_right && (fer_model_run(self->model, operands, 2, &z, 1, &own) == FER_OK) !=
                                   self->is_faulty;
        self->num_right += is_right;
        fer_error_clear(&own);
        fer_tensor_release(y);
        fer_tensor_release(z);
        fer_tensor_release(operands[0]);
        fer_tensor_release(operands[1]);
    }
    return NULL;
}

static void test_threads_call_at_once(void **state)
{
    (void)state;
    fer_op *op = declare("indexes_outside"); /* compiled checked by whoever is first */
    fer_model *model = make_model(PLACES[2].program, "indexes_outside");
    worker workers[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; i++) {
        workers[i] = (worker){.op = op, .model = model, .is_faulty = i % 2 == 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < NUM_THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].num_right, NUM_TURNS);
    }
    fer_model_release(model);
    fer_op_release(op);
}

static void test_a_forked_child_checks_too(void **state)
{
    (void)state;
    fer_op *op = declare("writes_behind");
    fer_tensor *operands[] = {make_counting(FER_F32, 3), make_scalar(FER_I64, 1)};
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fer_tensor *y = NULL;
        fer_status status = fer_call(op, operands, 2, &y, 1, &error);
        _exit(status == FER_RUNTIME_ERROR && strcmp(error.message, FAULTS[1].message) == 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    release_tensors(2, operands);
    fer_op_release(op);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 4)
        return check_environment(argv[2], argv[3][0] == '1');
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fault_of_a_call_is_told),
        cmocka_unit_test(test_strided_operands),
        cmocka_unit_test(test_an_inout_operand_may_be_written_and_no_further),
        cmocka_unit_test(test_what_a_shape_function_writes),
        cmocka_unit_test(test_an_empty_tensor_has_no_element),
        cmocka_unit_test(test_any_bytes_may_be_a_result),
        cmocka_unit_test(test_what_changes_something_runs_once),
        cmocka_unit_test(test_all_that_a_kernel_may_do),
        cmocka_unit_test(test_operands_that_are_shared),
        cmocka_unit_test(test_each_fault_is_told_from_every_place_of_a_graph),
        cmocka_unit_test(test_a_shape_function_in_a_graph),
        cmocka_unit_test(test_what_a_graph_changes_in_place),
        cmocka_unit_test(test_it_is_switched_for_what_starts_from_then_on),
        cmocka_unit_test(test_the_environment_says_it),
        cmocka_unit_test(test_threads_call_at_once),
        cmocka_unit_test(test_a_forked_child_checks_too),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
