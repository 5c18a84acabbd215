#include "package/toolchain.h"

#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "package/arguments.h"

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
    "-Wformat",
    "-Werror=format",
    "-Werror=implicit-function-declaration",
    "-Werror=int-conversion",
    "-Werror=incompatible-pointer-types",
    "-Werror=return-type",
    NULL,
};

#define CLANG_OPENMP "-fopenmp=libomp"

#define VERIFY_FLAGS                                                                               \
    "-g", "-fno-omit-frame-pointer", "-fstack-protector-strong", "-fsanitize=undefined",           \
        "-fsanitize=float-cast-overflow"

/* clang makes one trap of all those in a function, unless it does not optimise; and then it inlines
 * nothing, so that an `inline` function needs a definition. */
const char *const *fer_verify_flags(bool is_clang)
{
    static const char *const GCC[] = {"-O1", VERIFY_FLAGS, "-fsanitize-recover=all", NULL};
    static const char *const CLANG[] = {"-O0", "-fgnu89-inline", VERIFY_FLAGS,
                                        "-fsanitize-trap=undefined,float-cast-overflow", NULL};
    return is_clang ? CLANG : GCC;
}

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
    /* One more for the NULL at the end, and one for `--version`. */
    compiler->argv = calloc(strlen(compiler->words) + 2, sizeof *compiler->argv);
    if (compiler->argv == NULL)
        return fer_fail_memory(error);
    char *rest = compiler->words;
    for (char *word; (word = strsep(&rest, " \t")) != NULL;)
        if (*word != '\0')
            compiler->argv[compiler->num_words++] = word;
    return FER_OK;
}

static bool is_program(const char *path, struct stat *out_about)
{
    return stat(path, out_about) == 0 && S_ISREG(out_about->st_mode) && access(path, X_OK) == 0;
}

/* The file that a program's name stands for, as a shell would find it; `out_path` is absolute, for
 * compilers run in other folders. FER_OK and NULL: there is none. */
static fer_status find_program(const char *name, struct stat *out_about, char **out_path,
                               fer_error *error)
{
    *out_path = NULL;
    const char *path = getenv("PATH");
    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    if (strchr(name, '/') != NULL)
        path = "";
    while (true) {
        size_t length = strcspn(path, ":");
        fer_text file = FER_TEXT_INIT;
        fer_text_printf(&file, "%.*s%s%s", (int)length, path, length == 0 ? "" : "/", name);
        fer_status status = file.has_failed ? fer_fail_memory(error) : FER_OK;
        if (status == FER_OK && is_program(fer_text_string(&file), out_about))
            status = fer_path_absolute(fer_text_string(&file), out_path, error);
        fer_text_free(&file);
        if (status != FER_OK || *out_path != NULL || path[length] == '\0')
            return status;
        path += length + 1;
    }
}

static fer_status ask_version(const fer_compiler *compiler, char **out_version, fer_error *error)
{
    fer_process_result result;
    compiler->argv[compiler->num_words] = "--version";
    fer_status status = fer_process_run(compiler->argv, NULL, &result, NULL, error);
    compiler->argv[compiler->num_words] = NULL;
    FER_TRY(status);
    *out_version = result.output;
    if (result.exit_code == 0)
        return FER_OK;
    free(result.output);
    *out_version = NULL;
    return fer_fail(error, FER_COMPILE_ERROR,
                    "the compiler '%s' does not answer --version; set FERRULE_CC to a C compiler",
                    compiler->argv[0]);
}

#define WITHOUT_OPENMP "\nwithout OpenMP\n"

/* gcc has its OpenMP runtime with it; clang's may be absent, and only linking tells. What kept it
 * from telling this time is no answer: that would be kept. */
static fer_status find_openmp(const fer_compiler *compiler, const char *version, bool *out_lacks,
                              fer_error *error)
{
    static const char *const LINK[] = {CLANG_OPENMP, "-shared", "-o",       "/dev/null",
                                       "-x",         "c",       "/dev/null"};
    *out_lacks = false;
    if (strstr(version, "clang") == NULL)
        return FER_OK;
    fer_arguments arguments = {0};
    for (size_t i = 0; i < compiler->num_words; i++)
        fer_arguments_add(&arguments, "%s", compiler->argv[i]);
    for (size_t i = 0; i < sizeof LINK / sizeof *LINK; i++)
        fer_arguments_add(&arguments, "%s", LINK[i]);
    fer_process_result result = {0};
    fer_status status = arguments.has_failed ? fer_fail_memory(error)
                                             : fer_process_run((const char *const *)arguments.items,
                                                               NULL, &result, NULL, error);
    if (status == FER_OK && result.signal != 0)
        status = fer_fail(error, FER_COMPILE_ERROR, "the compiler '%s' was ended by signal %d",
                          compiler->argv[0], result.signal);
    if (status == FER_OK)
        *out_lacks = result.exit_code != 0 || result.output[0] != '\0';
    free(result.output);
    fer_arguments_clear(&arguments);
    return status;
}

/* A program by its place, size and times; or by its content, since a wrapper's own version is the
 * version of what it runs. */
static fer_status hash_program(fer_hasher *hasher, const char *path, const struct stat *about,
                               bool is_by_content, fer_error *error)
{
    int64_t facts[] = {(int64_t)about->st_dev,          (int64_t)about->st_ino,
                       (int64_t)about->st_size,         (int64_t)about->st_mtim.tv_sec,
                       (int64_t)about->st_mtim.tv_nsec, (int64_t)about->st_ctim.tv_sec,
                       (int64_t)about->st_ctim.tv_nsec};
    if (!is_by_content) {
        fer_hasher_string(hasher, path);
        fer_hasher_field(hasher, facts, sizeof facts);
        return FER_OK;
    }
    char *data = NULL;
    size_t size;
    if (fer_file_read(path, &data, &size, NULL) == FER_MEMORY_ERROR)
        return fer_fail_memory(error);
    fer_hasher_field(hasher, data == NULL ? "" : data, size);
    free(data);
    return FER_OK;
}

/* In `ccache gcc` the second word is a program too. */
static fer_status hash_programs(const fer_compiler *compiler, bool is_by_content,
                                char out_hex[FER_DIGEST_HEX], fer_error *error)
{
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    for (size_t i = 0; i < compiler->num_words; i++) {
        const char *word = compiler->argv[i];
        char *path = NULL;
        struct stat about;
        if (i > 0)
            fer_hasher_string(&hasher, word);
        if (word[0] != '-')
            FER_TRY(find_program(word, &about, &path, error));
        if (path == NULL)
            continue;
        fer_status status = hash_program(&hasher, path, &about, is_by_content, error);
        free(path);
        FER_TRY(status);
    }
    fer_hasher_finish_hex(&hasher, out_hex);
    return FER_OK;
}

/* A digest of the programs and their words, the version, and whether it lacks OpenMP. */
static fer_status read_version(const fer_store *store, const fer_compiler *compiler,
                               char **out_version, fer_error *error)
{
    char key[FER_DIGEST_HEX];
    char content[FER_DIGEST_HEX];
    char *version = NULL;
    size_t size;
    bool lacks_openmp;
    FER_TRY(hash_programs(compiler, false, key, error));
    FER_TRY(fer_store_read(store, "compilers", key, out_version, &size, error));
    if (*out_version != NULL)
        return FER_OK;
    FER_TRY(hash_programs(compiler, true, content, error));
    FER_TRY(ask_version(compiler, &version, error));
    fer_text text = FER_TEXT_INIT;
    fer_status status = find_openmp(compiler, version, &lacks_openmp, error);
    if (status == FER_OK)
        fer_text_printf(&text, "%s\n%s%s", content, version, lacks_openmp ? WITHOUT_OPENMP : "");
    free(version);
    FER_TRY(status);
    FER_TRY(fer_text_take(&text, out_version, error));
    fer_store_write(store, "compilers", key, *out_version, strlen(*out_version));
    return FER_OK;
}

/* What else decides what a compiler makes of a command. */
static void hash_environment(fer_hasher *hasher)
{
    static const char *const VARIABLES[] = {"CPATH", "C_INCLUDE_PATH", "COMPILER_PATH",
                                            "GCC_EXEC_PREFIX", "LIBRARY_PATH"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *value = getenv(VARIABLES[i]);
        fer_hasher_string(hasher, value == NULL ? "" : value);
    }
}

static fer_status find_compiler(const fer_store *store, fer_compiler *compiler, fer_error *error)
{
    struct stat about;
    char *version = NULL;
    FER_TRY(split_words(compiler, error));
    FER_TRY(find_program(compiler->argv[0], &about, &compiler->program, error));
    if (compiler->program == NULL)
        return fer_fail(error, FER_COMPILE_ERROR,
                        "there is no C compiler '%s'; install one (on Debian: apt install gcc) or "
                        "set FERRULE_CC to one",
                        compiler->argv[0]);
    compiler->argv[0] = compiler->program;
    FER_TRY(read_version(store, compiler, &version, error));
    compiler->is_clang = strstr(version, "clang") != NULL;
    if (strstr(version, WITHOUT_OPENMP) == NULL)
        compiler->openmp = compiler->is_clang ? CLANG_OPENMP : "-fopenmp";
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_string(&hasher, version);
    hash_environment(&hasher);
    fer_hasher_finish_hex(&hasher, compiler->identity);
    free(version);
    return FER_OK;
}

fer_status fer_compiler_find(const fer_store *store, fer_compiler *out_compiler, fer_error *error)
{
    *out_compiler = (fer_compiler){0};
    fer_compiler compiler = {0};
    fer_status status = find_compiler(store, &compiler, error);
    if (status == FER_OK)
        *out_compiler = compiler;
    else
        fer_compiler_clear(&compiler);
    return status;
}

void fer_compiler_clear(fer_compiler *compiler)
{
    free(compiler->words);
    free(compiler->program);
    free(compiler->argv);
    *compiler = (fer_compiler){0};
}
