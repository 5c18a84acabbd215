/* Each dtype, through the short name and through C's own types of the same kind. */
#include <ferrule/kernel.h>

#define COPY(name, type)                                                                           \
    KERNEL(copy_##name, OUT(type, 1, y), IN(type, 1, x))                                           \
    {                                                                                              \
        for (index_t i = 0; i < SIZE(x); i++)                                                      \
            DATA(y)[i] = DATA(x)[i];                                                               \
        return OK;                                                                                 \
    }

COPY(bool, bool)
COPY(i8, i8)
COPY(i16, i16)
COPY(i32, i32)
COPY(i64, i64)
COPY(u8, u8)
COPY(u16, u16)
COPY(u32, u32)
COPY(u64, u64)
COPY(f32, f32)
COPY(f64, f64)
COPY(f16, f16)
COPY(bf16, bf16)
COPY(f8e4m3fn, f8e4m3fn)
COPY(f8e5m2, f8e5m2)
COPY(signed_char, signed char)
COPY(long, long)
COPY(long_long, long long)
COPY(unsigned_long, unsigned long)
COPY(unsigned_long_long, unsigned long long)
COPY(index, index_t)

#define A_NUMBER long long
KERNEL(mixed, OUT(bool, 0, a), OUT(u16, 3, b), INOUT(f64, ANY, c), IN(A_NUMBER, 8, d),
       INOUT(i8, 1, e))
{
    return OK;
}

/* The most there can be. */
KERNEL(sixteen, OUT(i64, 0, a), OUT(i64, 0, b), IN(i64, 0, c), IN(i64, 0, d), IN(i64, 0, e),
       IN(i64, 0, f), IN(i64, 0, g), IN(i64, 0, h), IN(i64, 0, i), IN(i64, 0, j), IN(i64, 0, k),
       IN(i64, 0, l), IN(i64, 0, m), IN(i64, 0, n), IN(i64, 0, o), INOUT(i64, 0, p))
{
    AT(a) = AT(c) + AT(d) + AT(e) + AT(f) + AT(g) + AT(h) + AT(i) + AT(j) + AT(k) + AT(l) + AT(m);
    AT(b) = AT(n) * AT(o);
    AT(p) += 1;
    return OK;
}

MAP(sixteen_elements, i64, IN(i64, b), IN(i64, c), IN(i64, d), IN(i64, e), IN(i64, f), IN(i64, g),
    IN(i64, h), IN(i64, i), IN(i64, j), IN(i64, k), IN(i64, l), IN(i64, m), IN(i64, n), IN(i64, o),
    IN(i64, p))
{
    return b + c + d + e + f + g + h + i + j + k + l + m + n + o - p;
}
