/* Graphs where there are two devices. */
#include "testing_graph.h"

#include "model/schedule.h"

static void the_device_is_in_the_text(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("graph g(x: f32[n] @ 1) -> (f32[n] @ 1, f32[1] @ 1) {\n"
                                      "  c = constant f32[1] @ 1 [2.5] return x, c }");
    char *text = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_string_equal(text, "graph g(x: f32[n] @ 1) -> (f32[n] @ 1, f32[1] @ 1) {\n"
                              "  c = constant f32[1] @ 1 [2.5]\n"
                              "  return x, c\n"
                              "}\n");
    fer_module *again = read_program(text);
    assert_true(fer_module_equal(module, again));
    fer_module *other =
        read_program("graph g(x: f32[n]) { c = constant f32[1] [2.5] return x, c }");
    assert_false(fer_module_equal(module, other));
    fer_module_release(module);
    fer_module_release(again);
    fer_module_release(other);
    free(text);
}

static void operands_on_several_devices_are_not_staged(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_module_parse("use \"kernels/graph\"\n"
                                  "graph g(x: f32[n], y: f32[n] @ 1) { z = add(x, y) return z }",
                                  "t.fer", FERRULE_TEST_DATA, &module, &error),
                 "t.fer:2:41", "graph 'g'", "add", "device", "explicit transfer");
}

static const fer_device SECOND = {1};

/* The tensor on the second device; takes the one that is given. */
static fer_tensor *move(fer_tensor *tensor)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *moved = NULL;
    ASSERT_OK(&error, fer_tensor_clone(tensor, SECOND, &moved, &error));
    fer_tensor_release(tensor);
    return moved;
}

#define ASSERT_PARSE_FAILS(program, ...)                                                           \
    do {                                                                                           \
        fer_error refusal = FER_ERROR_INIT;                                                        \
        fer_module *refused = NULL;                                                                \
        ASSERT_FAILS(&refusal, FER_VALUE_ERROR,                                                    \
                     fer_module_parse("use \"kernels/graph\"\n" program, "t.fer",                  \
                                      FERRULE_TEST_DATA, &refused, &refusal),                      \
                     __VA_ARGS__);                                                                 \
    } while (0)

/* --- Transfers -------------------------------------------------------------------------------- */

static void a_transfer_is_in_the_text(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("graph g(x: f32[n]) { y = transfer x @ 1 z = transfer y @ 0"
                                      " return y, z }");
    char *text = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_string_equal(text, "graph g(x: f32[n]) -> (f32[n] @ 1, f32[n]) {\n"
                              "  y = transfer x @ 1  # f32[n] @ 1\n"
                              "  z = transfer y @ 0  # f32[n]\n"
                              "  return y, z\n"
                              "}\n");
    fer_module *again = read_program(text);
    assert_true(fer_module_equal(module, again));
    fer_module *other = read_program("graph g(x: f32[n]) { y = transfer x @ 1 z = transfer x @ 0"
                                     " return y, z }");
    assert_false(fer_module_equal(module, other));
    fer_graph *copy = NULL;
    ASSERT_OK(&error, fer_graph_copy(other, fer_module_graph_at(module, 0), "copy", &copy, &error));
    assert_type(fer_graph_output_at(copy, 0), "f32[n] @ 1");
    free(text);
    ASSERT_OK(&error, fer_module_draw(module, &text, &error));
    assert_non_null(strstr(text, "[label=\"transfer @ 1\\ny: f32[n] @ 1\"]"));
    free(text);
    fer_module_release(module);
    fer_module_release(again);
    fer_module_release(other);
}

static void a_transfer_needs_a_value_and_a_device(void **state)
{
    (void)state;
    ASSERT_PARSE_FAILS("graph g(x: f32[n]) { y = transfer x return y }", "t.fer:2:37", "'@'");
    ASSERT_PARSE_FAILS("graph g(x: f32[n]) { y = transfer x @ z return y }", "t.fer:2:39",
                       "the number of a device");
    ASSERT_PARSE_FAILS("graph g(x: f32[n]) { y = transfer x @ 2 return y }", "t.fer:2:39",
                       "there is no device 2");
    ASSERT_PARSE_FAILS("graph g(x: f32[n]) { y, z = transfer x @ 1 return y }", "t.fer:2:22",
                       "a transfer is one value, but 2 names take it");
    ASSERT_PARSE_FAILS("graph g(x: f32[n]) { y = transfer z @ 1 return y }", "t.fer:2:35", "'z'");
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_graph *other = make_graph(module, "h", TYPES("f32[n]"));
    fer_value *x = fer_graph_input_at(graph, 0), *y = x;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_transfer(graph, NULL, SECOND, &y, &error),
                 "graph 'g': transfer's operand is NULL");
    assert_null(y);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_transfer(other, x, SECOND, &y, &error),
                 "a value of another graph");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_transfer(graph, x, (fer_device){2}, &y, &error),
                 "graph 'g': transfer: there is no device 2");
    ASSERT_OK(&error, fer_graph_transfer(graph, x, SECOND, &y, &error));
    output(graph, y, NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_transfer(graph, x, SECOND, &y, &error),
                 "graph 'g' is finished");
    fer_module_release(module);
}

/* `transfer` is a word in its place alone. */
static void an_op_may_be_called_transfer(void **state)
{
    (void)state;
    fer_module *module = NULL;
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, parse_program("op transfer(x: f32[n]) -> f32[n]\n"
                                    "graph g(x: f32[n]) { transfer = transfer(x)"
                                    " y = transfer transfer @ 1 return y }",
                                    &module, &error));
    assert_int_equal(fer_graph_num_ops(fer_module_graph_at(module, 0)), 1);
    fer_module_release(module);
}

static void values_move_between_devices(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n], y: f32[n] @ 1) {\n"
                                  "  far = transfer x @ 1\n"
                                  "  sum = add(far, y)\n"
                                  "  near = transfer sum @ 0\n"
                                  "  back = scale(near, 10)\n"
                                  "  both = add(back, x)\n"
                                  "  return sum, both, far }");
    for (float turn = 1; turn < 3; turn++) {
        fer_tensor *inputs[] = {FLOATS(1, 2), move(FLOATS(turn, 20))};
        fer_tensor *outputs[3];
        run(model, inputs, 2, outputs, 3);
        ASSERT_FLOATS(outputs[0], 1 + turn, 22);
        ASSERT_FLOATS(outputs[1], 11 + 10 * turn, 222);
        ASSERT_FLOATS(outputs[2], 1, 2);
        assert_int_equal(fer_tensor_device(outputs[0]).id, 1);
        assert_int_equal(fer_tensor_device(outputs[1]).id, 0);
        assert_int_equal(fer_tensor_device(outputs[2]).id, 1);
        release_all(inputs, 2);
        release_all(outputs, 3);
    }
    fer_model_release(model);
}

/* Also where nothing moves. */
static void a_transfer_is_a_value_of_its_own(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  same = transfer x @ 0\n"
                                  "  accumulate(same, x)\n"
                                  "  far = transfer same @ 1\n"
                                  "  more = twice(far)\n"
                                  "  accumulate(far, more)\n"
                                  "  return x, same, far }");
    fer_tensor *x = FLOATS(1, 2), *outputs[3];
    run(model, &x, 1, outputs, 3);
    ASSERT_FLOATS(x, 1, 2);
    ASSERT_FLOATS(outputs[0], 1, 2);
    ASSERT_FLOATS(outputs[1], 2, 4);
    ASSERT_FLOATS(outputs[2], 6, 12);
    fer_tensor_release(x);
    release_all(outputs, 3);
    fer_model_release(model);
}

static void a_size_that_is_found_moves_too(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  kept = positive(x)\n"
                                  "  far = transfer kept @ 1\n"
                                  "  double = add(far, far)\n"
                                  "  return far, double }");
    fer_tensor *x = FLOATS(-1, 2, 3), *outputs[2];
    run(model, &x, 1, outputs, 2);
    ASSERT_FLOATS(outputs[0], 2, 3);
    ASSERT_FLOATS(outputs[1], 4, 6);
    assert_int_equal(fer_tensor_device(outputs[1]).id, 1);
    fer_tensor_release(x);
    release_all(outputs, 2);
    fer_model_release(model);
}

/* --- Control flow and calls ------------------------------------------------------------------- */

static void arms_give_values_on_one_device(void **state)
{
    (void)state;
    ASSERT_PARSE_FAILS("graph g(x: f32[n], c: bool[]) {\n"
                       "  y = if c { f = transfer x @ 1 yield f } else { yield x } return y }",
                       "graph 'g': if: result 0 is f32[n] @ 1 in the first arm, but f32[n] in the "
                       "else arm");
    fer_model *model = make_model("graph g(x: f32[n], c: bool[] @ 1) {\n"
                                  "  y = if c { f = transfer x @ 1 yield f }\n"
                                  "      else { t = twice(x) f = transfer t @ 1 yield f }\n"
                                  "  return y }");
    for (int turn = 0; turn < 2; turn++) {
        fer_tensor *inputs[] = {FLOATS(1, 2), move(make_bool(turn == 0))};
        fer_tensor *y = NULL;
        run(model, inputs, 2, &y, 1);
        ASSERT_FLOATS(y, (float)(turn + 1), (float)(2 * turn + 2));
        assert_int_equal(fer_tensor_device(y).id, 1);
        release_all(inputs, 2);
        fer_tensor_release(y);
    }
    fer_model_release(model);
}

static void a_loop_carries_values_where_they_are(void **state)
{
    (void)state;
    ASSERT_PARSE_FAILS("graph g(x: f32[n], c: bool[]) {\n"
                       "  y = while s = x { yield c } do { f = transfer s @ 1 yield f } return y }",
                       "graph 'g': while: carried value 0 's' is f32[n], but the body yields "
                       "f32[n] @ 1 for it; a loop carries values of one type");
    fer_model *model =
        make_model("graph g(x: f32[n] @ 1, i: i64[]) {\n"
                   "  y, j = while s = x, k = i { c = is_positive(k) yield c } do {\n"
                   "    near = transfer s @ 0\n"
                   "    double = twice(near)\n"
                   "    next = transfer double @ 1\n"
                   "    left = count_down(k)\n"
                   "    yield next, left\n"
                   "  }\n"
                   "  return y }");
    fer_tensor *inputs[] = {move(FLOATS(1, -3)), make_int(4)};
    fer_tensor *y = NULL;
    run(model, inputs, 2, &y, 1);
    ASSERT_FLOATS(y, 16, -48);
    assert_int_equal(fer_tensor_device(y).id, 1);
    release_all(inputs, 2);
    fer_tensor_release(y);
    fer_model_release(model);
}

static void arguments_are_where_the_called_graph_takes_them(void **state)
{
    (void)state;
    ASSERT_PARSE_FAILS(
        "graph f(x: f32[n] @ 1) { return x }\n"
        "graph g(x: f32[n]) { y = call f(x) return y }",
        "t.fer:3:26",
        "graph 'g': call of 'f': input 'x' is on device 0, but the graph takes it on "
        "device 1; insert an explicit transfer");
    fer_model *model = make_model("graph f(x: f32[n] @ 1, k: f32[n]) {\n"
                                  "  a = transfer k @ 1 s = add(x, a) return s, k }\n"
                                  "graph g(x: f32[n]) {\n"
                                  "  far = transfer x @ 1 y, z = call f(far, x) return y, z }");
    fer_tensor *x = FLOATS(1, 2), *outputs[2];
    run(model, &x, 1, outputs, 2);
    ASSERT_FLOATS(outputs[0], 2, 4);
    ASSERT_FLOATS(outputs[1], 1, 2);
    assert_int_equal(fer_tensor_device(outputs[0]).id, 1);
    assert_int_equal(fer_tensor_device(outputs[1]).id, 0);
    fer_tensor_release(x);
    release_all(outputs, 2);
    fer_model_release(model);
}

/* --- What is refused, and when ---------------------------------------------------------------- */

/* An op on several devices never gets into a graph, so it never gets to run either; what was staged
 * before it is as it was. */
static void a_refused_op_leaves_the_graph_as_it_was(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("i64[]", "f32[] @ 1"));
    fer_op *count = declare_op("count_call(address: i64[]) -> f32[] effect");
    fer_op *add = declare_op("add<T>(x: T[*s], y: T[*s]) -> T[*s]");
    fer_value *counted = stage_one(graph, count, fer_graph_input_at(graph, 0), NULL);
    fer_value *operands[] = {counted, fer_graph_input_at(graph, 1)}, *sum = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_stage(graph, add, operands, 2, &sum, 1, &error),
                 "add: operand 'y' is on device 1, but operand 'x' is on device 0; insert an "
                 "explicit transfer");
    assert_null(sum);
    assert_int_equal(fer_graph_num_ops(graph), 1);
    ASSERT_OK(&error, fer_graph_transfer(graph, operands[0], SECOND, &operands[0], &error));
    ASSERT_OK(&error, fer_graph_stage(graph, add, operands, 2, &sum, 1, &error));
    output(graph, sum, NULL);
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(graph, NULL, &model, &error));
    long calls = 0;
    fer_tensor *five = NULL, *y = NULL;
    ASSERT_OK(&error, fer_tensor_full(FER_F32, 0, NULL, SECOND,
                                      (fer_number){.kind = FER_NUMBER_INT, .value.as_int = 5},
                                      &five, &error));
    fer_tensor *inputs[] = {make_int((int64_t)(intptr_t)&calls), five};
    run(model, inputs, 2, &y, 1);
    ASSERT_FLOATS(y, 5);
    assert_int_equal(calls, 1);
    release_all(inputs, 2);
    fer_tensor_release(y);
    fer_model_release(model);
    fer_op_release(count);
    fer_op_release(add);
    fer_module_release(module);
}

static void inputs_elsewhere_are_refused_before_anything_runs(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph g(at: i64[], x: f32[n] @ 1) {\n"
                                  "  c = count_call(at) y = scale(x, 2) return c, y }");
    long calls = 0;
    fer_tensor *inputs[] = {make_int((int64_t)(intptr_t)&calls), FLOATS(1, 2)};
    fer_tensor *outputs[2] = {NULL, NULL};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, outputs, 2, &error),
                 "graph 'g': input 'x' is on device 0, but the graph takes it on device 1; insert "
                 "an explicit transfer");
    assert_int_equal(calls, 0);
    inputs[1] = move(inputs[1]);
    run(model, inputs, 2, outputs, 2);
    ASSERT_FLOATS(outputs[1], 2, 4);
    assert_int_equal(fer_tensor_device(outputs[1]).id, 1);
    assert_int_equal(calls, 1);
    release_all(outputs, 2);
    inputs[0] = move(inputs[0]);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, outputs, 2, &error),
                 "input 'at' is on device 1, but the graph takes it on device 0");
    assert_int_equal(calls, 1);
    release_all(inputs, 2);
    fer_model_release(model);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static void devices_share_no_buffer(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("use \"kernels/graph\"\n"
                                      "graph g(x: f32[n]) {\n"
                                      "  a = twice(x) b = twice(a) c = twice(b)\n"
                                      "  d = transfer c @ 1 e = twice(d) f = twice(e)\n"
                                      "  g = transfer f @ 0 h = twice(g) i = twice(h)\n"
                                      "  return i }");
    fer_schedule schedule;
    ASSERT_OK(&error, fer_schedule_create(last_graph(module), &schedule, &error));
    int32_t devices[16];
    size_t num_shared = 0;
    assert_in_range(schedule.num_buffers, 3, 16);
    memset(devices, -1, sizeof devices);
    for (size_t i = 0; i < schedule.num_slots; i++) {
        const fer_slot *slot = &schedule.slots[i];
        if (slot->storage != FER_STORAGE_BUFFER)
            continue;
        int32_t device = fer_type_device(slot->value->type).id;
        num_shared += devices[slot->index] == device;
        assert_true(devices[slot->index] == -1 || devices[slot->index] == device);
        devices[slot->index] = device;
    }
    assert_true(num_shared > 0);
    fer_schedule_clear(&schedule);
    fer_module_release(module);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_is_in_the_text),
        cmocka_unit_test(operands_on_several_devices_are_not_staged),
        cmocka_unit_test(a_transfer_is_in_the_text),
        cmocka_unit_test(a_transfer_needs_a_value_and_a_device),
        cmocka_unit_test(an_op_may_be_called_transfer),
        cmocka_unit_test(values_move_between_devices),
        cmocka_unit_test(a_transfer_is_a_value_of_its_own),
        cmocka_unit_test(a_size_that_is_found_moves_too),
        cmocka_unit_test(arms_give_values_on_one_device),
        cmocka_unit_test(a_loop_carries_values_where_they_are),
        cmocka_unit_test(arguments_are_where_the_called_graph_takes_them),
        cmocka_unit_test(a_refused_op_leaves_the_graph_as_it_was),
        cmocka_unit_test(inputs_elsewhere_are_refused_before_anything_runs),
        cmocka_unit_test(devices_share_no_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
