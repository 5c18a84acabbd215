#include "elementary.h"

SIGNATURE(log, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(log, T, IN(T, x))
{
    return LOG(x);
}
