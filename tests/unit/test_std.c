/* The standard package against slow references, on random shapes, sizes 0 and 1 among them. */
#include "testing.h"

#include <ferrule/op.h>
#include <math.h>

#define ROUNDS 60

static fer_error error = FER_ERROR_INIT;
static const fer_device host = {0};
static const fer_dtype NUMERIC[] = {FER_I8,  FER_I16, FER_I32, FER_I64, FER_U8,
                                    FER_U16, FER_U32, FER_U64, FER_F32, FER_F64};
#define NUM_NUMERIC (sizeof NUMERIC / sizeof *NUMERIC)

/* --- Random operands -------------------------------------------------------------------------- */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int64_t random_extent(void)
{
    static const int64_t EXTENTS[] = {0, 1, 1, 2, 3, 5, 7, 8, 9, 16, 17};
    return EXTENTS[random_bits() % (sizeof EXTENTS / sizeof *EXTENTS)];
}

/* Up to three axes, few enough elements for a slow reference. */
static size_t random_shape(int64_t *extents)
{
    size_t rank = random_bits() % 4;
    for (size_t i = 0; i < rank; i++)
        extents[i] = random_extent();
    return rank;
}

static bool is_float(fer_dtype dtype)
{
    return dtype == FER_F32 || dtype == FER_F64;
}

/* Any element as the widest number of its kind. */
typedef union wide {
    double f;
    int64_t i;
} wide;

static wide read_element(const fer_tensor *tensor, int64_t index)
{
    const void *data = fer_tensor_const_data(tensor);
    switch (fer_tensor_dtype(tensor)) {
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
    default: /* the two of 64 bits */
        return (wide){.i = ((const int64_t *)data)[index]};
    }
}

/* The integer as the dtype keeps it: the low bits. */
static int64_t wrapped(fer_dtype dtype, uint64_t value)
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

static fer_tensor *random_tensor(fer_dtype dtype, size_t rank, const int64_t *extents)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_empty(dtype, rank, extents, host, &tensor, &error));
    uint8_t *bytes = fer_tensor_data(tensor);
    for (int64_t i = 0; i < fer_tensor_num_elements(tensor); i++) {
        double value = (double)(int64_t)(random_bits() % 4001 - 2000) / 250;
        if (dtype == FER_F32)
            ((float *)(void *)bytes)[i] = (float)value;
        else if (dtype == FER_F64)
            ((double *)(void *)bytes)[i] = value;
    }
    for (size_t i = 0; !is_float(dtype) && i < fer_tensor_num_bytes(tensor); i++)
        bytes[i] = dtype == FER_BOOL ? random_bits() % 2 : (uint8_t)random_bits();
    return tensor;
}

static fer_op *standard(const char *name)
{
    fer_op *op = NULL;
    ASSERT_OK(&error,
              fer_declare(&(fer_declaration){.kernel = name, .packages = {"std"}}, &op, &error));
    return op;
}

static fer_tensor *call(const fer_op *op, fer_tensor *a, fer_tensor *b)
{
    fer_tensor *result = NULL;
    fer_tensor *operands[] = {a, b};
    ASSERT_OK(&error, fer_call(op, operands, b == NULL ? 1 : 2, &result, 1, &error));
    return result;
}

static void assert_shape(const fer_tensor *tensor, size_t rank, const int64_t *extents)
{
    assert_int_equal(fer_tensor_rank(tensor), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(fer_tensor_shape(tensor)[i], extents[i]);
}

static double rounded(fer_dtype dtype, double value)
{
    return dtype == FER_F32 ? (double)(float)value : value;
}

static void assert_near(fer_dtype dtype, double actual, double expected, double scale)
{
    if (isnan(expected) || isinf(expected)) {
        assert_true(isnan(expected) ? isnan(actual) : actual == expected);
        return;
    }
    double tolerance = (dtype == FER_F32 ? 1e-6 : 1e-14) * (fabs(scale) + fabs(expected));
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%.17g is not near %.17g", actual, expected);
}

/* --- Elementwise ------------------------------------------------------------------------------ */

typedef wide (*binary_reference)(fer_dtype dtype, wide a, wide b);

static wide add_reference(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (wide){.f = rounded(dtype, a.f + b.f)};
    return (wide){.i = wrapped(dtype, (uint64_t)a.i + (uint64_t)b.i)};
}

static wide sub_reference(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (wide){.f = rounded(dtype, a.f - b.f)};
    return (wide){.i = wrapped(dtype, (uint64_t)a.i - (uint64_t)b.i)};
}

static wide mul_reference(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (wide){.f = rounded(dtype, a.f * b.f)};
    return (wide){.i = wrapped(dtype, (uint64_t)a.i * (uint64_t)b.i)};
}

static wide div_reference(fer_dtype dtype, wide a, wide b)
{
    return (wide){.f = rounded(dtype, a.f / b.f)};
}

static void check_binary(const char *name, binary_reference reference, const fer_dtype *dtypes,
                         size_t num_dtypes)
{
    fer_op *op = standard(name);
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = dtypes[random_bits() % num_dtypes];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *a = random_tensor(dtype, rank, extents);
        fer_tensor *b = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, a, b);
        assert_shape(y, rank, extents);
        assert_int_equal(fer_tensor_dtype(y), dtype);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            wide expected = reference(dtype, read_element(a, i), read_element(b, i));
            wide actual = read_element(y, i);
            if (is_float(dtype) && isnan(expected.f))
                assert_true(isnan(actual.f));
            else
                assert_true(is_float(dtype) ? actual.f == expected.f : actual.i == expected.i);
        }
        fer_tensor_release(a);
        fer_tensor_release(b);
        fer_tensor_release(y);
    }
    fer_op_release(op);
}

static void test_arithmetic(void **state)
{
    (void)state;
    check_binary("add", add_reference, NUMERIC, NUM_NUMERIC);
    check_binary("sub", sub_reference, NUMERIC, NUM_NUMERIC);
    check_binary("mul", mul_reference, NUMERIC, NUM_NUMERIC);
    check_binary("div", div_reference, NUMERIC + NUM_NUMERIC - 2, 2);
}

static void test_relu(void **state)
{
    (void)state;
    fer_op *op = standard("relu");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[random_bits() % NUM_NUMERIC];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        bool is_unsigned = dtype == FER_U64;
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            wide from = read_element(x, i);
            wide to = read_element(y, i);
            if (is_float(dtype))
                assert_true(to.f == (from.f < 0 ? 0 : from.f));
            else
                assert_true(to.i == (from.i < 0 && !is_unsigned ? 0 : from.i));
        }
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    float special[] = {NAN, -0.0f, INFINITY, -INFINITY};
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 1, (int64_t[]){4}, special, host, &x, &error));
    fer_tensor *y = call(op, x, NULL);
    const float *values = fer_tensor_const_data(y);
    assert_true(isnan(values[0]) && values[1] == 0 && isinf(values[2]) && values[3] == 0);
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_op_release(op);
}

static void test_exp(void **state)
{
    (void)state;
    fer_op *op = standard("exp");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = round % 2 == 0 ? FER_F32 : FER_F64;
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_near(dtype, read_element(y, i).f, exp(read_element(x, i).f), 0);
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    fer_op_release(op);
}

/* --- cast ------------------------------------------------------------------------------------- */

static fer_op *cast_to(const fer_op *cast, fer_dtype dtype)
{
    fer_param to = {
        .name = "to", .kind = FER_PARAM_DTYPE, .has_value = true, .value.as_dtype = dtype};
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_op_specialise(cast, &to, 1, &op, &error));
    return op;
}

static void test_cast_saturates(void **state)
{
    (void)state;
    static const double VALUES[] = {0,
                                    -0.0,
                                    0.9,
                                    -0.9,
                                    1.5,
                                    -1.5,
                                    127,
                                    128,
                                    255,
                                    256,
                                    -128,
                                    -129,
                                    2147483647.,
                                    2147483648.,
                                    1e30,
                                    -1e30,
                                    9223372036854775807.,
                                    18446744073709551615.,
                                    INFINITY,
                                    -INFINITY,
                                    NAN};
    enum { COUNT = sizeof VALUES / sizeof *VALUES };
    static const struct {
        fer_dtype dtype;
        double lowest;
        double highest; /* the largest double that the dtype holds, or the bound above it */
    } TARGETS[] = {
        {FER_I8, -128, 127},
        {FER_U8, 0, 255},
        {FER_I16, -32768, 32767},
        {FER_U16, 0, 65535},
        {FER_I32, -2147483648., 2147483647.},
        {FER_U32, 0, 4294967295.},
    };
    fer_op *cast = standard("cast");
    fer_tensor *x = NULL;
    ASSERT_OK(&error,
              fer_tensor_copy_from(FER_F64, 1, (int64_t[]){COUNT}, VALUES, host, &x, &error));
    for (size_t t = 0; t < sizeof TARGETS / sizeof *TARGETS; t++) {
        fer_op *op = cast_to(cast, TARGETS[t].dtype);
        fer_tensor *y = call(op, x, NULL);
        for (int i = 0; i < COUNT; i++) {
            double clipped = fmin(fmax(trunc(VALUES[i]), TARGETS[t].lowest), TARGETS[t].highest);
            int64_t expected = isnan(VALUES[i]) ? 0 : (int64_t)clipped;
            assert_int_equal(read_element(y, i).i, expected);
        }
        fer_tensor_release(y);
        fer_op_release(op);
    }
    fer_op *op = cast_to(cast, FER_I64);
    fer_tensor *y = call(op, x, NULL);
    const int64_t *signed_values = fer_tensor_const_data(y);
    assert_true(signed_values[14] == INT64_MAX && signed_values[15] == INT64_MIN);
    assert_true(signed_values[16] == INT64_MAX && signed_values[18] == INT64_MAX);
    assert_true(signed_values[19] == INT64_MIN && signed_values[20] == 0);
    fer_tensor_release(y);
    fer_op_release(op);
    op = cast_to(cast, FER_U64);
    y = call(op, x, NULL);
    const uint64_t *unsigned_values = fer_tensor_const_data(y);
    assert_true(unsigned_values[14] == UINT64_MAX && unsigned_values[15] == 0);
    assert_true(unsigned_values[16] == (uint64_t)1 << 63 && unsigned_values[17] == UINT64_MAX);
    assert_true(unsigned_values[3] == 0 && unsigned_values[20] == 0);
    fer_tensor_release(y);
    fer_op_release(op);
    fer_tensor_release(x);
    fer_op_release(cast);
}

static void test_cast_between_the_rest(void **state)
{
    (void)state;
    fer_op *cast = standard("cast");
    int32_t integers[] = {0, 1, -1, 300, -300, INT32_MAX, INT32_MIN};
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I32, 1, (int64_t[]){7}, integers, host, &x, &error));
    static const fer_dtype TARGETS[] = {FER_I8,  FER_U8,  FER_I64, FER_U64,
                                        FER_F32, FER_F64, FER_BOOL};
    for (size_t t = 0; t < sizeof TARGETS / sizeof *TARGETS; t++) {
        fer_op *op = cast_to(cast, TARGETS[t]);
        fer_tensor *y = call(op, x, NULL);
        assert_int_equal(fer_tensor_dtype(y), TARGETS[t]);
        for (int i = 0; i < 7; i++) {
            wide actual = read_element(y, i);
            if (is_float(TARGETS[t]))
                assert_true(actual.f == rounded(TARGETS[t], integers[i]));
            else if (TARGETS[t] == FER_BOOL)
                assert_int_equal(actual.i, integers[i] != 0);
            else
                assert_int_equal(actual.i, wrapped(TARGETS[t], (uint64_t)(int64_t)integers[i]));
        }
        fer_tensor_release(y);
        fer_op_release(op);
    }
    fer_tensor_release(x);
    fer_op_release(cast);
}

/* --- Along axes ------------------------------------------------------------------------------- */

static void test_sum(void **state)
{
    (void)state;
    fer_op *op = standard("sum");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[random_bits() % NUM_NUMERIC];
        int64_t extents[4];
        size_t rank = random_shape(extents) + 1;
        extents[rank - 1] = random_extent();
        if (round % 7 == 0) { /* long enough for every lane */
            rank = 1;
            extents[0] = 1000;
        }
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, rank - 1, extents);
        int64_t n = extents[rank - 1];
        for (int64_t row = 0; row < fer_tensor_num_elements(y); row++) {
            double total = 0;
            double magnitude = 0;
            uint64_t bits = 0;
            for (int64_t i = 0; i < n; i++) {
                wide element = read_element(x, row * n + i);
                total += is_float(dtype) ? element.f : 0;
                magnitude += is_float(dtype) ? fabs(element.f) : 0;
                bits += (uint64_t)element.i;
            }
            if (is_float(dtype))
                assert_near(dtype, read_element(y, row).f, total, magnitude);
            else
                assert_int_equal(read_element(y, row).i, wrapped(dtype, bits));
        }
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    fer_tensor *scalar = random_tensor(FER_F32, 0, NULL);
    fer_tensor *y = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, &scalar, 1, &y, 1, &error), "sum", "'x'");
    fer_tensor_release(scalar);
    fer_op_release(op);
}

static void test_softmax(void **state)
{
    (void)state;
    fer_op *op = standard("softmax");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = round % 2 == 0 ? FER_F32 : FER_F64;
        int64_t extents[4];
        size_t rank = random_shape(extents) + 1;
        extents[rank - 1] = random_extent();
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, rank, extents);
        int64_t n = extents[rank - 1];
        int64_t num_rows = n == 0 ? 0 : fer_tensor_num_elements(x) / n;
        for (int64_t row = 0; row < num_rows; row++) {
            double total = 0;
            for (int64_t i = 0; i < n; i++)
                total += exp(read_element(x, row * n + i).f);
            for (int64_t i = 0; i < n; i++)
                assert_near(dtype, read_element(y, row * n + i).f,
                            exp(read_element(x, row * n + i).f) / total, 0.1);
        }
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    float large[] = {1000, 1000, -1000};
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 1, (int64_t[]){3}, large, host, &x, &error));
    fer_tensor *y = call(op, x, NULL);
    assert_memory_equal(fer_tensor_const_data(y), ((float[]){0.5f, 0.5f, 0}), 12);
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_op_release(op);
}

static void check_matrix(fer_dtype dtype, const fer_tensor *a, const fer_tensor *b,
                         const fer_tensor *y, int64_t matrix, const int64_t sizes[3])
{
    int64_t m = sizes[0];
    int64_t k = sizes[1];
    int64_t n = sizes[2];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double total = 0;
            double magnitude = 0;
            uint64_t bits = 0;
            for (int64_t l = 0; l < k; l++) {
                wide left = read_element(a, (matrix * m + i) * k + l);
                wide right = read_element(b, (matrix * k + l) * n + j);
                if (is_float(dtype)) {
                    total += left.f * right.f;
                    magnitude += fabs(left.f * right.f);
                } else {
                    bits += (uint64_t)left.i * (uint64_t)right.i;
                }
            }
            wide actual = read_element(y, (matrix * m + i) * n + j);
            if (is_float(dtype))
                assert_near(dtype, actual.f, total, magnitude);
            else
                assert_int_equal(actual.i, wrapped(dtype, bits));
        }
}

static void test_matmul(void **state)
{
    (void)state;
    fer_op *op = standard("matmul");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[random_bits() % NUM_NUMERIC];
        int64_t sizes[3] = {random_extent(), random_extent(), random_extent()};
        size_t num_batch_axes = random_bits() % 3;
        int64_t a_extents[4];
        int64_t b_extents[4];
        int64_t y_extents[4];
        int64_t num_matrices = 1;
        for (size_t i = 0; i < num_batch_axes; i++) {
            a_extents[i] = b_extents[i] = y_extents[i] = random_extent() % 4;
            num_matrices *= a_extents[i];
        }
        a_extents[num_batch_axes] = y_extents[num_batch_axes] = sizes[0];
        a_extents[num_batch_axes + 1] = b_extents[num_batch_axes] = sizes[1];
        b_extents[num_batch_axes + 1] = y_extents[num_batch_axes + 1] = sizes[2];
        fer_tensor *a = random_tensor(dtype, num_batch_axes + 2, a_extents);
        fer_tensor *b = random_tensor(dtype, num_batch_axes + 2, b_extents);
        fer_tensor *y = call(op, a, b);
        assert_shape(y, num_batch_axes + 2, y_extents);
        for (int64_t matrix = 0; matrix < num_matrices; matrix++)
            check_matrix(dtype, a, b, y, matrix, sizes);
        fer_tensor_release(a);
        fer_tensor_release(b);
        fer_tensor_release(y);
    }
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_relu),
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_cast_saturates),
        cmocka_unit_test(test_cast_between_the_rest),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_matmul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
