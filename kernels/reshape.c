#include "std.h"

SIGNATURE(reshape, "<T>(x: T[*s, m, n]) -> T[*s, m * n]");
DTYPE_VAR(T, f32);

KERNEL(reshape, OUT(T, ANY, y), IN(T, ANY, x))
{
    CHECK(SIZE(x) == SIZE(y), "x has %lld elements, but the result has %lld", (long long)SIZE(x),
          (long long)SIZE(y));
    for (index_t i = 0; i < SIZE(y); i++)
        DATA(y)[i] = DATA(x)[i];
    return OK;
}
