#include "elementary.h"

SIGNATURE(erf, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(erf, T, IN(T, x))
{
    return ERF(x);
}
