#include "strided.h"

SIGNATURE(broadcast, "<T>(x: T[*r], like: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

DEFINE_STRIDED(load_strided, T, const T, compact[i] = *strided)

/* The result's shape is what x is repeated to, not that of `like`: a declaration may make it of
 * both. x moves not at all along an axis that it lacks or has of length 1. */
KERNEL(broadcast, OUT(T, ANY, y), IN(T, ANY, x), IN(T, ANY, like))
{
    const int num_new = RANK(y) - RANK(x);
    CHECK(num_new >= 0, "x has rank %d, more than the rank %d of the result", RANK(x), RANK(y));
    index_t shape[FER_ABI_MAX_RANK], steps[FER_ABI_MAX_RANK];
    index_t step = 1;
    for (int axis = RANK(y) - 1; axis >= 0; axis--) {
        const index_t length = axis < num_new ? 1 : DIM(x, axis - num_new);
        shape[axis] = DIM(y, axis);
        CHECK(length == 1 || length == shape[axis],
              "axis %d of x is %lld, but that of the result is %lld", axis - num_new,
              (long long)length, (long long)shape[axis]);
        steps[axis] = length == 1 ? 0 : step;
        step = OUTER_STEP(x, step, length);
    }
    load_strided(DATA(y), SIZE(y), RANK(y), shape, DATA(x), steps);
    return OK;
}
