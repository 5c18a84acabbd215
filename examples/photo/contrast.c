#include <ferrule/kernel.h>

/* Spreads values around the middle of 0..1, for any float dtype and rank. */
SIGNATURE(contrast, "<T: f32|f64>(x: T[*s], gain: T[]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(contrast, T, IN(T, x), IN(T, gain))
{
    return (x - (T)0.5) * gain + (T)0.5;
}
