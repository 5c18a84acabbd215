/* x has a type that is no dtype: it can be bool, i8 */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 1, y), IN(long double, 1, x))
{
    return OK;
}
