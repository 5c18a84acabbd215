/* format */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 1, y), IN(f32, 1, x))
{
    FAIL("rank %d and %d", RANK(x));
}
