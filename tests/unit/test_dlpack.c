/* DLPack tensors that come in: how they lie, what is copied, what is refused, and that a deleter is
 * called exactly once on every way. */
#include "tensor/tensor.h"
#include "testing_dlpack.h"

#include <pthread.h>

static const int64_t SHAPE[] = {2, 3};
static const int64_t COMPACT[] = {3, 1};
static const int64_t TURNED[] = {1, 2};

/* The import is the memory itself, and gives it back when its last reference goes. */
static void check_in_place(product *made, const void *data)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
    assert_ptr_equal(fer_tensor_data(tensor), data);
    assert_false(fer_tensor_is_read_only(tensor));
    assert_null(tensor->dl.strides);
    assert_int_equal(tensor->dl.byte_offset, 0);
    fer_tensor *second = fer_tensor_retain(tensor);
    fer_tensor_release(tensor);
    assert_int_equal(atomic_load(&num_deleted), 0);
    fer_tensor_release(second);
    assert_int_equal(atomic_load(&num_deleted), 1);
}

/* The import is the memory as it lies; a compact copy of it has these elements. */
static void check_strided(product *made, const void *elements, size_t num_bytes)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_tensor *compact = NULL;
    ASSERT_OK(&error, take(made, FER_DL_COPY_IF_NEEDED, &tensor, &error));
    assert_int_equal(atomic_load(&num_deleted), 0);
    assert_ptr_equal(fer_tensor_data(tensor), (char *)dl_of(made)->data + dl_of(made)->byte_offset);
    assert_int_equal(fer_tensor_num_bytes(tensor), num_bytes);
    assert_false(fer_tensor_is_compact(tensor));
    assert_false(fer_tensor_is_read_only(tensor));
    int64_t strides[8];
    fer_tensor_strides(tensor, strides);
    for (size_t i = 0; i < fer_tensor_rank(tensor) && dl_of(made)->strides != NULL; i++)
        assert_int_equal(strides[i], made->strides[i]);
    ASSERT_OK(&error, fer_tensor_compact(tensor, &compact, &error));
    fer_tensor_release(tensor);
    assert_int_equal(atomic_load(&num_deleted), 1);
    assert_true(fer_tensor_is_compact(compact));
    assert_int_equal(fer_tensor_num_bytes(compact), num_bytes);
    assert_memory_equal(fer_tensor_data(compact), elements, num_bytes);
    assert_int_equal((uintptr_t)fer_tensor_data(compact) % 64, 0);
    fer_tensor_release(compact);
    assert_int_equal(atomic_load(&num_deleted), 1);
}

static void test_compact_memory_is_borrowed(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[6] = {1, 2, 3, 4, 5, 6};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        check_in_place(produce(of, FER_F32, 2, SHAPE, COMPACT, data), data);

        fer_tensor *tensor = NULL;
        product *made = produce(of, FER_F32, 2, SHAPE, COMPACT, data);
        ASSERT_OK(&error, take(made, FER_DL_COPY_IF_NEEDED, &tensor, &error));
        assert_int_equal(fer_tensor_dtype(tensor), FER_F32);
        assert_int_equal(fer_tensor_rank(tensor), 2);
        assert_memory_equal(fer_tensor_shape(tensor), SHAPE, sizeof SHAPE);
        assert_int_equal(fer_tensor_num_elements(tensor), 6);
        assert_int_equal(fer_tensor_num_bytes(tensor), 24);
        data[5] = 60;
        assert_true(((float *)fer_tensor_data(tensor))[5] == 60);
        made->shape[0] = 99; /* the tensor has its own */
        assert_int_equal(fer_tensor_shape(tensor)[0], 2);
        fer_tensor_release(tensor);
        assert_int_equal(atomic_load(&num_deleted), 1);
    }
}

static void test_null_strides_are_compact(void **state)
{
    (void)state;
    int16_t data[6] = {0};
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        check_in_place(produce(of, FER_I16, 2, SHAPE, NULL, data), data);
}

static void test_byte_offset(void **state)
{
    (void)state;
    int32_t data[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        product *made = produce(of, FER_I32, 2, SHAPE, NULL, data);
        dl_of(made)->byte_offset = 12;
        check_in_place(made, data + 3);

        made = produce(of, FER_I32, 2, SHAPE, TURNED, data);
        dl_of(made)->byte_offset = 16;
        check_strided(made, ((int32_t[]){4, 6, 8, 5, 7, 9}), 24);
    }
}

/* Nothing is one step further along an axis of length 1. */
static void test_strides_of_length_1_axes_do_not_matter(void **state)
{
    (void)state;
    double data[6] = {0};
    int64_t shape[] = {1, 2, 1, 3, 1};
    int64_t strides[] = {INT64_MAX, 3, -7, 1, INT64_MIN};
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        check_in_place(produce(of, FER_F64, 5, shape, strides, data), data);
}

static void test_negative_strides(void **state)
{
    (void)state;
    int16_t data[6] = {0, 1, 2, 3, 4, 5};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        check_strided(produce(of, FER_I16, 2, SHAPE, (int64_t[]){-3, -1}, data + 5),
                      ((int16_t[]){5, 4, 3, 2, 1, 0}), 12);
        check_strided(produce(of, FER_I16, 2, SHAPE, (int64_t[]){-3, 1}, data + 3),
                      ((int16_t[]){3, 4, 5, 0, 1, 2}), 12);
        check_strided(produce(of, FER_I16, 2, SHAPE, (int64_t[]){3, -1}, data + 2),
                      ((int16_t[]){2, 1, 0, 5, 4, 3}), 12);
    }
}

static void test_turned_and_spread_and_repeated(void **state)
{
    (void)state;
    uint8_t data[6] = {0, 1, 2, 3, 4, 5};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        check_strided(produce(of, FER_U8, 2, SHAPE, TURNED, data), ((uint8_t[]){0, 2, 4, 1, 3, 5}),
                      6);
        check_strided(produce(of, FER_U8, 1, (int64_t[]){3}, (int64_t[]){2}, data),
                      ((uint8_t[]){0, 2, 4}), 3);
        check_strided(produce(of, FER_U8, 2, SHAPE, (int64_t[]){0, 1}, data + 1),
                      ((uint8_t[]){1, 2, 3, 1, 2, 3}), 6);
        check_strided(produce(of, FER_U8, 2, SHAPE, (int64_t[]){0, 0}, data + 4),
                      ((uint8_t[]){4, 4, 4, 4, 4, 4}), 6);
    }
}

static void test_misaligned_data(void **state)
{
    (void)state;
    for (fer_dtype dtype = FER_BOOL; dtype <= FER_F8E5M2; dtype++) {
        size_t element_bytes = fer_dtype_bytes(dtype);
        _Alignas(8) unsigned char data[64];
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = i % 2 == 0;
        for (generation of = OLD; of < NUM_GENERATIONS; of++) {
            product *made = produce(of, dtype, 1, (int64_t[]){3}, NULL, data + 1);
            if (element_bytes == 1) {
                check_in_place(made, data + 1);
                continue;
            }
            check_strided(made, data + 1, 3 * element_bytes);
            ASSERT_REFUSED(produce(of, dtype, 1, (int64_t[]){3}, NULL, data + 1), FER_DL_COPY_NEVER,
                           FER_VALUE_ERROR, "aligned", "allow a copy");
            /* The offset counts: both together are a boundary again. */
            made = produce(of, dtype, 1, (int64_t[]){3}, NULL, data + 1);
            dl_of(made)->byte_offset = 7;
            check_in_place(made, data + 8);
        }
    }
}

static void test_empty_tensors_need_no_data(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    int64_t shape[] = {INT64_MAX, 0, INT64_MAX};
    int64_t strides[] = {INT64_MIN, INT64_MAX, 5};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        check_in_place(produce(of, FER_F32, 3, shape, NULL, NULL), NULL);
        check_in_place(produce(of, FER_F32, 3, shape, strides, NULL), NULL);

        /* A pointer is not looked at either. */
        fer_tensor *tensor = NULL;
        product *made = produce(of, FER_F32, 3, shape, strides, (void *)3);
        dl_of(made)->byte_offset = UINT64_MAX;
        ASSERT_OK(&error, take(made, FER_DL_COPY_ALWAYS, &tensor, &error));
        assert_int_equal(fer_tensor_num_elements(tensor), 0);
        assert_memory_equal(fer_tensor_shape(tensor), shape, sizeof shape);
        fer_tensor_release(tensor);
        assert_int_equal(atomic_load(&num_deleted), 1);

        for (fer_dl_copy copy = FER_DL_COPY_IF_NEEDED; copy <= FER_DL_COPY_ALWAYS; copy++)
            ASSERT_REFUSED(produce(of, FER_F32, 2, SHAPE, NULL, NULL), copy, FER_VALUE_ERROR,
                           "no data");
    }
}

static void test_rank_0(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    double data = 0.5;
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        check_in_place(produce(of, FER_F64, 0, NULL, NULL, &data), &data);
        fer_tensor *tensor = NULL;
        ASSERT_OK(&error, take(produce(of, FER_F64, 0, NULL, NULL, &data), FER_DL_COPY_ALWAYS,
                               &tensor, &error));
        assert_int_equal(fer_tensor_rank(tensor), 0);
        assert_int_equal(fer_tensor_num_elements(tensor), 1);
        assert_true(*(double *)fer_tensor_data(tensor) == 0.5);
        fer_tensor_release(tensor);
    }
}

static void test_bools_have_a_code_of_their_own(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    unsigned char data[4] = {0, 1, 2, 255};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        fer_tensor *tensor = NULL;
        product *made = produce(of, FER_U8, 1, (int64_t[]){2}, NULL, data);
        dl_of(made)->dtype.code = 6;
        ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
        assert_int_equal(fer_tensor_dtype(tensor), FER_BOOL);
        fer_tensor_release(tensor);

        /* A copy holds what C's bool may hold. */
        check_strided(produce(of, FER_BOOL, 1, (int64_t[]){4}, (int64_t[]){-1}, data + 3),
                      ((unsigned char[]){1, 1, 1, 0}), 4);

        /* Of one byte: eight in a byte, or more than one, is no bool of C. */
        made = produce(of, FER_BOOL, 1, (int64_t[]){2}, NULL, data);
        dl_of(made)->dtype.bits = 1;
        ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, "code 6 and 1 bits");
        made = produce(of, FER_BOOL, 1, (int64_t[]){2}, NULL, data);
        dl_of(made)->dtype.bits = 16;
        ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, "code 6 and 16 bits");
    }
}

static void test_every_dtype(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    static const struct {
        uint8_t code, bits;
        fer_dtype dtype;
    } known[] = {
        {0, 8, FER_I8},   {0, 16, FER_I16},      {0, 32, FER_I32},    {0, 64, FER_I64},
        {1, 8, FER_U8},   {1, 16, FER_U16},      {1, 32, FER_U32},    {1, 64, FER_U64},
        {2, 16, FER_F16}, {2, 32, FER_F32},      {2, 64, FER_F64},    {4, 16, FER_BF16},
        {6, 8, FER_BOOL}, {10, 8, FER_F8E4M3FN}, {12, 8, FER_F8E5M2},
    };
    _Alignas(8) unsigned char data[16] = {0};
    size_t num_taken = 0;
    for (unsigned code = 0; code < 256; code++)
        for (unsigned bits = 0; bits < 256; bits++) {
            fer_dtype expected = FER_DTYPE_INVALID;
            for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (known[i].code == code && known[i].bits == bits)
                    expected = known[i].dtype;
            fer_tensor *tensor = NULL;
            product *made = produce(VERSIONED, FER_U8, 1, (int64_t[]){2}, NULL, data);
            dl_of(made)->dtype = (fer_dl_dtype){(uint8_t)code, (uint8_t)bits, 1};
            if (expected == FER_DTYPE_INVALID) {
                char words[64];
                snprintf(words, sizeof words, "type code %u and %u bits", code, bits);
                ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, words);
                continue;
            }
            ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
            assert_int_equal(fer_tensor_dtype(tensor), expected);
            fer_tensor_release(tensor);
            num_taken++;
        }
    assert_int_equal(num_taken, FER_NUM_DTYPES - 1);
}

static void test_lanes(void **state)
{
    (void)state;
    float data[8] = {0};
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        for (uint16_t lanes = 0; lanes <= 4; lanes += 2) {
            char words[32];
            snprintf(words, sizeof words, "%u lanes", lanes);
            product *made = produce(of, FER_F32, 1, (int64_t[]){2}, NULL, data);
            dl_of(made)->dtype.lanes = lanes;
            ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, words, "last axis");
        }
}

static void test_other_devices_are_named(void **state)
{
    (void)state;
    static const struct {
        int32_t type;
        const char *words;
    } devices[] = {
        {2, "on cuda device 3"},
        {3, "on cuda_host device 3"},
        {4, "on opencl device 3"},
        {7, "on vulkan device 3"},
        {8, "on metal device 3"},
        {9, "on vpi device 3"},
        {10, "on rocm device 3"},
        {11, "on rocm_host device 3"},
        {12, "on ext_dev device 3"},
        {13, "on cuda_managed device 3"},
        {14, "on oneapi device 3"},
        {15, "on webgpu device 3"},
        {16, "on hexagon device 3"},
        {17, "on maia device 3"},
        {18, "on trn device 3"},
        {0, "unknown type 0"},
        {5, "unknown type 5"},
        {19, "unknown type 19"},
        {-1, "unknown type -1"},
        {INT32_MIN, "unknown type -2147483648"},
        {INT32_MAX, "unknown type 2147483647"},
    };
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
            product *made = produce(of, FER_F32, 2, SHAPE, NULL, (void *)8);
            dl_of(made)->device = (fer_dl_device){devices[i].type, 3};
            ASSERT_REFUSED(made, FER_DL_COPY_ALWAYS, FER_UNSUPPORTED_ERROR, devices[i].words,
                           "only host memory");
        }
    float data[6] = {0};
    product *made = produce(OLD, FER_F32, 2, SHAPE, NULL, data);
    dl_of(made)->device.device_id = 99;
    ASSERT_REFUSED(made, FER_DL_COPY_NEVER, FER_VALUE_ERROR, "there is no device 99");
    made = produce(OLD, FER_F32, 2, SHAPE, NULL, data);
    dl_of(made)->device.device_id = -1;
    ASSERT_REFUSED(made, FER_DL_COPY_ALWAYS, FER_VALUE_ERROR, "there is no device -1");
}

static void test_ranks(void **state)
{
    (void)state;
    unsigned char data[1] = {0};
    int64_t ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        check_in_place(produce(of, FER_U8, 8, ones, ones, data), data);
        ASSERT_REFUSED(produce(of, FER_U8, 9, ones, ones, data), FER_DL_COPY_IF_NEEDED,
                       FER_UNSUPPORTED_ERROR, "rank 9", "up to 8");
        product *made = produce(of, FER_U8, 1, ones, NULL, data);
        dl_of(made)->ndim = INT32_MAX;
        ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, "rank 2147483647");
        made = produce(of, FER_U8, 1, ones, NULL, data);
        dl_of(made)->ndim = -1;
        ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_VALUE_ERROR, "rank -1");
        made = produce(of, FER_U8, 1, ones, NULL, data);
        dl_of(made)->shape = NULL;
        ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_VALUE_ERROR, "rank 1 has no shape");
    }
}

static void check_refused_shape(fer_status kind, const int64_t *shape, const int64_t *strides,
                                const char *words)
{
    static double data[2];
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        for (fer_dl_copy copy = FER_DL_COPY_IF_NEEDED; copy <= FER_DL_COPY_ALWAYS; copy++)
            ASSERT_REFUSED(produce(of, FER_F64, 2, shape, strides, data), copy, kind, words);
}

static void test_hostile_shapes(void **state)
{
    (void)state;
    check_refused_shape(FER_VALUE_ERROR, (int64_t[]){2, -1}, NULL, "axis 1 is -1");
    check_refused_shape(FER_VALUE_ERROR, (int64_t[]){INT64_MIN, 0}, COMPACT, "axis 0 is -9223");
    check_refused_shape(FER_VALUE_ERROR, (int64_t[]){-2, -2}, COMPACT, "axis 0 is -2");
    fer_status kind = FER_OVERFLOW_ERROR;
    check_refused_shape(kind, (int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32}, NULL, "64 bits");
    check_refused_shape(kind, (int64_t[]){INT64_MAX, 2}, (int64_t[]){0, 0}, "64 bits");
    /* More bytes than elements can be counted. */
    check_refused_shape(kind, (int64_t[]){INT64_C(1) << 30, INT64_C(1) << 31}, NULL,
                        "outside the address space");
    const char *words = "outside the address space";
    check_refused_shape(kind, (int64_t[]){3, 1}, (int64_t[]){INT64_MAX, 1}, words);
    check_refused_shape(kind, (int64_t[]){3, 1}, (int64_t[]){INT64_MIN, 1}, words);
    check_refused_shape(kind, (int64_t[]){2, 1}, (int64_t[]){INT64_MIN, 1}, words);
    check_refused_shape(kind, (int64_t[]){2, 2}, (int64_t[]){INT64_MAX / 8, INT64_MAX / 8}, words);
    check_refused_shape(kind, (int64_t[]){2, 2}, (int64_t[]){INT64_MIN / 8, -1}, words);
    check_refused_shape(kind, (int64_t[]){2, 2}, (int64_t[]){INT64_MIN / 16, 1}, words);
}

static void test_hostile_offsets(void **state)
{
    (void)state;
    static double data[2];
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        for (fer_dl_copy copy = FER_DL_COPY_IF_NEEDED; copy <= FER_DL_COPY_ALWAYS; copy++) {
            product *made = produce(of, FER_F64, 1, (int64_t[]){2}, NULL, data);
            dl_of(made)->byte_offset = UINT64_MAX;
            ASSERT_REFUSED(made, copy, FER_OVERFLOW_ERROR, "address space");
            /* The first element is inside, the last one is not. */
            made = produce(of, FER_F64, 1, (int64_t[]){2}, NULL, data);
            dl_of(made)->byte_offset = UINT64_MAX - (uintptr_t)data - 8;
            ASSERT_REFUSED(made, copy, FER_OVERFLOW_ERROR, "address space");
            made = produce(of, FER_F64, 1, (int64_t[]){2}, (int64_t[]){-2}, (void *)8);
            ASSERT_REFUSED(made, copy, FER_OVERFLOW_ERROR, "address space");
        }
}

static void test_the_read_only_flag(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[6] = {1, 2, 3, 4, 5, 6};
    for (uint64_t flags = 0; flags < 8; flags++) {
        fer_tensor *tensor = NULL;
        product *made = produce(VERSIONED, FER_F32, 2, SHAPE, NULL, data);
        made->managed.versioned.flags = flags | UINT64_C(1) << 63; /* unknown ones mean nothing */
        ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
        assert_int_equal(fer_tensor_is_read_only(tensor), (flags & FER_DL_READ_ONLY) != 0);
        assert_ptr_equal(fer_tensor_const_data(tensor), data);
        fer_tensor_release(tensor);
        assert_int_equal(atomic_load(&num_deleted), 1);
    }
}

static void test_copies_on_demand(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[6] = {1, 2, 3, 4, 5, 6};
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        fer_tensor *tensor = NULL;
        product *made = produce(of, FER_F32, 2, SHAPE, NULL, data);
        if (of == VERSIONED)
            made->managed.versioned.flags = FER_DL_READ_ONLY;
        ASSERT_OK(&error, take(made, FER_DL_COPY_ALWAYS, &tensor, &error));
        assert_int_equal(atomic_load(&num_deleted), 1);
        assert_false(fer_tensor_is_read_only(tensor));
        assert_ptr_not_equal(fer_tensor_data(tensor), data);
        assert_memory_equal(fer_tensor_data(tensor), data, sizeof data);
        ((float *)fer_tensor_data(tensor))[0] = 10;
        assert_true(data[0] == 1);
        fer_tensor_release(tensor);

        ASSERT_REFUSED(produce(of, FER_F32, 2, SHAPE, TURNED, data), FER_DL_COPY_NEVER,
                       FER_VALUE_ERROR, "not compact row-major", "allow a copy");
        ASSERT_REFUSED(produce(of, FER_F32, 2, SHAPE, NULL, data), (fer_dl_copy)3, FER_VALUE_ERROR,
                       "the number 3");
    }
}

static void test_versions(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[6] = {0};
    for (uint32_t minor = 0; minor < 100; minor += 33) {
        fer_tensor *tensor = NULL;
        product *made = produce(VERSIONED, FER_F32, 2, SHAPE, NULL, data);
        made->managed.versioned.version = (fer_dl_version){1, minor};
        ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
        fer_tensor_release(tensor);
    }
    /* Of another major version only the deleter is known. */
    product *made = produce(VERSIONED, FER_F32, 2, SHAPE, NULL, data);
    made->managed.versioned.version = (fer_dl_version){2, 7};
    memset(dl_of(made), 0xff, sizeof *dl_of(made));
    ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, "version 2.7", "1.x");
    made = produce(VERSIONED, FER_F32, 2, SHAPE, NULL, data);
    made->managed.versioned.version = (fer_dl_version){0, 8};
    ASSERT_REFUSED(made, FER_DL_COPY_IF_NEEDED, FER_UNSUPPORTED_ERROR, "version 0.8");
}

/* A producer without a deleter keeps its struct. */
static void test_no_deleter(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    float data[6] = {0};
    for (generation of = OLD; of < NUM_GENERATIONS; of++)
        for (fer_dl_copy copy = FER_DL_COPY_IF_NEEDED; copy <= FER_DL_COPY_ALWAYS; copy++) {
            fer_tensor *tensor = NULL;
            product *made = produce(of, FER_F32, 2, SHAPE, NULL, data);
            if (of == OLD)
                made->managed.old.deleter = NULL;
            else
                made->managed.versioned.deleter = NULL;
            ASSERT_OK(&error, take(made, copy, &tensor, &error));
            fer_tensor_release(tensor);
            free(made);
        }
}

/* One element, repeated more often than there is memory for; a sanitizer has to say so by NULL,
 * which the environment of the tests asks of it. */
static void test_a_copy_that_does_not_fit(void **state)
{
    (void)state;
    static double data[1];
    int64_t shape[] = {INT64_C(1) << 29, INT64_C(1) << 28};
    fer_error error = FER_ERROR_INIT;
    for (generation of = OLD; of < NUM_GENERATIONS; of++) {
        ASSERT_REFUSED(produce(of, FER_F64, 2, shape, (int64_t[]){0, 0}, data), FER_DL_COPY_ALWAYS,
                       FER_MEMORY_ERROR, "memory");
        fer_tensor *tensor = NULL;
        fer_tensor *compact = (fer_tensor *)&error;
        product *made = produce(of, FER_F64, 2, shape, (int64_t[]){0, 0}, data);
        ASSERT_OK(&error, take(made, FER_DL_COPY_IF_NEEDED, &tensor, &error));
        ASSERT_FAILS(&error, FER_MEMORY_ERROR, fer_tensor_compact(tensor, &compact, &error),
                     "memory");
        assert_null(compact);
        fer_tensor_release(tensor);
        assert_int_equal(atomic_load(&num_deleted), 1);
    }
}

static void *release_tensor(void *tensor)
{
    fer_tensor_release(tensor);
    return NULL;
}

/* Whichever thread is last, the deleter is called once, and sees what all of them wrote. */
static void test_the_last_thread_deletes(void **state)
{
    (void)state;
    enum { NUM_THREADS = 4, NUM_ROUNDS = 200 };
    fer_error error = FER_ERROR_INIT;
    float data[6] = {0};
    for (int round = 0; round < NUM_ROUNDS; round++) {
        fer_tensor *tensor = NULL;
        generation of = round % 2 == 0 ? OLD : VERSIONED;
        product *made = produce(of, FER_F32, 2, SHAPE, NULL, data);
        ASSERT_OK(&error, take(made, FER_DL_COPY_NEVER, &tensor, &error));
        pthread_t threads[NUM_THREADS];
        for (int i = 0; i < NUM_THREADS; i++)
            assert_int_equal(
                pthread_create(&threads[i], NULL, release_tensor, fer_tensor_retain(tensor)), 0);
        fer_tensor_release(tensor);
        for (int i = 0; i < NUM_THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&num_deleted), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact_memory_is_borrowed),
        cmocka_unit_test(test_null_strides_are_compact),
        cmocka_unit_test(test_byte_offset),
        cmocka_unit_test(test_strides_of_length_1_axes_do_not_matter),
        cmocka_unit_test(test_negative_strides),
        cmocka_unit_test(test_turned_and_spread_and_repeated),
        cmocka_unit_test(test_misaligned_data),
        cmocka_unit_test(test_empty_tensors_need_no_data),
        cmocka_unit_test(test_rank_0),
        cmocka_unit_test(test_bools_have_a_code_of_their_own),
        cmocka_unit_test(test_every_dtype),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_other_devices_are_named),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_hostile_shapes),
        cmocka_unit_test(test_hostile_offsets),
        cmocka_unit_test(test_the_read_only_flag),
        cmocka_unit_test(test_copies_on_demand),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_no_deleter),
        cmocka_unit_test(test_a_copy_that_does_not_fit),
        cmocka_unit_test(test_the_last_thread_deletes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
