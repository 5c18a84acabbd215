/* exp, log, tanh, erf and the normal distribution in plain C without branches, which gcc and clang
 * vectorise at any width: an element gets the same bits in vectors, in their tails and alone, from
 * either compiler, on every machine. (libmvec's routines for 4, 8 and 16 floats differ in their
 * last bits, and libm's from all of them, so that what they give depends on the width which a
 * compiler chose for a loop.)
 *
 * EXP(x), LOG(x), ... take a float or a double, by x's type. docs/standard.md says how far they
 * err. Polynomials are Chebyshev fits, highest power first.
 */
#ifndef FERRULE_STD_ELEMENTARY_H
#define FERRULE_STD_ELEMENTARY_H

#include "std.h"
#include <math.h>

#define EXP(x) _Generic((x), float : exp_single, double : exp_double)(x)
#define LOG(x) _Generic((x), float : log_single, double : log_double)(x)
#define TANH(x) _Generic((x), float : tanh_single, double : tanh_double)(x)
#define ERF(x) _Generic((x), float : erf_single, double : erf_double)(x)
#define ABSOLUTE(x) _Generic((x), float : fabsf, double : fabs)(x)
/* The normal distribution's Phi(x) = erfc(-x / sqrt(2)) / 2. */
#define NORMAL(x) _Generic((x), float : normal_single, double : normal_double)(x)

typedef union single_bits {
    float value;
    uint32_t bits;
} single_bits;

typedef union double_bits {
    double value;
    uint64_t bits;
} double_bits;

/* Added and taken away again these round to an integer; in between the low bits hold it. */
#define TO_INTEGER_SINGLE 0x1.8p23F
#define TO_INTEGER_DOUBLE 0x1.8p52

#define HORNER_2(sum, x, a, b) (((sum) * (x) + (a)) * (x) + (b))
#define HORNER_3(sum, x, a, b, c) (HORNER_2(sum, x, a, b) * (x) + (c))
#define HORNER_6(sum, x, a, b, c, d, e, f) HORNER_3(HORNER_3(sum, x, a, b, c), x, d, e, f)

/* 2^n for an integer n that has a normal power. */
FER_INLINE float power_of_2_single(float n)
{
    const single_bits sum = {.value = n + TO_INTEGER_SINGLE};
    const single_bits power = {.bits = (sum.bits << 23) + 0x3f800000};
    return power.value;
}

FER_INLINE double power_of_2_double(double n)
{
    const double_bits sum = {.value = n + TO_INTEGER_DOUBLE};
    const double_bits power = {.bits = (sum.bits << 52) + 0x3ff0000000000000};
    return power.value;
}

/* --- exp -------------------------------------------------------------------------------------- */

/* exp(r) - 1 for |r| <= log(2) / 2: r and r^2 times a fit of (exp(r) - 1 - r) / r^2. */
FER_INLINE float exp_less_1_single(float r)
{
    const float fit = HORNER_3(HORNER_2(0x1.a124f2p-13F, r, 0x1.6d4324p-10F, 0x1.1110ep-7F), r,
                               0x1.5554eap-5F, 0x1.555556p-3F, 0x1p-1F);
    return r + r * r * fit;
}

FER_INLINE double exp_less_1_double(double r)
{
    const double fit =
        HORNER_3(HORNER_6(0x1.af38a9b0ec855p-26, r, 0x1.289185613a3d6p-22, 0x1.71de0dae63bb3p-19,
                          0x1.a019b90d2ae7ap-16, 0x1.a01a01a7c41d5p-13, 0x1.6c16c1788bd9p-10,
                          0x1.11111111109b3p-7),
                 r, 0x1.5555555553d63p-5, 0x1.5555555555556p-3, 0x1p-1);
    return r + r * r * fit;
}

/* x - n log(2), log(2) in two parts, of which n times the first is exact. */
FER_INLINE float reduce_single(float x, float n)
{
    return x - n * 0x1.62ep-1F - n * 0x1.0bfbe8p-15F;
}

FER_INLINE double reduce_double(double x, double n)
{
    return x - n * 0x1.62e42feep-1 - n * 0x1.a39ef35793c76p-33;
}

FER_INLINE float round_single(float x)
{
    return x + TO_INTEGER_SINGLE - TO_INTEGER_SINGLE;
}

FER_INLINE double round_double(double x)
{
    return x + TO_INTEGER_DOUBLE - TO_INTEGER_DOUBLE;
}

/* exp(x + rest) = 2^n exp(r), `rest` being small. Scaled in two steps, so that a subnormal result
 * is rounded once and none is infinite before its time. The limits are beyond what has a finite
 * result. NaN passes them. */
FER_INLINE float exp_sum_single(float x, float rest)
{
    const float below = x > 100.0F ? 100.0F : x;
    const float limited = below < -120.0F ? -120.0F : below;
    const float n = round_single(limited * 0x1.715476p+0F);
    const float half = round_single(n * 0.5F);
    const float y = 1.0F + exp_less_1_single(reduce_single(limited, n) + rest);
    return y * power_of_2_single(half) * power_of_2_single(n - half);
}

FER_INLINE double exp_sum_double(double x, double rest)
{
    const double below = x > 720.0 ? 720.0 : x;
    const double limited = below < -800.0 ? -800.0 : below;
    const double n = round_double(limited * 0x1.71547652b82fep+0);
    const double half = round_double(n * 0.5);
    const double y = 1.0 + exp_less_1_double(reduce_double(limited, n) + rest);
    return y * power_of_2_double(half) * power_of_2_double(n - half);
}

FER_INLINE float exp_single(float x)
{
    return exp_sum_single(x, 0.0F);
}

FER_INLINE double exp_double(double x)
{
    return exp_sum_double(x, 0.0);
}

/* --- tanh ------------------------------------------------------------------------------------- */

/* t = exp(-2|x|) - 1 loses no digits near 0, and tanh |x| = -t / (2 + t). */
FER_INLINE float tanh_single(float x)
{
    const float magnitude = fabsf(x);
    const float limited = -2.0F * (magnitude > 10.0F ? 10.0F : magnitude);
    const float n = round_single(limited * 0x1.715476p+0F);
    const float scale = power_of_2_single(n);
    const float t = scale * exp_less_1_single(reduce_single(limited, n)) + (scale - 1.0F);
    return copysignf(t / (2.0F + t), x);
}

FER_INLINE double tanh_double(double x)
{
    const double magnitude = fabs(x);
    const double limited = -2.0 * (magnitude > 22.0 ? 22.0 : magnitude);
    const double n = round_double(limited * 0x1.71547652b82fep+0);
    const double scale = power_of_2_double(n);
    const double t = scale * exp_less_1_double(reduce_double(limited, n)) + (scale - 1.0);
    return copysign(t / (2.0 + t), x);
}

/* --- log -------------------------------------------------------------------------------------- */

/* x = 2^k m with m between sqrt(1/2) and sqrt(2). With f = m - 1 and s = f / (2 + f), log(m) is
 * 2 artanh(s) = f - (f^2 / 2 - s (f^2 / 2 + R)), R being s^2 times a fit of 2 (artanh(s) / s - 1) /
 * s^2: so f, which is exact, leads. The form is that of FDLIBM's e_log.c. */
FER_INLINE float log_single(float x)
{
    const bool is_subnormal = x < 0x1p-126F;
    const float scaled = x * 0x1p23F;
    const single_bits whole = {.value = is_subnormal ? scaled : x};
    const uint32_t offset = whole.bits - 0x3f3504f3 + 0x3f800000;
    const single_bits exponent = {.bits = (offset >> 23) + 0x4b000000};
    const float k = exponent.value - (is_subnormal ? 0x1p23F + 150.0F : 0x1p23F + 127.0F);
    const single_bits mantissa = {.bits = (offset & 0x7fffff) + 0x3f3504f3};
    const float f = mantissa.value - 1.0F;
    const float s = f / (2.0F + f);
    const float w = s * s;
    const float r = w * HORNER_3(0x1.ddda0ep-3F, w, 0x1.245c0ap-2F, 0x1.9999ecp-2F, 0x1.555556p-1F);
    const float half_square = 0.5F * f * f;
    const float rest = half_square - (s * (half_square + r) + k * 0x1.0bfbe8p-15F);
    const float y = k * 0x1.62ep-1F - (rest - f);
    const float special = x == 0.0F ? -INFINITY : NAN;
    const float finite = x > 0.0F ? y : special;
    return x == INFINITY ? x : finite;
}

FER_INLINE double log_double(double x)
{
    const bool is_subnormal = x < 0x1p-1022;
    const double scaled = x * 0x1p52;
    const double_bits whole = {.value = is_subnormal ? scaled : x};
    const uint64_t offset = whole.bits - 0x3fe6a09e667f3bcd + 0x3ff0000000000000;
    const double_bits exponent = {.bits = (offset >> 52) + 0x4330000000000000};
    const double k = exponent.value - (is_subnormal ? 0x1p52 + 1075.0 : 0x1p52 + 1023.0);
    const double_bits mantissa = {.bits = (offset & 0xfffffffffffff) + 0x3fe6a09e667f3bcd};
    const double f = mantissa.value - 1.0;
    const double s = f / (2.0 + f);
    const double w = s * s;
    const double r = w * HORNER_6(0x1.2b6688a387e03p-3, w, 0x1.39fd392179a95p-3,
                                  0x1.7462bd8f7796ep-3, 0x1.c71c62c639fdep-3, 0x1.2492492e09d4dp-2,
                                  0x1.9999999995204p-2, 0x1.5555555555558p-1);
    const double half_square = 0.5 * f * f;
    const double rest = half_square - (s * (half_square + r) + k * 0x1.a39ef35793c76p-33);
    const double y = k * 0x1.62e42feep-1 - (rest - f);
    const double special = x == 0.0 ? -(double)INFINITY : (double)NAN;
    const double finite = x > 0.0 ? y : special;
    return x == (double)INFINITY ? x : finite;
}

/* --- erf -------------------------------------------------------------------------------------- */

/* Below 1 x times a fit of erf(x) / x in w = x^2. From there to 4, where erf rounds to 1, it is
 * 1 - exp(-g), with a fit of g(x) = -log(erfc(x)). */
FER_INLINE float erf_single(float x)
{
    const float magnitude = fabsf(x);
    const float limited = magnitude > 4.0F ? 4.0F : magnitude;
    const float g =
        HORNER_2(HORNER_6(-0x1.b7783p-20F, limited, 0x1.825ce4p-15F, -0x1.38e5e6p-11F,
                          0x1.37ecc6p-8F, -0x1.b0e246p-6F, 0x1.c2e356p-4F, 0x1.437eb4p-1F),
                 limited, 0x1.2156fap+0F, -0x1.4fb068p-12F);
    const float n = round_single(g * -0x1.715476p+0F);
    const float scale = power_of_2_single(n);
    const float tail = scale + scale * exp_less_1_single(reduce_single(-g, n));
    const float far = copysignf(1.0F - tail, x);
    const float w = x * x;
    const float near =
        x * HORNER_6(0x1.4a569p-14F, w, -0x1.a45088p-11F, 0x1.541270p-8F, -0x1.b7fabap-6F,
                     0x1.ce2d1p-4F, -0x1.81273ep-2F, 0x1.20dd74p+0F);
    return magnitude < 1.0F ? near : far;
}

/* exp(x^2) erfc(x) for x >= 0: (1 + 2x) times that is smooth in t = (x - 3.75) / (x + 3.75), as
 * Shepherd and Laframboise found (Mathematics of Computation 36, 1981). Fits for x <= 10.5 and for
 * x <= 28. */
FER_INLINE float scaled_erfc_single(float x)
{
    const float t = (x - 3.75F) / (x + 3.75F);
    const float first = HORNER_2(0x1.205b86p-10F, t, 0x1.2f74bcp-9F, -0x1.4558c8p-7F);
    const float second = HORNER_6(first, t, 0x1.cb509cp-6F, -0x1.e121fcp-5F, 0x1.7a5186p-4F,
                                  -0x1.bd9c82p-4F, 0x1.50fd38p-4F, 0x1.d5d9ecp-9F);
    const float fit = second * t * t + (0x1.3ccdap+0F - 0x1.1f366cp-3F * t);
    return fit / (1.0F + 2.0F * x);
}

FER_INLINE double scaled_erfc_double(double x)
{
    const double t = (x - 3.75) / (x + 3.75);
    const double first =
        HORNER_6(HORNER_6(-0x1.0c015eaa8b165p-30, t, -0x1.578c881e7c118p-28, 0x1.c09f301813242p-33,
                          0x1.5e3e959653251p-25, 0x1.37c7f966b7138p-26, -0x1.1a66fb1dcfff8p-22,
                          -0x1.cc96e43b85d7dp-25),
                 t, 0x1.d74eb80ca8715p-20, -0x1.05ba6798fe429p-20, -0x1.8014367d95749p-17,
                 0x1.778ce9b2d52p-16, 0x1.b145555f6d1e5p-15, -0x1.303fa5bf1908ep-12);
    const double second =
        HORNER_6(first, t, 0x1.33fb1ce091b75p-12, 0x1.cc3a0e5c60f68p-10, -0x1.3f603c2b6c6eap-7,
                 0x1.d0b0037d94f6ep-6, -0x1.e0d0fa6e2aab9p-5, 0x1.7a14188a9a07ep-4);
    const double fit =
        HORNER_3(second, t, -0x1.bda9309a27b0bp-4, 0x1.510169d096806p-4, 0x1.d5f2948159649p-9) * t *
            t +
        (0x1.3ccda0b5d5dc2p+0 - 0x1.1f367683f89a7p-3 * t);
    return fit / (1.0 + 2.0 * x);
}

/* exp(-factor x^2), factor being a power of 2: the square is a sum whose first part is exact. */
FER_INLINE float exp_minus_square_single(float x, float factor)
{
    single_bits upper = {.value = x};
    upper.bits &= 0xfffff000;
    const float lower = (x - upper.value) * (x + upper.value);
    return exp_sum_single(-factor * upper.value * upper.value, -factor * lower);
}

FER_INLINE double exp_minus_square_double(double x, double factor)
{
    double_bits upper = {.value = x};
    upper.bits &= 0xfffffffff8000000;
    const double lower = (x - upper.value) * (x + upper.value);
    return exp_sum_double(-factor * upper.value * upper.value, -factor * lower);
}

/* As erf_single, but for the tail. */
FER_INLINE double erf_double(double x)
{
    const double magnitude = fabs(x);
    const double limited = magnitude > 6.0 ? 6.0 : magnitude;
    const double tail = scaled_erfc_double(limited) * exp_minus_square_double(limited, 1.0);
    const double far = copysign(1.0 - tail, x);
    const double w = x * x;
    const double near =
        x * HORNER_6(HORNER_6(0x1.05ffd737fb32ep-34, w, -0x1.389d4f2641625p-30,
                              0x1.f7b4bf3b13964p-27, -0x1.5f1ecb6f0764cp-23, 0x1.b9df224ca4b97p-20,
                              -0x1.f4d1e3183f7aep-17, 0x1.f9a321d5b8e1ep-14),
                     w, -0x1.c02db3dac435fp-11, 0x1.565bcd0dbaa38p-8, -0x1.b82ce31284ep-6,
                     0x1.ce2f21a042b3p-4, -0x1.812746b0379e6p-2, 0x1.20dd750429b6dp+0);
    return magnitude < 1.0 ? near : far;
}

/* --- the normal distribution ------------------------------------------------------------------
 *
 * erfc(-x / sqrt(2)) / 2. The quotient is rounded only where it hardly matters: the exponential
 * takes x itself. */
FER_INLINE float normal_single(float x)
{
    const float magnitude = fabsf(x);
    const float limited = magnitude > 14.5F ? 14.5F : magnitude;
    const float tail = 0.5F * scaled_erfc_single(limited * 0x1.6a09e6p-1F) *
                       exp_minus_square_single(limited, 0.5F);
    const float rest = 1.0F - tail;
    return x > 0.0F ? rest : tail;
}

FER_INLINE double normal_double(double x)
{
    const double magnitude = fabs(x);
    const double limited = magnitude > 39.0 ? 39.0 : magnitude;
    const double tail = 0.5 * scaled_erfc_double(limited * 0x1.6a09e667f3bcdp-1) *
                        exp_minus_square_double(limited, 0.5);
    const double rest = 1.0 - tail;
    return x > 0.0 ? rest : tail;
}

#endif
