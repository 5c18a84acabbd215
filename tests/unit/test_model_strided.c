/* Graphs whose inputs are not compact: each run reads them as they are then. */
#include "testing_dlpack.h"
#include "testing_graph.h"

/* Elements 4, 2, 0 of five. */
#define BACKWARDS(memory) take_strided(3, -2, (memory) + 4)

static fer_tensor *take_strided(int64_t extent, int64_t stride, const float *data)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    product *made = produce(VERSIONED, FER_F32, 1, &extent, &stride, data);
    ASSERT_OK(&error, take(made, FER_DL_COPY_IF_NEEDED, &tensor, &error));
    return tensor;
}

static void a_run_sees_what_is_there_now(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n], y: f32[m]) -> (f32[n], f32[n], f32[m]) {\n"
                                  "  a = twice(x)\n"
                                  "  return a, x, y }");
    float memory[] = {0, 1, 2, 3, 4};
    fer_tensor *strided = BACKWARDS(memory);
    fer_tensor *one = FLOATS(1);
    fer_tensor *three = FLOATS(5, 6, 7);
    fer_tensor *outputs[3];
    for (int repeat = 0; repeat < 2; repeat++) {
        memory[2] = repeat == 0 ? 2 : 20;
        run(model, (fer_tensor *[]){strided, strided}, 2, outputs, 3);
        ASSERT_FLOATS(outputs[0], 8, 2 * memory[2], 0);
        ASSERT_FLOATS(outputs[1], 4, memory[2], 0);
        ASSERT_FLOATS(outputs[2], 4, memory[2], 0);
        for (size_t i = 0; i < 3; i++)
            fer_tensor_release(outputs[i]);

        run(model, (fer_tensor *[]){three, strided}, 2, outputs, 3); /* sizes as they were */
        ASSERT_FLOATS(outputs[0], 10, 12, 14);
        ASSERT_FLOATS(outputs[2], 4, memory[2], 0);
        for (size_t i = 0; i < 3; i++)
            fer_tensor_release(outputs[i]);

        run(model, (fer_tensor *[]){one, strided}, 2, outputs, 3);
        ASSERT_FLOATS(outputs[0], 2);
        for (size_t i = 0; i < 3; i++)
            fer_tensor_release(outputs[i]);
    }
    assert_int_equal(atomic_load(&num_deleted), 0);
    fer_tensor_release(strided);
    assert_int_equal(atomic_load(&num_deleted), 1);
    fer_tensor_release(one);
    fer_tensor_release(three);
    fer_model_release(model);
}

static void what_is_changed_in_place_has_to_be_compact(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph step(inout total: f32[n], x: f32[n]) -> () {\n"
                                  "  accumulate(total, x) return }");
    float memory[] = {0, 1, 2, 3, 4};
    fer_tensor *strided = BACKWARDS(memory);
    fer_tensor *total = FLOATS(1, 2, 3);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_model_run(model, (fer_tensor *[]){strided, total}, 2, NULL, 0, &error),
                 "graph 'step': input 'total' is inout, but the tensor is not compact",
                 "give a compact copy");
    assert_true(memory[4] == 4);
    run(model, (fer_tensor *[]){total, strided}, 2, NULL, 0);
    ASSERT_FLOATS(total, 5, 4, 3);

    fer_tensor *inside = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, &(int64_t){3}, memory, false, (fer_device){0},
                                        NULL, NULL, &inside, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_model_run(model, (fer_tensor *[]){inside, strided}, 2, NULL, 0, &error),
                 "'total'", "overlaps input 'x'");
    assert_true(memory[0] == 0);
    fer_tensor_release(strided);
    fer_tensor_release(total);
    fer_tensor_release(inside);
    fer_model_release(model);
}

/* One element, repeated more often than there is memory for. */
static void mistakes_are_told_before_anything_is_copied(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) -> f32[n] { a = twice(x) return a }");
    fer_model *fixed = make_model("graph g(x: f32[3]) -> f32[3] { a = twice(x) return a }");
    static const float ELEMENT[] = {2};
    fer_tensor *huge = take_strided(INT64_C(1) << 57, 0, ELEMENT);
    ASSERT_RUN_FAILS(FER_VALUE_ERROR, fixed, fer_tensor_retain(huge), "'x' axis 0");
    ASSERT_RUN_FAILS(FER_MEMORY_ERROR, model, huge, "memory");
    fer_tensor *y = run_one(model, take_strided(2, 0, ELEMENT));
    ASSERT_FLOATS(y, 4, 4);
    fer_tensor_release(y);
    fer_model_release(model);
    fer_model_release(fixed);
}

static void a_constant_is_what_was_there(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[1]"));
    float memory[] = {0, 1, 2, 3, 4};
    fer_tensor *strided = BACKWARDS(memory);
    fer_value *constant = NULL;
    ASSERT_OK(&error, fer_graph_constant(graph, strided, &constant, &error));
    memory[2] = 20;
    fer_tensor_release(strided);
    output(graph, constant, NULL);
    char *text = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_non_null(strstr(text, "[4.0, 2.0, 0.0]"));
    fer_string_free(text);
    fer_module_release(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_sees_what_is_there_now),
        cmocka_unit_test(what_is_changed_in_place_has_to_be_compact),
        cmocka_unit_test(mistakes_are_told_before_anything_is_copied),
        cmocka_unit_test(a_constant_is_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
