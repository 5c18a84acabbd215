#include "std.h"
#include "vector_math.h"

SIGNATURE(pow, "<T: any_float>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(pow, T, IN(T, a), IN(T, b))
{
    return MATH_2(T, pow, a, b);
}
