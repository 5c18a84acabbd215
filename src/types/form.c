/* Atoms and dims: making them of a canonical polynomial, comparing, hashing, releasing. */
#include "types/form.h"

#include "base/lexer.h"
#include "base/text.h"
#include "types/polynomial.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* About the characters that a part takes beside its own: ` * `, ` // ` with parentheses, ` + 9`. */
#define FACTOR_WEIGHT 3
#define DIVISION_WEIGHT 8
#define TERM_WEIGHT 4

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return XXH64(&value, sizeof value, hash);
}

static fer_status fail_weight(fer_error *error)
{
    return fer_fail(error, FER_OVERFLOW_ERROR,
                    "the dim is too large: written out it takes more than %d characters",
                    FER_MAX_WEIGHT);
}

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_dims(const fer_dim *a, const fer_dim *b)
{
    if (a == b)
        return 0;
    if (a->num_terms != b->num_terms)
        return compare_numbers(a->num_terms, b->num_terms);
    for (size_t i = 0; i < a->num_terms; i++) {
        const fer_term *s = &a->terms[i], *t = &b->terms[i];
        int order = fer_factors_compare(s->factors, s->num_factors, t->factors, t->num_factors);
        if (order != 0)
            return order;
        if (s->coefficient != t->coefficient)
            return s->coefficient < t->coefficient ? -1 : 1;
    }
    return 0;
}

int fer_atom_compare(const fer_atom *a, const fer_atom *b)
{
    if (a == b)
        return 0;
    if ((a->name == NULL) != (b->name == NULL))
        return a->name != NULL ? -1 : 1;
    int order = strcmp(a->text, b->text);
    if (order != 0)
        return order;
    if (a->name != NULL)
        return compare_numbers(a->space, b->space);
    order = compare_dims(a->numerator, b->numerator);
    return order != 0 ? order : compare_dims(a->denominator, b->denominator);
}

int fer_factors_compare(const fer_atom *const *a, size_t num_a, const fer_atom *const *b,
                        size_t num_b)
{
    if (num_a != num_b)
        return num_a > num_b ? -1 : 1;
    for (size_t i = 0; i < num_a; i++) {
        int order = fer_atom_compare(a[i], b[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

/* An atom and its text are one block. */
static fer_atom *allocate_atom(const char *text, size_t length)
{
    fer_atom *atom = malloc(sizeof *atom + length + 1);
    if (atom == NULL)
        return NULL;
    char *copy = (char *)(atom + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    *atom = (fer_atom){.text = copy};
    atomic_init(&atom->references, 1);
    return atom;
}

fer_status fer_atom_create_symbol(fer_namespace space, const char *name, const fer_atom **out_atom,
                                  fer_error *error)
{
    *out_atom = NULL;
    size_t length = strlen(name);
    if (length > FER_MAX_WEIGHT)
        return fail_weight(error);
    if (!fer_is_name(name))
        return fer_fail(error, FER_VALUE_ERROR,
                        "a dim's name is letters, digits and '_', no digit first; '%s' is not",
                        name);
    fer_atom *atom = allocate_atom(name, length);
    if (atom == NULL)
        return fer_fail_memory(error);
    atom->name = atom->text;
    atom->space = space;
    atom->hash = mix(XXH64(name, length, 1), space);
    atom->weight = length;
    *out_atom = atom;
    return FER_OK;
}

fer_status fer_atom_create_division(const fer_dim *numerator, const fer_dim *denominator,
                                    const fer_atom **out_atom, fer_error *error)
{
    *out_atom = NULL;
    fer_text text = FER_TEXT_INIT;
    fer_dim_append_text(&text, numerator, FER_BINDS_PRODUCT);
    fer_text_append(&text, " // ");
    fer_dim_append_text(&text, denominator, FER_BINDS_ATOM);
    fer_atom *atom = text.has_failed ? NULL : allocate_atom(text.data, text.length);
    fer_text_free(&text);
    if (atom == NULL)
        return fer_fail_memory(error);
    atom->numerator = fer_dim_retain(numerator);
    atom->denominator = fer_dim_retain(denominator);
    atom->hash = mix(mix(2, numerator->hash), denominator->hash);
    atom->weight = numerator->weight + denominator->weight + DIVISION_WEIGHT;
    atom->depth =
        1 + (numerator->depth > denominator->depth ? numerator->depth : denominator->depth);
    *out_atom = atom;
    return FER_OK;
}

static const fer_atom *retain_atom(const fer_atom *atom)
{
    atomic_fetch_add_explicit(&((fer_atom *)atom)->references, 1, memory_order_relaxed);
    return atom;
}

void fer_atom_release(const fer_atom *atom)
{
    fer_atom *owned = (fer_atom *)atom;
    if (owned == NULL ||
        atomic_fetch_sub_explicit(&owned->references, 1, memory_order_acq_rel) != 1)
        return;
    fer_dim_release((fer_dim *)owned->numerator);
    fer_dim_release((fer_dim *)owned->denominator);
    free(owned);
}

/* What a dim will hold, before there is memory for it. */
typedef struct measure {
    size_t num_factors;
    size_t weight;
    size_t depth;
} measure;

static fer_status judge_term(const fer_wide_term *term, measure *measure, fer_error *error)
{
    if (!fer_fits_int64(term->coefficient))
        return fer_fail_wide(error);
    measure->num_factors += term->num_factors;
    measure->weight += TERM_WEIGHT;
    for (size_t i = 0; i < term->num_factors; i++) {
        const fer_atom *atom = term->factors[i];
        measure->weight += atom->weight + FACTOR_WEIGHT;
        if (measure->depth < atom->depth)
            measure->depth = atom->depth;
        if (measure->weight > FER_MAX_WEIGHT)
            return fail_weight(error);
    }
    return FER_OK;
}

static fer_status judge(fer_polynomial polynomial, measure *out_measure, fer_error *error)
{
    *out_measure = (measure){0};
    for (size_t i = 0; i < polynomial.num_terms; i++)
        FER_TRY(judge_term(&polynomial.terms[i], out_measure, error));
    if (out_measure->depth > FER_MAX_DIVISION_DEPTH)
        return fer_fail(error, FER_OVERFLOW_ERROR, "the dim nests more than %d divisions",
                        FER_MAX_DIVISION_DEPTH);
    return FER_OK;
}

/* A static dim hashes like its integer. */
static uint64_t hash_terms(const fer_dim *dim)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < dim->num_terms; i++) {
        const fer_term *term = &dim->terms[i];
        for (size_t j = 0; j < term->num_factors; j++)
            hash = mix(hash, term->factors[j]->hash);
        hash = mix(hash, (uint64_t)term->coefficient);
    }
    return dim->num_terms == 0 ? mix(0, 0) : hash;
}

/* The dim, its terms, their factors and the symbols are one block; the text is another. */
static fer_dim *allocate_dim(const fer_polynomial *polynomial, size_t num_factors,
                             const fer_printed *printed)
{
    size_t bytes = sizeof(fer_dim) + polynomial->num_terms * sizeof(fer_term) +
                   (num_factors + printed->num_symbols) * sizeof(fer_atom *);
    fer_dim *dim = malloc(bytes);
    if (dim == NULL)
        return NULL;
    fer_term *terms = (fer_term *)(dim + 1);
    const fer_atom **atoms = (const fer_atom **)(terms + polynomial->num_terms);
    *dim = (fer_dim){
        .num_terms = polynomial->num_terms,
        .terms = terms,
        .text = printed->text,
        .binding = printed->binding,
        .num_symbols = printed->num_symbols,
        .symbols = atoms + num_factors,
    };
    atomic_init(&dim->references, 1);
    for (size_t i = 0; i < polynomial->num_terms; i++) {
        const fer_wide_term *term = &polynomial->terms[i];
        terms[i] = (fer_term){.coefficient = (int64_t)term->coefficient,
                              .num_factors = term->num_factors,
                              .factors = atoms};
        for (size_t j = 0; j < term->num_factors; j++)
            *atoms++ = retain_atom(term->factors[j]);
    }
    for (size_t i = 0; i < printed->num_symbols; i++)
        dim->symbols[i] = printed->symbols[i];
    return dim;
}

fer_status fer_dim_build(fer_scratch *scratch, fer_polynomial polynomial, fer_dim **out_dim,
                         fer_error *error)
{
    *out_dim = NULL;
    measure measure;
    FER_TRY(judge(polynomial, &measure, error));
    fer_printed printed;
    FER_TRY(fer_polynomial_print(scratch, polynomial, &printed, error));
    fer_dim *dim = allocate_dim(&polynomial, measure.num_factors, &printed);
    if (dim == NULL) {
        free(printed.text);
        return fer_fail_memory(error);
    }
    dim->weight = measure.weight;
    dim->depth = measure.depth;
    dim->hash = hash_terms(dim);
    *out_dim = dim;
    return FER_OK;
}

fer_dim *fer_dim_retain(const fer_dim *dim)
{
    fer_dim *shared = (fer_dim *)dim;
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    return shared;
}

void fer_dim_release(fer_dim *dim)
{
    if (dim == NULL || atomic_fetch_sub_explicit(&dim->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < dim->num_terms; i++)
        for (size_t j = 0; j < dim->terms[i].num_factors; j++)
            fer_atom_release(dim->terms[i].factors[j]);
    free((char *)dim->text);
    free(dim);
}

bool fer_dim_equal(const fer_dim *a, const fer_dim *b)
{
    return a->hash == b->hash && compare_dims(a, b) == 0;
}
