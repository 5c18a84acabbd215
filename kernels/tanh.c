#include "std.h"
#include "vector_math.h"

SIGNATURE(tanh, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(tanh, T, IN(T, x))
{
    return MATH(T, tanh, x);
}
