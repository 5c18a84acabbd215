/* Elements as numbers. */
#include "tensor/foreign.h"
#include "tensor/smallfloat.h"
#include "tensor/tensor.h"

#include <string.h>

#define LOAD(type, from)                                                                           \
    type value;                                                                                    \
    memcpy(&value, (from), sizeof value)

static uint64_t load_unsigned(const char *from, size_t size)
{
    if (size == 1) {
        LOAD(uint8_t, from);
        return value;
    }
    if (size == 2) {
        LOAD(uint16_t, from);
        return value;
    }
    if (size == 4) {
        LOAD(uint32_t, from);
        return value;
    }
    LOAD(uint64_t, from);
    return value;
}

/* The element's own sign bit, spread to the top. */
static int64_t load_signed(const char *from, size_t size)
{
    unsigned shift = 64 - 8 * (unsigned)size;
    return (int64_t)(load_unsigned(from, size) << shift) >> shift;
}

static const char *find_element(const fer_tensor *tensor, int64_t index, size_t size)
{
    const char *data = tensor->dl.data;
    if (fer_tensor_is_compact(tensor))
        return data + (size_t)index * size;
    fer_strided view = fer_strided_of(tensor);
    return data + fer_strided_distance(&view, index);
}

fer_number fer_tensor_element(const fer_tensor *tensor, int64_t index)
{
    fer_dtype dtype = (fer_dtype)tensor->dtype;
    size_t size = fer_dtype_bytes(dtype);
    const char *from = find_element(tensor, index, size);
    if (dtype == FER_BOOL)
        return (fer_number){.kind = FER_NUMBER_BOOL, .value.as_bool = *from != 0};
    if (FER_DTYPE_BIT(dtype) & FER_ANY_SIGNED)
        return (fer_number){.kind = FER_NUMBER_INT, .value.as_int = load_signed(from, size)};
    if (FER_DTYPE_BIT(dtype) & FER_ANY_UNSIGNED)
        return (fer_number){.kind = FER_NUMBER_UINT, .value.as_uint = load_unsigned(from, size)};
    fer_number number = {.kind = FER_NUMBER_FLOAT};
    if (dtype == FER_F64) {
        memcpy(&number.value.as_float, from, sizeof number.value.as_float);
    } else if (dtype == FER_F32) {
        LOAD(float, from);
        number.value.as_float = value;
    } else {
        uint16_t bits = (uint16_t)load_unsigned(from, size);
        number.value.as_float = fer_small_float_decode(dtype, bits);
    }
    return number;
}
