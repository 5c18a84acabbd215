#include "std.h"

SIGNATURE(store, "<T>(inout x: T[*s], value: T[*s]) -> ()");
DTYPE_VAR(T, f32);

KERNEL(store, INOUT(T, ANY, x), IN(T, ANY, value))
{
    for (index_t i = 0; i < SIZE(x); i++)
        DATA(x)[i] = DATA(value)[i];
    return OK;
}
