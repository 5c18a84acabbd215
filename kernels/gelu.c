#include "elementary.h"

SIGNATURE(gelu, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* x Phi(x), the exact form. At -infinity the limit, 0. */
MAP(gelu, T, IN(T, x))
{
    const COMPUTE(T) y = x * NORMAL(x);
    return x == (COMPUTE(T)) - INFINITY ? (COMPUTE(T))0 : y;
}
