/* Tensors in the pool's memory: which ones, and what that gives a call with a large result. */
#include "tensor/pool.h"
#include "tensor/tensor.h"
#include "testing.h"

#include <ferrule/op.h>
#include <sys/resource.h>

static const fer_device HOST = {0};

#define MIB ((int64_t)1 << 20)

static long count_faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt;
}

static int start_empty(void **state)
{
    (void)state;
    fer_memory_set_bound((uint64_t)1 << 30);
    (void)fer_memory_trim();
    return 0;
}

static fer_tensor *make(int64_t num_bytes)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_empty(FER_U8, 1, &num_bytes, HOST, &tensor, &error));
    return tensor;
}

/* A sanitizer sees every tensor come from malloc and go back to it. */
static void test_none_with_a_sanitizer(void **state)
{
    (void)state;
    if (FER_POOL_IS_USED)
        skip();
    fer_memory_figures before = fer_memory_read();
    fer_tensor_release(make(4 * MIB));
    fer_memory_figures after = fer_memory_read();
    assert_int_equal(after.num_fresh, before.num_fresh);
    assert_int_equal(after.bytes_idle, 0);
}

static void test_which_tensors(void **state)
{
    (void)state;
    if (!FER_POOL_IS_USED)
        skip();
    uint64_t before = fer_memory_read().bytes_in_use;
    fer_tensor *small = make(16 << 10);
    assert_int_equal(fer_memory_read().bytes_in_use, before);
    fer_tensor *large = make(32 << 10);
    assert_true(fer_memory_read().bytes_in_use >= before + (32 << 10));
    fer_tensor_release(small);
    fer_tensor *shared = fer_tensor_retain(large);
    fer_tensor_release(large);
    assert_int_equal(fer_memory_read().bytes_idle, 0);
    fer_tensor_release(shared);
    assert_int_equal(fer_memory_read().bytes_in_use, before);
    assert_true(fer_memory_read().bytes_idle >= 32 << 10);
}

/* Borrowed memory is not the pool's, however large. */
static void test_borrowed(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_memory_figures before = fer_memory_read();
    int64_t size = MIB;
    char *data = calloc(1, (size_t)size);
    assert_non_null(data);
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error,
              fer_tensor_borrow(FER_U8, 1, &size, data, false, HOST, free, data, &tensor, &error));
    fer_tensor_release(tensor);
    fer_memory_figures after = fer_memory_read();
    assert_int_equal(after.bytes_in_use, before.bytes_in_use);
    assert_int_equal(after.bytes_idle, before.bytes_idle);
}

static void test_zeros_after_reuse(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    static const int64_t SIZES[] = {100, 40 << 10, 3 * MIB + 1};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        fer_tensor *tensor = make(SIZES[i]);
        memset(fer_tensor_data(tensor), 0xff, (size_t)SIZES[i]);
        fer_tensor_release(tensor);
        ASSERT_OK(&error, fer_tensor_zeros(FER_U8, 1, &SIZES[i], HOST, &tensor, &error));
        const char *data = fer_tensor_const_data(tensor);
        assert_int_equal((uintptr_t)data % 64, 0);
        assert_int_equal(fer_tensor_num_bytes(tensor), SIZES[i]);
        assert_true(data[0] == 0 && memcmp(data, data + 1, (size_t)SIZES[i] - 1) == 0);
        fer_tensor_release(tensor);
    }
}

static void call_and_check(const fer_op *op, fer_tensor *x, float expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    const float *elements = fer_tensor_const_data(y);
    int64_t last = fer_tensor_num_elements(y) - 1;
    assert_true(elements[0] == expected && elements[last / 2] == expected &&
                elements[last] == expected);
    fer_tensor_release(y);
}

static void test_large_result_costs_no_faults(void **state)
{
    (void)state;
    if (!FER_POOL_IS_USED)
        skip();
    fer_error error = FER_ERROR_INIT;
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    int64_t num_elements = 16 * MIB;
    ASSERT_OK(&error, fer_declare(
                          &(fer_declaration){
                              .signature = "twice(x: f32[n]) -> f32[n]",
                              .source = "#include <ferrule/kernel.h>\n"
                                        "MAP(twice, f32, IN(f32, x)) { return 2 * x; }\n",
                          },
                          &op, &error));
    ASSERT_OK(&error, fer_tensor_ones(FER_F32, 1, &num_elements, HOST, &x, &error));
    for (size_t i = 0; i < 2; i++)
        call_and_check(op, x, 2);
    uint64_t num_fresh = fer_memory_read().num_fresh;
    long before = count_faults();
    for (size_t i = 0; i < 20; i++)
        call_and_check(op, x, 2);
    assert_true(count_faults() - before < 20); /* 32 huge or 16,384 small pages a call, if fresh */
    assert_int_equal(fer_memory_read().num_fresh, num_fresh);
    fer_tensor_release(x);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_none_with_a_sanitizer, start_empty),
        cmocka_unit_test_setup(test_which_tensors, start_empty),
        cmocka_unit_test_setup(test_borrowed, start_empty),
        cmocka_unit_test_setup(test_zeros_after_reuse, start_empty),
        cmocka_unit_test_setup(test_large_result_costs_no_faults, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
