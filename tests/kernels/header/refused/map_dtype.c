/* the result of k has a type that is no dtype */
#include <ferrule/kernel.h>

MAP(k, char, IN(f32, x))
{
    return (char)x;
}
