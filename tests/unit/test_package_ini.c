/* `package.ini`: what it may say, and that everything it leads to counts. */
#include "testing_package.h"

#include "package/ini.h"

/* --- The file --------------------------------------------------------------------------------- */

/* The words of all keys, as `cflags@LINE:word|word libs@...`. */
static void assert_reads(const char *text, const char *expected)
{
    fer_ini ini;
    char actual[512] = "";
    size_t length = 0;
    ASSERT_OK(&error, fer_ini_parse(text, "p.ini", &ini, &error));
    for (size_t i = 0; i < FER_INI_NUM_KEYS; i++) {
        const fer_ini_value *value = &ini.values[i];
        if (value->line == 0)
            continue;
        length +=
            (size_t)snprintf(actual + length, sizeof actual - length,
                             "%s%s@%d:", length == 0 ? "" : " ", FER_INI_KEYS[i], value->line);
        for (size_t j = 0; j < value->count; j++)
            length += (size_t)snprintf(actual + length, sizeof actual - length, "%s%s",
                                       j == 0 ? "" : "|", value->words[j].text);
    }
    assert_string_equal(actual, expected);
    fer_ini_clear(&ini);
}

static void test_what_is_read(void **state)
{
    (void)state;
    assert_reads("", "");
    assert_reads("\n \n# a\n; b\n\t# c\n", "");
    assert_reads("[build]", "");
    assert_reads("[ build ] ; c\ncflags=-O2", "cflags@2:-O2");
    assert_reads("\xef\xbb\xbf[build]\r\nlibs = -lm  -lz \r\n", "libs@2:-lm|-lz");
    assert_reads("[build]\ncflags = -DA=\"x y\" '-DB=a\"b' -DC=\\\"q\\\" \"\"\n",
                 "cflags@2:-DA=x y|-DB=a\"b|-DC=\"q\"|");
    assert_reads("[build]\ncflags = \"a\\\"b\\\\c\\d\" 'e\\f'", "cflags@2:a\"b\\c\\d|e\\f");
    assert_reads("[build]\ncflags = -O2 # -O3\n   -g ; -g3\n\n\t-Wall\nlibs =\npkg-config = a b\n",
                 "cflags@2:-O2|-g|-Wall libs@6: pkg-config@7:a|b");
    assert_reads("[build]\ncflags = a#b c;d", "cflags@2:a#b|c;d");
    assert_reads("[build]\ncflags = -DX=1\n[build]\nlibs = -lx", "cflags@2:-DX=1 libs@4:-lx");
}

/* The manual's example, and each key that it lists. */
static void test_the_manual(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    ASSERT_OK(&error, fer_file_read(FERRULE_TEST_DATA "/../docs/kernels.md", &text, &size, &error));
    char *block = strstr(text, "\n```ini\n");
    assert_non_null(block);
    block += strlen("\n```ini\n");
    char *end = strstr(block, "\n```\n");
    assert_non_null(end);
    for (size_t i = 0; i < FER_INI_NUM_KEYS; i++) {
        char row[64];
        snprintf(row, sizeof row, "\n| `%s` | ", FER_INI_KEYS[i]);
        assert_non_null(strstr(end, row));
    }
    end[1] = '\0';
    assert_reads(block, "cflags@2:-O2|-DTAPS=5|-I../shared libs@3:-L../lib|-lfilters "
                        "pkg-config@4:fftw3f|>=|3.3 install@5:FFTW,|on|Debian|libfftw3-dev");
    free(text);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"[build]\n\ncflag = x", "p.ini:3: unknown key 'cflag'; did you mean 'cflags'?"},
        {"[build]\nwarnings = x",
         "p.ini:2: unknown key 'warnings'; the keys are cflags, libs, pkg-config and install"},
        {"[build]\n= x", "p.ini:2: unknown key ''"},
        {"[biuld]", "p.ini:1: unknown section 'biuld'; the one there is is [build]"},
        {"[]", "p.ini:1: unknown section ''"},
        {"[build", "p.ini:1: expected ']' behind the section's name"},
        {"[build] x", "p.ini:1: expected nothing behind the section's ']'"},
        {"cflags = x", "p.ini:1: 'cflags' stands in no section; write [build] above it"},
        {"[build]\ncflags: x", "p.ini:2: expected 'key = words', found 'cflags: x'"},
        {"[build]\nlibs = a\nlibs = b", "p.ini:3: 'libs' is there already, in line 2"},
        {"[build]\n  -O2", "p.ini:2: an indented line goes on with the value above it, and there"},
        {"  [build]", "p.ini:1: an indented line goes on"},
        {"[build]\nlibs = a\n[build]\n b", "p.ini:4: an indented line goes on"},
        {"[build]\nlibs = 'a\n'", "p.ini:2: a quote (') does not end"},
        {"[build]\nlibs = a\n  \"b", "p.ini:3: a quote (\") does not end"},
        {"[build]\nlibs = a \\\n  b", "p.ini:2: nothing stands behind the backslash"},
        {"[build]\nlibs = a \\  \n", "p.ini:2: nothing stands behind the backslash"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_ini ini;
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_ini_parse(CASES[i][0], "p.ini", &ini, &error),
                     CASES[i][1]);
    }
    write_file("p/value.c", VALUE_KERNEL);
    write_bytes("p/package.ini", "[build]\n\0", 9);
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "p", at("p/package.ini"), "a byte 0");
    unlink(at("p/package.ini"));
    assert_int_equal(mkdir(at("p/package.ini"), 0700), 0);
    ASSERT_PACKAGE_REFUSED(FER_IO_ERROR, DECLARATION, "p", at("p/package.ini"));
}

/* --- Flags ------------------------------------------------------------------------------------ */

static void write_build(const char *lines)
{
    char text[1024];
    snprintf(text, sizeof text, "[build]\n%s\n", lines);
    write_file("p/package.ini", text);
}

static void test_flags_that_are_refused(void **state)
{
    (void)state;
    static const char *const UNSAFE[] = {
        "-ffast-math",
        "-Ofast",
        "-funsafe-math-optimizations",
        "-ffinite-math-only",
        "-fassociative-math",
        "-freciprocal-math",
        "-fno-signed-zeros",
        "-ffp-model=fast",
        "-mrecip=all",
        "-mdaz-ftz",
        "-fcx-limited-range",
        "-fdenormal-fp-math=preserve-sign",
    };
    static const char *const OTHERS[][2] = {
        {"cflags = @file", "package.ini:2: cflags has '@file', which names a file that is read"},
        {"cflags = -O2 -fplugin=x.so", "cflags has '-fplugin=x.so', which names a file"},
        {"cflags = -o x", "cflags has '-o', which is no flag that a package can give"},
        {"cflags = other.c", "cflags has 'other.c', which is no flag"},
        {"cflags = -MF x", "cflags has '-MF', which is no flag"},
        {"cflags = -O2\n  -Wl,-rpath,/x", "package.ini:3: cflags has '-Wl,-rpath,/x', which is the "
                                          "linker's: it stands in libs"},
        {"cflags = -I", "cflags has '-I', which needs something behind it"},
        {"cflags = ''", "cflags has '', which is no flag"},
        {"libs = -shared", "libs has '-shared', which is nothing that a package can give"},
        {"libs = -O2", "libs has '-O2'"},
        {"libs = @x", "libs has '@x', which names a file"},
        {"libs = -L", "libs has '-L', which needs something behind it"},
        {"libs = ''", "libs has ''"},
        {"pkg-config = --variable=x y", "pkg-config has '--variable=x', which is no name"},
    };
    write_file("p/value.c", VALUE_KERNEL);
    for (size_t i = 0; i < sizeof UNSAFE / sizeof *UNSAFE; i++)
        for (int is_lib = 0; is_lib < 2; is_lib++) {
            char line[128];
            snprintf(line, sizeof line, "%s = %s", is_lib ? "libs" : "cflags", UNSAFE[i]);
            write_build(line);
            ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "p", "package.ini:2: ", UNSAFE[i],
                                   "would not give the same bits everywhere");
        }
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        write_build(OTHERS[i][0]);
        ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "p", at("p/package.ini"),
                               OTHERS[i][1]);
    }
}

static const char ADDING[] = "#include <ferrule/kernel.h>\n"
                             "#ifndef ADDED\n#define ADDED 1\n#endif\n"
                             "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                             "{\n    AT(y) = AT(x) + ADDED;\n    return OK;\n}\n";

static void test_cflags(void **state)
{
    (void)state;
    write_file("p/value.c", ADDING);
    fer_op *before = declared(DECLARATION, "p");
    write_build("cflags = '-DADDED=(3 + 4)'");
    assert_int_equal(declared_value("p"), 7);
    fer_counters warm = fer_read_counters();
    assert_int_equal(declared_value("p"), 7);
    /* Another way to write it is no other flag. */
    write_build("; said\ncflags = -DADDED=\"(3 + 4)\"   # again");
    assert_int_equal(declared_value("p"), 7);
    assert_int_equal(fer_read_counters().compiles, warm.compiles);
    write_build("cflags = -D ADDED=8 -std=gnu11 -O1 -Wall -ffp-contract=fast");
    assert_int_equal(declared_value("p"), 8);
    unlink(at("p/package.ini"));
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(value_of(before), 1);
    fer_op_release(before);
}

/* Which kernels there are may hang on it. */
static void test_cflags_that_choose_a_kernel(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "#ifdef WITH\n"
                            "MAP(value, i32, IN(i32, x)) { return x + WITH; }\n"
                            "#endif\n");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "p", "no kernels");
    write_build("cflags = -DWITH=5");
    assert_int_equal(declared_value("p"), 5);
}

static void test_folders_of_includes(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "#include <number.h>\n"
                            "#include NUMBERS\n"
                            "DTYPE_VAR(T, i32);\n"
                            "KERNEL(value, OUT(T, 0, y), IN(T, 0, x))\n"
                            "{\n    AT(y) = AT(x) + NUMBER;\n    return OK;\n}\n");
    write_file("p/numbers.h", "");
    write_file("shared/number.h", "#define NUMBER 2\n");
    write_build("cflags = -I../first -I ../shared -DNUMBERS='\"numbers.h\"'");
    fer_op *op = NULL;
    static const char GENERIC[] = "value<T>(x: T[]) -> T[]";
    usleep(50000); /* what is outside was changed before the compiler began */
    op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 2);
    fer_counters cold = fer_read_counters();
    fer_op_release(declared(GENERIC, "p"));
    assert_int_equal(fer_read_counters().compiles, cold.compiles);
    /* An edit counts, and so does a header that now hides it; not for the op from before. */
    write_file("shared/number.h", "#define NUMBER 3\n");
    fer_op *edited = declared(GENERIC, "p");
    assert_int_equal(value_of(edited), 3);
    write_file("first/number.h", "#define NUMBER 4\n");
    fer_op *hidden = declared(GENERIC, "p");
    assert_int_equal(value_of(hidden), 4);
    assert_float_equal(call_with(op, FER_F64, 0), 2, 0);
    fer_op_release(op);
    fer_op_release(edited);
    fer_op_release(hidden);
}

static void test_a_header_for_every_file(void **state)
{
    (void)state;
    write_file("p/value.c", ADDING);
    write_file("p/config.h", "#define ADDED 6\n");
    write_build("cflags = -include config.h");
    assert_int_equal(declared_value("p"), 6);
    write_file("p/config.h", "#define ADDED 9\n");
    assert_int_equal(declared_value("p"), 9);
}

/* --- Libraries -------------------------------------------------------------------------------- */

static void build_library(const char *folder_name, const char *options, int number)
{
    char source[64];
    char text[128];
    char command[2048];
    snprintf(source, sizeof source, "%s/number.c", folder_name);
    snprintf(text, sizeof text, "int number(void);\nint number(void) { return %d; }\n", number);
    write_file(source, text);
    snprintf(command, sizeof command, "cd '%s' && cc -fPIC %s", at(folder_name), options);
    assert_int_equal(system(command), 0);
}
#define STATIC "-c number.c && rm -f libnumber.a && ar rcs libnumber.a number.o"
#define SHARED "-shared number.c -o libnumber.so"

static const char NUMBERED[] = "#include <ferrule/kernel.h>\n"
                               "int number(void);\n"
                               "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                               "{\n    AT(y) = AT(x) + number();\n    return OK;\n}\n";

static void test_libraries(void **state)
{
    (void)state;
    write_file("p/value.c", NUMBERED);
    build_library("a, folder", STATIC, 2);
    write_build("libs = '-L../first' '-L../a, folder' -lnumber");
    usleep(50000); /* what is outside was changed before the compiler began */
    assert_int_equal(declared_value("p"), 2);
    fer_counters cold = fer_read_counters();
    assert_int_equal(declared_value("p"), 2);
    assert_int_equal(fer_read_counters().compiles, cold.compiles);
    /* What was linked has changed, and then is hidden by another. */
    build_library("a, folder", STATIC, 3);
    assert_int_equal(declared_value("p"), 3);
    build_library("first", STATIC, 4);
    assert_int_equal(declared_value("p"), 4);
    /* A shared one comes first, and is found when the kernel is loaded. */
    build_library("first", SHARED, 5);
    assert_int_equal(declared_value("p"), 5);
    write_build("libs = ../first/libnumber.a");
    assert_int_equal(declared_value("p"), 4);
    write_build("libs = -lno_such_library_anywhere");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p", "no_such_library_anywhere");
    write_build("libs =");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p", "number");
}

/* --- pkg-config ------------------------------------------------------------------------------- */

static void write_pc(const char *cflags)
{
    char text[1024];
    snprintf(text, sizeof text,
             "Name: numbers\nDescription: numbers\nVersion: 1.5\nCflags: %s\n"
             "Libs: -L\"%s\" -lnumber\n",
             cflags, at("lib"));
    write_file("pc/numbers.pc", text);
}

static void test_pkg_config(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "int number(void);\n"
                            "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                            "{\n    AT(y) = AT(x) + number() + ADDED;\n    return OK;\n}\n");
    build_library("lib", STATIC, 2);
    write_pc("-DADDED=10");
    setenv("PKG_CONFIG_PATH", at("pc"), 1);
    write_build("pkg-config = numbers >= 1.0");
    usleep(50000); /* what is outside was changed before the compiler began */
    assert_int_equal(declared_value("p"), 12);
    fer_counters cold = fer_read_counters();
    assert_int_equal(declared_value("p"), 12);
    assert_int_equal(fer_read_counters().compiles, cold.compiles);
    write_pc("-DADDED=20"); /* the answer counts, and the library behind it */
    assert_int_equal(declared_value("p"), 22);
    build_library("lib", STATIC, 3);
    assert_int_equal(declared_value("p"), 23);
    write_pc("-ffast-math");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, DECLARATION, "p",
                           "package.ini:2: pkg-config gives '-ffast-math', which lets");
    write_build("cflags = -O2\npkg-config = numbers >= 2.0");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p",
                           "package.ini:3: pkg-config does not know all that it is asked for; "
                           "install the packages to develop with, or name",
                           "PKG_CONFIG_PATH", "numbers");
    write_build("install = numbers of \"2.0 (or later)\"\npkg-config = numbers >= 2.0");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p",
                           "package.ini:3: pkg-config does not know all that it is asked for; "
                           "install numbers of 2.0 (or later), or name");
    setenv("PKG_CONFIG", "/no/such/pkg-config", 1);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p",
                           "package.ini:3: there is no '/no/such/pkg-config' to ask; install it");
    /* Any program of its kind, with words of its own. */
    write_program("mine", "#!/bin/sh\n[ \"$1\" = --odd ] && echo -DADDED=1 '-DX=\\ y' number.o\n");
    char words[600];
    snprintf(words, sizeof words, "%s --odd", at("mine"));
    setenv("PKG_CONFIG", words, 1);
    write_build("pkg-config = x");
    char command[1024];
    snprintf(command, sizeof command, "cp '%s' '%s'", at("lib/number.o"), at("p/number.o"));
    assert_int_equal(system(command), 0);
    assert_int_equal(declared_value("p"), 4);
    unsetenv("PKG_CONFIG");
    unsetenv("PKG_CONFIG_PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_read),
        TEST(test_the_manual),
        TEST(test_what_is_refused),
        TEST(test_flags_that_are_refused),
        TEST(test_cflags),
        TEST(test_cflags_that_choose_a_kernel),
        TEST(test_folders_of_includes),
        TEST(test_a_header_for_every_file),
        TEST(test_libraries),
        TEST(test_pkg_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
