#include "std.h"

SIGNATURE(floor_div, "<T: any_int>(a: T[*s], b: T[*s]) -> T[*s]");
DTYPE_VAR(T, i32);

/* The quotient rounded down. The smallest integer by -1 wraps to itself, as negation does; the
 * processor would trap. */
static T divide(T a, T b)
{
    if (IS_SIGNED(T) && b == (T)-1)
        return (T)(0 - (uint64_t)a);
    const T quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

KERNEL(floor_div, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    for (index_t i = 0; i < SIZE(y); i++) {
        CHECK(DATA(b)[i] != 0, "division by zero: element %lld of b is 0", (long long)i);
        DATA(y)[i] = divide(DATA(a)[i], DATA(b)[i]);
    }
    return OK;
}
