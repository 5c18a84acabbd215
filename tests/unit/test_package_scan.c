/* What the scan finds in C text, however it is written, and what it does not take for a kernel. */
#include "testing_package.h"

/* The package's kernels as "name@file:line name@file:line". */
static void assert_kernels(const char *package_name, const char *expected)
{
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open(at(package_name), &package, &error));
    char found[512] = "";
    for (size_t i = 0; i < fer_package_num_kernels(package); i++) {
        fer_kernel_info kernel = fer_package_kernel(package, i);
        size_t length = strlen(found);
        snprintf(found + length, sizeof found - length, "%s%s@%s:%d", i == 0 ? "" : " ",
                 kernel.name, kernel.file, kernel.line);
    }
    assert_string_equal(found, expected);
    fer_package_release(package);
}

#define INCLUDE "#include <ferrule/kernel.h>\n"
#define BODY "(value, i32, IN(i32, x)) { return x + 1; }\n"

static void test_lines_end_in_other_ways(void **state)
{
    (void)state;
    write_file("crlf/a.c",
               "#include <ferrule/kernel.h>\r\n"
               "/* a comment\r\n over lines */\r\n"
               "// a line that goes on \\\r\n KERNEL(commented, OUT(f32, 0, y))\r\n"
               "#define ADD(name, number) \\\r\n"
               "    MAP(name, i32, IN(i32, x)) { return x + number; }\r\n"
               "static const char *text FER_UNUSED = \"over \\\r\n KERNEL(quoted, \";\r\n"
               "ADD(value, 1)\r\n"
               "MAP(second, i32, \\\r\n IN(i32, x)) { return x; }\r\n");
    assert_kernels("crlf", "second@a.c:11 value@a.c:10");
    assert_int_equal(declared_value("crlf"), 1);
    write_file("bare/a.c", INCLUDE "MAP" BODY "/* no newline at the end */");
    assert_int_equal(declared_value("bare"), 1);
    write_file("open/a.c", INCLUDE "MAP" BODY "// no newline and a backslash \\");
    assert_kernels("open", "value@a.c:2");
    write_file("marked/a.c", "\xef\xbb\xbf" INCLUDE "MAP" BODY);
    assert_int_equal(declared_value("marked"), 1);
    /* The first line behind the mark is a directive like any other. */
    write_file("marked_first/a.c", "\xef\xbb\xbf#define ADD MAP\n" INCLUDE "ADD" BODY);
    assert_kernels("marked_first", "value@a.c:3");
    write_file("empty/a.c", "");
    write_file("empty/b.c", INCLUDE "MAP" BODY);
    assert_int_equal(declared_value("empty"), 1);
}

static void test_conditions(void **state)
{
    (void)state;
    write_file("p/a.c", INCLUDE "#if 0 /* never */\n"
                                "MAP(never, i32, IN(i32, x)) { return x; }\n"
                                "#if 1\n"
                                "MAP(nested, i32, IN(i32, x)) { return x; }\n"
                                "#endif\n"
                                "don't mind the apostrophe\n"
                                "#else\n"
                                "MAP(other, i32, IN(i32, x)) { return x; }\n"
                                "#endif\n"
                                "#if 0 || defined __x86_64__ || defined __aarch64__\n"
                                "MAP" BODY "#endif\n"
                                "#if 0x1\n"
                                "MAP(hex, i32, IN(i32, x)) { return x; }\n"
                                "#endif\n"
                                "#if 00\n"
                                "MAP(octal, i32, IN(i32, x)) { return x; }\n"
                                "#elif 1\n"
                                "# if 0\n"
                                "MAP(inner, i32, IN(i32, x)) { return x; }\n"
                                "# elif 2 > 1\n"
                                "MAP(chosen, i32, IN(i32, x)) { return x; }\n"
                                "# endif\n"
                                "#endif\n");
    assert_kernels("p", "chosen@a.c:23 hex@a.c:15 other@a.c:9 value@a.c:12");
    assert_int_equal(declared_value("p"), 1);
    /* What does not fit together is the compiler's to tell. */
    write_file("torn/a.c", "#endif\n#else\n#endif\n" INCLUDE "MAP" BODY "#if 0\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "torn", "a.c:1", "#endif without #if");
}

static void test_words_that_are_no_kernels(void **state)
{
    (void)state;
    write_file("p/a.c", INCLUDE "/* KERNEL(a, OUT(f32, 0, y)) // MAP(b, f32, IN(f32, x)) */\n"
                                "// KERNEL(c, OUT(f32, 0, y))\n"
                                "static const char *d FER_UNUSED = \"KERNEL(d, \\\" MAP(e, \";\n"
                                "static const int f FER_UNUSED = '\"' + '\\'' + 'K';\n"
                                "#define SPOKEN \"MAP(g, f32, IN(f32, x))\" /* KERNEL(h, */\n"
                                "#error_is_no_directive_here\n"
                                "static int KERNELS(int x) { return x; }\n"
                                "static int a_MAP(int x) { return KERNELS(x); }\n"
                                "static int MAP_;\n"
                                "MAP(value, i32, IN(i32, x)) { return a_MAP(x) + 1 + MAP_; }\n");
    char text[2048];
    snprintf(text, sizeof text, "%s", INCLUDE);
    assert_kernels("p", "value@a.c:11");
}

static void test_names_between_comments(void **state)
{
    (void)state;
    write_file("p/a.c", INCLUDE "MAP /* a map */ ( // called\n"
                                "    value /* and */ , i32, IN(i32, x)) { return x + 1; }\n"
                                "SIGNATURE(value, /* in parts */ \"(x: i32[*s]\" // one\n"
                                "          \") -> \" \"\" \"i32[*s\\x5d\");\n");
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open(at("p"), &package, &error));
    assert_int_equal(fer_package_num_kernels(package), 1);
    assert_int_equal(fer_package_kernel(package, 0).line, 2);
    assert_string_equal(fer_package_kernel(package, 0).signature, "value(x: i32[*s]) -> i32[*s]");
    fer_package_release(package);
    assert_int_equal(declared_value("p"), 1);
}

/* The text of a SIGNATURE is what C makes of the literals, found by the scan or the preprocessor.
 */
static void test_escapes_in_signatures(void **state)
{
    (void)state;
    static const char SIGNATURES[] = "SIGNATURE(value, \"<a: str = \\\"\\\\n "
                                     "\\303\\251\\xc3\\xa9\\u00e9\\u20ac\\60 \\x41\" \"42\\\">\"\n"
                                     "                 \"(x: i32[])\\t->\\40i32[]\");\n"
                                     "MAP(value, i32, IN(i32, x)) { return x + 1; }\n";
    static const char EXPECTED[] = "value<a: str = \"\\n \xc3\xa9\xc3\xa9\xc3\xa9\xe2\x82\xac"
                                   "0 A42\">(x: i32[])\t-> i32[]";
    char text[512];
    for (int is_in_condition = 0; is_in_condition < 2; is_in_condition++) {
        snprintf(text, sizeof text, INCLUDE "%s%s%s", is_in_condition ? "#if 1\n" : "", SIGNATURES,
                 is_in_condition ? "#endif\n" : "");
        fer_package *package = NULL;
        ASSERT_OK(&error, fer_package_from_source(text, &package, &error));
        assert_string_equal(fer_package_kernel(package, 0).signature, EXPECTED);
        fer_package_release(package);
        fer_op *op = NULL;
        ASSERT_OK(&error,
                  fer_declare(&(fer_declaration){.kernel = "value", .source = text}, &op, &error));
        fer_op_release(op);
    }
}

/* A text that macros have a part in is what the preprocessor makes of it, not what stands before.
 */
static void test_macros_in_signatures(void **state)
{
    (void)state;
    static const char SOURCE[] = INCLUDE "#define DIMS \"*s\"\n"
                                         "#define RESULT \"i32[\" DIMS \"]\"\n"
                                         "SIGNATURE(value, \"(x: i32[\" DIMS \"]) -> \" RESULT);\n"
                                         "SIGNATURE(other, \"(x: i32[n]) -> i32[n]\"\n"
                                         "          // and that is all\n"
                                         ");\n"
                                         "MAP(value, i32, IN(i32, x)) { return x + 1; }\n"
                                         "MAP(other, i32, IN(i32, x)) { return x; }\n";
    for (int i = 0; i < 2; i++) { /* the second time it is remembered */
        fer_package *package = NULL;
        ASSERT_OK(&error, fer_package_from_source(SOURCE, &package, &error));
        assert_string_equal(fer_package_kernel(package, 0).signature, "other(x: i32[n]) -> i32[n]");
        assert_string_equal(fer_package_kernel(package, 1).signature,
                            "value(x: i32[*s]) -> i32[*s]");
        fer_package_release(package);
    }
}

/* Words that declare nothing do not swallow a directive behind them. */
static void test_directives_behind_words(void **state)
{
    (void)state;
    write_file("p/a.c", INCLUDE "enum { FIRST, MAP\n"
                                "#if 0\n"
                                "MAP(never, i32, IN(i32, x)) { return x; }\n"
                                "#endif\n"
                                "};\n"
                                "MAP" BODY);
    assert_kernels("p", "value@a.c:7");
    assert_int_equal(declared_value("p"), 1);
}

/* Macros that make kernels may stand in a header of the package or beside it. */
static void test_kernels_from_macros_of_headers(void **state)
{
    (void)state;
    write_file("inside/make.h",
               "#define ADD(name, n) MAP(name, i32, IN(i32, x)) { return x + n; }\n");
    write_file("inside/a.c", INCLUDE "#include \"make.h\"\nADD(value, 2)\nADD(other, 3)\n");
    assert_kernels("inside", "other@a.c:4 value@a.c:3");
    assert_int_equal(declared_value("inside"), 2);
    write_file("beside/make.h",
               "#define ADD(name, n) MAP(name, i32, IN(i32, x)) { return x + n; }\n");
    write_file("p/a.c", INCLUDE "#include \"../beside/make.h\"\nADD(value, 4)\n");
    assert_kernels("p", "value@a.c:3");
    assert_int_equal(declared_value("p"), 4);
    /* An edit of that header changes what there is. */
    write_file("beside/make.h",
               "#define ADD(name, n) MAP(name##_2, i32, IN(i32, x)) { return x; }\n");
    assert_kernels("p", "value_2@a.c:3");
}

/* A dtype variable that the text does not show is not one that is missing. */
static void test_dtype_variables_that_the_text_hides(void **state)
{
    (void)state;
    static const char GENERIC[] = "value<T>(x: T[]) -> T[]";
    static const char KERNEL[] = "MAP(value, T, IN(T, x)) { return x + 1; }\n";
    char text[512];
    snprintf(text, sizeof text, INCLUDE "%s%s",
             "#define TYPES(name) DTYPE_VAR(name, f32)\nTYPES(T);\n", KERNEL);
    write_file("p/a.c", text);
    fer_op *op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 1);
    fer_op_release(op);
    write_file("types.h", "DTYPE_VAR(T, f32);\n");
    snprintf(text, sizeof text, INCLUDE "%s%s", "#define H \"../types.h\"\n#include H\n", KERNEL);
    write_file("p/a.c", text);
    op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 1);
    fer_op_release(op);
    snprintf(text, sizeof text, INCLUDE "%s%s", "#include \"../types.h\"\n", KERNEL);
    write_file("p/a.c", text);
    op = declared(GENERIC, "p");
    fer_op_release(op);
    snprintf(text, sizeof text, INCLUDE "typedef i32 T;\n%s", KERNEL);
    write_file("p/a.c", text);
    ASSERT_PACKAGE_REFUSED(FER_TYPE_ERROR, GENERIC, "p", "value", "'T'", "DTYPE_VAR(T");
}

/* Only what a kernel's file includes has a say in what its parameters are. */
static void test_parameters_of_headers(void **state)
{
    (void)state;
    static const char FLOAT[] = "value<by: float = 2.5>(x: f64[]) -> f64[]";
    static const char KERNEL[] = "MAP(value, f64, IN(f64, x)) { return x + by; }\n";
    char text[512];
    write_file("p/other.h", "PARAM(int, by, 1);\n");
    write_file("p/b.c", INCLUDE "#include \"other.h\"\n"
                                "MAP(second, f64, IN(f64, x)) { return x + (f64)by; }\n");
    snprintf(text, sizeof text, INCLUDE "PARAM(float, by, 1);\n%s", KERNEL);
    write_file("p/a.c", text);
    fer_op *op = declared(FLOAT, "p");
    assert_float_equal(call_with(op, FER_F64, 0), 2.5, 0);
    fer_op_release(op);
    write_file("p/own.h", "PARAM(float, by, 1);\n");
    snprintf(text, sizeof text, INCLUDE "#include \"own.h\"\n%s", KERNEL);
    write_file("p/a.c", text);
    op = declared(FLOAT, "p");
    assert_float_equal(call_with(op, FER_F64, 0), 2.5, 0);
    fer_op_release(op);
    /* By way of another header, and where only the preprocessor tells. */
    write_file("p/own.h", "#include \"other.h\"\n");
    ASSERT_PACKAGE_REFUSED(FER_TYPE_ERROR, FLOAT, "p", "parameter 'by' is declared float",
                           "other.h:1 has PARAM(int, by, ...)");
    write_file("p/own.h", "#define OTHER \"other.h\"\n#include OTHER\n");
    ASSERT_PACKAGE_REFUSED(FER_TYPE_ERROR, FLOAT, "p", "other.h:1 has PARAM(int, by, ...)");
}

/* A kernel of a header belongs to the file that includes it. */
static void test_kernels_in_headers(void **state)
{
    (void)state;
    write_file("p/kernel.inc", "MAP(NAME, i32, IN(i32, x)) { return x + NUMBER; }\n");
    write_file("p/a.c", INCLUDE "#define NAME value\n#define NUMBER 5\n#include \"kernel.inc\"\n"
                                "#undef NAME\n#undef NUMBER\n"
                                "#define NAME other\n#define NUMBER 6\n#include \"kernel.inc\"\n");
    assert_kernels("p", "other@a.c:1 value@a.c:1");
    assert_int_equal(declared_value("p"), 5);
    write_file("q/sub/all.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return x + 7; }\n");
    write_file("q/a.c", "#include \"sub/all.c\"\n");
    assert_kernels("q", "value@a.c:2");
    assert_int_equal(declared_value("q"), 7);
    /* A header of a kernel that two files include is a kernel defined twice. */
    write_file("r/value.h", INCLUDE "MAP(value, i32, IN(i32, x)) { return x; }\n");
    write_file("r/a.c", "#include \"value.h\"\n");
    write_file("r/b.c", "#include \"value.h\"\n");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "r", "value", "twice", "a.c:2", "b.c:2");
}

static void test_a_kernel_twice_in_one_file(void **state)
{
    (void)state;
    write_file("p/a.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return x; }\n"
                                "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x)) { return OK; }\n");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "p", "value", "twice", "a.c:2", "a.c:3");
    fer_package *package = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_package_from_source(INCLUDE "MAP(f, i32, IN(i32, x)) { return x; }\n"
                                                 "MAP(f, i32, IN(i32, x)) { return x; }\n",
                                         &package, &error),
                 "f: ", "twice", "inline:", "inline.c:2", "inline.c:3");
    assert_null(package);
}

static void test_what_is_in_the_folder(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "MAP" BODY);
    write_file("p/.hidden.c", INCLUDE "MAP" BODY);
    write_file("p/value.cpp", INCLUDE "MAP" BODY);
    write_file("p/value.c~", INCLUDE "MAP" BODY);
    write_file("p/c", INCLUDE "MAP" BODY);
    write_file("p/.c", INCLUDE "MAP" BODY);
    write_file("p/folder.c/value.c", INCLUDE "MAP" BODY);
    assert_int_equal(symlink("no/such/file", at("p/dangling.c")), 0);
    assert_int_equal(mkfifo(at("p/pipe.c"), 0600), 0);
    assert_kernels("p", "value@value.c:2");
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(symlink("p", at("link")), 0);
    assert_int_equal(declared_value("link"), 1);
    write_file("q/a.h", "#define A 1\n");
    assert_int_equal(symlink("../p/value.c", at("q/linked.c")), 0);
    assert_kernels("q", "value@linked.c:2");
    write_file("file", INCLUDE "MAP" BODY);
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "file", at("file"), "not a shared object");
    write_file("none/readme.txt", "MAP" BODY);
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "none", "value", "no kernels");
}

/* Text that is no C is read without harm; what it means is the compiler's to say. */
static void test_text_that_is_no_c(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "\"",
        "'",
        "\\",
        "/*",
        "/",
        "#",
        "#include \"",
        "#include <",
        "KERNEL",
        "KERNEL(",
        "MAP(a",
        "MAP(a,",
        "PARAM(int, a",
        "PARAM(,",
        "SIGNATURE(a, \"",
        "SIGNATURE(a, \"\\",
        "#define",
        "#define \\\n",
        "#if",
        "#if 0",
        "#if 0\n#if 0\n#endif",
        "__has_include(\"",
        "KERNEL(1a, )",
        "KERNEL(\xc3\xa9, )",
        "\xff\xfe\x00",
        "#define MAP(",
        "KERNEL(a, KERNEL(b, KERNEL(c,",
        "SIGNATURE(a, b)",
        "#\\\n",
        "MAP(a, \\\n",
        "#include \"a.c\"",
        "#include MAP(a, b)",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        write_file("p/a.c", TEXTS[i]);
        fer_package *package = NULL;
        fer_status status = fer_package_open(at("p"), &package, &error);
        if (status != FER_OK && status != FER_COMPILE_ERROR)
            fail_msg("%s: %s: %s", TEXTS[i], fer_status_name(status), error.message);
        fer_error_clear(&error);
        fer_package_release(package);
    }
    char zeros[64] = "KERNEL(a, )";
    write_bytes("p/a.c", zeros, sizeof zeros);
    assert_kernels("p", "a@a.c:1");
}

static void test_large_files(void **state)
{
    (void)state;
    enum { LINES = 40000 };
    static const char LINE[] = "/* a line of a large file, with KERNEL(x, in it */ // and MAP(y,\n";
    size_t size = 0;
    char *text = malloc(LINES * sizeof LINE + 200);
    assert_non_null(text);
    size += (size_t)sprintf(text, "%s", INCLUDE);
    for (int i = 0; i < LINES; i++)
        size += (size_t)sprintf(text + size, "%s", LINE);
    size += (size_t)sprintf(text + size, "%s", "MAP" BODY);
    write_bytes("p/a.c", text, size);
    free(text);
    assert_kernels("p", "value@a.c:40002");
    assert_int_equal(declared_value("p"), 1);
}

/* Results and operands up to the limit of 16, and one more. */
static void test_sixteen_operands(void **state)
{
    (void)state;
    static const char TAKES_16[] = INCLUDE
        "KERNEL(many, OUT(i32, 0, y), IN(i32, 0, a), IN(i32, 0, b), IN(i32, 0, c),\n"
        "       IN(i32, 0, d), IN(i32, 0, e), IN(i32, 0, f), IN(i32, 0, g), IN(i32, 0, h),\n"
        "       IN(i32, 0, i), IN(i32, 0, j), IN(i32, 0, k), IN(i32, 0, l), IN(i32, 0, m),\n"
        "       IN(i32, 0, n), INOUT(i32, 0, o))\n"
        "{\n"
        "    AT(y) = AT(a) + AT(b) + AT(c) + AT(d) + AT(e) + AT(f) + AT(g) + AT(h) + AT(i)\n"
        "            + AT(j) + AT(k) + AT(l) + AT(m) + 100 * AT(n) + 1000 * AT(o);\n"
        "    return OK;\n"
        "}\n";
#define I32(name) #name ": i32[], "
    static const char MANY[] = "many(" I32(a) I32(b) I32(c) I32(d) I32(e) I32(f) I32(g) I32(h)
        I32(i) I32(j) I32(k) I32(l) I32(m) I32(n) "inout o: i32[]) -> i32[]";
    fer_op *op = declare_source(MANY, TAKES_16);
    fer_tensor *operands[15];
    fer_tensor *y = NULL;
    for (int i = 0; i < 15; i++)
        operands[i] = make_scalar(FER_I32, i + 1);
    ASSERT_OK(&error, fer_call(op, operands, 15, &y, 1, &error));
    assert_int_equal(*(const int32_t *)fer_tensor_const_data(y), 13 * 14 / 2 + 1400 + 15000);
    release_tensors(15, operands);
    fer_tensor_release(y);
    fer_op_release(op);
    ASSERT_NOT_DECLARED(FER_VALUE_ERROR,
                        "many(" I32(a) I32(b) I32(c) I32(d) I32(e) I32(f) I32(g) I32(h) I32(i)
                            I32(j) I32(k) I32(l) I32(m) I32(n) I32(p) "o: i32[]) -> i32[]",
                        TAKES_16, "many", "16");
#undef I32
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_end_in_other_ways),
        TEST(test_conditions),
        TEST(test_words_that_are_no_kernels),
        TEST(test_names_between_comments),
        TEST(test_escapes_in_signatures),
        TEST(test_macros_in_signatures),
        TEST(test_directives_behind_words),
        TEST(test_kernels_from_macros_of_headers),
        TEST(test_dtype_variables_that_the_text_hides),
        TEST(test_parameters_of_headers),
        TEST(test_kernels_in_headers),
        TEST(test_a_kernel_twice_in_one_file),
        TEST(test_what_is_in_the_folder),
        TEST(test_text_that_is_no_c),
        TEST(test_large_files),
        TEST(test_sixteen_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
