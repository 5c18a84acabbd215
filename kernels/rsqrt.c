#include "std.h"
#include <math.h>

SIGNATURE(rsqrt, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* A division by a square root, each rounded: never the processor's estimate. */
MAP(rsqrt, T, IN(T, x))
{
    return 1 / MATH(T, sqrt, x);
}
