#include "std.h"
#include "vector_math.h"

SIGNATURE(sigmoid, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* Where exp(-x) overflows, the division by infinity gives the limit, 0. */
MAP(sigmoid, T, IN(T, x))
{
    return 1 / (1 + MATH(T, exp, -x));
}
