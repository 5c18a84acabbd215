/* Shared by the standard package's kernels: what a dtype is, told from its typedef, so that one
 * body serves them all and the compiler drops the branches that a dtype does not take. */
#ifndef FERRULE_STD_H
#define FERRULE_STD_H

#include <ferrule/kernel.h>

#define IS_BOOL(T) ((T)2 == (T)1)
#define IS_FLOAT(T) ((T)0.5 == 0.5)
#define IS_SIGNED(T) ((T)-1 < (T)1)

/* Integers wrap, as NumPy's do: signed overflow is undefined in C, unsigned is not. */
#define WRAPPING(T, a, operator, b)                                                                \
    (IS_FLOAT(T) ? (T)((a) operator(b)) : (T)((uint64_t)(a) operator(uint64_t)(b)))

#endif
