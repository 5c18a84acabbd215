/* The kernel header: what compiles and what is refused, values, wanted kernels, linking. */
#include "kernel_testing.h"

static const char *const all_files[] = {"names.c",
                                        "ranks.c",
                                        "dtypes.c",
                                        "shape.c",
                                        "errors.c",
                                        "map.c",
                                        "together_one.c",
                                        "together_helper.c",
                                        "together_two.c",
                                        "unwanted.c",
                                        "values.c",
                                        "floats.c",
                                        NULL};

static void assert_clean(const char *cc)
{
    for (size_t i = 0; i < 3; i++) {
        const char *standard = ((const char *[]){"-std=c11", "-std=c17", "-std=gnu17"})[i];
        assert_compiles(cc, FLAGS(standard, "-fsyntax-only", WARNINGS), all_files);
        assert_compiles(cc, FLAGS(standard, "-fsyntax-only", WARNINGS, "-DFER_SPECIALISED=1"),
                        all_files);
    }
    assert_compiles(cc,
                    FLAGS("-std=c11", "-fsyntax-only", WARNINGS, "-DFER_SPECIALISED=1",
                          "-DFER_WANT_keep=~,1", "-DFER_WANT_exp=~,1", "-DFER_WANT_reversed=~,1",
                          "-DFER_WANT_valued=~,1", "-DFER_VALUE_factor=~,(3)",
                          "-DFER_VALUE_negate=~,(1)", "-DFER_VALUE_label=~,(\"x\")",
                          "-DFER_DTYPE_T=~,f64"),
                    all_files);
}

static void test_files_compile_without_a_warning(void **state)
{
    (void)state;
    assert_clean(compiler());
    if (is_installed("clang"))
        assert_clean("clang");
    else
        print_message("clang is not installed: skipped\n");
}

/* Every file in refused/ holds one mistake and, in its first line, words that the author must see.
 */
static void test_mistakes_are_told(void **state)
{
    (void)state;
    static const char *const mistakes[] = {
        "any",       "arithmetic", "count",    "dtype",     "fail_format",  "format",
        "fraction",  "kind",       "map_rank", "map_check", "map_dtype",    "order",
        "no_index",  "no_rank",    "rank",     "seventeen", "shape_result", "twice",
        "signature", "view",       "word",     "write",     "write_inout"};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char name[64];
        char path[512];
        char line[256];
        snprintf(name, sizeof name, "refused/%s.c", mistakes[i]);
        snprintf(path, sizeof path, "%s%s", KERNELS, name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        fclose(file);
        char *words = line + strlen("/* ");
        *strstr(words, " */") = '\0';
        assert_refused(compiler(), FLAGS("-fsyntax-only", "-std=c17", "-Wall", "-Werror"),
                       FLAGS(name), words);
        if (is_installed("clang"))
            assert_refused("clang", FLAGS("-fsyntax-only", "-std=c17", "-Wall", "-Werror"),
                           FLAGS(name), words);
    }
}

/* Only code that is generated shows it. */
static void test_an_axis_outside_the_view_does_not_compile(void **state)
{
    (void)state;
    const char *const words = "DIM needs an axis of the view";
    assert_refused(compiler(), FLAGS("-c", "-o/dev/null", "-O2"), FLAGS("refused/axis.c"), words);
    if (is_installed("clang"))
        assert_refused("clang", FLAGS("-c", "-o/dev/null", "-O2"), FLAGS("refused/axis.c"), words);
}

static void test_names_hurt_nobody(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("names.c"));
    assert_int_equal(num_entries(object), 10);
    record calls = {0};

    float one = 1;
    float e = 0;
    assert_int_equal(RUN(object, "exp", FER_ABI_MAP, &calls, SCALAR(e), SCALAR(one)), 0);
    assert_true(e > 2.718F && e < 2.719F);
    double nan = __builtin_nan("");
    bool is_nan = false;
    assert_int_equal(RUN(object, "isnan", FER_ABI_MAP, &calls, SCALAR(is_nan), SCALAR(nan)), 0);
    assert_true(is_nan);

    int64_t y[3] = {0};
    int64_t n = 40;
    assert_int_equal(RUN(object, "index", FER_ABI_KERNEL, &calls, VECTOR(y, 3), SCALAR(n)), 0);
    assert_int_equal(y[0], 40);
    assert_int_equal(y[2], 42);
    assert_int_equal(RUN(object, "y0", FER_ABI_KERNEL, &calls, SCALAR(y[1]), SCALAR(n)), 0);
    assert_int_equal(y[1], 40 + 5 + 7);

    double a = 1, b = 2, sum = 0;
    assert_int_equal(RUN(object, "add", FER_ABI_KERNEL, &calls, SCALAR(sum), SCALAR(a), SCALAR(b)),
                     0);
    assert_true(sum == 3.5);
    assert_int_equal(RUN(object, "add_run", FER_ABI_KERNEL, &calls, SCALAR(sum), SCALAR(b)), 0);
    assert_true(sum == 2);
    assert_int_equal(RUN(object, "function", FER_ABI_KERNEL, &calls, SCALAR(sum), SCALAR(a)), 0);
    assert_true(sum == 1);
    assert_int_equal(RUN(object, "context", FER_ABI_KERNEL, &calls, SCALAR(sum), SCALAR(b)), 0);
    assert_true(sum == 2);
    assert_int_equal(RUN(object, "blocks", FER_ABI_MAP, &calls, SCALAR(sum), SCALAR(b), SCALAR(a)),
                     0);
    assert_true(sum == 1);
    unload(object);
}

static void test_defaults_stand_when_nothing_is_given(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("values.c"));
    assert_int_equal(num_entries(object), 3);
    record calls = {0};
    float x = 3;
    float y = 0;
    const fer_abi_entry *entry = find(object, "valued", FER_ABI_KERNEL);
    assert_row(&entry->tensors[0], "y", FER_ABI_RESULT, 0, 2, 32);
    assert_string_equal(entry->signature, "valued<T: f32|f64>(x: T[]) -> T[]");
    assert_int_equal(run(entry, (operand[]){SCALAR(y), SCALAR(x)}, &calls), 0);
    assert_true(y == 6.5F);
    assert_null(find(object, "numbers", FER_ABI_KERNEL)->signature);
    unload(object);
}

static void test_given_values_replace_the_defaults(void **state)
{
    (void)state;
    const loaded object =
        load(FLAGS("-O2", "-DFER_SPECIALISED=1", "-DFER_WANT_valued=~,1", "-DFER_WANT_numbers=~,1",
                   "-DFER_WANT_labelled=~,1", "-DFER_VALUE_factor=~,(-9223372036854775807LL - 1)",
                   "-DFER_VALUE_bias=~,(__builtin_inf())", "-DFER_VALUE_negate=~,(1)",
                   "-DFER_VALUE_label=~,(\"a,\\\"b\\\")\")", "-DFER_DTYPE_T=~,f64"),
             FLAGS("values.c"));
    assert_int_equal(num_entries(object), 3);
    record calls = {0};
    int64_t i = 0;
    double f = 0;
    assert_int_equal(RUN(object, "numbers", FER_ABI_KERNEL, &calls, SCALAR(i), SCALAR(f)), 0);
    assert_int_equal(i, INT64_MIN);
    assert_true(f == __builtin_inf());

    uint8_t text[6];
    assert_int_equal(RUN(object, "labelled", FER_ABI_KERNEL, &calls, VECTOR(text, 6)), 0);
    assert_memory_equal(text, "a,\"b\")", 6);

    double x = 1;
    double y = 0;
    const fer_abi_entry *entry = find(object, "valued", FER_ABI_KERNEL);
    assert_row(&entry->tensors[0], "y", FER_ABI_RESULT, 0, 2, 64);
    assert_row(&entry->tensors[1], "x", FER_ABI_OPERAND, 0, 2, 64);
    assert_int_equal(run(entry, (operand[]){SCALAR(y), SCALAR(x)}, &calls), 0);
    assert_true(y == -__builtin_inf());
    unload(object);
}

static void test_unwanted_kernels_are_not_emitted(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const loaded object =
            load(FLAGS(i == 0 ? "-O0" : "-O3", "-DFER_SPECIALISED=1", "-DFER_WANT_linkable=~,1"),
                 FLAGS("unwanted.c", "together_helper.c"));
        assert_int_equal(num_entries(object), 1);
        record calls = {0};
        int64_t x = 4;
        int64_t y = 0;
        assert_int_equal(RUN(object, "linkable", FER_ABI_KERNEL, &calls, SCALAR(y), SCALAR(x)), 0);
        assert_int_equal(y, 5);
        unload(object);
    }
    const loaded nothing = load(FLAGS("-O2", "-DFER_SPECIALISED=1"), FLAGS("values.c"));
    assert_int_equal(num_entries(nothing), 0);
    unload(nothing);

    assert_refused(compiler(), FLAGS("-shared", "-fPIC", "-o/dev/null", "-O2"), FLAGS("unwanted.c"),
                   "defined_nowhere");
}

static void test_a_parameter_without_a_value_does_not_link(void **state)
{
    (void)state;
    assert_refused(compiler(),
                   FLAGS("-shared", "-fPIC", "-o/dev/null", "-O2", "-DFER_SPECIALISED=1",
                         "-DFER_WANT_uses_absent=~,1"),
                   FLAGS("unwanted.c"), "the_value_of_parameter_absent");
}

static void test_files_link_together(void **state)
{
    (void)state;
    const loaded other = load(OPTIMISED, FLAGS("names.c", "map.c"));
    const loaded object =
        load(OPTIMISED, FLAGS("together_one.c", "together_helper.c", "together_two.c"));
    assert_int_equal(num_entries(object), 2);
    assert_int_equal(num_entries(other), 15);
    record calls = {0};
    int64_t x = 21;
    int64_t y = 0;
    const fer_abi_entry *entry = find(object, "twice", FER_ABI_KERNEL);
    assert_string_equal(entry->signature, "twice(x: i64[]) -> i64[]");
    assert_int_equal(run(entry, (operand[]){SCALAR(y), SCALAR(x)}, &calls), 0);
    assert_int_equal(y, 42);
    assert_int_equal(RUN(object, "four_times", FER_ABI_MAP, &calls, SCALAR(y), SCALAR(x)), 0);
    assert_int_equal(y, 84);
    unload(object);
    unload(other);

    const loaded empty = load(OPTIMISED, FLAGS("together_helper.c"));
    assert_int_equal(num_entries(empty), 0);
    unload(empty);
}

/* Every linker that is there, without and with link-time optimisation and dropped sections. */
static void test_linkers(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        const char *flag;
    } linkers[] = {{"ld.bfd", "-fuse-ld=bfd"},
                   {"ld.gold", "-fuse-ld=gold"},
                   {"ld.lld", "-fuse-ld=lld"},
                   {"ld", "-flto"}};
    for (size_t i = 0; i < sizeof linkers / sizeof linkers[0]; i++) {
        if (!is_installed(linkers[i].program)) {
            print_message("%s is not installed: skipped\n", linkers[i].program);
            continue;
        }
        const loaded object = load(FLAGS("-O2", linkers[i].flag, "-ffunction-sections",
                                         "-fdata-sections", "-Wl,--gc-sections"),
                                   FLAGS("together_one.c", "together_helper.c", "together_two.c"));
        assert_int_equal(num_entries(object), 2);
        assert_string_equal(find(object, "twice", FER_ABI_KERNEL)->signature,
                            "twice(x: i64[]) -> i64[]");
        assert_null(find(object, "four_times", FER_ABI_MAP)->signature);
        unload(object);
    }
}

static void test_description_marks_every_kernel(void **state)
{
    (void)state;
    char *output = NULL;
    assert_true(compiles(compiler(), FLAGS("-E", "-DFER_DESCRIBE=1"),
                         FLAGS("ranks.c", "names.c", "shape.c"), &output));
    static const char *const marks[] = {
        "FER_FOUND kernel ranked_8\n", "FER_FOUND kernel isnan\n",
        "FER_FOUND kernel index\n",    "FER_FOUND shape keep\n",
        "FER_FOUND kernel split\n",    "FER_FOUND signature exp \"(x: f32[*s]) \" \"-> f32[*s]\""};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(output, marks[i]) == NULL)
            fail_msg("no %s in:\n%s", marks[i], output);
    free(output);
}

/* The manual's examples are whole files. */
static void test_examples_of_the_manual_compile(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    ASSERT_OK(&error, fer_file_read(FERRULE_TEST_DATA "/../docs/kernels.md", &text, &size, &error));
    size_t num_examples = 0;
    char *next = text;
    for (char *block; (block = strstr(next, "\n```c\n")) != NULL; num_examples++) {
        char path[64];
        block += strlen("\n```c\n");
        next = strstr(block, "\n```\n");
        assert_non_null(next);
        snprintf(path, sizeof path, "%s/%zu.c", folder, num_examples);
        ASSERT_OK(&error, fer_file_write(path, block, (size_t)(next - block) + 1, &error));
        assert_compiles(compiler(), FLAGS("-std=c11", "-fsyntax-only", "-fopenmp", WARNINGS),
                        FLAGS(path));
    }
    assert_true(num_examples >= 8);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_compile_without_a_warning),
        cmocka_unit_test(test_mistakes_are_told),
        cmocka_unit_test(test_an_axis_outside_the_view_does_not_compile),
        cmocka_unit_test(test_names_hurt_nobody),
        cmocka_unit_test(test_defaults_stand_when_nothing_is_given),
        cmocka_unit_test(test_given_values_replace_the_defaults),
        cmocka_unit_test(test_unwanted_kernels_are_not_emitted),
        cmocka_unit_test(test_a_parameter_without_a_value_does_not_link),
        cmocka_unit_test(test_files_link_together),
        cmocka_unit_test(test_linkers),
        cmocka_unit_test(test_description_marks_every_kernel),
        cmocka_unit_test(test_examples_of_the_manual_compile),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
