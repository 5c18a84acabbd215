#include "std.h"

SIGNATURE(lt, "<T>(a: T[*s], b: T[*s]) -> bool[*s]");
DTYPE_VAR(T, f32);

MAP(lt, bool, IN(T, a), IN(T, b))
{
    return a < b;
}
