#include "tensor/smallfloat.h"

#include <assert.h>
#include <math.h>

/* Bits are: the sign, the biased exponent, the mantissa. */
typedef struct format {
    int mantissa_bits;
    int bias;
    uint16_t sign;
    uint16_t max_finite;
    uint16_t overflow; /* what stands for too large: infinity, or NaN where there is none */
    uint16_t nan;
} format;

static const format FORMATS[FER_NUM_DTYPES] = {
    [FER_F16] = {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00},
    [FER_BF16] = {7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0},
    [FER_F8E4M3FN] = {3, 7, 0x80, 0x7e, 0x7f, 0x7f},
    [FER_F8E5M2] = {2, 15, 0x80, 0x7b, 0x7c, 0x7e},
};

bool fer_dtype_is_small_float(fer_dtype dtype)
{
    return (unsigned)dtype < FER_NUM_DTYPES && FORMATS[dtype].sign != 0;
}

/* The bits of a finite magnitude as if the exponent had no end, for the caller to cut. */
static uint32_t round_magnitude(const format *form, double magnitude)
{
    int min_exponent = 1 - form->bias;
    int exponent = magnitude == 0 ? min_exponent : ilogb(magnitude);
    if (exponent < min_exponent)
        exponent = min_exponent; /* a subnormal */
    double scaled = ldexp(magnitude, form->mantissa_bits - exponent);
    uint32_t significand = (uint32_t)scaled;
    double rest = scaled - significand;
    if (rest > 0.5 || (rest == 0.5 && significand % 2 == 1))
        significand++;
    /* The significand's leading bit adds one to the exponent field, so it stands one lower here; a
     * carry out of the mantissa and a subnormal without that bit come out right by themselves. */
    return ((uint32_t)(exponent - min_exponent) << form->mantissa_bits) + significand;
}

uint16_t fer_small_float_encode(fer_dtype dtype, double value)
{
    assert(fer_dtype_is_small_float(dtype));
    const format *form = &FORMATS[dtype];
    uint16_t sign = signbit(value) ? form->sign : 0;
    if (isnan(value))
        return sign | form->nan;
    if (isinf(value))
        return sign | form->overflow;
    uint32_t bits = round_magnitude(form, fabs(value));
    return sign | (bits > form->max_finite ? form->overflow : (uint16_t)bits);
}

double fer_small_float_decode(fer_dtype dtype, uint16_t bits)
{
    assert(fer_dtype_is_small_float(dtype));
    const format *form = &FORMATS[dtype];
    double sign = bits & form->sign ? -1.0 : 1.0;
    uint16_t magnitude = bits & (form->sign - 1);
    if (magnitude > form->max_finite) {
        bool is_infinity = magnitude == form->overflow && form->overflow != form->nan;
        return copysign(is_infinity ? INFINITY : NAN, sign);
    }
    int field = magnitude >> form->mantissa_bits;
    int hidden = 1 << form->mantissa_bits;
    int mantissa = magnitude & (hidden - 1);
    if (field == 0)
        field = 1;
    else
        mantissa += hidden;
    return copysign(ldexp(mantissa, field - form->bias - form->mantissa_bits), sign);
}
