/* Dims as the public sees them: building, arithmetic, reading. */
#include "types/polynomial.h"

#include <string.h>

#define MAX_QUOTED 60

typedef fer_status (*operation)(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                                fer_polynomial *out_result, fer_error *error);

static fer_status add(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                      fer_polynomial *out_result, fer_error *error)
{
    return fer_polynomial_add(scratch, a, 1, b, out_result, error);
}

static fer_status subtract(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                           fer_polynomial *out_result, fer_error *error)
{
    return fer_polynomial_add(scratch, a, -1, b, out_result, error);
}

static void append_operand(fer_text *text, const fer_dim *dim)
{
    if (strlen(dim->text) > MAX_QUOTED)
        fer_text_printf(text, "(%.*s...)", MAX_QUOTED, dim->text);
    else
        fer_dim_append_text(text, dim, FER_BINDS_ATOM);
}

/* Puts the operation before what went wrong in it. */
static fer_status explain(const fer_dim *a, const char *sign, const fer_dim *b, fer_status status,
                          fer_error *error)
{
    if (error == NULL || status == FER_OK || status == FER_MEMORY_ERROR)
        return status;
    fer_text text = FER_TEXT_INIT;
    append_operand(&text, a);
    fer_text_printf(&text, " %s ", sign);
    append_operand(&text, b);
    if (text.has_failed)
        status = fer_fail_memory(error);
    else
        status = fer_error_prepend(error, status, "%s: ", fer_text_string(&text));
    fer_text_free(&text);
    return status;
}

static fer_status combine(const fer_dim *a, const char *sign, const fer_dim *b, operation operation,
                          fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    fer_scratch scratch;
    fer_scratch_start(&scratch);
    fer_status status;
    fer_polynomial left, right, result;
    FER_TRY_DONE(fer_polynomial_of_dim(&scratch, a, &left, error));
    FER_TRY_DONE(fer_polynomial_of_dim(&scratch, b, &right, error));
    FER_TRY_DONE(operation(&scratch, left, right, &result, error));
    FER_TRY_DONE(fer_dim_build(&scratch, result, out_dim, error));

done:
    fer_scratch_end(&scratch);
    return explain(a, sign, b, status, error);
}

fer_status fer_dim_constant(int64_t value, fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    fer_scratch scratch;
    fer_scratch_start(&scratch);
    fer_polynomial constant;
    fer_status status;
    FER_TRY_DONE(fer_polynomial_of_constant(&scratch, value, &constant, error));
    FER_TRY_DONE(fer_dim_build(&scratch, constant, out_dim, error));

done:
    fer_scratch_end(&scratch);
    return status;
}

fer_status fer_dim_symbol(fer_namespace space, const char *name, fer_dim **out_dim,
                          fer_error *error)
{
    *out_dim = NULL;
    const fer_atom *atom;
    FER_TRY(fer_atom_create_symbol(space, name, &atom, error));
    fer_scratch scratch;
    fer_scratch_start(&scratch);
    fer_polynomial symbol;
    fer_status status;
    FER_TRY_DONE(fer_polynomial_of_atom(&scratch, atom, &symbol, error));
    FER_TRY_DONE(fer_dim_build(&scratch, symbol, out_dim, error));

done:
    fer_scratch_end(&scratch);
    fer_atom_release(atom);
    return status;
}

fer_status fer_dim_add(const fer_dim *a, const fer_dim *b, fer_dim **out_dim, fer_error *error)
{
    return combine(a, "+", b, add, out_dim, error);
}

fer_status fer_dim_subtract(const fer_dim *a, const fer_dim *b, fer_dim **out_dim, fer_error *error)
{
    return combine(a, "-", b, subtract, out_dim, error);
}

fer_status fer_dim_multiply(const fer_dim *a, const fer_dim *b, fer_dim **out_dim, fer_error *error)
{
    return combine(a, "*", b, fer_polynomial_multiply, out_dim, error);
}

fer_status fer_dim_floor_divide(const fer_dim *a, const fer_dim *b, fer_dim **out_dim,
                                fer_error *error)
{
    return combine(a, "//", b, fer_polynomial_divide, out_dim, error);
}

fer_status fer_dim_modulo(const fer_dim *a, const fer_dim *b, fer_dim **out_dim, fer_error *error)
{
    return combine(a, "%", b, fer_polynomial_modulo, out_dim, error);
}

fer_status fer_dim_negate(const fer_dim *a, fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    fer_dim *zero;
    FER_TRY(fer_dim_constant(0, &zero, error));
    fer_status status = fer_dim_subtract(zero, a, out_dim, error);
    fer_dim_release(zero);
    return status;
}

const char *fer_dim_text(const fer_dim *dim)
{
    return dim->text;
}

uint64_t fer_dim_hash(const fer_dim *dim)
{
    return dim->hash;
}

bool fer_dim_is_static(const fer_dim *dim)
{
    return dim->num_terms == 0 || dim->terms[0].num_factors == 0;
}

fer_status fer_dim_value(const fer_dim *dim, int64_t *out_value, fer_error *error)
{
    *out_value = 0;
    if (!fer_dim_is_static(dim))
        return fer_fail(error, FER_TYPE_ERROR, "the dim %s is no integer: it depends on %s",
                        dim->text, dim->symbols[0]->name);
    if (dim->num_terms > 0)
        *out_value = dim->terms[0].coefficient;
    return FER_OK;
}

const char *fer_dim_symbol_name(const fer_dim *dim, fer_namespace *out_space)
{
    if (dim->num_terms != 1 || dim->terms[0].coefficient != 1 || dim->terms[0].num_factors != 1)
        return NULL;
    const fer_atom *atom = dim->terms[0].factors[0];
    if (atom->name != NULL && out_space != NULL)
        *out_space = atom->space;
    return atom->name;
}

size_t fer_dim_num_symbols(const fer_dim *dim)
{
    return dim->num_symbols;
}

const char *fer_dim_symbol_at(const fer_dim *dim, size_t index, fer_namespace *out_space)
{
    if (out_space != NULL)
        *out_space = dim->symbols[index]->space;
    return dim->symbols[index]->name;
}
