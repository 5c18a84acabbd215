/* Buffers: inputs of a graph that are declared inout. What may change is what a graph's line says,
 * and each step sees what stood there when it ran. */
#include "testing_graph.h"

/* --- Declaring -------------------------------------------------------------------------------- */

static fer_module *parse_good(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, parse_program(text, &module, &error));
    return module;
}

static void the_word_stands_before_an_input(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module =
        parse_good("graph g(inout a: i64[2], inout \"b c\": f32[n], inout: f32[n],\n"
                   "  inout inout_: f32[], d: f32[n]) { return }");
    const fer_graph *graph = fer_module_find(module, "g");
    static const bool EXPECTED[] = {true, true, false, true, false};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(fer_value_is_inout(fer_graph_input_at(graph, i)), EXPECTED[i]);
    char *text = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_string_equal(text, "graph g(inout a: i64[2], inout \"b c\": f32[n], inout: f32[n], "
                              "inout inout_: f32[], d: f32[n]) -> () {\n  return\n}\n");
    fer_module *again = parse_good(text);
    assert_true(fer_module_equal(module, again));
    free(text);
    fer_module_release(again);
    fer_module_release(module);
}

static void buffers_are_part_of_what_a_graph_is(void **state)
{
    (void)state;
    fer_module *buffer = parse_good("graph g(inout a: f32[n]) { return a }");
    fer_module *plain = parse_good("graph g(a: f32[n]) { return a }");
    assert_false(fer_module_equal(buffer, plain));
    fer_module_release(buffer);
    fer_module_release(plain);
}

static void a_view_of_a_buffer_is_one(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("inout f32[n]", "f32[n]"));
    fer_dim *dim = make_dim("n");
    for (size_t i = 0; i < 2; i++) {
        fer_value *value = fer_graph_input_at(graph, i);
        fer_value *rebound = NULL;
        ASSERT_OK(&error, fer_graph_rebind(graph, value, (const fer_dim *const[]){dim}, 1, &rebound,
                                           &error));
        assert_int_equal(fer_value_is_inout(rebound), i == 0);
        ASSERT_OK(&error, fer_graph_reshape(graph, value, (const fer_dim *const[]){dim}, 1,
                                            &rebound, &error));
        assert_int_equal(fer_value_is_inout(rebound), i == 0);
    }
    fer_dim_release(dim);
    fer_module_release(module);
}

static void other_inputs_cannot_change(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *callee = make_graph(module, "step", TYPES("inout f32[n]", "f32[n]"));
    ASSERT_OK(&error, fer_graph_output(callee, NULL, 0, &error));
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]", "f32[n]", "bool[]"));
    fer_op *accumulate = make_op("accumulate(inout total: f32[n], x: f32[n]) -> ()");
    fer_value *inputs[] = {fer_graph_input_at(graph, 0), fer_graph_input_at(graph, 1)};
    assert_int_equal(fer_graph_stage(graph, accumulate, inputs, 2, NULL, 0, &error),
                     FER_VALUE_ERROR);
    assert_string_equal(error.message,
                        "accumulate: operand 'total' is inout, but the graph's input 'a' is not "
                        "declared so; write 'inout a: f32[n]'");
    assert_string_equal(error.op, "accumulate");
    assert_string_equal(error.operand, "total");
    fer_error_clear(&error);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_call(graph, callee, inputs, 2, NULL, 0, &error),
                 "graph 'g': call of 'step': input 'a' is inout, but the graph's input 'a' is not "
                 "declared so; write 'inout a: f32[n]'");
    assert_int_equal(fer_graph_num_ops(graph), 0);
    ASSERT_OK(&error, fer_graph_if(graph, fer_graph_input_at(graph, 2), &error));
    fer_dim *dim = make_dim("n");
    ASSERT_OK(&error, fer_graph_rebind(graph, inputs[0], (const fer_dim *const[]){dim}, 1,
                                       &inputs[0], &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(graph, accumulate, inputs, 2, NULL, 0, &error),
                 "write 'inout a: f32[n]'");
    fer_dim_release(dim);
    fer_op_release(accumulate);
    fer_module_release(module);
}

static void the_message_says_what_to_write(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 parse_program("op put(inout x: f32[*s]) -> ()\n"
                               "graph g(\"a b\": f32[n, 3]) { put(\"a b\") return }",
                               &module, &error),
                 "t.fer:2:29: graph 'g': put: operand 'x' is inout",
                 "write 'inout \"a b\": f32[n, 3]'");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 parse_program("op put(inout x: f32[*s]) -> ()\n"
                               "graph g(x: f32[n]) { y = reshape x [n, 1] put(y) return }",
                               &module, &error),
                 "write 'inout x: f32[n]'");
}

/* What is made in a graph is its own to change: a result, a constant, what a loop carries. */
static void values_made_inside_may_change(void **state)
{
    (void)state;
    fer_module *module =
        parse_good("op put(inout x: f32[*s]) -> ()\n"
                   "op relu(x: f32[n]) -> f32[n]\n"
                   "graph f(inout b: f32[2]) { put(b) return }\n"
                   "graph g(x: f32[2], c: bool[]) {\n"
                   "  y = relu(x) put(y) k = constant f32[2] [1, 2] put(k) call f(k)\n"
                   "  z = if c { yield x } else { yield k } put(z)\n"
                   "  s = while t = x { yield c } do { put(t) call f(t) yield t } put(s)\n"
                   "  return }");
    assert_false(fer_value_is_inout(fer_graph_input_at(fer_module_find(module, "g"), 0)));
    fer_module_release(module);
}

/* --- Running ---------------------------------------------------------------------------------- */

static fer_model *make_standard(const char *text)
{
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program, "use \"std\"\n%s", text);
    fer_model *model = make_model(fer_text_string(&program));
    fer_text_free(&program);
    return model;
}

/* What may change is checked, whether or not it does. */
static void a_buffer_is_writable_and_nothing_else(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model =
        make_standard("graph step(inout b: f32[n], x: f32[m]) { y = load(b) return y }");
    float memory[] = {1, 2, 3};
    fer_tensor *inputs[2] = {NULL}, *y = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, &(int64_t){3}, memory, true, (fer_device){0},
                                        NULL, NULL, &inputs[0], &error));
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, &(int64_t){1}, memory + 2, false,
                                        (fer_device){0}, NULL, NULL, &inputs[1], &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, &y, 1, &error),
                 "graph 'step': input 'b' is inout, but the tensor is read-only");
    fer_tensor_release(inputs[0]);
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, &(int64_t){3}, memory, false, (fer_device){0},
                                        NULL, NULL, &inputs[0], &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, &y, 1, &error),
                 "graph 'step': input 'b' is inout, but its memory overlaps input 'x'");
    assert_null(y);
    release_all(inputs, 2);
    fer_model_release(model);
}

static void a_reader_before_a_writer_sees_what_stood_there(void **state)
{
    (void)state;
    fer_model *model = make_standard("graph g(inout b: f32[n], x: f32[n]) {\n"
                                     "  before = load(b) twofold = twice(b) store(b, x)\n"
                                     "  after = load(b) fourfold = twice(b)\n"
                                     "  return before, twofold, after, fourfold }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(10, 20)};
    fer_tensor *outputs[4];
    run(model, inputs, 2, outputs, 4);
    ASSERT_FLOATS(outputs[0], 1, 2);
    ASSERT_FLOATS(outputs[1], 2, 4);
    ASSERT_FLOATS(outputs[2], 10, 20);
    ASSERT_FLOATS(outputs[3], 20, 40);
    ASSERT_FLOATS(inputs[0], 10, 20);
    release_all(outputs, 4);
    release_all(inputs, 2);
    fer_model_release(model);
}

/* Each order of these steps gives other numbers. */
static void writes_come_in_their_order(void **state)
{
    (void)state;
    fer_model *model = make_standard(
        "graph g(inout b: f32[1], c: bool[], k: i64[]) {\n"
        "  one = constant f32[1] [1] two = constant f32[1] [2]\n"
        "  if c { store(b, one) accumulate(b, two) } else { store(b, two) store(b, one) }\n"
        "  i = while j = k { store(two, one) go = is_positive(j) yield go } do {\n"
        "    accumulate(b, two) d = twice(b) store(b, d) next = count_down(j) yield next }\n"
        "  return }");
    static const float EXPECTED[2][3] = {{1, 4, 22}, {3, 8, 38}}; /* after 0, 1 and 3 turns */
    static const int64_t TURNS[] = {0, 1, 3};
    for (size_t choice = 0; choice < 2; choice++)
        for (size_t i = 0; i < 3; i++) {
            fer_tensor *inputs[] = {FLOATS(100), make_bool(choice == 1), make_int(TURNS[i])};
            run(model, inputs, 3, NULL, 0);
            ASSERT_FLOATS(inputs[0], EXPECTED[choice][i]);
            release_all(inputs, 3);
        }
    fer_model_release(model);
}

static void a_writer_runs_though_its_result_is_unused(void **state)
{
    (void)state;
    fer_model *model = make_standard("graph g(inout b: f32[n], x: f32[n], y: f32[n], c: bool[]) {\n"
                                     "  a = replace(b, x) if c { unused = replace(b, y) }\n"
                                     "  last = replace(b, x) return last }");
    for (int choice = 0; choice < 2; choice++) {
        fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(3, 4), FLOATS(5, 6), make_bool(choice == 1)};
        fer_tensor *last = NULL;
        run(model, inputs, 4, &last, 1);
        if (choice == 1)
            ASSERT_FLOATS(last, 5, 6);
        else
            ASSERT_FLOATS(last, 3, 4);
        ASSERT_FLOATS(inputs[0], 3, 4);
        fer_tensor_release(last);
        release_all(inputs, 4);
    }
    fer_model_release(model);
}

/* A buffer, a constant and the same value twice: each output is memory of its own, as it is in the
 * end. */
static void outputs_are_tensors_of_their_own(void **state)
{
    (void)state;
    fer_model *model = make_standard("graph g(inout b: f32[n], x: f32[n]) {\n"
                                     "  view = rebind b [n] k = constant f32[1] [7]\n"
                                     "  y = load(b) z = rebind y [n] store(b, x)\n"
                                     "  return b, b, view, x, k, k, y, y, z }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(3, 4)};
    enum { NUM_OUTPUTS = 9 };
    fer_tensor *outputs[NUM_OUTPUTS];
    for (int repeat = 0; repeat < 2; repeat++) {
        run(model, inputs, 2, outputs, NUM_OUTPUTS);
        for (size_t i = 0; i < 4; i++)
            ASSERT_FLOATS(outputs[i], 3, 4);
        ASSERT_FLOATS(outputs[4], 7);
        ASSERT_FLOATS(outputs[5], 7);
        for (size_t i = 6; i < NUM_OUTPUTS; i++)
            ASSERT_FLOATS(outputs[i], repeat == 0 ? 1 : 3, repeat == 0 ? 2 : 4);
        for (size_t i = 0; i < NUM_OUTPUTS; i++) {
            for (size_t j = 0; j < 2; j++)
                assert_false(fer_tensors_overlap(outputs[i], inputs[j]));
            for (size_t j = 0; j < i; j++)
                assert_false(fer_tensors_overlap(outputs[i], outputs[j]));
        }
        release_all(outputs, NUM_OUTPUTS);
    }
    release_all(inputs, 2);
    fer_model_release(model);
}

/* What leaves a block or a call is as it was then, though the buffer goes on. */
static void a_view_that_leaves_a_block_is_a_copy(void **state)
{
    (void)state;
    fer_model *model =
        make_standard("graph look(inout b: f32[m]) { view = rebind b [m] return view, b }\n"
                      "graph g(inout b: f32[2], x: f32[2], c: bool[], k: i64[]) {\n"
                      "  arm = if c { v = rebind b [2] yield v } else { yield x }\n"
                      "  accumulate(b, x)\n"
                      "  turn, i = while t = x, j = k { go = is_positive(j) yield go } do {\n"
                      "    v = rebind b [2] next = count_down(j) yield v, next }\n"
                      "  accumulate(b, x)\n"
                      "  called, same = call look(b)\n"
                      "  accumulate(b, x) accumulate(same, x)\n"
                      "  return arm, turn, called, same }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(10, 20), make_bool(true), make_int(2)};
    fer_tensor *outputs[4];
    run(model, inputs, 4, outputs, 4);
    ASSERT_FLOATS(outputs[0], 1, 2);
    ASSERT_FLOATS(outputs[1], 11, 22);
    ASSERT_FLOATS(outputs[2], 21, 42);
    ASSERT_FLOATS(outputs[3], 31, 62);
    ASSERT_FLOATS(inputs[0], 31, 62);
    release_all(outputs, 4);
    release_all(inputs, 4);
    fer_model_release(model);
}

/* A view in another shape is the buffer itself, until it leaves a block. */
static void a_view_in_another_shape_is_the_buffer(void **state)
{
    (void)state;
    fer_model *model =
        make_standard("graph put(inout b: f32[k, 1], x: f32[k, 1]) { store(b, x) return b }\n"
                      "graph g(inout b: f32[n], x: f32[n], c: bool[]) {\n"
                      "  view = reshape b [n, 1] column = reshape x [n, 1]\n"
                      "  was = load(view) arm = if c { v = reshape b [1, n] yield v }\n"
                      "  else { v = reshape x [1, n] yield v }\n"
                      "  put = call put(view, column) accumulate(b, x)\n"
                      "  is = load(view) return was, arm, put, is, view }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(10, 20), make_bool(true)};
    fer_tensor *outputs[5];
    run(model, inputs, 3, outputs, 5);
    ASSERT_FLOATS(outputs[0], 1, 2);
    ASSERT_FLOATS(outputs[1], 1, 2);
    ASSERT_FLOATS(outputs[2], 10, 20);
    ASSERT_FLOATS(outputs[3], 20, 40);
    ASSERT_FLOATS(outputs[4], 20, 40);
    ASSERT_FLOATS(inputs[0], 20, 40);
    for (size_t i = 0; i < 5; i++)
        assert_false(fer_tensors_overlap(outputs[i], inputs[0]));
    release_all(outputs, 5);
    release_all(inputs, 3);
    fer_model_release(model);
}

static void a_call_changes_the_callers_buffer(void **state)
{
    (void)state;
    fer_model *model =
        make_standard("graph add(inout to: f32[m], x: f32[m]) {\n"
                      "  before = load(to) accumulate(to, x) return before }\n"
                      "graph twofold(inout to: f32[m], x: f32[m]) {\n"
                      "  a = call add(to, x) view = rebind to [m] b = call add(view, x)\n"
                      "  return b }\n"
                      "graph g(inout b: f32[n], x: f32[n]) {\n"
                      "  own = load(b) first = call twofold(b, x)\n"
                      "  second = call twofold(own, b) return first, second, own }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(10, 20)};
    fer_tensor *outputs[3];
    run(model, inputs, 2, outputs, 3);
    ASSERT_FLOATS(outputs[0], 11, 22);
    ASSERT_FLOATS(outputs[1], 22, 44);
    ASSERT_FLOATS(outputs[2], 43, 86);
    ASSERT_FLOATS(inputs[0], 21, 42);
    release_all(outputs, 3);
    release_all(inputs, 2);
    fer_model_release(model);
}

/* What completed before the failure stays, in the caller's buffers; nothing is replayed. */
static void a_failure_in_a_loop_keeps_what_was_written(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model =
        make_standard("graph g(inout b: f32[3], inout last: f32[2], k: i64[]) {\n"
                      "  step = constant i64[1] [1] minus = constant f32[2] [-1, -1]\n"
                      "  place = constant i64[1] [0]\n"
                      "  one = constant f32[1] [1]\n"
                      "  i = while j = k { go = is_positive(j) yield go } do {\n"
                      "    store_slice(b, one, place, step)\n"
                      "    ok = refuse_negative(last) accumulate(last, minus)\n"
                      "    next = count_down(j) store_slice(b, ok, step, step) yield next }\n"
                      "  return }");
    fer_tensor *inputs[] = {FLOATS(7, 8, 9), FLOATS(2, 1), make_int(10)};
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, inputs, 3, NULL, 0, &error),
                 "iteration 3 of while: refuse_negative: element 1 is -1");
    ASSERT_FLOATS(inputs[0], 1, 1, 0); /* of turn 2 */
    ASSERT_FLOATS(inputs[1], 0, -1);
    release_all(inputs, 3);
    fer_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_stands_before_an_input),
        cmocka_unit_test(buffers_are_part_of_what_a_graph_is),
        cmocka_unit_test(a_view_of_a_buffer_is_one),
        cmocka_unit_test(other_inputs_cannot_change),
        cmocka_unit_test(the_message_says_what_to_write),
        cmocka_unit_test(values_made_inside_may_change),
        cmocka_unit_test(a_buffer_is_writable_and_nothing_else),
        cmocka_unit_test(a_reader_before_a_writer_sees_what_stood_there),
        cmocka_unit_test(writes_come_in_their_order),
        cmocka_unit_test(a_writer_runs_though_its_result_is_unused),
        cmocka_unit_test(outputs_are_tensors_of_their_own),
        cmocka_unit_test(a_view_that_leaves_a_block_is_a_copy),
        cmocka_unit_test(a_view_in_another_shape_is_the_buffer),
        cmocka_unit_test(a_call_changes_the_callers_buffer),
        cmocka_unit_test(a_failure_in_a_loop_keeps_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
