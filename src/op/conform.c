#include "base/text.h"
#include "op/op.h"
#include "signature/unify.h"

#include <stdio.h>
#include <string.h>

typedef struct checker {
    const fer_signature *signature;
    const fer_signature_spec *spec;
    const fer_dtype *var_dtypes;
    const fer_abi_entry *entry;
    fer_error *error;
} checker;

static const char *entry_word(const fer_abi_entry *entry)
{
    if (entry->kind == FER_ABI_SHAPE)
        return "SHAPE";
    return entry->kind == FER_ABI_MAP ? "MAP" : "KERNEL";
}

/* Every disagreement says where the kernel's line is. */
__attribute__((format(printf, 3, 4))) static fer_status
disagree(const checker *c, const fer_place *place, const char *format, ...)
{
    fer_text what = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&what, format, arguments);
    va_end(arguments);
    fer_place full = *place;
    full.op = c->spec->name;
    fer_status status =
        c->entry->file == NULL
            ? fer_fail_at(c->error, FER_TYPE_ERROR, &full, "%s: the %s line disagrees: %s",
                          c->spec->name, entry_word(c->entry), fer_text_string(&what))
            : fer_fail_at(c->error, FER_TYPE_ERROR, &full, "%s: the %s line (%s:%d) disagrees: %s",
                          c->spec->name, entry_word(c->entry), c->entry->file, c->entry->line,
                          fer_text_string(&what));
    fer_text_free(&what);
    return status;
}

static fer_dtype resolve(const checker *c, const fer_template *type)
{
    if (type->dtype_var == NULL)
        return type->dtype;
    for (size_t i = 0; i < c->spec->num_dtype_vars; i++)
        if (strcmp(c->spec->dtype_vars[i].name, type->dtype_var) == 0)
            return c->var_dtypes[i];
    return FER_DTYPE_INVALID;
}

static bool has_run(const fer_template *type)
{
    for (size_t i = 0; i < type->num_axes; i++)
        if (type->axes[i].run != NULL)
            return true;
    return false;
}

static const char *role_word(int32_t role)
{
    switch (role) {
    case FER_ABI_RESULT:
        return "OUT";
    case FER_ABI_INOUT:
        return "INOUT";
    default:
        return "IN";
    }
}

/* How messages call a declared operand or result. */
static void name_declared(char *buffer, size_t size, const fer_operand *declared, bool is_result,
                          size_t index)
{
    if (declared->name != NULL)
        snprintf(buffer, size, "%s '%.80s'", is_result ? "result" : "operand", declared->name);
    else
        snprintf(buffer, size, "result %zu", index);
}

static fer_status check_tensor(const checker *c, const fer_abi_tensor *written,
                               const fer_operand *declared, bool is_result, size_t index)
{
    char name[128];
    name_declared(name, sizeof name, declared, is_result, index);
    fer_place place = {.operand = declared->name};
    int32_t role = is_result            ? FER_ABI_RESULT
                   : declared->is_inout ? FER_ABI_INOUT
                                        : FER_ABI_OPERAND;
    if (written->role != role)
        return disagree(c, &place, "'%s' is %s, but the declaration has %s there, which is %s",
                        written->name, role_word(written->role), name, role_word(role));
    fer_dtype expected = resolve(c, &declared->type);
    fer_dtype actual =
        fer_dtype_from_dlpack(written->dtype.code, written->dtype.bits, written->dtype.lanes);
    if (expected != actual) {
        const char *actual_name = fer_dtype_name(actual);
        place.expected = fer_dtype_name(expected);
        place.actual = actual_name;
        return disagree(c, &place, "'%s' is %s, but %s is declared %s", written->name,
                        actual_name == NULL ? "of no known dtype" : actual_name, name,
                        fer_dtype_name(expected));
    }
    if (written->rank == FER_ABI_ANY_RANK)
        return FER_OK;
    if (has_run(&declared->type))
        return disagree(c, &place,
                        "'%s' has rank %d, but %s is declared with a run of dims; write ANY, or "
                        "use MAP",
                        written->name, written->rank, name);
    if (written->rank != (int32_t)declared->type.num_axes)
        return disagree(c, &place, "'%s' has rank %d, but %s is declared with %zu dims",
                        written->name, written->rank, name, declared->type.num_axes);
    return FER_OK;
}

static size_t find_written(const checker *c, const char *name, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(c->entry->tensors[first + i].name, name) == 0)
            return i;
    return count;
}

/* The same names in another order is a mistake that no dtype need show: operands and results are
 * matched by their places. Other names are the author's own business. */
static fer_status check_order(const checker *c, const fer_operand *declared, size_t count,
                              size_t first, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = declared[i].name;
        size_t written = name == NULL ? i : find_written(c, name, first, count);
        if (written != i && written != count)
            return disagree(c, &(fer_place){.operand = name},
                            "%s '%s' is number %zu there and number %zu in the declaration", what,
                            name, written, i);
    }
    return FER_OK;
}

static bool same_axes(const fer_template *a, const fer_template *b)
{
    if (a->num_axes != b->num_axes)
        return false;
    for (size_t i = 0; i < a->num_axes; i++) {
        const fer_axis *x = &a->axes[i];
        const fer_axis *y = &b->axes[i];
        if ((x->run == NULL) != (y->run == NULL))
            return false;
        if (x->run != NULL ? strcmp(x->run, y->run) != 0 : !fer_dim_equal(x->dim, y->dim))
            return false;
    }
    return true;
}

/* A MAP's loop takes each operand's element at the result's place, or the one there is. */
static fer_status check_map(const checker *c)
{
    if (c->spec->num_results != 1)
        return disagree(c, &(fer_place){0}, "a MAP has one result, the declaration has %zu",
                        c->spec->num_results);
    for (size_t i = 0; i < c->spec->num_operands; i++) {
        const fer_operand *operand = &c->spec->operands[i];
        if (operand->type.num_axes != 0 && !same_axes(&operand->type, &c->spec->results[0].type))
            return disagree(c, &(fer_place){.operand = operand->name},
                            "a MAP is elementwise, but operand '%s' is declared with other dims "
                            "than the result",
                            operand->name);
    }
    return FER_OK;
}

static fer_status check_entry(const checker *c)
{
    bool is_shape = c->entry->kind == FER_ABI_SHAPE;
    size_t num_results = is_shape ? 0 : c->spec->num_results;
    size_t num_written = 0;
    while (num_written < c->entry->num_tensors &&
           c->entry->tensors[num_written].role == FER_ABI_RESULT)
        num_written++;
    if (num_written != num_results || c->entry->num_tensors - num_written != c->spec->num_operands)
        return disagree(c, &(fer_place){0},
                        "it has %zu results and %zu operands, the declaration has %zu and %zu",
                        num_written, c->entry->num_tensors - num_written, num_results,
                        c->spec->num_operands);
    for (size_t i = 0; i < num_results; i++)
        FER_TRY(check_tensor(c, &c->entry->tensors[i], &c->spec->results[i], true, i));
    for (size_t i = 0; i < c->spec->num_operands; i++) {
        fer_operand operand = c->spec->operands[i];
        operand.is_inout = operand.is_inout && !is_shape; /* a SHAPE function only reads */
        FER_TRY(check_tensor(c, &c->entry->tensors[num_results + i], &operand, false, i));
    }
    FER_TRY(check_order(c, c->spec->results, num_results, 0, "result"));
    FER_TRY(check_order(c, c->spec->operands, c->spec->num_operands, num_results, "operand"));
    return c->entry->kind == FER_ABI_MAP ? check_map(c) : FER_OK;
}

fer_status fer_conform(const fer_signature *signature, const fer_dtype *var_dtypes,
                       const fer_library *library, fer_error *error)
{
    checker c = {
        .signature = signature,
        .spec = fer_signature_folded(signature),
        .var_dtypes = var_dtypes,
        .entry = fer_library_kernel(library),
        .error = error,
    };
    FER_TRY(check_entry(&c));
    if (fer_signature_num_open(signature) == 0)
        return FER_OK;
    const char *symbol = fer_signature_open_at(signature, 0);
    c.entry = fer_library_shape(library);
    if (c.entry == NULL)
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = c.spec->name},
                           "%s: '%s' is only in the results, so the kernel must compute it: write "
                           "SHAPE(%s, IN(...)...) { EXTENT(%s) = ...; return OK; } beside it, or "
                           "name '%s' in an operand",
                           c.spec->name, symbol, c.spec->name, symbol, symbol);
    return check_entry(&c);
}
