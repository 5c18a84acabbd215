/* Faults of programs: each is told with its place, the graph, the op, and what was meant. */
#include "testing_graph.h"

#define ASSERT_REFUSED(kind, program, ...)                                                         \
    do {                                                                                           \
        fer_error refusal = FER_ERROR_INIT;                                                        \
        fer_module *refused = NULL;                                                                \
        ASSERT_FAILS(&refusal, kind, parse_program(program, &refused, &refusal), __VA_ARGS__);     \
        assert_null(refused);                                                                      \
    } while (0)

static fer_module *parse_good(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, parse_program(text, &module, &error));
    return module;
}

static void faults_of_syntax_have_their_place(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "grph g", "t.fer:1:1", "'use', 'op' or 'graph'", "grph");
    ASSERT_REFUSED(FER_VALUE_ERROR, "\n  use kernels", "t.fer:2:7", "quotes");
    ASSERT_REFUSED(FER_VALUE_ERROR, "use \"a\\u0000b\"", "t.fer:1:5", "byte 0");
    ASSERT_REFUSED(FER_VALUE_ERROR, "op f(x: f32[n]) -> f32[n", "t.fer:1:25");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x f32[n]) { return x }", "t.fer:1:11", "':'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n] { return x }", "t.fer:1:19", "')'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n]) return x }", "t.fer:1:20", "'{'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n]) { }", "t.fer:1:22", "'g'", "return");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n]) { return x y }", "t.fer:1:31", "'}'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n]) { return x", "t.fer:1:30", "'}'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n]) { y relu(x) return x }", "t.fer:1:24",
                   "'='");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n]) { nan = relu(x) return x }", "t.fer:1:22",
                   "nan", "quotes");
    ASSERT_REFUSED(FER_TYPE_ERROR, "graph g(x: f31[n]) { return x }", "t.fer:1:12", "f31");
    ASSERT_REFUSED(FER_TYPE_ERROR, "\ngraph g(x: f32[n // 2]) { return x }", "t.fer:2:7", "'g'",
                   "'x'", "n // 2");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[n] @ 99) { return x }", "t.fer:1:21",
                   "device 99");
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   "graph g(x: f32[n]) -> f32[n] { return x } graph g() { return }",
                   "t.fer:1:49: the program has a graph 'g' already");
    ASSERT_REFUSED(FER_VALUE_ERROR, "op f(x: f32[n]) -> f32[n] op f(y: f32[n]) -> f32[n]",
                   "t.fer:1:30", "'f'");
}

#define RELU "op relu(x: f32[n]) -> f32[n]\n"
#define ADD "op add<T>(x: T[n], y: T[n]) -> T[n]\n"

static void unknown_names_are_told_with_near_ones(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(image: f32[n]) { y = rellu(image) return y }",
                   "t.fer:1:30", "'rellu'", "`op`");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(image: f32[n]) { y = rellu(image) return y }",
                   "t.fer:2:30", "'rellu'", "did you mean 'relu'?");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(image: f32[n]) { y = relu(imge) return y }",
                   "t.fer:2:35", "'g'", "'imge'", "did you mean 'image'?");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(image: f32[n]) { return picture }", "t.fer:1:33",
                   "'g'", "'picture'");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f32[n]) { y = relu(relu(x)) return y }",
                   "t.fer:2:31", "'relu'", "calls do not nest");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f32[n]) { return relu(x) }", "t.fer:2:29",
                   "calls do not nest");
    ASSERT_REFUSED(FER_VALUE_ERROR, ADD "graph g(x: f32[n]) { y = x + x return y }", "t.fer:2:26",
                   "'x' is no call", "no operators");
    ASSERT_REFUSED(FER_TYPE_ERROR, ADD "graph g(a: f32[n]) { y = add(a, z = a) return y }",
                   "t.fer:2:26", "'g'", "add", "'z'");
}

static void staging_refusals_name_place_graph_and_op(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f64[n]) { y = relu(x) return y }",
                   "t.fer:2:26: graph 'g': relu: operand 'x'", "f64");
    ASSERT_REFUSED(FER_TYPE_ERROR, ADD "graph g(x: f64[n]) { y = add(x) return y }",
                   "t.fer:2:26: graph 'g': add:", "'y'");
    ASSERT_REFUSED(FER_TYPE_ERROR, ADD "graph g(x: f64[n]) { y = add(x, x, x) return y }",
                   "t.fer:2:26: graph 'g': add: expected 2 operands, got 3");
    ASSERT_REFUSED(FER_TYPE_ERROR, ADD "graph g(x: f64[n]) { y = add(x, x = x) return y }",
                   "t.fer:2:26", "add", "'x'", "twice");
    ASSERT_REFUSED(FER_TYPE_ERROR, ADD "graph g(x: f64[n]) { y = add(x, 2) return y }",
                   "t.fer:2:26", "add", "'y'", "rank-0");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f32[n]) { a, b = relu(x) return a }",
                   "t.fer:2:29", "relu", "1 result", "2 names");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f32[n]) { relu(x) return x }", "t.fer:2:22",
                   "relu", "1 result", "0 names");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f32[n]) { x = relu(x) return x }",
                   "t.fer:2:22", "'x'", "already");
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   "op down<g: int>(x: f32[n]) -> f32[n // g]\n"
                   "graph g(x: f32[n]) { y = down(x) return y }",
                   "t.fer:2:26", "down", "g");
}

static void parameters_at_a_call_are_checked(void **state)
{
    (void)state;
#define DOWN "op down<g: int = 2>(x: f32[n]) -> f32[n // g]\n"
    ASSERT_REFUSED(FER_VALUE_ERROR, DOWN "graph g(x: f32[n]) { y = down<k = 2>(x) return y }",
                   "t.fer:2:26", "down", "k");
    ASSERT_REFUSED(FER_TYPE_ERROR, DOWN "graph g(x: f32[n]) { y = down<g = \"a\">(x) return y }",
                   "t.fer:2:26", "down", "g", "int", "str");
    ASSERT_REFUSED(FER_ZERO_DIVISION_ERROR,
                   DOWN "graph g(x: f32[n]) { y = down<g = 0>(x) return y }", "t.fer:2:26", "down");
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   DOWN "graph g(x: f32[n]) { y = down<g = 1, g = 2>(x) return y }", "t.fer:2:38",
                   "'g'", "twice");
}

static void declared_results_are_checked(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[h, w]) -> f32[h, w // 2] { return x }",
                   "t.fer:1:26", "'g'", "f32[h, w // 2]", "f32[h, w]");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[h]) -> (f32[h], f32[h]) { return x }",
                   "t.fer:1:42", "'g'", "2", "1");
    fer_module *module = parse_good("graph g(x: f32[h]) -> f32[(2 * h + 2) // 2 - 1] { return x }");
    fer_module_release(module); /* compared by their canonical form */
}

static void assert_refused_as(const char *program, const char *message)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    assert_int_not_equal(parse_program(program, &module, &error), FER_OK);
    assert_string_equal(error.message, message);
    fer_error_clear(&error);
}

static void constants_are_checked(void **state)
{
    (void)state;
#define CONSTANT(text) "graph g() { c = constant " text " return c }"
    /* The place is that of the fault, and stands once. */
    assert_refused_as(CONSTANT("f32[2, 2] [1, 2, 3]"),
                      "t.fer:1:36: f32[2, 2] has 4 elements, but 3 are given");
    assert_refused_as(CONSTANT("u8[1] [ 256]"),
                      "t.fer:1:34: 256 does not fit u8, which holds 0 to 255");
    assert_refused_as(CONSTANT("f32[n] [1]"),
                      "t.fer:1:33: the dims of a constant are numbers, but its type is f32[n]");
    assert_refused_as(CONSTANT("f32[1] [x]"),
                      "t.fer:1:34: expected a number, true or false, found 'x'");
    assert_refused_as(CONSTANT("f32[1] [- 1e999]"), "t.fer:1:34: - 1e999 does not fit f32");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("f32[2] [1, 2, 3]"), "2 elements", "3");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("u8[1] [256]"), "t.fer:1:33", "256", "u8");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("u8[1] [-1]"), "-1", "u8");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("i8[1] [0.5]"), "0.5", "i8");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("u64[1] [18446744073709551616]"), "u64");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("i64[1] [9223372036854775808]"), "i64");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("f32[1] [true]"), "true", "f32");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("bool[1] [1]"), "bool");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("f32[1] [1e300]"), "f32");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("f32[1] [nan(\"3f800000\")]"), "NaN", "8 hex digits");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("f32[1] [nan(\"7fc0\")]"), "8 hex digits");
    ASSERT_REFUSED(FER_TYPE_ERROR, CONSTANT("f32[n] [1]"), "f32[n]", "numbers");
    ASSERT_REFUSED(FER_VALUE_ERROR, CONSTANT("f32[1000000000000] [1]"), "1000000000000");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, CONSTANT("f32[4294967296, 4294967296] [1]"), "t.fer:1:26");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g() { a, b = constant f32[1] [1] return a }", "constant",
                   "2 names");
}

static void rebinds_are_checked(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[4]) { y = rebind x [5] return y }",
                   "t.fer:1:26", "'g'", "4", "5");
    ASSERT_REFUSED(FER_VALUE_ERROR, "graph g(x: f32[4]) { y = rebind x [k // 2] return y }",
                   "t.fer:1:26", "'g'", "k");
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   "graph g(x: f32[4]) { y = rebind x [1,2,3,4,5,6,7,8,9] return y }", "8 dims");
}

static void a_graph_is_named_once(void **state)
{
    (void)state;
    char name[128], program[512], message[512];
    char *dim = NULL;
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, fer_dynamic_dim_name("g", "mask", 0, "kept", &dim, &error));
    snprintf(name, sizeof name, "%s", dim);
    free(dim);
    snprintf(program, sizeof program,
             "op mask(x: f32[n]) -> f32[kept]\ngraph g(x: f32[%s]) { y = mask(x) return y }", name);
    snprintf(message, sizeof message,
             "t.fer:2:%zu: graph 'g': mask: the graph has a dim '%s' already, which is the name of "
             "this op's data-dependent dim",
             strlen("graph g(x: f32[]) { y = ") + strlen(name) + 1, name);
    assert_refused_as(program, message);
}

static void members_say_what_was_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *program, *op, *expected, *actual;
    } CASES[] = {
        {RELU "graph g(x: f32[n]) { a, b = relu(x) return a }", "relu", "1", "2"},
        {ADD "graph g(x: f32[n]) { a = add(x) return a }", "add", "2", "1"},
        {"graph g(x: f32[n]) -> (f32[n], f32[n]) { return x }", "", "2", "1"},
        {"graph g(x: f32[n]) -> f32[m] { return x }", "", "f32[m]", "f32[n]"},
        {"graph g() { c = constant u8[1] [256] return c }", "", "0 to 255", "256"},
        {"graph g(x: f32[n] @ 7) { return x }", "", "0", "7"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = NULL;
        assert_int_not_equal(parse_program(CASES[i].program, &module, &error), FER_OK);
        assert_string_equal(error.op == NULL ? "" : error.op, CASES[i].op);
        assert_string_equal(error.expected, CASES[i].expected);
        assert_string_equal(error.actual, CASES[i].actual);
        fer_error_clear(&error);
    }
}

static void numbers_at_a_call_are_checked(void **state)
{
    (void)state;
#define ONE "op one(x: u64[]) -> u64[]\n"
    fer_module *module = parse_good(ONE "graph g() { y = one(18446744073709551615) return y }");
    const fer_node *number = fer_module_graph_at(module, 0)->body.nodes[0];
    assert_true(*(const uint64_t *)fer_tensor_const_data(number->constant) == UINT64_MAX);
    fer_module_release(module);
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, ONE "graph g() { y = one(18446744073709551616) return y }",
                   "t.fer:2:21: 18446744073709551616 is outside 64 bits");
    ASSERT_REFUSED(FER_VALUE_ERROR, ONE "graph g() { y = one(-1) return y }",
                   "t.fer:2:17: graph 'g': one: operand 'x': -1 does not fit u64");
}

static void attributes_are_checked(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   RELU "graph g(x: f32[n]) { y = relu(x) {speed: \"9\"} return y }", "t.fer:2:35",
                   "token");
    ASSERT_REFUSED(FER_VALUE_ERROR, RELU "graph g(x: f32[n]) { y = relu(x) {token: 9} return y }",
                   "t.fer:2:42", "quotes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_of_syntax_have_their_place),
        cmocka_unit_test(unknown_names_are_told_with_near_ones),
        cmocka_unit_test(staging_refusals_name_place_graph_and_op),
        cmocka_unit_test(parameters_at_a_call_are_checked),
        cmocka_unit_test(declared_results_are_checked),
        cmocka_unit_test(constants_are_checked),
        cmocka_unit_test(rebinds_are_checked),
        cmocka_unit_test(a_graph_is_named_once),
        cmocka_unit_test(members_say_what_was_wanted),
        cmocka_unit_test(numbers_at_a_call_are_checked),
        cmocka_unit_test(attributes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
