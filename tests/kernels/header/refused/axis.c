/* DIM needs an axis of the view, from 0 to its rank - 1 */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 0, y), IN(f32, 2, x))
{
    AT(y) = (f32)DIM(x, 2);
    return OK;
}
