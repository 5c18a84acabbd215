/* format */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 1, y), IN(f32, 1, x))
{
    CHECK(RANK(x) == 1, "rank %s", RANK(x));
    return OK;
}
