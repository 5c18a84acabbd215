#include <ferrule/kernel.h>

/* Scalars for conditions and counters. */
SIGNATURE(less, "<T>(x: T[], y: T[]) -> bool[]");

DTYPE_VAR(T, f32);

KERNEL(less, OUT(bool, 0, y), IN(T, 0, a), IN(T, 0, b))
{
    AT(y) = AT(a) < AT(b);
    return OK;
}

SIGNATURE(count_down, "(x: i64[]) -> i64[]");

KERNEL(count_down, OUT(i64, 0, y), IN(i64, 0, x))
{
    AT(y) = AT(x) - 1;
    return OK;
}

SIGNATURE(is_positive, "(x: i64[]) -> bool[]");

KERNEL(is_positive, OUT(bool, 0, y), IN(i64, 0, x))
{
    AT(y) = AT(x) > 0;
    return OK;
}

/* The largest element, 0 for none. */
SIGNATURE(largest, "(x: f32[n]) -> f32[]");

KERNEL(largest, OUT(f32, 0, y), IN(f32, 1, x))
{
    AT(y) = 0;
    for (index_t i = 0; i < DIM(x, 0); i++)
        if (AT(x, i) > AT(y))
            AT(y) = AT(x, i);
    return OK;
}
