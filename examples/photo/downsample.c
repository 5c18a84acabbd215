#include <ferrule/kernel.h>

/* Averages blocks of factor x factor pixels; rows and columns that fill no block are left out. */
SIGNATURE(downsample,
          "<T: f32|f64, factor: int = 2>(x: T[h, w, c]) -> T[h // factor, w // factor, c]"
          " where factor > 0");
DTYPE_VAR(T, f32);
PARAM(int, factor, 2);

KERNEL(downsample, OUT(T, 3, y), IN(T, 3, x))
{
    const T scale = (T)1 / (T)(factor * factor);
    for (index_t i = 0; i < DIM(y, 0); i++)
        for (index_t j = 0; j < DIM(y, 1); j++)
            for (index_t c = 0; c < DIM(y, 2); c++) {
                T total = 0;
                for (index_t di = 0; di < factor; di++)
                    for (index_t dj = 0; dj < factor; dj++)
                        total += AT(x, i * factor + di, j * factor + dj, c);
                AT(y, i, j, c) = total * scale;
            }
    return OK;
}
