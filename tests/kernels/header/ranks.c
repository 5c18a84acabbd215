/* Every rank: each element becomes its place in row-major order, by AT and by arithmetic on the
 * extents that the view reports. */
#include <ferrule/kernel.h>

/* A macro of the author's that wraps KERNEL: its arguments expand first. */
#define RANKED(rank) KERNEL(ranked_##rank, OUT(i64, rank, y), IN(i32, rank, x))
#define LOOP(i, axis) for (index_t i = 0; i < DIM(y, axis); i++)

RANKED(0)
{
    AT(y) = AT(x) * 1000 + SIZE(y) * 10 + RANK(y);
    return OK;
}

RANKED(1)
{
    LOOP(a, 0) AT(y, a) = AT(x, a) + RANK(x);
    return OK;
}

RANKED(2)
{
    LOOP(a, 0) LOOP(b, 1) AT(y, a, b) = AT(x, a, b) + RANK(x);
    return OK;
}

RANKED(3)
{
    LOOP(a, 0) LOOP(b, 1) LOOP(c, 2) AT(y, a, b, c) = AT(x, a, b, c) + RANK(x);
    return OK;
}

RANKED(4)
{
    LOOP(a, 0) LOOP(b, 1) LOOP(c, 2) LOOP(d, 3) AT(y, a, b, c, d) = AT(x, a, b, c, d) + RANK(x);
    return OK;
}

RANKED(5)
{
    LOOP(a, 0)
    LOOP(b, 1)
    LOOP(c, 2) LOOP(d, 3) LOOP(e, 4) AT(y, a, b, c, d, e) = AT(x, a, b, c, d, e) + RANK(x);
    return OK;
}

RANKED(6)
{
    LOOP(a, 0)
    LOOP(b, 1)
    LOOP(c, 2)
    LOOP(d, 3) LOOP(e, 4) LOOP(f, 5) AT(y, a, b, c, d, e, f) = AT(x, a, b, c, d, e, f) + RANK(x);
    return OK;
}

RANKED(7)
{
    LOOP(a, 0)
    LOOP(b, 1)
    LOOP(c, 2)
    LOOP(d, 3)
    LOOP(e, 4)
    LOOP(f, 5) LOOP(g, 6) AT(y, a, b, c, d, e, f, g) = AT(x, a, b, c, d, e, f, g) + RANK(x);
    return OK;
}

RANKED(8)
{
    LOOP(a, 0)
    LOOP(b, 1)
    LOOP(c, 2)
    LOOP(d, 3)
    LOOP(e, 4)
    LOOP(f, 5)
    LOOP(g, 6)
    LOOP(h, 7) AT(y, a, b, c, d, e, f, g, h) = AT(x, a, b, c, d, e, f, g, h) + RANK(x);
    return OK;
}

KERNEL(any, OUT(i64, 1, y), IN(i32, ANY, x))
{
    index_t product = 1;
    for (int axis = 0; axis < RANK(x); axis++)
        product *= DIM(x, axis);
    AT(y, 0) = RANK(x);
    AT(y, 1) = SIZE(x);
    AT(y, 2) = product;
    AT(y, 3) = SIZE(x) == 0 ? -1 : DATA(x)[SIZE(x) - 1];
    return OK;
}

/* Indices are 64 bits wide also where the author's are not, and AT may stand inside AT. */
KERNEL(far, OUT(u8, 0, y), IN(u8, 2, x), IN(i32, 1, where))
{
    AT(y) = AT(x, AT(where, 0), AT(where, 1));
    return OK;
}

static i64 corner(VIEW(const i32, 2) x)
{
    return AT(x, DIM(x, 0) - 1, DIM(x, 1) - 1);
}

static void put(VIEW(i64, 0) y, i64 value)
{
    AT(y) = value;
}

KERNEL(shared, OUT(i64, 0, y), IN(i32, 2, x))
{
    put(y, corner(x));
    return OK;
}
