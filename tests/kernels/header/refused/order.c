/* results (OUT) come before operands (IN and INOUT) */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 1, y), IN(f32, 1, x), OUT(f32, 1, z))
{
    return OK;
}
