#include "std.h"

SIGNATURE(eq, "<T>(a: T[*s], b: T[*s]) -> bool[*s]");
DTYPE_VAR(T, f32);

MAP(eq, bool, IN(T, a), IN(T, b))
{
    return a == b;
}
