/* An eager call of a tiny one-operand kernel over the direct call of its wrapper. */
#include "bench.h"

#include "op/op.h"

static const char SOURCE[] = "#include <ferrule/kernel.h>\n"
                             "KERNEL(half, OUT(f32, 3, y), IN(f32, 3, x))\n"
                             "{\n"
                             "    AT(y, 0, 0, 0) = AT(x, 0, 0, 0);\n"
                             "    return OK;\n"
                             "}\n";

typedef struct calls {
    fer_op *op;
    fer_tensor *x;
    fer_tensor *y;
    const fer_specialisation *specialisation;
    fer_error error;
} calls;

static void call_wrapper(void *context, size_t count)
{
    calls *c = context;
    const fer_dl_tensor *tensors[2] = {&c->y->dl, &c->x->dl};
    fer_context kernel_context = {.struct_bytes = sizeof kernel_context, .num_threads = 1};
    fer_kernel_function volatile run = c->specialisation->run;
    for (size_t i = 0; i < count; i++)
        if (run(&kernel_context, tensors) != 0)
            bench_fail("the kernel failed");
}

static void call_given(void *context, size_t count)
{
    calls *c = context;
    for (size_t i = 0; i < count; i++)
        if (fer_call_into(c->op, &c->x, 1, &c->y, 1, &c->error) != FER_OK)
            bench_fail(c->error.message);
}

static void call_allocated(void *context, size_t count)
{
    calls *c = context;
    for (size_t i = 0; i < count; i++) {
        fer_tensor *y;
        if (fer_call(c->op, &c->x, 1, &y, 1, &c->error) != FER_OK)
            bench_fail(c->error.message);
        fer_tensor_release(y);
    }
}

static void try_or_fail(fer_status status, const fer_error *error)
{
    if (status != FER_OK)
        bench_fail(error->message);
}

void bench_calls(FILE *raw)
{
    calls c = {.error = FER_ERROR_INIT};
    fer_device host = {0};
    try_or_fail(fer_declare(
                    &(fer_declaration){
                        .signature = "half(x: f32[n, w, c]) -> f32[n, w // 2, c]",
                        .source = SOURCE,
                    },
                    &c.op, &c.error),
                &c.error);
    try_or_fail(fer_tensor_ones(FER_F32, 3, (int64_t[]){2, 8, 3}, host, &c.x, &c.error), &c.error);
    try_or_fail(fer_call(c.op, &c.x, 1, &c.y, 1, &c.error), &c.error);
    c.specialisation = c.op->specialisations;
    bench_case cases[] = {
        {.name = "floor: the wrapper itself", .work = call_wrapper, .context = &c},
        {.name = "fer_call_into, result given", .work = call_given, .context = &c},
        {.name = "fer_call, result allocated and released", .work = call_allocated, .context = &c},
    };
    bench_run("eager call, f32[2, 8, 3]", cases, sizeof cases / sizeof *cases, 301, 4000, 1, raw);
    fer_tensor_release(c.x);
    fer_tensor_release(c.y);
    fer_op_release(c.op);
}
