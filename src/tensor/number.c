#include "tensor/number.h"

#include "tensor/smallfloat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 int128;

#define NUMBER_TEXT 40

/* Digits that read back as the same number, and no more than that takes. */
static const char *number_text(fer_number number, char text[NUMBER_TEXT])
{
    if (number.kind == FER_NUMBER_BOOL)
        return number.value.as_bool ? "true" : "false";
    if (number.kind == FER_NUMBER_INT) {
        snprintf(text, NUMBER_TEXT, "%" PRId64, number.value.as_int);
        return text;
    }
    double value = number.value.as_float;
    if (isnan(value))
        return "nan";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
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
    char text[NUMBER_TEXT];
    range limits = range_of(dtype);
    return fer_fail(error, FER_VALUE_ERROR,
                    "%s does not fit %s, which holds %" PRId64 " to %" PRIu64,
                    number_text(number, text), fer_dtype_name(dtype), limits.min, limits.max);
}

/* The two's complement of a number that the integer dtype holds. */
static fer_status whole_bits(fer_number number, fer_dtype dtype, uint64_t *out_bits,
                             fer_error *error)
{
    range limits = range_of(dtype);
    if (number.kind == FER_NUMBER_INT) {
        int64_t value = number.value.as_int;
        if (value < 0 ? value < limits.min : (uint64_t)value > limits.max)
            return fail_range(number, dtype, error);
        *out_bits = (uint64_t)value;
        return FER_OK;
    }
    double value = number.value.as_float;
    if (!isfinite(value) || trunc(value) != value) {
        char text[NUMBER_TEXT];
        return fer_fail(error, FER_VALUE_ERROR, "%s is no whole number, and %s holds only those",
                        number_text(number, text), fer_dtype_name(dtype));
    }
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
    char text[NUMBER_TEXT];
    bool is_int = number.kind == FER_NUMBER_INT;
    double value = is_int ? (double)number.value.as_int : number.value.as_float;
    element rounded = round_to(dtype, value);
    if (isfinite(value) && !isfinite(rounded.value))
        return fer_fail(error, FER_VALUE_ERROR, "%s is too large for %s", number_text(number, text),
                        fer_dtype_name(dtype));
    if (isinf(value) && !isinf(rounded.value))
        return fer_fail(error, FER_VALUE_ERROR, "%s does not fit %s, which has no infinity",
                        number_text(number, text), fer_dtype_name(dtype));
    if (is_int && (int128)rounded.value != number.value.as_int)
        return fer_fail(error, FER_VALUE_ERROR,
                        "the integer %s has no exact %s; write %s.0 to have it rounded",
                        number_text(number, text), fer_dtype_name(dtype), text);
    memcpy(out_element, rounded.bytes, fer_dtype_bytes(dtype));
    return FER_OK;
}

fer_status fer_number_store(fer_number number, fer_dtype dtype, void *out_element, fer_error *error)
{
    char text[NUMBER_TEXT];
    if (dtype == FER_BOOL && number.kind == FER_NUMBER_BOOL) {
        memcpy(out_element, &(uint8_t){number.value.as_bool}, 1);
        return FER_OK;
    }
    if (dtype == FER_BOOL)
        return fer_fail(error, FER_VALUE_ERROR, "bool takes true or false, not the number %s",
                        number_text(number, text));
    if (number.kind == FER_NUMBER_BOOL)
        return fer_fail(error, FER_VALUE_ERROR, "%s goes only to bool, not to %s",
                        number_text(number, text), fer_dtype_name(dtype));
    if (FER_DTYPE_BIT(dtype) & FER_ANY_INT)
        return store_whole(number, dtype, out_element, error);
    return store_float(number, dtype, out_element, error);
}
