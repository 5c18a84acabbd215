/* A signature's insides, shared by the files of this folder.
 *
 * A signature is made in these steps: fer_spec_check judges what needs no folding, the spec is
 * copied (`declared`), parameters' values go into the dims (`folded`), fer_signature_check judges
 * the folded dims, and the texts are written.
 */
#ifndef FERRULE_SIGNATURE_SIGNATURE_H
#define FERRULE_SIGNATURE_SIGNATURE_H

#include "base/text.h"
#include "signature/pool.h"
#include "signature/unify.h"
#include <ferrule/signature.h>
#include <stdatomic.h>

#define FER_MAX_GENERICS 64
#define FER_MAX_CONDITIONS 64
/* Each operand axis can bind a symbol of its own. */
#define FER_MAX_SYMBOLS (FER_MAX_OPERANDS * FER_MAX_RANK)

struct fer_signature {
    atomic_size_t references;
    fer_pool pool; /* owns all that the members below point to */
    fer_signature_spec declared;
    fer_signature_spec folded;
    const char **pinned;         /* [num_operands * FER_MAX_AXES]: a parameter's name, or NULL */
    fer_substitution *constants; /* the int parameters that have values */
    size_t num_constants;
    const char **open_symbols; /* data-dependent, in the order of the results */
    size_t num_open;
    const char *text;
    const char *identity; /* equal exactly for equal signatures */
};

/* Look-ups by name; NULL where the spec has no such thing. */
const fer_param *fer_spec_find_param(const fer_signature_spec *spec, const char *name);
const fer_dtype_var *fer_spec_find_dtype_var(const fer_signature_spec *spec, const char *name);
/* The operand with this run in it. */
const fer_operand *fer_spec_find_run(const fer_signature_spec *spec, const char *run);
/* Whether an operand's dim is this symbol alone, so that a call binds it. */
bool fer_spec_binds_symbol(const fer_signature_spec *spec, const char *name);

/* What can be judged before folding: names and their roles, numbers of things, kinds of parameters.
 * Does not rely on anything in the spec but on valid pointers. */
fer_status fer_spec_check(const fer_signature_spec *spec, fer_error *error);
/* What folding decides: dims that cannot bind, data-dependent symbols, conditions that are false.
 */
fer_status fer_signature_check(const fer_signature *signature, fer_error *error);
/* Writes `text` and `identity`. */
fer_status fer_signature_describe(fer_signature *signature, fer_error *error);

/* Puts given values in the place of a spec's own, in `params`, which holds those. VALUE: a name
 * that the spec does not know, or one given twice. TYPE: a value of another kind, or none. */
fer_status fer_params_merge(const fer_signature_spec *spec, const fer_param *given,
                            size_t num_given, fer_param *params, fer_error *error);

/* A dim's place in a spec, for messages: `operand 'x' axis 1 ('n // 2')`, `result 0 axis 1 (...)`,
 * `condition 'n % 8 == 0'`. */
typedef struct fer_dim_place {
    const fer_signature_spec *spec;
    const fer_operand *item; /* an operand or a result, or NULL: a condition */
    size_t axis;             /* of the template */
    const size_t *type_axis; /* of a type at hand, where runs stand for their dims; or NULL */
    const fer_condition *condition;
    const char *expected; /* as in fer_error */
    const char *actual;
} fer_dim_place;

/* `op: place REST`. The dim is quoted as the spec in the place has it. */
__attribute__((format(printf, 4, 5))) fer_status fer_fail_dim(const fer_dim_place *place,
                                                              fer_status kind, fer_error *error,
                                                              const char *format, ...);
/* Puts the place before the message of an error that arithmetic on that dim found, the values of
 * the dim's names between: `op: result 0 axis 0 ('n // m') with m = 0: ...`. */
fer_status fer_fail_arithmetic(const fer_dim_place *place, const fer_substitution *values,
                               size_t num_values, fer_status kind, fer_error *error);
/* VALUE for a dim that is `value` with these values of its names:
 * `op: result 0 axis 0 ('n - m') is -2 with n = 3, m = 5; a dim is not negative`. */
fer_status fer_fail_negative(const fer_dim_place *place, int64_t value,
                             const fer_substitution *values, size_t num_values, fer_error *error);
/* VALUE for a condition that does not hold: `op: condition 'n % 8 == 0' is false with n = 25`. */
fer_status fer_fail_condition(const fer_dim_place *place, const char *is_false,
                              const fer_substitution *values, size_t num_values, fer_error *error);
/* Puts `op: ` before an error's message and names the op in it. */
fer_status fer_fail_in_op(const char *op, fer_status kind, fer_error *error);

typedef enum fer_decision { FER_UNDECIDED = 0, FER_HOLDS, FER_IS_FALSE } fer_decision;

/* Whether `left OP right` holds for every value of what is symbolic in them, for none, or that this
 * cannot be told. */
fer_status fer_comparison_decide(fer_comparison comparison, const fer_dim *left,
                                 const fer_dim *right, fer_decision *out_decision,
                                 fer_error *error);
bool fer_comparison_holds(fer_comparison comparison, int64_t left, int64_t right);

/* `==` and so on; NULL for what is no comparison. */
const char *fer_comparison_text(fer_comparison comparison);
/* As written, or the canonical text. */
void fer_condition_append(fer_text *text, const fer_condition *condition);
/* `any_float`, or `bf16|f32`. */
/* A declared type as it is written: `T[*s, n]`. */
void fer_template_append(fer_text *text, const fer_template *type);
void fer_constraint_append(fer_text *text, uint32_t allowed);
/* The dtypes of a class by its name; 0 for what is no class. */
uint32_t fer_constraint_class(const char *name, size_t length);

#endif
