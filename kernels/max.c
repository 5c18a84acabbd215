#include "std.h"

SIGNATURE(max, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* NaN where one of them is NaN; b where they are equal. */
MAP(max, T, IN(T, a), IN(T, b))
{
    return a > b || a != a ? a : b;
}
