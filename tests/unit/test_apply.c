/* Calls as languages write them, on tensors and on graph values. */
#include "testing_graph.h"

static fer_argument tensor(fer_tensor *tensor)
{
    return (fer_argument){.kind = FER_ARGUMENT_TENSOR, .as.tensor = tensor};
}

static fer_argument value(fer_value *value)
{
    return (fer_argument){.kind = FER_ARGUMENT_VALUE, .as.value = value};
}

static fer_argument whole(int64_t number)
{
    return (fer_argument){.kind = FER_ARGUMENT_NUMBER,
                          .as.number = {.kind = FER_NUMBER_INT, .value.as_int = number}};
}

static fer_argument natural(uint64_t number)
{
    return (fer_argument){.kind = FER_ARGUMENT_NUMBER,
                          .as.number = {.kind = FER_NUMBER_UINT, .value.as_uint = number}};
}

static fer_argument real(double number)
{
    return (fer_argument){.kind = FER_ARGUMENT_NUMBER,
                          .as.number = {.kind = FER_NUMBER_FLOAT, .value.as_float = number}};
}

static fer_argument truth(bool number)
{
    return (fer_argument){.kind = FER_ARGUMENT_NUMBER,
                          .as.number = {.kind = FER_NUMBER_BOOL, .value.as_bool = number}};
}

static fer_argument named(const char *keyword, fer_argument argument)
{
    argument.keyword = keyword;
    return argument;
}

/* Applies an op of one result to two arguments. */
static fer_status apply_two(const fer_op *op, fer_argument first, fer_argument second,
                            fer_argument *result, fer_error *error)
{
    return fer_apply(op, (fer_argument[]){first, second}, 2, result, 1, error);
}

static void tensors_are_called(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *halves = declare_op("halves(x: f32[n]) -> (low: f32[n // 2], high: f32[n - n // 2])");
    fer_tensor *x = FLOATS(1, 2, 3);
    fer_argument results[2];
    ASSERT_OK(&error, fer_apply(halves, (fer_argument[]){tensor(x)}, 1, results, 2, &error));
    assert_int_equal(results[0].kind, FER_ARGUMENT_TENSOR);
    ASSERT_FLOATS(results[0].as.tensor, 1);
    ASSERT_FLOATS(results[1].as.tensor, 2, 3);
    fer_tensor_release(results[0].as.tensor);
    fer_tensor_release(results[1].as.tensor);
    fer_tensor_release(x);
    fer_op_release(halves);
}

static void keywords_bind_by_operand_name(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *scale = declare_op("scale<T>(x: T[*s], by: T[]) -> T[*s]");
    fer_tensor *x = FLOATS(1, 2);
    fer_argument result;
    ASSERT_OK(&error,
              apply_two(scale, named("by", whole(3)), named("x", tensor(x)), &result, &error));
    ASSERT_FLOATS(result.as.tensor, 3, 6);
    fer_tensor_release(result.as.tensor);
    ASSERT_OK(&error, apply_two(scale, tensor(x), named("by", real(0.5)), &result, &error));
    ASSERT_FLOATS(result.as.tensor, 0.5, 1);
    fer_tensor_release(result.as.tensor);

    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 apply_two(scale, tensor(x), named("bye", whole(3)), &result, &error), "scale",
                 "'bye'", "did you mean 'by'?");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 apply_two(scale, tensor(x), named("x", tensor(x)), &result, &error), "scale",
                 "'x'", "twice");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 apply_two(scale, named("x", tensor(x)), whole(3), &result, &error), "scale",
                 "without a name");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_apply(scale, (fer_argument[]){named("by", whole(3))}, 1, &result, 1, &error),
                 "scale", "missing 'x'");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_apply(scale, NULL, 0, &result, 1, &error), "scale",
                 "2 operands", "got 0", "'x', 'by'");
    ASSERT_FAILS(
        &error, FER_TYPE_ERROR,
        fer_apply(scale, (fer_argument[]){tensor(x), whole(1), whole(2)}, 3, &result, 1, &error),
        "scale: expected 2 operands, got 3");
    assert_int_equal(fer_apply(scale, (fer_argument[]){tensor(x)}, 1, &result, 1, &error),
                     FER_TYPE_ERROR);
    assert_string_equal(error.expected, "2");
    assert_string_equal(error.actual, "1");
    fer_error_clear(&error);
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_apply(scale, (fer_argument[]){tensor(x), whole(1)}, 2, &result, 0, &error),
                 "scale", "1 result");
    fer_tensor_release(x);
    fer_op_release(scale);
}

static void what_is_no_tensor_is_named(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *add = declare_op("add<T>(x: T[*s], y: T[*s]) -> T[*s]");
    fer_tensor *x = FLOATS(1, 2);
    fer_argument result;
    fer_argument list = {.kind = FER_ARGUMENT_OTHER, .as.type_name = "a list"};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, apply_two(add, tensor(x), list, &result, &error), "add",
                 "operand 'y'", "a list, not a tensor");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, apply_two(add, tensor(NULL), tensor(x), &result, &error),
                 "add", "operand 'x'", "NULL");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, apply_two(add, value(NULL), tensor(x), &result, &error),
                 "add", "operand 'x'", "NULL");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, apply_two(add, tensor(x), whole(1), &result, &error),
                 "add", "operand 'y'", "number", "rank-0");
    fer_tensor_release(x);
    fer_op_release(add);
}

static void a_number_takes_the_operands_dtype(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *scale = declare_op("scale<T>(x: T[*s], by: T[]) -> T[*s]");
    fer_op *choose = declare_op("choose(x: f32[*s], flip: bool[]) -> f32[*s]");
    fer_argument result;
    int64_t extent = 2;
    fer_tensor *bytes = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_U8, 1, &extent, (uint8_t[]){3, 4}, (fer_device){0},
                                           &bytes, &error));
    ASSERT_OK(&error, apply_two(scale, tensor(bytes), real(2.0), &result, &error));
    assert_int_equal(fer_tensor_dtype(result.as.tensor), FER_U8);
    assert_int_equal(((const uint8_t *)fer_tensor_const_data(result.as.tensor))[1], 8);
    fer_tensor_release(result.as.tensor);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 apply_two(scale, tensor(bytes), real(2.5), &result, &error), "scale", "'by'",
                 "2.5", "u8");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 apply_two(scale, tensor(bytes), whole(256), &result, &error), "scale", "'by'",
                 "256");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 apply_two(scale, tensor(bytes), truth(true), &result, &error), "scale", "'by'");
    ASSERT_OK(&error, apply_two(scale, tensor(bytes), natural(2), &result, &error));
    assert_int_equal(((const uint8_t *)fer_tensor_const_data(result.as.tensor))[1], 8);
    fer_tensor_release(result.as.tensor);
    assert_int_equal(apply_two(scale, tensor(bytes), natural(UINT64_MAX), &result, &error),
                     FER_VALUE_ERROR);
    assert_string_equal(error.op, "scale");
    assert_string_equal(error.operand, "by");
    assert_string_equal(error.expected, "0 to 255");
    assert_string_equal(error.actual, "18446744073709551615");
    fer_error_clear(&error);

    fer_tensor *x = FLOATS(1, 2);
    ASSERT_OK(&error, apply_two(choose, tensor(x), truth(true), &result, &error));
    ASSERT_FLOATS(result.as.tensor, -1, -2);
    fer_tensor_release(result.as.tensor);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, apply_two(choose, tensor(x), whole(1), &result, &error),
                 "choose", "'flip'", "bool");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, apply_two(scale, tensor(x), real(1e300), &result, &error),
                 "scale", "'by'", "f32");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 apply_two(scale, tensor(x), whole(16777217), &result, &error), "scale", "'by'",
                 "16777217");
    fer_tensor_release(x);
    fer_tensor_release(bytes);
    fer_op_release(scale);
    fer_op_release(choose);
}

static void a_number_may_need_all_bits_of_u64(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *scale = declare_op("scale<T>(x: T[*s], by: T[]) -> T[*s]");
    fer_tensor *one = NULL;
    ASSERT_OK(&error, fer_tensor_ones(FER_U64, 0, NULL, (fer_device){0}, &one, &error));
    fer_argument result;
    ASSERT_OK(&error, apply_two(scale, tensor(one), natural(UINT64_MAX), &result, &error));
    assert_true(*(const uint64_t *)fer_tensor_const_data(result.as.tensor) == UINT64_MAX);
    fer_tensor_release(result.as.tensor);
    fer_tensor_release(one);
    fer_op_release(scale);
}

static void numbers_alone_name_no_dtype(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *op = make_op("dot<T>(x: T[], y: T[]) -> T[]");
    fer_argument result;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, apply_two(op, whole(1), whole(2), &result, &error), "dot",
                 "operand 'x'", "dtype T");
    fer_op_release(op);

    fer_op *fixed = declare_op("silent_count(address: i64[]) -> f32[]");
    long count = 0;
    ASSERT_OK(&error, fer_apply(fixed, (fer_argument[]){whole((int64_t)(intptr_t)&count)}, 1,
                                &result, 1, &error));
    assert_int_equal(result.kind, FER_ARGUMENT_TENSOR);
    assert_int_equal(count, 1);
    fer_tensor_release(result.as.tensor);
    fer_op_release(fixed);
}

static void values_are_staged_and_numbers_are_constants(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f64[n]"));
    fer_op *scale = make_op("scale<T>(x: T[*s], by: T[]) -> T[*s]");
    fer_argument result;
    ASSERT_OK(&error, apply_two(scale, value(fer_graph_input_at(graph, 0)), named("by", real(0.5)),
                                &result, &error));
    assert_int_equal(result.kind, FER_ARGUMENT_VALUE);
    assert_type(result.as.value, "f64[n]");
    assert_int_equal(graph->num_nodes, 2);
    assert_int_equal(fer_graph_num_ops(graph), 1);
    assert_int_equal(graph->body.nodes[0]->kind, FER_NODE_CONSTANT);
    assert_int_equal(fer_tensor_dtype(graph->body.nodes[0]->constant), FER_F64);

    /* A refused call leaves no constant behind. */
    fer_op *strict = make_op("strict(x: f64[3], by: f64[]) -> f64[3]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 apply_two(strict, value(fer_graph_input_at(graph, 0)), real(0.5), &result, &error),
                 "strict", "'x'", "3", "n");
    assert_int_equal(graph->num_nodes, 2);
    assert_int_equal(graph->num_values, 3);
    fer_op_release(scale);
    fer_op_release(strict);
    fer_module_release(module);
}

static void a_mix_is_refused_and_listed(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_op *op = make_op("blend<T>(x: T[n], y: T[n], by: T[]) -> T[n]");
    fer_tensor *x = FLOATS(1, 2);
    fer_argument result;
    ASSERT_FAILS(
        &error, FER_TYPE_ERROR,
        fer_apply(op, (fer_argument[]){value(fer_graph_input_at(graph, 0)), tensor(x), real(0.5)},
                  3, &result, 1, &error),
        "blend", "'x' is a graph value", "'y' is a tensor", "'by' is a number");
    assert_int_equal(graph->num_nodes, 0);
    fer_tensor_release(x);
    fer_op_release(op);
    fer_module_release(module);
}

static void an_incomplete_op_is_not_applied(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *op = make_op("down<g: int>(x: f32[n]) -> f32[n // g]");
    fer_tensor *x = FLOATS(1, 2);
    fer_argument result;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_apply(op, (fer_argument[]){tensor(x)}, 1, &result, 1, &error), "down", "g");
    fer_tensor_release(x);
    fer_op_release(op);
}

static void given_results_are_filled(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_op *scale = declare_op("scale<T>(x: T[*s], by: T[]) -> T[*s]");
    fer_tensor *x = FLOATS(1, 2, 3);
    fer_tensor *y = FLOATS(0, 0, 0);
    ASSERT_OK(&error,
              fer_apply_into(scale, (fer_argument[]){named("by", real(2)), named("x", tensor(x))},
                             2, &y, 1, &error));
    ASSERT_FLOATS(y, 2, 4, 6);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_apply_into(scale, (fer_argument[]){tensor(x), real(2)}, 2, &x, 1, &error),
                 "scale", "overlaps operand 'x'");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_apply_into(scale, (fer_argument[]){tensor(x), real(2)}, 2, &y, 0, &error),
                 "scale", "1 result");
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_op_release(scale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_called),
        cmocka_unit_test(keywords_bind_by_operand_name),
        cmocka_unit_test(what_is_no_tensor_is_named),
        cmocka_unit_test(a_number_takes_the_operands_dtype),
        cmocka_unit_test(a_number_may_need_all_bits_of_u64),
        cmocka_unit_test(numbers_alone_name_no_dtype),
        cmocka_unit_test(values_are_staged_and_numbers_are_constants),
        cmocka_unit_test(a_mix_is_refused_and_listed),
        cmocka_unit_test(an_incomplete_op_is_not_applied),
        cmocka_unit_test(given_results_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
