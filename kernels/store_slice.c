#include "strided.h"

SIGNATURE(store_slice,
          "<T>(inout x: T[n, *s], value: T[m, *s], start: i64[1], step: i64[1]) -> ()");
DTYPE_VAR(T, f32);

DEFINE_STRIDED(store_strided, const T, T, *strided = compact[i])

/* A declaration may give the value other extents than the one above. All is checked first, so that
 * a failure changes nothing. */
KERNEL(store_slice, INOUT(T, ANY, x), IN(T, ANY, value), IN(i64, 1, start), IN(i64, 1, step))
{
    TAKE_SLICE(x, value, "the value", start, step);
    store_strided(DATA(value), SIZE(value), RANK(value), shape, DATA(x) + offset, steps);
    return OK;
}
