/* Sums of rows in double. */
#ifndef FERRULE_STD_SUM_H
#define FERRULE_STD_SUM_H

#include "std.h"

enum { LANES = 8, UNSPLIT = 256 };

/* Defines double name(x, n, centre, power): the sum of (x - centre)^power over n elements, power
 * being 1 or 2. Halves are summed apart, the pieces that are left in lanes, and all is joined in
 * one fixed order: the same bits on every machine, and an error that grows with the length's
 * logarithm. */
#define DEFINE_SUM(name, type)                                                                     \
    static double name(const type *x, index_t n, double centre, int power)                         \
    {                                                                                              \
        const index_t half = n / 2 / LANES * LANES;                                                \
        if (n > UNSPLIT)                                                                           \
            return name(x, half, centre, power) + name(x + half, n - half, centre, power);         \
        double lanes[LANES] = {0};                                                                 \
        index_t i = 0;                                                                             \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int lane = 0; lane < LANES; lane++) {                                             \
                const double value = (double)WIDEN(x[i + lane]) - centre;                          \
                lanes[lane] += power == 1 ? value : value * value;                                 \
            }                                                                                      \
        for (int lane = 0; i < n; i++, lane++) {                                                   \
            const double value = (double)WIDEN(x[i]) - centre;                                     \
            lanes[lane] += power == 1 ? value : value * value;                                     \
        }                                                                                          \
        for (int width = LANES / 2; width > 0; width /= 2)                                         \
            for (int lane = 0; lane < width; lane++)                                               \
                lanes[lane] += lanes[lane + width];                                                \
        return lanes[0];                                                                           \
    }

#endif
