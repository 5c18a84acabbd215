#include <ferrule/kernel.h>

DTYPE_VAR(T, f32);
DTYPE_VAR(to, f32);
PARAM(int, g, 2);
PARAM(float, by, 1);
PARAM(bool, flip, false);
PARAM(str, mode, "plain");

SIGNATURE(group, "<g: int = 2>(x: f32[n, g]) -> f32[n * g // 2]");

KERNEL(group, OUT(f32, 1, y), IN(f32, 2, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = DATA(x)[i] * (f32)g;
    return OK;
}

SIGNATURE(shrink, "<g: int>(x: f32[n]) -> f32[n // g]");

KERNEL(shrink, OUT(f32, 1, y), IN(f32, 1, x))
{
    for (index_t i = 0; i < DIM(y, 0); i++)
        AT(y, i) = AT(x, i * g);
    return OK;
}

SIGNATURE(scale, "<T: any_float, by: float = 2.0, flip: bool = false, mode: str = \"plain\">"
                 "(x: T[n]) -> T[n]");

KERNEL(scale, OUT(T, 1, y), IN(T, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++)
        STORE(y, LOAD(x, i) * (COMPUTE(T))(flip ? -by : by) + (mode[0] == 'o'), i);
    return OK;
}

SIGNATURE(as_type, "<T, to: dtype = f32>(x: T[n]) -> to[n]");

KERNEL(as_type, OUT(to, 1, y), IN(T, 1, x))
{
    for (index_t i = 0; i < DIM(x, 0); i++)
        STORE(y, LOAD(x, i), i);
    return OK;
}

SIGNATURE(add_scalar, "<T: f32|f64|i64|u64|bool>(x: T[n], by: T[]) -> T[n]");

KERNEL(add_scalar, OUT(T, 1, y), IN(T, 1, x), IN(T, 0, by))
{
    for (index_t i = 0; i < DIM(x, 0); i++)
        AT(y, i) = (T)(AT(x, i) + AT(by));
    return OK;
}

SIGNATURE(pair, "<T: i32|f32>(a: T[n], b: T[n]) -> T[n]");

KERNEL(pair, OUT(T, 1, y), IN(T, 1, a), IN(T, 1, b))
{
    for (index_t i = 0; i < DIM(a, 0); i++)
        AT(y, i) = (T)(AT(a, i) + AT(b, i));
    return OK;
}

SIGNATURE(keep, "(x: f32[n], mask: bool[n]) -> f32[kept]");

SHAPE(keep, IN(f32, 1, x), IN(bool, 1, mask))
{
    index_t kept = 0;
    for (index_t i = 0; i < DIM(x, 0); i++)
        kept += AT(mask, i);
    EXTENT(kept) = kept;
    return OK;
}

KERNEL(keep, OUT(f32, 1, y), IN(f32, 1, x), IN(bool, 1, mask))
{
    index_t next = 0;
    for (index_t i = 0; i < DIM(x, 0); i++)
        if (AT(mask, i))
            AT(y, next++) = AT(x, i);
    return OK;
}
