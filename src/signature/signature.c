/* The object: references, what it holds, and look-ups in it. */
#include "signature/signature.h"

#include "signature/unify.h"
#include <stdlib.h>
#include <string.h>

const fer_param *fer_spec_find_param(const fer_signature_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->num_params; i++)
        if (strcmp(spec->params[i].name, name) == 0)
            return &spec->params[i];
    return NULL;
}

const fer_dtype_var *fer_spec_find_dtype_var(const fer_signature_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->num_dtype_vars; i++)
        if (strcmp(spec->dtype_vars[i].name, name) == 0)
            return &spec->dtype_vars[i];
    return NULL;
}

static bool template_has_run(const fer_template *type, const char *run)
{
    for (size_t i = 0; i < type->num_axes; i++)
        if (type->axes[i].run != NULL && strcmp(type->axes[i].run, run) == 0)
            return true;
    return false;
}

const fer_operand *fer_spec_find_run(const fer_signature_spec *spec, const char *run)
{
    for (size_t i = 0; i < spec->num_operands; i++)
        if (template_has_run(&spec->operands[i].type, run))
            return &spec->operands[i];
    return NULL;
}

/* The symbol that an axis is alone, so that a call binds it; or NULL. */
static const char *bound_symbol(const fer_axis *axis)
{
    fer_namespace space;
    const char *symbol = axis->dim == NULL ? NULL : fer_dim_symbol_name(axis->dim, &space);
    return symbol != NULL && space == FER_NAMESPACE_SIGNATURE ? symbol : NULL;
}

bool fer_spec_binds_symbol(const fer_signature_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->num_operands; i++) {
        const fer_template *type = &spec->operands[i].type;
        for (size_t j = 0; j < type->num_axes; j++) {
            const char *symbol = bound_symbol(&type->axes[j]);
            if (symbol != NULL && strcmp(symbol, name) == 0)
                return true;
        }
    }
    return false;
}

const char *fer_spec_near_symbol(const fer_signature_spec *spec, const char *name)
{
    const char *symbols[FER_MAX_SYMBOLS];
    size_t num_symbols = 0;
    for (size_t i = 0; i < spec->num_operands; i++) {
        const fer_template *type = &spec->operands[i].type;
        for (size_t j = 0; j < type->num_axes && num_symbols < FER_MAX_SYMBOLS; j++) {
            const char *symbol = bound_symbol(&type->axes[j]);
            if (symbol != NULL)
                symbols[num_symbols++] = symbol;
        }
    }
    return fer_near_name(name, symbols, num_symbols);
}

fer_signature *fer_signature_retain(const fer_signature *signature)
{
    fer_signature *mutable_signature = (fer_signature *)signature;
    if (mutable_signature != NULL)
        atomic_fetch_add_explicit(&mutable_signature->references, 1, memory_order_relaxed);
    return mutable_signature;
}

void fer_signature_release(fer_signature *signature)
{
    if (signature == NULL ||
        atomic_fetch_sub_explicit(&signature->references, 1, memory_order_acq_rel) != 1)
        return;
    fer_pool_clear(&signature->pool);
    free(signature);
}

const char *fer_signature_text(const fer_signature *signature)
{
    return signature->text;
}

bool fer_signature_equal(const fer_signature *a, const fer_signature *b)
{
    return a == b || strcmp(a->identity, b->identity) == 0;
}

bool fer_signature_is_complete(const fer_signature *signature)
{
    for (size_t i = 0; i < signature->folded.num_params; i++)
        if (!signature->folded.params[i].has_value)
            return false;
    return true;
}

const fer_signature_spec *fer_signature_folded(const fer_signature *signature)
{
    return &signature->folded;
}

const fer_signature_spec *fer_signature_declared(const fer_signature *signature)
{
    return &signature->declared;
}

const char *fer_signature_pinned_param(const fer_signature *signature, size_t operand, size_t axis)
{
    if (operand >= signature->declared.num_operands || axis >= FER_MAX_AXES)
        return NULL;
    return signature->pinned[operand * FER_MAX_AXES + axis];
}

size_t fer_signature_num_open(const fer_signature *signature)
{
    return signature->num_open;
}

const char *fer_signature_open_at(const fer_signature *signature, size_t index)
{
    return signature->open_symbols[index];
}

const char *fer_signature_open_symbol(const fer_signature *signature, size_t result, size_t axis)
{
    const fer_dim *dim = signature->folded.results[result].type.axes[axis].dim;
    const char *name = dim == NULL ? NULL : fer_dim_symbol_name(dim, NULL);
    for (size_t i = 0; name != NULL && i < signature->num_open; i++)
        if (strcmp(signature->open_symbols[i], name) == 0)
            return signature->open_symbols[i];
    return NULL;
}

fer_status fer_signature_identity(const fer_signature *signature, char **out_text, fer_error *error)
{
    return fer_copy_string(signature->identity, out_text, error);
}
