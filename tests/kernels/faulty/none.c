/* Without a fault, and next to one. */
#include <ferrule/kernel.h>

SIGNATURE(refuses_all, "(x: i32[n]) -> i32[n]");
KERNEL(refuses_all, OUT(i32, 1, y), IN(i32, 1, x))
{
    FAIL("%lld elements are not what I like", (long long)SIZE(x));
}

/* Misses nothing: all is written once at most, and only what is its own. */
SIGNATURE(is_good, "<T: u8|bf16, group: int, keep: bool = true>"
                   "(x: T[n, m], index: i64[k], inout total: u64[]) -> (y: T[k, m], z: T[kept]) "
                   "where n == group * k, m > 2");
DTYPE_VAR(T, f32);
PARAM(int, group, 1);
PARAM(bool, keep, false);
SHAPE(is_good, IN(T, 2, x), IN(i64, 1, index), IN(u64, 0, total))
{
    EXTENT(kept) = keep ? SIZE(x) : 0;
    return OK;
}
KERNEL(is_good, OUT(T, 2, y), OUT(T, 1, z), IN(T, 2, x), IN(i64, 1, index), INOUT(u64, 0, total))
{
    T *copy = SCRATCH(T, SIZE(x));
    for (index_t i = 0; i < SIZE(x); i++)
        copy[i] = DATA(x)[i];
    for (index_t i = 0; i < SIZE(z); i++)
        AT(z, i) = copy[SIZE(z) - 1 - i];
    for (index_t i = 0; i < DIM(y, 0); i++) {
        const index_t from = AT(index, i);
        CHECK(from >= 0 && from < DIM(x, 0), "there is no row %lld", (long long)from);
        for (index_t j = 0; j < DIM(y, 1); j++)
            AT(y, i, j) = AT(x, from, j);
    }
    AT(total) += (u64)SIZE(x);
    return OK;
}

/* An effect may be another at each call. */
SIGNATURE(draws, "(x: i32[n]) -> i32[n] effect");
KERNEL(draws, OUT(i32, 1, y), IN(i32, 1, x))
{
    static u32 state = 1;
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = (i32)((state = state * 1664525 + 1013904223) >> 1);
    return OK;
}

/* A MAP says by itself how its sizes belong together; a KERNEL does not. */
MAP(has_no_signature, f32, IN(f32, a), IN(f64, b))
{
    return a * (f32)b;
}

KERNEL(has_no_signature_either, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, i);
    return OK;
}
