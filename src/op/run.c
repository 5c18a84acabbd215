#include "op/run.h"

#include <stdlib.h>
#include <string.h>

typedef struct fer_scratch {
    struct fer_scratch *next;
} fer_scratch;

static fer_kernel_run *run_of(fer_context *context)
{
    return (fer_kernel_run *)context;
}

void fer_kernel_run_note(fer_kernel_run *run, const fer_place *place, const char *file, int line,
                         const char *message)
{
    if (run->has_failed)
        return;
    run->has_failed = true;
    if (file == NULL)
        (void)fer_fail_at(run->error, FER_RUNTIME_ERROR, place, "%s: %s", place->op, message);
    else
        (void)fer_fail_at(run->error, FER_RUNTIME_ERROR, place, "%s: %s (%s:%d)", place->op,
                          message, file, line);
}

int fer_kernel_run_fail(fer_context *context, const char *file, int line, const char *format, ...)
{
    fer_kernel_run *run = run_of(context);
    const fer_place place = {.op = fer_context_specialisation(context)->op->name};
    fer_text message = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&message, format, arguments);
    va_end(arguments);
    if (!message.has_failed) {
        fer_kernel_run_note(run, &place, file, line, fer_text_string(&message));
    } else if (!run->has_failed) {
        run->has_failed = true;
        (void)fer_fail_memory(run->error);
    }
    fer_text_free(&message);
    return 1;
}

void *fer_kernel_run_scratch(fer_context *context, uint64_t num_bytes)
{
    enum { ALIGNMENT = 64 };
    fer_kernel_run *run = run_of(context);
    uint64_t size;
    if (__builtin_add_overflow(num_bytes, sizeof(fer_scratch) + ALIGNMENT, &size) ||
        size > SIZE_MAX)
        return NULL;
    fer_scratch *block = malloc((size_t)size);
    if (block == NULL)
        return NULL;
    block->next = run->scratch;
    run->scratch = block;
    uintptr_t start = (uintptr_t)(block + 1);
    return (char *)(block + 1) + (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
}

int64_t *fer_kernel_run_extent(fer_context *context, const char *name)
{
    fer_kernel_run *run = run_of(context);
    const fer_signature *signature = fer_context_specialisation(context)->op->signature;
    for (size_t i = 0; run->open != NULL && i < fer_signature_num_open(signature); i++)
        if (strcmp(fer_signature_open_at(signature, i), name) == 0)
            return &run->open[i];
    fer_kernel_run_fail(context, NULL, 0,
                        "EXTENT(%s) names no data-dependent dim of the declaration", name);
    return &run->unknown;
}

fer_status fer_kernel_run_finish(fer_kernel_run *run, int code)
{
    while (run->scratch != NULL) {
        fer_scratch *block = run->scratch;
        run->scratch = block->next;
        free(block);
    }
    if (code != 0 && !run->has_failed)
        fer_kernel_run_fail(&run->context, NULL, 0, "the kernel returned %d", code);
    return run->has_failed ? FER_RUNTIME_ERROR : FER_OK;
}
