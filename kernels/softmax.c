#include "std.h"
#include <math.h>

SIGNATURE(softmax, "<T: any_float>(x: T[*s, n]) -> T[*s, n]");
DTYPE_VAR(T, f32);

static T exponential(T x)
{
    return sizeof(T) == sizeof(float) ? (T)expf((float)x) : (T)exp((double)x);
}

/* exp(x - max) / sum(exp(x - max)): the shift changes nothing in exact arithmetic and keeps exp
 * from overflowing. */
KERNEL(softmax, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = DIM(x, RANK(x) - 1);
    const index_t num_rows = n == 0 ? 0 : SIZE(x) / n;
    for (index_t row = 0; row < num_rows; row++) {
        const T *from = DATA(x) + row * n;
        T *to = DATA(y) + row * n;
        T largest = from[0];
        for (index_t i = 1; i < n; i++)
            largest = from[i] > largest ? from[i] : largest;
        double total = 0;
        for (index_t i = 0; i < n; i++) {
            to[i] = exponential(from[i] - largest);
            total += (double)to[i];
        }
        for (index_t i = 0; i < n; i++)
            to[i] = (T)((double)to[i] / total);
    }
    return OK;
}
