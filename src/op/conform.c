#include "base/text.h"
#include "op/op.h"
#include "signature/unify.h"

#include <stdio.h>
#include <string.h>

/* One checker for two sources: the line as it was compiled, for one choice of dtypes, and as the
 * text has it, before that, where a dtype may be a variable, or not be known. */
typedef struct checker {
    const fer_signature_spec *spec;
    bool is_text;
    const fer_dtype *var_dtypes; /* the choice, of a compiled line */
    const fer_package *home;     /* what a compiled line is from */
    bool is_complete;            /* every parameter has its value */
    const fer_kernel_line *line;
    fer_error *error;
} checker;

static const char *line_word(const fer_kernel_line *line)
{
    if (line->kind == FER_ABI_SHAPE)
        return "SHAPE";
    return line->kind == FER_ABI_MAP ? "MAP" : "KERNEL";
}

/* Every disagreement says where the kernel's line is, as far as a shared object tells. */
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
    fer_text where = FER_TEXT_INIT;
    if (c->line->file != NULL && c->line->line > 0)
        fer_text_printf(&where, " (%s:%d)", c->line->file, c->line->line);
    else if (c->line->file != NULL)
        fer_text_printf(&where, " (%s)", c->line->file);
    fer_status status = fer_fail_at(
        c->error, FER_TYPE_ERROR, &full, "%s: the %s line%s disagrees: %s", c->spec->name,
        line_word(c->line), fer_text_string(&where), fer_text_string(&what));
    fer_text_free(&where);
    fer_text_free(&what);
    return status;
}

/* A dtype, or the variable that stands for any of several; neither where that is not known. */
typedef struct dtype_word {
    fer_dtype dtype;
    const char *var;
} dtype_word;

static const char *word_text(const dtype_word *word)
{
    const char *name = word->var != NULL ? word->var : fer_dtype_name(word->dtype);
    return name == NULL ? "of no known dtype" : name;
}

static bool is_known(const dtype_word *word)
{
    return word->var != NULL || word->dtype != FER_DTYPE_INVALID;
}

static bool is_same(const dtype_word *a, const dtype_word *b)
{
    if (a->var == NULL || b->var == NULL)
        return a->var == b->var && a->dtype == b->dtype;
    return strcmp(a->var, b->var) == 0;
}

/* What a variable's or a dtype parameter's name stands for. A variable that the declaration lacks
 * is its default in the file, which only the compiler reads. */
static dtype_word resolve(const checker *c, const char *name)
{
    const fer_signature_spec *spec = c->spec;
    for (size_t i = 0; i < spec->num_dtype_vars; i++)
        if (strcmp(spec->dtype_vars[i].name, name) == 0)
            return c->is_text ? (dtype_word){.var = name} : (dtype_word){.dtype = c->var_dtypes[i]};
    for (size_t i = 0; i < spec->num_params; i++) {
        const fer_param *param = &spec->params[i];
        if (strcmp(param->name, name) == 0 && param->kind == FER_PARAM_DTYPE && param->has_value)
            return (dtype_word){.dtype = param->value.as_dtype};
    }
    return (dtype_word){.dtype = FER_DTYPE_INVALID};
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

/* The variable that the file has where a compiled line has its default, since the declaration lacks
 * it; NULL: there is none, or none that shows. */
static const char *lacking_var(const checker *c, const fer_line_tensor *written)
{
    bool is_shape = c->line->kind == FER_ABI_SHAPE;
    size_t index = (size_t)(written - c->line->tensors);
    fer_kernel_line text;
    if (c->is_text || fer_line_of_text(c->home, c->spec->name, is_shape, &text) != FER_LINE_READ)
        return NULL;
    const char *var = text.tensors[index].dtype_var;
    if (var == NULL)
        return NULL;
    dtype_word declared = resolve(c, var);
    return is_known(&declared) ? NULL : var;
}

static fer_status check_dtype(const checker *c, const fer_line_tensor *written,
                              const fer_operand *declared, const char *name)
{
    dtype_word expected = declared->type.dtype_var != NULL
                              ? resolve(c, declared->type.dtype_var)
                              : (dtype_word){.dtype = declared->type.dtype};
    dtype_word actual = written->dtype_var != NULL ? resolve(c, written->dtype_var)
                                                   : (dtype_word){.dtype = written->dtype};
    if (is_same(&expected, &actual) || (c->is_text && (!is_known(&expected) || !is_known(&actual))))
        return FER_OK;
    fer_place place = {
        .operand = declared->name,
        .expected = word_text(&expected),
        .actual = is_known(&actual) ? word_text(&actual) : NULL,
    };
    const char *var = lacking_var(c, written);
    if (var != NULL)
        return disagree(c, &place,
                        "'%s' is %s, the default of %s, which the declaration lacks, but %s is "
                        "declared %s",
                        written->name, word_text(&actual), var, name, word_text(&expected));
    return disagree(c, &place, "'%s' is %s, but %s is declared %s", written->name,
                    word_text(&actual), name, word_text(&expected));
}

static fer_status check_tensor(const checker *c, const fer_line_tensor *written,
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
    FER_TRY(check_dtype(c, written, declared, name));
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
        if (strcmp(c->line->tensors[first + i].name, name) == 0)
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

/* Dims that wait for a parameter's value may yet turn out the same. */
static bool may_be_same_axes(const checker *c, const fer_template *a, const fer_template *b)
{
    if (a->num_axes != b->num_axes)
        return false;
    for (size_t i = 0; i < a->num_axes; i++) {
        const fer_axis *x = &a->axes[i];
        const fer_axis *y = &b->axes[i];
        if ((x->run == NULL) != (y->run == NULL))
            return false;
        if (x->run != NULL ? strcmp(x->run, y->run) != 0
                           : c->is_complete && !fer_dim_equal(x->dim, y->dim))
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
        if (operand->type.num_axes != 0 &&
            !may_be_same_axes(c, &operand->type, &c->spec->results[0].type))
            return disagree(c, &(fer_place){.operand = operand->name},
                            "a MAP is elementwise, but operand '%s' is declared with other dims "
                            "than the result",
                            operand->name);
    }
    return FER_OK;
}

/* `written` counts the results that the line begins with. */
static fer_status check_results_first(const checker *c, size_t written)
{
    const fer_line_tensor *tensors = c->line->tensors;
    for (size_t i = written; i < c->line->num_tensors && i < FER_ABI_MAX_TENSORS; i++)
        if (tensors[i].role == FER_ABI_RESULT)
            return disagree(c, &(fer_place){0},
                            "'%s' is OUT behind '%s', which is %s; results come first: KERNEL(%s, "
                            "OUT(...), IN(...))",
                            tensors[i].name, tensors[written].name,
                            role_word(tensors[written].role), c->spec->name);
    if (c->line->kind == FER_ABI_SHAPE && written > 0)
        return disagree(c, &(fer_place){0},
                        "'%s' is OUT, but a SHAPE reads the operands alone: SHAPE(%s, IN(...))",
                        tensors[0].name, c->spec->name);
    return FER_OK;
}

static fer_status check_line(const checker *c)
{
    bool is_shape = c->line->kind == FER_ABI_SHAPE;
    size_t num_results = is_shape ? 0 : c->spec->num_results;
    size_t num_written = 0;
    while (num_written < c->line->num_tensors && num_written < FER_ABI_MAX_TENSORS &&
           c->line->tensors[num_written].role == FER_ABI_RESULT)
        num_written++;
    const size_t num_read = c->line->num_tensors - num_written;
    FER_TRY(check_results_first(c, num_written));
    if (num_written != num_results || num_read != c->spec->num_operands)
        return disagree(c, &(fer_place){0},
                        "it has %zu result%s and %zu operand%s, the declaration has %zu and %zu",
                        num_written, num_written == 1 ? "" : "s", num_read,
                        num_read == 1 ? "" : "s", num_results, c->spec->num_operands);
    for (size_t i = 0; i < num_results; i++)
        FER_TRY(check_tensor(c, &c->line->tensors[i], &c->spec->results[i], true, i));
    for (size_t i = 0; i < c->spec->num_operands; i++) {
        fer_operand operand = c->spec->operands[i];
        operand.is_inout = operand.is_inout && !is_shape; /* a SHAPE function only reads */
        FER_TRY(check_tensor(c, &c->line->tensors[num_results + i], &operand, false, i));
    }
    FER_TRY(check_order(c, c->spec->results, num_results, 0, "result"));
    FER_TRY(check_order(c, c->spec->operands, c->spec->num_operands, num_results, "operand"));
    return c->line->kind == FER_ABI_MAP ? check_map(c) : FER_OK;
}

static fer_status fail_no_shape(const fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(signature);
    const char *name = spec->name;
    const char *symbol = fer_signature_open_at(signature, 0);
    fer_hint hint;
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = name},
                       "%s: '%s' is only in the results, so the kernel must compute it: write "
                       "SHAPE(%s, IN(...)...) { EXTENT(%s) = ...; return OK; } beside it, or "
                       "name '%s' in an operand%s",
                       name, symbol, name, symbol, symbol,
                       fer_did_you_mean(fer_spec_near_symbol(spec, symbol), &hint));
}

fer_status fer_conform(const fer_signature *signature, const fer_dtype *var_dtypes,
                       const fer_package *home, const fer_library *library, fer_error *error)
{
    fer_kernel_line line;
    checker c = {
        .spec = fer_signature_folded(signature),
        .var_dtypes = var_dtypes,
        .home = home,
        .is_complete = true,
        .line = &line,
        .error = error,
    };
    fer_line_of_entry(fer_library_kernel(library), &line);
    FER_TRY(check_line(&c));
    if (fer_signature_num_open(signature) == 0)
        return FER_OK;
    if (fer_library_shape(library) == NULL)
        return fail_no_shape(signature, error);
    fer_line_of_entry(fer_library_shape(library), &line);
    return check_line(&c);
}

fer_status fer_conform_text(const fer_signature *signature, const fer_package *home,
                            fer_error *error)
{
    fer_kernel_line line;
    checker c = {
        .spec = fer_signature_folded(signature),
        .is_text = true,
        .is_complete = fer_signature_is_complete(signature),
        .line = &line,
        .error = error,
    };
    const fer_signature_spec *spec = c.spec;
    FER_TRY(fer_package_agrees(home, spec->name, spec->params, spec->num_params, spec->dtype_vars,
                               spec->num_dtype_vars, error));
    if (fer_line_of_text(home, spec->name, false, &line) == FER_LINE_READ)
        FER_TRY(check_line(&c));
    if (fer_signature_num_open(signature) == 0)
        return FER_OK;
    fer_line_state shape = fer_line_of_text(home, spec->name, true, &line);
    if (shape == FER_LINE_ABSENT)
        return fail_no_shape(signature, error);
    return shape == FER_LINE_READ ? check_line(&c) : FER_OK;
}
