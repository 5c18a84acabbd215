#include "elementary.h"

SIGNATURE(silu, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* x sigmoid(x), where exp(-|x|) is a square, so that its small values are rounded after they are
 * multiplied by x. At -infinity the limit, 0. */
MAP(silu, T, IN(T, x))
{
    const COMPUTE(T) root = EXP(ABSOLUTE(x) * (COMPUTE(T)) - 0.5);
    const COMPUTE(T) share = x * root * root;
    const COMPUTE(T) y = (x > 0 ? x : share) / (1 + root * root);
    return x == (COMPUTE(T)) - INFINITY ? (COMPUTE(T))0 : y;
}
