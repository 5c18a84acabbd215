#include "clamp.h"
#include <ferrule/kernel.h>

/* The mean of a square window; at the edge, the nearest pixel stands in for those outside. */
SIGNATURE(blur, "<T: f32|f64, radius: int = 1>(x: T[h, w, c]) -> T[h, w, c]");
DTYPE_VAR(T, f32);
PARAM(int, radius, 1);

KERNEL(blur, OUT(T, 3, y), IN(T, 3, x))
{
    CHECK(radius >= 0, "radius must not be negative, it is %lld", (long long)radius);
    const index_t side = 2 * radius + 1;
    const T scale = (T)1 / (T)(side * side);
    for (index_t i = 0; i < DIM(y, 0); i++)
        for (index_t j = 0; j < DIM(y, 1); j++)
            for (index_t c = 0; c < DIM(y, 2); c++) {
                T total = 0;
                for (index_t di = -radius; di <= radius; di++)
                    for (index_t dj = -radius; dj <= radius; dj++)
                        total += AT(x, clamp(i + di, DIM(x, 0)), clamp(j + dj, DIM(x, 1)), c);
                AT(y, i, j, c) = total * scale;
            }
    return OK;
}
