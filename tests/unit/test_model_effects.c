/* What a graph runs and how often, and values that ops change in their place. */
#include "testing_graph.h"

/* --- What runs, and how often ----------------------------------------------------------------- */

static fer_tensor *make_address(const long *counter)
{
    fer_error error = FER_ERROR_INIT;
    int64_t address = (int64_t)(intptr_t)counter;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error,
              fer_tensor_copy_from(FER_I64, 0, NULL, &address, (fer_device){0}, &tensor, &error));
    return tensor;
}

static void an_effect_runs_once_even_if_nothing_uses_it(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(counter: i64[]) -> i64[] {\n"
                                  "  a = count_call(counter)\n"
                                  "  b = count_call(counter)\n"
                                  "  return counter }");
    long count = 0;
    fer_tensor_release(run_one(model, make_address(&count)));
    assert_int_equal(count, 2);
    fer_tensor_release(run_one(model, make_address(&count)));
    assert_int_equal(count, 4);
    fer_model_release(model);
}

static void a_pure_op_that_nothing_uses_does_not_run(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(counter: i64[]) -> f32[] {\n"
                                  "  a = silent_count(counter)\n"
                                  "  b = silent_count(counter)\n"
                                  "  return b }");
    long count = 0;
    fer_tensor_release(run_one(model, make_address(&count)));
    assert_int_equal(count, 1);
    fer_model_release(model);
}

/* --- In place --------------------------------------------------------------------------------- */

static void inout_changes_a_value_in_its_place(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> (f32[n], f32[n], f32[n]) {\n"
                                  "  a = twice(x)\n"
                                  "  before = twice(a)\n"
                                  "  accumulate(a, x)\n"
                                  "  alias = rebind a [n]\n"
                                  "  accumulate(alias, x)\n"
                                  "  after = twice(a)\n"
                                  "  return before, after, a }");
    fer_tensor *x = FLOATS(1, 10);
    fer_tensor *outputs[3];
    for (int repeat = 0; repeat < 2; repeat++) {
        run(model, &x, 1, outputs, 3);
        ASSERT_FLOATS(outputs[0], 4, 40);
        ASSERT_FLOATS(outputs[1], 8, 80);
        ASSERT_FLOATS(outputs[2], 4, 40);
        for (size_t i = 0; i < 3; i++)
            fer_tensor_release(outputs[i]);
    }
    ASSERT_FLOATS(x, 1, 10);
    fer_tensor_release(x);
    fer_model_release(model);
}

static void inout_on_an_input_changes_the_callers_tensor(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph step(inout total: f32[n], x: f32[n]) -> () {\n"
                                  "  accumulate(total, x) accumulate(total, x) return }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(10, 20)};
    run(model, inputs, 2, NULL, 0);
    ASSERT_FLOATS(inputs[0], 21, 42);
    run(model, inputs, 2, NULL, 0);
    ASSERT_FLOATS(inputs[0], 41, 82);
    ASSERT_FLOATS(inputs[1], 10, 20);

    fer_tensor *same[] = {inputs[0], inputs[0]};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, same, 2, NULL, 0, &error), "'step'",
                 "'total'", "overlaps", "'x'");
    float numbers[] = {1, 2};
    int64_t extent = 2;
    fer_tensor *fixed[] = {NULL, inputs[1]};
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, &extent, numbers, true, (fer_device){0}, NULL,
                                        NULL, &fixed[0], &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, fixed, 2, NULL, 0, &error), "'step'",
                 "'total'", "read-only");
    assert_true(numbers[0] == 1 && numbers[1] == 2);
    fer_tensor_release(fixed[0]);
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[1]);
    fer_model_release(model);
}

static void without_elements_nothing_overlaps(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model =
        make_model("graph step(inout total: f32[n], x: f32[n], other: f32[m]) -> () {\n"
                   "  accumulate(total, x) return }");
    float numbers[] = {1, 2, 3};
    fer_tensor *inputs[3];
    for (int64_t i = 0; i < 3; i++)
        ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, &(int64_t){i < 2 ? 0 : 3},
                                            i < 2 ? numbers + 1 : numbers, false, (fer_device){0},
                                            NULL, NULL, &inputs[i], &error));
    run(model, inputs, 3, NULL, 0);
    for (size_t i = 0; i < 3; i++)
        fer_tensor_release(inputs[i]);
    fer_model_release(model);
}

static void inout_on_a_constant_starts_anew_in_each_run(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[2]) -> f32[2] {\n"
                                  "  c = constant f32[2] [100, 200]\n"
                                  "  accumulate(c, x)\n"
                                  "  return c }");
    for (int repeat = 0; repeat < 2; repeat++) {
        fer_tensor *y = run_one(model, FLOATS(1, 2));
        ASSERT_FLOATS(y, 101, 202);
        fer_tensor_release(y);
    }
    fer_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_effect_runs_once_even_if_nothing_uses_it),
        cmocka_unit_test(a_pure_op_that_nothing_uses_does_not_run),
        cmocka_unit_test(inout_changes_a_value_in_its_place),
        cmocka_unit_test(inout_on_an_input_changes_the_callers_tensor),
        cmocka_unit_test(without_elements_nothing_overlaps),
        cmocka_unit_test(inout_on_a_constant_starts_anew_in_each_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
