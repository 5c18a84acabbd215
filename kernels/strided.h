/* Elements that lie in strides: what broadcast, permute, slice and store_slice share. */
#ifndef FERRULE_STD_STRIDED_H
#define FERRULE_STD_STRIDED_H

#include "std.h"

/* Defines a function that does what `assignment` says for `count` elements: compact[i], and
 * *strided, which moves by steps[i] elements along axis i of the shape. */
#define DEFINE_STRIDED(name, compact_type, strided_type, assignment)                               \
    static void name(compact_type *restrict compact, index_t count, int rank,                      \
                     const index_t *shape, strided_type *restrict strided, const index_t *steps)   \
    {                                                                                              \
        index_t at[FER_ABI_MAX_RANK] = {0};                                                        \
        for (index_t i = 0; i < count; i++) {                                                      \
            assignment;                                                                            \
            for (int axis = rank - 1; axis >= 0; axis--) {                                         \
                strided += steps[axis];                                                            \
                if (++at[axis] < shape[axis])                                                      \
                    break;                                                                         \
                strided -= at[axis] * steps[axis];                                                 \
                at[axis] = 0;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }

/* The step of the axis before one of this length and step; nothing overflows where nothing is. */
#define OUTER_STEP(x, step, length) (SIZE(x) == 0 ? 0 : (step) * (length))

/* In a kernel: which elements of x the `part` is, what messages call `part_name`. The first axes of
 * x are taken apart, as many as there are starts. Of an axis without elements in the part nothing
 * is asked. Defines the part's `shape`, the `steps` to it in x, and the `offset` of its first one.
 */
#define TAKE_SLICE(x, part, part_name, start, step)                                                \
    CHECK(RANK(part) == RANK(x), "x has rank %d, but " part_name " has rank %d", RANK(x),          \
          RANK(part));                                                                             \
    CHECK(DIM(start, 0) == DIM(step, 0) && DIM(start, 0) <= RANK(x),                               \
          "there are %lld starts and %lld steps for the %d axes of x", (long long)DIM(start, 0),   \
          (long long)DIM(step, 0), RANK(x));                                                       \
    index_t shape[FER_ABI_MAX_RANK], steps[FER_ABI_MAX_RANK];                                      \
    index_t offset = 0, stride = 1;                                                                \
    for (int axis = RANK(x) - 1; axis >= 0; axis--) {                                              \
        const bool is_sliced = axis < DIM(start, 0);                                               \
        const long long length = DIM(x, axis);                                                     \
        const long long given = is_sliced ? AT(start, axis) : 0;                                   \
        const long long first = given < 0 ? given + length : given;                                \
        const long long by = is_sliced ? AT(step, axis) : 1;                                       \
        const long long last = DIM(part, axis) - 1;                                                \
        shape[axis] = DIM(part, axis);                                                             \
        CHECK(last < 0 || (first >= 0 && first < length),                                          \
              "axis %d of x is %lld, which %lld lies outside", axis, length, given);               \
        CHECK(last <= 0 || (by > 0 ? by <= (length - 1 - first) / last : by >= -(first / last)),   \
              "axis %d of x is %lld, which has no %lld elements from %lld on by %lld", axis,       \
              length, last + 1, given, by);                                                        \
        steps[axis] = last > 0 ? by * stride : 0;                                                  \
        offset += last < 0 ? 0 : first * stride;                                                   \
        stride = OUTER_STEP(x, stride, length);                                                    \
    }                                                                                              \
    offset = SIZE(part) == 0 ? 0 : offset

#endif
