/* The standard package's functions against libm in double, and their bits at every size. */
#include "testing_std.h"

typedef double (*reference)(double x);

static double rsqrt_reference(double x)
{
    return 1 / sqrt(x);
}

static double sigmoid_reference(double x)
{
    return 1 / (1 + exp(-x));
}

static double silu_reference(double x)
{
    return x == -INFINITY ? 0 : x / (1 + exp(-x));
}

static double gelu_reference(double x)
{
    return x == -INFINITY ? 0 : x * erfc(-x / sqrt(2)) / 2;
}

static const struct {
    const char *name;
    reference reference;
} FUNCTIONS[] = {
    {"exp", exp},
    {"log", log},
    {"sqrt", sqrt},
    {"tanh", tanh},
    {"erf", erf},
    {"rsqrt", rsqrt_reference},
    {"gelu", gelu_reference},
    {"silu", silu_reference},
    {"sigmoid", sigmoid_reference},
};

/* Far from 0 exp and erfc make the rounding of what they are given larger. */
static void check_element(size_t which, fer_dtype dtype, double x, double actual)
{
    const double expected = FUNCTIONS[which].reference(x);
    assert_near(dtype, actual, expected, 4 * expected);
}

static void test_functions(void **state)
{
    (void)state;
    for (size_t which = 0; which < COUNT(FUNCTIONS); which++) {
        fer_op *op = standard(FUNCTIONS[which].name);
        for (int round = 0; round < ROUNDS; round++) {
            const fer_dtype dtype = FLOATS[round % NUM_FLOATS];
            int64_t extents[3];
            size_t rank = random_shape(extents);
            fer_tensor *x = random_tensor(dtype, rank, extents);
            fer_tensor *y = call(op, x, NULL);
            assert_shape(y, rank, extents);
            assert_int_equal(fer_tensor_dtype(y), dtype);
            for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
                check_element(which, dtype, read_element(x, i).f, read_element(y, i).f);
            release_3(x, y, NULL);
        }
        fer_op_release(op);
    }
}

/* Zeros, infinities, NaN, large and small: each next to ordinary neighbours in a block. */
static void test_special_values(void **state)
{
    (void)state;
    static const double SPECIAL[] = {0,        -0.0,     INFINITY, -INFINITY, NAN,     1,   -1,
                                     100,      -100,     1000,     -1000,     1e-7,    -20, 20,
                                     0x1p-149, 0x1p-126, 3e38,     -3e38,     0x1p-10, 0.5, -5};
    const int64_t count = COUNT(SPECIAL);
    for (size_t which = 0; which < COUNT(FUNCTIONS); which++) {
        fer_op *op = standard(FUNCTIONS[which].name);
        for (int f = 0; f < NUM_FLOATS; f++) {
            const fer_dtype dtype = FLOATS[f];
            fer_tensor *x = empty_tensor(dtype, 1, &count);
            for (int64_t i = 0; i < count; i++)
                write_element(x, i, (wide){.f = SPECIAL[i]});
            fer_tensor *y = call(op, x, NULL);
            for (int64_t i = 0; i < count; i++)
                check_element(which, dtype, read_element(x, i).f, read_element(y, i).f);
            release_3(x, y, NULL);
        }
        fer_op_release(op);
    }
}

static void test_pow(void **state)
{
    (void)state;
    static const double EDGES[] = {0, -0.0, 1, -1, 2, -2, 0.5, 3, INFINITY, -INFINITY, NAN};
    const int64_t count = COUNT(EDGES) * COUNT(EDGES);
    fer_op *op = standard("pow");
    for (int round = 0; round < ROUNDS; round++) {
        const fer_dtype dtype = FLOATS[round % NUM_FLOATS];
        const bool is_edges = round < NUM_FLOATS;
        fer_tensor *a = random_tensor(dtype, 1, is_edges ? &count : (int64_t[]){random_extent()});
        fer_tensor *b = random_tensor(dtype, 1, fer_tensor_shape(a));
        for (int64_t i = 0; is_edges && i < count; i++) {
            write_element(a, i, (wide){.f = EDGES[(size_t)i / COUNT(EDGES)]});
            write_element(b, i, (wide){.f = EDGES[(size_t)i % COUNT(EDGES)]});
        }
        fer_tensor *y = call(op, a, b);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_near(dtype, read_element(y, i).f,
                        pow(read_element(a, i).f, read_element(b, i).f), 0);
        release_3(a, b, y);
    }
    fer_op_release(op);
}

/* An element's bits depend on its value alone: not on its place, nor on the number of elements. */
static void test_bits_do_not_depend_on_sizes(void **state)
{
    (void)state;
    enum { LONGEST = 75 };
    static const fer_dtype dtypes[] = {FER_F32, FER_F64, FER_F16};
    for (size_t which = 0; which < COUNT(FUNCTIONS); which++) {
        fer_op *op = standard(FUNCTIONS[which].name);
        for (size_t d = 0; d < COUNT(dtypes); d++) {
            const size_t bytes = fer_dtype_bytes(dtypes[d]);
            fer_tensor *all = random_tensor(dtypes[d], 1, (int64_t[]){LONGEST});
            fer_tensor *expected = call(op, all, NULL);
            for (int64_t size = 1; size < LONGEST; size += size < 20 ? 1 : 9) {
                const int64_t start = (int64_t)(random_bits() % (uint64_t)(LONGEST - size));
                fer_tensor *part = NULL;
                ASSERT_OK(&error, fer_tensor_copy_from(dtypes[d], 1, &size,
                                                       (const char *)fer_tensor_const_data(all) +
                                                           (size_t)start * bytes,
                                                       host, &part, &error));
                fer_tensor *y = call(op, part, NULL);
                assert_memory_equal(fer_tensor_const_data(y),
                                    (const char *)fer_tensor_const_data(expected) +
                                        (size_t)start * bytes,
                                    (size_t)size * bytes);
                release_3(part, y, NULL);
            }
            release_3(all, expected, NULL);
        }
        fer_op_release(op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_bits_do_not_depend_on_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
