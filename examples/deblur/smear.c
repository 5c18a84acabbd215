#include <ferrule/kernel.h>

/* What a lens out of focus does: each pixel is spread over the 3 x 3 around it, by the weights
 * 1 2 1 / 2 4 2 / 1 2 1, over 16. What falls outside the picture is lost, so this is a symmetric
 * matrix on the pixels. */
SIGNATURE(smear, "(x: f64[h, w, c]) -> f64[h, w, c]");

/* Along one axis, whose neighbours lie `step` apart. */
static void spread(f64 *restrict y, const f64 *restrict x, index_t size, index_t step)
{
    for (index_t i = 0; i < size; i++) {
        const f64 before = i >= step ? x[i - step] : 0;
        const f64 after = i < size - step ? x[i + step] : 0;
        y[i] = 0.5 * x[i] + 0.25 * (before + after);
    }
}

KERNEL(smear, OUT(f64, 3, y), IN(f64, 3, x))
{
    const index_t row = DIM(x, 1) * DIM(x, 2);
    f64 *down = SCRATCH(f64, SIZE(x));
    spread(down, DATA(x), SIZE(x), row);
    for (index_t i = 0; i < DIM(x, 0); i++)
        spread(DATA(y) + i * row, down + i * row, row, DIM(x, 2));
    return OK;
}
