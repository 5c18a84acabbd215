#include "std.h"

SIGNATURE(take, "<T, I: i32|i64>(x: T[r, n, *s], index: I[m]) -> T[r, m, *s]");
DTYPE_VAR(T, f32);
DTYPE_VAR(I, i64);

/* What gather does with rows, inside of each row. */
KERNEL(take, OUT(T, ANY, y), IN(T, ANY, x), IN(I, 1, index))
{
    const long long n = DIM(x, 1);
    const long long m = DIM(index, 0);
    for (long long i = 0; i < m; i++)
        CHECK(AT(index, i) >= 0 && AT(index, i) < n, "index %lld is %lld, but axis 1 of x is %lld",
              i, (long long)AT(index, i), n);
    const index_t length = SIZE(y) == 0 ? 0 : SIZE(y) / (DIM(y, 0) * m);
    for (index_t row = 0; length > 0 && row < DIM(y, 0); row++)
        for (index_t i = 0; i < m; i++)
            for (index_t j = 0; j < length; j++)
                DATA(y)
    [(row * m + i) * length + j] = DATA(x)[(row * n + AT(index, i)) * length + j];
    return OK;
}
