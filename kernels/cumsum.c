#include "std.h"

SIGNATURE(cumsum, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>(x: T[*s, n]) -> T[*s, n]");
DTYPE_VAR(T, f32);

/* Floats add up in double, in order. Integers wrap. */
KERNEL(cumsum, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < NUM_ROWS(x); row++) {
        double sum = 0;
        uint64_t wrapping_sum = 0;
        for (index_t i = row * n; i < (row + 1) * n; i++) {
            if (IS_FLOAT(T))
                sum += (double)WIDEN(DATA(x)[i]);
            else
                wrapping_sum += (uint64_t)WIDEN(DATA(x)[i]);
            DATA(y)[i] = IS_FLOAT(T) ? NARROW(T, sum) : NARROW(T, (COMPUTE(T))wrapping_sum);
        }
    }
    return OK;
}
