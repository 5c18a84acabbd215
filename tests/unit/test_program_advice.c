/* Programs as other languages have them: the message says what to write instead. */
#include "testing_graph.h"

typedef struct advice {
    const char *step;    /* in a graph with x: f32[n] and p: bool[] */
    const char *message; /* behind the place's file and line */
} advice;

#define OPS                                                                                        \
    "op relu(x: f32[n]) -> f32[n]\n"                                                               \
    "op split(x: f32[n]) -> (f32[n], f32[n])\n"                                                    \
    "op cast<T, to: dtype = f32>(x: T[*s]) -> to[*s]\n"                                            \
    "op add<T>(a: T[*s], b: T[*s]) -> T[*s]\n"                                                     \
    "graph before(a: f32[k]) { return a }\n"

#define WHILE                                                                                      \
    "`while` is followed by what it carries, and its first block yields the predicate: "           \
    "y = while y = x { ... yield p } do { ... yield z }"
#define CONSTANT                                                                                   \
    "a constant is a type and then its elements, or their file: constant f32[] [10], constant "    \
    "f32[2] [1, 2], constant f32[2] from \"two.npy\""
#define LISTS                                                                                      \
    "there are no lists and no indices: elements are a constant, as in c = constant f32[2] "       \
    "[1, 2], and slice is an op"

static void assert_advised(const advice *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = NULL;
        char program[1024], message[512];
        snprintf(program, sizeof program, OPS "graph g(x: f32[n], p: bool[]) {\n%s }", all[i].step);
        snprintf(message, sizeof message, "t.fer:7:%s", all[i].message);
        assert_int_not_equal(parse_program(program, &module, &error), FER_OK);
        assert_string_equal(error.message, message);
        assert_non_null(fer_error_excerpt(&error));
        fer_error_clear(&error);
    }
}
#define ASSERT_ADVISED(cases) assert_advised(cases, sizeof(cases) / sizeof *(cases))

static void branches(void **state)
{
    (void)state;
    static const char THE_IF[] =
        "1: the predicate of `if` is a value's name, without parentheses: if p { ... }";
    static const char THE_ELSE[] =
        "24: graph 'g': `else` is followed by a block, and there is no `else if`: else { if p { "
        "... } }";
    static const advice CASES[] = {
        {"if (p) { } return x", THE_IF},
        {"if 1 { } return x",
         "1: graph 'g': the predicate of `if` is a value's name, without parentheses: if p { ... "
         "}"},
        {"if true { } return x", "4: expected a value's name, found 'true'; it becomes a value in "
                                 "a step of its own: c = constant bool[] [true]"},
        {"if x > x { } return x",
         "6: expected '{' behind the predicate, found '>'; there are no operators: a > b is gt(a, "
         "b)"},
        {"if not p { } return x", "4: graph 'g': there are no operators: not a is bitwise_not(a)"},
        {"if relu(x) { } return x",
         "4: graph 'g': 'relu' is called where a value belongs; calls do not nest: give its "
         "result a name in a step before"},
        {"y = if   p { yield x } else if p { yield x } else { yield x } return y", THE_ELSE},
        {"y = if   p { yield x } elif p { yield x } return y", THE_ELSE},
        {"if p            { }    else if p { } return x", THE_ELSE},
        {"y = if p { yield x } return y",
         "22: graph 'g': if: the first arm yields 1 value, so there must be an else block that "
         "yields as many"},
        {"y = if p { } return y",
         "5: graph 'g': if gives 0 results, but 1 name takes it; its blocks end with `yield` and "
         "the names of what they give"},
        {"y = if p { yield x } else { z = relu(x) } return y",
         "41: graph 'g': if: the first arm yields 1 value, but the else arm 0; a block ends with "
         "`yield` and the names of its values"},
        {"if p { yield x; } return x",
         "15: expected '}' after what a block yields, found ';'; a step ends without it"},
        {"if p { z = relu(x) z } return x",
         "20: graph 'g': 'z' alone is no step; the first arm of if ends with `yield z`"},
        {"else { } return x",
         "1: graph 'g': `else` is followed by a block, and there is no `else if`: else { if p { "
         "... } }"},
    };
    ASSERT_ADVISED(CASES);
}

static void loops(void **state)
{
    (void)state;
    static const advice CASES[] = {
        {"while (p) { } return x", "1: " WHILE},
        {"while p { } return x", "7: graph 'g': " WHILE},
        {"while true { } return x", "7: graph 'g': " WHILE},
        {"y = while relu(x) { } return x", "11: graph 'g': " WHILE},
        {"y = while s = 0 { yield p } do { yield s } return y",
         "15: expected a value's name, found '0'; it becomes a value in a step of its own: c = "
         "constant i64[] [0]"},
        {"y = while s = x { yield p } return y",
         "29: expected 'do' after the condition of while, found 'return'; the first block yields "
         "whether to go on, a second one behind `do` the next values"},
        {"y = while s = x { } do { yield s } return y",
         "19: graph 'g': the condition of while yields 0 values, but must yield one, bool[], as "
         "in `yield p`"},
        {"y = while s = x { yield p } do { } return y",
         "34: graph 'g': while carries 1 value, but the body yields 0; a block ends with `yield` "
         "and the names of its values"},
        {"do { } while p return x",
         "1: graph 'g': `do` is behind the first block of a `while`: while y = x { ... yield p } "
         "do { ... yield z }"},
        {"for i in x { } return x",
         "1: graph 'g': there is no `for`; a `while` counts with a value that it carries: i = "
         "while i = start { ... yield p } do { ... yield next }"},
        {"for (i = 0; i < 3; i++) { } return x",
         "1: there is no `for`; a `while` counts with a value that it carries: i = while i = "
         "start { ... yield p } do { ... yield next }"},
        {"while { yield p } do { break } return x",
         "24: graph 'g': there is no `break`; a loop ends when its first block yields false"},
    };
    ASSERT_ADVISED(CASES);
}

static void constants(void **state)
{
    (void)state;
    static const advice CASES[] = {
        {"y = constant f32 [10] return y",
         "23: expected the elements of the constant, found 'return'; " CONSTANT},
        {"y = constant f32 10 return y", "18: expected '[' after the dtype, found '10'; " CONSTANT},
        {"y = constant f32[] 10 return y",
         "20: expected the elements of the constant, found '10'; " CONSTANT},
        {"y = constant 10 return y", "5: graph 'g': " CONSTANT},
        {"y = constant(f32, 10) return y", "5: " CONSTANT},
        {"y = 3 return y", "5: expected an op's name, found '3'; it becomes a value in a step of "
                           "its own: c = constant i64[] [3]"},
        {"y = -2.5 return y", "5: expected an op's name, found '-'; it becomes a value in a step "
                              "of its own: c = constant f32[] [-2.5]"},
        {"y = inf return y", "5: expected an op's name, found 'inf'; it becomes a value in a step "
                             "of its own: c = constant f32[] [inf]"},
        {"return true", "8: expected a value's name, found 'true'; it becomes a value in a step "
                        "of its own: c = constant bool[] [true]"},
        {"y = [1, 2] return y", "5: expected an op's name, found '['; " LISTS},
        {"y = relu([1, 2]) return y", "10: expected a value's name, found '['; " LISTS},
        {"y = add(x, 3) return y",
         "5: graph 'g': add: operand 'b' is a plain number, which only a rank-0 operand takes, "
         "but it is declared T[*s]: give a tensor of that shape, or declare the op with b: T[], "
         "which in a MAP is one number for all elements"},
        {"y = relu(3) return y",
         "5: graph 'g': relu: operand 'x' is a plain number, which only a rank-0 operand takes, "
         "but it is declared f32[n]: give a tensor of that shape"},
        {"c = constant f32[] [3] y = add(x, c) return y",
         "28: graph 'g': add: operand 'b' has [] for *s, but *s is [n], bound by operand 'a'; "
         "operands are not broadcast"},
    };
    ASSERT_ADVISED(CASES);
}

static void operators_and_calls(void **state)
{
    (void)state;
    static const advice CASES[] = {
        {"y = x + x return y",
         "5: graph 'g': 'x' is no call, and there are no operators: a + b is add(a, b)"},
        {"y = relu(x) + x return y",
         "13: expected a value's name, found '+'; there are no operators: a + b is add(a, b)"},
        {"y = relu(x * x) return y",
         "12: expected ')' after an op's operands, found '*'; there are no operators: a * b is "
         "mul(a, b)"},
        {"return x @ x", "10: expected '}' after what a graph returns, found '@'; there are no "
                         "operators: a @ b is matmul(a, b)"},
        {"y = x < x return y",
         "5: graph 'g': 'x' is no call, and there are no operators: a < b is lt(a, b)"},
        {"y = p && p return y",
         "5: graph 'g': 'p' is no call, and there are no operators: a & b is bitwise_and(a, b)"},
        {"y = p or p return y",
         "5: graph 'g': 'p' is no call, and there are no operators: a or b is bitwise_or(a, b)"},
        {"y = !p return y",
         "5: expected an op's name, found '!'; there are no operators: !a is bitwise_not(a)"},
        {"y = -x return y", "5: expected an op's name, found '-'; there are no operators: a - b is "
                            "sub(a, b), -a is sub(zero, a)"},
        {"y += x return y",
         "3: expected '=' after the names of values, found '+'; there are no operators: a + b is "
         "add(a, b)"},
        {"y = x return y", "5: graph 'g': 'x' is a value already; use it by this name"},
        {"y = x[0] return y", "5: graph 'g': 'x' is no call, and there are no indices or members; "
                              "slice and gather are ops"},
        {"y = relu x return y",
         "5: graph 'g': 'relu' is no call; a step calls an op, as in relu(x)"},
        {"return relu(x)", "8: graph 'g': 'relu' is called where a value belongs; calls do not "
                           "nest: give its result a name in a step before"},
        {"y = relu(relu(x)) return y",
         "10: graph 'g': 'relu' is called where a value belongs; calls do not nest: give its "
         "result a name in a step before"},
        {"y = (relu(x)) return y",
         "5: expected an op's name, found '('; only operands stand in parentheses"},
        {"y = cast(x, to = f16) return y",
         "13: graph 'g': cast: 'to' is a parameter; it stands before the operands, as in cast<to "
         "= ...>(...)"},
        {"y = cast<f16>(x) return y", "13: expected '=' after a parameter's name, found '>'; a "
                                      "parameter has a name, as in f<g = 2>(x)"},
        {"y = before(x) return y",
         "5: there is no op 'before', but a graph, which is called by `call before(...)`"},
        {"y = rebind(x, [4]) return y",
         "5: rebind is followed by a value and its dims: rebind x [n, 4]"},
        {"y = transfer(x, 1) return y",
         "5: transfer is followed by a value and a device: transfer x @ 1"},
    };
    ASSERT_ADVISED(CASES);
}

static void names_and_ends(void **state)
{
    (void)state;
    static const advice CASES[] = {
        {"x = relu(x) return x", "1: graph 'g' has a value 'x' already; give this one another "
                                 "name"},
        {"relu(x) return x", "1: graph 'g': relu gives 1 result, but 0 names take it; a step "
                             "begins with the names that it gives"},
        {"let y = relu(x) return y", "5: expected '=' after the names of values, found 'y'; a "
                                     "step begins with the names that it gives"},
        {"y: f32[n] = relu(x) return y", "2: expected '=' after the names of values, found ':'; a "
                                         "value has the type that its op gives"},
        {"y = relu(x); return y", "12: expected a value's name, found ';'; a step ends without it"},
        {"y = relu(x)", "13: graph 'g' ends without `return` and the names of its results"},
        {"y = relu(x) y",
         "13: graph 'g': 'y' alone is no step; the body of the graph ends with `return y`"},
        {"yield x", "1: graph 'g': a graph returns; `yield` is for the blocks in it"},
        {"return (x, p)",
         "8: expected a value's name, found '('; only operands stand in parentheses"},
    };
    ASSERT_ADVISED(CASES);
}

static void assert_refused(const char *program, const char *message)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    assert_int_not_equal(parse_program(program, &module, &error), FER_OK);
    assert_string_equal(error.message, message);
    fer_error_clear(&error);
}

static void inputs(void **state)
{
    (void)state;
    assert_refused("graph g(x) { return x }", "t.fer:1:10: expected ':' after an input's name, "
                                              "found ')'; its type follows, as in x: f32[n]");
    assert_refused("graph g(f32[n] x) { return x }",
                   "t.fer:1:12: expected ':' after an input's name, found '['; its type follows, "
                   "as in x: f32[n]");
}

/* A word that is advised on may still be the name of an op, and of a value. */
static void words_may_be_names(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, parse_program("op for(x: f32[n]) -> f32[n]\n"
                                    "op not(x: f32[n]) -> f32[n]\n"
                                    "op and<g: int = 2>(a: f32[n], b: f32[n]) -> f32[n]\n"
                                    "graph g(do: f32[n], elif: bool[]) {\n"
                                    "  if elif { break = not(do) }\n"
                                    "  for = for(do) not = not(for) y = and(not, b = for)\n"
                                    "  and = and<g = 3>(y, y) return and }",
                                    &module, &error));
    fer_module_release(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches),           cmocka_unit_test(loops),
        cmocka_unit_test(constants),          cmocka_unit_test(operators_and_calls),
        cmocka_unit_test(names_and_ends),     cmocka_unit_test(inputs),
        cmocka_unit_test(words_may_be_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
