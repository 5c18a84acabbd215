#include "elementary.h"

SIGNATURE(exp, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(exp, T, IN(T, x))
{
    return EXP(x);
}
