/* The one checker: binds a signature to operand types. Eager calls explain themselves with it and
 * staging is it. */
#ifndef FERRULE_SIGNATURE_UNIFY_H
#define FERRULE_SIGNATURE_UNIFY_H

#include "base/error.h"
#include <ferrule/signature.h>

#define FER_MAX_AXES 16 /* of one template: at most FER_MAX_RANK dims, the others are runs */

/* What the operand types bind. Owned by the caller, who calls fer_unification_clear. */
typedef struct fer_unification {
    fer_dtype *dtypes;  /* of each dtype variable, in the folded spec's order */
    fer_type **results; /* [num_results]; data-dependent dims are open */
    size_t num_results;
} fer_unification;

/* Every refusal is about `signature`'s op; types may be static, symbolic or both. Conditions and
 * negative result dims that the types cannot decide pass; they are decided by sizes later. */
fer_status fer_unify(const fer_signature *signature, const fer_type *const *operands,
                     size_t num_operands, fer_unification *out_unification, fer_error *error);
void fer_unification_clear(fer_unification *unification);

/* VALUE naming the parameters without value and both remedies; FER_OK when there are none. */
fer_status fer_signature_require_complete(const fer_signature *signature, fer_error *error);

/* Whether a result axis is data-dependent, and under which symbol (NULL: it is not). `axis` counts
 * the template's axes. */
const char *fer_signature_open_symbol(const fer_signature *signature, size_t result, size_t axis);
/* The distinct data-dependent symbols, in the order of the results. */
size_t fer_signature_num_open(const fer_signature *signature);
const char *fer_signature_open_at(const fer_signature *signature, size_t index);

/* The symbol of an operand that is probably meant by one that none has; NULL: none is near. */
const char *fer_spec_near_symbol(const fer_signature_spec *spec, const char *name);

/* Writes what the op's token digests of a signature: every field that equality compares, each in an
 * unambiguous form. The caller frees it. */
fer_status fer_signature_identity(const fer_signature *signature, char **out_text,
                                  fer_error *error);

#endif
