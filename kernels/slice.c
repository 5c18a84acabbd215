#include "strided.h"

SIGNATURE(slice, "<T, count: int>(x: T[n, *s], start: i64[1], step: i64[1]) -> T[count, *s]");
DTYPE_VAR(T, f32);

DEFINE_COPY_STRIDED(copy_strided, T)

/* The first axes of x are taken apart, as many as there are starts; a declaration may give the
 * result other extents than the one above. Of an axis without elements in y nothing is asked. */
KERNEL(slice, OUT(T, ANY, y), IN(T, ANY, x), IN(i64, 1, start), IN(i64, 1, step))
{
    CHECK(RANK(y) == RANK(x), "x has rank %d, but the result has rank %d", RANK(x), RANK(y));
    CHECK(DIM(start, 0) == DIM(step, 0) && DIM(start, 0) <= RANK(x),
          "there are %lld starts and %lld steps for the %d axes of x", (long long)DIM(start, 0),
          (long long)DIM(step, 0), RANK(x));
    index_t shape[FER_ABI_MAX_RANK], steps[FER_ABI_MAX_RANK];
    index_t offset = 0, stride = 1;
    for (int axis = RANK(x) - 1; axis >= 0; axis--) {
        const bool is_sliced = axis < DIM(start, 0);
        const long long length = DIM(x, axis);
        const long long given = is_sliced ? AT(start, axis) : 0;
        const long long first = given < 0 ? given + length : given;
        const long long by = is_sliced ? AT(step, axis) : 1;
        const long long last = DIM(y, axis) - 1;
        shape[axis] = DIM(y, axis);
        CHECK(last < 0 || (first >= 0 && first < length),
              "axis %d of x is %lld, which %lld lies outside", axis, length, given);
        CHECK(last <= 0 || (by > 0 ? by <= (length - 1 - first) / last : by >= -(first / last)),
              "axis %d of x is %lld, which has no %lld elements from %lld on by %lld", axis, length,
              last + 1, given, by);
        steps[axis] = last > 0 ? by * stride : 0;
        offset += last < 0 ? 0 : first * stride;
        stride = OUTER_STEP(x, stride, length);
    }
    copy_strided(DATA(y), SIZE(y), RANK(y), shape, SIZE(y) == 0 ? DATA(x) : DATA(x) + offset,
                 steps);
    return OK;
}
