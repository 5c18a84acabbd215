/* The ring of polynomials over atoms: rule 1 of the canonical form. */
#include "types/polynomial.h"

#include <stdlib.h>
#include <string.h>

static fer_status fail_terms(fer_error *error)
{
    return fer_fail(error, FER_OVERFLOW_ERROR, "the dim has more than %d terms", FER_MAX_TERMS);
}

static fer_status allocate(fer_scratch *scratch, size_t num_terms, fer_polynomial *out_polynomial,
                           fer_error *error)
{
    out_polynomial->num_terms = num_terms;
    out_polynomial->terms = fer_scratch_allocate(scratch, num_terms, sizeof *out_polynomial->terms);
    return out_polynomial->terms == NULL ? fer_fail_memory(error) : FER_OK;
}

static int compare_terms(const fer_wide_term *a, const fer_wide_term *b)
{
    return fer_factors_compare(a->factors, a->num_factors, b->factors, b->num_factors);
}

fer_status fer_polynomial_of_dim(fer_scratch *scratch, const fer_dim *dim,
                                 fer_polynomial *out_polynomial, fer_error *error)
{
    FER_TRY(allocate(scratch, dim->num_terms, out_polynomial, error));
    for (size_t i = 0; i < dim->num_terms; i++)
        out_polynomial->terms[i] = (fer_wide_term){
            .coefficient = dim->terms[i].coefficient,
            .num_factors = dim->terms[i].num_factors,
            .factors = dim->terms[i].factors,
        };
    return FER_OK;
}

fer_status fer_polynomial_of_constant(fer_scratch *scratch, fer_int128 value,
                                      fer_polynomial *out_polynomial, fer_error *error)
{
    FER_TRY(allocate(scratch, 1, out_polynomial, error));
    out_polynomial->terms[0] = (fer_wide_term){.coefficient = value};
    out_polynomial->num_terms = value != 0;
    return FER_OK;
}

fer_status fer_polynomial_of_atom(fer_scratch *scratch, const fer_atom *atom,
                                  fer_polynomial *out_polynomial, fer_error *error)
{
    FER_TRY(allocate(scratch, 1, out_polynomial, error));
    const fer_atom **factors = fer_scratch_allocate(scratch, 1, sizeof *factors);
    if (factors == NULL)
        return fer_fail_memory(error);
    factors[0] = atom;
    out_polynomial->terms[0] =
        (fer_wide_term){.coefficient = 1, .num_factors = 1, .factors = factors};
    return FER_OK;
}

/* The sum of two terms with the same factors, or of one alone (the other is NULL). */
static bool add_terms(const fer_wide_term *a, fer_int128 scale, const fer_wide_term *b,
                      fer_wide_term *out_term)
{
    *out_term = a != NULL ? *a : *b;
    if (b == NULL)
        return true;
    fer_int128 scaled;
    if (__builtin_mul_overflow(b->coefficient, scale, &scaled))
        return false;
    fer_int128 base = a != NULL ? a->coefficient : 0;
    return !__builtin_add_overflow(base, scaled, &out_term->coefficient);
}

fer_status fer_polynomial_add(fer_scratch *scratch, fer_polynomial a, fer_int128 scale,
                              fer_polynomial b, fer_polynomial *out_sum, fer_error *error)
{
    fer_polynomial sum;
    FER_TRY(allocate(scratch, a.num_terms + b.num_terms, &sum, error));
    size_t i = 0, j = 0, count = 0;
    while (i < a.num_terms || j < b.num_terms) {
        const fer_wide_term *left = i < a.num_terms ? &a.terms[i] : NULL;
        const fer_wide_term *right = j < b.num_terms ? &b.terms[j] : NULL;
        int order = right == NULL ? -1 : left == NULL ? 1 : compare_terms(left, right);
        if (!add_terms(order <= 0 ? left : NULL, scale, order >= 0 ? right : NULL,
                       &sum.terms[count]))
            return fer_fail_wide(error);
        i += order <= 0;
        j += order >= 0;
        count += sum.terms[count].coefficient != 0;
    }
    if (count > FER_MAX_TERMS)
        return fail_terms(error);
    sum.num_terms = count;
    *out_sum = sum;
    return FER_OK;
}

static fer_status multiply_terms(fer_scratch *scratch, const fer_wide_term *a,
                                 const fer_wide_term *b, fer_wide_term *out_term, fer_error *error)
{
    if (__builtin_mul_overflow(a->coefficient, b->coefficient, &out_term->coefficient))
        return fer_fail_wide(error);
    out_term->num_factors = a->num_factors + b->num_factors;
    if (a->num_factors == 0 || b->num_factors == 0) {
        out_term->factors = a->num_factors == 0 ? b->factors : a->factors;
        return FER_OK;
    }
    const fer_atom **factors =
        fer_scratch_allocate(scratch, out_term->num_factors, sizeof *factors);
    if (factors == NULL)
        return fer_fail_memory(error);
    size_t i = 0, j = 0;
    for (size_t k = 0; k < out_term->num_factors; k++) {
        bool takes_a = j == b->num_factors ||
                       (i < a->num_factors && fer_atom_compare(a->factors[i], b->factors[j]) <= 0);
        factors[k] = takes_a ? a->factors[i++] : b->factors[j++];
    }
    out_term->factors = factors;
    return FER_OK;
}

static int compare_for_sort(const void *a, const void *b)
{
    return compare_terms(a, b);
}

/* Adds up neighbours with the same factors and drops zeros. */
static fer_status merge_sorted(fer_polynomial *polynomial, fer_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < polynomial->num_terms;) {
        fer_wide_term term = polynomial->terms[i++];
        while (i < polynomial->num_terms && compare_terms(&term, &polynomial->terms[i]) == 0)
            if (__builtin_add_overflow(term.coefficient, polynomial->terms[i++].coefficient,
                                       &term.coefficient))
                return fer_fail_wide(error);
        if (term.coefficient != 0)
            polynomial->terms[count++] = term;
    }
    polynomial->num_terms = count;
    return count > FER_MAX_TERMS ? fail_terms(error) : FER_OK;
}

fer_status fer_polynomial_multiply(fer_scratch *scratch, fer_polynomial a, fer_polynomial b,
                                   fer_polynomial *out_product, fer_error *error)
{
    fer_polynomial product;
    FER_TRY(allocate(scratch, a.num_terms * b.num_terms, &product, error));
    for (size_t i = 0; i < a.num_terms; i++)
        for (size_t j = 0; j < b.num_terms; j++)
            FER_TRY(multiply_terms(scratch, &a.terms[i], &b.terms[j],
                                   &product.terms[i * b.num_terms + j], error));
    /* By one term the order stays. */
    if (a.num_terms > 1 && b.num_terms > 1) {
        qsort(product.terms, product.num_terms, sizeof *product.terms, compare_for_sort);
        FER_TRY(merge_sorted(&product, error));
    }
    *out_product = product;
    return FER_OK;
}

bool fer_polynomial_is_constant(fer_polynomial polynomial, fer_int128 *out_value)
{
    *out_value = 0;
    if (polynomial.num_terms == 0)
        return true;
    *out_value = polynomial.terms[0].coefficient;
    return polynomial.terms[0].num_factors == 0;
}

bool fer_polynomial_equal(fer_polynomial a, fer_polynomial b)
{
    if (a.num_terms != b.num_terms)
        return false;
    for (size_t i = 0; i < a.num_terms; i++)
        if (a.terms[i].coefficient != b.terms[i].coefficient ||
            compare_terms(&a.terms[i], &b.terms[i]) != 0)
            return false;
    return true;
}

bool fer_polynomial_equals_dim(fer_polynomial polynomial, const fer_dim *dim)
{
    if (polynomial.num_terms != dim->num_terms)
        return false;
    for (size_t i = 0; i < dim->num_terms; i++) {
        const fer_wide_term *a = &polynomial.terms[i];
        const fer_term *b = &dim->terms[i];
        if (a->coefficient != b->coefficient ||
            fer_factors_compare(a->factors, a->num_factors, b->factors, b->num_factors) != 0)
            return false;
    }
    return true;
}
