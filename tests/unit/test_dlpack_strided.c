/* Strided imports, copied and where they lie, against a slow reference that computes each element's
 * place by its index. */
#include "testing_dlpack.h"

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t next(uint64_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % bound;
}

#define MEMORY_BYTES (size_t)(1 << 20)

/* A view that fits into memory: extents up to `longest`, strides of a random order of the axes with
 * gaps, some turned round, some 0. */
typedef struct view {
    fer_dtype dtype;
    int32_t rank;
    int64_t shape[8];
    int64_t strides[8];
    int64_t first; /* the element at index 0, so that the lowest one is at 0 */
    int64_t num_elements;
} view;

static view make_view(fer_dtype dtype, int32_t rank, uint64_t longest)
{
    view made = {.dtype = dtype, .rank = rank, .num_elements = 1};
    int32_t order[8] = {0};
    for (int32_t i = 0; i < rank; i++) {
        int32_t at = (int32_t)next((uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    int64_t stride = 1 + (int64_t)next(2);
    for (int32_t i = 0; i < rank; i++) {
        int32_t axis = order[i];
        int64_t extent = 1 + (int64_t)next(longest);
        made.shape[axis] = extent;
        made.strides[axis] = next(8) == 0 ? 0 : next(3) == 0 ? -stride : stride;
        if (made.strides[axis] < 0)
            made.first += stride * (extent - 1);
        made.num_elements *= extent;
        stride *= extent + (next(4) == 0 ? (int64_t)next(3) : 0);
    }
    return made;
}

static int64_t place_of(const view *made, int64_t number)
{
    int64_t place = made->first;
    for (int32_t i = made->rank; i-- > 0;) {
        place += number % made->shape[i] * made->strides[i];
        number /= made->shape[i];
    }
    return place;
}

static fer_tensor *import_view(const view *made, const unsigned char *memory, fer_dl_copy copy)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    product *given =
        produce(VERSIONED, made->dtype, made->rank, made->shape, made->strides, memory);
    dl_of(given)->byte_offset = (uint64_t)made->first * fer_dtype_bytes(made->dtype);
    ASSERT_OK(&error, take(given, copy, &tensor, &error));
    return tensor;
}

/* Where it lies, it reads as the copy does, and its copy is that one. */
static void check_in_place(const view *made, const unsigned char *memory, const fer_tensor *copy)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *compact = NULL;
    fer_tensor *tensor = import_view(made, memory, FER_DL_COPY_IF_NEEDED);
    assert_ptr_equal(fer_tensor_const_data(tensor),
                     memory + (size_t)made->first * fer_dtype_bytes(made->dtype));
    for (int64_t i = 0; i < made->num_elements; i++) {
        fer_number a = fer_tensor_element(tensor, i);
        fer_number b = fer_tensor_element(copy, i);
        if (memcmp(&a.value, &b.value, fer_dtype_bytes(made->dtype)) != 0)
            fail_msg("element %lld differs", (long long)i);
    }
    ASSERT_OK(&error, fer_tensor_compact(tensor, &compact, &error));
    assert_memory_equal(fer_tensor_const_data(compact), fer_tensor_const_data(copy),
                        fer_tensor_num_bytes(copy));
    fer_tensor_release(tensor);
    fer_tensor_release(compact);
}

static void check_view(const view *made, const unsigned char *memory)
{
    size_t element_bytes = fer_dtype_bytes(made->dtype);
    fer_tensor *tensor = import_view(made, memory, FER_DL_COPY_ALWAYS);
    assert_int_equal(fer_tensor_num_elements(tensor), made->num_elements);
    const unsigned char *data = fer_tensor_const_data(tensor);
    for (int64_t i = 0; i < made->num_elements; i++)
        if (memcmp(data + (size_t)i * element_bytes,
                   memory + (size_t)place_of(made, i) * element_bytes, element_bytes) != 0)
            fail_msg("element %lld differs", (long long)i);
    check_in_place(made, memory, tensor);
    fer_tensor_release(tensor);
}

static unsigned char *make_memory(void)
{
    unsigned char *memory = malloc(MEMORY_BYTES);
    assert_non_null(memory);
    for (size_t i = 0; i < MEMORY_BYTES; i++)
        memory[i] = (unsigned char)next(256);
    return memory;
}

static const fer_dtype OF_EACH_SIZE[] = {FER_U8, FER_BF16, FER_F32, FER_I64};

static void test_random_views(void **state)
{
    (void)state;
    unsigned char *memory = make_memory();
    for (int32_t rank = 0; rank <= 8; rank++)
        for (int i = 0; i < 200; i++)
            for (size_t k = 0; k < 4; k++) {
                view made = make_view(OF_EACH_SIZE[k], rank, rank > 5 ? 3 : 5);
                check_view(&made, memory);
            }
    free(memory);
}

/* Axes longer than the pieces that a copy may go by. */
static void test_long_axes(void **state)
{
    (void)state;
    unsigned char *memory = make_memory();
    for (int i = 0; i < 100; i++)
        for (size_t k = 0; k < 4; k++) {
            view made = make_view(OF_EACH_SIZE[k], 2, 130);
            check_view(&made, memory);
        }
    free(memory);
}

/* Every order of three axes. */
static void test_orders(void **state)
{
    (void)state;
    unsigned char *memory = make_memory();
    const int64_t shape[] = {33, 3, 40};
    static const int64_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < 6; i++) {
        view made = {.dtype = FER_I16, .rank = 3, .num_elements = 33 * 3 * 40};
        int64_t stride = 1;
        for (size_t k = 0; k < 3; k++) {
            int64_t axis = orders[i][k];
            made.shape[axis] = shape[axis];
            made.strides[axis] = stride;
            stride *= shape[axis];
        }
        check_view(&made, memory);
    }
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_views),
        cmocka_unit_test(test_long_axes),
        cmocka_unit_test(test_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
