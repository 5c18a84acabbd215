#include "std.h"

SIGNATURE(where, "<T>(condition: bool[*s], a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(where, T, IN(bool, condition), IN(T, a), IN(T, b))
{
    return condition ? a : b;
}
