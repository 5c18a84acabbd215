#include "std.h"

SIGNATURE(dim, "<T, axis: int = 0>(x: T[*s]) -> i64[]");
DTYPE_VAR(T, f32);
PARAM(int, axis, 0);

KERNEL(dim, OUT(i64, 0, y), IN(T, ANY, x))
{
    const i64 place = axis < 0 ? axis + RANK(x) : axis;
    CHECK(place >= 0 && place < RANK(x), "x has rank %d, and so no axis %lld", RANK(x),
          (long long)axis);
    AT(y) = DIM(x, place);
    return OK;
}
