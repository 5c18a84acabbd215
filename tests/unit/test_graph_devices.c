/* Graphs where there are two devices. */
#include "testing_graph.h"

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

static void mixed_devices_are_refused_before_a_run(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("graph g(x: f32[n], y: f32[n] @ 1) { return x, y }");
    fer_model *model = NULL;
    ASSERT_FAILS(&error, FER_UNSUPPORTED_ERROR,
                 fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error), "'g'",
                 "devices 0 and 1");
    fer_module_release(module);
}

static void inputs_must_be_on_the_graphs_device(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = read_program("use \"kernels/graph\"\n"
                                      "graph g(x: f32[n] @ 1) { y = scale(x, 2) return y }");
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error));
    fer_module_release(module);
    fer_tensor *x = FLOATS(1, 2), *moved = NULL, *y = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, &x, 1, &y, 1, &error), "'g'", "'x'",
                 "device 0", "device 1", "explicit transfer");
    ASSERT_OK(&error, fer_tensor_clone(x, (fer_device){1}, &moved, &error));
    ASSERT_OK(&error, fer_model_run(model, &moved, 1, &y, 1, &error));
    ASSERT_FLOATS(y, 2, 4);
    assert_int_equal(fer_tensor_device(y).id, 1);
    fer_tensor_release(x);
    fer_tensor_release(moved);
    fer_tensor_release(y);
    fer_model_release(model);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_is_in_the_text),
        cmocka_unit_test(operands_on_several_devices_are_not_staged),
        cmocka_unit_test(mixed_devices_are_refused_before_a_run),
        cmocka_unit_test(inputs_must_be_on_the_graphs_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
