#include "std.h"

SIGNATURE(concat, "<T>(a: T[m, *s], b: T[n, *s]) -> T[m + n, *s]");
DTYPE_VAR(T, f32);

KERNEL(concat, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    for (index_t i = 0; i < SIZE(a); i++)
        DATA(y)[i] = DATA(a)[i];
    for (index_t i = 0; i < SIZE(b); i++)
        DATA(y)[SIZE(a) + i] = DATA(b)[i];
    return OK;
}
