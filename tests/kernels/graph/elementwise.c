#include <ferrule/kernel.h>

DTYPE_VAR(T, f32);

SIGNATURE(add, "<T>(x: T[*s], y: T[*s]) -> T[*s]");

MAP(add, T, IN(T, x), IN(T, y))
{
    return (T)(x + y);
}

SIGNATURE(twice, "(x: f32[*s]) -> f32[*s]");

MAP(twice, f32, IN(f32, x))
{
    return 2 * x;
}

SIGNATURE(scale, "<T>(x: T[*s], by: T[]) -> T[*s]");

MAP(scale, T, IN(T, x), IN(T, by))
{
    return (T)(x * by);
}

SIGNATURE(choose, "(x: f32[*s], flip: bool[]) -> f32[*s]");

MAP(choose, f32, IN(f32, x), IN(bool, flip))
{
    return flip ? -x : x;
}
