#include "std.h"
#include <math.h>

SIGNATURE(pow, "<T: any_float>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* libm's. Its rules for special values cost a vector form more than it saves. */
MAP(pow, T, IN(T, a), IN(T, b))
{
    return MATH_2(T, pow, a, b);
}
