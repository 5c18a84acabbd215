/* A remainder has no form of its own: it is a polynomial with a division in it. Here a form is
 * searched for divisions q that make a remainder together with other terms:
 *
 *   - all of it is `others % -factor` when it is factor * q + others and others // -factor is q;
 *   - a part of it is `k * (x % d)` when q is x // d and it holds all terms of k * (x - d * q).
 *
 * What is found parses back to the same form: no partial sum of the printed pieces has a term,
 * or a constant of a size, that the form has not. */
#include "types/modulo.h"

#include <stdlib.h>
#include <string.h>

fer_status fer_atom_set_start(fer_scratch *scratch, size_t capacity, fer_atom_set *out_set,
                              fer_error *error)
{
    size_t num_slots = 2;
    while (num_slots < 2 * capacity)
        num_slots *= 2;
    *out_set = (fer_atom_set){
        .items = fer_scratch_allocate(scratch, capacity, sizeof *out_set->items),
        .slots = fer_scratch_allocate(scratch, num_slots, sizeof *out_set->slots),
        .mask = num_slots - 1,
    };
    if (out_set->items == NULL || out_set->slots == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < num_slots; i++)
        out_set->slots[i] = NULL;
    return FER_OK;
}

static bool is_same(const fer_atom *a, const fer_atom *b)
{
    return a == b || (a->hash == b->hash && fer_atom_compare(a, b) == 0);
}

void fer_atom_set_insert(fer_atom_set *set, const fer_atom *atom)
{
    size_t slot = (size_t)atom->hash & set->mask;
    while (set->slots[slot] != NULL) {
        if (is_same(set->slots[slot], atom))
            return;
        slot = (slot + 1) & set->mask;
    }
    set->slots[slot] = atom;
    set->items[set->num_items++] = atom;
}

static fer_status find_divisions(fer_scratch *scratch, fer_polynomial polynomial,
                                 fer_atom_set *out_divisions, fer_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < polynomial.num_terms; i++)
        for (size_t j = 0; j < polynomial.terms[i].num_factors; j++)
            count += polynomial.terms[i].factors[j]->name == NULL;
    FER_TRY(fer_atom_set_start(scratch, count, out_divisions, error));
    for (size_t i = 0; i < polynomial.num_terms && count > 0; i++)
        for (size_t j = 0; j < polynomial.terms[i].num_factors; j++)
            if (polynomial.terms[i].factors[j]->name == NULL)
                fer_atom_set_insert(out_divisions, polynomial.terms[i].factors[j]);
    return FER_OK;
}

/* polynomial == factor * division + others */
typedef struct linear {
    const fer_atom *division;
    const fer_wide_term *anchor; /* the first term with the division */
    fer_polynomial factor;
    fer_polynomial others;
} linear;

static size_t count_factor(const fer_wide_term *term, const fer_atom *atom)
{
    size_t count = 0;
    for (size_t i = 0; i < term->num_factors; i++)
        count += is_same(term->factors[i], atom);
    return count;
}

static fer_status remove_factor(fer_scratch *scratch, const fer_wide_term *term,
                                const fer_atom *atom, fer_wide_term *out_term, fer_error *error)
{
    const fer_atom **kept = fer_scratch_allocate(scratch, term->num_factors - 1, sizeof *kept);
    if (kept == NULL)
        return fer_fail_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < term->num_factors; i++)
        if (!is_same(term->factors[i], atom))
            kept[count++] = term->factors[i];
    *out_term =
        (fer_wide_term){.coefficient = term->coefficient, .num_factors = count, .factors = kept};
    return FER_OK;
}

/* `out_linear->factor` stays 0 when the form is not linear in the division, or has nothing else. */
static fer_status solve(fer_scratch *scratch, fer_polynomial polynomial, const fer_atom *division,
                        linear *out_linear, fer_error *error)
{
    *out_linear = (linear){.division = division};
    size_t num_with = 0;
    for (size_t i = 0; i < polynomial.num_terms; i++) {
        size_t count = count_factor(&polynomial.terms[i], division);
        if (count > 1)
            return FER_OK;
        num_with += count;
    }
    if (num_with == 0 || num_with == polynomial.num_terms)
        return FER_OK;
    fer_wide_term *terms = fer_scratch_allocate(scratch, polynomial.num_terms, sizeof *terms);
    if (terms == NULL)
        return fer_fail_memory(error);
    out_linear->factor.terms = terms;
    out_linear->others.terms = terms + num_with;
    for (size_t i = 0; i < polynomial.num_terms; i++) {
        const fer_wide_term *term = &polynomial.terms[i];
        if (count_factor(term, division) == 0) {
            out_linear->others.terms[out_linear->others.num_terms++] = *term;
            continue;
        }
        if (out_linear->anchor == NULL)
            out_linear->anchor = term;
        FER_TRY(remove_factor(scratch, term, division,
                              &out_linear->factor.terms[out_linear->factor.num_terms++], error));
    }
    return FER_OK;
}

/* Whether others // -factor is the division. A divisor that lost more than a number on the way is
 * not taken, for the text would divide by zero where the form does not; what cannot be computed is
 * no match. */
static fer_status is_whole(fer_scratch *scratch, const linear *linear, fer_polynomial *out_divisor,
                           bool *out_is_whole, fer_error *error)
{
    *out_is_whole = false;
    const fer_wide_term *first = &linear->factor.terms[0];
    if (first->coefficient > 0 ||
        first->num_factors != linear->division->denominator->terms[0].num_factors)
        return FER_OK;
    FER_TRY(
        fer_polynomial_add(scratch, (fer_polynomial){0}, -1, linear->factor, out_divisor, error));
    for (size_t i = 0; i < out_divisor->num_terms; i++)
        if (!fer_fits_int64(out_divisor->terms[i].coefficient))
            return FER_OK;
    fer_division division;
    fer_status status =
        fer_polynomial_reduce(scratch, linear->others, *out_divisor, &division, NULL);
    if (status == FER_MEMORY_ERROR)
        return fer_fail_memory(error);
    *out_is_whole = status == FER_OK && division.has_rest && division.quotient.num_terms == 0 &&
                    fer_polynomial_equals_dim(division.numerator, linear->division->numerator) &&
                    fer_polynomial_equals_dim(division.denominator, linear->division->denominator);
    return FER_OK;
}

static fer_status own_dim(fer_scratch *scratch, fer_polynomial polynomial, const fer_dim **out_dim,
                          fer_error *error)
{
    fer_dim *dim;
    FER_TRY(fer_dim_build(scratch, polynomial, &dim, error));
    *out_dim = dim;
    return fer_scratch_own(scratch, dim, NULL) ? FER_OK : fer_fail_memory(error);
}

/* Rules 2 and 3 keep the number of terms, but for a constant, unless divisions join. */
static bool can_be_whole(fer_polynomial rest, const fer_atom *division)
{
    size_t num_terms = division->numerator->num_terms;
    size_t num_others = rest.num_terms - division->denominator->num_terms;
    return rest.num_terms > division->denominator->num_terms &&
           (num_others <= 2 || num_others == num_terms || num_others == num_terms + 1);
}

/* The whole form as one remainder. `out_piece->left` stays NULL when it is none. */
static fer_status take_whole(fer_scratch *scratch, fer_polynomial *rest, const fer_atom *division,
                             fer_piece *out_piece, fer_error *error)
{
    *out_piece = (fer_piece){0};
    if (!can_be_whole(*rest, division))
        return FER_OK;
    linear linear;
    FER_TRY(solve(scratch, *rest, division, &linear, error));
    if (linear.factor.num_terms == 0)
        return FER_OK;
    fer_piece piece = {.coefficient = 1, .anchor = linear.anchor};
    fer_polynomial divisor;
    bool is_all;
    FER_TRY(is_whole(scratch, &linear, &divisor, &is_all, error));
    if (!is_all)
        return FER_OK;
    FER_TRY(own_dim(scratch, linear.others, &piece.left, error));
    FER_TRY(own_dim(scratch, divisor, &piece.right, error));
    *rest = (fer_polynomial){0};
    *out_piece = piece;
    return FER_OK;
}

/* The coefficient of a term's factors in a polynomial, 0 when they are not there. */
static fer_int128 coefficient_of(fer_polynomial polynomial, const fer_wide_term *term)
{
    size_t low = 0, high = polynomial.num_terms;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const fer_wide_term *candidate = &polynomial.terms[middle];
        int order = fer_factors_compare(candidate->factors, candidate->num_factors, term->factors,
                                        term->num_factors);
        if (order == 0)
            return candidate->coefficient;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static bool is_between_0_and(fer_int128 whole, fer_int128 part)
{
    return whole < 0 ? whole <= part && part <= 0 : 0 <= part && part <= whole;
}

/* Whether a polynomial holds all terms of k * part, for which k is found, and at least that much of
 * a constant. `part` starts with a term that is no constant. */
static bool holds_multiple(fer_polynomial polynomial, fer_polynomial part, fer_int128 *out_k)
{
    fer_int128 k = coefficient_of(polynomial, &part.terms[0]) / part.terms[0].coefficient;
    if (k == 0 || !fer_fits_int64(k))
        return false;
    for (size_t i = 0; i < part.num_terms; i++) {
        fer_int128 found = coefficient_of(polynomial, &part.terms[i]);
        fer_int128 needed = k * part.terms[i].coefficient;
        bool holds =
            part.terms[i].num_factors == 0 ? is_between_0_and(found, needed) : found == needed;
        if (!holds)
            return false;
    }
    *out_k = k;
    return true;
}

/* A remainder, or a multiple of one, beside other terms. */
static fer_status take_part(fer_scratch *scratch, fer_polynomial *rest, const fer_atom *division,
                            fer_piece *out_piece, fer_error *error)
{
    *out_piece = (fer_piece){0};
    fer_polynomial x, d, q, product, modulo;
    FER_TRY(fer_polynomial_of_dim(scratch, division->numerator, &x, error));
    FER_TRY(fer_polynomial_of_dim(scratch, division->denominator, &d, error));
    FER_TRY(fer_polynomial_of_atom(scratch, division, &q, error));
    FER_TRY(fer_polynomial_multiply(scratch, d, q, &product, error));
    if (x.num_terms + product.num_terms > rest->num_terms)
        return FER_OK;
    FER_TRY(fer_polynomial_add(scratch, x, -1, product, &modulo, error));
    fer_int128 k;
    if (!holds_multiple(*rest, modulo, &k))
        return FER_OK;
    FER_TRY(fer_polynomial_add(scratch, *rest, -k, modulo, rest, error));
    *out_piece = (fer_piece){.coefficient = k,
                             .anchor = &product.terms[0],
                             .left = division->numerator,
                             .right = division->denominator};
    return FER_OK;
}

typedef fer_status (*taker)(fer_scratch *scratch, fer_polynomial *rest, const fer_atom *division,
                            fer_piece *out_piece, fer_error *error);

static fer_status take_all(fer_scratch *scratch, taker take, const fer_atom_set *divisions,
                           fer_polynomial *rest, fer_piece *pieces, size_t *num_pieces,
                           fer_error *error)
{
    for (size_t i = 0; i < divisions->num_items && rest->num_terms > 1; i++) {
        fer_piece *piece = &pieces[*num_pieces];
        FER_TRY(take(scratch, rest, divisions->items[i], piece, error));
        *num_pieces += piece->left != NULL;
    }
    return FER_OK;
}

/* Outer remainders before those inside them. */
static int compare_divisions(const void *a, const void *b)
{
    const fer_atom *s = *(const fer_atom *const *)a, *t = *(const fer_atom *const *)b;
    if (s->depth != t->depth)
        return s->depth > t->depth ? -1 : 1;
    return fer_atom_compare(s, t);
}

static int compare_pieces(const void *a, const void *b)
{
    const fer_wide_term *s = ((const fer_piece *)a)->anchor, *t = ((const fer_piece *)b)->anchor;
    return fer_factors_compare(s->factors, s->num_factors, t->factors, t->num_factors);
}

fer_status fer_polynomial_split(fer_scratch *scratch, fer_polynomial polynomial,
                                fer_piece **out_pieces, size_t *out_num_pieces, fer_error *error)
{
    fer_piece *pieces = fer_scratch_allocate(scratch, polynomial.num_terms, sizeof *pieces);
    if (pieces == NULL)
        return fer_fail_memory(error);
    fer_atom_set divisions;
    FER_TRY(find_divisions(scratch, polynomial, &divisions, error));
    if (divisions.num_items > 1)
        qsort(divisions.items, divisions.num_items, sizeof *divisions.items, compare_divisions);
    size_t num_taken = 0;
    /* What is taken can leave a whole remainder behind: so again until nothing is found. */
    for (size_t before = SIZE_MAX; before != num_taken;) {
        before = num_taken;
        FER_TRY(take_all(scratch, take_whole, &divisions, &polynomial, pieces, &num_taken, error));
        FER_TRY(take_all(scratch, take_part, &divisions, &polynomial, pieces, &num_taken, error));
    }
    size_t count = num_taken;
    for (size_t i = 0; i < polynomial.num_terms; i++)
        pieces[count++] = (fer_piece){.coefficient = polynomial.terms[i].coefficient,
                                      .anchor = &polynomial.terms[i]};
    if (num_taken > 0)
        qsort(pieces, count, sizeof *pieces, compare_pieces);
    *out_pieces = pieces;
    *out_num_pieces = count;
    return FER_OK;
}
