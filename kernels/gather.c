#include "std.h"

SIGNATURE(gather, "<T, I: i32|i64>(x: T[n, *s], index: I[m]) -> T[m, *s]");
DTYPE_VAR(T, f32);
DTYPE_VAR(I, i64);

/* Rows are along the first axis here. Indices are checked without rows to copy, too. */
KERNEL(gather, OUT(T, ANY, y), IN(T, ANY, x), IN(I, 1, index))
{
    const long long n = DIM(x, 0);
    const index_t length = n == 0 ? 0 : SIZE(x) / n;
    for (long long i = 0; i < DIM(index, 0); i++) {
        const long long from = AT(index, i);
        CHECK(from >= 0 && from < n, "index %lld is %lld, but x has %lld rows", i, from, n);
        for (index_t j = 0; j < length; j++)
            DATA(y)[i * length + j] = DATA(x)[from * length + j];
    }
    return OK;
}
