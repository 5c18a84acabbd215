#include "std.h"

SIGNATURE(sub, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* Integers wrap. */
MAP(sub, T, IN(T, a), IN(T, b))
{
    return WRAPPING(T, a, -, b);
}
