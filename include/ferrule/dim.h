/* Dims: exact integer expressions over symbols, always in canonical form.
 *
 * A fer_dim is immutable and reference-counted; it may be shared between threads. Two dims are
 * equal exactly when their canonical forms are. Constructors return a reference that the caller
 * releases.
 *
 * Names live in three namespaces that never meet: a caller's dims (types of tensors and graphs), a
 * signature's symbols, and a signature's parameters. `w` in one is not `w` in another.
 *
 * Errors of all arithmetic: ZERO_DIVISION when a divisor is zero; OVERFLOW when a constant or a
 * coefficient of the canonical form leaves int64, or the form is too large (more than 256 terms,
 * more than 100 divisions inside each other, or more than about 16384 characters when it is written
 * out without `%`, so that no short text stands for endless work); MEMORY.
 */
#ifndef FERRULE_DIM_H
#define FERRULE_DIM_H

#include <ferrule/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fer_dim fer_dim;

typedef enum fer_namespace {
    FER_NAMESPACE_CALLER = 0,
    FER_NAMESPACE_SIGNATURE,
    FER_NAMESPACE_PARAMETER
} fer_namespace;

FER_API FER_MUST_USE fer_status fer_dim_constant(int64_t value, fer_dim **out_dim,
                                                 fer_error *error);

/* A symbol. VALUE when `name` is not [A-Za-z_][A-Za-z0-9_]*. */
FER_API FER_MUST_USE fer_status fer_dim_symbol(fer_namespace space, const char *name,
                                               fer_dim **out_dim, fer_error *error);

FER_API FER_MUST_USE fer_status fer_dim_add(const fer_dim *a, const fer_dim *b, fer_dim **out_dim,
                                            fer_error *error);
FER_API FER_MUST_USE fer_status fer_dim_subtract(const fer_dim *a, const fer_dim *b,
                                                 fer_dim **out_dim, fer_error *error);
FER_API FER_MUST_USE fer_status fer_dim_multiply(const fer_dim *a, const fer_dim *b,
                                                 fer_dim **out_dim, fer_error *error);
/* Floors, for every combination of signs. */
FER_API FER_MUST_USE fer_status fer_dim_floor_divide(const fer_dim *a, const fer_dim *b,
                                                     fer_dim **out_dim, fer_error *error);
/* a - b * (a // b). */
FER_API FER_MUST_USE fer_status fer_dim_modulo(const fer_dim *a, const fer_dim *b,
                                               fer_dim **out_dim, fer_error *error);
FER_API FER_MUST_USE fer_status fer_dim_negate(const fer_dim *a, fer_dim **out_dim,
                                               fer_error *error);

/* Parses Python arithmetic (integers, names, + - * // %, parentheses); names are a caller's.
 * VALUE with `column N` for a fault of syntax. */
FER_API FER_MUST_USE fer_status fer_dim_parse(const char *text, fer_dim **out_dim,
                                              fer_error *error);

FER_API fer_dim *fer_dim_retain(const fer_dim *dim);
FER_API void fer_dim_release(fer_dim *dim); /* NULL-safe */

/* The canonical text, which parses back to an equal dim. Lives as long as the dim. */
FER_API const char *fer_dim_text(const fer_dim *dim);

FER_API bool fer_dim_equal(const fer_dim *a, const fer_dim *b);
FER_API uint64_t fer_dim_hash(const fer_dim *dim);

FER_API bool fer_dim_is_static(const fer_dim *dim);
/* The integer of a static dim; TYPE for any other. */
FER_API FER_MUST_USE fer_status fer_dim_value(const fer_dim *dim, int64_t *out_value,
                                              fer_error *error);
/* The name of a dim that is one bare symbol, else NULL; its namespace goes to `out_space` (may be
 * NULL). */
FER_API const char *fer_dim_symbol_name(const fer_dim *dim, fer_namespace *out_space);

/* The distinct symbols of a dim, in the order of first appearance in its text. */
FER_API size_t fer_dim_num_symbols(const fer_dim *dim);
FER_API const char *fer_dim_symbol_at(const fer_dim *dim, size_t index, fer_namespace *out_space);

/* One symbol's replacement. `dim` is borrowed for the call. */
typedef struct fer_substitution {
    fer_namespace space;
    const char *name;
    const fer_dim *dim;
} fer_substitution;

/* Replaces symbols and folds again; symbols that are not named stay. */
FER_API FER_MUST_USE fer_status fer_dim_substitute(const fer_dim *dim,
                                                   const fer_substitution *substitutions,
                                                   size_t num_substitutions, fer_dim **out_dim,
                                                   fer_error *error);

/* One symbol's value, for evaluation. */
typedef struct fer_assignment {
    fer_namespace space;
    const char *name;
    int64_t value;
} fer_assignment;

/* The value at a point: exact between the steps (128 bits), judged at the end. OVERFLOW outside
 * int64, ZERO_DIVISION, TYPE when a symbol has no value. */
FER_API FER_MUST_USE fer_status fer_dim_evaluate(const fer_dim *dim,
                                                 const fer_assignment *assignments,
                                                 size_t num_assignments, int64_t *out_value,
                                                 fer_error *error);

#ifdef __cplusplus
}
#endif
#endif
