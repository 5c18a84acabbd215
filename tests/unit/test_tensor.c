/* Tensors: their layout, their life, and what making them refuses. */
#include "tensor/tensor.h"
#include "testing.h"

#include <pthread.h>

/* A request for more memory than there is must come back as NULL, as it does without the sanitizer.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const fer_device HOST = {0};

static fer_number of_int(int64_t value)
{
    return (fer_number){.kind = FER_NUMBER_INT, .value.as_int = value};
}

static fer_number of_float(double value)
{
    return (fer_number){.kind = FER_NUMBER_FLOAT, .value.as_float = value};
}

static void test_layout(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    int64_t shape[] = {2, 3, 4};
    ASSERT_OK(&error, fer_tensor_empty(FER_I16, 3, shape, HOST, &tensor, &error));
    shape[0] = 99; /* the tensor has its own copy */
    assert_int_equal(fer_tensor_dtype(tensor), FER_I16);
    assert_int_equal(fer_tensor_rank(tensor), 3);
    assert_memory_equal(fer_tensor_shape(tensor), ((int64_t[]){2, 3, 4}), 3 * sizeof(int64_t));
    assert_int_equal(fer_tensor_num_elements(tensor), 24);
    assert_int_equal(fer_tensor_num_bytes(tensor), 48);
    assert_int_equal(fer_tensor_device(tensor).id, 0);
    assert_false(fer_tensor_is_read_only(tensor));
    assert_ptr_equal(fer_tensor_data(tensor), fer_tensor_const_data(tensor));

    const fer_dl_tensor *dl = &tensor->dl;
    assert_ptr_equal(dl->data, fer_tensor_data(tensor));
    assert_int_equal(dl->device.device_type, 1);
    assert_int_equal(dl->ndim, 3);
    assert_int_equal(dl->dtype.code, 0);
    assert_int_equal(dl->dtype.bits, 16);
    assert_int_equal(dl->dtype.lanes, 1);
    assert_ptr_equal(dl->shape, fer_tensor_shape(tensor));
    assert_null(dl->strides);
    assert_int_equal(dl->byte_offset, 0);
    fer_tensor_release(tensor);
}

static void test_dlpack_dtypes(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    for (fer_dtype dtype = FER_BOOL; dtype <= FER_F8E5M2; dtype++) {
        fer_tensor *tensor = NULL;
        ASSERT_OK(&error, fer_tensor_empty(dtype, 0, NULL, HOST, &tensor, &error));
        assert_int_equal(tensor->dl.dtype.code, fer_dtype_dlpack_code(dtype));
        assert_int_equal(tensor->dl.dtype.bits, fer_dtype_dlpack_bits(dtype));
        assert_int_equal(tensor->dl.dtype.lanes, 1);
        fer_tensor_release(tensor);
    }
}

static void test_data_is_aligned_and_all_there(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    for (int64_t size = 0; size < 300; size++) {
        fer_tensor *tensor = NULL;
        ASSERT_OK(&error, fer_tensor_empty(FER_U8, 1, &size, HOST, &tensor, &error));
        assert_int_equal((uintptr_t)fer_tensor_data(tensor) % 64, 0);
        memset(fer_tensor_data(tensor), 0xff, (size_t)size);
        assert_int_equal(fer_tensor_shape(tensor)[0], size);
        fer_tensor_release(tensor);
        ASSERT_OK(&error, fer_tensor_zeros(FER_U8, 1, &size, HOST, &tensor, &error));
        assert_int_equal((uintptr_t)fer_tensor_data(tensor) % 64, 0);
        for (int64_t i = 0; i < size; i++)
            assert_int_equal(((uint8_t *)fer_tensor_data(tensor))[i], 0);
        fer_tensor_release(tensor);
    }
    fer_tensor_release(NULL);
}

static void test_rank_0_and_zero_size(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_empty(FER_F64, 0, NULL, HOST, &tensor, &error));
    assert_int_equal(fer_tensor_num_elements(tensor), 1);
    assert_int_equal(fer_tensor_num_bytes(tensor), 8);
    fer_tensor_release(tensor);

    /* A zero makes the count zero, however large the other extents are. */
    int64_t shape[] = {INT64_MAX, 0, INT64_MAX};
    ASSERT_OK(&error, fer_tensor_full(FER_F64, 3, shape, HOST, of_float(2), &tensor, &error));
    assert_int_equal(fer_tensor_num_elements(tensor), 0);
    assert_int_equal(fer_tensor_num_bytes(tensor), 0);
    fer_tensor *clone = NULL;
    ASSERT_OK(&error, fer_tensor_clone(tensor, HOST, &clone, &error));
    assert_int_equal(fer_tensor_shape(clone)[2], INT64_MAX);
    fer_tensor_release(clone);
    fer_tensor_release(tensor);
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F64, 3, shape, NULL, HOST, &tensor, &error));
    fer_tensor_release(tensor);
}

static void test_refused_layouts(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = (fer_tensor *)&error;
    int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t negative[] = {4, -3};
    int64_t large[] = {INT64_MAX / 4, 2, 3};
    int64_t bytes[] = {INT64_MAX / 4};
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_tensor_empty((fer_dtype)99, 0, NULL, HOST, &tensor, &error), "99",
                 "is no dtype");
    assert_null(tensor);
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_tensor_zeros(FER_DTYPE_INVALID, 0, NULL, HOST, &tensor, &error), "no dtype");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_tensor_ones(FER_U8, 9, nine, HOST, &tensor, &error),
                 "rank 9", "8");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_full(FER_U8, 2, negative, HOST, of_int(1), &tensor, &error),
                 "axis 1 is -3");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_tensor_empty(FER_U8, 2, NULL, HOST, &tensor, &error),
                 "needs a shape");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 fer_tensor_empty(FER_U8, 3, large, HOST, &tensor, &error), "64 bits");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 fer_tensor_empty(FER_F64, 1, bytes, HOST, &tensor, &error), "64 bits");
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        fer_tensor_empty(FER_U8, 0, NULL, (fer_device){fer_device_count()}, &tensor, &error),
        "there is no device 1; the only one is 0", "FERRULE_HOST_DEVICES");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_empty(FER_U8, 0, NULL, (fer_device){-1}, &tensor, &error), "device -1");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_copy_from(FER_U8, 2, ((int64_t[]){2, 3}), NULL, HOST, &tensor, &error),
                 "no data", "6 elements");
    assert_int_equal(fer_tensor_empty(FER_U8, 9, nine, HOST, &tensor, NULL), FER_VALUE_ERROR);

    assert_int_equal(fer_tensor_empty(FER_U8, 2, negative, HOST, &tensor, &error), FER_VALUE_ERROR);
    assert_int_equal(error.axis, 1);
    assert_string_equal(error.expected, "0 or more");
    assert_string_equal(error.actual, "-3");
    assert_int_equal(fer_tensor_empty(FER_U8, 0, NULL, (fer_device){7}, &tensor, &error),
                     FER_VALUE_ERROR);
    assert_string_equal(error.expected, "0");
    assert_string_equal(error.actual, "7");
    fer_error_clear(&error);
}

static void test_more_memory_than_there_is(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    int64_t shape[] = {INT64_MAX};
    char byte = 0;
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_tensor_empty(FER_U8, 1, shape, HOST, &tensor, &error), "memory");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_tensor_zeros(FER_U8, 1, shape, HOST, &tensor, &error), "memory");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR, fer_tensor_ones(FER_U8, 1, shape, HOST, &tensor, &error),
                 "memory");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_tensor_copy_from(FER_U8, 1, shape, &byte, HOST, &tensor, &error), "memory");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_tensor_arange(FER_I64, of_int(0), of_int(INT64_MAX / 8), of_int(1), HOST,
                                   &tensor, &error),
                 "memory");
    assert_null(tensor);
    assert_null(fer_tensor_allocate(FER_U8, 1, shape, 0, INT64_MAX, SIZE_MAX));
    assert_null(fer_tensor_allocate_zeroed(FER_U8, 1, shape, 0, INT64_MAX, SIZE_MAX - 100));
}

static void test_full(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    static const int64_t sizes[] = {0, 1, 2, 3, 1023, 1024, 1025, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fer_tensor *tensor = NULL;
        ASSERT_OK(&error,
                  fer_tensor_full(FER_F32, 1, &sizes[i], HOST, of_float(-2.5), &tensor, &error));
        const float *data = fer_tensor_const_data(tensor);
        for (int64_t j = 0; j < sizes[i]; j++)
            assert_true(data[j] == -2.5f);
        fer_tensor_release(tensor);
    }
    fer_tensor *tensor = NULL;
    int64_t shape[] = {3};
    ASSERT_OK(&error, fer_tensor_full(FER_F32, 1, shape, HOST, of_float(-0.0), &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), ((float[]){-0.0f, -0.0f, -0.0f}), 12);
    fer_tensor_release(tensor);
    ASSERT_OK(&error, fer_tensor_full(FER_I32, 1, shape, HOST, of_int(0), &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), ((int32_t[]){0, 0, 0}), 12);
    fer_tensor_release(tensor);
    fer_number largest = {.kind = FER_NUMBER_UINT, .value.as_uint = UINT64_MAX};
    ASSERT_OK(&error, fer_tensor_full(FER_U64, 1, shape, HOST, largest, &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), ((uint64_t[]){UINT64_MAX, UINT64_MAX, UINT64_MAX}),
                        24);
    fer_tensor_release(tensor);
    ASSERT_OK(&error, fer_tensor_scalar(FER_U64, HOST, largest, &tensor, &error));
    assert_true(*(const uint64_t *)fer_tensor_const_data(tensor) == UINT64_MAX);
    fer_tensor_release(tensor);
    /* Refused even where there is no element to hold it. */
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_full(FER_U8, 1, &(int64_t){0}, HOST, of_int(256), &tensor, &error),
                 "256 does not fit u8");
    assert_null(tensor);
}

static void test_ones_of_every_dtype(void **state)
{
    (void)state;
    static const uint64_t one[FER_NUM_DTYPES] = {
        [FER_BOOL] = 1,      [FER_I8] = 1,          [FER_I16] = 1,
        [FER_I32] = 1,       [FER_I64] = 1,         [FER_U8] = 1,
        [FER_U16] = 1,       [FER_U32] = 1,         [FER_U64] = 1,
        [FER_F16] = 0x3c00,  [FER_BF16] = 0x3f80,   [FER_F32] = 0x3f800000,
        [FER_F8E5M2] = 0x3c, [FER_F8E4M3FN] = 0x38, [FER_F64] = 0x3ff0000000000000,
    };
    fer_error error = FER_ERROR_INIT;
    for (fer_dtype dtype = FER_BOOL; dtype <= FER_F8E5M2; dtype++) {
        fer_tensor *tensor = NULL;
        int64_t shape[] = {2, 3};
        ASSERT_OK(&error, fer_tensor_ones(dtype, 2, shape, HOST, &tensor, &error));
        size_t size = fer_dtype_bytes(dtype);
        assert_int_equal(fer_tensor_num_bytes(tensor), 6 * size);
        for (size_t i = 0; i < 6; i++)
            assert_memory_equal((char *)fer_tensor_data(tensor) + i * size, &one[dtype], size);
        fer_tensor_release(tensor);
    }
}

static void test_elements_as_numbers(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I16, 1, &(int64_t){2}, (int16_t[]){7, -2}, HOST,
                                           &tensor, &error));
    fer_number element = fer_tensor_element(tensor, 1);
    assert_int_equal(element.kind, FER_NUMBER_INT);
    assert_int_equal(element.value.as_int, -2);
    fer_tensor_release(tensor);
    for (int dtype = FER_BOOL; dtype < FER_NUM_DTYPES; dtype++) {
        ASSERT_OK(&error,
                  fer_tensor_ones((fer_dtype)dtype, 1, &(int64_t){3}, HOST, &tensor, &error));
        element = fer_tensor_element(tensor, 2);
        if (dtype == FER_BOOL)
            assert_true(element.kind == FER_NUMBER_BOOL && element.value.as_bool);
        else if (FER_DTYPE_BIT(dtype) & FER_ANY_SIGNED)
            assert_true(element.kind == FER_NUMBER_INT && element.value.as_int == 1);
        else if (FER_DTYPE_BIT(dtype) & FER_ANY_UNSIGNED)
            assert_true(element.kind == FER_NUMBER_UINT && element.value.as_uint == 1);
        else
            assert_true(element.kind == FER_NUMBER_FLOAT && element.value.as_float == 1.0);
        fer_tensor_release(tensor);
    }
}

static void test_scalar(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_scalar(FER_I16, HOST, of_float(-7.0), &tensor, &error));
    assert_int_equal(fer_tensor_rank(tensor), 0);
    assert_int_equal(*(const int16_t *)fer_tensor_const_data(tensor), -7);
    fer_tensor_release(tensor);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_scalar(FER_I16, HOST, of_float(7.5), &tensor, &error), "7.5");
}

static void test_copies_are_apart(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[] = {1, 2, 3, 4, 5, 6};
    int64_t shape[] = {3, 2};
    fer_tensor *tensor = NULL;
    fer_tensor *clone = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 2, shape, data, HOST, &tensor, &error));
    ASSERT_OK(&error, fer_tensor_clone(tensor, HOST, &clone, &error));
    data[0] = 10;
    ((float *)fer_tensor_data(tensor))[1] = 20;
    assert_memory_equal(fer_tensor_data(tensor), ((float[]){1, 20, 3, 4, 5, 6}), 24);
    assert_memory_equal(fer_tensor_data(clone), ((float[]){1, 2, 3, 4, 5, 6}), 24);
    assert_int_equal(fer_tensor_rank(clone), 2);
    fer_tensor_release(tensor);
    fer_tensor_release(clone);
    ASSERT_OK(&error, fer_tensor_copy_from(FER_BOOL, 1, &(int64_t){4}, "\0\1\2\xff", HOST, &tensor,
                                           &error));
    assert_memory_equal(fer_tensor_data(tensor), "\0\1\1\1", 4);
    fer_tensor_release(tensor);
}

static void count_call(void *context)
{
    ++*(int *)context;
}

static void test_borrowed_memory_goes_back_once(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    double data[4] = {1, 2, 3, 4};
    int64_t shape[] = {4};
    int num_calls = 0;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F64, 1, shape, data, true, HOST, count_call, &num_calls,
                                        &tensor, &error));
    assert_ptr_equal(fer_tensor_data(tensor), data);
    assert_true(fer_tensor_is_read_only(tensor));
    assert_int_equal(fer_tensor_num_bytes(tensor), 32);
    fer_tensor *clone = NULL;
    ASSERT_OK(&error, fer_tensor_clone(tensor, HOST, &clone, &error));
    assert_false(fer_tensor_is_read_only(clone));
    assert_ptr_equal(fer_tensor_retain(tensor), tensor);
    fer_tensor_release(tensor);
    assert_int_equal(num_calls, 0);
    fer_tensor_release(tensor);
    assert_int_equal(num_calls, 1);
    fer_tensor_release(clone);
    assert_int_equal(num_calls, 1);

    ASSERT_OK(&error, fer_tensor_borrow(FER_F64, 1, &(int64_t){0}, NULL, false, HOST, NULL, NULL,
                                        &tensor, &error));
    assert_null(fer_tensor_data(tensor));
    assert_false(fer_tensor_is_read_only(tensor));
    fer_tensor_release(tensor);
}

static void test_refused_borrowing_calls_no_deleter(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    double data[4] = {0};
    int num_calls = 0;
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_borrow(FER_F64, 1, &(int64_t){2}, (char *)data + 4, false, HOST,
                                   count_call, &num_calls, &tensor, &error),
                 "not aligned for f64");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_borrow(FER_F64, 1, &(int64_t){2}, NULL, false, HOST, count_call,
                                   &num_calls, &tensor, &error),
                 "no data");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_tensor_borrow(FER_F64, 1, &(int64_t){-1}, data, false, HOST, count_call,
                                   &num_calls, &tensor, &error),
                 "axis 0 is -1");
    assert_null(tensor);
    assert_int_equal(num_calls, 0);
}

static void test_type(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_type *type = NULL;
    int64_t shape[] = {2, 0, 5};
    ASSERT_OK(&error, fer_tensor_empty(FER_BF16, 3, shape, HOST, &tensor, &error));
    ASSERT_OK(&error, fer_tensor_type(tensor, &type, &error));
    assert_string_equal(fer_type_text(type), "bf16[2, 0, 5]");
    fer_type_release(type);
    fer_tensor_release(tensor);
    ASSERT_OK(&error, fer_tensor_empty(FER_BOOL, 0, NULL, HOST, &tensor, &error));
    ASSERT_OK(&error, fer_tensor_type(tensor, &type, &error));
    assert_string_equal(fer_type_text(type), "bool[]");
    fer_type_release(type);
    fer_tensor_release(tensor);
}

#define NUM_THREADS 4
#define NUM_ROUNDS 20000

/* Takes and drops references; the thread's own first one goes at the end. */
static void *share(void *argument)
{
    fer_tensor *tensor = argument;
    for (int i = 0; i < NUM_ROUNDS; i++)
        fer_tensor_release(fer_tensor_retain(tensor));
    fer_tensor_release(tensor);
    return NULL;
}

static void test_references_from_many_threads(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    int num_calls = 0;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_U8, 1, &(int64_t){1}, &(char){0}, false, HOST,
                                        count_call, &num_calls, &tensor, &error));
    pthread_t threads[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, share, fer_tensor_retain(tensor)), 0);
    fer_tensor_release(tensor);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(num_calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_dlpack_dtypes),
        cmocka_unit_test(test_data_is_aligned_and_all_there),
        cmocka_unit_test(test_rank_0_and_zero_size),
        cmocka_unit_test(test_refused_layouts),
        cmocka_unit_test(test_more_memory_than_there_is),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_ones_of_every_dtype),
        cmocka_unit_test(test_elements_as_numbers),
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_copies_are_apart),
        cmocka_unit_test(test_borrowed_memory_goes_back_once),
        cmocka_unit_test(test_refused_borrowing_calls_no_deleter),
        cmocka_unit_test(test_type),
        cmocka_unit_test(test_references_from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
