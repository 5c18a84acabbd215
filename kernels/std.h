/* Shared by the standard package's kernels: what a dtype is, told from its typedef, so that one
 * body serves them all and the compiler drops the branches that a dtype does not take. */
#ifndef FERRULE_STD_H
#define FERRULE_STD_H

#include <ferrule/kernel.h>

#define IS_BOOL(T) ((COMPUTE(T))2 == (COMPUTE(T))1)
#define IS_FLOAT(T) ((COMPUTE(T))0.5 == 0.5)
#define IS_SIGNED(T) ((COMPUTE(T)) - 1 < (COMPUTE(T))1)
#define IS_SMALL_FLOAT(T) (sizeof(T) < sizeof(COMPUTE(T)))
#define IS_SINGLE(T) (sizeof(COMPUTE(T)) == sizeof(float))

/* Integers wrap, as NumPy's do: signed overflow is undefined in C, unsigned is not. */
#define WRAPPING(T, a, operator, b)                                                                \
    (IS_FLOAT(T) ? (COMPUTE(T))((a) operator(b))                                                   \
                 : (COMPUTE(T))((uint64_t)(a) operator(uint64_t)(b)))

/* A function of libm for the precision that T computes in: MATH(T, exp, x), MATH_2(T, pow, a, b).
 */
#define MATH(T, function, x)                                                                       \
    (IS_SINGLE(T) ? (COMPUTE(T))function##f((float)(x)) : (COMPUTE(T))function((double)(x)))
#define MATH_2(T, function, a, b)                                                                  \
    (IS_SINGLE(T) ? (COMPUTE(T))function##f((float)(a), (float)(b))                                \
                  : (COMPUTE(T))function((double)(a), (double)(b)))

/* Rows are the last axis of a tensor of rank ANY. */
#define ROW_LENGTH(x) DIM(x, RANK(x) - 1)
#define NUM_ROWS(x) (SIZE(x) == 0 ? 0 : SIZE(x) / ROW_LENGTH(x))

#endif
