/* One kernel that links, and others that do only where nobody wants them. */
#include <ferrule/kernel.h>

PARAM(int, absent, 1);

KERNEL(linkable, OUT(i64, 0, y), IN(i64, 0, x))
{
    AT(y) = AT(x) + 1;
    return OK;
}

KERNEL(uses_absent, OUT(i64, 0, y))
{
    AT(y) = absent;
    return OK;
}

/* Nothing defines it. */
extern i64 defined_nowhere(i64 x);

static inline i64 through_a_helper(i64 x)
{
    return defined_nowhere(x);
}

MAP(unlinkable_map, i64, IN(i64, x))
{
    return through_a_helper(x);
}

KERNEL(unlinkable, OUT(i64, 0, y), IN(i64, 0, x))
{
    AT(y) = through_a_helper(AT(x));
    return OK;
}

SHAPE(unlinkable, IN(i64, 0, x))
{
    EXTENT(n) = defined_nowhere(AT(x));
    return OK;
}
