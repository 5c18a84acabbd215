#include "std.h"

SIGNATURE(histogram, "<T: any_int>(x: T[*s], inout counts: i64[n]) -> ()");
DTYPE_VAR(T, i32);

/* Adds to counts[v] how often v occurs. All is checked first, so that a failure changes nothing.
 * A count wraps. */
KERNEL(histogram, IN(T, ANY, x), INOUT(i64, 1, counts))
{
    const index_t n = DIM(counts, 0);
    for (index_t i = 0; i < SIZE(x); i++) {
        const T value = DATA(x)[i];
        CHECK(value >= 0 && (uint64_t)value < (uint64_t)n,
              "element %lld of x is outside the %lld counts", (long long)i, (long long)n);
    }
    for (index_t i = 0; i < SIZE(x); i++)
        AT(counts, DATA(x)[i]) = WRAPPING(i64, AT(counts, DATA(x)[i]), +, 1);
    return OK;
}
