#include "std.h"

SIGNATURE(relu, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* NaN stays NaN. */
MAP(relu, T, IN(T, x))
{
    return x < (COMPUTE(T))0 ? (COMPUTE(T))0 : x;
}
