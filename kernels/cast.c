#include "std.h"

SIGNATURE(cast, "<T, to: dtype = f32>(x: T[*s]) -> to[*s]");
DTYPE_VAR(T, f32);
DTYPE_VAR(to, f32);

/* Out of range goes to the nearest integer that `to` has, NaN to 0, a fraction towards 0. Both
 * bounds are powers of two, which a double holds exactly. */
static COMPUTE(to) saturate(double x)
{
    enum { BITS = 8 * (int)sizeof(to) };
    const uint64_t ones = ~(uint64_t)0 >> (64 - BITS);
    const uint64_t largest = IS_SIGNED(to) ? ones >> 1 : ones;
    const double bound = 2.0 * (double)(largest / 2 + 1); /* largest + 1 */
    if (x != x)
        return (COMPUTE(to))0;
    if (x >= bound)
        return (COMPUTE(to))largest;
    if (x <= (IS_SIGNED(to) ? -bound : 0.0))
        return IS_SIGNED(to) ? (COMPUTE(to))(largest + 1) : (COMPUTE(to))0;
    return (COMPUTE(to))x;
}

/* An integer that a double cannot hold, as the odd one of the two multiples of 2^11 round it: a
 * double can hold that, and it rounds to a small float as the integer would. */
static COMPUTE(T) round_to_odd(COMPUTE(T) x)
{
    const int64_t low_bits = 0x7ff;
    const int64_t bits = (int64_t)x;
    const bool is_wide = IS_SIGNED(T) ? (uint64_t)bits + ((uint64_t)1 << 53) >= (uint64_t)1 << 54
                                      : (uint64_t)bits >= (uint64_t)1 << 53;
    const int64_t odd = (bits & ~low_bits) | ((bits & low_bits) != 0 ? low_bits + 1 : 0);
    return (COMPUTE(T))(is_wide ? odd : bits);
}

/* Between integers the low bits stay; to bool, what is not 0 is true. To a float it is rounded
 * once. */
MAP(cast, to, IN(T, x))
{
    if (IS_FLOAT(T) && !IS_FLOAT(to) && !IS_BOOL(to))
        return saturate((double)x);
    if (!IS_FLOAT(T) && sizeof(T) == 8 && IS_SMALL_FLOAT(to))
        return round_to_odd(x);
    return x;
}
