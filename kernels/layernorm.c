#include "sum.h"
#include <math.h>

SIGNATURE(layernorm, "<T: any_float, epsilon: float = 1e-05>"
                     "(x: T[*s, n], weight: T[n], bias: T[n]) -> T[*s, n]");
DTYPE_VAR(T, f32);
PARAM(float, epsilon, 1e-5);

DEFINE_SUM(sum_powers, T)

/* (x - mean) / sqrt(variance + epsilon) * weight + bias, all in double. The variance is the mean of
 * the squared distances from the mean, in a second pass: the shorter formula cancels. */
KERNEL(layernorm, OUT(T, ANY, y), IN(T, ANY, x), IN(T, 1, weight), IN(T, 1, bias))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < NUM_ROWS(x); row++) {
        const T *from = DATA(x) + row * n;
        T *restrict to = DATA(y) + row * n;
        const double mean = sum_powers(from, n, 0, 1) / (double)n;
        const double scale = 1 / sqrt(sum_powers(from, n, mean, 2) / (double)n + epsilon);
        for (index_t i = 0; i < n; i++) {
            const double value = ((double)WIDEN(from[i]) - mean) * scale;
            to[i] = NARROW(T, value * (double)LOAD(weight, i) + (double)LOAD(bias, i));
        }
    }
    return OK;
}
