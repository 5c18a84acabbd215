/* Constants that a program has from .npy files: what is in a file is the constant, without a copy,
 * and what does not fit is told with its place. */
#include "testing_graph.h"
#include "testing_npy.h"

#include "graph/text.h"
#include <sys/stat.h>

static const float WEIGHTS[6] = {0, 1, 2, 3, 4, 5};
#define WEIGHTS_DICT DICT("<f4", "False", "(2, 3)")
/* Of the text `f32[2, 3]` and the elements, by Python's
 * hashlib.blake2b(b"9:f32[2, 3]24:" + struct.pack("<6f", 0, 1, 2, 3, 4, 5), digest_size=16) */
#define WEIGHTS_DIGEST "d17f2afcbdb5c59b1c5714258a657acf"

static void write_file(void **state, const char *name, const file_bytes *file)
{
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, fer_file_write(path_in(state, name), file->data, file->size, &error));
}

static void write_npy(void **state, const char *name, const char *dict, const void *data,
                      size_t size)
{
    char padded[119]; /* puts the elements at 128, as NumPy does */
    snprintf(padded, sizeof padded, "%-117s\n", dict);
    file_bytes file = make_file(1, padded, data, size);
    write_file(state, name, &file);
}

static void write_weights(void **state)
{
    write_npy(state, "weights.npy", WEIGHTS_DICT, WEIGHTS, sizeof WEIGHTS);
}

static fer_status parse(void **state, const char *text, fer_module **out_module, fer_error *error)
{
    return fer_module_parse(text, "t.fer", *state, out_module, error);
}

static const fer_tensor *first_constant(const fer_module *module)
{
    return fer_module_graph_at(module, 0)->body.nodes[0]->constant;
}

/* Whether an address lies in a mapping of the file; NULL: whether there is one. */
static bool is_mapped(const char *path, const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[PATH_MAX + 128];
    bool is_found = false;
    unsigned long long start, end;
    while (fgets(line, sizeof line, maps) != NULL)
        is_found |= strstr(line, path) != NULL && sscanf(line, "%llx-%llx", &start, &end) == 2 &&
                    (address == NULL || (start <= (uintptr_t)address && (uintptr_t)address < end));
    fclose(maps);
    return is_found;
}

static void the_elements_stay_in_the_file(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    fer_model *model = NULL;
    fer_tensor *result = NULL;
    write_weights(state);
    ASSERT_OK(&error, parse(state,
                            "graph g() -> f32[2, 3] { w = constant f32[2, 3] from \"weights.npy\" "
                            "return w }",
                            &module, &error));
    const char *path = path_in(state, "weights.npy");
    assert_true(is_mapped(path, fer_tensor_const_data(first_constant(module))));
    assert_int_equal(unlink(path), 0);
    ASSERT_OK(&error, fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error));
    fer_module_release(module);
    run(model, NULL, 0, &result, 1);
    ASSERT_FLOATS(result, 0, 1, 2, 3, 4, 5);
    fer_tensor_release(result);
    assert_true(is_mapped(path, NULL));
    fer_model_release(model);
    assert_false(is_mapped(path, NULL));
}

static void elements_that_are_not_as_kernels_need_them_are_read(void **state)
{
    static const struct {
        const char *dict;
        unsigned char data[8];
        size_t size;
        const char *type;
        unsigned char expected[8];
    } CASES[] = {
        {DICT(">i2", "False", "(2,)"), {1, 2, 3, 4}, 4, "i16[2]", {2, 1, 4, 3}},
        {DICT("|i1", "True", "(2, 2)"), {1, 2, 3, 4}, 4, "i8[2, 2]", {1, 3, 2, 4}},
        {DICT("|b1", "False", "(3,)"), {0, 1, 7}, 3, "bool[3]", {0, 1, 1}},
        {DICT("<f4", "False", "(0, 3)"), {0}, 0, "f32[0, 3]", {0}},
        {DICT("|u1", "False", "()"), {200}, 1, "u8[]", {200}},
        {DICT("<u2", "False", "(2,)"), {1, 2, 3, 4}, 4, "bf16[2]", {1, 2, 3, 4}},
        {DICT("|u1", "False", "(2,)"), {1, 255}, 2, "f8e4m3fn[2]", {1, 255}},
        {DICT("|u1", "False", "(2,)"), {1, 255}, 2, "f8e5m2[2]", {1, 255}},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = NULL;
        char text[256];
        write_npy(state, "c.npy", CASES[i].dict, CASES[i].data, CASES[i].size);
        snprintf(text, sizeof text, "graph g() { c = constant %s from \"c.npy\" return c }",
                 CASES[i].type);
        ASSERT_OK(&error, parse(state, text, &module, &error));
        fer_type *type = NULL;
        const fer_tensor *constant = first_constant(module);
        ASSERT_OK(&error, fer_tensor_type(constant, &type, &error));
        assert_string_equal(fer_type_text(type), CASES[i].type);
        assert_memory_equal(fer_tensor_const_data(constant), CASES[i].expected, CASES[i].size);
        fer_type_release(type);
        fer_module_release(module);
    }
}

/* An op that changes the constant changes a copy of each run. */
static void what_is_changed_is_no_file(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    fer_model *model = NULL;
    char text[PATH_MAX + 512];
    write_npy(state, "total.npy", DICT("<f4", "False", "(2,)"), WEIGHTS + 1, 8);
    snprintf(text, sizeof text,
             "use \"%s\"\n"
             "graph g(x: f32[2]) -> f32[2] {\n"
             "  total = constant f32[2] from \"total.npy\"\n"
             "  accumulate(total, x)\n"
             "  return total\n"
             "}\n",
             GRAPH_KERNELS);
    ASSERT_OK(&error, parse(state, text, &module, &error));
    ASSERT_OK(&error, fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error));
    for (int i = 0; i < 2; i++) {
        fer_tensor *result = run_one(model, FLOATS(10, 20));
        ASSERT_FLOATS(result, 11, 22);
        fer_tensor_release(result);
    }
    fer_model_release(model);
    fer_module_release(module);
}

static void another_type_is_told_with_both_and_the_place(void **state)
{
    static const struct {
        const char *type;
        const char *actual;
        const char *message;
    } CASES[] = {
        {"f32[3, 2]", "f32[2, 3]", "the file holds f32[2, 3], but the constant is f32[3, 2]"},
        {"f32[6]", "f32[2, 3]", "the file holds f32[2, 3], but the constant is f32[6]"},
        {"i32[2, 3]", "f32[2, 3]", "the file holds f32[2, 3], but the constant is i32[2, 3]"},
        {"bf16[2, 3]", "f32[2, 3]",
         "the file holds f32[2, 3], but the constant is bf16[2, 3], whose bits a .npy file holds "
         "as u16"},
    };
    write_weights(state);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = NULL;
        char text[256];
        snprintf(text, sizeof text,
                 "graph g() {\n  c = constant %s\n    from \"weights.npy\"\n  return c\n}",
                 CASES[i].type);
        assert_int_equal(parse(state, text, &module, &error), FER_VALUE_ERROR);
        assert_null(module);
        assert_memory_equal(error.message, "t.fer:3:10: graph 'g': ", 23);
        assert_non_null(strstr(error.message, "/weights.npy: "));
        assert_non_null(strstr(error.message, CASES[i].message));
        assert_string_equal(error.expected, CASES[i].type);
        assert_string_equal(error.actual, CASES[i].actual);
        assert_string_equal(fer_error_excerpt(&error), "    from \"weights.npy\"\n         ^");
        fer_error_clear(&error);
    }
}

static void the_digest_is_checked(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    write_weights(state);
    static const char TEXT[] = "graph g() { c = constant f32[2, 3] from \"weights.npy\" "
                               "{digest: \"" WEIGHTS_DIGEST "\"} return c }";
    ASSERT_OK(&error, parse(state, TEXT, &module, &error));
    fer_module_release(module);
    float other[6] = {0, 1, 2, 3, 4, 6};
    write_npy(state, "weights.npy", WEIGHTS_DICT, other, sizeof other);
    assert_int_equal(parse(state, TEXT, &module, &error), FER_VALUE_ERROR);
    assert_memory_equal(error.message, "t.fer:1:64: graph 'g': ", 23);
    assert_non_null(strstr(error.message, "the file holds another constant"));
    assert_string_equal(error.expected, WEIGHTS_DIGEST);
    assert_string_equal(error.actual, "e544f19ed9578b8e2f5341f59e460949");
    assert_non_null(strstr(error.message, error.expected));
    assert_non_null(strstr(error.message, error.actual));
    fer_error_clear(&error);
}

static void what_is_no_constant_is_refused(void **state)
{
    static const struct {
        fer_status kind;
        const char *step;
        const char *words[2];
    } CASES[] = {
        {FER_IO_ERROR, "constant f32[2] from \"none.npy\"", {"t.fer:1:38: ", "none.npy: cannot"}},
        {FER_IO_ERROR, "constant f32[2] from \".\"", {"t.fer:1:38: ", "not a regular file"}},
        {FER_IO_ERROR, "constant f32[2] from \"pipe\"", {"t.fer:1:38: ", "not a regular file"}},
        {FER_IO_ERROR, "constant f32[2] from \"/dev/null\"", {"t.fer:1:38: ", "regular file"}},
        {FER_IO_ERROR, "constant f32[2, 3] from \"cut.npy\"", {"t.fer:1:41: ", "cut short"}},
        {FER_VALUE_ERROR, "constant f32[2] from \"text.npy\"", {"t.fer:1:38: ", "not a .npy"}},
        {FER_VALUE_ERROR, "constant f32[2] from 3", {"t.fer:1:38: ", ".npy file's path"}},
        {FER_VALUE_ERROR, "constant f32[2] from \"a\\u0000\"", {"t.fer:1:38: ", "byte 0"}},
        {FER_TYPE_ERROR, "constant f32[n] from \"weights.npy\"", {"t.fer:1:33: ", "f32[n]"}},
        {FER_OVERFLOW_ERROR,
         "constant u8[4294967296, 4294967296] from \"weights.npy\"",
         {"t.fer:1:26: ", "more elements than int64"}},
        {FER_VALUE_ERROR,
         "constant f32[2, 3] from \"weights.npy\" {token: \"x\"}",
         {"t.fer:1:56: ", "the attribute 'digest'"}},
        {FER_VALUE_ERROR,
         "constant f32[2, 3] from \"weights.npy\" {digest: \"d17f\"}",
         {"t.fer:1:64: ", "32 hex digits"}},
        {FER_VALUE_ERROR,
         "constant f32[2, 3] from \"weights.npy\" {digest: \"" WEIGHTS_DIGEST "0\"}",
         {"t.fer:1:64: ", "32 hex digits"}},
        {FER_VALUE_ERROR,
         "constant f32[2, 3] from \"weights.npy\" {digest: 3}",
         {"t.fer:1:64: ", "a digest in quotes"}},
        {FER_VALUE_ERROR, "constant f32[2] @ 9 from \"two.npy\"", {"t.fer:1:35: ", "device"}},
    };
    write_weights(state);
    write_npy(state, "cut.npy", WEIGHTS_DICT, WEIGHTS, sizeof WEIGHTS - 1);
    write_npy(state, "two.npy", DICT("<f4", "False", "(2,)"), WEIGHTS, 8);
    file_bytes text = {.size = 0};
    append(&text, "0 1 2 3 4 5\n", 12);
    write_file(state, "text.npy", &text);
    assert_int_equal(mkfifo(path_in(state, "pipe"), 0600), 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = NULL;
        char program[256];
        snprintf(program, sizeof program, "graph g() { c = %s return c }", CASES[i].step);
        ASSERT_FAILS(&error, CASES[i].kind, parse(state, program, &module, &error),
                     CASES[i].words[0], CASES[i].words[1]);
        assert_null(module);
    }
}

static void files_of_another_device(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    char *text = NULL;
    write_weights(state);
    ASSERT_OK(&error, parse(state,
                            "graph g() { c = constant f32[2, 3] @ 1 from \"weights.npy\" "
                            "{digest: \"" WEIGHTS_DIGEST "\"} return c }",
                            &module, &error));
    assert_int_equal(fer_tensor_device(first_constant(module)).id, 1);
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_non_null(strstr(text, "c = constant f32[2, 3] @ 1 [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]\n"));
    fer_string_free(text);
    fer_module_release(module);
}

/* The words of a program may still be names. */
static void from_may_be_a_name(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    write_weights(state);
    ASSERT_OK(&error, parse(state,
                            "graph g() { from = constant f32[2, 3] from \"weights.npy\" "
                            "digest = constant f32[] [1] return from, digest }",
                            &module, &error));
    assert_string_equal(fer_value_name(fer_graph_output_at(fer_module_graph_at(module, 0), 0)),
                        "from");
    fer_module_release(module);
}

static void the_text_has_the_elements_or_the_files(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    fer_module *again = NULL;
    char *text = NULL;
    write_weights(state);
    ASSERT_OK(&error,
              parse(state,
                    "graph g() {\n"
                    "  a = constant f32[2, 3] from \"./weights.npy\"\n"
                    "  b = constant f32[2, 3] from \"weights.npy\" {digest: \"" WEIGHTS_DIGEST
                    "\"}\n"
                    "  c = constant f32[2] [1, 2]\n"
                    "  return a, b, c\n"
                    "}\n",
                    &module, &error));
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_non_null(strstr(text, "  b = constant f32[2, 3] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]\n"));
    ASSERT_OK(&error, parse(state, text, &again, &error));
    assert_true(fer_module_equal(module, again));
    fer_module_release(again);
    fer_string_free(text);

    ASSERT_OK(&error, fer_module_print_as_read(module, *state, &text, &error));
    assert_non_null(strstr(
        text, "  a = constant f32[2, 3] from \"weights.npy\"\n"
              "  b = constant f32[2, 3] from \"weights.npy\" {digest: \"" WEIGHTS_DIGEST "\"}\n"
              "  c = constant f32[2] [1.0, 2.0]\n"));
    ASSERT_OK(&error, parse(state, text, &again, &error));
    assert_true(fer_module_equal(module, again));
    fer_module_release(again);
    fer_string_free(text);

    /* Copies know the file, too. */
    fer_graph *copy = NULL;
    ASSERT_OK(&error,
              fer_graph_copy(module, fer_module_graph_at(module, 0), "copy", &copy, &error));
    ASSERT_OK(&error, fer_module_print_as_read(module, "/elsewhere", &text, &error));
    const char *found = strstr(text, "graph copy(");
    assert_non_null(found);
    char expected[PATH_MAX + 128];
    snprintf(expected, sizeof expected, "b = constant f32[2, 3] from \"%s\" {digest: \"%s\"}\n",
             path_in(state, "weights.npy"), WEIGHTS_DIGEST);
    assert_non_null(strstr(found, expected));
    fer_string_free(text);
    fer_module_release(module);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_elements_stay_in_the_file),
        IN_FOLDER(elements_that_are_not_as_kernels_need_them_are_read),
        IN_FOLDER(what_is_changed_is_no_file),
        IN_FOLDER(another_type_is_told_with_both_and_the_place),
        IN_FOLDER(the_digest_is_checked),
        IN_FOLDER(what_is_no_constant_is_refused),
        IN_FOLDER(files_of_another_device),
        IN_FOLDER(from_may_be_a_name),
        IN_FOLDER(the_text_has_the_elements_or_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
