/* Kernels, operands and parameters called like functions and macros of the C library, like words of
 * the header's own inside, and like each other. */
#include <complex.h>
#include <errno.h>
#include <ferrule/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

SIGNATURE(exp, "(x: f32[*s]) "
               "-> f32[*s]");
PARAM(int, n, 5);
PARAM(int, x, 7);
PARAM(float, function, 0.5);

MAP(exp, f32, IN(f32, x))
{
    return (f32)exp((double)x);
}

MAP(isnan, bool, IN(f64, x))
{
    return isnan(x);
}

MAP(sqrt, f64, IN(f64, sqrt))
{
    return sqrt;
}

KERNEL(index, OUT(i64, 1, y), IN(i64, 0, n))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(n) + i;
    return OK;
}

KERNEL(y0, OUT(i64, 0, y0), IN(i64, 0, index))
{
    AT(y0) = AT(index) + n + x;
    return OK;
}

/* With `add`, what the header derives from one kernel's name must not be another kernel's. */
KERNEL(add, OUT(f64, 0, data), IN(f64, 0, size), IN(f64, 0, extent))
{
    AT(data) = AT(size) + AT(extent) + function;
    return OK;
}

KERNEL(add_run, OUT(f64, 0, y), IN(f64, 0, rank))
{
    AT(y) = AT(rank);
    return OK;
}

KERNEL(function, OUT(f64, 0, y), IN(f64, 0, context))
{
    AT(y) = AT(context);
    return OK;
}

KERNEL(context, OUT(f64, 0, y), IN(f64, 0, fail))
{
    CHECK(AT(fail) >= 0, "%g is negative", AT(fail));
    AT(y) = AT(fail);
    return OK;
}

MAP(blocks, f64, IN(f64, block), IN(f64, step))
{
    return block - step;
}
