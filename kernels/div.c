#include "std.h"

SIGNATURE(div, "<T: any_float>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* IEEE division: by zero it gives an infinity, or NaN for 0 / 0. */
MAP(div, T, IN(T, a), IN(T, b))
{
    return a / b;
}
