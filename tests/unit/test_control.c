/* Building control flow, calls and copies: types, what can be seen where, refusals that leave the
 * graph as it was. */
#include "testing_graph.h"

/* What most tests build on. */
typedef struct fixture {
    fer_module *module;
    fer_graph *graph;
    fer_op *relu, *every, *mask, *accumulate, *flag;
    fer_value *x, *c;
} fixture;

static fixture make_fixture(void)
{
    fixture f = {.module = make_module()};
    f.graph = make_graph(f.module, "g", TYPES("f32[n]", "bool[]"));
    f.relu = make_op("relu(x: f32[n]) -> f32[n]");
    f.every = make_op("every(x: f32[n]) -> f32[n // 2]");
    f.mask = make_op("mask(x: f32[n]) -> f32[kept]");
    f.accumulate = make_op("accumulate(inout total: f32[n], x: f32[n]) -> ()");
    f.flag = make_op("flag(x: f32[n]) -> bool[]");
    f.x = fer_graph_input_at(f.graph, 0);
    f.c = fer_graph_input_at(f.graph, 1);
    return f;
}

static void clear_fixture(fixture *f)
{
    fer_op_release(f->relu);
    fer_op_release(f->every);
    fer_op_release(f->mask);
    fer_op_release(f->accumulate);
    fer_op_release(f->flag);
    fer_module_release(f->module);
}

static fer_value *rebind_to(fer_graph *graph, fer_value *value, const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = make_dim(text);
    fer_value *result = NULL;
    ASSERT_OK(&error,
              fer_graph_rebind(graph, value, (const fer_dim *const *)&dim, 1, &result, &error));
    fer_dim_release(dim);
    return result;
}

/* A module that prints as text that reads back to it. */
static void assert_round_trip(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    fer_module *again = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    ASSERT_OK(&error, parse_program(text, &again, &error));
    if (!fer_module_equal(module, again))
        fail_msg("not the same module:\n%s", text);
    fer_module_release(again);
    fer_string_free(text);
}

/* --- if --------------------------------------------------------------------------------------- */

static void an_if_gives_what_both_arms_yield(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    fer_value *first[] = {stage_one(f.graph, f.relu, f.x, NULL), f.x};
    ASSERT_OK(&error, fer_graph_else(f.graph, first, 2, &error));
    fer_value *other[] = {f.x, stage_one(f.graph, f.relu, f.x, NULL)};
    ASSERT_OK(&error, fer_graph_end_if(f.graph, other, 2, other, &error));
    assert_type(other[0], "f32[n]");
    assert_type(other[1], "f32[n]");
    assert_int_equal(fer_graph_num_ops(f.graph), 2);
    output(f.graph, stage_one(f.graph, f.relu, other[0], NULL), other[1]);
    assert_round_trip(f.module);
    clear_fixture(&f);
}

static void arms_that_differ_are_refused_and_can_be_mended(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    fer_value *first[] = {f.x, stage_one(f.graph, f.every, f.x, NULL)};
    ASSERT_OK(&error, fer_graph_else(f.graph, first, 2, &error));
    fer_value *results[2];
    fer_value *other[] = {f.x, f.x};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_end_if(f.graph, other, 2, results, &error),
                 "graph 'g': if: result 1 is f32[n // 2] in the first arm, but f32[n] in the else "
                 "arm");
    assert_null(results[1]);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_end_if(f.graph, other, 1, results, &error),
                 "'g'", "first arm yields 2 values", "else arm 1");
    other[1] = stage_one(f.graph, f.every, f.x, NULL);
    ASSERT_OK(&error, fer_graph_end_if(f.graph, other, 2, results, &error));
    output(f.graph, results[0], results[1]);
    assert_round_trip(f.module);
    clear_fixture(&f);
}

static void a_predicate_is_one_bool(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_if(f.graph, f.x, &error), "'g'",
                 "predicate of if", "f32[n]", "bool[]");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_if(f.graph, NULL, &error), "'g'", "NULL");
    ASSERT_OK(&error, fer_graph_while(f.graph, NULL, 0, NULL, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_do(f.graph, f.x, &error), "condition", "f32[n]",
                 "bool[]");
    clear_fixture(&f); /* also what has not ended */
}

/* The name of a dim that only one arm knows is no type of the result. */
static void a_size_found_in_an_arm_stays_there(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    fer_value *kept = stage_one(f.graph, f.mask, f.x, NULL);
    ASSERT_OK(&error, fer_graph_else(f.graph, &kept, 1, &error));
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_end_if(f.graph, &f.x, 1, &result, &error),
                 "result 0", "__dyn_g_mask_0_kept", "first arm", "only an arm knows",
                 "rebind it in both arms");
    clear_fixture(&f);
}

static void a_new_name_in_both_arms_becomes_the_graphs(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    fer_value *kept = rebind_to(f.graph, stage_one(f.graph, f.mask, f.x, NULL), "m");
    ASSERT_OK(&error, fer_graph_else(f.graph, &kept, 1, &error));
    fer_value *all = rebind_to(f.graph, f.x, "m");
    fer_value *result = NULL;
    ASSERT_OK(&error, fer_graph_end_if(f.graph, &all, 1, &result, &error));
    assert_type(result, "f32[m]");
    fer_value *half = stage_one(f.graph, f.every, result, NULL);
    assert_type(half, "f32[m // 2]");
    output(f.graph, half, rebind_to(f.graph, f.x, "2 * m"));
    assert_round_trip(f.module);
    clear_fixture(&f);
}

/* m is not the result's: nothing says how large it is. */
static void an_expression_over_a_name_of_an_arm_is_refused(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_value *values[2];
    for (size_t i = 0; i < 2; i++) {
        if (i == 0)
            ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
        else
            ASSERT_OK(&error, fer_graph_else(f.graph, values, 1, &error));
        values[i] = stage_one(f.graph, f.every, rebind_to(f.graph, f.x, "m"), NULL);
        if (i == 0)
            continue;
        fer_value *result = NULL;
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_graph_end_if(f.graph, &values[1], 1, &result, &error), "f32[m // 2]",
                     "knows what m is");
    }
    clear_fixture(&f);
}

/* --- What can be seen ------------------------------------------------------------------------- */

static void a_value_ends_with_its_block(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    fer_value *a = stage_one(f.graph, f.relu, f.x, NULL);
    ASSERT_OK(&error, fer_graph_else(f.graph, &a, 1, &error));
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_stage(f.graph, f.relu, &a, 1, &result, 1, &error), "relu: operand 'x'",
                 "the first arm of if", "has ended");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_end_if(f.graph, &a, 1, &result, &error), "'g'",
                 "the first arm of if", "has ended");
    fer_value *b = stage_one(f.graph, f.relu, f.x, NULL);
    ASSERT_OK(&error, fer_graph_end_if(f.graph, &b, 1, &result, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_output(f.graph, &b, 1, &error), "'g'",
                 "the else arm of if", "has ended");
    output(f.graph, result, NULL);
    clear_fixture(&f);
}

static void the_body_sees_what_the_condition_made(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_value *carried = NULL, *result = NULL;
    ASSERT_OK(&error, fer_graph_while(f.graph, &f.x, 1, &carried, &error));
    assert_type(carried, "f32[n]");
    fer_value *next = stage_one(f.graph, f.relu, carried, NULL);
    ASSERT_OK(&error, fer_graph_do(f.graph, stage_one(f.graph, f.flag, next, NULL), &error));
    fer_value *last = stage_one(f.graph, f.relu, next, NULL);
    ASSERT_OK(&error, fer_graph_end_while(f.graph, &last, 1, &result, &error));
    assert_type(result, "f32[n]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_output(f.graph, &carried, 1, &error),
                 "the condition of while", "has ended");
    output(f.graph, result, NULL);
    assert_round_trip(f.module);
    clear_fixture(&f);
}

static void a_graph_ends_when_its_blocks_have(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_else(f.graph, NULL, 0, &error), "'g'", "else",
                 "the body of the graph");
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_output(f.graph, &f.x, 1, &error), "'g'",
                 "the first arm of if has not ended");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_do(f.graph, f.c, &error), "'g'", "do",
                 "the first arm of if");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_end_if(f.graph, NULL, 0, &result, &error),
                 "'g'", "end of if", "the first arm of if");
    ASSERT_OK(&error, fer_graph_else(f.graph, NULL, 0, &error));
    ASSERT_OK(&error, fer_graph_end_if(f.graph, NULL, 0, NULL, &error));
    output(f.graph, f.x, NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_if(f.graph, f.c, &error), "'g'", "finished");
    clear_fixture(&f);
}

static void blocks_nest_to_a_depth(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    for (size_t i = 0; i < FER_MAX_DEPTH; i++)
        ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_if(f.graph, f.c, &error), "'g'", "if",
                 "deeper than 100");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_while(f.graph, NULL, 0, NULL, &error), "'g'",
                 "while", "deeper than 100");
    for (size_t i = 0; i < FER_MAX_DEPTH; i++) {
        ASSERT_OK(&error, fer_graph_else(f.graph, NULL, 0, &error));
        ASSERT_OK(&error, fer_graph_end_if(f.graph, NULL, 0, NULL, &error));
    }
    output(f.graph, f.x, NULL);
    assert_round_trip(f.module);
    clear_fixture(&f);
}

#define ASSERT_LEFT(call)                                                                          \
    do {                                                                                           \
        assert_int_equal(call, FER_VALUE_ERROR);                                                   \
        assert_string_equal(error.message,                                                         \
                            "graph 'g': its building was left by an exception, KeyError, in the "  \
                            "first arm of if; build it anew");                                     \
        fer_error_clear(&error);                                                                   \
    } while (0)

static void a_graph_that_is_abandoned_says_so(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_value *value = NULL;
    fer_tensor *tensor = make_floats(1, &(float){1});
    fer_model *model = NULL;
    fer_graph *copy = NULL;
    char *text = NULL;
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    ASSERT_OK(&error, fer_graph_abandon(f.graph, "an exception, KeyError", &error));
    ASSERT_OK(&error, fer_graph_abandon(f.graph, "another one", &error));
    ASSERT_LEFT(fer_graph_output(f.graph, &f.x, 1, &error));
    ASSERT_LEFT(fer_graph_constant(f.graph, tensor, &value, &error));
    ASSERT_LEFT(fer_graph_stage(f.graph, f.relu, &f.x, 1, &value, 1, &error));
    ASSERT_LEFT(fer_graph_if(f.graph, f.c, &error));
    ASSERT_LEFT(fer_graph_else(f.graph, NULL, 0, &error));
    ASSERT_LEFT(fer_graph_while(f.graph, NULL, 0, NULL, &error));
    ASSERT_LEFT(fer_graph_copy(f.module, f.graph, "h", &copy, &error));
    ASSERT_LEFT(fer_model_create(f.graph, NULL, &model, &error));
    ASSERT_LEFT(fer_module_print(f.module, &text, &error));
    fer_tensor_release(tensor);
    clear_fixture(&f);

    f = make_fixture();
    output(f.graph, f.x, NULL);
    ASSERT_OK(&error, fer_graph_abandon(f.graph, "an exception, KeyError", &error));
    assert_round_trip(f.module); /* it was finished */
    clear_fixture(&f);
}

/* --- while ------------------------------------------------------------------------------------ */

/* Ends a loop over x, whose body yields `next`. */
static fer_status end_loop(fixture *f, fer_value *next, fer_error *error)
{
    fer_value *result = NULL;
    return fer_graph_end_while(f->graph, &next, 1, &result, error);
}

static void a_loop_carries_values_of_one_type(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_value *carried = NULL;
    ASSERT_OK(&error, fer_graph_while(f.graph, &f.x, 1, &carried, &error));
    ASSERT_OK(&error, fer_graph_do(f.graph, f.c, &error));
    fer_value *half = stage_one(f.graph, f.every, carried, NULL);
    fer_value *kept = stage_one(f.graph, f.mask, carried, NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, end_loop(&f, half, &error), "'g'",
                 "while: carried value 0 is f32[n], but the body yields f32[n // 2] for it",
                 "size stays");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, end_loop(&f, kept, &error), "__dyn_g_mask_1_kept",
                 "size stays");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, end_loop(&f, f.c, &error), "f32[n]", "bool[]",
                 "one type");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_end_while(f.graph, NULL, 0, NULL, &error),
                 "carries 1 value,", "yields 0");
    ASSERT_OK(&error, end_loop(&f, rebind_to(f.graph, kept, "n"), &error));
    output(f.graph, f.x, NULL);
    assert_round_trip(f.module);
    clear_fixture(&f);
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* Half of an input, and what is kept of it. */
static fer_graph *make_callee(const fixture *f)
{
    fer_graph *callee = make_graph(f->module, "callee", TYPES("f32[k]", "f32[k, 3]"));
    fer_value *half = stage_one(callee, f->every, fer_graph_input_at(callee, 0), NULL);
    output(callee, half, stage_one(callee, f->mask, half, NULL));
    return callee;
}

static void a_call_binds_the_dims_of_its_arguments(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_graph *callee = make_callee(&f);
    fer_graph *caller = make_graph(f.module, "caller", TYPES("f32[n]", "f32[n, 3]"));
    fer_value *arguments[] = {fer_graph_input_at(caller, 0), fer_graph_input_at(caller, 1)};
    fer_value *results[2], *again[2];
    ASSERT_OK(&error, fer_graph_call(caller, callee, arguments, 2, results, 2, &error));
    assert_type(results[0], "f32[n // 2]");
    char *name = NULL;
    char *inner = NULL;
    ASSERT_OK(&error, fer_dynamic_dim_name("callee", "mask", 1, "kept", &inner, &error));
    ASSERT_OK(&error, fer_dynamic_dim_name("caller", "callee", 0, inner, &name, &error));
    assert_string_equal(fer_dim_text(fer_type_dim(fer_value_type(results[1]), 0)), name);
    ASSERT_OK(&error, fer_graph_call(caller, callee, arguments, 2, again, 2, &error));
    assert_false(fer_type_equal(fer_value_type(results[1]), fer_value_type(again[1])));
    output(caller, results[1], again[1]);
    output(f.graph, f.x, NULL);
    assert_round_trip(f.module);
    free(name);
    free(inner);
    clear_fixture(&f);
}

static void calls_are_checked_as_those_of_ops_are(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_graph *callee = make_callee(&f);
    fer_graph *caller =
        make_graph(f.module, "caller", TYPES("f32[n]", "f32[m, 3]", "f64[n]", "f32[n, 4]"));
    fer_value *results[2];
    fer_value *in[4];
    for (size_t i = 0; i < 4; i++)
        in[i] = fer_graph_input_at(caller, i);
#define ASSERT_CALL_FAILS(kind, a, b, ...)                                                         \
    ASSERT_FAILS(&error, kind,                                                                     \
                 fer_graph_call(caller, callee, (fer_value *[]){a, b}, 2, results, 2, &error),     \
                 __VA_ARGS__)
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, in[0], in[1],
                      "graph 'caller': call of 'callee': input 'b' axis 0 is m, but k is n, bound "
                      "by input 'a' axis 0; if the two are equal, rebind");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, in[0], in[3], "'b' axis 1 is 4, but the graph takes 3");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, in[2], in[1], "'a' has dtype f64", "f32");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, in[0], in[0], "'b' has rank 1", "rank 2");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, in[0], f.x, "another graph, 'g'");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_call(caller, callee, in, 3, results, 2, &error),
                 "'caller'", "'callee'", "expected 2 inputs, got 3");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_call(caller, callee, in, 2, results, 1, &error),
                 "'callee'", "room for 2 results");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_graph_call(caller, NULL, in, 2, results, 2, &error),
                 "NULL");
    clear_fixture(&f);
}

static void recursion_cannot_be_built(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_value *arguments[] = {f.x, f.c};
    fer_value *result = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_call(f.graph, f.graph, arguments, 2, &result, 1, &error),
                 "'g' cannot call itself");
    fer_graph *other = make_graph(f.module, "other", TYPES("f32[n]", "bool[]"));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_call(f.graph, other, arguments, 2, &result, 1, &error), "'other'",
                 "no outputs yet");
    fer_module *elsewhere = make_module();
    fer_graph *foreign = make_graph(elsewhere, "foreign", TYPES("f32[n]", "bool[]"));
    output(foreign, fer_graph_input_at(foreign, 0), NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_graph_call(f.graph, foreign, arguments, 2, &result, 1, &error), "'foreign'",
                 "another module");
    fer_module_release(elsewhere);
    clear_fixture(&f);
}

static void calls_nest_to_a_depth(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    output(f.graph, f.x, NULL);
    fer_graph *callee = f.graph;
    fer_value *arguments[2], *result = NULL;
    char name[16];
    for (size_t i = 0; i <= FER_MAX_DEPTH; i++) {
        snprintf(name, sizeof name, "g%zu", i);
        fer_graph *graph = make_graph(f.module, name, TYPES("f32[n]", "bool[]"));
        arguments[0] = fer_graph_input_at(graph, 0);
        arguments[1] = fer_graph_input_at(graph, 1);
        if (i == FER_MAX_DEPTH) {
            ASSERT_FAILS(&error, FER_VALUE_ERROR,
                         fer_graph_call(graph, callee, arguments, 2, &result, 1, &error), "'g100'",
                         "'g99'", "deeper than 100");
            break;
        }
        ASSERT_OK(&error, fer_graph_call(graph, callee, arguments, 2, &result, 1, &error));
        output(graph, result, NULL);
        callee = graph;
    }
    clear_fixture(&f);
}

/* Twice each: 2^40 calls in all, in forty lines. */
static void calls_that_multiply_are_refused(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    output(f.graph, f.x, NULL);
    fer_graph *callee = f.graph;
    char name[16];
    for (size_t i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "g%zu", i);
        fer_graph *graph = make_graph(f.module, name, TYPES("f32[n]", "bool[]"));
        fer_value *arguments[] = {fer_graph_input_at(graph, 0), fer_graph_input_at(graph, 1)};
        for (size_t j = 0; j < 2; j++)
            ASSERT_OK(&error,
                      fer_graph_call(graph, callee, arguments, 2, &arguments[0], 1, &error));
        output(graph, arguments[0], NULL);
        callee = graph;
    }
    fer_model *model = NULL;
    ASSERT_FAILS(&error, FER_UNSUPPORTED_ERROR, fer_model_create(callee, NULL, &model, &error),
                 "'g39'", "too many");
    clear_fixture(&f);
}

static void a_call_that_changes_an_argument_has_an_effect(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_graph *callee = make_graph(f.module, "callee", TYPES("inout f32[n]", "f32[n]"));
    fer_value *in[] = {fer_graph_input_at(callee, 0), fer_graph_input_at(callee, 1)};
    ASSERT_OK(&error, fer_graph_stage(callee, f.accumulate, in, 2, NULL, 0, &error));
    ASSERT_OK(&error, fer_graph_output(callee, NULL, 0, &error));
    fer_value *y = stage_one(f.graph, f.relu, f.x, NULL);
    fer_value *same[] = {y, rebind_to(f.graph, y, "n")};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_call(f.graph, callee, same, 2, NULL, 0, &error),
                 "'callee'", "input 'a' is inout", "input 'b' shares its memory");
    same[1] = f.x;
    ASSERT_OK(&error, fer_graph_call(f.graph, callee, same, 2, NULL, 0, &error));
    assert_true(fer_node_has_effect(f.graph->body.nodes[f.graph->body.num_nodes - 1]));
    assert_true(y->is_changed && !fer_value_is_inout(y));
    clear_fixture(&f);
}

/* --- Copies ----------------------------------------------------------------------------------- */

static void a_copy_is_the_same_graph_under_another_name(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, parse_program("op f(x: f32[n]) -> f32[n]\n"
                                    "op put(inout t: f32[n], x: f32[n]) -> ()\n"
                                    "op flag(x: f32[n]) -> bool[]\n"
                                    "graph inner(x: f32[n]) { return x }\n"
                                    "graph g(x: f32[n], inout t: f32[4]) {\n"
                                    "  k = constant f32[4] [1, 2, 3, 4]\n"
                                    "  s = while s = x { c = flag(s) yield c } do {\n"
                                    "    u = if c { a = f(s) yield a } else { yield s }\n"
                                    "    put(k, t)\n"
                                    "    w = call inner(u)\n"
                                    "    yield w }\n"
                                    "  r = rebind s [4]\n"
                                    "  put(t, r)\n"
                                    "  return r, k, t }",
                                    &module, &error));
    fer_graph *original = fer_module_find(module, "g");
    fer_graph *copy = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_copy(module, original, "inner", &copy, &error),
                 "'inner' already");
    ASSERT_OK(&error, fer_graph_copy(module, original, "h", &copy, &error));
    assert_ptr_equal(fer_module_find(module, "h"), copy);
    assert_round_trip(module);
    char *text = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    const char *first = strstr(text, "graph g(") + strlen("graph g");
    const char *second = strstr(text, "graph h(") + strlen("graph h");
    size_t length = (size_t)(strstr(first, "\n\n") - first);
    assert_memory_equal(first, second, length); /* but for its name */
    assert_int_equal(strlen(second), length + 1);
    assert_true(fer_value_is_inout(fer_graph_input_at(copy, 1)));
    assert_false(fer_value_is_inout(fer_graph_input_at(copy, 0)));

    fer_module *elsewhere = make_module();
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_copy(elsewhere, original, "g", &copy, &error),
                 "'g' calls graphs");
    ASSERT_OK(&error,
              fer_graph_copy(elsewhere, fer_module_find(module, "inner"), "g", &copy, &error));
    fer_module_release(module);
    assert_round_trip(elsewhere);
    fer_string_free(text);
    fer_module_release(elsewhere);
}

static void a_graph_that_holds_a_data_dependent_dim_is_not_copied(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    fer_graph *copy = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_copy(f.module, f.graph, "h", &copy, &error),
                 "'g'", "no outputs yet");
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    stage_one(f.graph, f.mask, f.x, NULL);
    ASSERT_OK(&error, fer_graph_else(f.graph, NULL, 0, &error));
    ASSERT_OK(&error, fer_graph_end_if(f.graph, NULL, 0, NULL, &error));
    output(f.graph, f.x, NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_copy(f.module, f.graph, "h", &copy, &error),
                 "'g'", "data-dependent dim");
    assert_null(fer_module_find(f.module, "h"));
    clear_fixture(&f);
}

/* --- The verifier ----------------------------------------------------------------------------- */

static void verify_finds_what_building_refuses(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fixture f = make_fixture();
    ASSERT_OK(&error, fer_graph_if(f.graph, f.c, &error));
    fer_value *a = stage_one(f.graph, f.relu, f.x, NULL);
    ASSERT_OK(&error, fer_graph_else(f.graph, &a, 1, &error));
    fer_value *result = NULL;
    ASSERT_OK(&error, fer_graph_end_if(f.graph, &f.x, 1, &result, &error));
    output(f.graph, result, NULL);
    ASSERT_OK(&error, fer_graph_verify(f.graph, &error));
    const fer_node *node = f.graph->body.nodes[0];

    f.graph->outputs[0] = a;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(f.graph, &error), "output 0",
                 "does not define");
    f.graph->outputs[0] = result;

    node->blocks[1]->results[0] = a;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(f.graph, &error), "not defined before");
    node->blocks[1]->results[0] = f.c;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(f.graph, &error), "f32[n]", "bool[]");
    node->blocks[1]->results[0] = f.x;

    node->operands[0] = f.x;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(f.graph, &error), "predicate");
    node->operands[0] = f.c;

    node->blocks[0]->has_effect = true;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_graph_verify(f.graph, &error), "has an effect",
                 "the body of the graph");
    node->blocks[0]->has_effect = false;
    ASSERT_OK(&error, fer_graph_verify(f.graph, &error));
    clear_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_if_gives_what_both_arms_yield),
        cmocka_unit_test(arms_that_differ_are_refused_and_can_be_mended),
        cmocka_unit_test(a_predicate_is_one_bool),
        cmocka_unit_test(a_size_found_in_an_arm_stays_there),
        cmocka_unit_test(a_new_name_in_both_arms_becomes_the_graphs),
        cmocka_unit_test(an_expression_over_a_name_of_an_arm_is_refused),
        cmocka_unit_test(a_value_ends_with_its_block),
        cmocka_unit_test(the_body_sees_what_the_condition_made),
        cmocka_unit_test(a_graph_ends_when_its_blocks_have),
        cmocka_unit_test(blocks_nest_to_a_depth),
        cmocka_unit_test(a_graph_that_is_abandoned_says_so),
        cmocka_unit_test(a_loop_carries_values_of_one_type),
        cmocka_unit_test(a_call_binds_the_dims_of_its_arguments),
        cmocka_unit_test(calls_are_checked_as_those_of_ops_are),
        cmocka_unit_test(recursion_cannot_be_built),
        cmocka_unit_test(calls_nest_to_a_depth),
        cmocka_unit_test(calls_that_multiply_are_refused),
        cmocka_unit_test(a_call_that_changes_an_argument_has_an_effect),
        cmocka_unit_test(a_copy_is_the_same_graph_under_another_name),
        cmocka_unit_test(a_graph_that_holds_a_data_dependent_dim_is_not_copied),
        cmocka_unit_test(verify_finds_what_building_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
