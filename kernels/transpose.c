#include "std.h"

SIGNATURE(transpose, "<T>(x: T[*s, m, n]) -> T[*s, n, m]");
DTYPE_VAR(T, f32);

/* In squares, so that neither side jumps through memory for each element. */
enum { SIDE = 32 };

static void transpose_square(T *restrict to, const T *restrict from, index_t m, index_t n,
                             index_t top, index_t left)
{
    const index_t bottom = top + SIDE < m ? top + SIDE : m;
    const index_t right = left + SIDE < n ? left + SIDE : n;
    for (index_t j = left; j < right; j++)
        for (index_t i = top; i < bottom; i++)
            to[j * m + i] = from[i * n + j];
}

KERNEL(transpose, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t m = DIM(x, RANK(x) - 2);
    const index_t n = ROW_LENGTH(x);
    for (index_t start = 0; start < SIZE(x); start += m * n)
        for (index_t i = 0; i < m; i += SIDE)
            for (index_t j = 0; j < n; j += SIDE)
                transpose_square(DATA(y) + start, DATA(x) + start, m, n, i, j);
    return OK;
}
