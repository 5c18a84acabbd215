#include "elementary.h"

SIGNATURE(tanh, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(tanh, T, IN(T, x))
{
    return TANH(x);
}
