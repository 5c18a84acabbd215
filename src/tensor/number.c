/* Plain numbers as elements. */
#include "tensor/number.h"

#include "tensor/smallfloat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* VALUE: `NUMBER WHY`, where `expected` was wanted. */
__attribute__((format(printf, 4, 5))) static fer_status
fail_number(fer_number number, const char *expected, fer_error *error, const char *format, ...)
{
    if (error == NULL)
        return FER_VALUE_ERROR;
    char text[FER_NUMBER_TEXT];
    fer_place place = {.expected = expected, .actual = fer_number_text(number, text)};
    char why[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return fer_fail_at(error, FER_VALUE_ERROR, &place, "%s %s", place.actual, why);
}

typedef struct range {
    int bits;
    bool is_signed;
    int64_t min;
    uint64_t max;
} range;

static range range_of(fer_dtype dtype)
{
    int bits = 8 * (int)fer_dtype_bytes(dtype);
    bool is_signed = (FER_DTYPE_BIT(dtype) & FER_ANY_SIGNED) != 0;
    uint64_t max = UINT64_MAX >> (64 - bits + is_signed);
    return (range){bits, is_signed, is_signed ? -(int64_t)max - 1 : 0, max};
}

static fer_status fail_range(fer_number number, fer_dtype dtype, fer_error *error)
{
    char expected[48];
    range limits = range_of(dtype);
    snprintf(expected, sizeof expected, "%" PRId64 " to %" PRIu64, limits.min, limits.max);
    return fail_number(number, expected, error, "does not fit %s, which holds %s",
                       fer_dtype_name(dtype), expected);
}

/* The two's complement of a number that the integer dtype holds. */
static fer_status whole_bits(fer_number number, fer_dtype dtype, uint64_t *out_bits,
                             fer_error *error)
{
    range limits = range_of(dtype);
    if (fer_number_is_integer(number)) {
        fer_int128 value = fer_number_integer(number);
        if (value < limits.min || value > limits.max)
            return fail_range(number, dtype, error);
        *out_bits = (uint64_t)value;
        return FER_OK;
    }
    double value = number.value.as_float;
    if (!isfinite(value) || trunc(value) != value)
        return fail_number(number, "a whole number", error,
                           "is no whole number, and %s holds only those", fer_dtype_name(dtype));
    double end = ldexp(1.0, limits.bits - limits.is_signed);
    if (value >= end || value < (limits.is_signed ? -end : 0.0))
        return fail_range(number, dtype, error);
    *out_bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    return FER_OK;
}

static fer_status store_whole(fer_number number, fer_dtype dtype, void *out_element,
                              fer_error *error)
{
    uint64_t bits = 0;
    FER_TRY(whole_bits(number, dtype, &bits, error));
    switch (fer_dtype_bytes(dtype)) {
    case 1:
        memcpy(out_element, &(uint8_t){(uint8_t)bits}, 1);
        break;
    case 2:
        memcpy(out_element, &(uint16_t){(uint16_t)bits}, 2);
        break;
    case 4:
        memcpy(out_element, &(uint32_t){(uint32_t)bits}, 4);
        break;
    default:
        memcpy(out_element, &bits, 8);
        break;
    }
    return FER_OK;
}

/* One element of a float dtype: its bytes, and the value that they stand for. */
typedef struct element {
    unsigned char bytes[8];
    double value;
} element;

static element round_to(fer_dtype dtype, double value)
{
    element rounded = {.value = value};
    if (dtype == FER_F64) {
        memcpy(rounded.bytes, &value, sizeof value);
    } else if (dtype == FER_F32) {
        float narrow = (float)value;
        memcpy(rounded.bytes, &narrow, sizeof narrow);
        rounded.value = narrow;
    } else {
        uint16_t bits = fer_small_float_encode(dtype, value);
        if (fer_dtype_bytes(dtype) == 1)
            rounded.bytes[0] = (unsigned char)bits;
        else
            memcpy(rounded.bytes, &bits, sizeof bits);
        rounded.value = fer_small_float_decode(dtype, bits);
    }
    return rounded;
}

static fer_status store_float(fer_number number, fer_dtype dtype, void *out_element,
                              fer_error *error)
{
    const char *name = fer_dtype_name(dtype);
    bool is_integer = fer_number_is_integer(number);
    double value = is_integer ? (double)fer_number_integer(number) : number.value.as_float;
    element rounded = round_to(dtype, value);
    if (isfinite(value) && !isfinite(rounded.value))
        return fail_number(number, name, error, "is too large for %s", name);
    if (isinf(value) && !isinf(rounded.value))
        return fail_number(number, name, error, "does not fit %s, which has no infinity", name);
    if (is_integer && (fer_int128)rounded.value != fer_number_integer(number)) {
        char text[FER_NUMBER_TEXT];
        return fail_number(number, name, error, "has no exact %s; write %s.0 to have it rounded",
                           name, fer_number_text(number, text));
    }
    memcpy(out_element, rounded.bytes, fer_dtype_bytes(dtype));
    return FER_OK;
}

fer_status fer_number_store(fer_number number, fer_dtype dtype, void *out_element, fer_error *error)
{
    if (dtype == FER_BOOL && number.kind == FER_NUMBER_BOOL) {
        memcpy(out_element, &(uint8_t){number.value.as_bool}, 1);
        return FER_OK;
    }
    if (dtype == FER_BOOL)
        return fail_number(number, "true or false", error,
                           "is a number, but bool takes true or false");
    if (number.kind == FER_NUMBER_BOOL)
        return fail_number(number, fer_dtype_name(dtype), error, "goes only to bool, not to %s",
                           fer_dtype_name(dtype));
    if (FER_DTYPE_BIT(dtype) & FER_ANY_INT)
        return store_whole(number, dtype, out_element, error);
    return store_float(number, dtype, out_element, error);
}
