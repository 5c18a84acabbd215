/* Data-dependent extents, with the SHAPE before its KERNEL and after it. */
#include <ferrule/kernel.h>

SHAPE(keep, IN(f32, 1, x), IN(bool, 1, mask))
{
    index_t kept = 0;
    for (index_t i = 0; i < DIM(mask, 0); i++)
        kept += AT(mask, i);
    EXTENT(kept) = kept;
    return OK;
}

KERNEL(keep, OUT(f32, 1, y), IN(f32, 1, x), IN(bool, 1, mask))
{
    index_t next = 0;
    for (index_t i = 0; i < DIM(x, 0); i++)
        if (AT(mask, i))
            AT(y, next++) = AT(x, i);
    return OK;
}

KERNEL(split, OUT(f32, 1, low), OUT(f32, 1, high), INOUT(f32, 1, x), IN(f32, 0, at))
{
    AT(x, 0) = 0;
    return OK;
}

SHAPE(split, INOUT(f32, 1, x), IN(f32, 0, at))
{
    const f32 *elements = DATA(x); /* an inout operand is read-only here */
    CHECK(AT(at) == AT(at), "at is NaN");
    EXTENT(num_low) = 0;
    for (index_t i = 0; i < SIZE(x); i++)
        EXTENT(num_low) += elements[i] < AT(at);
    EXTENT(num_high) = SIZE(x) - EXTENT(num_low);
    return OK;
}
