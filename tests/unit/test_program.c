/* The text of programs: every construct read, printed and read again. */
#include "testing_graph.h"

#include <locale.h>

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

/* parse(print(m)) is m, and prints the same. Gives the text, for the caller to free. */
static char *assert_round_trip(const fer_module *module)
{
    char *text = print(module);
    fer_module *again = parse_good(text);
    if (!fer_module_equal(module, again))
        fail_msg("not the same module:\n%s", text);
    char *text_again = print(again);
    assert_string_equal(text, text_again);
    free(text_again);
    fer_module_release(again);
    return text;
}

static void assert_prints(const char *program, const char *expected)
{
    fer_module *module = parse_good(program);
    char *text = assert_round_trip(module);
    assert_string_equal(text, expected);
    free(text);
    fer_module_release(module);
}

/* --- What is read ----------------------------------------------------------------------------- */

static void a_program_prints_with_tokens_and_types(void **state)
{
    (void)state;
    fer_op *op = make_op("downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    char expected[512];
    snprintf(expected, sizeof expected,
             "op downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]\n"
             "\n"
             "graph thumbnail(image: f32[h, w, c]) -> f32[h, w // 2, c] {\n"
             "  half = downsample(image) {token: \"%s\"}  # f32[h, w // 2, c]\n"
             "  return half\n"
             "}\n",
             fer_op_token(op));
    assert_prints("use \"kernels\"  # the folder\n"
                  "op downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]\n"
                  "graph thumbnail(image: f32[h, w, c]) -> f32[h, w // 2, c] {\n"
                  "  half = downsample(image)\n"
                  "  return half\n"
                  "}\n",
                  expected);
    fer_op_release(op);
}

static void an_empty_program_is_a_module(void **state)
{
    (void)state;
    assert_prints("", "");
    assert_prints("# nothing\n", "");
}

static void several_results_and_outputs(void **state)
{
    (void)state;
    fer_module *module =
        parse_good("op split(x: f32[n, 2, c]) -> (f32[n, c], f32[n, c])\n"
                   "graph g(x: f32[h, 2, w]) -> (f32[h, w], f32[h, w], f32[h, 2, w], f32[h, w]) {\n"
                   "  a, b = split(x) return b, a, x, b }");
    const fer_graph *graph = fer_module_graph_at(module, 0);
    assert_int_equal(fer_graph_num_outputs(graph), 4);
    assert_ptr_equal(fer_graph_output_at(graph, 0), fer_graph_output_at(graph, 3));
    assert_ptr_equal(fer_graph_output_at(graph, 2), fer_graph_input_at(graph, 0));
    free(assert_round_trip(module));
    fer_module_release(module);
}

static void result_types_may_be_left_out(void **state)
{
    (void)state;
    fer_module *module = parse_good("op keep(x: f32[n]) -> f32[kept]\n"
                                    "graph g(x: f32[m]) { y = keep(x) return y }");
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "-> f32[__dyn_g_keep_0_kept_"));
    free(text);
    fer_module_release(module);
}

static void ops_that_give_nothing(void **state)
{
    (void)state;
    fer_module *module = parse_good("op accumulate(inout total: f32[n], x: f32[n]) -> ()\n"
                                    "graph step(inout total: f32[4], x: f32[4]) -> () {\n"
                                    "  accumulate(total, x)\n"
                                    "  accumulate(total, x) {token: \"anything#0\"}\n"
                                    "  return\n"
                                    "}");
    assert_int_equal(fer_graph_num_ops(fer_module_find(module, "step")), 2);
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "  accumulate(total, x) {token: \"accumulate#"));
    free(text);
    fer_module_release(module);
}

static void tokens_are_read_and_never_trusted(void **state)
{
    (void)state;
    fer_module *module = parse_good("op relu(x: f32[n]) -> f32[n]\n"
                                    "graph g(x: f32[n]) -> f32[n] {\n"
                                    "  y = relu(x) {token: \"exp#0123456789abcdef\"}\n"
                                    "  return y }");
    fer_op *relu = make_op("relu(x: f32[n]) -> f32[n]");
    const fer_node *node = fer_module_graph_at(module, 0)->body.nodes[0];
    assert_string_equal(node->token, fer_op_token(relu));
    fer_op_release(relu);
    fer_module_release(module);
}

static void parameters_at_a_call(void **state)
{
    (void)state;
    fer_module *module =
        parse_good("op cast<T, to: dtype = f32>(x: T[*s]) -> to[*s]\n"
                   "op down<g: int>(x: f32[n]) -> f32[n // g]\n"
                   "graph g(x: f32[n]) -> (f16[n], f32[n // 3], bf16[n], f16[n]) {\n"
                   "  a = cast<to = f16>(x)\n"
                   "  b = down<g = 3>(x)\n"
                   "  c = cast<to = bf16>(x)\n"
                   "  d = cast<to = f16>(x)\n"
                   "  return a, b, c, d\n"
                   "}");
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "op cast<T, to: dtype = f32>(x: T[*s]) -> to[*s]\n"));
    assert_non_null(strstr(text, "op cast_2 = cast<T, to: dtype = f16>(x: T[*s]) -> to[*s]\n"));
    assert_non_null(strstr(text, "op cast_3 = cast<T, to: dtype = bf16>(x: T[*s]) -> to[*s]\n"));
    assert_non_null(strstr(text, "op down<g: int>(x: f32[n]) -> f32[n // g]\n"));
    assert_non_null(strstr(text, "d = cast_2(x)"));
    assert_null(strstr(text, "cast_4"));
    free(text);
    fer_module_release(module);
}

static void every_kind_of_parameter_at_a_call(void **state)
{
    (void)state;
    fer_module *module =
        parse_good("op f<i: int, x: float, b: bool, s: str, t: dtype>(a: f32[n]) -> f32[n]\n"
                   "graph g(a: f32[n]) -> f32[n] {\n"
                   "  y = f<i = -3, x = 0x1p-3, b = true, s = \"a \\\"b\\\" \\u00e9\", t = i8>(a)\n"
                   "  return y\n"
                   "}");
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "i: int = -3"));
    assert_non_null(strstr(text, "x: float = 0.125"));
    assert_non_null(strstr(text, "b: bool = true"));
    assert_non_null(strstr(text, "s: str = \"a \\\"b\\\" \xc3\xa9\""));
    assert_non_null(strstr(text, "t: dtype = i8"));
    free(text);
    fer_module_release(module);
}

static void keywords_and_numbers(void **state)
{
    (void)state;
    fer_module *module = parse_good("op scale<T>(x: T[*s], by: T[], flip: bool[]) -> T[*s]\n"
                                    "graph g(x: f32[n]) -> f32[n] {\n"
                                    "  a = scale(x, 2.5, true)\n"
                                    "  b = scale(flip = false, x = a, by = -3)\n"
                                    "  return b\n"
                                    "}");
    const fer_graph *graph = fer_module_graph_at(module, 0);
    assert_int_equal(graph->num_nodes, 6); /* a number is a constant */
    const fer_node *by = graph->body.nodes[0];
    assert_int_equal(by->kind, FER_NODE_CONSTANT);
    assert_string_equal(fer_type_text(by->results[0]->type), "f32[]");
    assert_true(*(const float *)fer_tensor_const_data(by->constant) == 2.5F);
    free(assert_round_trip(module));
    fer_module_release(module);
}

static void constants_read_back_exactly(void **state)
{
    (void)state;
    assert_prints("graph g() -> (i32[2, 2], bool[2], u64[2], i64[1], f32[]) {\n"
                  "  a = constant i32[2, 2] [1, -2, 3, 4]\n"
                  "  b = constant bool[2] [true, false]\n"
                  "  c = constant u64[2] [18446744073709551615, 0]\n"
                  "  d = constant i64[1] [-9223372036854775808]\n"
                  "  e = constant f32[] [0.1]\n"
                  "  return a, b, c, d, e\n"
                  "}\n",
                  "graph g() -> (i32[2, 2], bool[2], u64[2], i64[1], f32[]) {\n"
                  "  a = constant i32[2, 2] [1, -2, 3, 4]\n"
                  "  b = constant bool[2] [true, false]\n"
                  "  c = constant u64[2] [18446744073709551615, 0]\n"
                  "  d = constant i64[1] [-9223372036854775808]\n"
                  "  e = constant f32[] [0.1]\n"
                  "  return a, b, c, d, e\n"
                  "}\n");
    assert_prints("graph g() -> f32[0, 3] { a = constant f32[0, 3] [] return a }",
                  "graph g() -> f32[0, 3] {\n"
                  "  a = constant f32[0, 3] []\n"
                  "  return a\n"
                  "}\n");
}

/* A module with one constant of these bytes, all of one dtype. */
static fer_module *make_constant(fer_dtype dtype, const void *bytes, size_t num_bytes)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = NULL;
    fer_value *value = NULL;
    fer_tensor *tensor = NULL;
    int64_t extent = (int64_t)(num_bytes / fer_dtype_bytes(dtype));
    ASSERT_OK(&error,
              fer_tensor_copy_from(dtype, 1, &extent, bytes, (fer_device){0}, &tensor, &error));
    ASSERT_OK(&error, fer_graph_create(module, "g", NULL, 0, &graph, &error));
    ASSERT_OK(&error, fer_graph_constant(graph, tensor, &value, &error));
    output(graph, value, NULL);
    fer_tensor_release(tensor);
    return module;
}

static void every_small_element_reads_back(void **state)
{
    (void)state;
    static uint16_t words[65536];
    uint8_t bytes[256];
    for (size_t i = 0; i < 65536; i++)
        words[i] = (uint16_t)i;
    for (size_t i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    for (fer_dtype dtype = FER_BOOL; dtype < FER_NUM_DTYPES; dtype++) {
        if (fer_dtype_bytes(dtype) > 2)
            continue;
        bool is_byte = fer_dtype_bytes(dtype) == 1;
        fer_module *module = make_constant(dtype, is_byte ? (void *)bytes : (void *)words,
                                           is_byte ? sizeof bytes : sizeof words);
        free(assert_round_trip(module));
        fer_module_release(module);
    }
}

static void every_kind_of_wide_element_reads_back(void **state)
{
    (void)state;
    static const uint32_t WORDS[] = {0,          0x80000000, 1,          0x807fffff, 0x3dcccccd,
                                     0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                     0x7f800001, 0xffc12345, 0x00800000, 0x4b800001, 0x3f800001};
    static const uint64_t LONGS[] = {0,
                                     0x8000000000000000,
                                     1,
                                     0x3fb999999999999a,
                                     0x7fefffffffffffff,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x7ff0000000000001,
                                     0xfff8123456789abc,
                                     0x4340000000000001,
                                     0xffffffffffffffff};
    for (fer_dtype dtype = FER_BOOL; dtype < FER_NUM_DTYPES; dtype++) {
        if (fer_dtype_bytes(dtype) < 4)
            continue;
        bool is_word = fer_dtype_bytes(dtype) == 4;
        fer_module *module = make_constant(dtype, is_word ? (void *)WORDS : (void *)LONGS,
                                           is_word ? sizeof WORDS : sizeof LONGS);
        free(assert_round_trip(module));
        fer_module_release(module);
    }
}

static void numbers_do_not_follow_the_locale(void **state)
{
    (void)state;
    static const char *const COMMAS[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool has_comma = false;
    for (size_t i = 0; i < 3 && !has_comma; i++)
        has_comma = setlocale(LC_ALL, COMMAS[i]) != NULL;
    fer_module *module = parse_good("graph g() -> f32[1] { a = constant f32[1] [2.5] return a }");
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "[2.5]"));
    free(text);
    fer_module_release(module);
    setlocale(LC_ALL, "C");
}

static void rebind_reads_back(void **state)
{
    (void)state;
    assert_prints("graph g(x: f32[h, w]) -> f32[h, 4] { y = rebind x [h, 4] return y }",
                  "graph g(x: f32[h, w]) -> f32[h, 4] {\n"
                  "  y = rebind x [h, 4]\n"
                  "  return y\n"
                  "}\n");
    assert_prints("graph g(x: f32[]) -> f32[] { y = rebind x [] return y }",
                  "graph g(x: f32[]) -> f32[] {\n"
                  "  y = rebind x []\n"
                  "  return y\n"
                  "}\n");
}

static void names_that_are_no_identifiers_are_quoted(void **state)
{
    (void)state;
    fer_module *module =
        parse_good("op relu(x: f32[n]) -> f32[n]\n"
                   "graph \"my graph\"(\"the input\": f32[n], \"nan\": f32[n]) -> f32[n] {\n"
                   "  \"return\" = relu(\"the input\")\n"
                   "  \"a \\\"b\\\"\\n\" = relu(\"return\")\n"
                   "  return \"a \\\"b\\\"\\n\"\n"
                   "}");
    assert_non_null(fer_module_find(module, "my graph"));
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "graph \"my graph\"(\"the input\": f32[n], \"nan\": f32[n])"));
    assert_non_null(strstr(text, "  \"return\" = relu(\"the input\")"));
    free(text);
    fer_module_release(module);
}

static void words_of_the_language_hold_in_their_places_only(void **state)
{
    (void)state;
    fer_module *module = parse_good("op graph(op: f32[n]) -> f32[n]\n"
                                    "op constant(x: f32[n]) -> f32[n] effect where n > 2\n"
                                    "op use = rebind(from: f32[n]) -> f32[n]\n"
                                    "graph source(use: f32[m], f32: f32[m]) -> f32[m] {\n"
                                    "  op = graph(op = use)\n"
                                    "  constant = constant(op)\n"
                                    "  rebind = use(constant)\n"
                                    "  token = use(from = rebind)\n"
                                    "  return token\n"
                                    "}");
    free(assert_round_trip(module));
    fer_module_release(module);
}

static void several_graphs_share_ops(void **state)
{
    (void)state;
    fer_module *module =
        parse_good("op relu(x: f32[n]) -> f32[n]\n"
                   "graph one(x: f32[n]) -> f32[n] { y = relu(x) return y }\n"
                   "graph two(x: f32[3]) -> f32[3] { x2 = relu(x) y = relu(x2) return y }\n");
    assert_int_equal(fer_module_num_graphs(module), 2);
    char *text = assert_round_trip(module);
    const char *first = strstr(text, "op relu");
    assert_non_null(first);
    assert_null(strstr(first + 1, "op relu"));
    free(text);
    fer_module_release(module);
}

/* --- What is printed of graphs built by calls ------------------------------------------------- */

static void ops_of_one_name_get_names(void **state)
{
    (void)state;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n, w]"));
    fer_op *one = make_op("down(x: f32[n, w]) -> f32[n, w // 2]");
    fer_op *two = make_op("down(image: f32[n, w]) -> f32[n, w // 2]");
    fer_op *three = make_op("down_2(x: f32[n, w]) -> f32[n, w // 2]");
    fer_value *value = fer_graph_input_at(graph, 0);
    value = stage_one(graph, one, value, NULL);
    value = stage_one(graph, two, value, NULL);
    value = stage_one(graph, three, value, NULL);
    output(graph, stage_one(graph, two, value, NULL), NULL);
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "op down(x: f32[n, w]) -> f32[n, w // 2]\n"));
    assert_non_null(strstr(text, "op down_2 = down(image: f32[n, w]) -> f32[n, w // 2]\n"));
    assert_non_null(strstr(text, "op down_2_2 = down_2(x: f32[n, w]) -> f32[n, w // 2]\n"));
    free(text);
    fer_op_release(one);
    fer_op_release(two);
    fer_op_release(three);
    fer_module_release(module);
}

static void values_without_names_get_names(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_type *type = make_type("f32[n]");
    fer_graph_input inputs[] = {{.name = "v1", .type = type}, {.name = "v2", .type = type}};
    fer_graph *graph = NULL;
    ASSERT_OK(&error, fer_graph_create(module, "g", inputs, 2, &graph, &error));
    fer_op *relu = make_op("relu(x: f32[n]) -> f32[n]");
    fer_value *value = stage_one(graph, relu, fer_graph_input_at(graph, 0), NULL);
    output(graph, stage_one(graph, relu, value, NULL), NULL);
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "  v2_ = relu(v1)"));
    assert_non_null(strstr(text, "  v3 = relu(v2_)"));
    free(text);
    fer_type_release(type);
    fer_op_release(relu);
    fer_module_release(module);
}

static void an_unfinished_graph_is_not_printed(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    make_graph(module, "g", TYPES("f32[n]"));
    char *text = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_module_print(module, &text, &error), "'g'",
                 "outputs");
    assert_null(text);
    fer_module_release(module);
}

static void modules_that_differ_are_not_equal(void **state)
{
    (void)state;
    static const char *const PROGRAMS[] = {
        "",
        "graph g(x: f32[n]) -> f32[n] { return x }",
        "graph h(x: f32[n]) -> f32[n] { return x }",
        "graph g(y: f32[n]) -> f32[n] { return y }",
        "graph g(x: f64[n]) -> f64[n] { return x }",
        "graph g(x: f32[n]) -> (f32[n], f32[n]) { return x, x }",
        "op f(x: f32[n]) -> f32[n] graph g(x: f32[n]) -> f32[n] { y = f(x) return y }",
        "op f(x: f32[n]) -> f32[n] graph g(x: f32[n]) -> f32[n] { y = f(x) return x }",
        "op f(x: f32[m]) -> f32[m] graph g(x: f32[n]) -> f32[n] { y = f(x) return y }",
        "graph g(x: f32[n]) -> f32[1] { y = constant f32[1] [0.0] return y }",
        "graph g(x: f32[n]) -> f32[1] { y = constant f32[1] [-0.0] return y }",
        "graph g(x: f32[n]) -> f32[4] { y = rebind x [4] return y }",
    };
    enum { COUNT = sizeof PROGRAMS / sizeof *PROGRAMS };
    fer_module *modules[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        modules[i] = parse_good(PROGRAMS[i]);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            if (fer_module_equal(modules[i], modules[j]) != (i == j))
                fail_msg("%s\nand\n%s", PROGRAMS[i], PROGRAMS[j]);
    for (size_t i = 0; i < COUNT; i++)
        fer_module_release(modules[i]);
}

/* --- Size ------------------------------------------------------------------------------------- */

static void deep_and_long_texts_are_refused_or_read(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    static char text[2 * DEPTH + 64];
    strcpy(text, "graph g(x: f32[");
    memset(text + strlen(text), '(', DEPTH);
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, parse_program(text, &module, &error), "t.fer:1:");

    fer_text program = FER_TEXT_INIT;
    fer_text_append(&program, "op relu(x: f32[n]) -> f32[n]\ngraph g(x0: f32[n]) -> f32[n] {\n");
    for (int i = 0; i < 2000; i++)
        fer_text_printf(&program, "x%d = relu(x%d)\n", i + 1, i);
    fer_text_append(&program, "return x2000 }");
    module = parse_good(fer_text_string(&program));
    assert_int_equal(fer_graph_num_ops(fer_module_graph_at(module, 0)), 2000);
    free(assert_round_trip(module));
    fer_module_release(module);
    fer_text_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_prints_with_tokens_and_types),
        cmocka_unit_test(an_empty_program_is_a_module),
        cmocka_unit_test(several_results_and_outputs),
        cmocka_unit_test(result_types_may_be_left_out),
        cmocka_unit_test(ops_that_give_nothing),
        cmocka_unit_test(tokens_are_read_and_never_trusted),
        cmocka_unit_test(parameters_at_a_call),
        cmocka_unit_test(every_kind_of_parameter_at_a_call),
        cmocka_unit_test(keywords_and_numbers),
        cmocka_unit_test(constants_read_back_exactly),
        cmocka_unit_test(every_small_element_reads_back),
        cmocka_unit_test(every_kind_of_wide_element_reads_back),
        cmocka_unit_test(numbers_do_not_follow_the_locale),
        cmocka_unit_test(rebind_reads_back),
        cmocka_unit_test(names_that_are_no_identifiers_are_quoted),
        cmocka_unit_test(words_of_the_language_hold_in_their_places_only),
        cmocka_unit_test(several_graphs_share_ops),
        cmocka_unit_test(ops_of_one_name_get_names),
        cmocka_unit_test(values_without_names_get_names),
        cmocka_unit_test(an_unfinished_graph_is_not_printed),
        cmocka_unit_test(modules_that_differ_are_not_equal),
        cmocka_unit_test(deep_and_long_texts_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
