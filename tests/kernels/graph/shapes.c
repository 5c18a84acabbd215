#include <ferrule/kernel.h>

PARAM(int, g, 2);

/* Every g-th element. */
SIGNATURE(every, "<g: int = 2>(x: f32[n]) -> f32[n // g]");

KERNEL(every, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, g * i);
    return OK;
}

/* The differences of neighbours; no result for fewer than one element. */
SIGNATURE(differences, "(x: f32[n]) -> f32[n - 1]");

KERNEL(differences, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, i + 1) - AT(x, i);
    return OK;
}

SIGNATURE(pairs, "(x: f32[n]) -> f32[n // 2] where n % 2 == 0");

KERNEL(pairs, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, 2 * i) + AT(x, 2 * i + 1);
    return OK;
}

SIGNATURE(halves, "(x: f32[n]) -> (low: f32[n // 2], high: f32[n - n // 2])");

KERNEL(halves, OUT(f32, 1, low), OUT(f32, 1, high), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(low, 0); i++)
        AT(low, i) = AT(x, i);
    for (index_t i = 0; i < DIM(high, 0); i++)
        AT(high, i) = AT(x, DIM(low, 0) + i);
    return OK;
}

/* The elements above 0, as many as there are. */
SIGNATURE(positive, "(x: f32[n]) -> f32[kept]");

KERNEL(positive, OUT(f32, 1, y), IN(f32, 1, x))
{
    index_t next = 0;
    for (index_t i = 0; i < DIM(x, 0); i++)
        if (AT(x, i) > 0)
            AT(y, next++) = AT(x, i);
    return OK;
}

SHAPE(positive, IN(f32, 1, x))
{
    index_t count = 0;
    for (index_t i = 0; i < DIM(x, 0); i++)
        count += AT(x, i) > 0;
    EXTENT(kept) = count;
    return OK;
}
