/* invalid operands to binary */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f16, 1, y), IN(f16, 1, x))
{
    AT(y, 0) = AT(x, 0) + AT(x, 1);
    return OK;
}
