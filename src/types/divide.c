/* Floor division of polynomials: rules 2 and 3 of the canonical form, repeated until nothing
 * changes. Each step keeps the value at every point where the division is defined:
 *
 *     x // y              == -x // -y
 *     (d * p + x) // d    == p + x // d
 *     (g * x + c) // (g * d) == (x + c // g) // d                  for g > 0
 *     (x // a + r) // b   == (x + a * r) // (a * b)                for a, b > 0
 *     (g * x) // (g * y)  == x // y                                for any g but 0
 *
 * They end: all but the first take away a common factor or a division, and the first happens only
 * to a negative denominator, which no other step makes. */
#include "types/polynomial.h"

/* The smallest number has no magnitude. */
static bool has_magnitudes(fer_polynomial polynomial)
{
    fer_int128 negated;
    for (size_t i = 0; i < polynomial.num_terms; i++)
        if (__builtin_sub_overflow((fer_int128)0, polynomial.terms[i].coefficient, &negated))
            return false;
    return true;
}

static fer_int128 magnitude(fer_int128 value)
{
    return value < 0 ? -value : value;
}

static fer_int128 gcd(fer_int128 a, fer_int128 b)
{
    a = magnitude(a);
    b = magnitude(b);
    while (b != 0) {
        fer_int128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static fer_status negate(fer_scratch *scratch, fer_polynomial *polynomial, fer_error *error)
{
    return fer_polynomial_add(scratch, (fer_polynomial){0}, -1, *polynomial, polynomial, error);
}

/* Keeps the terms and their order, scales and rounds: floor(coefficient / divisor). */
static fer_status quotients(fer_scratch *scratch, fer_polynomial polynomial, fer_int128 divisor,
                            fer_polynomial *out_quotients, fer_error *error)
{
    fer_wide_term *terms = fer_scratch_allocate(scratch, polynomial.num_terms, sizeof *terms);
    if (terms == NULL)
        return fer_fail_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < polynomial.num_terms; i++) {
        terms[count] = polynomial.terms[i];
        if (!fer_floor_divide_wide(polynomial.terms[i].coefficient, divisor,
                                   &terms[count].coefficient))
            return fer_fail_wide(error);
        count += terms[count].coefficient != 0;
    }
    *out_quotients = (fer_polynomial){.num_terms = count, .terms = terms};
    return FER_OK;
}

/* Moves whole multiples of `divisor` from the numerator to the quotient. */
static fer_status take_multiples(fer_scratch *scratch, fer_division *division, fer_int128 divisor,
                                 fer_error *error)
{
    fer_polynomial whole;
    FER_TRY(quotients(scratch, division->numerator, divisor, &whole, error));
    FER_TRY(fer_polynomial_add(scratch, division->numerator, -divisor, whole, &division->numerator,
                               error));
    return fer_polynomial_add(scratch, division->quotient, 1, whole, &division->quotient, error);
}

/* Whether a numerator is one division by a constant, plus a constant. */
static const fer_atom *joinable(fer_polynomial numerator, fer_int128 *out_constant)
{
    *out_constant = 0;
    if (numerator.num_terms > 2)
        return NULL;
    if (numerator.num_terms == 2) {
        if (numerator.terms[1].num_factors != 0)
            return NULL;
        *out_constant = numerator.terms[1].coefficient;
    }
    const fer_wide_term *term = &numerator.terms[0];
    if (term->coefficient != 1 || term->num_factors != 1 || term->factors[0]->name != NULL)
        return NULL;
    const fer_dim *denominator = term->factors[0]->denominator;
    return fer_dim_is_static(denominator) ? term->factors[0] : NULL;
}

static fer_status join(fer_scratch *scratch, fer_division *division, const fer_atom *inner,
                       fer_int128 constant, fer_int128 divisor, fer_error *error)
{
    fer_int128 inner_divisor = inner->denominator->terms[0].coefficient;
    fer_int128 joined, shifted;
    if (__builtin_mul_overflow(inner_divisor, divisor, &joined) ||
        __builtin_mul_overflow(inner_divisor, constant, &shifted))
        return fer_fail_wide(error);
    fer_polynomial x, shift;
    FER_TRY(fer_polynomial_of_dim(scratch, inner->numerator, &x, error));
    FER_TRY(fer_polynomial_of_constant(scratch, shifted, &shift, error));
    FER_TRY(fer_polynomial_add(scratch, x, 1, shift, &division->numerator, error));
    return fer_polynomial_of_constant(scratch, joined, &division->denominator, error);
}

/* Rule 2, once. `out_changed`: there is more to do. */
static fer_status step_constant(fer_scratch *scratch, fer_division *division, fer_int128 divisor,
                                bool *out_changed, fer_error *error)
{
    *out_changed = false;
    FER_TRY(take_multiples(scratch, division, divisor, error));
    fer_int128 constant;
    if (fer_polynomial_is_constant(division->numerator, &constant)) {
        division->has_rest = false; /* in [0, divisor) */
        return FER_OK;
    }
    fer_int128 common = divisor;
    for (size_t i = 0; i < division->numerator.num_terms; i++)
        if (division->numerator.terms[i].num_factors > 0)
            common = gcd(common, division->numerator.terms[i].coefficient);
    if (common > 1) {
        divisor /= common;
        FER_TRY(quotients(scratch, division->numerator, common, &division->numerator, error));
        FER_TRY(fer_polynomial_of_constant(scratch, divisor, &division->denominator, error));
    }
    const fer_atom *inner = joinable(division->numerator, &constant);
    if (inner == NULL)
        return FER_OK;
    *out_changed = true;
    return join(scratch, division, inner, constant, divisor, error);
}

/* The factors that two terms share. */
static size_t intersect(const fer_atom **factors, size_t num_factors, const fer_wide_term *term)
{
    size_t count = 0;
    for (size_t i = 0, j = 0; i < num_factors && j < term->num_factors;) {
        int order = fer_atom_compare(factors[i], term->factors[j]);
        if (order == 0)
            factors[count++] = factors[i];
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}

static void narrow_common(fer_polynomial polynomial, fer_int128 *common, const fer_atom **factors,
                          size_t *num_factors)
{
    for (size_t i = 0; i < polynomial.num_terms; i++) {
        *common = gcd(*common, polynomial.terms[i].coefficient);
        *num_factors = intersect(factors, *num_factors, &polynomial.terms[i]);
    }
}

/* Divides by a term that divides. The order stays. */
static fer_status cancel(fer_scratch *scratch, fer_polynomial *polynomial, fer_int128 common,
                         const fer_atom *const *factors, size_t num_factors, fer_error *error)
{
    FER_TRY(quotients(scratch, *polynomial, common, polynomial, error));
    for (size_t i = 0; i < polynomial->num_terms && num_factors > 0; i++) {
        fer_wide_term *term = &polynomial->terms[i];
        const fer_atom **kept =
            fer_scratch_allocate(scratch, term->num_factors - num_factors, sizeof *kept);
        if (kept == NULL)
            return fer_fail_memory(error);
        size_t count = 0;
        for (size_t j = 0, k = 0; j < term->num_factors; j++) {
            if (k < num_factors && fer_atom_compare(term->factors[j], factors[k]) == 0)
                k++;
            else
                kept[count++] = term->factors[j];
        }
        term->factors = kept;
        term->num_factors = count;
    }
    return FER_OK;
}

/* Rule 3, once. A division that is exact ends as one by 1, which rule 2 finishes. */
static fer_status step_polynomial(fer_scratch *scratch, fer_division *division, bool *out_changed,
                                  fer_error *error)
{
    *out_changed = false;
    if (fer_polynomial_equal(division->numerator, division->denominator)) {
        fer_polynomial one;
        FER_TRY(fer_polynomial_of_constant(scratch, 1, &one, error));
        division->has_rest = false;
        return fer_polynomial_add(scratch, division->quotient, 1, one, &division->quotient, error);
    }
    const fer_wide_term *first = &division->denominator.terms[0];
    size_t num_factors = first->num_factors;
    const fer_atom **factors = fer_scratch_allocate(scratch, num_factors, sizeof *factors);
    if (factors == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < num_factors; i++)
        factors[i] = first->factors[i];
    fer_int128 common = 0;
    narrow_common(division->denominator, &common, factors, &num_factors);
    narrow_common(division->numerator, &common, factors, &num_factors);
    if (common == 1 && num_factors == 0)
        return FER_OK;
    *out_changed = true;
    FER_TRY(cancel(scratch, &division->numerator, common, factors, num_factors, error));
    return cancel(scratch, &division->denominator, common, factors, num_factors, error);
}

fer_status fer_polynomial_reduce(fer_scratch *scratch, fer_polynomial numerator,
                                 fer_polynomial denominator, fer_division *out_division,
                                 fer_error *error)
{
    fer_division division = {.numerator = numerator, .denominator = denominator};
    if (denominator.num_terms == 0)
        return fer_fail(error, FER_ZERO_DIVISION_ERROR, "division by zero");
    if (!has_magnitudes(numerator) || !has_magnitudes(denominator))
        return fer_fail_wide(error);
    division.has_rest = numerator.num_terms > 0;
    for (bool changed = division.has_rest; changed;) {
        if (division.denominator.terms[0].coefficient < 0) {
            FER_TRY(negate(scratch, &division.numerator, error));
            FER_TRY(negate(scratch, &division.denominator, error));
        }
        fer_int128 divisor;
        if (fer_polynomial_is_constant(division.denominator, &divisor))
            FER_TRY(step_constant(scratch, &division, divisor, &changed, error));
        else
            FER_TRY(step_polynomial(scratch, &division, &changed, error));
    }
    *out_division = division;
    return FER_OK;
}

/* numerator // denominator as an atom that the scratch owns. */
static fer_status make_atom(fer_scratch *scratch, const fer_division *division,
                            const fer_atom **out_atom, fer_error *error)
{
    fer_dim *numerator = NULL, *denominator = NULL;
    fer_status status;
    FER_TRY_DONE(fer_dim_build(scratch, division->numerator, &numerator, error));
    FER_TRY_DONE(fer_dim_build(scratch, division->denominator, &denominator, error));
    FER_TRY_DONE(fer_atom_create_division(numerator, denominator, out_atom, error));
    if (!fer_scratch_own(scratch, NULL, *out_atom))
        status = fer_fail_memory(error);

done:
    fer_dim_release(numerator);
    fer_dim_release(denominator);
    return status;
}

fer_status fer_polynomial_divide(fer_scratch *scratch, fer_polynomial numerator,
                                 fer_polynomial denominator, fer_polynomial *out_quotient,
                                 fer_error *error)
{
    fer_division division;
    FER_TRY(fer_polynomial_reduce(scratch, numerator, denominator, &division, error));
    if (!division.has_rest) {
        *out_quotient = division.quotient;
        return FER_OK;
    }
    const fer_atom *atom;
    fer_polynomial rest;
    FER_TRY(make_atom(scratch, &division, &atom, error));
    FER_TRY(fer_polynomial_of_atom(scratch, atom, &rest, error));
    return fer_polynomial_add(scratch, division.quotient, 1, rest, out_quotient, error);
}

fer_status fer_polynomial_modulo(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                                 fer_polynomial *out_rest, fer_error *error)
{
    fer_polynomial quotient, product;
    FER_TRY(fer_polynomial_divide(scratch, a, b, &quotient, error));
    FER_TRY(fer_polynomial_multiply(scratch, b, quotient, &product, error));
    return fer_polynomial_add(scratch, a, -1, product, out_rest, error);
}
