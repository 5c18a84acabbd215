#include <ferrule/kernel.h>

DTYPE_VAR(T, f32);

SIGNATURE(same, "<T>(x: T[*s]) -> T[*s]");

KERNEL(same, OUT(T, ANY, y), IN(T, ANY, x))
{
    for (index_t i = 0; i < SIZE(x); i++)
        DATA(y)[i] = DATA(x)[i];
    return OK;
}
