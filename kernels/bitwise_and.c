#include "std.h"

SIGNATURE(bitwise_and, "<T: bool|i8|i16|i32|i64|u8|u16|u32|u64>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, bool);

MAP(bitwise_and, T, IN(T, a), IN(T, b))
{
    return (COMPUTE(T))(a & b);
}
