/* The standard package's ops that move elements or count them, against slow references on random
 * shapes. Every dtype moves. */
#include "testing_std.h"

static const fer_dtype MOVED[] = {FER_BOOL, FER_I16,  FER_U64,      FER_F32,
                                  FER_F64,  FER_BF16, FER_F8E4M3FN, FER_F8E5M2};

static fer_dtype moved(int round)
{
    return MOVED[(size_t)round % COUNT(MOVED)];
}

static int64_t product(size_t rank, const int64_t *extents)
{
    int64_t size = 1;
    for (size_t i = 0; i < rank; i++)
        size *= extents[i];
    return size;
}

static fer_tensor *indices(fer_dtype dtype, int64_t count, int64_t limit)
{
    fer_tensor *index = empty_tensor(dtype, 1, &count);
    for (int64_t i = 0; i < count; i++)
        write_element(index, i, (wide){.i = (int64_t)(random_bits() % (uint64_t)limit)});
    return index;
}

static void test_transpose(void **state)
{
    (void)state;
    fer_op *op = standard("transpose");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[5];
        size_t batch_axes = random_bits() % 3;
        for (size_t i = 0; i < batch_axes; i++)
            extents[i] = random_extent() % 4;
        /* some larger than the squares that it works in */
        const int64_t m = extents[batch_axes] = round % 5 == 0 ? 70 : random_extent();
        const int64_t n = extents[batch_axes + 1] = round % 7 == 0 ? 33 : random_extent();
        fer_tensor *x = random_tensor(moved(round), batch_axes + 2, extents);
        fer_tensor *y = call(op, x, NULL);
        extents[batch_axes] = n;
        extents[batch_axes + 1] = m;
        assert_shape(y, batch_axes + 2, extents);
        for (int64_t k = 0; k < fer_tensor_num_elements(x); k++) {
            const int64_t start = k / (m * n) * (m * n);
            const int64_t i = k % (m * n) / n;
            const int64_t j = k % n;
            assert_same(moved(round), read_element(y, start + j * m + i), read_element(x, k));
        }
        release_3(x, y, NULL);
    }
    fer_op_release(op);
}

/* The element of x that stands at element i of y: axes are counted from the last. */
static int64_t repeated(size_t rank, const int64_t *own, size_t like_rank, const int64_t *extents,
                        int64_t i)
{
    int64_t index = 0, step = 1;
    for (size_t axis = like_rank; axis-- > 0; i /= extents[axis])
        if (axis + rank >= like_rank) {
            const int64_t length = own[axis + rank - like_rank];
            index += length == 1 ? 0 : i % extents[axis] * step;
            step *= length;
        }
    return index;
}

static void test_broadcast(void **state)
{
    (void)state;
    fer_op *op = standard("broadcast");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[4], own[4];
        const size_t rank = 1 + random_shape(extents + 1);
        extents[0] = random_extent();
        const size_t num_dropped = random_bits() % (rank + 1);
        for (size_t i = num_dropped; i < rank; i++)
            own[i - num_dropped] = random_bits() % 3 == 0 ? 1 : extents[i];
        fer_tensor *x = random_tensor(moved(round), rank - num_dropped, own);
        fer_tensor *like = random_tensor(moved(round), rank, extents);
        fer_tensor *y = call(op, x, like);
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_same(moved(round), read_element(y, i),
                        read_element(x, repeated(rank - num_dropped, own, rank, extents, i)));
        release_3(x, like, y);
    }
    fer_op_release(op);
}

static void test_broadcast_checks_shapes(void **state)
{
    (void)state;
    fer_op *op = standard("broadcast");
    fer_tensor *like = random_tensor(FER_F32, 2, (int64_t[]){2, 3});
    const struct {
        size_t rank;
        int64_t extents[3];
        const char *message;
    } cases[] = {
        {3, {1, 2, 3}, "x has rank 3, more than the rank 2 of the result"},
        {1, {2}, "axis 0 of x is 2, but that of the result is 3"},
        {2, {3, 3}, "axis 0 of x is 3, but that of the result is 2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        fer_tensor *x = random_tensor(FER_F32, cases[i].rank, cases[i].extents);
        fer_tensor *y = NULL;
        fer_tensor *operands[] = {x, like};
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, operands, 2, &y, 1, &error),
                     "broadcast", cases[i].message);
        fer_tensor_release(x);
    }
    fer_tensor_release(like);
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

static void test_broadcast_to_both(void **state)
{
    (void)state;
    fer_op *op = declare_std("broadcast<T>(x: T[n, 1], like: T[1, m]) -> T[n, m]");
    fer_tensor *x = random_tensor(FER_I32, 2, (int64_t[]){3, 1});
    fer_tensor *like = random_tensor(FER_I32, 2, (int64_t[]){1, 4});
    fer_tensor *y = call(op, x, like);
    assert_shape(y, 2, (int64_t[]){3, 4});
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(read_element(y, i).i, read_element(x, i / 4).i);
    release_3(x, like, y);
    fer_op_release(op);
}

static void test_reshape(void **state)
{
    (void)state;
    fer_op *op = standard("reshape");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[5];
        const size_t rank = 2 + random_shape(extents);
        extents[rank - 2] = random_extent();
        extents[rank - 1] = random_extent();
        fer_tensor *x = random_tensor(moved(round), rank, extents);
        fer_tensor *y = call(op, x, NULL);
        extents[rank - 2] *= extents[rank - 1];
        assert_shape(y, rank - 1, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_same(moved(round), read_element(y, i), read_element(x, i));
        release_3(x, y, NULL);
    }
    fer_op_release(op);
    op = declare_std("reshape<T>(x: T[n, m]) -> T[m, 1, n + 1]");
    fer_tensor *x = random_tensor(FER_F32, 2, (int64_t[]){2, 3});
    fer_tensor *y = NULL;
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, &x, 1, &y, 1, &error), "reshape",
                 "x has 6 elements, but the result has 9");
    fer_tensor_release(x);
    fer_op_release(op);
}

static fer_tensor *places(size_t count, const int64_t *values)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 1, (int64_t[]){(int64_t)count}, values, host,
                                           &tensor, &error));
    return tensor;
}

/* Rows, from the end too, forwards and backwards. */
static void test_slice(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[4];
        const size_t rank = 1 + random_shape(extents + 1);
        const int64_t n = extents[0] = 1 + random_extent();
        const int64_t length = product(rank - 1, extents + 1);
        const int64_t first = (int64_t)(random_bits() % (uint64_t)n);
        const int64_t step = (int64_t)(random_bits() % 3 + 1) * (round % 2 == 0 ? 1 : -1);
        const int64_t count = step > 0 ? (n - 1 - first) / step + 1 : first / -step + 1;
        fer_op *op = with_int(standard("slice"), "count", count);
        fer_tensor *x = random_tensor(moved(round), rank, extents);
        fer_tensor *start = places(1, (int64_t[]){round % 3 == 0 ? first - n : first});
        fer_tensor *by = places(1, &step);
        fer_tensor *y = call_3(op, x, start, by);
        extents[0] = count;
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_same(moved(round), read_element(y, i),
                        read_element(x, (first + i / length * step) * length + i % length));
        release_3(x, start, by);
        fer_tensor_release(y);
        fer_op_release(op);
    }
}

static void test_slice_of_several_axes(void **state)
{
    (void)state;
    fer_op *op =
        declare_std("slice<T>(x: T[n, m, k], start: i64[2], step: i64[2]) -> T[n // 2, m - 1, k]");
    fer_tensor *x = random_tensor(FER_I32, 3, (int64_t[]){5, 4, 2});
    fer_tensor *start = places(2, (int64_t[]){1, -1});
    fer_tensor *step = places(2, (int64_t[]){2, -1});
    fer_tensor *y = call_3(op, x, start, step);
    assert_shape(y, 3, (int64_t[]){2, 3, 2});
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(read_element(y, i).i,
                         read_element(x, ((1 + i / 6 * 2) * 4 + 3 - i / 2 % 3) * 2 + i % 2).i);
    release_3(x, start, step);
    fer_tensor_release(y);
    fer_op_release(op);
}

static void test_slice_checks_bounds(void **state)
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
        {5, 3, 4, 0, NULL},
        {3, 0, 7, 7, NULL},
        {0, 0, 0, 0, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_op *op = with_int(standard("slice"), "count", CASES[i].count);
        fer_tensor *x = random_tensor(FER_F32, 2, (int64_t[]){CASES[i].n, 2});
        fer_tensor *start = places(1, &CASES[i].start);
        fer_tensor *step = places(1, &CASES[i].step);
        fer_tensor *operands[] = {x, start, step};
        fer_tensor *y = NULL;
        const fer_status status = fer_call(op, operands, 3, &y, 1, &error);
        if (CASES[i].message == NULL)
            ASSERT_OK(&error, status);
        else
            ASSERT_FAILS(&error, FER_RUNTIME_ERROR, status, "slice", CASES[i].message);
        release_3(x, start, step);
        fer_tensor_release(y);
        fer_op_release(op);
    }
}

static void test_slice_checks_ranks(void **state)
{
    (void)state;
    static const struct {
        const char *signature;
        size_t num_starts;
        size_t num_steps;
        const char *message;
    } CASES[] = {
        {"slice<T>(x: T[n, m], start: i64[1], step: i64[1]) -> T[n]", 1, 1,
         "the result has rank 1"},
        {"slice<T>(x: T[n, m], start: i64[3], step: i64[3]) -> T[n, m]", 3, 3,
         "3 starts and 3 steps"},
        {"slice<T>(x: T[n, m], start: i64[1], step: i64[2]) -> T[n, m]", 1, 2,
         "1 starts and 2 steps"},
    };
    static const int64_t numbers[] = {0, 0, 0};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_op *op = declare_std(CASES[i].signature);
        fer_tensor *x = random_tensor(FER_F32, 2, (int64_t[]){2, 2});
        fer_tensor *start = places(CASES[i].num_starts, numbers);
        fer_tensor *step = places(CASES[i].num_steps, numbers);
        fer_tensor *operands[] = {x, start, step};
        fer_tensor *y = NULL;
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, operands, 3, &y, 1, &error), "slice",
                     CASES[i].message);
        release_3(x, start, step);
        fer_op_release(op);
    }
}

static void test_concat(void **state)
{
    (void)state;
    fer_op *op = standard("concat");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[4];
        size_t rank = 1 + random_shape(extents + 1);
        const int64_t m = extents[0] = random_extent();
        fer_tensor *a = random_tensor(moved(round), rank, extents);
        const int64_t n = extents[0] = random_extent();
        fer_tensor *b = random_tensor(moved(round), rank, extents);
        fer_tensor *y = call(op, a, b);
        extents[0] = m + n;
        assert_shape(y, rank, extents);
        const int64_t size = fer_tensor_num_elements(a);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_same(moved(round), read_element(y, i),
                        i < size ? read_element(a, i) : read_element(b, i - size));
        release_3(a, b, y);
    }
    fer_op_release(op);
}

static void test_gather(void **state)
{
    (void)state;
    fer_op *op = standard("gather");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[4];
        size_t rank = 1 + random_shape(extents + 1);
        extents[0] = random_extent();
        const int64_t length = product(rank - 1, extents + 1);
        fer_tensor *x = random_tensor(moved(round), rank, extents);
        const int64_t m = extents[0] == 0 ? 0 : random_extent();
        fer_tensor *index = indices(round % 2 == 0 ? FER_I64 : FER_I32, m, extents[0]);
        fer_tensor *y = call(op, x, index);
        extents[0] = m;
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            const int64_t from = read_element(index, i / length).i;
            assert_same(moved(round), read_element(y, i),
                        read_element(x, from * length + i % length));
        }
        release_3(x, index, y);
    }
    fer_op_release(op);
}

static void test_gather_checks_bounds(void **state)
{
    (void)state;
    static const struct {
        int64_t num_rows;
        int64_t length;
        int64_t index;
        const char *message;
    } CASES[] = {
        {3, 2, 3, "index 1 is 3, but x has 3 rows"},
        {3, 2, -1, "index 1 is -1, but x has 3 rows"},
        {0, 2, 0, "index 0 is 0, but x has 0 rows"},
        {3, 0, INT64_MAX, "index 1 is 9223372036854775807, but x has 3 rows"},
    };
    fer_op *op = standard("gather");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_tensor *x = random_tensor(FER_F32, 2, (int64_t[]){CASES[i].num_rows, CASES[i].length});
        fer_tensor *index = indices(FER_I64, 2, 1);
        fer_tensor *y = NULL;
        fer_tensor *operands[] = {x, index};
        write_element(index, 1, (wide){.i = CASES[i].index});
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, operands, 2, &y, 1, &error), "gather",
                     CASES[i].message);
        assert_null(y);
        release_3(x, index, NULL);
    }
    fer_op_release(op);
}

static void test_compress(void **state)
{
    (void)state;
    fer_op *op = standard("compress");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[4];
        size_t rank = 1 + random_shape(extents + 1);
        const int64_t n = extents[0] = random_extent();
        const int64_t length = product(rank - 1, extents + 1);
        fer_tensor *x = random_tensor(moved(round), rank, extents);
        fer_tensor *mask = random_tensor(FER_BOOL, 1, &n);
        fer_tensor *y = call(op, x, mask);
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++) {
            if (read_element(mask, i).i == 0)
                continue;
            assert_true(kept < fer_tensor_shape(y)[0]);
            for (int64_t j = 0; j < length; j++)
                assert_same(moved(round), read_element(y, kept * length + j),
                            read_element(x, i * length + j));
            kept++;
        }
        extents[0] = kept;
        assert_shape(y, rank, extents);
        release_3(x, mask, y);
    }
    fer_op_release(op);
}

static void test_histogram(void **state)
{
    (void)state;
    static const fer_dtype dtypes[] = {FER_I8, FER_U8, FER_I32, FER_I64, FER_U64};
    fer_op *op = standard("histogram");
    for (size_t round = 0; round < ROUNDS; round++) {
        const fer_dtype dtype = dtypes[round % COUNT(dtypes)];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        const int64_t num_counts = 1 + random_extent();
        fer_tensor *x = empty_tensor(dtype, rank, extents);
        fer_tensor *counts = random_tensor(FER_I64, 1, &num_counts);
        int64_t expected[32];
        for (int64_t i = 0; i < num_counts; i++) {
            write_element(counts, i, (wide){.i = i * 1000});
            expected[i] = i * 1000;
        }
        for (int64_t i = 0; i < fer_tensor_num_elements(x); i++) {
            const uint64_t value = random_bits() % (uint64_t)num_counts;
            write_element(x, i, (wide){.i = (int64_t)value});
            expected[value]++;
        }
        fer_tensor *operands[] = {x, counts};
        ASSERT_OK(&error, fer_call(op, operands, 2, NULL, 0, &error));
        assert_memory_equal(fer_tensor_const_data(counts), expected,
                            (size_t)num_counts * sizeof *expected);
        release_3(x, counts, NULL);
    }
    fer_op_release(op);
}

static void test_histogram_outside_changes_nothing(void **state)
{
    (void)state;
    static const int64_t outside[] = {3, -1, INT64_MIN};
    fer_op *op = standard("histogram");
    for (size_t i = 0; i < COUNT(outside); i++) {
        fer_tensor *x = indices(FER_I64, 3, 1);
        fer_tensor *counts = indices(FER_I64, 3, 1);
        fer_tensor *operands[] = {x, counts};
        write_element(x, 2, (wide){.i = outside[i]});
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, operands, 2, NULL, 0, &error),
                     "histogram", "element 2 of x is outside the 3 counts");
        for (int64_t j = 0; j < 3; j++)
            assert_int_equal(read_element(counts, j).i, 0);
        release_3(x, counts, NULL);
    }
    fer_op_release(op);
}

static void test_dequantise4(void **state)
{
    (void)state;
    fer_op *op = with_int(standard("dequantise4"), "group", 4);
    for (int round = 0; round < ROUNDS; round++) {
        const fer_dtype dtype = FLOATS[round % NUM_FLOATS];
        int64_t extents[4];
        size_t rank = 1 + random_shape(extents);
        const int64_t num_groups = random_extent();
        extents[rank - 1] = num_groups * 2;
        fer_tensor *packed = random_tensor(FER_U8, rank, extents);
        extents[rank - 1] = num_groups;
        fer_tensor *scale = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, packed, scale);
        extents[rank - 1] = num_groups * 4;
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            const int64_t byte = read_element(packed, i / 2).i;
            const int64_t number = (i % 2 == 0 ? byte % 16 : byte / 16) - 8;
            const double factor = read_element(scale, i / 4).f;
            assert_same(dtype, read_element(y, i),
                        (wide){.f = rounded(dtype, (double)number * factor)});
        }
        release_3(packed, scale, y);
    }
    fer_tensor *packed = empty_tensor(FER_U8, 1, (int64_t[]){3});
    fer_tensor *scale = empty_tensor(FER_F32, 1, (int64_t[]){1});
    fer_tensor *y = NULL;
    fer_tensor *operands[] = {packed, scale};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, operands, 2, &y, 1, &error), "dequantise4",
                 "2 * n == group * g", "n = 3");
    release_3(packed, scale, NULL);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_broadcast_checks_shapes),
        cmocka_unit_test(test_broadcast_to_both),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_slice_of_several_axes),
        cmocka_unit_test(test_slice_checks_bounds),
        cmocka_unit_test(test_slice_checks_ranks),
        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_gather_checks_bounds),
        cmocka_unit_test(test_compress),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_histogram_outside_changes_nothing),
        cmocka_unit_test(test_dequantise4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
