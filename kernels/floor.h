/* Division rounded down and what it leaves, as Python and NumPy have them. */
#ifndef FERRULE_STD_FLOOR_H
#define FERRULE_STD_FLOOR_H

#include "std.h"
#include <math.h>

/* For a kernel with the operands `a` and `b`: integers by zero have no quotient. */
#define CHECK_DIVISOR(T, i, divisor)                                                               \
    CHECK(IS_FLOAT(T) || (divisor) != 0, "division by zero: element %lld of b is 0", (long long)(i))

/* Defines `name`, which gives ⌊a / b⌋, and `rest_name`, which gives a - b ⌊a / b⌋ with the sign of
 * b. The smallest integer by -1 wraps to itself, as negation does; the processor would trap.
 * Of floats fmod is exact; the quotient of what it leaves is a whole number but for its rounding.
 */
#define DEFINE_FLOOR(name, rest_name, type)                                                        \
    FER_INLINE COMPUTE(type) rest_name(COMPUTE(type) a, COMPUTE(type) b)                           \
    {                                                                                              \
        if (!IS_FLOAT(type) && IS_SIGNED(type) && b == (COMPUTE(type)) - 1)                        \
            return 0;                                                                              \
        const COMPUTE(type) rest =                                                                 \
            IS_FLOAT(type) ? MATH_2(type, fmod, a, b) : (COMPUTE(type))(a - a / b * b);            \
        if (rest != 0)                                                                             \
            return (rest < 0) != (b < 0) ? (COMPUTE(type))(rest + b) : rest;                       \
        return IS_FLOAT(type) ? MATH_2(type, copysign, 0, b) : rest;                               \
    }                                                                                              \
    FER_INLINE COMPUTE(type) name##_of_floats(COMPUTE(type) a, COMPUTE(type) b)                    \
    {                                                                                              \
        const COMPUTE(type) rest = MATH_2(type, fmod, a, b);                                       \
        COMPUTE(type) quotient = (a - rest) / b;                                                   \
        if (rest != 0 && (rest < 0) != (b < 0))                                                    \
            quotient -= 1;                                                                         \
        if (b == 0 || quotient == 0)                                                               \
            return b == 0 ? a / b : MATH_2(type, copysign, 0, a / b);                              \
        const COMPUTE(type) below = MATH(type, floor, quotient);                                   \
        return quotient - below > (COMPUTE(type))0.5 ? below + 1 : below;                          \
    }                                                                                              \
    FER_INLINE COMPUTE(type) name(COMPUTE(type) a, COMPUTE(type) b)                                \
    {                                                                                              \
        if (IS_FLOAT(type))                                                                        \
            return name##_of_floats(a, b);                                                         \
        if (IS_SIGNED(type) && b == (COMPUTE(type)) - 1)                                           \
            return (COMPUTE(type))(0 - (uint64_t)a);                                               \
        const COMPUTE(type) quotient = a / b;                                                      \
        return quotient - (quotient * b != a && (a < 0) != (b < 0));                               \
    }

#endif
