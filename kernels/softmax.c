#include "std.h"
#include <math.h>

SIGNATURE(softmax, "<T: any_float>(x: T[*s, n]) -> T[*s, n]");
DTYPE_VAR(T, f32);

/* exp(x - max) / sum(exp(x - max)): the shift changes nothing in exact arithmetic and keeps exp
 * from overflowing. */
KERNEL(softmax, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    if (SIZE(x) == 0)
        return OK;
    COMPUTE(T) *shares = SCRATCH(COMPUTE(T), n);
    for (index_t row = 0; row < NUM_ROWS(x); row++) {
        const T *from = DATA(x) + row * n;
        T *to = DATA(y) + row * n;
        COMPUTE(T) largest = WIDEN(from[0]);
        for (index_t i = 1; i < n; i++) {
            const COMPUTE(T) value = WIDEN(from[i]);
            largest = value > largest ? value : largest;
        }
        double total = 0;
        for (index_t i = 0; i < n; i++) {
            shares[i] = MATH(T, exp, WIDEN(from[i]) - largest);
            total += (double)shares[i];
        }
        for (index_t i = 0; i < n; i++)
            to[i] = NARROW(T, (double)shares[i] / total);
    }
    return OK;
}
