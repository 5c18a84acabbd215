/* A kernel for each kind of fault. `fault: KIND` stands on the line that `ferrule verify` has to
 * name; each kernel has those faults and no others. */
#include <ferrule/kernel.h>
#include <stdlib.h>
#include <string.h>

SIGNATURE(reads_behind, "(x: f32[n]) -> f32[n]");
KERNEL(reads_behind, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < SIZE(y); i++)
        DATA(y)[i] = DATA(x)[i + 1]; /* fault: out of bounds */
    return OK;
}

/* Only from a certain size on. */
SIGNATURE(reads_before, "(x: i64[n, 3]) -> i64[n, 3]");
KERNEL(reads_before, OUT(i64, 2, y), IN(i64, 2, x))
{
    for (index_t i = 0; i < SIZE(y); i++)
        DATA(y)
    [i] = DATA(x)[i < 100 ? i : -1]; /* fault: out of bounds */
    return OK;
}

SIGNATURE(writes_behind, "<T: f16|u8>(x: T[n]) -> T[n // 2]");
DTYPE_VAR(T, f16);
KERNEL(writes_behind, OUT(T, 1, y), IN(T, 1, x))
{
    for (index_t i = 0; i < (SIZE(x) + 1) / 2; i++)
        DATA(y)[i] = DATA(x)[i]; /* fault: out of bounds */
    return OK;
}

SIGNATURE(copies_too_much, "(x: f32[n]) -> f32[2 * n]");
/* In a function of the C library, called by a helper. */
static void copy(f32 *to, const f32 *from, index_t count)
{
    memcpy(to, from, (size_t)count * sizeof(f32)); /* fault: out of bounds */
}

KERNEL(copies_too_much, OUT(f32, 1, y), IN(f32, 1, x))
{
    copy(DATA(y), DATA(x), SIZE(y));
    return OK;
}

/* What is read lies in the tensor, but on another row. */
SIGNATURE(mixes_axes, "(x: i32[n, m]) -> i32[n, m] where n == m + 1");
KERNEL(mixes_axes, OUT(i32, 2, y), IN(i32, 2, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        for (index_t j = 0; j < DIM(y, 1); j++)
            AT(y, i, j) = AT(x, i, (j + 1) % DIM(y, 0)); /* fault: out of bounds */
    return OK;
}

SIGNATURE(overruns_scratch, "(x: f32[n]) -> f32[n]");
KERNEL(overruns_scratch, OUT(f32, 1, y), IN(f32, 1, x))
{
    f32 *sums = SCRATCH(f32, SIZE(x));
    for (index_t i = 0; i < SIZE(x); i++)
        sums[i + 1] = AT(x, i); /* fault: out of bounds */
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = AT(x, i);
    return OK;
}

SIGNATURE(skips_the_last, "(x: f32[n, m]) -> (y: f32[n], rest: f32[n, m])");
KERNEL(skips_the_last, OUT(f32, 1, y), OUT(f32, 2, rest), IN(f32, 2, x)) /* fault: not written */
{
    for (index_t i = 0; i < DIM(y, 0); i++) {
        AT(y, i) = 0;
        for (index_t j = 0; j + 1 < DIM(x, 1); j++)
            AT(rest, i, j) = AT(x, i, j);
    }
    return OK;
}

SIGNATURE(writes_an_operand, "(x: f32[n], inout z: f32[n]) -> ()");
KERNEL(writes_an_operand, IN(f32, 1, x), INOUT(f32, 1, z))
{
    f32 *from = (f32 *)DATA(x);
    for (index_t i = 0; i < SIZE(x); i++) {
        AT(z, i) += from[i];
        from[i] = 0; /* fault: operand written */
    }
    return OK;
}

SIGNATURE(remembers, "(x: i32[n]) -> i32[n]");
KERNEL(remembers, OUT(i32, 1, y), IN(i32, 1, x)) /* fault: different bits */
{
    static i32 num_calls;
    num_calls = num_calls < 1000 ? num_calls + 1 : 0;
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = num_calls;
    return OK;
}

SIGNATURE(takes_scratch_as_zero, "(x: i32[n]) -> i32[n]");
KERNEL(takes_scratch_as_zero, OUT(i32, 1, y), IN(i32, 1, x)) /* fault: different bits */
{
    u32 *sums = SCRATCH(u32, 1);
    for (index_t i = 0; i < SIZE(y); i++) {
        *sums += (u32)AT(x, i);
        AT(y, i) = (i32)*sums;
    }
    return OK;
}

SIGNATURE(counts_threads, "(x: i32[n]) -> i32[n]");
KERNEL(counts_threads, OUT(i32, 1, y), IN(i32, 1, x)) /* fault: different bits */
{
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = SIZE(y) > 1000 ? (i32)fer_kernel_context->num_threads : 0;
    return OK;
}

SIGNATURE(overflows, "(x: i32[n]) -> i32[n]");
MAP(overflows, i32, IN(i32, x))
{
    return x < 1000 ? x : x + 1; /* fault: undefined behaviour */
}

SIGNATURE(shifts, "<by: int = 4>(x: i32[n]) -> i32[n] where by > 0");
PARAM(int, by, 1);
MAP(shifts, i32, IN(i32, x))
{
    int places = by == 3 ? 33 : (int)by; /* a variable: else clang warns of it */
    return (1 << places) & x;            /* fault: undefined behaviour */
}

SIGNATURE(converts, "(x: f32[*s]) -> u8[*s]");
MAP(converts, u8, IN(f32, x))
{
    return (u8)(x < 0 ? 0 : x); /* fault: undefined behaviour */
}

SIGNATURE(overruns_the_stack, "(x: i32[n]) -> i32[]");
KERNEL(overruns_the_stack, OUT(i32, 0, y), IN(i32, 1, x))
{
    i32 last[8] = {0};
    for (index_t i = 0; i < SIZE(x) && i < 9; i++)
        last[i] = AT(x, i); /* fault: undefined behaviour */
    AT(y) = last[0];
    return OK;
}

SIGNATURE(divides, "(a: i64[n], b: i64[n]) -> i64[n]");
KERNEL(divides, OUT(i64, 1, y), IN(i64, 1, a), IN(i64, 1, b))
{
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = AT(a, i) % AT(b, i); /* fault: undefined behaviour */
    return OK;
}

SIGNATURE(aborts, "(x: i32[n, m]) -> i32[]");
KERNEL(aborts, OUT(i32, 0, y), IN(i32, 2, x))
{
    if (DIM(x, 0) == 0 && DIM(x, 1) > 1)
        abort(); /* fault: crash */
    AT(y) = 0;
    return OK;
}

SIGNATURE(leaves, "(x: i32[n]) -> i32[]");
KERNEL(leaves, OUT(i32, 0, y), IN(i32, 1, x)) /* fault: crash */
{
    if (SIZE(x) == 5)
        exit(0);
    AT(y) = 0;
    return OK;
}

SIGNATURE(never_ends, "(x: i32[n]) -> i32[]");
KERNEL(never_ends, OUT(i32, 0, y), IN(i32, 1, x))
{
    volatile index_t i = 0;
    while (SIZE(x) == 4 && i == 0) /* fault: endless */
        ;
    AT(y) = (i32)i;
    return OK;
}

SIGNATURE(counts_wrong, "(x: i32[n]) -> i32[k]");
SHAPE(counts_wrong, IN(i32, 1, x)) /* fault: wrong extent */
{
    EXTENT(k) = SIZE(x) - 1;
    return OK;
}
KERNEL(counts_wrong, OUT(i32, 1, y), IN(i32, 1, x))
{
    for (index_t i = 0; i < SIZE(y); i++)
        AT(y, i) = AT(x, i);
    return OK;
}
