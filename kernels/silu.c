#include "std.h"
#include "vector_math.h"

SIGNATURE(silu, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* x * sigmoid(x). At -infinity the limit, 0, since the formula has none there. */
MAP(silu, T, IN(T, x))
{
    const COMPUTE(T) y = x / (1 + MATH(T, exp, -x));
    return x == (COMPUTE(T)) - INFINITY ? (COMPUTE(T))0 : y;
}
