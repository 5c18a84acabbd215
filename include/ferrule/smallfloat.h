/* The floats that C has no types for, in kernels: storage types and conversions. kernel.h includes
 * this and has the words for them (COMPUTE, WIDEN, NARROW, LOAD, STORE); authors need no other.
 *
 * f16 is IEEE 754's binary16, bf16 the upper half of a float, f8e4m3fn and f8e5m2 are OCP's "8-bit
 * Floating Point Specification" (OFP8). To float every conversion is exact. Back they round to
 * nearest, ties to even. OFP8 lets a conversion saturate or not: here it does not, so what is too
 * large becomes infinity, and NaN in f8e4m3fn, which has no infinity. A NaN becomes the quiet NaN
 * of its sign. There is no branch, so that loops vectorise.
 */
#ifndef FERRULE_SMALLFLOAT_H
#define FERRULE_SMALLFLOAT_H

#include <stdint.h>

#define FER_INLINE static inline __attribute__((always_inline, unused))

/* Structs, so that arithmetic on the bits does not compile. */
typedef struct fer_f16 {
    uint16_t bits;
} f16;
typedef struct fer_bf16 {
    uint16_t bits;
} bf16;
typedef struct fer_f8e4m3fn {
    uint8_t bits;
} f8e4m3fn;
typedef struct fer_f8e5m2 {
    uint8_t bits;
} f8e5m2;

/* X(tag, type, DLPack's code, argument) */
#define FER_SMALL_FLOATS(X, argument)                                                              \
    X(f16, f16, 2, argument)                                                                       \
    X(bf16, bf16, 4, argument)                                                                     \
    X(f8e4m3fn, f8e4m3fn, 10, argument)                                                            \
    X(f8e5m2, f8e5m2, 12, argument)

/* A format: the place of the sign bit, mantissa bits, the exponent's bias, the largest finite
 * number, what stands for too large, NaN. */
#define FER_FORMAT_f16 15, 10, 15, 0x7bff, 0x7c00, 0x7e00
#define FER_FORMAT_bf16 15, 7, 127, 0x7f7f, 0x7f80, 0x7fc0
#define FER_FORMAT_f8e4m3fn 7, 3, 7, 0x7e, 0x7f, 0x7f
#define FER_FORMAT_f8e5m2 7, 2, 15, 0x7b, 0x7c, 0x7e

typedef union fer_float {
    uint32_t bits;
    float value;
} fer_float;

enum { FER_INFINITY_BITS = 0x7f800000 };

FER_INLINE fer_float fer_float_of_bits(uint32_t bits)
{
    fer_float made;
    made.bits = bits;
    return made;
}

FER_INLINE fer_float fer_float_of_value(float value)
{
    fer_float made;
    made.value = value;
    return made;
}

/* As masks: of `?:` gcc makes a branch round an addition that may raise a floating-point flag. */
FER_INLINE uint32_t fer_select(int condition, uint32_t yes, uint32_t no)
{
    return no ^ ((yes ^ no) & -(uint32_t)condition);
}

FER_INLINE float fer_widen(uint32_t bits, int sign_bit, int mantissa_bits, int bias,
                           uint32_t max_finite, uint32_t overflow, uint32_t nan)
{
    const uint32_t magnitude = bits & ((1u << sign_bit) - 1);
    const uint32_t shifted = magnitude << (23 - mantissa_bits);
    const fer_float unit = fer_float_of_bits((uint32_t)(128 - bias - mantissa_bits) << 23);
    const fer_float subnormal = fer_float_of_value((float)(int32_t)magnitude * unit.value);
    fer_float wide = fer_float_of_bits(shifted + ((uint32_t)(127 - bias) << 23));
    (void)overflow;
    (void)nan;
    if (bias < 127)
        wide.bits = fer_select(magnitude >> mantissa_bits == 0, subnormal.bits, wide.bits);
    wide.bits = fer_select(magnitude > max_finite, shifted | FER_INFINITY_BITS, wide.bits);
    wide.bits |= bits >> sign_bit << 31;
    return wide.value;
}

/* Subnormals are rounded by an addition, to a number whose last place is their unit. */
FER_INLINE uint32_t fer_narrow(float value, int sign_bit, int mantissa_bits, int bias,
                               uint32_t max_finite, uint32_t overflow, uint32_t nan)
{
    const int shift = 23 - mantissa_bits;
    const fer_float wide = fer_float_of_value(value);
    const fer_float magnitude = fer_float_of_bits(wide.bits & 0x7fffffff);
    const fer_float unit = fer_float_of_bits((uint32_t)(151 - bias - mantissa_bits) << 23);
    const fer_float subnormal = fer_float_of_value(magnitude.value + unit.value);
    const uint32_t half = (1u << (shift - 1)) - 1 + (magnitude.bits >> shift & 1);
    uint32_t bits = ((magnitude.bits + half) >> shift) - ((uint32_t)(127 - bias) << mantissa_bits);
    if (bias < 127)
        bits = fer_select(magnitude.bits >> 23 < (uint32_t)(128 - bias), subnormal.bits - unit.bits,
                          bits);
    bits = fer_select(bits > max_finite, overflow, bits);
    bits = fer_select(magnitude.bits > FER_INFINITY_BITS, nan, bits);
    return bits | wide.bits >> 31 << sign_bit;
}

/* Rounded to odd: what lies between two floats becomes the odd one of them, so that rounding again,
 * to fewer bits, is as if it were the first time. */
FER_INLINE float fer_float_of_double(double value)
{
    fer_float odd = fer_float_of_value((float)value);
    const double nearest = (double)odd.value;
    odd.bits -= __builtin_fabs(nearest) > __builtin_fabs(value);
    odd.bits |= nearest != value;
    return odd.value;
}

#define FER_CONVERSIONS(tag, type, code, unused)                                                   \
    FER_INLINE float fer_widen_##tag(type element)                                                 \
    {                                                                                              \
        return fer_widen(element.bits, FER_FORMAT_##tag);                                          \
    }                                                                                              \
    FER_INLINE type fer_narrow_##tag(float value)                                                  \
    {                                                                                              \
        type element;                                                                              \
        element.bits = (__typeof__(element.bits))fer_narrow(value, FER_FORMAT_##tag);              \
        return element;                                                                            \
    }                                                                                              \
    FER_INLINE type fer_narrow_double_##tag(double value)                                          \
    {                                                                                              \
        return fer_narrow_##tag(fer_float_of_double(value));                                       \
    }
FER_SMALL_FLOATS(FER_CONVERSIONS, ~)

#endif
