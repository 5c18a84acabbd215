#include "std.h"

SIGNATURE(matmul, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f32|f64>(a: T[*b, m, k], b: T[*b, k, n]) -> "
                  "T[*b, m, n]");
DTYPE_VAR(T, f32);

/* The innermost loop runs along rows of `b` and `y`, so that it vectorises; each element still adds
 * up its products in the order of k, whatever the sizes. Integers wrap. */
KERNEL(matmul, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    const index_t m = DIM(a, RANK(a) - 2);
    const index_t k = DIM(a, RANK(a) - 1);
    const index_t n = DIM(b, RANK(b) - 1);
    const index_t num_matrices = m * n == 0 ? 0 : SIZE(y) / (m * n);
    for (index_t matrix = 0; matrix < num_matrices; matrix++)
        for (index_t i = 0; i < m; i++) {
            T *row = DATA(y) + (matrix * m + i) * n;
            for (index_t j = 0; j < n; j++)
                row[j] = (T)0;
            for (index_t l = 0; l < k; l++) {
                const T factor = DATA(a)[(matrix * m + i) * k + l];
                const T *from = DATA(b) + (matrix * k + l) * n;
                for (index_t j = 0; j < n; j++)
                    row[j] = WRAPPING(T, row[j], +, WRAPPING(T, factor, *, from[j]));
            }
        }
    return OK;
}
