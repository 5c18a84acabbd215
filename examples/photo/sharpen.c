#include <ferrule/kernel.h>

/* Unsharp masking: what the blur took away is added once more, `amount` times. */
SIGNATURE(sharpen, "<T: f32|f64>(x: T[*s], soft: T[*s], amount: T[]) -> T[*s]");
DTYPE_VAR(T, f32);

MAP(sharpen, T, IN(T, x), IN(T, soft), IN(T, amount))
{
    return x + amount * (x - soft);
}
