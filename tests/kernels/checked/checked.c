/* A kernel for each fault that a checked call finds. Each copies its operand, and is faulty where
 * `turn` is 1. The tests know the lines. */
#include <ferrule/kernel.h>

static void copy(VIEW(f32, 1) y, VIEW(const f32, 1) x)
{
    for (index_t i = 0; i < SIZE(y); i++)
        DATA(y)[i] = DATA(x)[i];
}

SIGNATURE(writes_operand, "(x: f32[n], turn: i64[]) -> (y: f32[n])");
KERNEL(writes_operand, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    copy(y, x);
    for (index_t i = 1; i < SIZE(x) && AT(turn) == 1; i++)
        ((f32 *)(uintptr_t)DATA(x))[i] = 100;
    return OK;
}

SIGNATURE(writes_behind, "(x: f32[n], turn: i64[]) -> (y: f32[n])");
KERNEL(writes_behind, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    copy(y, x);
    if (AT(turn) == 1)
        DATA(y)[SIZE(y)] = 0;
    return OK;
}

SIGNATURE(writes_before, "(x: f32[n], turn: i64[]) -> f32[n]");
KERNEL(writes_before, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    copy(y, x);
    if (AT(turn) == 1)
        DATA(y)[-1] = 0;
    return OK;
}

/* The operand that is `inout` has its own bounds. */
SIGNATURE(writes_beside, "(x: f32[n], turn: i64[], inout total: f64[]) -> (y: f32[n])");
KERNEL(writes_beside, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn), INOUT(f64, 0, total))
{
    copy(y, x);
    AT(total) += 1;
    if (AT(turn) == 1)
        DATA(total)[2] = 0;
    return OK;
}

SIGNATURE(indexes_outside, "(x: f32[n], turn: i64[]) -> (y: f32[n])");
KERNEL(indexes_outside, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    copy(y, x);
    if (AT(turn) == 1)
        AT(y, 0) = AT(x, 1000000007) + AT(x, -3);
    return OK;
}

SIGNATURE(writes_outside, "(x: f32[n], turn: i64[]) -> (y: f32[n])");
KERNEL(writes_outside, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    copy(y, x);
    if (AT(turn) == 1)
        AT(y, DIM(y, 0)) = 1;
    CHECK(AT(turn) != 1, "what comes after a fault is not told");
    return OK;
}

SIGNATURE(asks_outside, "(x: f32[*s], turn: i64[]) -> (y: f32[*s])");
KERNEL(asks_outside, OUT(f32, ANY, y), IN(f32, ANY, x), IN(i64, 0, turn))
{
    for (index_t i = 0; i < SIZE(y); i++)
        DATA(y)[i] = DATA(x)[i];
    if (AT(turn) == 1 && DIM(x, RANK(x)) == 5)
        DATA(y)[0] = 3;
    return OK;
}

SIGNATURE(overruns_scratch, "(x: f32[n], turn: i64[]) -> (y: f32[n])");
KERNEL(overruns_scratch, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    f32 *room = SCRATCH(f32, SIZE(x));
    copy(y, x);
    room[AT(turn) == 1 ? SIZE(x) : 0] = 1;
    return OK;
}

SIGNATURE(forgets, "(x: f32[n], turn: i64[]) -> (y: f32[n])");
KERNEL(forgets, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    for (index_t i = 0; i < SIZE(y); i++)
        if (AT(turn) != 1 || i == 0)
            DATA(y)[i] = DATA(x)[i];
    return OK;
}

/* The same of an op that must run once: it counts how often it did. */
SIGNATURE(forgets_once, "(x: f32[n], turn: i64[], inout total: f64[]) -> (y: f32[n])");
KERNEL(forgets_once, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn), INOUT(f64, 0, total))
{
    AT(total) += 1;
    for (index_t i = 0; i < SIZE(y); i++)
        if (AT(turn) != 1 || i == 0)
            DATA(y)[i] = DATA(x)[i];
    return OK;
}

SIGNATURE(measures, "(x: f32[n], turn: i64[]) -> (y: f32[kept])");
SHAPE(measures, IN(f32, 1, x), IN(i64, 0, turn))
{
    EXTENT(kept) = SIZE(x);
    if (AT(turn) == 1)
        ((f32 *)(uintptr_t)DATA(x))[0] = 100;
    return OK;
}
KERNEL(measures, OUT(f32, 1, y), IN(f32, 1, x), IN(i64, 0, turn))
{
    copy(y, x);
    return OK;
}

/* Every byte of the result is what no byte is before. */
SIGNATURE(same_bytes, "(byte: u8[], x: u8[n]) -> u8[n]");
KERNEL(same_bytes, OUT(u8, 1, y), IN(u8, 0, byte), IN(u8, 1, x))
{
    for (index_t i = 0; i < SIZE(y); i++)
        DATA(y)[i] = AT(byte);
    return OK;
}

/* An index of a tensor that has no element, far away. */
SIGNATURE(touches_nothing, "(x: f32[n, m, k]) -> f32[]");
KERNEL(touches_nothing, OUT(f32, 0, y), IN(f32, 3, x))
{
    AT(y) = AT(x, 0, 0, DIM(x, 2) - 1);
    return OK;
}

/* Tries all that it may do. */
SIGNATURE(adds_up, "(x: f32[n], inout total: f32[n]) -> (sums: f32[n], last: f32[])");
KERNEL(adds_up, OUT(f32, 1, sums), OUT(f32, 0, last), IN(f32, 1, x), INOUT(f32, 1, total))
{
    f32 *room = SCRATCH(f32, SIZE(x));
    f32 sum = 0;
    for (index_t i = 0; i < SIZE(x); i++)
        room[i] = sum += AT(x, i);
    for (index_t i = 0; i < SIZE(x); i++) {
        AT(sums, i) = room[i];
        AT(total, i) += AT(x, i);
    }
    AT(last) = sum;
    return OK;
}
