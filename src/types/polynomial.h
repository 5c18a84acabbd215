/* Arithmetic on canonical sums while an operation is under way. Coefficients are wide here, so that
 * what fits in the end is not refused in between; a dim is built of the outcome, and judged then.
 *
 * A polynomial's terms lie in a scratch; its atoms belong to the dims it was read from or to the
 * scratch. Errors: OVERFLOW (beyond 128 bits, more than FER_MAX_TERMS terms, a dim that cannot be
 * built), ZERO_DIVISION, MEMORY. */
#ifndef FERRULE_TYPES_POLYNOMIAL_H
#define FERRULE_TYPES_POLYNOMIAL_H

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/text.h"
#include "types/form.h"
#include "types/scratch.h"

/* A fer_term with a wide coefficient. */
typedef struct fer_wide_term {
    fer_int128 coefficient; /* never 0 */
    size_t num_factors;
    const fer_atom *const *factors;
} fer_wide_term;

/* Terms in canonical order, none twice; no terms: 0. */
typedef struct fer_polynomial {
    size_t num_terms;
    fer_wide_term *terms;
} fer_polynomial;

/* form.c: atoms and dims. */

fer_status fer_atom_create_symbol(fer_namespace space, const char *name, const fer_atom **out_atom,
                                  fer_error *error);
/* Retains both dims, which no rule of division simplifies any more. */
fer_status fer_atom_create_division(const fer_dim *numerator, const fer_dim *denominator,
                                    const fer_atom **out_atom, fer_error *error);
void fer_atom_release(const fer_atom *atom); /* NULL-safe */
/* The canonical order of factors: symbols by name, then divisions by text. Namespaces decide
 * between equal texts. 0 only for equal atoms. */
int fer_atom_compare(const fer_atom *a, const fer_atom *b);
/* The canonical order of terms, by factors alone: falling degree, then factor by factor. */
int fer_factors_compare(const fer_atom *const *a, size_t num_a, const fer_atom *const *b,
                        size_t num_b);
/* Builds the dim of a polynomial. OVERFLOW when a coefficient is outside int64 or the dim too
 * large. */
fer_status fer_dim_build(fer_scratch *scratch, fer_polynomial polynomial, fer_dim **out_dim,
                         fer_error *error);

/* dim_text.c: the text of a dim under construction, and its symbols (borrowed atoms) by first
 * appearance, in the scratch. The caller frees the text. */
typedef struct fer_printed {
    char *text;
    fer_binding binding;
    const fer_atom **symbols;
    size_t num_symbols;
} fer_printed;
fer_status fer_polynomial_print(fer_scratch *scratch, fer_polynomial polynomial,
                                fer_printed *out_printed, fer_error *error);

/* The dim's text, in parentheses when it binds more loosely than `loosest`. */
void fer_dim_append_text(fer_text *text, const fer_dim *dim, fer_binding loosest);

/* polynomial.c */

fer_status fer_polynomial_of_dim(fer_scratch *scratch, const fer_dim *dim,
                                 fer_polynomial *out_polynomial, fer_error *error);
fer_status fer_polynomial_of_constant(fer_scratch *scratch, fer_int128 value,
                                      fer_polynomial *out_polynomial, fer_error *error);
/* The atom is borrowed and outlives the scratch's use. */
fer_status fer_polynomial_of_atom(fer_scratch *scratch, const fer_atom *atom,
                                  fer_polynomial *out_polynomial, fer_error *error);
/* a + scale * b */
fer_status fer_polynomial_add(fer_scratch *scratch, fer_polynomial a, fer_int128 scale,
                              fer_polynomial b, fer_polynomial *out_sum, fer_error *error);
fer_status fer_polynomial_multiply(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                                   fer_polynomial *out_product, fer_error *error);
/* The constant's value, 0 for 0; false when it is no constant. */
bool fer_polynomial_is_constant(fer_polynomial polynomial, fer_int128 *out_value);
bool fer_polynomial_equal(fer_polynomial a, fer_polynomial b);
bool fer_polynomial_equals_dim(fer_polynomial polynomial, const fer_dim *dim);

/* divide.c */

/* A division after all rules: quotient, or quotient + numerator // denominator. */
typedef struct fer_division {
    fer_polynomial quotient;
    bool has_rest;
    fer_polynomial numerator;
    fer_polynomial denominator;
} fer_division;
fer_status fer_polynomial_reduce(fer_scratch *scratch, fer_polynomial numerator,
                                 fer_polynomial denominator, fer_division *out_division,
                                 fer_error *error);
fer_status fer_polynomial_divide(fer_scratch *scratch, fer_polynomial numerator,
                                 fer_polynomial denominator, fer_polynomial *out_quotient,
                                 fer_error *error);
/* a - b * (a // b) */
fer_status fer_polynomial_modulo(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                                 fer_polynomial *out_rest, fer_error *error);

/* Floors; `b` is not 0. false when the quotient leaves 128 bits. */
static inline bool fer_floor_divide_wide(fer_int128 a, fer_int128 b, fer_int128 *out_quotient)
{
    if (b == -1)
        return !__builtin_sub_overflow((fer_int128)0, a, out_quotient);
    fer_int128 quotient = a / b;
    if (a % b != 0 && (a < 0) != (b < 0))
        quotient--;
    *out_quotient = quotient;
    return true;
}

static inline bool fer_fits_int64(fer_int128 value)
{
    return value >= INT64_MIN && value <= INT64_MAX;
}

static inline fer_status fer_fail_wide(fer_error *error)
{
    return fer_fail(error, FER_OVERFLOW_ERROR, "a coefficient is outside int64");
}

#endif
