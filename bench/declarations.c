/* Declaring: cold beside the bare compiler command, warm in a process and in a fresh one. */
#include "bench.h"

#include "base/path.h"
#include "base/process.h"
#include "package/toolchain.h"
#include <ferrule/op.h>

#include <stdlib.h>
#include <string.h>

#define COLD_ROUNDS 15
#define WARM_ROUNDS 51

static const char KERNEL[] = "#include <ferrule/kernel.h>\n"
                             "\n"
                             "KERNEL(downsample, OUT(f32, 3, y), IN(f32, 3, x))\n"
                             "{\n"
                             "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
                             "        for (index_t j = 0; j < DIM(y, 1); j++)\n"
                             "            for (index_t k = 0; k < DIM(y, 2); k++)\n"
                             "                AT(y, i, j, k) = AT(x, i, 2 * j, k);\n"
                             "    return OK;\n"
                             "}\n";
static const char SIGNATURE[] = "downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]";

typedef struct declarations {
    const char *program;
    char *package;
    char *cache;
    char *object;
    fer_error error;
} declarations;

static void try_or_fail(fer_status status, const fer_error *error)
{
    if (status != FER_OK)
        bench_fail(error->message);
}

static void declare(declarations *d)
{
    fer_op *op = NULL;
    try_or_fail(fer_declare(&(fer_declaration){.signature = SIGNATURE, .packages = {d->package}},
                            &op, &d->error),
                &d->error);
    fer_op_release(op);
}

/* --- Cold ------------------------------------------------------------------------------------- */

/* What an author would type: the same file, the same flags, `cc`. */
static void run_bare_compiler(void *context, size_t count)
{
    declarations *d = context;
    const char *argv[32] = {"cc"};
    size_t num_arguments = 1;
    for (size_t i = 0; FER_KERNEL_FLAGS[i] != NULL; i++)
        argv[num_arguments++] = FER_KERNEL_FLAGS[i];
    const char *rest[] = {"-fopenmp",
                          "-ftrack-macro-expansion=0",
                          "-I" FERRULE_BENCH_INCLUDE,
                          "downsample.c",
                          "-shared",
                          "-Wl,-z,defs",
                          "-o",
                          d->object,
                          "-Wl,--as-needed",
                          "-lm"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        argv[num_arguments++] = rest[i];
    argv[num_arguments] = NULL;
    for (size_t i = 0; i < count; i++) {
        fer_process_result result;
        try_or_fail(fer_process_run(argv, d->package, &result, NULL, &d->error), &d->error);
        if (result.exit_code != 0)
            bench_fail(result.output);
        free(result.output);
    }
}

/* A cache without this kernel; which compiler there is stays known, as it does on a machine in use.
 */
static void forget_kernels(const declarations *d)
{
    static const char *const KINDS[] = {"manifests", "entries"};
    for (size_t i = 0; i < 2; i++) {
        char *path = NULL;
        if (fer_path_join(d->cache, KINDS[i], &path, NULL) == FER_OK)
            fer_folder_remove(path);
        free(path);
    }
}

static void declare_cold(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        forget_kernels(context);
        declare(context);
    }
}

/* --- Warm ------------------------------------------------------------------------------------- */

static void declare_warm(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        declare(context);
}

static void run_process(declarations *d, const char *argument, char **out_output)
{
    const char *argv[] = {d->program, argument, d->package, NULL};
    fer_process_result result;
    try_or_fail(fer_process_run(argv, NULL, &result, NULL, &d->error), &d->error);
    if (result.exit_code != 0)
        bench_fail(result.output);
    if (out_output != NULL)
        *out_output = result.output;
    else
        free(result.output);
}

static void run_empty_process(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_process(context, "--nothing", NULL);
}

static void run_whole_process(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_process(context, "--declare-once", NULL);
}

int bench_declare_once(const char *package)
{
    fer_error error = FER_ERROR_INIT;
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    double start = bench_now_ns();
    try_or_fail(
        fer_declare(&(fer_declaration){.signature = SIGNATURE, .packages = {package}}, &op, &error),
        &error);
    double elapsed = bench_now_ns() - start;
    try_or_fail(fer_tensor_ones(FER_F32, 3, (int64_t[]){2, 8, 3}, (fer_device){0}, &x, &error),
                &error);
    try_or_fail(fer_call(op, &x, 1, &y, 1, &error), &error);
    printf("%.1f %llu\n", elapsed / 1e3, (unsigned long long)fer_read_counters().compiles);
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_op_release(op);
    return 0;
}

/* The declaration alone, timed inside processes that do nothing else before it. */
static void report_fresh_processes(declarations *d, FILE *raw)
{
    double samples[WARM_ROUNDS];
    unsigned long long compiles = 0;
    for (size_t i = 0; i < WARM_ROUNDS; i++) {
        char *output = NULL;
        unsigned long long compiled;
        run_process(d, "--declare-once", &output);
        if (sscanf(output, "%lf %llu", &samples[i], &compiled) != 2)
            bench_fail(output);
        free(output);
        compiles += compiled;
        fprintf(raw, "warm declaration in a fresh process\tfer_declare\t%zu\t%.3f\n", i,
                samples[i] * 1e3);
    }
    double median = bench_median(samples, WARM_ROUNDS);
    printf("warm declaration in a fresh process: minimum %.1f us, median %.1f us; compilers run in "
           "%d processes: %llu\n\n",
           samples[0], median, WARM_ROUNDS, compiles);
}

void bench_declarations(FILE *raw, const char *program, const char *scratch_folder)
{
    declarations d = {.program = program, .error = FER_ERROR_INIT};
    char *source = NULL;
    char *folder = NULL;
    try_or_fail(fer_path_absolute(scratch_folder, &folder, &d.error), &d.error);
    try_or_fail(fer_path_join(folder, "package", &d.package, &d.error), &d.error);
    try_or_fail(fer_path_join(folder, "bare.so", &d.object, &d.error), &d.error);
    try_or_fail(fer_cache_path(&d.cache, &d.error), &d.error);
    try_or_fail(fer_folder_make(d.package, &d.error), &d.error);
    try_or_fail(fer_path_join(d.package, "downsample.c", &source, &d.error), &d.error);
    try_or_fail(fer_file_write(source, KERNEL, sizeof KERNEL - 1, &d.error), &d.error);
    bench_case cold[] = {
        {.name = "floor: the compiler command by itself", .work = run_bare_compiler, .context = &d},
        {.name = "fer_declare, nothing in the cache", .work = declare_cold, .context = &d},
    };
    bench_run("cold declaration", cold, 2, COLD_ROUNDS, 1, 1, raw);
    bench_case warm[] = {
        {.name = "fer_declare, everything in the cache", .work = declare_warm, .context = &d}};
    bench_run("warm declaration, same process", warm, 1, WARM_ROUNDS, 20, 1, raw);
    report_fresh_processes(&d, raw);
    bench_case process[] = {
        {.name = "floor: the program, doing nothing", .work = run_empty_process, .context = &d},
        {.name = "declare warm, call once, exit", .work = run_whole_process, .context = &d},
    };
    bench_run("a whole process", process, 2, WARM_ROUNDS, 1, 1, raw);
    free(source);
    free(folder);
    free(d.package);
    free(d.object);
    free(d.cache);
}
