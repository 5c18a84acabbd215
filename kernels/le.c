#include "std.h"

SIGNATURE(le, "<T>(a: T[*s], b: T[*s]) -> bool[*s]");
DTYPE_VAR(T, f32);

MAP(le, bool, IN(T, a), IN(T, b))
{
    return a <= b;
}
