#include "sum.h"

SIGNATURE(sum, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>(x: T[*s, n]) -> T[*s]");
DTYPE_VAR(T, f32);

DEFINE_SUM(sum_powers, T)

/* Integers wrap. */
static uint64_t sum_integers(const T *x, index_t n)
{
    uint64_t total = 0;
    for (index_t i = 0; i < n; i++)
        total += (uint64_t)WIDEN(x[i]);
    return total;
}

KERNEL(sum, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < SIZE(y); row++) {
        const T *from = DATA(x) + row * n;
        DATA(y)
        [row] = IS_FLOAT(T) ? NARROW(T, sum_powers(from, n, 0, 1))
                            : NARROW(T, (COMPUTE(T))sum_integers(from, n));
    }
    return OK;
}
