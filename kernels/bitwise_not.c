#include "std.h"

SIGNATURE(bitwise_not, "<T: bool|i8|i16|i32|i64|u8|u16|u32|u64>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, bool);

/* Every bit of an integer, the one bit of a bool. */
MAP(bitwise_not, T, IN(T, x))
{
    return (COMPUTE(T))(x ^ (COMPUTE(T)) - 1);
}
