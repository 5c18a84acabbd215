#include "std.h"

SIGNATURE(sum, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f32|f64>(x: T[*s, n]) -> T[*s]");
DTYPE_VAR(T, f32);

enum { LANES = 8 };

/* Floats add up in double, in lanes that are joined in one fixed order: the same bits on every
 * machine, and less error than one long chain. */
static double sum_floats(const T *x, index_t n)
{
    double lanes[LANES] = {0};
    index_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)x[i + lane];
    for (int lane = 0; i < n; i++, lane++)
        lanes[lane] += (double)x[i];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

/* Integers wrap. */
static uint64_t sum_integers(const T *x, index_t n)
{
    uint64_t total = 0;
    for (index_t i = 0; i < n; i++)
        total += (uint64_t)x[i];
    return total;
}

KERNEL(sum, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = DIM(x, RANK(x) - 1);
    for (index_t row = 0; row < SIZE(y); row++) {
        const T *from = DATA(x) + row * n;
        DATA(y)[row] = IS_FLOAT(T) ? (T)sum_floats(from, n) : (T)sum_integers(from, n);
    }
    return OK;
}
