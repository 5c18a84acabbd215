/* Programs and the packages they name: which kernels are found, and what is printed of them. */
#include "testing_graph.h"

#include "base/path.h"

#define TWICE                                                                                      \
    "#include <ferrule/kernel.h>\n"                                                                \
    "SIGNATURE(twice, \"(x: f32[*s]) -> f32[*s]\");\n"                                             \
    "MAP(twice, f32, IN(f32, x)) { return 2 * x; }\n"
#define THRICE                                                                                     \
    "#include <ferrule/kernel.h>\n"                                                                \
    "/* no \"SIGNATURE\" here: back\\slash */\n"                                                   \
    "MAP(thrice, f32, IN(f32, x)) { return 3 * x; }\n"

/* A folder that is gone after the test. */
static char folder[] = "/tmp/ferrule-program-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    fer_folder_remove(folder);
    return 0;
}

static void write_file(const char *name, const char *text)
{
    fer_error error = FER_ERROR_INIT;
    char *path = NULL;
    char *parent = NULL;
    ASSERT_OK(&error, fer_path_join(folder, name, &path, &error));
    ASSERT_OK(&error, fer_path_folder(path, &parent, &error));
    ASSERT_OK(&error, fer_folder_make(parent, &error));
    ASSERT_OK(&error, fer_file_write(path, text, strlen(text), &error));
    free(parent);
    free(path);
}

static fer_module *read_here(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, fer_module_parse(text, "t.fer", folder, &module, &error));
    return module;
}

/* parse(print(m)) is m, from any folder. Gives the text, for the caller to free. */
static char *assert_round_trip(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    fer_module *again = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    ASSERT_OK(&error, fer_module_parse(text, "again.fer", "/", &again, &error));
    if (!fer_module_equal(module, again))
        fail_msg("not the same module:\n%s", text);
    char *text_again = NULL;
    ASSERT_OK(&error, fer_module_print(again, &text_again, &error));
    assert_string_equal(text, text_again);
    free(text_again);
    fer_module_release(again);
    return text;
}

static void assert_gives(const fer_module *module, float factor)
{
    fer_error error = FER_ERROR_INIT;
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error));
    fer_tensor *x = FLOATS(1, 2), *y = NULL;
    ASSERT_OK(&error, fer_model_run(model, &x, 1, &y, 1, &error));
    ASSERT_FLOATS(y, factor, 2 * factor);
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_model_release(model);
}

static void paths_start_at_the_programs_folder(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    write_file("sub/my kernels/twice.c", TWICE);
    write_file("sub/program.fer", "use \"my kernels\"\n"
                                  "op twice(x: f32[*s]) -> f32[*s]\n"
                                  "graph g(x: f32[n]) -> f32[n] { y = twice(x) return y }\n");
    char *path = NULL;
    fer_module *module = NULL;
    ASSERT_OK(&error, fer_path_join(folder, "sub/program.fer", &path, &error));
    ASSERT_OK(&error, fer_module_read(path, &module, &error));
    assert_gives(module, 2);
    char *text = assert_round_trip(module);
    assert_memory_equal(text, "use \"/tmp/ferrule-program-", 25);
    assert_non_null(strstr(text, "/sub/my kernels\"\nop twice(x: f32[*s]) -> f32[*s]\n"));
    free(text);
    free(path);
    fer_module_release(module);
}

static void a_signature_in_a_used_package_needs_no_op_line(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    write_file("mixed/twice.c", TWICE);
    write_file("mixed/thrice.c", THRICE);
    fer_module *module =
        read_here("use \"mixed\"\ngraph g(x: f32[n]) -> f32[n] { y = twice(x) return y }");
    assert_gives(module, 2);
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "op twice(x: f32[*s]) -> f32[*s]\n"));
    free(text);
    fer_module_release(module);

    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_module_parse("use \"mixed\"\ngraph g(x: f32[n]) { y = thrice(x) return y }",
                                  "t.fer", folder, &module, &error),
                 "t.fer:2:26", "thrice", "SIGNATURE");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_module_parse("use \"mixed\"\ngraph g(x: f32[n]) { y = twise(x) return y }",
                                  "t.fer", folder, &module, &error),
                 "t.fer:2:26", "'twise'", "did you mean 'twice'?");
}

static void ops_can_come_from_packages_of_their_own(void **state)
{
    (void)state;
    write_file("two/twice.c", TWICE);
    write_file("three/thrice.c", THRICE);
    write_file("six/twice.c", "#include <ferrule/kernel.h>\n"
                              "MAP(twice, f32, IN(f32, x)) { return 6 * x; }\n");
    fer_module *module = read_here("op twice(x: f32[*s]) -> f32[*s] from \"two\", \"three\"\n"
                                   "op thrice(x: f32[*s]) -> f32[*s] from \"two\", \"three\"\n"
                                   "op other = twice(x: f32[*s]) -> f32[*s] from \"six\"\n"
                                   "graph g(x: f32[n]) -> f32[n] {\n"
                                   "  a = twice(x) b = thrice(a) c = other(b) return c }");
    assert_gives(module, 36);
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "/two\", \"/tmp/"));
    assert_non_null(strstr(text, "op other = twice(x: f32[*s]) -> f32[*s] from \"/tmp/"));
    assert_null(strstr(text, "use "));
    free(text);
    fer_module_release(module);
}

static void source_in_memory_travels_in_the_text(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_op *thrice = NULL;
    fer_declaration declaration = {.signature = "thrice(x: f32[*s]) -> f32[*s]", .source = THRICE};
    ASSERT_OK(&error, fer_declare(&declaration, &thrice, &error));
    output(graph, stage_one(graph, thrice, fer_graph_input_at(graph, 0), NULL), NULL);
    fer_op_release(thrice);
    assert_gives(module, 3);
    char *text = assert_round_trip(module);
    assert_non_null(strstr(text, "op thrice(x: f32[*s]) -> f32[*s] source \"#include"));
    fer_module *again = read_here(text);
    assert_gives(again, 3);
    fer_module_release(again);
    free(text);
    fer_module_release(module);
}

static void the_standard_package_is_called_std(void **state)
{
    (void)state;
    fer_module *module =
        read_here("use \"std\"\ngraph g(x: f32[n]) -> f32[n] { y = add(x, x) return y }");
    assert_gives(module, 2);
    free(assert_round_trip(module));
    fer_module_release(module);
}

static void refusals_name_the_place(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    write_file("broken/broken.c", "#include <ferrule/kernel.h>\n"
                                  "MAP(broken, f32, IN(f32, x)) { return x + nothing; }\n");
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_module_parse("\nuse \"missing\"", "t.fer", folder, &module, &error),
                 "t.fer:2:5", "missing");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_module_parse("use \"broken\"\nop twice(x: f32[n]) -> f32[n]", "t.fer", folder,
                                  &module, &error),
                 "t.fer:2:4", "twice", "broken");
    ASSERT_FAILS(&error, FER_COMPILE_ERROR,
                 fer_module_parse("op broken(x: f32[*s]) -> f32[*s] from \"broken\"", "t.fer",
                                  folder, &module, &error),
                 "t.fer:1:4", "broken.c:2", "nothing");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_module_parse("use \"broken\" use \"broken\" use \"broken\" use \"broken\" "
                                  "use \"broken\" use \"broken\" use \"broken\" use \"broken\" "
                                  "use \"broken\"",
                                  "t.fer", folder, &module, &error),
                 "t.fer:1:109", "8 packages");
    assert_null(module);

    write_file("binary.fer", "graph");
    char *path = NULL;
    ASSERT_OK(&error, fer_path_join(folder, "binary.fer", &path, &error));
    ASSERT_OK(&error, fer_file_write(path, "use\0x", 5, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_module_read(path, &module, &error), "binary.fer",
                 "byte 0");
    free(path);
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_module_read("/nowhere/x.fer", &module, &error),
                 "/nowhere/x.fer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_start_at_the_programs_folder),
        cmocka_unit_test(a_signature_in_a_used_package_needs_no_op_line),
        cmocka_unit_test(ops_can_come_from_packages_of_their_own),
        cmocka_unit_test(source_in_memory_travels_in_the_text),
        cmocka_unit_test(the_standard_package_is_called_std),
        cmocka_unit_test(refusals_name_the_place),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
