/* Finding `x % d` in a canonical form, where it is `x - d * (x // d)`, for printing. */
#ifndef FERRULE_TYPES_MODULO_H
#define FERRULE_TYPES_MODULO_H

#include "types/polynomial.h"

/* coefficient * (left % right), or with `left` NULL the term `anchor`. */
typedef struct fer_piece {
    fer_int128 coefficient;      /* never 0 */
    const fer_wide_term *anchor; /* the place in the canonical order */
    const fer_dim *left;         /* borrowed from the atoms or owned by the scratch */
    const fer_dim *right;
} fer_piece;

/* Splits a polynomial into pieces whose sum it is, in canonical order. The pieces lie in the
 * scratch. */
fer_status fer_polynomial_split(fer_scratch *scratch, fer_polynomial polynomial,
                                fer_piece **out_pieces, size_t *out_num_pieces, fer_error *error);

/* Distinct atoms in the order of insertion, hashed. */
typedef struct fer_atom_set {
    const fer_atom **items;
    size_t num_items;
    const fer_atom **slots;
    size_t mask;
} fer_atom_set;

fer_status fer_atom_set_start(fer_scratch *scratch, size_t capacity, fer_atom_set *out_set,
                              fer_error *error);
void fer_atom_set_insert(fer_atom_set *set, const fer_atom *atom);

#endif
