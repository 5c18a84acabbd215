#include "types/size.h"

#include "types/form.h"

/* A division by what may be 0 may have no value. */
static bool is_size_atom(const fer_atom *atom)
{
    return atom->name != NULL ||
           (fer_dim_is_static(atom->denominator) && fer_dim_is_size(atom->denominator) &&
            fer_dim_is_size(atom->numerator));
}

bool fer_dim_is_size(const fer_dim *dim)
{
    for (size_t i = 0; i < dim->num_terms; i++) {
        const fer_term *term = &dim->terms[i];
        if (term->coefficient < 0)
            return false;
        for (size_t j = 0; j < term->num_factors; j++)
            if (!is_size_atom(term->factors[j]))
                return false;
    }
    return true;
}

/* The constant stands last. */
static bool is_above_zero(const fer_dim *dim)
{
    return dim->num_terms > 0 && dim->terms[dim->num_terms - 1].num_factors == 0 &&
           fer_dim_is_size(dim);
}

static bool is_surely_larger(const fer_dim *a, const fer_dim *b)
{
    fer_dim *difference = NULL;
    bool is_larger =
        fer_dim_subtract(a, b, &difference, NULL) == FER_OK && is_above_zero(difference);
    fer_dim_release(difference);
    return is_larger;
}

bool fer_dims_never_agree(const fer_dim *a, const fer_dim *b)
{
    return is_surely_larger(a, b) || is_surely_larger(b, a);
}
