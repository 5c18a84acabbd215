/* The compiler: how it is found and asked, and all that it can do wrong. */
#include "testing_package.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* Makes this script the compiler. */
static void use_script(const char *body)
{
    char text[2048];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "case \" $* \" in *' --version '*) echo 'script 1.0'; exit 0 ;; esac\n"
             "%s\n",
             body);
    write_program("script", text);
    setenv("FERRULE_CC", at("script"), 1);
}

static int set_up_package(void **state)
{
    int result = set_up(state);
    write_file("p/value.c", VALUE_KERNEL);
    return result;
}

static int tear_down_compiler(void **state)
{
    static const char *const VARIABLES[] = {"CC", "CPATH", "TMPDIR"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
        unsetenv(VARIABLES[i]);
    return tear_down(state);
}

#define ASSERT_NO_KERNEL(...)                                                                      \
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p", "value: ", __VA_ARGS__)

/* --- What goes wrong -------------------------------------------------------------------------- */

static void test_a_compiler_that_fails(void **state)
{
    (void)state;
    use_script("echo 'on stdout'; echo 'on stderr' >&2; exit 3");
    ASSERT_NO_KERNEL("exit code 3", "on stdout", "on stderr", "the command was: ", "value.c",
                     at("script"));
    use_script("exit 7");
    ASSERT_NO_KERNEL("exit code 7", "the command was: ");
    use_script("kill -SEGV $$");
    ASSERT_NO_KERNEL("ended by signal 11");
    use_script("kill -KILL $$");
    ASSERT_NO_KERNEL("ended by signal 9");
    use_script("echo 'value.c:4:5: error: not like this'; exit 1");
    ASSERT_NO_KERNEL(at("p/value.c:4: not like this"));
    /* And all is well when it works again. */
    use_script("exec cc \"$@\"");
    assert_int_equal(declared_value("p"), 1);
}

static void test_a_compiler_that_writes_nothing(void **state)
{
    (void)state;
    use_script("exit 0");
    ASSERT_NO_KERNEL("wrote no output file", "the command was: ");
    setenv("FERRULE_CC", "true", 1);
    ASSERT_NO_KERNEL("wrote no output file");
    /* Nor for one of several files. */
    write_file("p/helper.c", "int helper(void);\nint helper(void) { return 1; }\n");
    use_script("case \" $* \" in *' helper.c '*) exit 0 ;; esac\nexec cc \"$@\"");
    ASSERT_NO_KERNEL("wrote no output file", "helper.c");
}

static void test_a_compiler_that_writes_rubbish(void **state)
{
    (void)state;
    use_script("while [ \"$1\" != -o ]; do shift; done\n"
               "echo rubbish > \"$2\"\n"
               ": > ../../read0.d");
    ASSERT_NO_KERNEL("cannot be loaded");
    /* A shared object that is no package. */
    use_script("while [ \"$1\" != -o ]; do shift; done\n"
               "echo 'int nothing;' | cc -shared -fPIC -x c - -o \"$2\"\n"
               ": > ../../read0.d");
    ASSERT_NO_KERNEL("no kernel table");
}

static bool is_asked_twice(void *context)
{
    int *num_asked = context;
    return ++*num_asked == 2;
}

/* What is interrupted leaves nothing behind: the compiler is ended, and compiles when asked again.
 */
static void test_an_interrupted_compiler(void **state)
{
    (void)state;
    int num_asked = 0;
    use_script("exec sleep 600");
    fer_set_interrupt(is_asked_twice, &num_asked);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "p", at("script"), ": interrupted");
    assert_int_equal(num_asked, 2);
    fer_set_interrupt(NULL, NULL);
    use_script("exec cc \"$@\"");
    assert_int_equal(declared_value("p"), 1);
}

static void test_a_compiler_that_says_a_lot(void **state)
{
    (void)state;
    use_script("i=0; while [ $i -lt 40000 ]; do echo \"line $i of very much that is said\"; "
               "i=$((i + 1)); done; exit 1");
    fer_op *op = NULL;
    assert_int_equal(
        fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}}, &op,
                    &error),
        FER_COMPILE_ERROR);
    assert_true(strlen(error.message) > 1000000);
    assert_non_null(strstr(error.message, "line 0 of very much"));
    assert_non_null(strstr(error.message, "line 39999 of very much"));
    fer_error_clear(&error);
}

static void test_a_compiler_that_reads_its_input(void **state)
{
    (void)state;
    use_script("cat > /dev/null\nexec cc \"$@\"");
    assert_int_equal(declared_value("p"), 1);
}

static void test_no_compiler(void **state)
{
    (void)state;
    setenv("FERRULE_CC", "no-such-compiler", 1);
    ASSERT_NO_KERNEL("'no-such-compiler'", "FERRULE_CC");
    setenv("FERRULE_CC", at("p"), 1); /* a folder */
    ASSERT_NO_KERNEL("FERRULE_CC");
    write_file("text", "#!/bin/sh\nexec cc \"$@\"\n"); /* not executable */
    setenv("FERRULE_CC", at("text"), 1);
    ASSERT_NO_KERNEL("FERRULE_CC");
    write_program("silent", "#!/bin/sh\nexit 1\n");
    setenv("FERRULE_CC", at("silent"), 1);
    ASSERT_NO_KERNEL("does not answer --version", "FERRULE_CC");
    write_program("foreign", "\177ELF no program for this machine");
    setenv("FERRULE_CC", at("foreign"), 1);
    fer_op *op = NULL;
    assert_int_not_equal(
        fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}}, &op,
                    &error),
        FER_OK);
    fer_error_clear(&error);
}

/* --- How it is found -------------------------------------------------------------------------- */

static void write_value_macro(void)
{
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "#ifndef VALUE\n#define VALUE 1\n#endif\n"
                            "MAP(value, i32, IN(i32, x)) { return x + VALUE; }\n");
}

static void test_the_compilers_own_arguments(void **state)
{
    (void)state;
    write_value_macro();
    assert_int_equal(declared_value("p"), 1);
    setenv("FERRULE_CC", "  cc   -DVALUE=7\t", 1);
    assert_int_equal(declared_value("p"), 7);
    setenv("FERRULE_CC", "cc -DVALUE=8", 1);
    assert_int_equal(declared_value("p"), 8);
    setenv("CC", "cc -DVALUE=9", 1);
    assert_int_equal(declared_value("p"), 8);
    setenv("FERRULE_CC", " \t ", 1);
    assert_int_equal(declared_value("p"), 9);
    unsetenv("FERRULE_CC");
    assert_int_equal(declared_value("p"), 9);
    setenv("CC", "", 1);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles);
    setenv("FERRULE_CC", "env VALUE=5 cc -DVALUE=6", 1);
    assert_int_equal(declared_value("p"), 6);
}

/* A relative path is one from where the process is, not from where the compiler runs. */
static void test_a_compiler_at_a_relative_path(void **state)
{
    (void)state;
    write_program("bin/my-cc", "#!/bin/sh\nexec cc -DVALUE=3 \"$@\"\n");
    write_value_macro();
    char *working = getcwd(NULL, 0);
    char *path = strdup(getenv("PATH"));
    assert_int_equal(chdir(folder), 0);
    setenv("FERRULE_CC", "bin/my-cc", 1);
    assert_int_equal(declared_value("p"), 3);
    write_program("bin/my-cc", "#!/bin/sh\nexec cc -DVALUE=4 \"$@\"\n# another size\n");
    assert_int_equal(declared_value("p"), 4);
    char longer[4096];
    snprintf(longer, sizeof longer, "bin:/no/such/folder:%s", path);
    setenv("PATH", longer, 1);
    write_program("bin/named-cc", "#!/bin/sh\nexec cc -DVALUE=5 \"$@\"\n");
    setenv("FERRULE_CC", "named-cc", 1);
    assert_int_equal(declared_value("p"), 5);
    assert_int_equal(chdir(at("bin")), 0);
    snprintf(longer, sizeof longer, ":%s", path); /* nothing is the working folder */
    setenv("PATH", longer, 1);
    write_program("bin/here-cc", "#!/bin/sh\nexec cc -DVALUE=6 \"$@\"\n");
    setenv("FERRULE_CC", "here-cc", 1);
    assert_int_equal(declared_value("p"), 6);
    setenv("PATH", path, 1);
    assert_int_equal(chdir(working), 0);
    free(working);
    free(path);
}

/* What a wrapper runs decides which words the compiler understands. */
static void test_a_wrapper_of_another_compiler(void **state)
{
    (void)state;
    fer_op *op = NULL;
    setenv("FERRULE_CC", "clang", 1);
    if (fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}}, &op,
                    NULL) != FER_OK)
        skip(); /* there is none, or none that links with the sanitizers of another */
    fer_op_release(op);
    write_program("wrapper", "#!/bin/sh\nexec \"$@\"\n");
    char words[1024];
    snprintf(words, sizeof words, "%s clang", at("wrapper"));
    setenv("FERRULE_CC", words, 1);
    assert_int_equal(declared_value("p"), 1);
    write_file("q/value.c", "#include <ferrule/kernel.h>\n"
                            "MAP(value, i32, IN(i32, x)) { return missing; }\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "q", at("q/value.c:2"), "missing",
                           "-fmacro-backtrace-limit=1");
}

static void test_another_compiler_builds_again(void **state)
{
    (void)state;
    use_script("exec cc \"$@\"");
    assert_int_equal(declared_value("p"), 1);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles);
    use_script("exec cc \"$@\" # of another size");
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles + 1);
    /* With none at all, either's will do. */
    setenv("FERRULE_CC", "/no/such/compiler", 1);
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles + 1);
}

/* clang is asked once whether it has OpenMP; a question that is cut short is asked again. */
static void test_a_question_that_is_cut_short(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "case \" $* \" in\n"
             "*' --version '*) echo 'clang version 14.0.6 (a script)'; exit 0 ;;\n"
             "*' /dev/null '*) [ -e '%s' ] && exit 0; touch '%s'; kill -KILL $$ ;;\n"
             "*' -fopenmp=libomp '*) touch '%s' ;;\n"
             "esac\n"
             "for word; do\n"
             "    shift\n"
             "    case $word in -fmacro-* | -fopenmp=*) ;; *) set -- \"$@\" \"$word\" ;; esac\n"
             "done\n"
             "exec cc \"$@\"\n",
             at("asked"), at("asked"), at("has-openmp"));
    write_program("clang", text);
    setenv("FERRULE_CC", at("clang"), 1);
    ASSERT_NO_KERNEL("ended by signal 9", at("clang"));
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(access(at("has-openmp"), F_OK), 0);
}

/* --- What surrounds it ------------------------------------------------------------------------ */

static void test_headers_of_the_environment(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n#include <value_of_test.h>\n"
                            "MAP(value, i32, IN(i32, x)) { return x + VALUE; }\n");
    write_file("one/value_of_test.h", "#define VALUE 1\n");
    write_file("two/value_of_test.h", "#define VALUE 2\n");
    usleep(50000); /* they were changed before the compiler began */
    setenv("CPATH", at("one"), 1);
    assert_int_equal(declared_value("p"), 1);
    setenv("CPATH", at("two"), 1);
    assert_int_equal(declared_value("p"), 2);
    write_file("two/value_of_test.h", "#define VALUE 3\n");
    assert_int_equal(declared_value("p"), 3);
    setenv("CPATH", at("one"), 1);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles);
}

static void test_the_compiler_speaks_english(void **state)
{
    (void)state;
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    use_script("echo \"value.c:2:1: error: in locale $LC_ALL\"; exit 1");
    ASSERT_NO_KERNEL(at("p/value.c:2: in locale C"));
    unsetenv("LC_ALL");
    ASSERT_NO_KERNEL(at("p/value.c:2: in locale C"));
}

static void test_temporary_folders_of_every_kind(void **state)
{
    (void)state;
    static const char *const FOLDERS[] = {"with space", "quote'\"", "new\nline", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/x", FOLDERS[i]);
        write_file(name, "");
        setenv("TMPDIR", at(FOLDERS[i]), 1);
        snprintf(name, sizeof name, "cache%zu", i);
        setenv("FERRULE_CACHE_DIR", at(name), 1);
        assert_int_equal(declared_value("p"), 1);
    }
    static const char *const ODD[] = {"", "relative", "/no/such/folder"};
    for (size_t i = 0; i < sizeof ODD / sizeof *ODD; i++) {
        char name[64];
        snprintf(name, sizeof name, "odd%zu", i);
        setenv("TMPDIR", ODD[i], 1);
        setenv("FERRULE_CACHE_DIR", at(name), 1);
        assert_int_equal(declared_value("p"), 1);
    }
}

/* Runs in a child, for what it changes of the process: 0 when all is well. */
static int declare_in_child(void)
{
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    fer_declaration good = {.signature = DECLARATION, .packages = {at("p")}};
    fer_declaration bad = {.signature = DECLARATION, .packages = {at("q")}};
    if (fer_declare(&good, &op, &error) != FER_OK)
        return 1;
    if (fer_tensor_ones(FER_I32, 0, NULL, host, &x, NULL) != FER_OK ||
        fer_call(op, &x, 1, &y, 1, NULL) != FER_OK ||
        *(const int32_t *)fer_tensor_const_data(y) != 2)
        return 2;
    RELEASE(x, y);
    fer_op_release(op);
    if (fer_declare(&bad, &op, &error) != FER_COMPILE_ERROR ||
        strstr(error.message, "value.c:2") == NULL || strstr(error.message, "missing") == NULL)
        return 3;
    return 0;
}

static void assert_child_declares(void (*change)(void))
{
    write_file("q/value.c", "#include <ferrule/kernel.h>\n"
                            "MAP(value, i32, IN(i32, x)) { return missing; }\n");
    pid_t child = fork();
    if (child == 0) {
        change();
        _exit(declare_in_child());
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

/* Then nobody learns how a child ended: what it wrote tells. */
static void ignore_children(void)
{
    signal(SIGCHLD, SIG_IGN);
}

static void collect_children(int number)
{
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

static void watch_children(void)
{
    signal(SIGCHLD, collect_children);
}

static void close_standard_files(void)
{
    for (int file = 0; file < 3; file++)
        close(file);
}

static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void test_processes_of_every_kind(void **state)
{
    (void)state;
    assert_child_declares(ignore_children);
    setenv("FERRULE_CACHE_DIR", at("second"), 1);
    assert_child_declares(watch_children);
    setenv("FERRULE_CACHE_DIR", at("third"), 1);
    assert_child_declares(close_standard_files);
    setenv("FERRULE_CACHE_DIR", at("fourth"), 1);
    assert_child_declares(block_signals);
}

#define COMPILER_TEST(name)                                                                        \
    cmocka_unit_test_setup_teardown(name, set_up_package, tear_down_compiler)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPILER_TEST(test_a_compiler_that_fails),
        COMPILER_TEST(test_a_compiler_that_writes_nothing),
        COMPILER_TEST(test_a_compiler_that_writes_rubbish),
        COMPILER_TEST(test_an_interrupted_compiler),
        COMPILER_TEST(test_a_compiler_that_says_a_lot),
        COMPILER_TEST(test_a_compiler_that_reads_its_input),
        COMPILER_TEST(test_no_compiler),
        COMPILER_TEST(test_the_compilers_own_arguments),
        COMPILER_TEST(test_a_compiler_at_a_relative_path),
        COMPILER_TEST(test_a_wrapper_of_another_compiler),
        COMPILER_TEST(test_another_compiler_builds_again),
        COMPILER_TEST(test_a_question_that_is_cut_short),
        COMPILER_TEST(test_headers_of_the_environment),
        COMPILER_TEST(test_the_compiler_speaks_english),
        COMPILER_TEST(test_temporary_folders_of_every_kind),
        COMPILER_TEST(test_processes_of_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
