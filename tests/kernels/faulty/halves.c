#include <ferrule/kernel.h>

/* Only for one of its dtypes. */
SIGNATURE(divides_halves, "<T: f32|bf16>(x: T[n]) -> T[n]");
DTYPE_VAR(T, f32);
KERNEL(divides_halves, OUT(T, 1, y), IN(T, 1, x)) /* fault: does not compile */
{
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = AT(x, i) / 2;
    return OK;
}
