/* Sums of rows of T: include it after DTYPE_VAR(T, ...). */
#ifndef FERRULE_STD_SUM_H
#define FERRULE_STD_SUM_H

#include "std.h"

enum { LANES = 8 };

/* The sum of (x - centre)^power, power being 1 or 2, in double, in lanes that are joined in one
 * fixed order: the same bits on every machine, and less error than one long chain. */
FER_INLINE double sum_powers(const T *x, index_t n, double centre, int power)
{
    double lanes[LANES] = {0};
    index_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double value = (double)WIDEN(x[i + lane]) - centre;
            lanes[lane] += power == 1 ? value : value * value;
        }
    for (int lane = 0; i < n; i++, lane++) {
        const double value = (double)WIDEN(x[i]) - centre;
        lanes[lane] += power == 1 ? value : value * value;
    }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

#endif
