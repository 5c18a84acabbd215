/* The canonical form inside a fer_dim, for what compiles or walks dims. Read only. */
#ifndef FERRULE_TYPES_FORM_H
#define FERRULE_TYPES_FORM_H

#include <ferrule/dim.h>
#include <stdatomic.h>

#define FER_MAX_TERMS 256
/* Divisions inside divisions. Everything that walks a dim recurses at most this deep. */
#define FER_MAX_DIVISION_DEPTH 100
/* What a dim may take when written out without `%`, in characters, about. It bounds the work of
 * every operation: a form shares its parts, so a short text could otherwise stand for a tree of
 * exponential size. */
#define FER_MAX_WEIGHT 16384

/* A symbol, or a floor division that does not simplify. */
typedef struct fer_atom {
    const char *name; /* NULL: a division */
    fer_namespace space;
    const fer_dim *numerator;
    const fer_dim *denominator;
    /* Private to src/types. */
    atomic_size_t references;
    const char *text; /* the name, or `numerator // denominator` */
    uint64_t hash;
    size_t weight;
    size_t depth; /* 0: a symbol */
} fer_atom;

/* coefficient * factors[0] * factors[1] * ...; no factors: the constant. A repeated factor stands
 * repeatedly. */
typedef struct fer_term {
    int64_t coefficient; /* never 0 */
    size_t num_factors;
    const fer_atom *const *factors;
} fer_term;

/* How tightly a text binds, and so where it needs parentheses. */
typedef enum fer_binding {
    FER_BINDS_ATOM,    /* a name or a number without sign */
    FER_BINDS_PRODUCT, /* may stand left of `//` and `%` */
    FER_BINDS_SUM
} fer_binding;

/* The sum of its terms in canonical order; no terms: 0. */
struct fer_dim {
    atomic_size_t references;
    size_t num_terms;
    const fer_term *terms;
    const char *text;
    /* Private to src/types. */
    fer_binding binding; /* of the text */
    uint64_t hash;
    size_t weight;
    size_t depth;
    size_t num_symbols;
    const fer_atom **symbols; /* distinct, by first appearance in the text; borrowed from terms */
};

#endif
