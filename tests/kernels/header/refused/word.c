/* flaot */
#include <ferrule/kernel.h>

KERNEL(k, OUT(flaot, 1, y), IN(f32, 1, x))
{
    return OK;
}
