/* Dims at a point: values for symbols, or dims in their place. */
#include "base/text.h"
#include "types/polynomial.h"
#include "types/substitute.h"

#include <string.h>

typedef struct point {
    const fer_assignment *assignments;
    size_t num_assignments;
} point;

/* Filled at the failure; the sentence is made where the whole dim is known. */
typedef struct fault {
    fer_status status;
    const fer_atom *atom;
} fault;

static bool evaluate(const point *point, const fer_dim *dim, fer_int128 *out_value,
                     fault *out_fault);

static bool fail(fault *out_fault, fer_status status, const fer_atom *atom)
{
    *out_fault = (fault){.status = status, .atom = atom};
    return false;
}

static bool evaluate_symbol(const point *point, const fer_atom *atom, fer_int128 *out_value,
                            fault *out_fault)
{
    for (size_t i = 0; i < point->num_assignments; i++) {
        const fer_assignment *assignment = &point->assignments[i];
        if (assignment->space == atom->space && strcmp(assignment->name, atom->name) == 0) {
            *out_value = assignment->value;
            return true;
        }
    }
    return fail(out_fault, FER_TYPE_ERROR, atom);
}

static bool evaluate_atom(const point *point, const fer_atom *atom, fer_int128 *out_value,
                          fault *out_fault)
{
    if (atom->name != NULL)
        return evaluate_symbol(point, atom, out_value, out_fault);
    fer_int128 numerator, denominator;
    if (!evaluate(point, atom->numerator, &numerator, out_fault) ||
        !evaluate(point, atom->denominator, &denominator, out_fault))
        return false;
    if (denominator == 0)
        return fail(out_fault, FER_ZERO_DIVISION_ERROR, atom);
    return fer_floor_divide_wide(numerator, denominator, out_value) ||
           fail(out_fault, FER_OVERFLOW_ERROR, atom);
}

/* A factor 0 makes the term 0, however large the others are; all are evaluated, for their errors.
 */
static bool evaluate_term(const point *point, const fer_term *term, fer_int128 *out_value,
                          fault *out_fault)
{
    fer_int128 product = term->coefficient;
    bool has_zero = false, has_overflowed = false;
    for (size_t i = 0; i < term->num_factors; i++) {
        fer_int128 factor;
        if (!evaluate_atom(point, term->factors[i], &factor, out_fault))
            return false;
        has_zero |= factor == 0;
        has_overflowed |= __builtin_mul_overflow(product, factor, &product);
    }
    *out_value = has_zero ? 0 : product;
    return has_zero || !has_overflowed || fail(out_fault, FER_OVERFLOW_ERROR, NULL);
}

static bool evaluate(const point *point, const fer_dim *dim, fer_int128 *out_value,
                     fault *out_fault)
{
    fer_int128 sum = 0;
    for (size_t i = 0; i < dim->num_terms; i++) {
        fer_int128 value;
        if (!evaluate_term(point, &dim->terms[i], &value, out_fault))
            return false;
        if (__builtin_add_overflow(sum, value, &sum))
            return fail(out_fault, FER_OVERFLOW_ERROR, NULL);
    }
    *out_value = sum;
    return true;
}

static bool has_symbol(const fer_dim *dim, const char *name)
{
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++)
        if (strcmp(fer_dim_symbol_at(dim, i, NULL), name) == 0)
            return true;
    return false;
}

/* A name that is given, is none of the dim's, and may be meant for it. */
static const char *near_assignment(const fer_dim *dim, const point *point, const char *name)
{
    for (size_t i = 0; i < point->num_assignments; i++) {
        const char *given = point->assignments[i].name;
        if (!has_symbol(dim, given) && fer_near_name(name, &given, 1) != NULL)
            return given;
    }
    return NULL;
}

static fer_status explain(const fer_dim *dim, const point *point, const fault *fault,
                          fer_error *error)
{
    const char *near;
    switch (fault->status) {
    case FER_TYPE_ERROR:
        near = near_assignment(dim, point, fault->atom->name);
        return fer_fail(error, FER_TYPE_ERROR, "the dim %s has no value: %s is not given%s%s%s",
                        dim->text, fault->atom->name, near == NULL ? "" : ", but '",
                        near == NULL ? "" : near, near == NULL ? "" : "' is");
    case FER_ZERO_DIVISION_ERROR:
        return fer_fail(error, FER_ZERO_DIVISION_ERROR, "the dim %s divides by zero: %s is 0",
                        dim->text, fault->atom->denominator->text);
    default:
        return fer_fail(error, FER_OVERFLOW_ERROR, "the value of the dim %s is outside int64",
                        dim->text);
    }
}

fer_status fer_dim_evaluate(const fer_dim *dim, const fer_assignment *assignments,
                            size_t num_assignments, int64_t *out_value, fer_error *error)
{
    *out_value = 0;
    point point = {.assignments = assignments, .num_assignments = num_assignments};
    fault fault = {.status = FER_OVERFLOW_ERROR};
    fer_int128 value;
    if (!evaluate(&point, dim, &value, &fault) || !fer_fits_int64(value))
        return explain(dim, &point, &fault, error);
    *out_value = (int64_t)value;
    return FER_OK;
}

typedef struct mapping {
    fer_scratch *scratch;
    const fer_substitution *substitutions;
    size_t num_substitutions;
} mapping;

static fer_status substitute(const mapping *mapping, const fer_dim *dim,
                             fer_polynomial *out_polynomial, fer_error *error);

static fer_status substitute_atom(const mapping *mapping, const fer_atom *atom,
                                  fer_polynomial *out_polynomial, fer_error *error)
{
    if (atom->name == NULL) {
        fer_polynomial numerator, denominator;
        FER_TRY(substitute(mapping, atom->numerator, &numerator, error));
        FER_TRY(substitute(mapping, atom->denominator, &denominator, error));
        return fer_polynomial_divide(mapping->scratch, numerator, denominator, out_polynomial,
                                     error);
    }
    for (size_t i = 0; i < mapping->num_substitutions; i++) {
        const fer_substitution *substitution = &mapping->substitutions[i];
        if (substitution->space == atom->space && strcmp(substitution->name, atom->name) == 0)
            return fer_polynomial_of_dim(mapping->scratch, substitution->dim, out_polynomial,
                                         error);
    }
    return fer_polynomial_of_atom(mapping->scratch, atom, out_polynomial, error);
}

static fer_status substitute(const mapping *mapping, const fer_dim *dim,
                             fer_polynomial *out_polynomial, fer_error *error)
{
    fer_polynomial sum = {0};
    for (size_t i = 0; i < dim->num_terms; i++) {
        fer_polynomial product, factor;
        FER_TRY(fer_polynomial_of_constant(mapping->scratch, dim->terms[i].coefficient, &product,
                                           error));
        for (size_t j = 0; j < dim->terms[i].num_factors; j++) {
            FER_TRY(substitute_atom(mapping, dim->terms[i].factors[j], &factor, error));
            FER_TRY(fer_polynomial_multiply(mapping->scratch, product, factor, &product, error));
        }
        FER_TRY(fer_polynomial_add(mapping->scratch, sum, 1, product, &sum, error));
    }
    *out_polynomial = sum;
    return FER_OK;
}

fer_status fer_dim_fold(const fer_dim *dim, const fer_substitution *substitutions,
                        size_t num_substitutions, fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    fer_scratch scratch;
    fer_scratch_start(&scratch);
    mapping mapping = {.scratch = &scratch,
                       .substitutions = substitutions,
                       .num_substitutions = num_substitutions};
    fer_polynomial polynomial;
    fer_status status;
    FER_TRY_DONE(substitute(&mapping, dim, &polynomial, error));
    FER_TRY_DONE(fer_dim_build(&scratch, polynomial, out_dim, error));

done:
    fer_scratch_end(&scratch);
    return status;
}

fer_status fer_dim_substitute(const fer_dim *dim, const fer_substitution *substitutions,
                              size_t num_substitutions, fer_dim **out_dim, fer_error *error)
{
    fer_status status = fer_dim_fold(dim, substitutions, num_substitutions, out_dim, error);
    if (status == FER_OK)
        return FER_OK;
    return fer_error_prepend(error, status, "the dim %s with its symbols replaced: ", dim->text);
}
