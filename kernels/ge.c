#include "std.h"

SIGNATURE(ge, "<T>(a: T[*s], b: T[*s]) -> bool[*s]");
DTYPE_VAR(T, f32);

MAP(ge, bool, IN(T, a), IN(T, b))
{
    return a >= b;
}
