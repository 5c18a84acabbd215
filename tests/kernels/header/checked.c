/* Looks at places that it is told. */
#include <ferrule/kernel.h>

KERNEL(looks_at, OUT(i32, 0, y), IN(i32, 2, x), IN(i64, 1, place))
{
    AT(y) = AT(x, AT(place, 0), AT(place, 1));
    return OK;
}

KERNEL(writes_once, OUT(i32, 1, y))
{
    index_t next = 0;
    AT(y, next++) = 7;
    STORE(y, 8, next++);
    return OK;
}

KERNEL(asks_for_axis, OUT(i64, 0, y), IN(i32, ANY, x), IN(i64, 0, axis))
{
    AT(y) = DIM(x, AT(axis));
    return OK;
}
