#include "std.h"

SIGNATURE(broadcast, "<T>(x: T[*r], like: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* How far x moves along each axis of y: not at all where it has no such axis, or one of 1. */
KERNEL(broadcast, OUT(T, ANY, y), IN(T, ANY, x), IN(T, ANY, like))
{
    const int num_new = RANK(like) - RANK(x);
    CHECK(num_new >= 0, "x has rank %d, more than the rank %d of like", RANK(x), RANK(like));
    index_t steps[FER_ABI_MAX_RANK], at[FER_ABI_MAX_RANK] = {0};
    index_t step = 1;
    for (int axis = RANK(y) - 1; axis >= 0; axis--) {
        const index_t length = axis < num_new ? 1 : DIM(x, axis - num_new);
        CHECK(length == 1 || length == DIM(y, axis),
              "axis %d of x is %lld, but that of like is %lld", axis - num_new, (long long)length,
              (long long)DIM(y, axis));
        steps[axis] = length == 1 ? 0 : step;
        step *= length;
    }
    index_t from = 0;
    for (index_t i = 0; i < SIZE(y); i++) {
        DATA(y)[i] = DATA(x)[from];
        for (int axis = RANK(y) - 1; axis >= 0; axis--) {
            from += steps[axis];
            if (++at[axis] < DIM(y, axis))
                break;
            from -= at[axis] * steps[axis];
            at[axis] = 0;
        }
    }
    return OK;
}
