#include "sum.h"

SIGNATURE(mean, "<T: any_float>(x: T[*s, n]) -> T[*s] where n > 0");
DTYPE_VAR(T, f32);

DEFINE_SUM(sum_powers, T)

KERNEL(mean, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < SIZE(y); row++)
        DATA(y)[row] = NARROW(T, sum_powers(DATA(x) + row * n, n, 0, 1) / (double)n);
    return OK;
}
