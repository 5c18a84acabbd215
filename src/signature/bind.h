/* Binding a signature's names to operand types: the first half of the checker. */
#ifndef FERRULE_SIGNATURE_BIND_H
#define FERRULE_SIGNATURE_BIND_H

#include "signature/signature.h"

/* Where a name was bound first, to say so when a later operand disagrees. */
typedef struct fer_origin {
    size_t operand;
    size_t axis;
} fer_origin;

typedef struct fer_run_binding {
    const char *name;
    size_t operand;
    size_t first_axis;
    size_t num_dims;
} fer_run_binding;

/* What is bound so far. Dims are borrowed from the operands and from the signature. */
typedef struct fer_binder {
    const fer_signature *signature;
    const fer_signature_spec *spec; /* folded */
    const fer_type *const *operands;
    fer_error *error;
    fer_dtype *dtypes;                                           /* of each dtype variable */
    size_t dtype_operands[FER_MAX_GENERICS];                     /* which operand bound it */
    fer_substitution values[FER_MAX_SYMBOLS + FER_MAX_GENERICS]; /* the constants, then symbols */
    fer_origin origins[FER_MAX_SYMBOLS + FER_MAX_GENERICS];
    size_t num_values;
    fer_run_binding runs[FER_MAX_OPERANDS];
    size_t num_runs;
} fer_binder;

/* Checks the number of operands, then binds ranks and dtypes, then dims, then devices. The binder's
 * first five members are set, its values are the signature's constants. */
fer_status fer_bind_operands(fer_binder *binder, size_t num_operands);
/* NULL: no operand has that run. */
const fer_run_binding *fer_binder_find_run(const fer_binder *binder, const char *name);

#endif
