#include "strided.h"

SIGNATURE(permute, "<T>(x: T[m, n], order: i64[2]) -> T[n, m]");
DTYPE_VAR(T, f32);

DEFINE_STRIDED(load_strided, T, const T, compact[i] = *strided)

/* A declaration may give x any rank, and the result the extents that its order makes of it. */
KERNEL(permute, OUT(T, ANY, y), IN(T, ANY, x), IN(i64, 1, order))
{
    CHECK(RANK(y) == RANK(x) && DIM(order, 0) == RANK(x),
          "x has rank %d, but the result has rank %d and there are %lld axes in order", RANK(x),
          RANK(y), (long long)DIM(order, 0));
    index_t own_steps[FER_ABI_MAX_RANK], shape[FER_ABI_MAX_RANK], steps[FER_ABI_MAX_RANK];
    index_t step = 1;
    for (int axis = RANK(x) - 1; axis >= 0; axis--) {
        own_steps[axis] = step;
        step = OUTER_STEP(x, step, DIM(x, axis));
    }
    unsigned int taken = 0;
    for (int axis = 0; axis < RANK(y); axis++) {
        const i64 from = AT(order, axis);
        CHECK(from >= 0 && from < RANK(x) && (taken >> from & 1) == 0,
              "order %d is %lld, which is no axis of x that is left", axis, (long long)from);
        CHECK(DIM(y, axis) == DIM(x, from),
              "axis %lld of x is %lld, but axis %d of the result %lld", (long long)from,
              (long long)DIM(x, from), axis, (long long)DIM(y, axis));
        taken |= 1u << from;
        shape[axis] = DIM(y, axis);
        steps[axis] = own_steps[from];
    }
    load_strided(DATA(y), SIZE(y), RANK(y), shape, DATA(x), steps);
    return OK;
}
