/* A signature as text: the declaration, and the identity that equality and tokens use. */
#include "signature/literal.h"
#include "signature/signature.h"

#include <stdlib.h>
#include <string.h>

static const struct dtype_class {
    const char *name;
    uint32_t allowed;
} CLASSES[] = {
    {"any_float", FER_ANY_FLOAT},
    {"any_int", FER_ANY_INT},
    {"any_signed", FER_ANY_SIGNED},
    {"any_unsigned", FER_ANY_UNSIGNED},
};

void fer_constraint_append(fer_text *text, uint32_t allowed)
{
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++) {
        if (CLASSES[i].allowed == allowed) {
            fer_text_append(text, CLASSES[i].name);
            return;
        }
    }
    const char *separator = "";
    for (int dtype = 1; dtype < FER_NUM_DTYPES; dtype++) {
        if ((allowed & FER_DTYPE_BIT(dtype)) == 0)
            continue;
        fer_text_printf(text, "%s%s", separator, fer_dtype_name((fer_dtype)dtype));
        separator = "|";
    }
}

uint32_t fer_constraint_class(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
        if (strlen(CLASSES[i].name) == length && memcmp(CLASSES[i].name, name, length) == 0)
            return CLASSES[i].allowed;
    return 0;
}

static void append_generics(fer_text *text, const fer_signature_spec *spec)
{
    if (spec->num_dtype_vars + spec->num_params == 0)
        return;
    const char *separator = "<";
    for (size_t i = 0; i < spec->num_dtype_vars; i++) {
        fer_text_printf(text, "%s%s", separator, spec->dtype_vars[i].name);
        separator = ", ";
        if (spec->dtype_vars[i].allowed != 0) {
            fer_text_append(text, ": ");
            fer_constraint_append(text, spec->dtype_vars[i].allowed);
        }
    }
    for (size_t i = 0; i < spec->num_params; i++) {
        const fer_param *param = &spec->params[i];
        fer_text_printf(text, "%s%s: %s", separator, param->name, fer_param_kind_name(param->kind));
        separator = ", ";
        if (param->has_value) {
            fer_text_append(text, " = ");
            fer_literal_append(text, param);
        }
    }
    fer_text_append_char(text, '>');
}

/* `mark` goes before the name of a dtype variable. */
static void append_template(fer_text *text, const fer_template *type, const char *mark)
{
    if (type->dtype_var != NULL)
        fer_text_printf(text, "%s%s[", mark, type->dtype_var);
    else
        fer_text_printf(text, "%s[", fer_dtype_name(type->dtype));
    for (size_t i = 0; i < type->num_axes; i++) {
        const fer_axis *axis = &type->axes[i];
        fer_text_append(text, i == 0 ? "" : ", ");
        if (axis->run != NULL)
            fer_text_printf(text, "*%s", axis->run);
        else
            fer_text_append(text, fer_dim_text(axis->dim));
    }
    fer_text_append_char(text, ']');
}

void fer_template_append(fer_text *text, const fer_template *type)
{
    append_template(text, type, "");
}

static void append_items(fer_text *text, const fer_operand *items, size_t num_items,
                         const char *mark)
{
    for (size_t i = 0; i < num_items; i++) {
        fer_text_append(text, i == 0 ? "" : ", ");
        fer_text_append(text, items[i].is_inout ? "inout " : "");
        if (items[i].name != NULL)
            fer_text_printf(text, "%s: ", items[i].name);
        append_template(text, &items[i].type, mark);
    }
}

static void append_spec(fer_text *text, const fer_signature_spec *spec, const char *mark)
{
    fer_text_append(text, spec->name);
    append_generics(text, spec);
    fer_text_append_char(text, '(');
    append_items(text, spec->operands, spec->num_operands, mark);
    bool is_bare = spec->num_results == 1 && spec->results[0].name == NULL;
    fer_text_append(text, is_bare ? ") -> " : ") -> (");
    append_items(text, spec->results, spec->num_results, mark);
    fer_text_append(text, is_bare ? "" : ")");
    fer_text_append(text, spec->has_effect ? " effect" : "");
    for (size_t i = 0; i < spec->num_conditions; i++) {
        fer_text_append(text, i == 0 ? " where " : ", ");
        fer_condition_append(text, &spec->conditions[i]);
    }
}

static int compare_params(const void *a, const void *b)
{
    return strcmp(((const fer_param *)a)->name, ((const fer_param *)b)->name);
}

static int compare_dtype_vars(const void *a, const void *b)
{
    return strcmp(((const fer_dtype_var *)a)->name, ((const fer_dtype_var *)b)->name);
}

/* The folded declaration with what may vary between equal signatures taken out: generics sorted,
 * conditions in canonical form. A mark tells a dtype variable from a dtype of the same name. */
static void append_identity(fer_text *text, const fer_signature_spec *folded)
{
    fer_signature_spec spec = *folded;
    fer_param params[FER_MAX_GENERICS];
    fer_dtype_var variables[FER_MAX_GENERICS];
    fer_condition conditions[FER_MAX_CONDITIONS];
    if (spec.num_params > 0) {
        memcpy(params, spec.params, spec.num_params * sizeof *params);
        qsort(params, spec.num_params, sizeof *params, compare_params);
    }
    if (spec.num_dtype_vars > 0) {
        memcpy(variables, spec.dtype_vars, spec.num_dtype_vars * sizeof *variables);
        qsort(variables, spec.num_dtype_vars, sizeof *variables, compare_dtype_vars);
    }
    for (size_t i = 0; i < spec.num_conditions; i++) {
        conditions[i] = spec.conditions[i];
        conditions[i].text = NULL;
    }
    spec.params = params;
    spec.dtype_vars = variables;
    spec.conditions = conditions;
    append_spec(text, &spec, "$");
}

static fer_status keep(fer_pool *pool, fer_text *text, const char **out_text, fer_error *error)
{
    *out_text = text->has_failed ? NULL : fer_pool_string(pool, fer_text_string(text));
    fer_text_free(text);
    return *out_text == NULL ? fer_fail_memory(error) : FER_OK;
}

fer_status fer_signature_describe(fer_signature *signature, fer_error *error)
{
    fer_text text = FER_TEXT_INIT;
    append_spec(&text, &signature->declared, "");
    FER_TRY(keep(&signature->pool, &text, &signature->text, error));
    append_identity(&text, &signature->folded);
    return keep(&signature->pool, &text, &signature->identity, error);
}
