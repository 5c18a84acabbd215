#include "std.h"

SIGNATURE(compress, "<T>(x: T[n, *s], mask: bool[n]) -> T[kept, *s]");
DTYPE_VAR(T, f32);

SHAPE(compress, IN(T, ANY, x), IN(bool, 1, mask))
{
    index_t kept = 0;
    for (index_t i = 0; i < DIM(mask, 0); i++)
        kept += AT(mask, i);
    EXTENT(kept) = kept;
    return OK;
}

KERNEL(compress, OUT(T, ANY, y), IN(T, ANY, x), IN(bool, 1, mask))
{
    const index_t n = DIM(x, 0);
    const index_t length = n == 0 ? 0 : SIZE(x) / n;
    index_t next = 0;
    for (index_t i = 0; i < n; i++) {
        if (!AT(mask, i))
            continue;
        for (index_t j = 0; j < length; j++)
            DATA(y)[next * length + j] = DATA(x)[i * length + j];
        next++;
    }
    return OK;
}
