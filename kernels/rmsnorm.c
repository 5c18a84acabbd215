#include "sum.h"
#include <math.h>

SIGNATURE(rmsnorm, "<T: any_float, epsilon: float = 1e-05>(x: T[*s, n], weight: T[n]) -> T[*s, n]");
DTYPE_VAR(T, f32);
PARAM(float, epsilon, 1e-5);

DEFINE_SUM(sum_powers, T)

/* x / sqrt(mean(x^2) + epsilon) * weight, all in double. */
KERNEL(rmsnorm, OUT(T, ANY, y), IN(T, ANY, x), IN(T, 1, weight))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < NUM_ROWS(x); row++) {
        const T *from = DATA(x) + row * n;
        T *restrict to = DATA(y) + row * n;
        const double scale = 1 / sqrt(sum_powers(from, n, 0, 2) / (double)n + epsilon);
        for (index_t i = 0; i < n; i++)
            to[i] = NARROW(T, (double)WIDEN(from[i]) * scale * (double)LOAD(weight, i));
    }
    return OK;
}
