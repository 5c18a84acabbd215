/* redefinition */
#include <ferrule/kernel.h>

MAP(k, f32, IN(f32, x))
{
    return x;
}

MAP(k, f32, IN(f32, x))
{
    return -x;
}
