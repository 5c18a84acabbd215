/* Signatures: the typed, shape-symbolic declaration of an op, apart from any kernel.
 *
 * A fer_signature is immutable and reference-counted; it may be shared between threads. The text
 * and the structs below make the same signature, and a signature's text parses back to an equal
 * one. docs/signatures.md is the language.
 */
#ifndef FERRULE_SIGNATURE_H
#define FERRULE_SIGNATURE_H

#include <ferrule/type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FER_MAX_OPERANDS 16 /* operands and results together */

typedef struct fer_signature fer_signature;

typedef enum fer_param_kind {
    FER_PARAM_INT = 0,
    FER_PARAM_FLOAT,
    FER_PARAM_BOOL,
    FER_PARAM_STR,
    FER_PARAM_DTYPE
} fer_param_kind;

/* A string of any bytes; `data` need not be terminated. */
typedef struct fer_string {
    const char *data;
    size_t num_bytes;
} fer_string;

/* A compile-time parameter: a name, a kind, and perhaps a value. Strings are borrowed for the call
 * that takes the parameter; in what an accessor returns they live as long as the object. */
typedef struct fer_param {
    const char *name;
    fer_param_kind kind;
    bool has_value;
    union {
        int64_t as_int;
        double as_float;
        bool as_bool;
        fer_string as_str;
        fer_dtype as_dtype;
    } value;
} fer_param;

/* A dtype variable and the set of dtypes it may be (FER_DTYPE_BIT); 0 is any dtype. */
typedef struct fer_dtype_var {
    const char *name;
    uint32_t allowed;
} fer_dtype_var;

/* One axis of a template: a dim, or with `run` the name of a run of dims (`*s`). */
typedef struct fer_axis {
    const fer_dim *dim;
    const char *run;
} fer_axis;

/* A type in a signature: a dtype, or with `dtype_var` the name of a dtype variable or of a dtype
 * parameter; and axes whose dims hold symbols of the signature and parameters. */
typedef struct fer_template {
    fer_dtype dtype;
    const char *dtype_var;
    const fer_axis *axes;
    size_t num_axes;
} fer_template;

/* An operand, or a result. A result's name may be NULL; `is_inout` is for operands. */
typedef struct fer_operand {
    const char *name;
    fer_template type;
    bool is_inout;
} fer_operand;

typedef enum fer_comparison { FER_EQ = 0, FER_NE, FER_LT, FER_LE, FER_GT, FER_GE } fer_comparison;

/* A `where` condition. `text` is how messages quote it; NULL: the canonical text is used. With both
 * dims NULL the text alone says it, as in a declaration's text: `n % 8 == 0`. */
typedef struct fer_condition {
    const fer_dim *left;
    fer_comparison comparison;
    const fer_dim *right;
    const char *text;
} fer_condition;

typedef struct fer_signature_spec {
    const char *name;
    const fer_dtype_var *dtype_vars;
    size_t num_dtype_vars;
    const fer_param *params;
    size_t num_params;
    const fer_operand *operands;
    size_t num_operands;
    const fer_operand *results;
    size_t num_results;
    const fer_condition *conditions;
    size_t num_conditions;
    bool has_effect;
} fer_signature_spec;

/* Makes a signature of its text: `dot<T>(a: T[n], b: T[n]) -> T[]`. VALUE with `column N` (`line L,
 * column N` where the text has several lines) for a fault of syntax, TYPE for an unknown dtype, and
 * what fer_signature_create refuses. */
FER_API FER_MUST_USE fer_status fer_signature_parse(const char *text, fer_signature **out_signature,
                                                    fer_error *error);

/* Makes a signature of structs, which are copied. Folds the parameters that have values into the
 * dims, then checks. docs/errors.md lists every refusal with its cause. */
FER_API FER_MUST_USE fer_status fer_signature_create(const fer_signature_spec *spec,
                                                     fer_signature **out_signature,
                                                     fer_error *error);

/* The same declaration with these parameters' values in place of its own: declared dims fold anew.
 * VALUE: a name that nothing in the declaration knows. TYPE: a value of another kind. And what
 * fer_signature_create refuses. */
FER_API FER_MUST_USE fer_status fer_signature_specialise(const fer_signature *signature,
                                                         const fer_param *params, size_t num_params,
                                                         fer_signature **out_signature,
                                                         fer_error *error);

FER_API fer_signature *fer_signature_retain(const fer_signature *signature);
FER_API void fer_signature_release(fer_signature *signature); /* NULL-safe */

/* The declaration as declared, with the current parameter values as defaults. Lives as long as the
 * signature. */
FER_API const char *fer_signature_text(const fer_signature *signature);

/* Equal name, operands (names, order, inout), results with names, dtype variables with constraints,
 * parameters with kinds, conditions, effect: all after folding. */
FER_API bool fer_signature_equal(const fer_signature *a, const fer_signature *b);

/* No parameter is without a value. */
FER_API bool fer_signature_is_complete(const fer_signature *signature);

/* The whole signature as structs, borrowed. `folded` has parameters' values in the dims, `declared`
 * has their names. Parameters that only a result dim names are among `params` too. */
FER_API const fer_signature_spec *fer_signature_folded(const fer_signature *signature);
FER_API const fer_signature_spec *fer_signature_declared(const fer_signature *signature);

/* The parameter that alone was this input dim before it folded, or NULL. For an operand with a run
 * before the axis, `axis` is the index among the template's axes. */
FER_API const char *fer_signature_pinned_param(const fer_signature *signature, size_t operand,
                                               size_t axis);

/* The result types for these operand types: binds dtypes, then dims, then substitutes. `out_types`
 * has room for `num_results` references, which the caller releases; data-dependent dims come open.
 * docs/errors.md lists every refusal with its cause. */
FER_API FER_MUST_USE fer_status fer_signature_infer(const fer_signature *signature,
                                                    const fer_type *const *operands,
                                                    size_t num_operands, fer_type **out_types,
                                                    size_t num_results, fer_error *error);

#ifdef __cplusplus
}
#endif
#endif
