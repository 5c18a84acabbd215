#include "std.h"
#include <math.h>

SIGNATURE(sqrt, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(sqrt, T, IN(T, x))
{
    return MATH(T, sqrt, x);
}
