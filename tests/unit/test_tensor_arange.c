/* Ranges: how many elements, which ones, and what is refused. */
#include "testing.h"

#include <ferrule/tensor.h>
#include <math.h>

static fer_number of_int(int64_t value)
{
    return (fer_number){.kind = FER_NUMBER_INT, .value.as_int = value};
}

static fer_number of_uint(uint64_t value)
{
    return (fer_number){.kind = FER_NUMBER_UINT, .value.as_uint = value};
}

static fer_number of_float(double value)
{
    return (fer_number){.kind = FER_NUMBER_FLOAT, .value.as_float = value};
}

static fer_status arange(fer_dtype dtype, fer_number start, fer_number stop, fer_number step,
                         fer_tensor **out_tensor, fer_error *error)
{
    return fer_tensor_arange(dtype, start, stop, step, (fer_device){0}, out_tensor, error);
}

static void check_range(fer_dtype dtype, fer_number start, fer_number stop, fer_number step,
                        int64_t count, const void *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, arange(dtype, start, stop, step, &tensor, &error));
    assert_int_equal(fer_tensor_dtype(tensor), dtype);
    assert_int_equal(fer_tensor_rank(tensor), 1);
    assert_int_equal(fer_tensor_shape(tensor)[0], count);
    if (count > 0)
        assert_memory_equal(fer_tensor_data(tensor), expected, fer_tensor_num_bytes(tensor));
    fer_tensor_release(tensor);
}

static void test_ints(void **state)
{
    (void)state;
    check_range(FER_I32, of_int(0), of_int(5), of_int(1), 5, (int32_t[]){0, 1, 2, 3, 4});
    check_range(FER_I64, of_int(1), of_int(10), of_int(4), 3, (int64_t[]){1, 5, 9});
    check_range(FER_I64, of_int(1), of_int(9), of_int(4), 2, (int64_t[]){1, 5});
    check_range(FER_I8, of_int(3), of_int(-4), of_int(-3), 3, (int8_t[]){3, 0, -3});
    check_range(FER_U8, of_int(254), of_int(256), of_int(1), 2, (uint8_t[]){254, 255});
    check_range(FER_I8, of_int(5), of_int(5), of_int(1), 0, NULL);
    check_range(FER_I8, of_int(5), of_int(4), of_int(1), 0, NULL);
    check_range(FER_I8, of_int(4), of_int(5), of_int(-1), 0, NULL);
    check_range(FER_F32, of_int(0), of_int(3), of_int(1), 3, (float[]){0, 1, 2});
}

/* What neither int64 nor double could carry between start and stop. */
static void test_ints_are_exact_to_the_ends(void **state)
{
    (void)state;
    int64_t huge = INT64_C(1) << 62;
    check_range(FER_I64, of_int(INT64_MIN), of_int(INT64_MAX), of_int(huge), 4,
                (int64_t[]){INT64_MIN, -huge, 0, huge});
    check_range(FER_I64, of_int(INT64_MAX - 1), of_int(INT64_MAX), of_int(INT64_MAX), 1,
                (int64_t[]){INT64_MAX - 1});
    check_range(FER_I64, of_int(INT64_MAX), of_int(INT64_MIN), of_int(INT64_MIN), 2,
                (int64_t[]){INT64_MAX, -1});
    int64_t odd = (INT64_C(1) << 53) + 1;
    check_range(FER_I64, of_int(odd), of_int(odd + 3), of_int(1), 3,
                (int64_t[]){odd, odd + 1, odd + 2});
}

static void test_ints_above_int64(void **state)
{
    (void)state;
    uint64_t end = UINT64_MAX;
    check_range(FER_U64, of_uint(end - 4), of_uint(end), of_int(2), 2,
                (uint64_t[]){end - 4, end - 2});
    check_range(FER_U64, of_int(INT64_MAX), of_uint(end), of_uint(UINT64_C(1) << 63), 1,
                (uint64_t[]){INT64_MAX});
    check_range(FER_U64, of_int(0), of_uint(end), of_uint(UINT64_C(1) << 63), 2,
                (uint64_t[]){0, UINT64_C(1) << 63});
    check_range(FER_U64, of_uint(end), of_int(-1), of_int(INT64_MIN), 2,
                (uint64_t[]){end, INT64_MAX});
    check_range(FER_U8, of_uint(1), of_uint(4), of_uint(2), 2, (uint8_t[]){1, 3});
    check_range(FER_F64, of_uint(UINT64_C(1) << 63), of_float(0x1p64), of_float(0x1p62), 2,
                (double[]){0x1p63, 0x1.8p63});
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        arange(FER_I64, of_int(INT64_MAX), of_uint(end), of_int(INT64_MAX), &tensor, &error),
        "element 1", "18446744073709551614 does not fit i64");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 arange(FER_U64, of_int(0), of_uint(end), of_int(1), &tensor, &error), "elements");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_F64, of_uint(end), of_float(1), of_int(-1), &tensor, &error),
                 "the start 18446744073709551615 has no exact float");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_U64, of_int(0), of_int(1), of_uint(0), &tensor, &error), "step is 0");
    assert_null(tensor);
}

static void test_floats(void **state)
{
    (void)state;
    check_range(FER_F64, of_float(0), of_float(1), of_float(0.3), 4,
                (double[]){0, 0.3, 2 * 0.3, 3 * 0.3});
    check_range(FER_F32, of_float(1), of_float(0), of_float(-0.5), 2, (float[]){1, 0.5f});
    check_range(FER_F64, of_int(2), of_float(3.5), of_int(1), 2, (double[]){2, 3});
    check_range(FER_F64, of_float(1), of_float(0), of_float(1), 0, NULL);
    check_range(FER_I16, of_float(0), of_float(3), of_float(1), 3, (int16_t[]){0, 1, 2});
    check_range(FER_F16, of_float(0), of_float(1), of_float(0.5), 2, (uint16_t[]){0x0000, 0x3800});
    /* Each element rounds by itself: errors do not add up. */
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, arange(FER_F64, of_float(-1), of_float(999), of_float(0.1), &tensor, &error));
    assert_int_equal(fer_tensor_shape(tensor)[0], 10000);
    const double *data = fer_tensor_const_data(tensor);
    for (int64_t i = 0; i < 10000; i++) {
        volatile double offset = (double)i * 0.1;
        assert_true(data[i] == -1 + offset);
    }
    fer_tensor_release(tensor);
}

static void test_refusals(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_number yes = {.kind = FER_NUMBER_BOOL, .value.as_bool = true};
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_I32, of_int(0), of_int(1), of_int(0), &tensor, &error), "step is 0");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_F32, of_float(0), of_float(1), of_float(-0.0), &tensor, &error),
                 "step is 0");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 arange(FER_BOOL, of_int(0), of_int(1), of_int(1), &tensor, &error), "bool");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 arange(FER_I32, of_int(0), yes, of_int(1), &tensor, &error), "the stop is a bool");
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 arange((fer_dtype)77, of_int(0), of_int(1), of_int(1), &tensor, &error),
                 "no dtype");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_F32, of_float(NAN), of_int(1), of_int(1), &tensor, &error),
                 "start is not finite");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_F32, of_int(0), of_float(INFINITY), of_int(1), &tensor, &error),
                 "stop is not finite");
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        arange(FER_F64, of_int((INT64_C(1) << 53) + 1), of_float(1e17), of_int(1), &tensor, &error),
        "no exact float");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 arange(FER_F64, of_float(0), of_float(1e300), of_float(1), &tensor, &error),
                 "elements");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 arange(FER_I64, of_int(INT64_MIN), of_int(INT64_MAX), of_int(1), &tensor, &error),
                 "elements");
    assert_null(tensor);
}

static void test_elements_must_fit(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_I8, of_int(0), of_int(INT64_MAX), of_int(1), &tensor, &error),
                 "does not fit i8");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_U8, of_int(-1), of_int(3), of_int(1), &tensor, &error), "element 0",
                 "-1 does not fit u8");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_I32, of_float(0), of_float(1.5), of_float(0.5), &tensor, &error),
                 "element 1", "0.5 is no whole number");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 arange(FER_F32, of_int(16777216), of_int(16777219), of_int(1), &tensor, &error),
                 "element 1", "16777217 has no exact f32");
    assert_null(tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ints),
        cmocka_unit_test(test_ints_are_exact_to_the_ends),
        cmocka_unit_test(test_ints_above_int64),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_elements_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
