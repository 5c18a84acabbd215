/* x has a rank or a direction, but a MAP only takes IN(dtype, name) */
#include <ferrule/kernel.h>

MAP(k, f32, IN(f32, 1, x))
{
    return x;
}
