/* a_MAP_cannot_fail */
#include <ferrule/kernel.h>

MAP(k, f32, IN(f32, x))
{
    CHECK(x > 0, "x is %g", (double)x);
    return x;
}
