#include <ferrule/kernel.h>

/* Keeps every second row of each matrix. */
SIGNATURE(downsample, "(x: f32[n, w, c]) -> f32[n, w // 2, c]");

KERNEL(downsample, OUT(f32, 3, y), IN(f32, 3, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        for (index_t j = 0; j < DIM(y, 1); j++)
            for (index_t k = 0; k < DIM(y, 2); k++)
                AT(y, i, j, k) = AT(x, i, 2 * j, k);
    return OK;
}
