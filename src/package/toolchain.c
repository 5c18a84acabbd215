#include "package/toolchain.h"

#include "base/path.h"
#include "base/process.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

const char *const FER_KERNEL_FLAGS[] = {
    "-std=gnu17",
    "-O3",
#if defined(__x86_64__) || defined(__i386__)
    "-march=native",
#else
    "-mcpu=native",
#endif
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fvisibility=hidden",
    "-Werror=implicit-function-declaration",
    "-Werror=int-conversion",
    "-Werror=incompatible-pointer-types",
    "-Werror=return-type",
    NULL,
};

/* --- The processor ---------------------------------------------------------------------------- */

static char target_cpu[FER_DIGEST_HEX];

static void read_target_cpu(void)
{
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
#if defined(__x86_64__) || defined(__i386__)
    unsigned registers[4];
    for (unsigned leaf = 0; leaf <= 7; leaf += leaf == 1 ? 6 : 1) { /* 0, 1, 7 */
        if (!__get_cpuid_count(leaf, 0, &registers[0], &registers[1], &registers[2], &registers[3]))
            continue;
        if (leaf == 1) {
            registers[1] = 0;            /* which core this is */
            registers[2] &= ~(1u << 27); /* OSXSAVE */
        }
        fer_hasher_field(&hasher, registers, sizeof registers);
    }
#endif
    unsigned long capabilities[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    fer_hasher_field(&hasher, capabilities, sizeof capabilities);
    fer_hasher_finish_hex(&hasher, target_cpu);
}

const char *fer_target_cpu(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_target_cpu);
    return target_cpu;
}

/* --- The compiler ----------------------------------------------------------------------------- */

static const char *compiler_words(void)
{
    static const char *const VARIABLES[] = {"FERRULE_CC", "CC"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *value = getenv(VARIABLES[i]);
        if (value != NULL && value[strspn(value, " \t")] != '\0')
            return value;
    }
    return "cc";
}

static fer_status split_words(fer_compiler *compiler, fer_error *error)
{
    FER_TRY(fer_copy_string(compiler_words(), &compiler->words, error));
    compiler->argv = calloc(strlen(compiler->words) + 1, sizeof *compiler->argv);
    if (compiler->argv == NULL)
        return fer_fail_memory(error);
    char *rest = compiler->words;
    for (char *word; (word = strsep(&rest, " \t")) != NULL;)
        if (*word != '\0')
            compiler->argv[compiler->num_words++] = word;
    return FER_OK;
}

/* The file that a program's name stands for, as a shell would find it. */
static bool find_program(const char *name, struct stat *out_about)
{
    if (strchr(name, '/') != NULL)
        return stat(name, out_about) == 0 && access(name, X_OK) == 0;
    const char *path = getenv("PATH");
    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    char file[4096];
    while (true) {
        size_t length = strcspn(path, ":");
        int needed = snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (needed > 0 && (size_t)needed < sizeof file && stat(file, out_about) == 0 &&
            S_ISREG(out_about->st_mode) && access(file, X_OK) == 0)
            return true;
        if (path[length] == '\0')
            return false;
        path += length + 1;
    }
}

static fer_status ask_version(const fer_compiler *compiler, char **out_version, fer_error *error)
{
    fer_process_result result;
    const char *argv[] = {compiler->argv[0], "--version", NULL};
    FER_TRY(fer_process_run(argv, NULL, &result, NULL, error));
    *out_version = result.output;
    if (result.exit_code == 0)
        return FER_OK;
    free(result.output);
    *out_version = NULL;
    return fer_fail(error, FER_COMPILE_ERROR,
                    "the compiler '%s' does not answer --version; set FERRULE_CC to a C compiler",
                    compiler->argv[0]);
}

static fer_status read_version(const fer_store *store, const fer_compiler *compiler,
                               const struct stat *about, char **out_version, fer_error *error)
{
    fer_hasher hasher;
    char key[FER_DIGEST_HEX];
    int64_t facts[] = {(int64_t)about->st_dev,          (int64_t)about->st_ino,
                       (int64_t)about->st_size,         (int64_t)about->st_mtim.tv_sec,
                       (int64_t)about->st_mtim.tv_nsec, (int64_t)about->st_ctim.tv_sec,
                       (int64_t)about->st_ctim.tv_nsec};
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_string(&hasher, compiler->argv[0]);
    fer_hasher_field(&hasher, facts, sizeof facts);
    fer_hasher_finish_hex(&hasher, key);
    size_t size;
    if (fer_store_read(store, "compilers", key, out_version, &size))
        return FER_OK;
    FER_TRY(ask_version(compiler, out_version, error));
    fer_store_write(store, "compilers", key, *out_version, strlen(*out_version));
    return FER_OK;
}

fer_status fer_compiler_find(const fer_store *store, fer_compiler *out_compiler, fer_error *error)
{
    fer_compiler compiler = {0};
    char *version = NULL;
    struct stat about;
    *out_compiler = compiler;
    fer_status status = split_words(&compiler, error);
    if (status != FER_OK)
        goto done;
    if (!find_program(compiler.argv[0], &about)) {
        status = fer_fail(error, FER_COMPILE_ERROR,
                          "there is no C compiler '%s'; install one (on Debian: apt install gcc) "
                          "or set FERRULE_CC to one",
                          compiler.argv[0]);
        goto done;
    }
    FER_TRY_DONE(read_version(store, &compiler, &about, &version, error));
    compiler.is_clang = strstr(version, "clang") != NULL;
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_string(&hasher, version);
    fer_hasher_field(&hasher, &about.st_size, sizeof about.st_size);
    for (size_t i = 1; i < compiler.num_words; i++)
        fer_hasher_string(&hasher, compiler.argv[i]);
    fer_hasher_finish_hex(&hasher, compiler.identity);
    *out_compiler = compiler;
    compiler = (fer_compiler){0};

done:
    free(version);
    fer_compiler_clear(&compiler);
    return status;
}

void fer_compiler_clear(fer_compiler *compiler)
{
    free(compiler->words);
    free(compiler->argv);
    *compiler = (fer_compiler){0};
}
