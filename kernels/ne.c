#include "std.h"

SIGNATURE(ne, "<T>(a: T[*s], b: T[*s]) -> bool[*s]");
DTYPE_VAR(T, f32);

MAP(ne, bool, IN(T, a), IN(T, b))
{
    return a != b;
}
