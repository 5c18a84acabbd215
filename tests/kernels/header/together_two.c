#include "together.h"

/* The text stands in another file than its kernel. */
SIGNATURE(twice, "(x: i64[]) -> i64[]");

MAP(four_times, i64, IN(i64, x))
{
    return twice(twice(x));
}
