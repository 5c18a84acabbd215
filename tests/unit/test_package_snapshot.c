/* What an op keeps of its files: all that its kernels include, however that is spelled and wherever
 * it lies, as it was when the op was declared. */
#include "testing_package.h"

#include <fcntl.h>
#include <time.h>

#define INCLUDE "#include <ferrule/kernel.h>\n"
#define KERNEL                                                                                     \
    "DTYPE_VAR(T, i32);\n"                                                                         \
    "PARAM(int, step, 0);\n"                                                                       \
    "KERNEL(value, OUT(T, 0, y), IN(T, 0, x)) { AT(y) = (T)(AT(x) + VALUE + step); return OK; }\n"
static const char GENERIC[] = "value<T, step: int = 0>(x: T[]) -> T[]";
static const char INCOMPLETE[] = "value<T, step: int>(x: T[]) -> T[]";

static int generic_value(const char *package)
{
    fer_op *op = declared(GENERIC, package);
    int value = value_of(op);
    fer_op_release(op);
    return value;
}

/* The value with another dtype and another parameter, neither of which was compiled before. */
static int later_value(const fer_op *op)
{
    fer_op *made = specialise_op(op, int_param("step", 1000));
    int value = (int)call_with(made, FER_F64, 0) - 1000;
    fer_op_release(made);
    return value;
}

/* Declares twice, without compiling the second time, and looks at what comes later. */
static void assert_value(const char *package, int value)
{
    fer_op *op = declared(GENERIC, package);
    assert_int_equal(value_of(op), value);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(generic_value(package), value);
    assert_int_equal(fer_read_counters().compiles, compiles);
    assert_int_equal(later_value(op), value);
    fer_op_release(op);
}

/* --- Where includes lead ---------------------------------------------------------------------- */

static void test_an_incomplete_op_keeps_its_files_too(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"sub/inner.h\"\n#include \"../beside/base.h\"\n"
                                    "#include \"macro.tpl\"\n" KERNEL);
    write_file("p/sub/inner.h", "#include \"deeper/more.h\"\n");
    write_file("p/sub/deeper/more.h", "#define INNER 1\n");
    write_file("p/macro.tpl", "#define VALUE (INNER + BASE)\n");
    write_file("beside/base.h", "#include \"rest.h\"\n");
    write_file("beside/rest.h", "#define BASE 10\n");
    fer_op *op = declared(INCOMPLETE, "p");
    assert_int_equal(fer_op_num_binaries(op), 0);
    write_file("p/sub/deeper/more.h", "#define INNER 2\n");
    write_file("p/macro.tpl", "#define VALUE 0\n");
    assert_int_equal(later_value(op), 11);
    fer_folder_remove(at("p"));
    fer_folder_remove(at("beside"));
    fer_op *two = specialise_op(op, int_param("step", 2));
    assert_int_equal(value_of(two), 13);
    fer_op_release(two);
    fer_op_release(op);
}

static void test_includes_by_a_macro(void **state)
{
    (void)state;
    write_file("p/value.c",
               INCLUDE "#define HEADER \"../beside/base.h\"\n#include HEADER\n" KERNEL);
    write_file("beside/base.h", "#define REST \"rest.h\"\n#include REST\n");
    write_file("beside/rest.h", "#define VALUE 10\n");
    fer_op *op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 10);
    assert_value("p", 10);
    write_file("beside/rest.h", "#define VALUE 20\n");
    assert_value("p", 20);
    fer_folder_remove(at("beside"));
    assert_int_equal(value_of(op), 10);
    assert_int_equal(later_value(op), 10);
    fer_op_release(op);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", "../beside/base.h", at("p/value.c:"));
}

static void test_includes_from_the_packages_root(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"sub/inner.h\"\n" KERNEL);
    write_file("p/sub/inner.h", "#include \"root.h\"\n");
    write_file("p/root.h", "#define VALUE 3\n");
    fer_op *op = declared(GENERIC, "p");
    assert_value("p", 3);
    write_file("p/sub/root.h", "#define VALUE 4\n"); /* nearer, so it counts */
    assert_value("p", 4);
    assert_int_equal(later_value(op), 3);
    fer_op_release(op);
}

/* Folders called like those that a build makes, and like the package itself. */
static void test_folders_of_any_name(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"tree", "origin", "include", "there"};
    char text[256];
    char name[128];
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(name, sizeof name, "there/%s/value.h", NAMES[i]);
        snprintf(text, sizeof text, "#define VALUE %zu\n", i + 1);
        write_file(name, text);
    }
    write_file("there/p/value.h", "#define VALUE 100\n");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(text, sizeof text, INCLUDE "#include \"../%s/value.h\"\n" KERNEL, NAMES[i]);
        write_file("there/p/value.c", text);
        assert_value("there/p", (int)i + 1);
        snprintf(text, sizeof text,
                 INCLUDE "#define HEADER \"../%s/value.h\"\n#include HEADER\n" KERNEL, NAMES[i]);
        write_file("there/p/value.c", text);
        assert_value("there/p", (int)i + 1);
    }
    write_file("there/p/value.c", INCLUDE "#include \"../p/value.h\"\n" KERNEL);
    assert_value("there/p", 100);
    write_file("there/p/value.c", INCLUDE "#include \"../../there/p/../there/value.h\"\n" KERNEL);
    assert_value("there/p", 4);
}

static void test_a_package_behind_a_link(void **state)
{
    (void)state;
    write_file("real/p/value.c", INCLUDE "#include \"../beside.h\"\n" KERNEL);
    write_file("real/beside.h", "#define VALUE 1\n");
    write_file("beside.h", "#define VALUE 2\n");
    assert_int_equal(symlink("real/p", at("link")), 0);
    assert_value("link", 1); /* as for the compiler: from where the file is */
    write_file("real/beside.h", "#define VALUE 3\n");
    assert_value("link", 3);
}

static void test_moved_with_what_it_includes(void **state)
{
    (void)state;
    write_file("a/p/value.c", INCLUDE "#include \"../beside/base.h\"\n"
                                      "#define HEADER \"../beside/more.h\"\n#include HEADER\n"
                                      "#define VALUE (BASE + MORE)\n" KERNEL);
    write_file("a/beside/base.h", "#define BASE 1\n");
    write_file("a/beside/more.h", "#define MORE 2\n");
    assert_int_equal(generic_value("a/p"), 3);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(rename(at("a"), at("b")), 0);
    assert_int_equal(rename(at("b/p"), at("b/q")), 0);
    assert_int_equal(generic_value("b/q"), 3);
    assert_int_equal(fer_read_counters().compiles, compiles);
}

/* --- Cycles ----------------------------------------------------------------------------------- */

static void test_headers_that_include_one_another(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"a/x.h\"\n" KERNEL);
    write_file("p/a/x.h", "#ifndef X\n#define X\n#include \"../b/y.h\"\n#include \"x.h\"\n"
                          "#include \"../a/x.h\"\n#define VALUE (Y_VALUE + 1)\n#endif\n");
    write_file("p/b/y.h", "#ifndef Y\n#define Y\n#include \"../a/x.h\"\n#include \"../b/y.h\"\n"
                          "#include \"../a/../b/../a/x.h\"\n#define Y_VALUE 1\n#endif\n");
    assert_value("p", 2);
    write_file("p/b/y.h", "#pragma once\n#include \"../a/x.h\"\n#define Y_VALUE 5\n");
    assert_value("p", 6);
}

static void test_a_header_that_never_ends(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"x.h\"\n" KERNEL);
    write_file("p/x.h", "#include \"x.h\"\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", "x.h:1", "nested");
    write_file("p/value.c", INCLUDE "#include \"value.c\"\n" KERNEL);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", "value.c");
}

/* --- What is not there, or not yet ------------------------------------------------------------ */

static void test_has_include(void **state)
{
    (void)state;
    write_file("p/value.c",
               INCLUDE "#if __has_include(\"more.h\")\n#include \"more.h\"\n"
                       "#elif defined __has_include && __has_include(\"../beside.h\")\n"
                       "#include \"../beside.h\"\n#else\n#define VALUE 1\n#endif\n" KERNEL);
    fer_op *op = declared(GENERIC, "p");
    assert_value("p", 1);
    write_file("beside.h", "#define VALUE 2\n");
    assert_value("p", 2);
    write_file("p/more.h", "#define VALUE 3\n");
    assert_value("p", 3);
    assert_int_equal(later_value(op), 1);
    assert_int_equal(unlink(at("p/more.h")), 0);
    assert_int_equal(unlink(at("beside.h")), 0);
    assert_value("p", 1);
    fer_op_release(op);
}

static void test_a_missing_header(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"sub/missing.h\"\n" KERNEL);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", at("p/value.c:2"), "sub/missing.h");
    write_file("p/sub/missing.h", "#define VALUE 1\n#error \"not this way\"\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", at("p/sub/missing.h:2"),
                           "not this way");
    write_file("p/value.c", INCLUDE "#include \"../beside.h\"\n" KERNEL);
    write_file("beside.h", "\n#error \"nor this\"\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", at("p/../beside.h:2"), "nor this");
    /* Also when only the preprocessor leads there. */
    write_file("p/value.c", INCLUDE "#define H \"../beside.h\"\n#include H\n" KERNEL);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", at("p/../beside.h:2"), "nor this");
    write_file("p/sub/missing.h", "#define VALUE 1\n");
    write_file("p/value.c", INCLUDE "#include \"sub/missing.h\"\n" KERNEL);
    assert_value("p", 1);
}

static void test_an_error_in_a_systems_header_has_its_own_path(void **state)
{
    (void)state;
    write_file("elsewhere/broken.h", "#error \"elsewhere\"\n");
    char text[512];
    snprintf(text, sizeof text, INCLUDE "#include \"%s\"\n" KERNEL, at("elsewhere/broken.h"));
    write_file("p/value.c", text);
    char expected[512];
    snprintf(expected, sizeof expected,
             "value<T = f32, step = 0>: %s:1: ", at("elsewhere/broken.h"));
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, GENERIC, "p", expected, "elsewhere");
}

/* --- Times ------------------------------------------------------------------------------------ */

static void set_time(const char *name, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, at(name), times, 0), 0);
}

/* Neither a time to come nor one long ago says anything: content does. */
static void test_clocks_that_are_wrong(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, INCLUDE "#include \"%s\"\n#include \"../beside.h\"\n" KERNEL,
             at("absolute/base.h"));
    write_file("p/value.c", text);
    write_file("beside.h", "#define VALUE (BASE + 1)\n");
    write_file("absolute/base.h", "#define BASE 1\n");
    static const time_t TIMES[] = {4102444800, 1, 0};
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
        snprintf(text, sizeof text, "#define BASE %zu\n", 10 * i + 1);
        write_file("absolute/base.h", text);
        set_time("absolute/base.h", TIMES[i]);
        set_time("beside.h", TIMES[i]);
        set_time("p/value.c", TIMES[i]);
        usleep(50000); /* it was changed before the compiler began */
        assert_value("p", (int)(10 * i) + 2);
        snprintf(text, sizeof text, "#define BASE %zu\n", 10 * i + 5);
        write_file("absolute/base.h", text);
        set_time("absolute/base.h", TIMES[i]);
        usleep(50000);
        assert_value("p", (int)(10 * i) + 6);
    }
}

/* --- Changes while the compiler runs ---------------------------------------------------------- */

/* A compiler behind which a file changes, once. */
static void use_changing_compiler(const char *name, const char *text)
{
    char script[1024];
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "cc \"$@\"\n"
             "result=$?\n"
             "case \" $* \" in *--version*) exit $result ;; esac\n"
             "if [ ! -e '%s' ]; then touch '%s'; printf '%s\\n' > '%s'; fi\n"
             "exit $result\n",
             at("changed"), at("changed"), text, at(name));
    write_program("changing-cc", script);
    setenv("FERRULE_CC", at("changing-cc"), 1);
}

/* A file that only the build finds may change before it is read into the snapshot. Whichever
 * content an op gets, all that it compiles is of that content, and the next declaration sees the
 * new one. */
static void test_a_file_that_changes_during_the_build(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#define H \"../beside.h\"\n#include H\n" KERNEL);
    write_file("beside.h", "#define VALUE 1\n");
    use_changing_compiler("beside.h", "#define VALUE 2");
    fer_op *op = declared(GENERIC, "p");
    int value = value_of(op);
    assert_int_equal(access(at("changed"), F_OK), 0);
    assert_int_equal(later_value(op), value);
    assert_value("p", 2);
    fer_op_release(op);
}

static void test_an_absolute_header_that_changes_during_the_build(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, INCLUDE "#include \"%s\"\n" KERNEL, at("absolute.h"));
    write_file("p/value.c", text);
    write_file("absolute.h", "#define VALUE 1\n");
    use_changing_compiler("absolute.h", "#define VALUE 2");
    static const char ONCE[] = "value<step: int = 0>(x: i32[]) -> i32[]";
    for (int value = 1; value <= 2; value++) { /* and not twice what was built before the change */
        fer_op *op = declared(ONCE, "p");
        assert_int_equal(value_of(op), value);
        fer_op_release(op);
    }
}

static void test_a_package_that_changes_during_the_build(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"value.h\"\n" KERNEL);
    write_file("p/value.h", "#define VALUE 1\n");
    use_changing_compiler("p/value.h", "#define VALUE 2");
    fer_op *op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 1);
    assert_int_equal(later_value(op), 1);
    assert_value("p", 2);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_incomplete_op_keeps_its_files_too),
        TEST(test_includes_by_a_macro),
        TEST(test_includes_from_the_packages_root),
        TEST(test_folders_of_any_name),
        TEST(test_a_package_behind_a_link),
        TEST(test_moved_with_what_it_includes),
        TEST(test_headers_that_include_one_another),
        TEST(test_a_header_that_never_ends),
        TEST(test_has_include),
        TEST(test_a_missing_header),
        TEST(test_an_error_in_a_systems_header_has_its_own_path),
        TEST(test_clocks_that_are_wrong),
        TEST(test_a_file_that_changes_during_the_build),
        TEST(test_an_absolute_header_that_changes_during_the_build),
        TEST(test_a_package_that_changes_during_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
