#include "std.h"

SIGNATURE(conv2d, "<T: any_float, stride: int = 1, padding: int = 0, dilation: int = 1>"
                  "(x: T[b, c, h, w], weight: T[o, c, kh, kw]) -> "
                  "T[b, o, (h + 2 * padding - dilation * (kh - 1) - 1) // stride + 1, "
                  "(w + 2 * padding - dilation * (kw - 1) - 1) // stride + 1] "
                  "where stride > 0, padding >= 0, dilation > 0, kh > 0, kw > 0, "
                  "dilation * (kh - 1) < h + 2 * padding, "
                  "dilation * (kw - 1) < w + 2 * padding");
DTYPE_VAR(T, f32);
PARAM(int, stride, 1);
PARAM(int, padding, 0);
PARAM(int, dilation, 1);

/* Adds `factor` times a row of the input to `sums`, of which place i looks at from[i * stride +
 * offset]. What lies in the padding adds nothing. */
static void add_row(COMPUTE(T) *restrict sums, index_t num_sums, const T *restrict from,
                    index_t width, index_t offset, COMPUTE(T) factor)
{
    const index_t begin = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
    index_t end = offset >= width ? 0 : (width - offset - 1) / stride + 1;
    end = end < num_sums ? end : num_sums;
    for (index_t i = begin; i < end; i++)
        sums[i] += factor * WIDEN(from[i * stride + offset]);
}

/* Each element adds up its products in the order of c, kh, kw, whatever the sizes. */
KERNEL(conv2d, OUT(T, 4, y), IN(T, 4, x), IN(T, 4, weight))
{
    const index_t width = DIM(y, 3);
    if (SIZE(y) == 0)
        return OK;
    COMPUTE(T) *sums = SCRATCH(COMPUTE(T), width);
    for (index_t row = 0; row < NUM_ROWS(y); row++) {
        const index_t i = row % DIM(y, 2);
        const index_t o = row / DIM(y, 2) % DIM(y, 1);
        const index_t b = row / DIM(y, 2) / DIM(y, 1);
        for (index_t j = 0; j < width; j++)
            sums[j] = 0;
        for (index_t c = 0; c < DIM(x, 1); c++)
            for (index_t p = 0; p < DIM(weight, 2); p++) {
                const index_t from = i * stride + p * dilation - padding;
                if (from < 0 || from >= DIM(x, 2))
                    continue;
                const T *line = DATA(x) + ((b * DIM(x, 1) + c) * DIM(x, 2) + from) * DIM(x, 3);
                for (index_t q = 0; q < DIM(weight, 3); q++)
                    add_row(sums, width, line, DIM(x, 3), q * dilation - padding,
                            LOAD(weight, o, c, p, q));
            }
        for (index_t j = 0; j < width; j++)
            STORE(y, sums[j], b, o, i, j);
    }
    return OK;
}
