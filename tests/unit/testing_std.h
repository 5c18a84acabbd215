/* For tests of the standard package: random operands, elements as the widest number of their kind,
 * calls. */
#ifndef FERRULE_TESTING_STD_H
#define FERRULE_TESTING_STD_H

#include "testing.h"

#include "tensor/smallfloat.h"
#include <ferrule/op.h>
#include <math.h>

#define ROUNDS 60
#define COUNT(array) (sizeof(array) / sizeof *(array))

static fer_error error = FER_ERROR_INIT;
static const fer_device host = {0};

/* What arithmetic takes, floats last. */
static const fer_dtype NUMERIC[] = {FER_I8,  FER_I16, FER_I32, FER_I64, FER_U8,  FER_U16,
                                    FER_U32, FER_U64, FER_F16, FER_F32, FER_F64, FER_BF16};
enum { NUM_NUMERIC = COUNT(NUMERIC), NUM_FLOATS = 4 };
#define FLOATS (NUMERIC + NUM_NUMERIC - NUM_FLOATS)

static inline uint64_t random_bits(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static inline int64_t random_extent(void)
{
    static const int64_t EXTENTS[] = {0, 1, 1, 2, 3, 5, 7, 8, 9, 16, 17};
    return EXTENTS[random_bits() % COUNT(EXTENTS)];
}

/* Up to three axes, few enough elements for a slow reference. */
static inline size_t random_shape(int64_t *extents)
{
    size_t rank = random_bits() % 4;
    for (size_t i = 0; i < rank; i++)
        extents[i] = random_extent();
    return rank;
}

static inline bool is_float(fer_dtype dtype)
{
    return dtype == FER_F32 || dtype == FER_F64 || fer_dtype_is_small_float(dtype);
}

/* Any element as the widest number of its kind. */
typedef union wide {
    double f;
    int64_t i;
} wide;

static inline wide read_element(const fer_tensor *tensor, int64_t index)
{
    const fer_dtype dtype = fer_tensor_dtype(tensor);
    const void *data = fer_tensor_const_data(tensor);
    switch (dtype) {
    case FER_BOOL:
        return (wide){.i = ((const bool *)data)[index]};
    case FER_I8:
        return (wide){.i = ((const int8_t *)data)[index]};
    case FER_I16:
        return (wide){.i = ((const int16_t *)data)[index]};
    case FER_I32:
        return (wide){.i = ((const int32_t *)data)[index]};
    case FER_U8:
        return (wide){.i = ((const uint8_t *)data)[index]};
    case FER_U16:
        return (wide){.i = ((const uint16_t *)data)[index]};
    case FER_U32:
        return (wide){.i = ((const uint32_t *)data)[index]};
    case FER_F32:
        return (wide){.f = ((const float *)data)[index]};
    case FER_F64:
        return (wide){.f = ((const double *)data)[index]};
    case FER_F16:
    case FER_BF16:
        return (wide){.f = fer_small_float_decode(dtype, ((const uint16_t *)data)[index])};
    case FER_F8E4M3FN:
    case FER_F8E5M2:
        return (wide){.f = fer_small_float_decode(dtype, ((const uint8_t *)data)[index])};
    default: /* the two of 64 bits */
        return (wide){.i = ((const int64_t *)data)[index]};
    }
}

/* The integer as the dtype keeps it: the low bits. */
static inline int64_t wrapped(fer_dtype dtype, uint64_t value)
{
    switch (dtype) {
    case FER_I8:
        return (int8_t)value;
    case FER_I16:
        return (int16_t)value;
    case FER_I32:
        return (int32_t)value;
    case FER_U8:
        return (uint8_t)value;
    case FER_U16:
        return (uint16_t)value;
    case FER_U32:
        return (uint32_t)value;
    default:
        return (int64_t)value;
    }
}

/* The float as the dtype keeps it. */
static inline double rounded(fer_dtype dtype, double value)
{
    if (fer_dtype_is_small_float(dtype))
        return fer_small_float_decode(dtype, fer_small_float_encode(dtype, value));
    return dtype == FER_F32 ? (double)(float)value : value;
}

static inline void write_element(fer_tensor *tensor, int64_t index, wide value)
{
    const fer_dtype dtype = fer_tensor_dtype(tensor);
    const size_t size = fer_dtype_bytes(dtype);
    char *to = (char *)fer_tensor_data(tensor) + (size_t)index * size;
    const float single = (float)value.f;
    if (fer_dtype_is_small_float(dtype)) {
        const uint16_t bits = fer_small_float_encode(dtype, value.f);
        memcpy(to, &bits, size); /* the low bytes come first */
    } else if (dtype == FER_F32) {
        memcpy(to, &single, size);
    } else {
        memcpy(to, &value, size);
    }
}

static inline fer_tensor *empty_tensor(fer_dtype dtype, size_t rank, const int64_t *extents)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_empty(dtype, rank, extents, host, &tensor, &error));
    return tensor;
}

/* Floats lie between -8 and 8, integers anywhere. */
static inline fer_tensor *random_tensor(fer_dtype dtype, size_t rank, const int64_t *extents)
{
    fer_tensor *tensor = empty_tensor(dtype, rank, extents);
    for (int64_t i = 0; i < fer_tensor_num_elements(tensor); i++) {
        wide value = {.i = dtype == FER_BOOL ? (int64_t)(random_bits() % 2)
                                             : wrapped(dtype, random_bits())};
        if (is_float(dtype))
            value.f = (double)(int64_t)(random_bits() % 4001 - 2000) / 250;
        write_element(tensor, i, value);
    }
    return tensor;
}

static inline fer_op *standard(const char *name)
{
    fer_op *op = NULL;
    ASSERT_OK(&error,
              fer_declare(&(fer_declaration){.kernel = name, .packages = {"std"}}, &op, &error));
    return op;
}

/* The op with an int parameter's value; takes the op. */
static inline fer_op *with_int(fer_op *op, const char *name, int64_t value)
{
    fer_param param = {
        .name = name, .kind = FER_PARAM_INT, .has_value = true, .value.as_int = value};
    fer_op *special = NULL;
    ASSERT_OK(&error, fer_op_specialise(op, &param, 1, &special, &error));
    fer_op_release(op);
    return special;
}

static inline fer_tensor *call_3(const fer_op *op, fer_tensor *a, fer_tensor *b, fer_tensor *c)
{
    fer_tensor *result = NULL;
    fer_tensor *operands[] = {a, b, c};
    const size_t count = b == NULL ? 1 : c == NULL ? 2 : 3;
    ASSERT_OK(&error, fer_call(op, operands, count, &result, 1, &error));
    return result;
}

static inline fer_tensor *call(const fer_op *op, fer_tensor *a, fer_tensor *b)
{
    return call_3(op, a, b, NULL);
}

static inline void release_3(fer_tensor *a, fer_tensor *b, fer_tensor *c)
{
    fer_tensor_release(a);
    fer_tensor_release(b);
    fer_tensor_release(c);
}

static inline void assert_shape(const fer_tensor *tensor, size_t rank, const int64_t *extents)
{
    assert_int_equal(fer_tensor_rank(tensor), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(fer_tensor_shape(tensor)[i], extents[i]);
}

/* How far from the truth a few operations may lead, relatively. */
static inline double precision(fer_dtype dtype)
{
    switch (dtype) {
    case FER_F16:
        return 0x1p-10;
    case FER_BF16:
        return 0x1p-7;
    case FER_F32:
        return 1e-6;
    default:
        return 1e-14;
    }
}

static inline void assert_near(fer_dtype dtype, double actual, double expected, double scale)
{
    const double limit = rounded(dtype, expected);
    if (isnan(limit) || isinf(limit)) {
        assert_true(isnan(limit) ? isnan(actual) : actual == limit);
        return;
    }
    const double smallest = dtype == FER_F16 ? 0x1p-24 : 0x1p-126;
    const double tolerance = precision(dtype) * (fabs(scale) + fabs(expected)) + smallest;
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%s: %.17g is not near %.17g", fer_dtype_name(dtype), actual, expected);
}

/* Equal, NaN to NaN. */
static inline void assert_same(fer_dtype dtype, wide actual, wide expected)
{
    if (!is_float(dtype))
        assert_int_equal(actual.i, expected.i);
    else if (isnan(expected.f))
        assert_true(isnan(actual.f));
    else if (actual.f != expected.f)
        fail_msg("%s: %.17g is not %.17g", fer_dtype_name(dtype), actual.f, expected.f);
}

#endif
