/* Elementwise functions. */
#include <ferrule/kernel.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
/* glibc has a vector twin of this function, whose last bit often differs from the scalar one's. */
__attribute__((simd("notinbranch"), const)) float expf(float x);
#else
float expf(float x);
#endif

DTYPE_VAR(T, f32);

MAP(scale, T, IN(T, x), IN(T, k))
{
    return x * k;
}

MAP(choose, i16, IN(bool, which), IN(i8, a), IN(u32, b))
{
    return which ? (i16)a : (i16)b;
}

MAP(widen, f64, IN(u8, x))
{
    return x + 0.25;
}

/* A division traps when a filled-up block holds a zero that is no element. */
MAP(divide, i32, IN(i32, a), IN(i32, b))
{
    return a / b;
}

MAP(growth, f32, IN(f32, x))
{
    return expf(x);
}
