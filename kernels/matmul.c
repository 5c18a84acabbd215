#include "std.h"

SIGNATURE(matmul, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>"
                  "(a: T[*b, m, k], b: T[*b, k, n]) -> T[*b, m, n]");
DTYPE_VAR(T, f32);

/* The innermost loop runs along rows of `b` and `y`, so that it vectorises; each element still adds
 * up its products in the order of k, whatever the sizes. Integers wrap. */
static void multiply_row(COMPUTE(T) *restrict sums, const T *restrict a,
                         const COMPUTE(T) *restrict b, index_t k, index_t n)
{
    for (index_t j = 0; j < n; j++)
        sums[j] = (COMPUTE(T))0;
    for (index_t l = 0; l < k; l++) {
        const COMPUTE(T) factor = WIDEN(a[l]);
        for (index_t j = 0; j < n; j++)
            sums[j] = WRAPPING(T, sums[j], +, WRAPPING(T, factor, *, b[l * n + j]));
    }
}

/* A matrix of small floats is widened once, not for each row of `a`. */
KERNEL(matmul, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    const index_t m = DIM(a, RANK(a) - 2);
    const index_t k = ROW_LENGTH(a);
    const index_t n = ROW_LENGTH(b);
    if (SIZE(y) == 0) /* k * n may be anything then */
        return OK;
    COMPUTE(T) *wide_b = SCRATCH(COMPUTE(T), IS_SMALL_FLOAT(T) ? k * n : 0);
    COMPUTE(T) *wide_row = SCRATCH(COMPUTE(T), IS_SMALL_FLOAT(T) ? n : 0);
    for (index_t row = 0; row < NUM_ROWS(y); row++) {
        const T *from_b = DATA(b) + row / m * k * n;
        T *to = DATA(y) + row * n;
        for (index_t i = 0; IS_SMALL_FLOAT(T) && row % m == 0 && i < k * n; i++)
            wide_b[i] = WIDEN(from_b[i]);
        if (!IS_SMALL_FLOAT(T)) {
            multiply_row((void *)to, DATA(a) + row * k, (const void *)from_b, k, n);
            continue;
        }
        multiply_row(wide_row, DATA(a) + row * k, wide_b, k, n);
        for (index_t j = 0; j < n; j++)
            to[j] = NARROW(T, wide_row[j]);
    }
    return OK;
}
