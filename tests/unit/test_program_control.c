/* The text of control flow, calls of graphs, and what is wrong with one. */
#include "testing_graph.h"

#define OPS                                                                                        \
    "op relu(x: f32[n]) -> f32[n]\n"                                                               \
    "op every(x: f32[n]) -> f32[n // 2]\n"                                                         \
    "op flag(x: f32[n]) -> bool[]\n"                                                               \
    "op put(inout t: f32[n], x: f32[n]) -> ()\n"

static fer_module *parse_good(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, parse_program(text, &module, &error));
    return module;
}

static char *print(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    return text;
}

/* The text without tokens and declarations, for the caller to free. */
static char *print_graphs(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    fer_text graphs = FER_TEXT_INIT;
    char *text = NULL;
    char *result = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    bool is_in_token = false;
    for (size_t i = (size_t)(strstr(text, "graph ") - text); text[i] != '\0'; i++) {
        is_in_token |= strncmp(text + i, " {token: ", strlen(" {token: ")) == 0;
        if (!is_in_token)
            fer_text_append_char(&graphs, text[i]);
        is_in_token &= text[i] != '}';
    }
    ASSERT_OK(&error, fer_text_take(&graphs, &result, &error));
    free(text);
    return result;
}

static void assert_prints(const char *program, const char *expected)
{
    fer_module *module = parse_good(program);
    char *text = print(module);
    fer_module *again = parse_good(text);
    assert_true(fer_module_equal(module, again));
    char *text_again = print(again);
    assert_string_equal(text, text_again);
    char *graphs = print_graphs(module);
    assert_string_equal(graphs, expected);
    free(graphs);
    free(text_again);
    free(text);
    fer_module_release(again);
    fer_module_release(module);
}

/* --- What is read ----------------------------------------------------------------------------- */

static void an_if_prints_in_its_own_lines(void **state)
{
    (void)state;
    assert_prints(OPS
                  "graph g(x: f32[n], c: bool[]) { y, z = if c { a = relu(x) yield a, x } else {\n"
                  "b = relu(x) if c { put(b, x) } if c { yield } else { put(b, x) }"
                  "yield b, b } return y, z }",
                  "graph g(x: f32[n], c: bool[]) -> (f32[n], f32[n]) {\n"
                  "  y, z = if c {\n"
                  "    a = relu(x)  # f32[n]\n"
                  "    yield a, x\n"
                  "  } else {\n"
                  "    b = relu(x)  # f32[n]\n"
                  "    if c {\n"
                  "      put(b, x)\n"
                  "    }\n"
                  "    if c {\n"
                  "    } else {\n"
                  "      put(b, x)\n"
                  "    }\n"
                  "    yield b, b\n"
                  "  }  # f32[n], f32[n]\n"
                  "  return y, z\n"
                  "}\n");
}

static void a_while_prints_in_its_own_lines(void **state)
{
    (void)state;
    assert_prints(OPS "graph g(x: f32[n], c: bool[]) {\n"
                      "s, \"a t\" = while s = x, \"a t\" = x { c1 = flag(s) yield c1 } do\n"
                      "{ u = relu(s) yield \"a t\", u } while { yield c } do { } return s }",
                  "graph g(x: f32[n], c: bool[]) -> f32[n] {\n"
                  "  s, \"a t\" = while s = x, \"a t\" = x {\n"
                  "    c1 = flag(s)  # bool[]\n"
                  "    yield c1\n"
                  "  } do {\n"
                  "    u = relu(s)  # f32[n]\n"
                  "    yield \"a t\", u\n"
                  "  }  # f32[n], f32[n]\n"
                  "  while {\n"
                  "    yield c\n"
                  "  } do {\n"
                  "  }\n"
                  "  return s\n"
                  "}\n");
}

static void names_may_come_again_when_their_block_has_ended(void **state)
{
    (void)state;
    fer_module *module = parse_good(OPS "graph g(x: f32[n], c: bool[]) {\n"
                                        "  y = if c { a = relu(x) k = rebind a [m] yield k }\n"
                                        "      else { a = every(x) k = rebind a [m] yield k }\n"
                                        "  a = relu(y)\n"
                                        "  return a }");
    fer_graph *graph = fer_module_graph_at(module, 0);
    assert_type(fer_graph_output_at(graph, 0), "f32[m]");
    char *text = print(module);
    fer_module *again = parse_good(text);
    assert_true(fer_module_equal(module, again));
    free(text);
    fer_module_release(again);
    fer_module_release(module);
}

static void words_hold_only_in_their_places(void **state)
{
    (void)state;
    fer_module *module = parse_good("op if(x: f32[n]) -> f32[n]\n"
                                    "op while(x: f32[n]) -> f32[n]\n"
                                    "op call(x: f32[n]) -> f32[n]\n"
                                    "op yield(x: f32[n]) -> f32[n]\n"
                                    "graph call(x: f32[n]) { return x }\n"
                                    "graph else(if: f32[n], while: bool[]) {\n"
                                    "  do = if(if)\n"
                                    "  else = while(x = do)\n"
                                    "  call = call(else)\n"
                                    "  \"yield\" = call call(call)\n"
                                    "  y = if while { z = yield(if) yield \"yield\" } else {\n"
                                    "    yield else }\n"
                                    "  return y }");
    char *text = print(module);
    fer_module *again = parse_good(text);
    assert_true(fer_module_equal(module, again));
    free(text);
    fer_module_release(again);
    fer_module_release(module);
}

/* A builder may make the caller first. */
static void what_is_called_prints_before_its_callers(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *caller = make_graph(module, "caller", TYPES("f32[n]", "bool[]"));
    fer_graph *callee = make_graph(module, "callee", TYPES("f32[k]"));
    output(callee, fer_graph_input_at(callee, 0), NULL);
    fer_value *x = fer_graph_input_at(caller, 0);
    fer_value *y = NULL;
    ASSERT_OK(&error, fer_graph_if(caller, fer_graph_input_at(caller, 1), &error));
    ASSERT_OK(&error, fer_graph_call(caller, callee, &x, 1, &y, 1, &error));
    ASSERT_OK(&error, fer_graph_else(caller, &y, 1, &error));
    ASSERT_OK(&error, fer_graph_end_if(caller, &x, 1, &y, &error));
    output(caller, y, NULL);
    char *text = print(module);
    assert_true(strstr(text, "graph callee") < strstr(text, "graph caller"));
    fer_module *again = parse_good(text);
    assert_true(fer_module_equal(module, again));
    char *text_again = print(again);
    assert_string_equal(text, text_again);
    free(text);
    free(text_again);
    fer_module_release(module);
    fer_module_release(again);
}

/* --- What is refused -------------------------------------------------------------------------- */

#define GRAPH OPS "graph g(x: f32[n], c: bool[]) {\n"

#define ASSERT_REFUSED(kind, program, ...)                                                         \
    do {                                                                                           \
        fer_error refusal = FER_ERROR_INIT;                                                        \
        fer_module *refused = NULL;                                                                \
        ASSERT_FAILS(&refusal, kind, parse_program(program, &refused, &refusal), __VA_ARGS__);     \
        assert_null(refused);                                                                      \
    } while (0)

static void faults_have_their_place(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "y = if c { yield x } return y }", "t.fer:6:22", "'g'",
                   "first arm yields 1 value,", "an else block");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "y = if x { yield x } else { yield x } return y }",
                   "t.fer:6:8: graph 'g': the predicate of if is f32[n]", "bool[]");
    ASSERT_REFUSED(
        FER_VALUE_ERROR, GRAPH "y = if c { yield x } else { a = every(x) yield a }",
        "t.fer:6:42: graph 'g': if: result 0 is f32[n] in the first arm, but f32[n // 2] "
        "in the else arm");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "y, z = if c { yield x } else { yield x } return y }",
                   "t.fer:6:8: graph 'g': if gives 1 result, but 2 names take it");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "if c { return x } return x }", "t.fer:6:8",
                   "the first arm of if cannot return");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "if c { yield x y } return x }", "t.fer:6:16", "'}'");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "if c { x = relu(x) } return x }", "t.fer:6:8",
                   "'x' already");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "if c { y = relu(x) } z = relu(y) return z }",
                   "t.fer:6:31", "'y' is a value of the first arm of if, which has ended");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "while { yield } do { } return x }", "t.fer:6:9",
                   "condition of while yields 0 values");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "while { yield c } { } return x }", "t.fer:6:19", "'do'");
    ASSERT_REFUSED(
        FER_VALUE_ERROR, GRAPH "s = while s = x { yield c } do { t = every(s) yield t } return s }",
        "t.fer:6:47: graph 'g': while: carried value 0 's' is f32[n], but the body yields "
        "f32[n // 2]",
        "size stays");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "s = while s = y { yield c } do { yield s } return s }",
                   "t.fer:6:15", "no value 'y'");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "s = while x = x { yield c } do { yield x } return s }",
                   "t.fer:6:11", "'x' already");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "if c { yield } else { ", "t.fer:6:23");
}

static void calls_name_graphs_that_stand_before(void **state)
{
    (void)state;
#define CALLEE "graph f(a: f32[k, 2]) { return a }\n"
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "y = call f(x) return y }\n" CALLEE, "t.fer:6:10",
                   "no graph 'f' yet", "stand before it");
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   "graph first(a: f32[k]) { return a }\n" GRAPH "y = call frist(x) return y }",
                   "t.fer:7:10", "did you mean 'first'?");
    ASSERT_REFUSED(FER_VALUE_ERROR, GRAPH "y = call g(x, c) return y }", "t.fer:6:5",
                   "'g' cannot call itself");
    ASSERT_REFUSED(FER_VALUE_ERROR, CALLEE GRAPH "y = call f(x) return y }",
                   "t.fer:7:5: graph 'g': call of 'f': input 'a' has rank 1");
    ASSERT_REFUSED(FER_TYPE_ERROR, CALLEE GRAPH "y = call f() return y }",
                   "t.fer:7:5: graph 'g': call of 'f': expected 1 input, got 0");
    ASSERT_REFUSED(FER_VALUE_ERROR,
                   "graph f(a: f32[k]) { return a }\n" GRAPH "y, z = call f(x) return y }",
                   "t.fer:7:8: graph 'g': f gives 1 result, but 2 names take it");
}

/* However deep a text is, it is refused and not followed. */
static void deep_text_is_refused(void **state)
{
    (void)state;
    fer_text program = FER_TEXT_INIT;
    fer_text_append(&program, "graph g(c: bool[]) {");
    for (size_t i = 0; i < 100000; i++)
        fer_text_append(&program, i % 2 == 0 ? " if c {" : " while { yield c } do {");
    ASSERT_REFUSED(FER_VALUE_ERROR, fer_text_string(&program), "'g'", "deeper than 100");
    fer_text_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_if_prints_in_its_own_lines),
        cmocka_unit_test(a_while_prints_in_its_own_lines),
        cmocka_unit_test(names_may_come_again_when_their_block_has_ended),
        cmocka_unit_test(words_hold_only_in_their_places),
        cmocka_unit_test(what_is_called_prints_before_its_callers),
        cmocka_unit_test(faults_have_their_place),
        cmocka_unit_test(calls_name_graphs_that_stand_before),
        cmocka_unit_test(deep_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
