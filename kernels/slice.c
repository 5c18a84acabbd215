#include "strided.h"

SIGNATURE(slice, "<T, count: int>(x: T[n, *s], start: i64[1], step: i64[1]) -> T[count, *s]");
DTYPE_VAR(T, f32);

DEFINE_STRIDED(load_strided, T, const T, compact[i] = *strided)

/* A declaration may give the result other extents than the one above. */
KERNEL(slice, OUT(T, ANY, y), IN(T, ANY, x), IN(i64, 1, start), IN(i64, 1, step))
{
    TAKE_SLICE(x, y, "the result", start, step);
    load_strided(DATA(y), SIZE(y), RANK(y), shape, DATA(x) + offset, steps);
    return OK;
}
