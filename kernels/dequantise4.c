#include "std.h"

SIGNATURE(dequantise4, "<T: any_float, group: int = 32>"
                       "(packed: u8[*s, n], scale: T[*s, g]) -> T[*s, 2 * n] "
                       "where 2 * n == group * g");
DTYPE_VAR(T, f32);
PARAM(int, group, 32);

/* A byte holds two numbers from -8 to 7, with 8 added, the first one in its low half. Each `group`
 * numbers of a row share a scale. */
KERNEL(dequantise4, OUT(T, ANY, y), IN(u8, ANY, packed), IN(T, ANY, scale))
{
    for (index_t i = 0; i < SIZE(y); i++) {
        const int number = (DATA(packed)[i / 2] >> (i % 2 * 4) & 15) - 8;
        DATA(y)[i] = NARROW(T, (COMPUTE(T))number * WIDEN(DATA(scale)[i / group]));
    }
    return OK;
}
