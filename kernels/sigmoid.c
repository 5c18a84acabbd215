#include "elementary.h"

SIGNATURE(sigmoid, "<T: any_float>(x: T[*s]) -> T[*s]");
DTYPE_VAR(T, f32);

/* 1 / (1 + exp(-x)), which for a negative x is exp(x) / (1 + exp(x)): no exp is infinite. */
MAP(sigmoid, T, IN(T, x))
{
    const COMPUTE(T) y = EXP(-ABSOLUTE(x));
    return (x > 0 ? (COMPUTE(T))1 : y) / (1 + y);
}
