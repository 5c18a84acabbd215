/* The standard package's ops on buffers: load, store and store_slice, of every dtype, bit for bit,
 * against slow references on random shapes. */
#include "testing_std.h"

static const fer_dtype ALL[] = {FER_BOOL, FER_I8,  FER_I16,  FER_I32,      FER_I64,
                                FER_U8,   FER_U16, FER_U32,  FER_U64,      FER_F16,
                                FER_F32,  FER_F64, FER_BF16, FER_F8E4M3FN, FER_F8E5M2};

/* Any bits, NaNs of every kind among them. */
static fer_tensor *random_bytes(fer_dtype dtype, size_t rank, const int64_t *extents)
{
    fer_tensor *tensor = empty_tensor(dtype, rank, extents);
    unsigned char *bytes = fer_tensor_data(tensor);
    for (size_t i = 0; i < fer_tensor_num_bytes(tensor); i++)
        bytes[i] = (unsigned char)(random_bits() % (dtype == FER_BOOL ? 2 : 256));
    return tensor;
}

static fer_tensor *copy_of(const fer_tensor *tensor)
{
    fer_tensor *copy = NULL;
    ASSERT_OK(&error, fer_tensor_clone(tensor, host, &copy, &error));
    return copy;
}

static void assert_same_bytes(const fer_tensor *a, const fer_tensor *b)
{
    assert_int_equal(fer_tensor_num_bytes(a), fer_tensor_num_bytes(b));
    if (fer_tensor_num_bytes(a) > 0)
        assert_memory_equal(fer_tensor_const_data(a), fer_tensor_const_data(b),
                            fer_tensor_num_bytes(a));
}

static fer_tensor *places(size_t count, const int64_t *values)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 1, (int64_t[]){(int64_t)count}, values, host,
                                           &tensor, &error));
    return tensor;
}

static fer_status change(const fer_op *op, fer_tensor *x, fer_tensor *value, fer_tensor *start,
                         fer_tensor *step)
{
    fer_tensor *operands[] = {x, value, start, step};
    return fer_call(op, operands, start == NULL ? 2 : 4, NULL, 0, &error);
}

static void test_load_and_store(void **state)
{
    (void)state;
    fer_op *load = standard("load");
    fer_op *store = standard("store");
    for (int round = 0; round < 4 * (int)COUNT(ALL); round++) {
        const fer_dtype dtype = ALL[(size_t)round % COUNT(ALL)];
        int64_t extents[3];
        const size_t rank = random_shape(extents);
        fer_tensor *x = random_bytes(dtype, rank, extents);
        fer_tensor *value = random_bytes(dtype, rank, extents);
        fer_tensor *before = copy_of(x);
        fer_tensor *y = call(load, x, NULL);
        assert_shape(y, rank, extents);
        assert_same_bytes(y, x);
        ASSERT_OK(&error, change(store, x, value, NULL, NULL));
        assert_same_bytes(x, value);
        assert_same_bytes(y, before);
        release_3(x, value, before);
        fer_tensor_release(y);
    }
    fer_op_release(load);
    fer_op_release(store);
}

static void test_store_takes_the_whole(void **state)
{
    (void)state;
    fer_op *store = standard("store");
    fer_tensor *x = random_bytes(FER_I32, 2, (int64_t[]){2, 3});
    fer_tensor *row = random_bytes(FER_I32, 1, (int64_t[]){3});
    fer_tensor *other = random_bytes(FER_U32, 2, (int64_t[]){2, 3});
    ASSERT_FAILS(&error, FER_VALUE_ERROR, change(store, x, row, NULL, NULL),
                 "store: operand 'value' has [3] for *s, but *s is [2, 3]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, change(store, x, other, NULL, NULL),
                 "store: operand 'value'", "u32", "i32");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, change(store, x, x, NULL, NULL), "'x' is inout",
                 "overlaps operand 'value'");
    release_3(x, row, other);
    fer_op_release(store);
}

/* Rows, from the end too, forwards and backwards; the others stay. */
static void test_store_slice(void **state)
{
    (void)state;
    fer_op *op = standard("store_slice");
    for (int round = 0; round < 6 * (int)COUNT(ALL); round++) {
        const fer_dtype dtype = ALL[(size_t)round % COUNT(ALL)];
        int64_t extents[4];
        const size_t rank = 1 + random_shape(extents + 1);
        const int64_t n = extents[0] = 1 + random_extent();
        const int64_t first = (int64_t)(random_bits() % (uint64_t)n);
        const int64_t by = (int64_t)(random_bits() % 3 + 1) * (round % 2 == 0 ? 1 : -1);
        const int64_t count = by > 0 ? (n - 1 - first) / by + 1 : first / -by + 1;
        fer_tensor *x = random_bytes(dtype, rank, extents);
        fer_tensor *expected = copy_of(x);
        extents[0] = count;
        fer_tensor *value = random_bytes(dtype, rank, extents);
        const size_t row = fer_tensor_num_bytes(x) / (size_t)n;
        for (int64_t i = 0; i < count; i++)
            memcpy((char *)fer_tensor_data(expected) + (size_t)(first + i * by) * row,
                   (const char *)fer_tensor_const_data(value) + (size_t)i * row, row);
        fer_tensor *start = places(1, (int64_t[]){round % 3 == 0 ? first - n : first});
        fer_tensor *step = places(1, &by);
        ASSERT_OK(&error, change(op, x, value, start, step));
        assert_same_bytes(x, expected);
        release_3(x, expected, value);
        release_3(start, step, NULL);
    }
    fer_op_release(op);
}

/* Declared with dims of its own. */
static fer_op *declare_std(const char *signature)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = signature, .packages = {"std"}},
                                  &op, &error));
    return op;
}

static void test_store_slice_of_several_axes(void **state)
{
    (void)state;
    fer_op *op =
        declare_std("store_slice<T>(inout x: T[n, m, k], value: T[a, b, k], start: i64[2], "
                    "step: i64[2]) -> () where a == n // 2, b == m - 1");
    fer_tensor *x = random_bytes(FER_I32, 3, (int64_t[]){5, 4, 2});
    fer_tensor *before = copy_of(x);
    fer_tensor *value = random_bytes(FER_I32, 3, (int64_t[]){2, 3, 2});
    fer_tensor *start = places(2, (int64_t[]){1, -1});
    fer_tensor *step = places(2, (int64_t[]){2, -1});
    ASSERT_OK(&error, change(op, x, value, start, step));
    for (int64_t i = 0; i < 40; i++) {
        const int64_t row = i / 8, column = i / 2 % 4;
        const bool is_stored = row % 2 == 1 && column > 0;
        const fer_tensor *from = is_stored ? value : before;
        const int64_t place = is_stored ? (row / 2 * 3 + 3 - column) * 2 + i % 2 : i;
        assert_int_equal(read_element(x, i).i, read_element(from, place).i);
    }
    release_3(x, before, value);
    release_3(start, step, NULL);
    fer_op_release(op);
}

static void test_store_slice_checks_bounds_before_it_writes(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        int64_t count;
        int64_t start;
        int64_t step;
        const char *message;
    } CASES[] = {
        {3, 1, 3, 1, "axis 0 of x is 3, which 3 lies outside"},
        {3, 1, -4, 1, "axis 0 of x is 3, which -4 lies outside"},
        {3, 1, INT64_MIN, 1, "axis 0 of x is 3, which -9223372036854775808 lies outside"},
        {0, 1, 0, 1, "axis 0 of x is 0, which 0 lies outside"},
        {6, 3, 1, 2, NULL},
        {5, 3, 1, 3, "axis 0 of x is 5, which has no 3 elements from 1 on by 3"},
        {5, 3, 1, INT64_MAX, "no 3 elements"},
        {5, 3, -2, -2, "axis 0 of x is 5, which has no 3 elements from -2 on by -2"},
        {5, 3, 4, INT64_MIN, "no 3 elements"},
        {3, 0, 7, 7, NULL},
        {0, 0, 0, 0, NULL},
    };
    fer_op *op = standard("store_slice");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_tensor *x = random_bytes(FER_F32, 2, (int64_t[]){CASES[i].n, 2});
        fer_tensor *before = copy_of(x);
        fer_tensor *value = random_bytes(FER_F32, 2, (int64_t[]){CASES[i].count, 2});
        fer_tensor *start = places(1, &CASES[i].start);
        fer_tensor *step = places(1, &CASES[i].step);
        const fer_status status = change(op, x, value, start, step);
        if (CASES[i].message == NULL) {
            ASSERT_OK(&error, status);
        } else {
            ASSERT_FAILS(&error, FER_RUNTIME_ERROR, status, "store_slice", CASES[i].message);
            assert_same_bytes(x, before);
        }
        release_3(x, before, value);
        release_3(start, step, NULL);
    }
    fer_op_release(op);
}

/* A step of 0 is one row for all, of which the last one stays. */
static void test_store_slice_without_a_step(void **state)
{
    (void)state;
    fer_op *op = standard("store_slice");
    fer_tensor *x = random_bytes(FER_I64, 1, (int64_t[]){3});
    fer_tensor *value = places(2, (int64_t[]){7, 8});
    fer_tensor *start = places(1, (int64_t[]){-1});
    fer_tensor *step = places(1, (int64_t[]){0});
    const int64_t first = read_element(x, 0).i;
    ASSERT_OK(&error, change(op, x, value, start, step));
    assert_int_equal(read_element(x, 0).i, first);
    assert_int_equal(read_element(x, 2).i, 8);
    release_3(x, value, start);
    fer_tensor_release(step);
    fer_op_release(op);
}

static void test_store_slice_checks_ranks(void **state)
{
    (void)state;
    static const struct {
        const char *signature;
        size_t rank;
        size_t num_starts;
        size_t num_steps;
        const char *message;
    } CASES[] = {
        {"store_slice<T>(inout x: T[n, m], value: T[k], start: i64[1], step: i64[1]) -> ()", 1, 1,
         1, "x has rank 2, but the value has rank 1"},
        {"store_slice<T>(inout x: T[n, m], value: T[k, m], start: i64[3], step: i64[3]) -> ()", 2,
         3, 3, "3 starts and 3 steps for the 2 axes of x"},
        {"store_slice<T>(inout x: T[n, m], value: T[k, m], start: i64[1], step: i64[2]) -> ()", 2,
         1, 2, "1 starts and 2 steps"},
    };
    static const int64_t numbers[] = {0, 0, 0};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_op *op = declare_std(CASES[i].signature);
        fer_tensor *x = random_bytes(FER_F32, 2, (int64_t[]){2, 2});
        fer_tensor *value = random_bytes(FER_F32, CASES[i].rank, (int64_t[]){2, 2});
        fer_tensor *start = places(CASES[i].num_starts, numbers);
        fer_tensor *step = places(CASES[i].num_steps, numbers);
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR, change(op, x, value, start, step), "store_slice",
                     CASES[i].message);
        release_3(x, value, start);
        fer_tensor_release(step);
        fer_op_release(op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_and_store),
        cmocka_unit_test(test_store_takes_the_whole),
        cmocka_unit_test(test_store_slice),
        cmocka_unit_test(test_store_slice_of_several_axes),
        cmocka_unit_test(test_store_slice_checks_bounds_before_it_writes),
        cmocka_unit_test(test_store_slice_without_a_step),
        cmocka_unit_test(test_store_slice_checks_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
