/* Running graphs: values, sizes, outputs, refusals. */
#include "testing_graph.h"

#include "model/interpret.h"

static void a_chain_runs_for_every_size(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n // 2] {\n"
                                  "  a = twice(x)\n"
                                  "  b = every(a)\n"
                                  "  c = add(b, b)\n"
                                  "  return c }");
    for (int repeat = 0; repeat < 2; repeat++) {
        fer_tensor *y = run_one(model, FLOATS(1, 2, 3, 4));
        ASSERT_FLOATS(y, 4, 12);
        fer_tensor_release(y);
    }
    fer_tensor *y = run_one(model, FLOATS(5, 6, 7, 8, 9, 10, 11));
    ASSERT_FLOATS(y, 20, 28, 36);
    fer_tensor_release(y);
    y = run_one(model, FLOATS(7));
    assert_int_equal(fer_tensor_num_elements(y), 0);
    fer_tensor_release(y);
    y = run_one(model, FLOATS(1, 2));
    ASSERT_FLOATS(y, 4);
    fer_tensor_release(y);
    fer_model_release(model);
}

/* Many values whose lives overlap in all ways: no kernel may find its operands overwritten. */
static void blocks_are_reused_only_after_the_last_use(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> (f32[n], f32[n]) {\n"
                                  "  a = twice(x)\n"
                                  "  b = twice(a)\n"
                                  "  c = twice(b)\n"
                                  "  unused = twice(c)\n"
                                  "  d = add(a, c)\n"
                                  "  e = add(d, b)\n"
                                  "  f = twice(e)\n"
                                  "  h = add(f, a)\n"
                                  "  i = add(h, e)\n"
                                  "  j = add(i, f)\n"
                                  "  return j, e }");
    fer_tensor *x = FLOATS(1, 10);
    fer_tensor *outputs[2];
    for (int repeat = 0; repeat < 3; repeat++) {
        run(model, &x, 1, outputs, 2);
        /* a 2, b 4, c 8, d 10, e 14, f 28, h 30, i 44, j 72 */
        ASSERT_FLOATS(outputs[0], 72, 720);
        ASSERT_FLOATS(outputs[1], 14, 140);
        fer_tensor_release(outputs[0]);
        fer_tensor_release(outputs[1]);
    }
    fer_tensor_release(x);
    fer_model_release(model);
}

static void outputs_of_one_run_outlive_the_next(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n] { y = twice(x) return y }");
    fer_tensor *first = run_one(model, FLOATS(1, 2));
    fer_tensor *second = run_one(model, FLOATS(3, 4));
    fer_model_release(model);
    ASSERT_FLOATS(first, 2, 4);
    ASSERT_FLOATS(second, 6, 8);
    fer_tensor_release(first);
    fer_tensor_release(second);
}

static void each_output_is_its_own_tensor(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  c = constant f32[2] [8, 9]\n"
                                  "  y = twice(x)\n"
                                  "  r = rebind y [n]\n"
                                  "  s = rebind x [n]\n"
                                  "  z = twice(y)\n"
                                  "  return x, c, y, y, c, z, r, s }");
    fer_tensor *x = FLOATS(1, 2);
    fer_tensor *outputs[8];
    run(model, &x, 1, outputs, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_ptr_not_equal(fer_tensor_data(outputs[i]), fer_tensor_data(x));
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(fer_tensor_data(outputs[i]), fer_tensor_data(outputs[j]));
    }
    ASSERT_FLOATS(outputs[0], 1, 2);
    ASSERT_FLOATS(outputs[1], 8, 9);
    ASSERT_FLOATS(outputs[2], 2, 4);
    ASSERT_FLOATS(outputs[3], 2, 4);
    ASSERT_FLOATS(outputs[4], 8, 9);
    ASSERT_FLOATS(outputs[5], 4, 8);
    ASSERT_FLOATS(outputs[6], 2, 4);
    ASSERT_FLOATS(outputs[7], 1, 2);
    for (size_t i = 0; i < 8; i++) {
        memset(fer_tensor_data(outputs[i]), 0, fer_tensor_num_bytes(outputs[i]));
        fer_tensor_release(outputs[i]);
    }
    run(model, &x, 1, outputs, 8); /* what the caller did to its tensors changes nothing */
    ASSERT_FLOATS(outputs[0], 1, 2);
    ASSERT_FLOATS(outputs[1], 8, 9);
    ASSERT_FLOATS(outputs[3], 2, 4);
    for (size_t i = 0; i < 8; i++)
        fer_tensor_release(outputs[i]);
    fer_tensor_release(x);
    fer_model_release(model);
}

static void several_results_and_numbers(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> (f32[n - n // 2], f32[n // 2]) {\n"
                                  "  low, high = halves(x)\n"
                                  "  a = scale(high, by = 10)\n"
                                  "  b = choose(low, true)\n"
                                  "  return a, b }");
    fer_tensor *x = FLOATS(1, 2, 3, 4, 5);
    fer_tensor *outputs[2];
    run(model, &x, 1, outputs, 2);
    ASSERT_FLOATS(outputs[0], 30, 40, 50);
    ASSERT_FLOATS(outputs[1], -1, -2);
    fer_tensor_release(outputs[0]);
    fer_tensor_release(outputs[1]);
    fer_tensor_release(x);
    fer_model_release(model);
}

static void several_dtypes_in_one_graph(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph g(x: i32[n], y: f64[n]) -> (i32[n], f64[n]) {\n"
                                  "  a = add(x, x) b = add(y, y) return a, b }");
    int64_t extent = 2;
    fer_tensor *inputs[2], *outputs[2];
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I32, 1, &extent, (int32_t[]){1, -2}, (fer_device){0},
                                           &inputs[0], &error));
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F64, 1, &extent, (double[]){0.5, 3}, (fer_device){0},
                                           &inputs[1], &error));
    run(model, inputs, 2, outputs, 2);
    const int32_t *ints = fer_tensor_const_data(outputs[0]);
    const double *doubles = fer_tensor_const_data(outputs[1]);
    assert_int_equal(ints[1], -4);
    assert_true(doubles[0] == 1.0 && doubles[1] == 6.0);
    for (size_t i = 0; i < 2; i++) {
        fer_tensor_release(inputs[i]);
        fer_tensor_release(outputs[i]);
    }
    fer_model_release(model);
}

static void the_staged_graph_gives_what_calls_give(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_op *twice = declare_op("twice(x: f32[*s]) -> f32[*s]");
    fer_op *every = declare_op("every<g: int = 3>(x: f32[n]) -> f32[n // g]");
    fer_value *value = stage_one(graph, twice, fer_graph_input_at(graph, 0), NULL);
    output(graph, stage_one(graph, every, value, NULL), NULL);
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(graph, "interpret", &model, &error));
    fer_module_release(module); /* the model keeps what it needs */

    fer_tensor *x = FLOATS(1, 2, 3, 4, 5, 6, 7);
    fer_tensor *doubled = NULL, *called = NULL, *staged = NULL;
    ASSERT_OK(&error, fer_call(twice, &x, 1, &doubled, 1, &error));
    ASSERT_OK(&error, fer_call(every, &doubled, 1, &called, 1, &error));
    run(model, &x, 1, &staged, 1);
    ASSERT_FLOATS(called, 2, 8);
    ASSERT_FLOATS(staged, 2, 8);
    fer_tensor_release(x);
    fer_tensor_release(doubled);
    fer_tensor_release(called);
    fer_tensor_release(staged);
    fer_op_release(twice);
    fer_op_release(every);
    fer_model_release(model);
}

/* --- Checks before anything runs -------------------------------------------------------------- */

static fer_tensor *make_zeros(fer_dtype dtype, size_t rank, int64_t first, int64_t second)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    int64_t shape[] = {first, second};
    ASSERT_OK(&error, fer_tensor_zeros(dtype, rank, shape, (fer_device){0}, &tensor, &error));
    return tensor;
}

/* A refused run: the message whole, and what was wanted and came. */
static void check_refusal(fer_model *model, fer_tensor *const *inputs, size_t num_inputs,
                          size_t num_outputs, const char *message, const char *expected,
                          const char *actual)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *outputs[2];
    assert_int_not_equal(fer_model_run(model, inputs, num_inputs, outputs, num_outputs, &error),
                         FER_OK);
    assert_string_equal(error.message, message);
    assert_string_equal(error.expected, expected);
    assert_string_equal(error.actual, actual);
    fer_error_clear(&error);
}

static void refusals_say_what_was_wanted(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n, 4]) -> f32[n, 4] { z = twice(x) return z }");
    fer_tensor *inputs[] = {make_zeros(FER_F32, 2, 3, 4), make_zeros(FER_F64, 2, 3, 4)};
    check_refusal(model, inputs, 2, 1, "graph 'g': expected 1 input, got 2", "1", "2");
    check_refusal(model, inputs, 1, 2, "graph 'g': expected room for 1 output, got 2", "1", "2");
    check_refusal(model, &inputs[1], 1, 1,
                  "graph 'g': input 'x' has dtype f64, but the graph takes dtype f32", "f32",
                  "f64");
    fer_tensor *flat = FLOATS(1, 2);
    check_refusal(model, &flat, 1, 1,
                  "graph 'g': input 'x' has rank 1, but the graph takes rank 2, f32[n, 4]", "2",
                  "1");
    fer_tensor_release(flat);
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[1]);
    fer_model_release(model);
}

static void inputs_are_checked_before_anything_runs(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph g(x: f32[n, 4], y: f32[n, k]) -> f32[n, 4] {\n"
                                  "  z = twice(x) return z }");
    fer_tensor *good = make_zeros(FER_F32, 2, 3, 4);
    fer_tensor *outputs[2] = {good, good};

    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_model_run(model, &good, 1, outputs, 1, &error), "'g'",
                 "2 inputs", "1");
    assert_null(outputs[0]);
    fer_tensor *inputs[] = {good, good};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_model_run(model, inputs, 2, outputs, 2, &error), "'g'",
                 "1 output", "2");
    inputs[1] = NULL;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_model_run(model, inputs, 2, outputs, 1, &error), "'g'",
                 "'y'", "NULL");

    const struct {
        fer_tensor *x;
        fer_tensor *y;
        const char *words[6];
    } cases[] = {
        {make_zeros(FER_F64, 2, 3, 4), make_zeros(FER_F32, 2, 3, 4), {"'g'", "'x'", "f64", "f32"}},
        {make_zeros(FER_F32, 1, 3, 0), make_zeros(FER_F32, 2, 3, 4), {"'g'", "'x'", "rank 1", "2"}},
        {make_zeros(FER_F32, 2, 3, 5),
         make_zeros(FER_F32, 2, 3, 4),
         {"'g'", "'x'", "axis 1", "5", "4"}},
        {make_zeros(FER_F32, 2, 3, 4),
         make_zeros(FER_F32, 2, 2, 9),
         {"'g'", "'y'", "axis 0 is 2", "n is 3", "'x' axis 0"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fer_tensor *given[] = {cases[i].x, cases[i].y};
        const char *const *w = cases[i].words;
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, given, 2, outputs, 1, &error),
                     w[0], w[1], w[2], w[3], w[4], w[4] == NULL ? NULL : w[5]);
        assert_null(outputs[0]);
        fer_tensor_release(cases[i].x);
        fer_tensor_release(cases[i].y);
    }
    inputs[1] = good;
    run(model, inputs, 2, outputs, 1); /* and nothing of it stays behind */
    fer_tensor_release(outputs[0]);
    fer_tensor_release(good);
    fer_model_release(model);
}

static void a_run_after_a_refused_one_is_whole(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n // 2] { y = pairs(x) return y }");
    fer_tensor *y = run_one(model, FLOATS(1, 2, 3, 4));
    ASSERT_FLOATS(y, 3, 7);
    fer_tensor_release(y);
    for (int repeat = 0; repeat < 2; repeat++)
        ASSERT_RUN_FAILS(FER_VALUE_ERROR, model, FLOATS(1, 2, 3), "graph 'g': pairs:", "n % 2 == 0",
                         "3");
    y = run_one(model, FLOATS(5, 6));
    ASSERT_FLOATS(y, 11);
    fer_tensor_release(y);
    fer_model_release(model);
}

/* A later step's condition is decided before the first step runs. */
static void sizes_are_decided_before_anything_runs(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph g(x: f32[n], counter: i64[]) -> (f32[n - 1], f32[]) {\n"
                                  "  z = count_call(counter)\n"
                                  "  y = differences(x)\n"
                                  "  return y, z }");
    long count = 0;
    int64_t address = (int64_t)(intptr_t)&count;
    fer_tensor *inputs[2], *outputs[2] = {NULL, NULL};
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 0, NULL, &address, (fer_device){0}, &inputs[1],
                                           &error));
    inputs[0] = make_zeros(FER_F32, 1, 0, 0);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, outputs, 2, &error),
                 "graph 'g': differences:", "n - 1", "-1");
    assert_int_equal(count, 0);
    fer_tensor_release(inputs[0]);
    inputs[0] = FLOATS(1, 4);
    run(model, inputs, 2, outputs, 2);
    ASSERT_FLOATS(outputs[0], 3);
    assert_int_equal(count, 1);
    for (size_t i = 0; i < 2; i++) {
        fer_tensor_release(inputs[i]);
        fer_tensor_release(outputs[i]);
    }
    fer_model_release(model);
}

static void a_kernel_that_fails_names_graph_and_op(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n] {\n"
                                  "  y = twice(x)\n"
                                  "  z = refuse_negative(y)\n"
                                  "  return z }");
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, -2),
                     "graph 'g': refuse_negative:", "element 1 is -4, below 0");
    fer_tensor *y = run_one(model, FLOATS(1, 2));
    ASSERT_FLOATS(y, 2, 4);
    fer_tensor_release(y);
    fer_model_release(model);
}

static void rebind_is_asserted(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[4] {\n"
                                  "  unused = rebind x [2 * (n // 2)]\n"
                                  "  y = rebind x [4]\n"
                                  "  z = twice(y)\n"
                                  "  return z }");
    fer_tensor *y = run_one(model, FLOATS(1, 2, 3, 4));
    ASSERT_FLOATS(y, 2, 4, 6, 8);
    fer_tensor_release(y);
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, 2), "'g'", "rebind", "f32[4]", "axis 0",
                     "2");
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, 2, 3), "'g'", "rebind", "2 * (n // 2)",
                     "axis 0 is 3", "2");
    fer_model_release(model);

    model =
        make_model("graph g(x: f32[n]) -> f32[k] { y = rebind x [k] z = rebind y [n] return y }");
    y = run_one(model, FLOATS(1));
    ASSERT_FLOATS(y, 1);
    fer_tensor_release(y);
    fer_model_release(model);
}

static void a_repeated_symbol_in_one_input(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n, n]) -> f32[n, n] { y = twice(x) return y }");
    ASSERT_RUN_FAILS(FER_VALUE_ERROR, model, make_zeros(FER_F32, 2, 2, 3), "'g'", "'x'",
                     "axis 1 is 3", "n is 2", "axis 0");
    fer_tensor_release(run_one(model, make_zeros(FER_F32, 2, 2, 2)));
    fer_model_release(model);
}

/* Cannot be staged, and no model is made of it: the interpreter itself runs a damaged graph. */
static void a_result_that_is_not_as_staged_is_an_error(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("use \"kernels/graph\"\n"
                                      "graph g(x: f32[n]) { y = every(x) return y }");
    const fer_graph *graph = fer_module_graph_at(module, 0);
    fer_value *result = graph->body.nodes[0]->results[0];
    fer_type_release(result->type);
    result->type = make_type("f32[n]");
    fer_model *model = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_create(graph, NULL, &model, &error),
                 "graph 'g': step 0 gives f32[n // 2], but the value is typed f32[n]");
    fer_schedule schedule;
    fer_run_state *run_state = NULL;
    ASSERT_OK(&error, fer_schedule_create(graph, &schedule, &error));
    ASSERT_OK(&error, fer_run_state_create(&schedule, &run_state, &error));
    fer_tensor *x = FLOATS(1, 2);
    fer_tensor *y = NULL;
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_interpret(run_state, &x, 1, &y, 1, &error),
                 "graph 'g': every:", "result 0", "f32[n]");
    assert_null(y);
    fer_tensor_release(x);
    fer_run_state_destroy(run_state);
    fer_schedule_clear(&schedule);
    fer_module_release(module);
}

/* --- Models ----------------------------------------------------------------------------------- */

static void executors_are_chosen_by_name(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("graph g(x: f32[n]) -> f32[n] { return x }");
    const fer_graph *graph = fer_module_graph_at(module, 0);
    fer_model *model = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_create(graph, "vectorise", &model, &error),
                 "'vectorise'", "'interpret'");
    assert_null(model);
    setenv("FERRULE_EXECUTOR", "fastest", 1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_create(graph, NULL, &model, &error),
                 "FERRULE_EXECUTOR", "'fastest'", "'interpret'");
    ASSERT_OK(&error, fer_model_create(graph, "interpret", &model, &error)); /* a call rules */
    fer_model_release(model);
    setenv("FERRULE_EXECUTOR", "interpret", 1);
    ASSERT_OK(&error, fer_model_create(graph, NULL, &model, &error));
    fer_model_release(model);
    unsetenv("FERRULE_EXECUTOR");
    fer_module_release(module);
}

static void graphs_that_cannot_run_are_refused(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_model *model = NULL;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_model_create(fer_module_find(module, "none"), NULL, &model, &error), "NULL",
                 "fer_module_find");
    fer_graph *copy = NULL;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_copy(module, NULL, "copy", &copy, &error),
                 "NULL", "fer_module_find");
    assert_null(copy);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_create(graph, NULL, &model, &error), "'g'",
                 "outputs");
    fer_op *relu = make_op("relu(x: f32[n]) -> f32[n]");
    output(graph, stage_one(graph, relu, fer_graph_input_at(graph, 0), NULL), NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_create(graph, NULL, &model, &error), "'g'",
                 "relu", "kernel");
    fer_graph *idle = make_graph(module, "idle", TYPES("f32[n]"));
    ASSERT_OK(&error, fer_graph_output(idle, NULL, 0, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_create(idle, NULL, &model, &error), "'idle'",
                 "no outputs");
    assert_null(model);
    fer_op_release(relu);
    fer_module_release(module);
}

static void what_ops_lack_is_counted_once_for_each_choice_of_dtypes(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module =
        read_program("use \"kernels/graph\"\n"
                     "graph inner(x: f64[n]) -> f64[n] { y = add(x, x) return y }\n"
                     "graph g(x: f32[n], y: f64[n], z: i32[n], p: bool[]) {\n"
                     "  a = add(x, x) b = add(a, a) c = call inner(y) d = call inner(c)\n"
                     "  e = if p { f = add(z, z) yield f } else { yield z }\n"
                     "  h = twice(b)\n"
                     "  return h, d, e }");
    const fer_graph *inner = fer_module_find(module, "inner");
    const fer_graph *graph = fer_module_find(module, "g");
    assert_int_equal(fer_graph_num_lacking(inner), 1);
    assert_int_equal(fer_graph_num_lacking(graph), 2); /* f32 is compiled by the declaration */
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(inner, NULL, &model, &error));
    fer_model_release(model);
    assert_int_equal(fer_graph_num_lacking(inner), 0);
    assert_int_equal(fer_graph_num_lacking(graph), 1);
    ASSERT_OK(&error, fer_model_create(graph, NULL, &model, &error));
    fer_model_release(model);
    assert_int_equal(fer_graph_num_lacking(graph), 0);
    fer_module_release(module);
}

static void a_model_can_be_shared(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n] { y = twice(x) return y }");
    fer_model *other = fer_model_retain(model);
    fer_model_release(model);
    fer_tensor *y = run_one(other, FLOATS(1));
    ASSERT_FLOATS(y, 2);
    fer_tensor_release(y);
    fer_model_release(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_runs_for_every_size),
        cmocka_unit_test(blocks_are_reused_only_after_the_last_use),
        cmocka_unit_test(outputs_of_one_run_outlive_the_next),
        cmocka_unit_test(each_output_is_its_own_tensor),
        cmocka_unit_test(several_results_and_numbers),
        cmocka_unit_test(several_dtypes_in_one_graph),
        cmocka_unit_test(the_staged_graph_gives_what_calls_give),
        cmocka_unit_test(refusals_say_what_was_wanted),
        cmocka_unit_test(inputs_are_checked_before_anything_runs),
        cmocka_unit_test(a_run_after_a_refused_one_is_whole),
        cmocka_unit_test(sizes_are_decided_before_anything_runs),
        cmocka_unit_test(a_kernel_that_fails_names_graph_and_op),
        cmocka_unit_test(rebind_is_asserted),
        cmocka_unit_test(a_repeated_symbol_in_one_input),
        cmocka_unit_test(a_result_that_is_not_as_staged_is_an_error),
        cmocka_unit_test(executors_are_chosen_by_name),
        cmocka_unit_test(graphs_that_cannot_run_are_refused),
        cmocka_unit_test(what_ops_lack_is_counted_once_for_each_choice_of_dtypes),
        cmocka_unit_test(a_model_can_be_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
