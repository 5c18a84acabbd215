#include "std.h"
#include "vector_math.h"

SIGNATURE(gelu, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* x times the normal distribution's Phi(x) = erfc(-x / sqrt(2)) / 2: by erfc, since 1 + erf(x)
 * loses its digits where x is negative. At -infinity the limit, 0. */
MAP(gelu, T, IN(T, x))
{
    const COMPUTE(T) root_half = (COMPUTE(T))0.70710678118654752440;
    const COMPUTE(T) half = (COMPUTE(T))0.5;
    const COMPUTE(T) y = half * x * MATH(T, erfc, -x * root_half);
    return x == (COMPUTE(T)) - INFINITY ? (COMPUTE(T))0 : y;
}
