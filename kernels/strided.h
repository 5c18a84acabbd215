/* Copying elements that lie in strides: what broadcast and slice share. */
#ifndef FERRULE_STD_STRIDED_H
#define FERRULE_STD_STRIDED_H

#include "std.h"

/* Defines a function that fills the compact `to` of `count` elements with those of `from`, which
 * moves by steps[i] elements along axis i of the shape. */
#define DEFINE_COPY_STRIDED(name, type)                                                            \
    static void name(type *restrict to, index_t count, int rank, const index_t *shape,             \
                     const type *restrict from, const index_t *steps)                              \
    {                                                                                              \
        index_t at[FER_ABI_MAX_RANK] = {0};                                                        \
        for (index_t i = 0; i < count; i++) {                                                      \
            to[i] = *from;                                                                         \
            for (int axis = rank - 1; axis >= 0; axis--) {                                         \
                from += steps[axis];                                                               \
                if (++at[axis] < shape[axis])                                                      \
                    break;                                                                         \
                from -= at[axis] * steps[axis];                                                    \
                at[axis] = 0;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }

/* The step of the axis before one of this length and step; nothing overflows where nothing is. */
#define OUTER_STEP(x, step, length) (SIZE(x) == 0 ? 0 : (step) * (length))

#endif
