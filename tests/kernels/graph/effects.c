#include <ferrule/kernel.h>

SIGNATURE(accumulate, "(inout total: f32[n], x: f32[n]) -> ()");

KERNEL(accumulate, INOUT(f32, 1, total), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(total, 0); i++)
        AT(total, i) += AT(x, i);
    return OK;
}

/* Gives what stood there. */
SIGNATURE(replace, "(inout x: f32[n], by: f32[n]) -> f32[n]");

KERNEL(replace, OUT(f32, 1, old), INOUT(f32, 1, x), IN(f32, 1, by))
{
    for (index_t i = 0; i < DIM(x, 0); i++) {
        AT(old, i) = AT(x, i);
        AT(x, i) = AT(by, i);
    }
    return OK;
}

/* Counts its calls where the caller says. */
SIGNATURE(count_call, "(address: i64[]) -> f32[] effect");

KERNEL(count_call, OUT(f32, 0, y), IN(i64, 0, address))
{
    *(long *)AT(address) += 1;
    AT(y) = 0;
    return OK;
}

SIGNATURE(silent_count, "(address: i64[]) -> f32[]");

KERNEL(silent_count, OUT(f32, 0, y), IN(i64, 0, address))
{
    *(long *)AT(address) += 1;
    AT(y) = 0;
    return OK;
}

SIGNATURE(refuse_negative, "(x: f32[n]) -> f32[n]");

KERNEL(refuse_negative, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++) {
        CHECK(AT(x, i) >= 0, "element %d is %g, below 0", (int)i, (double)AT(x, i));
        AT(y, i) = AT(x, i);
    }
    return OK;
}
