/* Building graphs: what is accepted, the types that come out, and every refusal. */
#include "testing_graph.h"

static void results_have_the_bound_types(void **state)
{
    (void)state;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n, 8, c]"));
    fer_op *downsample = make_op("downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    fer_value *half = stage_one(graph, downsample, fer_graph_input_at(graph, 0), NULL);
    assert_type(half, "f32[n, 4, c]");
    assert_type(stage_one(graph, downsample, half, NULL), "f32[n, 2, c]");
    assert_ptr_equal(fer_value_graph(half), graph);
    assert_int_equal(fer_graph_num_ops(graph), 2);
    fer_op_release(downsample);
    fer_module_release(module);
}

static void an_expression_binds_a_symbol(void **state)
{
    (void)state;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n, w, c]"));
    fer_op *downsample = make_op("downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    fer_value *half = stage_one(graph, downsample, fer_graph_input_at(graph, 0), NULL);
    assert_type(half, "f32[n, w // 2, c]");
    assert_type(stage_one(graph, downsample, half, NULL), "f32[n, w // 4, c]");
    fer_op_release(downsample);
    fer_module_release(module);
}

static void a_module_finds_its_graphs(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *one = make_graph(module, "one", TYPES("f32[n]"));
    fer_graph *two = make_graph(module, "no identifier", TYPES("f32[n]", "i8[]"));
    assert_int_equal(fer_module_num_graphs(module), 2);
    assert_ptr_equal(fer_module_graph_at(module, 1), two);
    assert_ptr_equal(fer_module_find(module, "one"), one);
    assert_ptr_equal(fer_module_find(module, "no identifier"), two);
    assert_null(fer_module_find(module, "three"));
    assert_string_equal(fer_graph_name(two), "no identifier");
    assert_int_equal(fer_graph_num_inputs(two), 2);
    assert_type(fer_graph_input_at(two, 1), "i8[]");

    fer_graph *again = one;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_create(module, "one", NULL, 0, &again, &error),
                 "'one'");
    assert_null(again);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_create(module, "", NULL, 0, &again, &error),
                 "name");
    fer_module_release(module);
}

static void inputs_are_checked(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = NULL;
    fer_type *plain = make_type("f32[n]");
    fer_type *expression = make_type("f32[3, n // 2]");
    fer_type *open = NULL;
    ASSERT_OK(&error, fer_type_create(FER_F32, 1, (const fer_dim *const[]){NULL}, (fer_device){0},
                                      &open, &error));
    fer_graph_input twice[] = {{.name = "x", .type = plain}, {.name = "x", .type = plain}};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_create(module, "g", twice, 2, &graph, &error),
                 "'g'", "'x'");
    fer_graph_input computed = {.name = "x", .type = expression};
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_create(module, "g", &computed, 1, &graph, &error), "'g'", "'x'",
                 "axis 1", "n // 2");
    fer_graph_input unknown = {.name = "x", .type = open};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_create(module, "g", &unknown, 1, &graph, &error),
                 "'x'", "axis 0");
    fer_graph_input nameless = {.name = "", .type = plain};
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_create(module, "g", &nameless, 1, &graph, &error), "name");
    fer_graph_input typeless = {.name = "x", .type = NULL};
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_create(module, "g", &typeless, 1, &graph, &error), "'x'", "type");
    assert_int_equal(fer_module_num_graphs(module), 0);
    fer_type_release(plain);
    fer_type_release(expression);
    fer_type_release(open);
    fer_module_release(module);
}

static void staging_checks_as_a_call_does(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]", "f64[n]", "f32[m]"));
    fer_graph *other = make_graph(module, "other", TYPES("f32[n]"));
    fer_op *add = make_op("add<T>(x: T[n], y: T[n]) -> T[n]");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *b = fer_graph_input_at(graph, 1);
    fer_value *c = fer_graph_input_at(graph, 2);
    fer_value *result = a;

    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_stage(graph, add, (fer_value *[]){a}, 1, &result, 1, &error), "add",
                 "2 operands", "1");
    assert_null(result);
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_stage(graph, add, (fer_value *[]){a, a}, 2, &result, 0, &error), "add",
                 "1 result");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_stage(graph, add, (fer_value *[]){a, NULL}, 2, &result, 1, &error),
                 "add", "'y'", "NULL");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(graph, add, (fer_value *[]){a, b}, 2, &result, 1, &error), "add",
                 "'x'", "'y'", "f32", "f64");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(graph, add, (fer_value *[]){a, c}, 2, &result, 1, &error), "add",
                 "n", "m");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(graph, add, (fer_value *[]){a, fer_graph_input_at(other, 0)}, 2,
                                 &result, 1, &error),
                 "add", "'y'", "'other'", "'g'");
    assert_int_equal(fer_graph_num_ops(graph), 0);
    fer_op_release(add);
    fer_module_release(module);
}

static void one_variable_serves_a_whole_chain(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_op *halve = make_op("halve(x: f32[n]) -> f32[n // 2]");
    fer_value *value = fer_graph_input_at(graph, 0);
    for (int i = 0; i < 3; i++)
        ASSERT_OK(&error, fer_graph_stage(graph, halve, &value, 1, &value, 1, &error));
    assert_type(value, "f32[n // 8]");
    fer_argument argument = {.kind = FER_ARGUMENT_VALUE, .as.value = value};
    ASSERT_OK(&error, fer_apply(halve, &argument, 1, &argument, 1, &error));
    assert_type(argument.as.value, "f32[n // 16]");
    fer_op_release(halve);
    fer_module_release(module);
}

static void an_incomplete_op_is_not_staged(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_op *op = make_op("down<g: int>(x: f32[n]) -> f32[n // g]");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_stage(graph, op, &a, 1, &result, 1, &error),
                 "down", "g");
    fer_op_release(op);
    fer_module_release(module);
}

static void a_finished_graph_takes_nothing(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_graph *other = make_graph(module, "other", TYPES("f32[n]"));
    fer_op *relu = make_op("relu(x: f32[*s]) -> f32[*s]");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *foreign = fer_graph_input_at(other, 0);
    fer_value *none = NULL;
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_output(graph, &foreign, 1, &error), "'g'",
                 "'other'");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_output(graph, &none, 1, &error), "'g'", "NULL");
    output(graph, a, a);
    assert_int_equal(fer_graph_num_outputs(graph), 2);
    assert_ptr_equal(fer_graph_output_at(graph, 1), a);

    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_output(graph, &a, 1, &error), "'g'",
                 "outputs already");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_stage(graph, relu, &a, 1, &result, 1, &error),
                 "'g'", "finished");
    fer_tensor *one = FLOATS(1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_constant(graph, one, &result, &error), "'g'");
    fer_dim *n = make_dim("n");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_rebind(graph, a, (const fer_dim *const[]){n}, 1, &result, &error),
                 "'g'");
    fer_dim_release(n);
    fer_tensor_release(one);
    fer_op_release(relu);
    fer_module_release(module);
}

static void a_staged_op_records_its_token(void **state)
{
    (void)state;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_op *relu = make_op("relu(x: f32[*s]) -> f32[*s]");
    stage_one(graph, relu, fer_graph_input_at(graph, 0), NULL);
    assert_string_equal(graph->body.nodes[0]->token, fer_op_token(relu));
    fer_op_release(relu);
    assert_memory_equal(graph->body.nodes[0]->token, "relu#", 5); /* the graph keeps the op */
    fer_module_release(module);
}

/* --- Data-dependent dims ---------------------------------------------------------------------- */

#define KEPT_0 "__dyn_g_frag_mxf353_filter_0_kept_65b13b9cb2e8152f"

static void data_dependent_dims_get_names(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    char *name = NULL;
    ASSERT_OK(&error, fer_dynamic_dim_name("g.frag", "mxf353_filter", 0, "kept", &name, &error));
    assert_string_equal(name, KEPT_0);
    free(name);

    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g.frag", TYPES("f32[n]"));
    fer_op *filter = make_op("mxf353_filter(x: f32[*s]) -> (f32[*s, kept], i64[3])");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *results[2];
    ASSERT_OK(&error, fer_graph_stage(graph, filter, &a, 1, results, 2, &error));
    assert_type(results[0], "f32[n, " KEPT_0 "]");
    assert_type(results[1], "i64[3]");

    fer_value *more[2];
    ASSERT_OK(&error, fer_graph_stage(graph, filter, &a, 1, more, 2, &error));
    const fer_dim *second = fer_type_dim(fer_value_type(more[0]), 1);
    assert_memory_equal(fer_dim_text(second), "__dyn_g_frag_mxf353_filter_1_kept_", 34);
    assert_false(fer_dim_equal(second, fer_type_dim(fer_value_type(results[0]), 1)));
    fer_op_release(filter);
    fer_module_release(module);
}

static void a_data_dependent_dim_that_is_there_is_refused(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g.frag", TYPES("f32[n]", "f32[" KEPT_0 "]"));
    fer_op *filter = make_op("mxf353_filter(x: f32[n]) -> f32[kept]");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_stage(graph, filter, &a, 1, &result, 1, &error),
                 "mxf353_filter", KEPT_0);
    assert_int_equal(fer_graph_num_ops(graph), 0);
    fer_op_release(filter);
    fer_module_release(module);
}

/* --- Rebind ----------------------------------------------------------------------------------- */

static void rebind_gives_the_type(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[h, w]"));
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *y = NULL;
    fer_dim *h = make_dim("h"), *four = make_dim("4"), *fresh = make_dim("fresh"),
            *half = make_dim("fresh // 2"), *unknown = make_dim("unknown // 2");
    ASSERT_OK(&error, fer_graph_rebind(graph, a, (const fer_dim *const[]){h, four}, 2, &y, &error));
    assert_type(y, "f32[h, 4]");
    ASSERT_OK(&error,
              fer_graph_rebind(graph, a, (const fer_dim *const[]){half, fresh}, 2, &y, &error));
    assert_type(y, "f32[fresh // 2, fresh]");

    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_rebind(graph, a, (const fer_dim *const[]){h}, 1, &y, &error), "'g'",
                 "rank 2");
    assert_null(y);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_rebind(graph, a, (const fer_dim *const[]){h, unknown}, 2, &y, &error),
                 "axis 1", "unknown");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_rebind(graph, a, (const fer_dim *const[]){h, NULL}, 2, &y, &error),
                 "axis 1");
    fer_dim_release(h);
    fer_dim_release(four);
    fer_dim_release(fresh);
    fer_dim_release(half);
    fer_dim_release(unknown);
    fer_module_release(module);
}

static void rebind_refuses_what_is_never_true(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[4, n]"));
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *y = NULL;
    fer_dim *five = make_dim("5"), *n = make_dim("n"), *longer = make_dim("n + 1"),
            *four = make_dim("4");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_rebind(graph, a, (const fer_dim *const[]){five, n}, 2, &y, &error),
                 "axis 0", "4", "5");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_rebind(graph, a, (const fer_dim *const[]){four, longer}, 2, &y, &error),
                 "axis 1", "n + 1");
    fer_dim_release(five);
    fer_dim_release(n);
    fer_dim_release(longer);
    fer_dim_release(four);
    fer_module_release(module);
}

static void rebind_opens_the_way_past_a_pinned_dim(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n, k]"));
    fer_op *rows = make_op("rows<g: int = 4>(x: f32[n, g]) -> f32[n]");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *y = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_stage(graph, rows, &a, 1, &y, 1, &error),
                 "rows", "'x'", "g", "4", "k", "rebind");
    fer_dim *n = make_dim("n"), *four = make_dim("4");
    ASSERT_OK(&error, fer_graph_rebind(graph, a, (const fer_dim *const[]){n, four}, 2, &y, &error));
    assert_type(stage_one(graph, rows, y, NULL), "f32[n]");
    fer_dim_release(n);
    fer_dim_release(four);
    fer_op_release(rows);
    fer_module_release(module);
}

/* --- Ops that change their operands ----------------------------------------------------------- */

static void an_inout_operand_shares_no_memory(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("inout f32[n]", "f32[n]"));
    fer_op *accumulate = make_op("accumulate(inout total: f32[n], x: f32[n]) -> ()");
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *b = fer_graph_input_at(graph, 1);
    fer_value *alias = NULL;
    fer_dim *n = make_dim("n");
    ASSERT_OK(&error, fer_graph_rebind(graph, a, (const fer_dim *const[]){n}, 1, &alias, &error));
    ASSERT_OK(&error,
              fer_graph_stage(graph, accumulate, (fer_value *[]){a, b}, 2, NULL, 0, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(graph, accumulate, (fer_value *[]){a, a}, 2, NULL, 0, &error),
                 "accumulate", "'total'", "'x'");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(graph, accumulate, (fer_value *[]){a, alias}, 2, NULL, 0, &error),
                 "accumulate", "'total'", "'x'");
    fer_dim_release(n);
    fer_op_release(accumulate);
    fer_module_release(module);
}

/* --- Verification ----------------------------------------------------------------------------- */

/* A graph with two ops, b = relu(a) and c = relu(b), that tests then damage. */
static fer_graph *make_two_steps(fer_module *module)
{
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]", "f64[n]"));
    fer_op *relu = make_op("relu(x: f32[n]) -> f32[n]");
    fer_value *b = stage_one(graph, relu, fer_graph_input_at(graph, 0), NULL);
    output(graph, stage_one(graph, relu, b, NULL), NULL);
    fer_op_release(relu);
    return graph;
}

static void verify_accepts_a_good_graph(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    ASSERT_OK(&error, fer_graph_verify(make_two_steps(module), &error));
    fer_module_release(module);
}

static void verify_finds_a_use_before_the_definition(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_two_steps(module);
    fer_value *kept = graph->body.nodes[0]->operands[0];
    graph->body.nodes[0]->operands[0] = graph->body.nodes[1]->results[0];
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(graph, &error), "'g'", "step 0",
                 "not defined");
    graph->body.nodes[0]->operands[0] = kept;
    fer_module_release(module);
}

static void verify_finds_a_wrong_type(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_two_steps(module);
    fer_value *broken = graph->body.nodes[1]->results[0];
    fer_type *kept = broken->type;
    broken->type = make_type("f32[n + 1]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(graph, &error), "'g'", "step 1",
                 "f32[n]", "f32[n + 1]");
    fer_type_release(broken->type);
    broken->type = kept;

    fer_value *operand = graph->body.nodes[0]->operands[0];
    graph->body.nodes[0]->operands[0] = fer_graph_input_at(graph, 1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(graph, &error), "relu", "f64");
    graph->body.nodes[0]->operands[0] = operand;
    fer_module_release(module);
}

static void verify_finds_a_foreign_token(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_two_steps(module);
    graph->body.nodes[0]->token = "other#0123456789abcdef";
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(graph, &error), "'g'", "step 0", "relu");
    fer_module_release(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_the_bound_types),
        cmocka_unit_test(an_expression_binds_a_symbol),
        cmocka_unit_test(a_module_finds_its_graphs),
        cmocka_unit_test(inputs_are_checked),
        cmocka_unit_test(staging_checks_as_a_call_does),
        cmocka_unit_test(one_variable_serves_a_whole_chain),
        cmocka_unit_test(an_incomplete_op_is_not_staged),
        cmocka_unit_test(a_finished_graph_takes_nothing),
        cmocka_unit_test(a_staged_op_records_its_token),
        cmocka_unit_test(data_dependent_dims_get_names),
        cmocka_unit_test(a_data_dependent_dim_that_is_there_is_refused),
        cmocka_unit_test(rebind_gives_the_type),
        cmocka_unit_test(rebind_refuses_what_is_never_true),
        cmocka_unit_test(rebind_opens_the_way_past_a_pinned_dim),
        cmocka_unit_test(an_inout_operand_shares_no_memory),
        cmocka_unit_test(verify_accepts_a_good_graph),
        cmocka_unit_test(verify_finds_a_use_before_the_definition),
        cmocka_unit_test(verify_finds_a_wrong_type),
        cmocka_unit_test(verify_finds_a_foreign_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
