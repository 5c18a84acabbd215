#include "std.h"

SIGNATURE(
    argmax,
    "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>(x: T[*s, n]) -> i64[*s] where n > 0");
DTYPE_VAR(T, f32);

/* The first of equal ones. NaN counts as larger than any number. */
KERNEL(argmax, OUT(i64, ANY, y), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < SIZE(y); row++) {
        const T *from = DATA(x) + row * n;
        COMPUTE(T) largest = WIDEN(from[0]);
        index_t place = 0;
        for (index_t i = 1; i < n; i++) {
            const COMPUTE(T) value = WIDEN(from[i]);
            if (value > largest || (value != value && largest == largest)) {
                largest = value;
                place = i;
            }
        }
        DATA(y)[row] = place;
    }
    return OK;
}
