/* Reshapes of tensors: shared memory and its life, copies, refusals. */
#include "testing.h"

#include <ferrule/dlpack.h>
#include <ferrule/tensor.h>

static fer_tensor *count_to_six(void)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error,
              fer_tensor_copy_from(FER_I32, 2, (int64_t[]){2, 3}, (int32_t[]){1, 2, 3, 4, 5, 6},
                                   (fer_device){0}, &tensor, &error));
    return tensor;
}

static void assert_ints(const fer_tensor *tensor, const int32_t *values)
{
    assert_true(fer_tensor_is_compact(tensor));
    assert_memory_equal(fer_tensor_const_data(tensor), values, fer_tensor_num_bytes(tensor));
}

static void compact_memory_is_shared(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    static const struct {
        size_t rank;
        int64_t given[4];
        int64_t shape[4];
    } CASES[] = {
        {1, {6}, {6}},
        {1, {-1}, {6}},
        {2, {3, -1}, {3, 2}},
        {4, {1, -1, 1, 6}, {1, 1, 1, 6}},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_tensor *x = count_to_six();
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_tensor_reshape(x, CASES[i].rank, CASES[i].given, &y, &error));
        assert_ptr_equal(fer_tensor_data(x), fer_tensor_data(y));
        assert_int_equal(fer_tensor_rank(y), CASES[i].rank);
        assert_memory_equal(fer_tensor_shape(y), CASES[i].shape,
                            CASES[i].rank * sizeof *CASES[i].shape);
        assert_int_equal(fer_tensor_dtype(y), FER_I32);
        assert_int_equal(fer_tensor_num_bytes(y), 24);
        assert_false(fer_tensor_is_read_only(y));
        fer_tensor_release(x); /* the memory stays */
        assert_ints(y, (int32_t[]){1, 2, 3, 4, 5, 6});
        fer_tensor_release(y);
    }
}

static void ranks_without_axes_and_without_elements(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *x = NULL, *y = NULL, *z = NULL;
    ASSERT_OK(&error, fer_tensor_zeros(FER_F32, 0, NULL, (fer_device){0}, &x, &error));
    ASSERT_OK(&error, fer_tensor_reshape(x, 2, (int64_t[]){-1, 1}, &y, &error));
    assert_int_equal(fer_tensor_shape(y)[0], 1);
    ASSERT_OK(&error, fer_tensor_reshape(y, 0, NULL, &z, &error));
    assert_int_equal(fer_tensor_rank(z), 0);
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_tensor_release(z);
    ASSERT_OK(&error, fer_tensor_zeros(FER_F32, 2, (int64_t[]){0, 3}, (fer_device){0}, &x, &error));
    ASSERT_OK(&error, fer_tensor_reshape(x, 2, (int64_t[]){4, -1}, &y, &error));
    assert_int_equal(fer_tensor_shape(y)[1], 0);
    fer_tensor_release(x);
    fer_tensor_release(y);
}

static void count_call(void *context)
{
    ++*(int *)context;
}

/* However many views there were: releasing the last one must not walk through all. */
static void views_of_views_keep_the_owner_alone(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    static const float DATA[4] = {1, 2, 3, 4};
    int num_calls = 0;
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, (int64_t[]){4}, (void *)(uintptr_t)DATA, true,
                                        (fer_device){0}, count_call, &num_calls, &x, &error));
    for (int i = 0; i < 1000000; i++) {
        fer_tensor *y = NULL;
        ASSERT_OK(&error,
                  fer_tensor_reshape(x, 2, (int64_t[]){i % 2 == 0 ? 2 : 1, -1}, &y, &error));
        fer_tensor_release(x);
        x = y;
    }
    assert_int_equal(num_calls, 0);
    assert_true(fer_tensor_is_read_only(x));
    assert_ptr_equal(fer_tensor_data(x), DATA);
    fer_tensor_release(x);
    assert_int_equal(num_calls, 1);
}

static void what_is_not_compact_is_copied(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    int32_t data[] = {1, 4, 2, 5, 3, 6};
    fer_dl_managed_tensor managed = {.dl_tensor = {.data = data,
                                                   .device = {1, 0},
                                                   .ndim = 2,
                                                   .dtype = {0, 32, 1},
                                                   .shape = (int64_t[]){2, 3},
                                                   .strides = (int64_t[]){1, 2}}};
    fer_tensor *x = NULL, *y = NULL;
    ASSERT_OK(&error, fer_tensor_from_dlpack(&managed, FER_DL_COPY_IF_NEEDED, &x, &error));
    assert_false(fer_tensor_is_compact(x));
    ASSERT_OK(&error, fer_tensor_reshape(x, 1, (int64_t[]){-1}, &y, &error));
    data[0] = 9;
    assert_int_equal(fer_tensor_shape(y)[0], 6);
    assert_ints(y, (int32_t[]){1, 2, 3, 4, 5, 6});
    fer_tensor_release(x);
    fer_tensor_release(y);
}

static void another_count_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t rank;
        int64_t shape[9];
        const char *message;
    } CASES[] = {
        {1, {4}, "reshape of i32[2, 3] to [4]: there are 6 elements, not 4"},
        {0, {0}, "reshape of i32[2, 3] to []: there are 6 elements, not 1"},
        {2,
         {4, -1},
         "reshape of i32[2, 3] to [4, -1]: there are 6 elements, which the other dims do not "
         "divide"},
        {2, {-1, -1}, "only one dim can be inferred"},
        {2, {0, -1}, "beside a dim of 0 none can be inferred"},
        {1, {-2}, "reshape of i32[2, 3] to [-2]: axis 0 is negative"},
        {2, {INT64_MAX, 2}, "there are 6 elements, not so many"},
        {3, {INT64_MAX, -1, 2}, "there are 6 elements, not so many"},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 6}, "reshape to rank 9: the highest rank is 8"},
    };
    fer_tensor *x = count_to_six();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_tensor *y = NULL;
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_tensor_reshape(x, CASES[i].rank, CASES[i].shape, &y, &error),
                     CASES[i].message);
        assert_null(y);
    }
    fer_error error = FER_ERROR_INIT;
    fer_tensor *y = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_tensor_reshape(x, 2, NULL, &y, &error),
                 "reshape to rank 2 needs a shape");
    fer_tensor_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_memory_is_shared),
        cmocka_unit_test(ranks_without_axes_and_without_elements),
        cmocka_unit_test(views_of_views_keep_the_owner_alone),
        cmocka_unit_test(what_is_not_compact_is_copied),
        cmocka_unit_test(another_count_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
