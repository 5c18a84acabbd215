#include "op/check.h"

#include "op/held.h"
#include "op/run.h"

#include <string.h>

/* Fillers of the two runs, which differ in every bit. */
enum { FIRST_FILLER = 0xa5, SECOND_FILLER = 0x5a };

/* A run on copies. */
typedef struct checked_run {
    fer_kernel_run run; /* first: kernels are given its address */
    const fer_specialisation *specialisation;
    bool is_shape;
    size_t num_results; /* the first tensors; a SHAPE function has none */
    fer_held held;
} checked_run;

/* What this thread runs. */
static _Thread_local checked_run *current;

/* --- What a checked kernel asks and tells ----------------------------------------------------- */

static void *take_scratch(fer_context *context, uint64_t num_bytes)
{
    return fer_held_take_scratch(&((checked_run *)context)->held, num_bytes);
}

int64_t fer_tell_run(const char *file, int line, const char *view, int axis, int64_t index,
                     int64_t bound)
{
    char what[FER_HELD_TEXT];
    if (current == NULL)
        return index;
    const fer_place place = {.op = current->specialisation->op->name,
                             .operand = view,
                             .has_axis = axis >= 0,
                             .axis = axis};
    fer_kernel_run_note(&current->run, &place, file, line,
                        fer_outside_text(view, axis, index, bound, what));
    return 0;
}

/* --- Running ---------------------------------------------------------------------------------- */

static const char *data_of(const fer_dl_tensor *tensor)
{
    return (const char *)tensor->data + tensor->byte_offset;
}

static fer_status copy_tensors(checked_run *c, const fer_dl_tensor *const *tensors,
                               size_t num_tensors, fer_error *error)
{
    for (size_t i = 0; i < num_tensors; i++) {
        const fer_tensor *like = fer_tensor_of(tensors[i]);
        FER_TRY(
            fer_held_open(&c->held, i, (fer_dtype)like->dtype, like->rank, like->extents, error));
        c->held.tensors[i]->dl.device = like->dl.device;
        if (i >= c->num_results && like->num_bytes > 0)
            memcpy(c->held.memory[i].data, data_of(tensors[i]), like->num_bytes);
    }
    return FER_OK;
}

/* Runs on copies, which are for the caller to close. All that the kernel does is on this thread,
 * where `current` is seen. */
static fer_status run_copies(checked_run *c, const fer_dl_tensor *const *tensors, int64_t *open,
                             uint8_t filler, fer_error *error)
{
    const fer_specialisation *specialisation = c->specialisation;
    const fer_plan *plan = &specialisation->plan;
    const fer_dl_tensor *copies[FER_ABI_MAX_TENSORS];
    c->is_shape = open != NULL;
    c->num_results = c->is_shape ? 0 : plan->num_results;
    c->held = (fer_held){.side = FER_GUARD_ZONES, .filler = filler};
    FER_TRY(copy_tensors(c, tensors, c->num_results + plan->num_operands, error));
    for (size_t i = 0; i < c->held.num_tensors; i++)
        copies[i] = &c->held.tensors[i]->dl;
    fer_kernel_run_begin(&c->run, specialisation, 1, open, error);
    c->run.context.scratch = take_scratch;
    checked_run *outer = current;
    current = c;
    int code = (c->is_shape ? specialisation->shape : specialisation->run)(&c->run.context, copies);
    current = outer;
    return fer_kernel_run_end(&c->run, code);
}

/* --- Faults ----------------------------------------------------------------------------------- */

/* `operand 'x'`; a result that has no name goes by its number. */
static void append_name(fer_text *text, const checked_run *c, size_t index)
{
    const fer_signature_spec *spec = fer_signature_folded(c->specialisation->op->signature);
    if (index >= c->num_results)
        fer_text_printf(text, "operand '%s'", spec->operands[index - c->num_results].name);
    else if (spec->results[index].name != NULL)
        fer_text_printf(text, "result '%s'", spec->results[index].name);
    else
        fer_text_printf(text, "result %zu", index);
}

static const char *tensor_name(const checked_run *c, size_t index)
{
    const fer_signature_spec *spec = fer_signature_folded(c->specialisation->op->signature);
    return index < c->num_results ? spec->results[index].name
                                  : spec->operands[index - c->num_results].name;
}

#define NO_TENSOR SIZE_MAX

/* RUNTIME. The words go on behind the tensor's name, if the fault is one's. */
__attribute__((format(printf, 4, 5))) static fer_status
fail_fault(const checked_run *c, size_t index, fer_error *error, const char *format, ...)
{
    const fer_specialisation *specialisation = c->specialisation;
    const fer_abi_entry *entry = c->is_shape ? fer_library_shape(specialisation->library)
                                             : fer_library_kernel(specialisation->library);
    fer_place place = {.op = specialisation->op->name};
    fer_text what = FER_TEXT_INIT;
    if (index != NO_TENSOR) {
        place.operand = tensor_name(c, index);
        append_name(&what, c, index);
    }
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&what, format, arguments);
    va_end(arguments);
    if (entry->file != NULL)
        fer_text_printf(&what, " (%s:%d)", entry->file, entry->line);
    fer_status status = what.has_failed ? fer_fail_memory(error)
                                        : fer_fail_at(error, FER_RUNTIME_ERROR, &place, "%s: %s",
                                                      place.op, fer_text_string(&what));
    fer_text_free(&what);
    return status;
}

static const char *function_of(const checked_run *c)
{
    return c->is_shape ? "SHAPE" : "kernel";
}

static fer_status judge_zones(const checked_run *c, size_t index, fer_error *error)
{
    const fer_tensor *tensor = c->held.tensors[index];
    const int64_t count = fer_tensor_num_elements(tensor);
    int64_t offset;
    if (!fer_guarded_is_overrun(&c->held.memory[index], &offset))
        return FER_OK;
    return fail_fault(c, index, error, " has %lld element%s, but the %s wrote element %lld",
                      (long long)count, count == 1 ? "" : "s", function_of(c),
                      (long long)fer_element_at(tensor, offset));
}

static fer_status judge_scratch(const checked_run *c, size_t index, fer_error *error)
{
    const fer_guarded *memory = &c->held.scratch[index];
    int64_t offset;
    if (!fer_guarded_is_overrun(memory, &offset))
        return FER_OK;
    return fail_fault(c, NO_TENSOR, error, "a SCRATCH has %zu bytes, but the %s wrote byte %lld",
                      memory->num_bytes, function_of(c), (long long)offset);
}

static fer_status judge_operand(const checked_run *c, size_t index, const fer_dl_tensor *given,
                                fer_error *error)
{
    const fer_guarded *memory = &c->held.memory[index];
    const fer_tensor *tensor = c->held.tensors[index];
    const size_t element_bytes = fer_dtype_bytes((fer_dtype)tensor->dtype);
    size_t first = 0;
    size_t num_written = 0;
    if (memory->num_bytes == 0 || memcmp(memory->data, data_of(given), memory->num_bytes) == 0)
        return FER_OK;
    for (size_t i = memory->num_bytes / element_bytes; i-- > 0;)
        if (memcmp(memory->data + i * element_bytes, data_of(given) + i * element_bytes,
                   element_bytes) != 0) {
            first = i;
            num_written++;
        }
    char place[FER_HELD_TEXT];
    char others[FER_HELD_TEXT];
    return fail_fault(c, index, error, " is %s, but the %s wrote element %s%s",
                      c->is_shape ? "not SHAPE's to write" : "not inout", function_of(c),
                      fer_element_text(tensor, first, place), fer_others_text(num_written, others));
}

static fer_status judge(const checked_run *c, const fer_dl_tensor *const *tensors, fer_error *error)
{
    for (size_t i = 0; i < c->held.num_tensors; i++)
        FER_TRY(judge_zones(c, i, error));
    for (size_t i = 0; i < c->held.num_scratch; i++)
        FER_TRY(judge_scratch(c, i, error));
    for (size_t i = c->num_results; i < c->held.num_tensors; i++)
        if (c->is_shape || !c->specialisation->plan.operands[i - c->num_results].is_inout)
            FER_TRY(judge_operand(c, i, tensors[i], error));
    return FER_OK;
}

/* --- Results that are not written ------------------------------------------------------------- */

/* An element that holds the filler may have been written so. Only another run tells, over another
 * filler; and an op that changes something must run once. */
static bool needs_second_run(const checked_run *c)
{
    const fer_op *op = c->specialisation->op;
    if (c->specialisation->plan.num_inout > 0 || fer_signature_folded(op->signature)->has_effect)
        return false;
    for (size_t i = 0; i < c->num_results; i++)
        if (fer_guarded_has_filler(&c->held.memory[i],
                                   fer_dtype_bytes((fer_dtype)c->held.tensors[i]->dtype)))
            return true;
    return false;
}

static fer_status judge_written(const checked_run *c, const checked_run *second, size_t index,
                                fer_error *error)
{
    const fer_tensor *tensor = c->held.tensors[index];
    const fer_comparison_of_runs found =
        fer_guarded_compare(&c->held.memory[index], &second->held.memory[index],
                            fer_dtype_bytes((fer_dtype)tensor->dtype));
    if (found.num_unwritten == 0)
        return FER_OK;
    char place[FER_HELD_TEXT];
    char others[FER_HELD_TEXT];
    return fail_fault(c, index, error, " is not whole: the kernel did not write element %s%s",
                      fer_element_text(tensor, found.first_unwritten, place),
                      fer_others_text(found.num_unwritten, others));
}

static fer_status run_again(const checked_run *c, const fer_dl_tensor *const *tensors,
                            fer_error *error)
{
    checked_run second = {.specialisation = c->specialisation};
    fer_status status = run_copies(&second, tensors, NULL, SECOND_FILLER, error);
    for (size_t i = 0; i < c->num_results && status == FER_OK; i++)
        status = judge_written(c, &second, i, error);
    fer_held_close(&second.held);
    return status;
}

/* --- The whole -------------------------------------------------------------------------------- */

static void copy_back(const checked_run *c, const fer_dl_tensor *const *tensors)
{
    for (size_t i = 0; i < c->held.num_tensors; i++) {
        const fer_guarded *memory = &c->held.memory[i];
        const bool is_result = i < c->num_results;
        if (memory->num_bytes > 0 &&
            (is_result || c->specialisation->plan.operands[i - c->num_results].is_inout))
            memcpy((char *)tensors[i]->data + tensors[i]->byte_offset, memory->data,
                   memory->num_bytes);
    }
}

fer_status fer_run_checked(const fer_specialisation *specialisation,
                           const fer_dl_tensor *const *tensors, int64_t *open, fer_error *error)
{
    checked_run c = {.specialisation = NULL};
    FER_TRY(fer_specialisation_checked(specialisation, &c.specialisation, error));
    fer_status status = run_copies(&c, tensors, open, FIRST_FILLER, error);
    if (status == FER_OK)
        status = judge(&c, tensors, error);
    if (status == FER_OK && needs_second_run(&c))
        status = run_again(&c, tensors, error);
    if (status == FER_OK && !c.is_shape)
        copy_back(&c, tensors);
    fer_held_close(&c.held);
    return status;
}
