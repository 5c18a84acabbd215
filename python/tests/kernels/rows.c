#include <ferrule/kernel.h>

SIGNATURE(downsample, "(x: f32[n, w, c]) -> f32[n, w // 2, c]");

KERNEL(downsample, OUT(f32, 3, y), IN(f32, 3, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        for (index_t j = 0; j < DIM(y, 1); j++)
            for (index_t k = 0; k < DIM(y, 2); k++)
                AT(y, i, j, k) = AT(x, i, 2 * j, k);
    return OK;
}

SIGNATURE(halves, "(x: f32[n]) -> (low: f32[n // 2], high: f32[n - n // 2])");

KERNEL(halves, OUT(f32, 1, low), OUT(f32, 1, high), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(low, 0); i++)
        AT(low, i) = AT(x, i);
    for (index_t i = 0; i < DIM(high, 0); i++)
        AT(high, i) = AT(x, DIM(low, 0) + i);
    return OK;
}

SIGNATURE(dot, "(a: f32[n], b: f32[n]) -> f32[] where n > 0");

KERNEL(dot, OUT(f32, 0, y), IN(f32, 1, a), IN(f32, 1, b))
{
    AT(y) = 0;
    for (index_t i = 0; i < DIM(a, 0); i++)
        AT(y) += AT(a, i) * AT(b, i);
    return OK;
}

SIGNATURE(checked, "(x: f32[n]) -> f32[n]");

KERNEL(checked, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++) {
        CHECK(AT(x, i) >= 0, "element %lld is negative", (long long)i);
        AT(y, i) = AT(x, i);
    }
    return OK;
}

SIGNATURE(double_up, "(inout x: f32[n]) -> ()");

KERNEL(double_up, INOUT(f32, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(x, i) = 2 * AT(x, i);
    return OK;
}

SIGNATURE(busy, "(x: i64[]) -> i64[]");

/* Runs for about x million additions, whatever the optimiser thinks of them. */
KERNEL(busy, OUT(i64, 0, y), IN(i64, 0, x))
{
    volatile i64 sum = 0;
    for (i64 i = 0; i < AT(x) * 1000000; i++)
        sum = sum + 1;
    AT(y) = sum;
    return OK;
}
