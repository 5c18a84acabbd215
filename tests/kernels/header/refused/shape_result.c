/* a SHAPE has no results */
#include <ferrule/kernel.h>

SHAPE(k, OUT(f32, 1, y), IN(f32, 1, x))
{
    return OK;
}
