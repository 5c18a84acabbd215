#include "floor.h"

SIGNATURE(floor_mod, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>"
                     "(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, i32);

DEFINE_FLOOR(floor_quotient, floor_rest, T)

KERNEL(floor_mod, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    for (index_t i = 0; i < SIZE(y); i++) {
        const COMPUTE(T) divisor = WIDEN(DATA(b)[i]);
        CHECK_DIVISOR(T, i, divisor);
        DATA(y)[i] = NARROW(T, floor_rest(WIDEN(DATA(a)[i]), divisor));
    }
    return OK;
}
