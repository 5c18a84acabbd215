/* DLPack tensors that go out: their layout, what they share, what they say, and how long they live.
 */
#include "tensor/tensor.h"
#include "testing_dlpack.h"

#include <pthread.h>

static const fer_device HOST = {0};
static const int64_t SHAPE[] = {2, 3, 4};

static fer_tensor *make_tensor(fer_dtype dtype, size_t rank, const int64_t *shape)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_ones(dtype, rank, shape, HOST, &tensor, &error));
    return tensor;
}

/* As DLPack's header has them on a machine of 64 bits. */
static void test_layout(void **state)
{
    (void)state;
    assert_int_equal(offsetof(fer_dl_tensor, data), 0);
    assert_int_equal(offsetof(fer_dl_tensor, device), 8);
    assert_int_equal(offsetof(fer_dl_tensor, ndim), 16);
    assert_int_equal(offsetof(fer_dl_tensor, dtype), 20);
    assert_int_equal(offsetof(fer_dl_tensor, shape), 24);
    assert_int_equal(offsetof(fer_dl_tensor, strides), 32);
    assert_int_equal(offsetof(fer_dl_tensor, byte_offset), 40);
    assert_int_equal(sizeof(fer_dl_tensor), 48);
    assert_int_equal(offsetof(fer_dl_managed_tensor, dl_tensor), 0);
    assert_int_equal(offsetof(fer_dl_managed_tensor, manager_ctx), 48);
    assert_int_equal(offsetof(fer_dl_managed_tensor, deleter), 56);
    assert_int_equal(sizeof(fer_dl_managed_tensor), 64);
    assert_int_equal(offsetof(fer_dl_managed_tensor_versioned, version), 0);
    assert_int_equal(offsetof(fer_dl_managed_tensor_versioned, manager_ctx), 8);
    assert_int_equal(offsetof(fer_dl_managed_tensor_versioned, deleter), 16);
    assert_int_equal(offsetof(fer_dl_managed_tensor_versioned, flags), 24);
    assert_int_equal(offsetof(fer_dl_managed_tensor_versioned, dl_tensor), 32);
    assert_int_equal(sizeof(fer_dl_managed_tensor_versioned), 80);
}

static void check_dl(const fer_dl_tensor *dl, const fer_tensor *tensor)
{
    assert_ptr_equal(dl->data, fer_tensor_const_data(tensor));
    assert_int_equal(dl->device.device_type, 1);
    assert_int_equal(dl->device.device_id, 0);
    assert_int_equal(dl->ndim, 3);
    assert_int_equal(dl->dtype.code, fer_dtype_dlpack_code(fer_tensor_dtype(tensor)));
    assert_int_equal(dl->dtype.bits, fer_dtype_dlpack_bits(fer_tensor_dtype(tensor)));
    assert_int_equal(dl->dtype.lanes, 1);
    assert_memory_equal(dl->shape, SHAPE, sizeof SHAPE);
    assert_memory_equal(dl->strides, ((int64_t[]){12, 4, 1}), 3 * sizeof(int64_t));
    assert_int_equal(dl->byte_offset, 0);
}

static void test_memory_is_shared(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    for (fer_dtype dtype = FER_BOOL; dtype <= FER_F8E5M2; dtype++) {
        fer_tensor *tensor = make_tensor(dtype, 3, SHAPE);
        fer_dl_managed_tensor *old = NULL;
        fer_dl_managed_tensor_versioned *versioned = NULL;
        ASSERT_OK(&error, fer_tensor_to_dlpack(tensor, false, &old, &error));
        check_dl(&old->dl_tensor, tensor);
        ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &versioned, &error));
        check_dl(&versioned->dl_tensor, tensor);
        assert_int_equal(versioned->version.major, 1);
        assert_int_equal(versioned->version.minor, 1);
        assert_int_equal(versioned->flags, 0);
        old->deleter(old);
        versioned->deleter(versioned);
        fer_tensor_release(tensor);
    }
}

/* The consumer may outlive every other holder, and change what is its own. */
static void test_an_export_keeps_the_memory(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = make_tensor(FER_F64, 3, SHAPE);
    fer_dl_managed_tensor *old = NULL;
    fer_dl_managed_tensor_versioned *versioned = NULL;
    ASSERT_OK(&error, fer_tensor_to_dlpack(tensor, false, &old, &error));
    ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &versioned, &error));
    old->dl_tensor.shape[0] = 99;
    old->dl_tensor.strides[0] = 99;
    assert_int_equal(fer_tensor_shape(tensor)[0], 2);
    fer_tensor_release(tensor);
    ((double *)old->dl_tensor.data)[23] = 5;
    old->deleter(old);
    assert_true(((double *)versioned->dl_tensor.data)[23] == 5);
    assert_memory_equal(versioned->dl_tensor.shape, SHAPE, sizeof SHAPE);
    versioned->deleter(versioned);
}

static void test_copies(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[24] = {1, 2, 3};
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error,
              fer_tensor_borrow(FER_F32, 3, SHAPE, data, true, HOST, NULL, NULL, &tensor, &error));
    fer_dl_managed_tensor *old = NULL;
    fer_dl_managed_tensor_versioned *versioned = NULL;
    ASSERT_OK(&error, fer_tensor_to_dlpack(tensor, true, &old, &error));
    ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, true, &versioned, &error));
    fer_tensor_release(tensor);
    assert_int_equal(versioned->flags, FER_DL_IS_COPIED);
    assert_ptr_not_equal(old->dl_tensor.data, data);
    assert_ptr_not_equal(old->dl_tensor.data, versioned->dl_tensor.data);
    ((float *)old->dl_tensor.data)[0] = 10;
    assert_true(data[0] == 1);
    assert_memory_equal(versioned->dl_tensor.data, data, sizeof data);
    old->deleter(old);
    versioned->deleter(versioned);
}

/* Only the versioned generation has a flag for it. */
static void test_read_only(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[24] = {0};
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error,
              fer_tensor_borrow(FER_F32, 3, SHAPE, data, true, HOST, NULL, NULL, &tensor, &error));
    fer_dl_managed_tensor *old = (fer_dl_managed_tensor *)data;
    fer_dl_managed_tensor_versioned *versioned = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_tensor_to_dlpack(tensor, false, &old, &error),
                 "read-only", "versioned", "copy");
    assert_null(old);
    ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &versioned, &error));
    assert_int_equal(versioned->flags, FER_DL_READ_ONLY);
    assert_ptr_equal(versioned->dl_tensor.data, data);
    versioned->deleter(versioned);
    fer_tensor_release(tensor);
}

static void test_empty_and_rank_0(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dl_managed_tensor_versioned *versioned = NULL;
    int64_t shape[] = {3, 0, INT64_MAX, INT64_MAX};
    fer_tensor *tensor = make_tensor(FER_I32, 4, shape);
    ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &versioned, &error));
    assert_null(versioned->dl_tensor.data);
    assert_memory_equal(versioned->dl_tensor.shape, shape, sizeof shape);
    assert_non_null(versioned->dl_tensor.strides);
    versioned->deleter(versioned);
    fer_tensor_release(tensor);

    tensor = make_tensor(FER_I32, 0, NULL);
    ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &versioned, &error));
    assert_int_equal(versioned->dl_tensor.ndim, 0);
    assert_int_equal(*(int32_t *)versioned->dl_tensor.data, 1);
    versioned->deleter(versioned);
    fer_tensor_release(tensor);
}

static void check_same(const fer_tensor *tensor, const fer_tensor *again)
{
    assert_int_equal(fer_tensor_dtype(again), fer_tensor_dtype(tensor));
    assert_int_equal(fer_tensor_rank(again), fer_tensor_rank(tensor));
    assert_int_equal(fer_tensor_num_bytes(again), fer_tensor_num_bytes(tensor));
    assert_int_equal(fer_tensor_is_read_only(again), fer_tensor_is_read_only(tensor));
    if (fer_tensor_rank(tensor) > 0)
        assert_memory_equal(fer_tensor_shape(again), fer_tensor_shape(tensor),
                            fer_tensor_rank(tensor) * sizeof(int64_t));
    if (fer_tensor_num_bytes(tensor) > 0)
        assert_ptr_equal(fer_tensor_const_data(again), fer_tensor_const_data(tensor));
}

/* What is exported comes back in place, of every rank. */
static void test_round_trips(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    int64_t shapes[][8] = {{3, 1, 2, 1, 2, 1, 1, 5}, {2, 0, 2, 2, 2, 2, 2, 2}};
    for (size_t i = 0; i < 2; i++)
        for (size_t rank = 0; rank <= 8; rank++) {
            fer_tensor *tensor = make_tensor(FER_U16, rank, shapes[i]);
            fer_tensor *again = NULL;
            fer_dl_managed_tensor *old = NULL;
            fer_dl_managed_tensor_versioned *versioned = NULL;
            ASSERT_OK(&error, fer_tensor_to_dlpack(tensor, false, &old, &error));
            ASSERT_OK(&error, fer_tensor_from_dlpack(old, FER_DL_COPY_NEVER, &again, &error));
            check_same(tensor, again);
            fer_tensor_release(again);
            ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &versioned, &error));
            ASSERT_OK(&error, fer_tensor_from_dlpack_versioned(versioned, FER_DL_COPY_NEVER, &again,
                                                               &error));
            check_same(tensor, again);
            fer_tensor_release(tensor);
            fer_tensor_release(again);
        }
}

static void *delete_export(void *managed)
{
    fer_dl_managed_tensor_versioned *self = managed;
    self->deleter(self);
    return NULL;
}

/* Consumers are done when and where they like; the producer's deleter is called once. */
static void test_exports_are_deleted_by_any_thread(void **state)
{
    (void)state;
    enum { NUM_THREADS = 4, NUM_ROUNDS = 200 };
    fer_error error = FER_ERROR_INIT;
    float data[24] = {0};
    for (int round = 0; round < NUM_ROUNDS; round++) {
        fer_tensor *tensor = NULL;
        product *made = produce(VERSIONED, FER_F32, 3, SHAPE, NULL, data);
        ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
        pthread_t threads[NUM_THREADS];
        for (int i = 0; i < NUM_THREADS; i++) {
            fer_dl_managed_tensor_versioned *managed = NULL;
            ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &managed, &error));
            assert_int_equal(pthread_create(&threads[i], NULL, delete_export, managed), 0);
        }
        fer_tensor_release(tensor);
        for (int i = 0; i < NUM_THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&num_deleted), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_memory_is_shared),
        cmocka_unit_test(test_an_export_keeps_the_memory),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_empty_and_rank_0),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_exports_are_deleted_by_any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
