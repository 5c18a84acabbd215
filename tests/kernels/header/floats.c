/* The small floats: conversions in MAPs and KERNELs, and numbers to compute with. */
#include <ferrule/kernel.h>

#define CONVERSIONS(dtype)                                                                         \
    MAP(widen_##dtype, f32, IN(dtype, x))                                                          \
    {                                                                                              \
        return x;                                                                                  \
    }                                                                                              \
    MAP(narrow_##dtype, dtype, IN(f32, x))                                                         \
    {                                                                                              \
        return x;                                                                                  \
    }                                                                                              \
    MAP(narrow_double_##dtype, dtype, IN(f64, x))                                                  \
    {                                                                                              \
        return x;                                                                                  \
    }                                                                                              \
    MAP(add_##dtype, dtype, IN(dtype, a), IN(dtype, b))                                            \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    KERNEL(stored_##dtype, OUT(dtype, 1, y), OUT(dtype, 1, z), IN(dtype, 1, x), IN(f64, 1, more))  \
    {                                                                                              \
        for (index_t i = 0; i < SIZE(x); i++) {                                                    \
            STORE(y, LOAD(x, i) + 1, i);                                                           \
            STORE(z, LOAD(more, i), i);                                                            \
        }                                                                                          \
        return OK;                                                                                 \
    }

CONVERSIONS(f16)
CONVERSIONS(bf16)
CONVERSIONS(f8e4m3fn)
CONVERSIONS(f8e5m2)

/* An i32 has more bits than a float, so this too is rounded once. */
MAP(narrow_i32, bf16, IN(i32, x))
{
    return x;
}

/* Native dtypes go through the same words unchanged. */
DTYPE_VAR(T, f16);
PARAM(float, bias, 3.75);
KERNEL(native, OUT(i64, 0, y), OUT(bool, 0, b), OUT(u8, 2, m), INOUT(T, 0, t), IN(i64, ANY, x))
{
    const COMPUTE(T) half = LOAD(t) / 2;
    const COMPUTE(i64) whole = WIDEN(DATA(x)[0]);
    STORE(t, half);
    STORE(y, whole);
    STORE(b, half);
    STORE(m, bias, 1, 2);
    DATA(m)[0] = NARROW(u8, LOAD(m, 1, 2) + 1);
    _Static_assert(sizeof(COMPUTE(f16)) == 4 && sizeof(COMPUTE(u8)) == 1 &&
                       sizeof(COMPUTE(f64)) == 8,
                   "small floats alone have another type to compute in");
    return OK;
}
