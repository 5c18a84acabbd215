#include "elementary.h"
#include "sum.h"

SIGNATURE(softmax, "<T: any_float>(x: T[*s, n]) -> T[*s, n]");
DTYPE_VAR(T, f32);

typedef COMPUTE(T) share;

DEFINE_SUM(sum_of, share)

/* Of the numbers in the row, in lanes; -infinity where there is none. */
static share largest_of(const T *row, index_t n)
{
    share lanes[LANES];
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = -(share)INFINITY;
    index_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const share value = WIDEN(row[i + lane]);
            lanes[lane] = value > lanes[lane] ? value : lanes[lane];
        }
    for (int lane = 0; i < n; i++, lane++) {
        const share value = WIDEN(row[i]);
        lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
    for (int lane = 1; lane < LANES; lane++)
        lanes[0] = lanes[lane] > lanes[0] ? lanes[lane] : lanes[0];
    return lanes[0];
}

/* exp(x - max) / sum(exp(x - max)): the shift changes nothing in exact arithmetic and keeps exp
 * from overflowing. A NaN in the row makes the sum one. */
KERNEL(softmax, OUT(T, ANY, y), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    if (SIZE(x) == 0)
        return OK;
    share *shares = SCRATCH(share, n);
    for (index_t row = 0; row < NUM_ROWS(x); row++) {
        const T *from = DATA(x) + row * n;
        T *restrict to = DATA(y) + row * n;
        const share largest = largest_of(from, n);
        for (index_t i = 0; i < n; i++)
            shares[i] = EXP(WIDEN(from[i]) - largest);
        const double total = sum_of(shares, n, 0, 1);
        for (index_t i = 0; i < n; i++)
            to[i] = NARROW(T, (double)shares[i] / total);
    }
    return OK;
}
