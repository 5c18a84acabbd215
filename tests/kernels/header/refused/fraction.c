/* array subscript is not an integer */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 1, y), IN(f32, 1, x))
{
    AT(y, 0.5) = AT(x, 0);
    return OK;
}
