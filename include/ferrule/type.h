/* Tensor types: a dtype, dims and a device, as operands and results of calls and graphs have them.
 *
 * A fer_type is immutable and reference-counted; it may be shared between threads.
 */
#ifndef FERRULE_TYPE_H
#define FERRULE_TYPE_H

#include <ferrule/dim.h>
#include <ferrule/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FER_MAX_RANK 8

typedef struct fer_type fer_type;

/* Dims are retained. A NULL among them is an open dim: its extent is known only when a kernel has
 * run, and it prints `?`.
 * TYPE: what is no dtype; a dim with a symbol of a signature or a parameter ("reserved").
 * VALUE: rank above FER_MAX_RANK; a negative static dim; a device that does not exist.
 * OVERFLOW: the static dims' element or byte count leaves int64 (a zero dim makes it zero). */
FER_API FER_MUST_USE fer_status fer_type_create(fer_dtype dtype, size_t rank,
                                                const fer_dim *const *dims, fer_device device,
                                                fer_type **out_type, fer_error *error);

/* Reads `f32[2, w // 2, 3]`, on device 0, or `f32[n] @ 1`, on another one. TYPE: an unknown dtype.
 * VALUE with `column N`: a fault of syntax. And what fer_type_create refuses. */
FER_API FER_MUST_USE fer_status fer_type_parse(const char *text, fer_type **out_type,
                                               fer_error *error);

FER_API fer_type *fer_type_retain(const fer_type *type);
FER_API void fer_type_release(fer_type *type); /* NULL-safe */

FER_API fer_dtype fer_type_dtype(const fer_type *type);
FER_API size_t fer_type_rank(const fer_type *type);
/* Borrowed; NULL for an open dim. `axis` is below the rank. */
FER_API const fer_dim *fer_type_dim(const fer_type *type, size_t axis);
FER_API fer_device fer_type_device(const fer_type *type);

/* `f32[n, w // 2, c]`, and ` @ 1` behind it for another device than the first; lives as long as the
 * type. */
FER_API const char *fer_type_text(const fer_type *type);

/* The same dtype, dims and device. An open dim equals nothing. */
FER_API bool fer_type_equal(const fer_type *a, const fer_type *b);

#ifdef __cplusplus
}
#endif
#endif
