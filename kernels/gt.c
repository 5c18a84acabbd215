#include "std.h"

SIGNATURE(gt, "<T>(a: T[*s], b: T[*s]) -> bool[*s]");
DTYPE_VAR(T, f32);

MAP(gt, bool, IN(T, a), IN(T, b))
{
    return a > b;
}
