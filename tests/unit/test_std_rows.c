/* The standard package along the last axis, against slow references on random shapes. */
#include "testing_std.h"

/* A shape with a last axis, sometimes long enough for every lane of a sum. */
static size_t random_rows(int round, int64_t *extents)
{
    size_t rank = random_shape(extents) + 1;
    extents[rank - 1] = random_extent();
    if (round % 7 == 0) {
        rank = 1;
        extents[0] = 1000;
    }
    return rank;
}

static int64_t num_rows(const fer_tensor *x, int64_t n)
{
    return n == 0 ? 0 : fer_tensor_num_elements(x) / n;
}

static void test_sum(void **state)
{
    (void)state;
    fer_op *op = standard("sum");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[round % NUM_NUMERIC];
        int64_t extents[4];
        size_t rank = random_rows(round, extents);
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
                assert_near(dtype, read_element(y, row).f, total, 1e-8 * magnitude);
            else
                assert_int_equal(read_element(y, row).i, wrapped(dtype, bits));
        }
        release_3(x, y, NULL);
    }
    fer_tensor *scalar = random_tensor(FER_F32, 0, NULL);
    fer_tensor *y = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, &scalar, 1, &y, 1, &error), "sum", "'x'");
    fer_tensor_release(scalar);
    fer_op_release(op);
}

static double row_mean(const fer_tensor *x, int64_t row, int64_t n)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += read_element(x, row * n + i).f;
    return total / (double)n;
}

/* The mean of the squares of what is left of a row's elements without `centre`. */
static double row_spread(const fer_tensor *x, int64_t row, int64_t n, double centre)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        const double rest = read_element(x, row * n + i).f - centre;
        total += rest * rest;
    }
    return total / (double)n;
}

static void test_mean(void **state)
{
    (void)state;
    fer_op *op = standard("mean");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = FLOATS[round % NUM_FLOATS];
        int64_t extents[4];
        size_t rank = random_rows(round, extents);
        int64_t n = extents[rank - 1] = extents[rank - 1] == 0 ? 1 : extents[rank - 1];
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, rank - 1, extents);
        for (int64_t row = 0; row < fer_tensor_num_elements(y); row++)
            assert_near(dtype, read_element(y, row).f, row_mean(x, row, n), 1e-8);
        release_3(x, y, NULL);
    }
    fer_op_release(op);
}

/* Whether the row's element `a` stands before `b` when the largest come first; NaN is largest. */
static bool is_larger(const fer_tensor *x, int64_t a, int64_t b)
{
    const fer_dtype dtype = fer_tensor_dtype(x);
    const wide left = read_element(x, a);
    const wide right = read_element(x, b);
    if (is_float(dtype)) {
        if (isnan(left.f) || isnan(right.f))
            return isnan(left.f) && !isnan(right.f);
        return left.f > right.f;
    }
    return dtype == FER_U64 ? (uint64_t)left.i > (uint64_t)right.i : left.i > right.i;
}

/* Repeats elements, and puts NaNs among floats. */
static void make_ties(fer_tensor *x, int round)
{
    const fer_dtype dtype = fer_tensor_dtype(x);
    for (int64_t i = 1; i < fer_tensor_num_elements(x); i++) {
        if (random_bits() % 2 == 0)
            write_element(x, i, read_element(x, (int64_t)(random_bits() % (uint64_t)i)));
        if (is_float(dtype) && round % 2 == 0 && random_bits() % 9 == 0)
            write_element(x, i, (wide){.f = NAN});
    }
}

static void test_amax_and_argmax(void **state)
{
    (void)state;
    fer_op *amax = standard("amax");
    fer_op *argmax = standard("argmax");
    for (int round = 0; round < 2 * ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[(round / 2) % NUM_NUMERIC];
        int64_t extents[4];
        size_t rank = random_rows(round, extents);
        int64_t n = extents[rank - 1] = extents[rank - 1] == 0 ? 1 : extents[rank - 1];
        fer_tensor *x = random_tensor(dtype, rank, extents);
        make_ties(x, round);
        fer_tensor *largest = call(amax, x, NULL);
        fer_tensor *place = call(argmax, x, NULL);
        assert_shape(largest, rank - 1, extents);
        assert_shape(place, rank - 1, extents);
        assert_int_equal(fer_tensor_dtype(place), FER_I64);
        for (int64_t row = 0; row < fer_tensor_num_elements(largest); row++) {
            int64_t best = 0;
            for (int64_t i = 1; i < n; i++)
                if (is_larger(x, row * n + i, row * n + best))
                    best = i;
            assert_int_equal(read_element(place, row).i, best);
            assert_same(dtype, read_element(largest, row), read_element(x, row * n + best));
        }
        release_3(x, largest, place);
    }
    fer_op_release(amax);
    fer_op_release(argmax);
}

/* What has no value is an error, also when there are no rows; a sum has one, and an empty row
 * stays empty. */
static void test_empty_rows(void **state)
{
    (void)state;
    static const char *const refused[] = {"mean", "amax", "argmax"};
    for (size_t i = 0; i < COUNT(refused); i++) {
        fer_op *op = standard(refused[i]);
        for (int64_t rows = 0; rows < 3; rows += 2) {
            fer_tensor *x = empty_tensor(FER_F32, 2, (int64_t[]){rows, 0});
            fer_tensor *y = NULL;
            ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, &x, 1, &y, 1, &error), refused[i],
                         "n > 0", "n = 0");
            fer_tensor_release(x);
        }
        fer_op_release(op);
    }
    static const char *const kept[] = {"softmax", "cumsum"};
    fer_tensor *x = empty_tensor(FER_F32, 2, (int64_t[]){2, 0});
    for (size_t i = 0; i < COUNT(kept); i++) {
        fer_op *op = standard(kept[i]);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, 2, (int64_t[]){2, 0});
        fer_tensor_release(y);
        fer_op_release(op);
    }
    fer_op *op = standard("sum");
    fer_tensor *y = call(op, x, NULL);
    assert_shape(y, 1, (int64_t[]){2});
    assert_true(read_element(y, 0).f == 0 && read_element(y, 1).f == 0);
    release_3(x, y, NULL);
    fer_op_release(op);
}

static void test_softmax(void **state)
{
    (void)state;
    fer_op *op = standard("softmax");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = FLOATS[round % NUM_FLOATS];
        int64_t extents[4];
        size_t rank = random_rows(round, extents);
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, rank, extents);
        int64_t n = extents[rank - 1];
        for (int64_t row = 0; row < num_rows(x, n); row++) {
            double total = 0;
            for (int64_t i = 0; i < n; i++)
                total += exp(read_element(x, row * n + i).f);
            for (int64_t i = 0; i < n; i++)
                assert_near(dtype, read_element(y, row * n + i).f,
                            exp(read_element(x, row * n + i).f) / total, 1e-3);
        }
        release_3(x, y, NULL);
    }
    float large[] = {1000, 1000, -1000};
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 1, (int64_t[]){3}, large, host, &x, &error));
    fer_tensor *y = call(op, x, NULL);
    assert_memory_equal(fer_tensor_const_data(y), ((float[]){0.5f, 0.5f, 0}), 12);
    release_3(x, y, NULL);
    fer_op_release(op);
}

/* What has no limit is NaN, all over the row, in every lane and in the tail. */
static void test_softmax_special_values(void **state)
{
    (void)state;
    enum { LENGTH = 21 };
    static const struct {
        double most, one, expected_most, expected_one;
    } CASES[] = {
        {1, NAN, NAN, NAN},
        {1, INFINITY, NAN, NAN},
        {-INFINITY, -INFINITY, NAN, NAN},
        {-INFINITY, 3, 0, 1},
        {0, -INFINITY, 1.0 / (LENGTH - 1), 0},
        {-3e38, 3e38, 0, 1},
    };
    fer_op *op = standard("softmax");
    for (size_t i = 0; i < COUNT(CASES); i++)
        for (int64_t place = 0; place < LENGTH; place++) {
            fer_tensor *x = empty_tensor(FER_F32, 1, (int64_t[]){LENGTH});
            for (int64_t k = 0; k < LENGTH; k++)
                write_element(x, k, (wide){.f = k == place ? CASES[i].one : CASES[i].most});
            fer_tensor *y = call(op, x, NULL);
            for (int64_t k = 0; k < LENGTH; k++)
                assert_near(FER_F32, read_element(y, k).f,
                            k == place ? CASES[i].expected_one : CASES[i].expected_most, 0);
            release_3(x, y, NULL);
        }
    fer_op_release(op);
}

/* Long enough to be summed in pieces; a chain in f64 would be off by thousands of units. */
static void test_long_sums(void **state)
{
    (void)state;
    fer_op *op = standard("sum");
    for (int d = 0; d < 2; d++) {
        const fer_dtype dtype = d == 0 ? FER_F32 : FER_F64;
        const int64_t count = 200003;
        fer_tensor *x = empty_tensor(dtype, 1, &count);
        for (int64_t i = 0; i < count; i++)
            write_element(x, i, (wide){.f = 0.1});
        const double element = read_element(x, 0).f;
        fer_tensor *y = call(op, x, NULL);
        const double exact = (double)((long double)element * count);
        const double unit = dtype == FER_F32 ? 0x1p-24 : 0x1p-52;
        assert_true(fabs(read_element(y, 0).f - exact) <= exact * unit * 4);
        release_3(x, y, NULL);
    }
    fer_op_release(op);
}

/* Far from 0 mean(x^2) - mean(x)^2 would have no digit left. */
static void test_layernorm_far_from_0(void **state)
{
    (void)state;
    const int64_t n = 100;
    fer_op *op = standard("layernorm");
    fer_tensor *x = empty_tensor(FER_F32, 1, &n);
    fer_tensor *weight = empty_tensor(FER_F32, 1, &n);
    fer_tensor *bias = empty_tensor(FER_F32, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        write_element(x, i, (wide){.f = 1e7 + (double)(i % 2)});
        write_element(weight, i, (wide){.f = 1});
        write_element(bias, i, (wide){.f = 0});
    }
    fer_tensor *y = call_3(op, x, weight, bias);
    for (int64_t i = 0; i < n; i++)
        assert_near(FER_F32, read_element(y, i).f, (i % 2 == 0 ? -0.5 : 0.5) / sqrt(0.25 + 1e-5),
                    0);
    release_3(x, weight, bias);
    fer_tensor_release(y);
    fer_op_release(op);
}

static void test_norms(void **state)
{
    (void)state;
    fer_op *rmsnorm = standard("rmsnorm");
    fer_op *layernorm = standard("layernorm");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = FLOATS[round % NUM_FLOATS];
        int64_t extents[4];
        size_t rank = random_rows(round, extents);
        int64_t n = extents[rank - 1];
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *weight = random_tensor(dtype, 1, &n);
        fer_tensor *bias = random_tensor(dtype, 1, &n);
        fer_tensor *root = call(rmsnorm, x, weight);
        fer_tensor *layer = call_3(layernorm, x, weight, bias);
        assert_shape(root, rank, extents);
        assert_shape(layer, rank, extents);
        for (int64_t row = 0; row < num_rows(x, n); row++) {
            const double mean = row_mean(x, row, n);
            const double variance = row_spread(x, row, n, mean);
            const double square = row_spread(x, row, n, 0);
            for (int64_t i = 0; i < n; i++) {
                const double element = read_element(x, row * n + i).f;
                const double factor = read_element(weight, i).f;
                assert_near(dtype, read_element(root, row * n + i).f,
                            element / sqrt(square + 1e-5) * factor, 0.1);
                assert_near(dtype, read_element(layer, row * n + i).f,
                            (element - mean) / sqrt(variance + 1e-5) * factor +
                                read_element(bias, i).f,
                            10);
            }
        }
        release_3(x, weight, bias);
        release_3(root, layer, NULL);
    }
    fer_op_release(rmsnorm);
    fer_op_release(layernorm);
}

static void test_epsilon(void **state)
{
    (void)state;
    fer_op *op = standard("rmsnorm");
    fer_param epsilon = {
        .name = "epsilon", .kind = FER_PARAM_FLOAT, .has_value = true, .value.as_float = 3};
    fer_op *special = NULL;
    ASSERT_OK(&error, fer_op_specialise(op, &epsilon, 1, &special, &error));
    fer_tensor *x = empty_tensor(FER_F64, 1, (int64_t[]){1});
    fer_tensor *weight = empty_tensor(FER_F64, 1, (int64_t[]){1});
    write_element(x, 0, (wide){.f = 1});
    write_element(weight, 0, (wide){.f = 6});
    fer_tensor *y = call(special, x, weight);
    assert_near(FER_F64, read_element(y, 0).f, 3, 0);
    release_3(x, weight, y);
    fer_op_release(special);
    fer_op_release(op);
}

static void test_cumsum(void **state)
{
    (void)state;
    fer_op *op = standard("cumsum");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[round % NUM_NUMERIC];
        int64_t extents[4];
        size_t rank = random_rows(round, extents);
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, rank, extents);
        int64_t n = extents[rank - 1];
        double total = 0;
        uint64_t bits = 0;
        for (int64_t i = 0; i < fer_tensor_num_elements(x); i++) {
            const wide element = read_element(x, i);
            total = is_float(dtype) ? (i % n == 0 ? 0 : total) + element.f : 0;
            bits = (i % n == 0 ? 0 : bits) + (uint64_t)element.i;
            assert_same(dtype, read_element(y, i),
                        is_float(dtype) ? (wide){.f = rounded(dtype, total)}
                                        : (wide){.i = wrapped(dtype, bits)});
        }
        release_3(x, y, NULL);
    }
    fer_op_release(op);
}

/* The place of an element in its row when the largest come first, of equal ones the first. */
static int64_t place_of(const fer_tensor *x, int64_t row, int64_t n, int64_t i)
{
    int64_t place = 0;
    for (int64_t j = 0; j < n; j++)
        if (is_larger(x, row * n + j, row * n + i) ||
            (j < i && !is_larger(x, row * n + i, row * n + j)))
            place++;
    return place;
}

static void check_topk(fer_dtype dtype, int round, const fer_op *op, int64_t k)
{
    int64_t extents[4];
    size_t rank = random_rows(round, extents);
    int64_t n = extents[rank - 1] = extents[rank - 1] < k ? k + 3 : extents[rank - 1];
    fer_tensor *x = random_tensor(dtype, rank, extents);
    make_ties(x, round);
    fer_tensor *results[2] = {NULL, NULL};
    ASSERT_OK(&error, fer_call(op, &x, 1, results, 2, &error));
    extents[rank - 1] = k;
    assert_shape(results[0], rank, extents);
    assert_shape(results[1], rank, extents);
    for (int64_t row = 0; row < num_rows(x, n) && k > 0; row++)
        for (int64_t i = 0; i < k; i++) {
            const int64_t from = read_element(results[1], row * k + i).i;
            assert_in_range(from, 0, n - 1);
            assert_int_equal(place_of(x, row, n, from), i);
            assert_same(dtype, read_element(results[0], row * k + i),
                        read_element(x, row * n + from));
        }
    release_3(x, results[0], results[1]);
}

static void test_topk(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 5, 16};
    static const fer_dtype dtypes[] = {FER_F32, FER_I8, FER_U64, FER_BF16};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        fer_op *op = with_int(standard("topk"), "k", sizes[i]);
        for (int round = 0; round < 24; round++)
            check_topk(dtypes[(size_t)round % COUNT(dtypes)], round / 4, op, sizes[i]);
        fer_op_release(op);
    }
    fer_op *op = with_int(standard("topk"), "k", 3);
    fer_tensor *x = empty_tensor(FER_F32, 1, (int64_t[]){2});
    fer_tensor *results[2] = {NULL, NULL};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, &x, 1, results, 2, &error), "topk", "k <= n",
                 "n = 2");
    fer_tensor_release(x);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_amax_and_argmax),
        cmocka_unit_test(test_empty_rows),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_softmax_special_values),
        cmocka_unit_test(test_long_sums),
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_layernorm_far_from_0),
        cmocka_unit_test(test_epsilon),
        cmocka_unit_test(test_cumsum),
        cmocka_unit_test(test_topk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
