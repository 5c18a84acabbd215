/* the rank of this one is ANY: use DATA, SIZE and DIM */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, ANY, y), IN(f32, 1, x))
{
    AT(y, 0) = AT(x, 0);
    return OK;
}
