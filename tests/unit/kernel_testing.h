/* Kernel files compiled with the compiler at hand, without the host: loaded, and their entries
 * called with tensors and a context made here. The group's set-up is make_folder, its tear-down
 * remove_folder. */
#ifndef FERRULE_KERNEL_TESTING_H
#define FERRULE_KERNEL_TESTING_H

#include "testing.h"

#include "base/path.h"
#include "base/process.h"
#include <dlfcn.h>
#include <ferrule/abi.h>
#include <stdbool.h>
#include <unistd.h>

static fer_error error = FER_ERROR_INIT;
static char folder[] = "/tmp/ferrule-header-XXXXXX";

#define KERNELS FERRULE_TEST_DATA "/kernels/header/"
#define INCLUDE "-I" FERRULE_TEST_DATA "/../include"
#define WARNINGS "-Wall", "-Wextra", "-Wpedantic", "-Werror"
#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define MAX_ARGUMENTS 64

static inline const char *compiler(void)
{
    const char *name = getenv("CC");
    return name == NULL || name[0] == '\0' ? "cc" : name;
}

static inline bool is_installed(const char *name)
{
    fer_process_result result = {0};
    int cause = 0;
    const fer_status status =
        fer_process_run(FLAGS(name, "--version"), NULL, &result, &cause, NULL);
    free(result.output);
    return status == FER_OK && result.exit_code == 0;
}

static inline size_t append(const char **argv, size_t count, const char *const *words)
{
    for (; *words != NULL; words++) {
        assert_true(count + 1 < MAX_ARGUMENTS);
        argv[count++] = *words;
    }
    argv[count] = NULL;
    return count;
}

/* Runs `cc flags files`, the files being those of the test's folder or absolute, and links when the
 * first flag is -shared. Its output goes to `out_output`, which the caller frees. */
static inline bool compiles(const char *cc, const char *const *flags, const char *const *files,
                            char **out_output)
{
    const char *argv[MAX_ARGUMENTS] = {cc, INCLUDE};
    char paths[MAX_ARGUMENTS][512];
    size_t count = append(argv, 2, flags);
    for (size_t i = 0; files[i] != NULL; i++) {
        snprintf(paths[i], sizeof paths[i], "%s%s", files[i][0] == '/' ? "" : KERNELS, files[i]);
        count = append(argv, count, FLAGS(paths[i]));
    }
    if (strcmp(flags[0], "-shared") == 0)
        append(argv, count, FLAGS("-Wl,-z,defs", "-lm"));
    fer_process_result result;
    ASSERT_OK(&error, fer_process_run(argv, folder, &result, NULL, &error));
    *out_output = result.output;
    return result.exit_code == 0;
}

static inline void assert_compiles(const char *cc, const char *const *flags,
                                   const char *const *files)
{
    char *output = NULL;
    const bool done = compiles(cc, flags, files, &output);
    if (!done || output[0] != '\0')
        print_error("%s %s\n%s\n", cc, flags[0], output);
    free(output);
    assert_true(done);
}

static inline void assert_refused(const char *cc, const char *const *flags,
                                  const char *const *files, const char *words)
{
    char *output = NULL;
    const bool done = compiles(cc, flags, files, &output);
    const bool is_told = strstr(output, words) != NULL;
    if (done || !is_told)
        print_error("%s\nexpected: %s\n%s\n", files[0], words, output);
    free(output);
    assert_false(done);
    assert_true(is_told);
}

typedef struct loaded {
    void *handle;
    const fer_abi_table *table;
} loaded;

/* Compiles and loads the files. `flags` has one entry at least. */
static inline loaded load(const char *const *flags, const char *const *files)
{
    static int number = 0;
    char path[64];
    snprintf(path, sizeof path, "%s/%d.so", folder, number++);
    const char *all[MAX_ARGUMENTS];
    append(all, append(all, 0, FLAGS("-shared", "-fPIC", "-o", path, WARNINGS)), flags);
    assert_compiles(compiler(), all, files);

    loaded object = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (object.handle == NULL)
        fail_msg("%s", dlerror());
    union {
        void *object;
        fer_abi_table_function function;
    } symbol = {.object = dlsym(object.handle, FER_ABI_TABLE_SYMBOL)};
    assert_non_null(symbol.object);
    object.table = symbol.function();
    assert_int_equal(object.table->abi_version, FER_ABI_VERSION);
    assert_int_equal(object.table->struct_bytes, sizeof(fer_abi_table));
    return object;
}

#define OPTIMISED FLAGS("-std=c17", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno")

static inline void unload(loaded object)
{
    assert_int_equal(dlclose(object.handle), 0);
}

static inline size_t num_entries(loaded object)
{
    size_t count = 0;
    for (const fer_abi_entry *const *entry = object.table->begin; entry < object.table->end;
         entry++)
        count += *entry != NULL;
    return count;
}

static inline const fer_abi_entry *find(loaded object, const char *name, int32_t kind)
{
    const fer_abi_entry *found = NULL;
    for (const fer_abi_entry *const *entry = object.table->begin; entry < object.table->end;
         entry++)
        if (*entry != NULL && strcmp((*entry)->name, name) == 0 && (*entry)->kind == kind) {
            assert_null(found);
            found = *entry;
        }
    if (found == NULL)
        fail_msg("no entry for %s", name);
    assert_int_equal(found->struct_bytes, sizeof(fer_abi_entry));
    assert_int_equal(found->reserved, 0);
    assert_int_equal(found->num_params, 0);
    return found;
}

/* What a call did to its context. */
typedef struct record {
    char message[256];
    char file[512];
    int line;
    void *scratch;
    bool has_no_memory;
    uint64_t scratch_bytes;
    struct {
        char name[16];
        int64_t extent;
    } extents[4];
} record;

#define FAILED 77

__attribute__((format(printf, 4, 5))) static inline int
record_failure(fer_context *context, const char *file, int line, const char *format, ...)
{
    record *calls = context->runtime;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(calls->message, sizeof calls->message, format, arguments);
    va_end(arguments);
    snprintf(calls->file, sizeof calls->file, "%s", file);
    calls->line = line;
    return FAILED;
}

static inline void *record_scratch(fer_context *context, uint64_t num_bytes)
{
    record *calls = context->runtime;
    calls->scratch_bytes = num_bytes;
    if (calls->has_no_memory)
        return NULL;
    assert_null(calls->scratch);
    calls->scratch = malloc(num_bytes);
    return calls->scratch;
}

static inline int64_t *record_extent(fer_context *context, const char *name)
{
    record *calls = context->runtime;
    size_t i = 0;
    while (calls->extents[i].name[0] != '\0' && strcmp(calls->extents[i].name, name) != 0)
        i++;
    assert_true(i < 4);
    snprintf(calls->extents[i].name, sizeof calls->extents[i].name, "%s", name);
    return &calls->extents[i].extent;
}

static inline int64_t recorded_extent(const record *calls, const char *name)
{
    for (size_t i = 0; i < 4; i++)
        if (strcmp(calls->extents[i].name, name) == 0)
            return calls->extents[i].extent;
    fail_msg("no extent %s was stored", name);
    return 0;
}

/* A tensor for an entry. The dtype is the descriptor's, which other tests judge. */
typedef struct operand {
    void *data;
    int32_t rank;
    int64_t shape[FER_ABI_MAX_RANK];
} operand;

static inline int run(const fer_abi_entry *entry, operand *operands, record *out_calls)
{
    fer_dl_tensor tensors[FER_ABI_MAX_TENSORS];
    const fer_dl_tensor *pointers[FER_ABI_MAX_TENSORS];
    for (uint32_t i = 0; i < entry->num_tensors; i++) {
        tensors[i] = (fer_dl_tensor){.data = operands[i].data,
                                     .device = {1, 0},
                                     .ndim = operands[i].rank,
                                     .dtype = entry->tensors[i].dtype,
                                     .shape = operands[i].rank == 0 ? NULL : operands[i].shape};
        pointers[i] = &tensors[i];
    }
    fer_context context = {sizeof context, 1, out_calls, record_failure, record_scratch,
                           record_extent};
    *out_calls = (record){.has_no_memory = out_calls->has_no_memory};
    const int result = entry->run(&context, pointers);
    free(out_calls->scratch);
    return result;
}

#define RUN(object, name, kind, calls, ...)                                                        \
    run(find(object, name, kind), (operand[]){__VA_ARGS__}, calls)
#define SCALAR(variable)                                                                           \
    {                                                                                              \
        .data = &(variable)                                                                        \
    }
#define VECTOR(pointer, length)                                                                    \
    {                                                                                              \
        .data = (pointer), .rank = 1, .shape = { length }                                          \
    }

static inline void assert_row(const fer_abi_tensor *row, const char *name, int32_t role,
                              int32_t rank, int code, int bits)
{
    assert_string_equal(row->name, name);
    assert_int_equal(row->role, role);
    assert_int_equal(row->rank, rank);
    assert_int_equal(row->dtype.code, code);
    assert_int_equal(row->dtype.bits, bits);
    assert_int_equal(row->dtype.lanes, 1);
    assert_int_equal(row->reserved, 0);
}

static inline int make_folder(void **state)
{
    (void)state;
    setenv("LC_ALL", "C", 1);
    return mkdtemp(folder) == NULL;
}

static inline int remove_folder(void **state)
{
    (void)state;
    fer_folder_remove(folder);
    return 0;
}

#endif
