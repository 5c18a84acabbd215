/* Values and dtypes that the declaration gives, in four kernels. */
#include <ferrule/kernel.h>

DTYPE_VAR(T, f32);
PARAM(int, factor, 2);
PARAM(float, bias, 0.5);
PARAM(bool, negate, false);
PARAM(str, label, "default");
PARAM(int, unused, 3);

SIGNATURE(valued, "<T: f32|f64>(x: T[]) -> T[]");

KERNEL(valued, OUT(T, 0, y), IN(T, 0, x))
{
    const T value = AT(x) * (T)factor + (T)bias;
    AT(y) = negate ? -value : value;
    return OK;
}

KERNEL(numbers, OUT(i64, 0, i), OUT(f64, 0, f))
{
    AT(i) = factor;
    AT(f) = bias;
    return OK;
}

KERNEL(labelled, OUT(u8, 1, y))
{
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = (u8)label[i];
    return OK;
}
