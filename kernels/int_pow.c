#include "std.h"

SIGNATURE(int_pow, "<T: any_int>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, i32);

/* By squaring, in the ring of 64 bits, whose low bits are those of T. */
static T power(T base, uint64_t exponent)
{
    uint64_t result = 1;
    for (uint64_t square = (uint64_t)base; exponent > 0; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return (T)result;
}

KERNEL(int_pow, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    for (index_t i = 0; i < SIZE(y); i++) {
        CHECK(!IS_SIGNED(T) || DATA(b)[i] >= 0,
              "element %lld of b is %lld, but a power is not negative", (long long)i,
              (long long)DATA(b)[i]);
        DATA(y)[i] = power(DATA(a)[i], (uint64_t)DATA(b)[i]);
    }
    return OK;
}
