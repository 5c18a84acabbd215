/* Failures that reach the caller, and memory for the call. */
#include <ferrule/kernel.h>

KERNEL(checked, OUT(i64, 0, y), IN(i64, 0, x))
{
    if (AT(x) > 100)
        FAIL("x is large");
    else
        AT(y) = 1;
    CHECK(AT(x) >= 0, "x is %lld, not %s", (long long)AT(x), "100 %");
    AT(y) = 2;
    return OK;
}

KERNEL(fails_at_a_line, OUT(i64, 0, y))
{
#line 321 "elsewhere.c"
    FAIL("here");
}

KERNEL(reversed, OUT(f64, 1, y), IN(f64, 1, x))
{
    f64 *copy = SCRATCH(f64, DIM(x, 0));
    for (index_t i = 0; i < DIM(x, 0); i++)
        copy[i] = AT(x, i);
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(y, i) = copy[DIM(x, 0) - 1 - i];
    return OK;
}

/* Scratch of several extents: an array whose last axis is the innermost. */
KERNEL(asks_for_array, OUT(i64, 0, y), IN(i64, 1, extents))
{
    const f64 *memory = SCRATCH(f64, AT(extents, 0), AT(extents, 1) + 1, AT(extents, 2) / 2);
    AT(y) = memory != NULL;
    return OK;
}

KERNEL(asks_for, OUT(i64, 0, y), IN(i64, 0, count))
{
    AT(y) = 0;
    const f64 *memory = SCRATCH(f64, AT(count));
    AT(y) = memory != NULL;
    return OK;
}
