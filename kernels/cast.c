#include "std.h"

SIGNATURE(cast, "<T, to: dtype = f32>(x: T[*s]) -> to[*s]");
DTYPE_VAR(T, f32);
DTYPE_VAR(to, f32);

/* Out of range goes to the nearest integer that `to` has, NaN to 0, a fraction towards 0. Both
 * bounds are powers of two, which a double holds exactly. */
static to saturate(double x)
{
    enum { BITS = 8 * (int)sizeof(to) };
    const uint64_t ones = ~(uint64_t)0 >> (64 - BITS);
    const uint64_t largest = IS_SIGNED(to) ? ones >> 1 : ones;
    const double bound = 2.0 * (double)(largest / 2 + 1); /* largest + 1 */
    if (x != x)
        return (to)0;
    if (x >= bound)
        return (to)largest;
    if (x <= (IS_SIGNED(to) ? -bound : 0.0))
        return IS_SIGNED(to) ? (to)(largest + 1) : (to)0;
    return (to)x;
}

/* Between integers the low bits stay; to bool, what is not 0 is true. */
MAP(cast, to, IN(T, x))
{
    if (IS_FLOAT(T) && !IS_FLOAT(to) && !IS_BOOL(to))
        return saturate((double)x);
    return (to)x;
}
