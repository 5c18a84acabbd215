/* What the tests of kernel packages share: a folder for each test, files in it, and the value that
 * a package's kernel computes. */
#ifndef FERRULE_TESTING_PACKAGE_H
#define FERRULE_TESTING_PACKAGE_H

#include "testing_op.h"

#include "base/path.h"
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder; /* of the test that runs: everything is below it */

static const char VALUE_KERNEL[] = "#include <ferrule/kernel.h>\n"
                                   "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                                   "{\n"
                                   "    AT(y) = AT(x) + 1;\n"
                                   "    return OK;\n"
                                   "}\n";
static const char DECLARATION[] = "value(x: i32[]) -> i32[]";

static inline int set_up(void **state)
{
    (void)state;
    char template[] = "/tmp/ferrule-test.XXXXXX";
    if (mkdtemp(template) == NULL)
        return -1;
    folder = strdup(template);
    char cache[128];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("FERRULE_CACHE_DIR", cache, 1);
    unsetenv("FERRULE_CC");
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    unsetenv("FERRULE_CC");
    fer_folder_remove(folder);
    free(folder);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* A path below the test's folder; a few are alive at a time. */
static inline const char *at(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void write_bytes(const char *name, const void *bytes, size_t size)
{
    char *parent = NULL;
    ASSERT_OK(&error, fer_path_folder(at(name), &parent, &error));
    ASSERT_OK(&error, fer_folder_make(parent, &error));
    free(parent);
    ASSERT_OK(&error, fer_file_write(at(name), bytes, size, &error));
}

static inline void write_file(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static inline void write_program(const char *name, const char *text)
{
    write_file(name, text);
    assert_int_equal(chmod(at(name), 0755), 0);
}

/* Root may do anything, so that some tests happen as an ordinary user. */
enum { NOBODY = 65534 };

static inline bool give_up_rights(void)
{
    return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0; /* else /proc/self stays root's */
}

/* Runs tests in a process without rights; 0 when all passed. */
static inline int run_as_ordinary_user(int (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!give_up_rights())
            _exit(1);
        print_message("as an ordinary user:\n");
        exit(run());
    }
    int result = -1;
    return waitpid(child, &result, 0) == child && result == 0 ? 0 : 1;
}

/* A compiler that remembers what it made of the same files and arguments, for tests that want it
 * often: it is set up for a group of tests. `words` follow its name in $FERRULE_CC. */
static char compiler_folder[64];

static inline int set_up_remembering(void **state)
{
    (void)state;
    static const char SCRIPT[] =
        "#!/bin/sh\n"
        "for argument; do\n"
        "    case $before in -o) output=$argument;; -MF) rule=$argument;; esac\n"
        "    before=$argument\n"
        "done\n"
        "[ -n \"$rule\" ] || exec cc \"$@\"\n"
        "kept=${0%/*}/$( (echo \"$*\"; cat *.c) | cksum | tr ' ' -)\n"
        "if [ ! -e \"$kept.so\" ]; then\n"
        "    cc \"$@\" && cp \"$rule\" \"$kept.d\" && cp \"$output\" \"$kept.so\"\n"
        "    exit\n"
        "fi\n"
        "cp \"$kept.so\" \"$output\" && cp \"$kept.d\" \"$rule\"\n";
    char path[128];
    snprintf(compiler_folder, sizeof compiler_folder, "/tmp/ferrule-test.XXXXXX");
    if (mkdtemp(compiler_folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/compiler", compiler_folder);
    return fer_file_write(path, SCRIPT, strlen(SCRIPT), NULL) == FER_OK ? chmod(path, 0755) : -1;
}

static inline int tear_down_remembering(void **state)
{
    (void)state;
    fer_folder_remove(compiler_folder);
    return 0;
}

static inline void use_remembering_compiler(const char *words)
{
    char value[256];
    snprintf(value, sizeof value, "%s/compiler%s", compiler_folder, words);
    setenv("FERRULE_CC", value, 1);
}

static inline fer_op *declared(const char *signature, const char *package)
{
    fer_op *op = NULL;
    ASSERT_OK(&error,
              fer_declare(&(fer_declaration){.signature = signature, .packages = {at(package)}},
                          &op, &error));
    return op;
}

#define ASSERT_PACKAGE_REFUSED(kind, signature_text, package, ...)                                 \
    do {                                                                                           \
        fer_op *refused = (fer_op *)&error; /* must be cleared */                                  \
        ASSERT_FAILS(&error, kind,                                                                 \
                     fer_declare(&(fer_declaration){.signature = (signature_text),                 \
                                                    .packages = {at(package)}},                    \
                                 &refused, &error),                                                \
                     __VA_ARGS__);                                                                 \
        assert_null(refused);                                                                      \
    } while (0)

static inline double call_with(const fer_op *op, fer_dtype dtype, int64_t x)
{
    fer_tensor *operand = make_scalar(dtype, x);
    fer_tensor *result = NULL;
    ASSERT_OK(&error, fer_call(op, &operand, 1, &result, 1, &error));
    const void *data = fer_tensor_const_data(result);
    double value = dtype == FER_I32 ? *(const int32_t *)data : *(const double *)data;
    RELEASE(operand, result);
    return value;
}

static inline int value_of(const fer_op *op)
{
    return (int)call_with(op, FER_I32, 0);
}

static inline int declared_value(const char *package)
{
    fer_op *op = declared(DECLARATION, package);
    int value = value_of(op);
    fer_op_release(op);
    return value;
}

#endif
