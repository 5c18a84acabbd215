#include <ferrule/kernel.h>

/* Tensors of any shape as vectors. */
SIGNATURE(dot, "(a: f64[*s], b: f64[*s]) -> f64[]");
SIGNATURE(add_scaled, "(a: f64[*s], by: f64[], b: f64[*s]) -> f64[*s]");

KERNEL(dot, OUT(f64, 0, y), IN(f64, ANY, a), IN(f64, ANY, b))
{
    f64 total = 0;
    for (index_t i = 0; i < SIZE(a); i++)
        total += DATA(a)[i] * DATA(b)[i];
    AT(y) = total;
    return OK;
}

/* a + by b */
MAP(add_scaled, f64, IN(f64, a), IN(f64, by), IN(f64, b))
{
    return a + by * b;
}
