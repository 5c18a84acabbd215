/* Graphs whose sizes follow the data. */
#include "testing_graph.h"

static void data_dependent_sizes_follow_the_data(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  kept = positive(x)\n"
                                  "  a = twice(kept)\n"
                                  "  b = add(a, kept)\n"
                                  "  c = twice(x)\n"
                                  "  low, high = halves(b)\n"
                                  "  d = twice(low)\n"
                                  "  return b, c, d, high, kept }");
    fer_tensor *outputs[5];
    for (int repeat = 0; repeat < 2; repeat++) {
        fer_tensor *x = FLOATS(1, -2, 3, 4);
        run(model, &x, 1, outputs, 5);
        ASSERT_FLOATS(outputs[0], 3, 9, 12);
        ASSERT_FLOATS(outputs[1], 2, -4, 6, 8);
        ASSERT_FLOATS(outputs[2], 6);
        ASSERT_FLOATS(outputs[3], 9, 12);
        ASSERT_FLOATS(outputs[4], 1, 3, 4);
        for (size_t i = 0; i < 5; i++)
            fer_tensor_release(outputs[i]);
        fer_tensor_release(x);
        x = FLOATS(-1, -2, -3, 0.5); /* as many inputs, fewer kept */
        run(model, &x, 1, outputs, 5);
        ASSERT_FLOATS(outputs[0], 1.5);
        ASSERT_FLOATS(outputs[1], -2, -4, -6, 1);
        assert_int_equal(fer_tensor_num_elements(outputs[2]), 0);
        for (size_t i = 0; i < 5; i++)
            fer_tensor_release(outputs[i]);
        fer_tensor_release(x);
    }
    fer_model_release(model);
}

static void conditions_on_data_dependent_sizes_are_decided_when_reached(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  kept = positive(x)\n"
                                  "  y = pairs(kept)\n"
                                  "  return y }");
    fer_tensor *y = run_one(model, FLOATS(1, 2, -3));
    ASSERT_FLOATS(y, 3);
    fer_tensor_release(y);
    ASSERT_RUN_FAILS(FER_VALUE_ERROR, model, FLOATS(1, 2, 3), "graph 'g': pairs:", "n % 2 == 0",
                     "3");
    fer_model_release(model);
}

static void rebind_meets_data_dependent_sizes(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n // 2] {\n"
                                  "  kept = positive(x)\n"
                                  "  y = rebind kept [n // 2]\n"
                                  "  z = twice(y)\n"
                                  "  return z }");
    fer_tensor *y = run_one(model, FLOATS(1, 2, -3, -4));
    ASSERT_FLOATS(y, 2, 4);
    fer_tensor_release(y);
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, 2, 3, 4), "'g'", "rebind",
                     "axis 0 is 4, but n // 2 is 2");
    fer_model_release(model);
}

/* The only use of `kept` is its size. */
static void a_size_that_a_rebind_names_is_found(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    char *dim = NULL;
    ASSERT_OK(&error, fer_dynamic_dim_name("g", "positive", 0, "kept", &dim, &error));
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program,
                    "graph g(x: f32[n]) { kept = positive(x) y = rebind x [%s] z = twice(y) "
                    "return z }",
                    dim);
    fer_model *model = make_model(fer_text_string(&program));
    fer_tensor *y = run_one(model, FLOATS(1, 2));
    ASSERT_FLOATS(y, 2, 4);
    fer_tensor_release(y);
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, -2), "'g'", "rebind", "axis 0 is 2", "1");
    fer_model_release(model);
    fer_text_free(&program);
    free(dim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_dependent_sizes_follow_the_data),
        cmocka_unit_test(conditions_on_data_dependent_sizes_are_decided_when_reached),
        cmocka_unit_test(rebind_meets_data_dependent_sizes),
        cmocka_unit_test(a_size_that_a_rebind_names_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
