/* A large result again and again: what its memory costs beside copying as many bytes. */
#include "bench.h"

#include <ferrule/op.h>
#include <ferrule/tensor.h>

#include <string.h>
#include <sys/resource.h>

#define NUM_ELEMENTS ((int64_t)1 << 24)
#define ROUNDS 31
#define SMALL_ROUNDS 101

static const char SOURCE[] = "#include <ferrule/kernel.h>\n"
                             "MAP(twice, f32, IN(f32, x)) { return 2 * x; }\n";

typedef struct memory {
    fer_op *op;
    fer_tensor *x;
    fer_tensor *y;
    int64_t num_bytes; /* of the tensors that make_and_release makes */
    uint32_t num_threads;
    fer_error error;
} memory;

static void try_or_fail(fer_status status, const fer_error *error)
{
    if (status != FER_OK)
        bench_fail(error->message);
}

/* --- A large result --------------------------------------------------------------------------- */

/* Into memory as good as the pool's: both tensors lie in huge pages that were touched before. */
static void copy_warm(void *context, size_t count)
{
    memory *m = context;
    for (size_t i = 0; i < count; i++)
        memcpy(fer_tensor_data(m->y), fer_tensor_const_data(m->x), fer_tensor_num_bytes(m->x));
}

static void call_given(void *context, size_t count)
{
    memory *m = context;
    try_or_fail(fer_set_num_threads(m->num_threads, &m->error), &m->error);
    for (size_t i = 0; i < count; i++)
        try_or_fail(fer_call_into(m->op, &m->x, 1, &m->y, 1, &m->error), &m->error);
}

static void call_allocated(void *context, size_t count)
{
    memory *m = context;
    try_or_fail(fer_set_num_threads(m->num_threads, &m->error), &m->error);
    for (size_t i = 0; i < count; i++) {
        fer_tensor *result;
        try_or_fail(fer_call(m->op, &m->x, 1, &result, 1, &m->error), &m->error);
        fer_tensor_release(result);
    }
}

static void call_fresh(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fer_memory_trim();
        call_allocated(context, 1);
    }
}

static long count_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void report_faults(memory *m)
{
    enum { CALLS = 20 };
    call_allocated(m, 2);
    long before = count_faults();
    call_allocated(m, CALLS);
    long reused = count_faults() - before;
    before = count_faults();
    call_fresh(m, CALLS);
    long fresh = count_faults() - before;
    fer_memory_figures figures = fer_memory_read();
    printf("  page faults of %d calls: %ld, of %d calls without idle memory: %ld; "
           "%.0f MiB are idle\n\n",
           CALLS, reused, CALLS, fresh, (double)figures.bytes_idle / 0x1p20);
}

static void bench_large(memory *m, FILE *raw)
{
    memory two_threads = *m;
    two_threads.num_threads = 2;
    bench_case cases[] = {
        {.name = "floor: memcpy into warm memory", .work = copy_warm, .context = m},
        {.name = "fer_call_into, result given", .work = call_given, .context = m},
        {.name = "the same on two threads", .work = call_given, .context = &two_threads},
        {.name = "fer_call, result allocated and released", .work = call_allocated, .context = m},
        {.name = "the same after each fer_memory_trim", .work = call_fresh, .context = m},
    };
    bench_run("MAP over 64 MiB, f32[16777216], on one thread", cases, sizeof cases / sizeof *cases,
              ROUNDS, 1, 1, raw);
    report_faults(m);
}

/* --- Tensors of one size ---------------------------------------------------------------------- */

static void make_and_release(void *context, size_t count)
{
    memory *m = context;
    for (size_t i = 0; i < count; i++) {
        fer_tensor *tensor;
        try_or_fail(fer_tensor_empty(FER_U8, 1, &m->num_bytes, (fer_device){0}, &tensor, &m->error),
                    &m->error);
        fer_tensor_release(tensor);
    }
}

static void bench_sizes(FILE *raw)
{
    memory sizes[] = {
        {.num_bytes = 64, .error = FER_ERROR_INIT},
        {.num_bytes = 4 << 10, .error = FER_ERROR_INIT},
        {.num_bytes = 64 << 10, .error = FER_ERROR_INIT},
        {.num_bytes = 64 << 20, .error = FER_ERROR_INIT},
    };
    bench_case cases[] = {
        {.name = "64 bytes", .work = make_and_release, .context = &sizes[0]},
        {.name = "4 KiB", .work = make_and_release, .context = &sizes[1]},
        {.name = "64 KiB", .work = make_and_release, .context = &sizes[2]},
        {.name = "64 MiB", .work = make_and_release, .context = &sizes[3]},
    };
    bench_run("fer_tensor_empty and fer_tensor_release", cases, sizeof cases / sizeof *cases,
              SMALL_ROUNDS, 4000, 1, raw);
}

void bench_memory(FILE *raw)
{
    memory m = {.num_threads = 1, .error = FER_ERROR_INIT};
    int64_t shape[] = {NUM_ELEMENTS};
    try_or_fail(fer_declare(
                    &(fer_declaration){
                        .signature = "twice(x: f32[n]) -> f32[n]",
                        .source = SOURCE,
                    },
                    &m.op, &m.error),
                &m.error);
    try_or_fail(fer_tensor_ones(FER_F32, 1, shape, (fer_device){0}, &m.x, &m.error), &m.error);
    try_or_fail(fer_call(m.op, &m.x, 1, &m.y, 1, &m.error), &m.error);
    bench_large(&m, raw);
    bench_sizes(raw);
    try_or_fail(fer_set_num_threads(0, &m.error), &m.error);
    fer_tensor_release(m.x);
    fer_tensor_release(m.y);
    fer_op_release(m.op);
}
