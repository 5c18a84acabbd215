/* The standard package's functions against libm in double, how far they err, and their bits at
 * every size. */
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

/* --- How far they err ------------------------------------------------------------------------- */

static long double exact_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}

static long double exact_sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double exact_silu(long double x)
{
    return x / (1 + expl(-x));
}

static long double exact_gelu(long double x)
{
    return x * erfcl(-x / sqrtl(2)) / 2;
}

/* In units of the last place, as docs/standard.md has them; where the arguments lie. */
static const struct {
    const char *name;
    long double (*exact)(long double x);
    double low, high;
    double units[2]; /* f32, f64 */
} ACCURACIES[] = {
    {"exp", expl, -87, 88, {1, 1.5}},
    {"log", logl, 1e-30, 4, {1, 1}},
    {"sqrt", sqrtl, 0, 100, {0.5, 0.5}},
    {"tanh", tanhl, -10, 10, {3, 3}},
    {"erf", erfl, -5, 5, {3, 2.5}},
    {"rsqrt", exact_rsqrt, 1e-30, 100, {1.5, 1.5}},
    {"gelu", exact_gelu, -12, 8, {10, 10}},
    {"silu", exact_silu, -85, 85, {4.5, 4.5}},
    {"sigmoid", exact_sigmoid, -85, 40, {2.5, 2.5}},
};

/* All over the range, and close to its middle and to 0. */
static double random_between(double low, double high)
{
    const double share = (double)(random_bits() >> 11) * 0x1p-53;
    const double x = low + (high - low) * share;
    switch (random_bits() % 3) {
    case 0:
        return x;
    case 1:
        return x / 16 > low ? x / 16 : x;
    default:
        return x * 0x1p-20 > low ? x * 0x1p-20 : x;
    }
}

static void test_accuracy(void **state)
{
    (void)state;
    const int64_t count = 20000;
    for (size_t which = 0; which < COUNT(ACCURACIES); which++) {
        fer_op *op = standard(ACCURACIES[which].name);
        for (int d = 0; d < 2; d++) {
            const fer_dtype dtype = d == 0 ? FER_F32 : FER_F64;
            fer_tensor *x = empty_tensor(dtype, 1, &count);
            for (int64_t i = 0; i < count; i++)
                write_element(
                    x, i,
                    (wide){.f = random_between(ACCURACIES[which].low, ACCURACIES[which].high)});
            fer_tensor *y = call(op, x, NULL);
            for (int64_t i = 0; i < count; i++) {
                const double argument = read_element(x, i).f;
                const long double exact = ACCURACIES[which].exact((long double)argument);
                const double nearest = fabs(rounded(dtype, (double)exact));
                const double unit = dtype == FER_F32 ? (double)nextafterf((float)nearest, INFINITY)
                                                     : nextafter(nearest, INFINITY);
                const long double distance = (long double)read_element(y, i).f - exact;
                const double units = (double)(fabsl(distance) / (unit - nearest));
                if (!(units <= ACCURACIES[which].units[d]))
                    fail_msg("%s of %a in %s is off by %.3f units", ACCURACIES[which].name,
                             argument, fer_dtype_name(dtype), units);
            }
            release_3(x, y, NULL);
        }
        fer_op_release(op);
    }
}

/* --- The same bits ---------------------------------------------------------------------------- */

enum { LONGEST = 71 };

/* The elements of `all` from `start` on. */
static fer_tensor *part_of(const fer_tensor *all, int64_t start, int64_t size)
{
    fer_tensor *part = NULL;
    const char *from = (const char *)fer_tensor_const_data(all) +
                       (size_t)start * fer_dtype_bytes(fer_tensor_dtype(all));
    ASSERT_OK(&error,
              fer_tensor_copy_from(fer_tensor_dtype(all), 1, &size, from, host, &part, &error));
    return part;
}

/* Of pow the second operand is the first. */
static void check_bits(const fer_op *op, fer_dtype dtype, bool is_binary)
{
    const size_t bytes = fer_dtype_bytes(dtype);
    fer_tensor *all = random_tensor(dtype, 1, (int64_t[]){LONGEST});
    fer_tensor *expected = call(op, all, is_binary ? all : NULL);
    for (int64_t size = 0; size < LONGEST; size++) {
        const int64_t start = (int64_t)(random_bits() % (uint64_t)(LONGEST - size));
        fer_tensor *part = part_of(all, start, size);
        fer_tensor *y = call(op, part, is_binary ? part : NULL);
        if (size > 0)
            assert_memory_equal(fer_tensor_const_data(y),
                                (const char *)fer_tensor_const_data(expected) +
                                    (size_t)start * bytes,
                                (size_t)size * bytes);
        release_3(part, y, NULL);
    }
    release_3(all, expected, NULL);
}

/* An element's bits depend on its value alone: not on its place, nor on the number of elements. */
static void test_bits_do_not_depend_on_sizes(void **state)
{
    (void)state;
    for (size_t which = 0; which <= COUNT(FUNCTIONS); which++) {
        const bool is_pow = which == COUNT(FUNCTIONS);
        fer_op *op = standard(is_pow ? "pow" : FUNCTIONS[which].name);
        for (int f = 0; f < NUM_FLOATS; f++)
            check_bits(op, FLOATS[f], is_pow);
        fer_op_release(op);
    }
}

/* Rows do not depend on how many there are and where they lie: softmax's, by a KERNEL's loop. */
static void test_bits_of_rows(void **state)
{
    (void)state;
    fer_op *op = standard("softmax");
    for (int f = 0; f < NUM_FLOATS; f++) {
        const size_t bytes = fer_dtype_bytes(FLOATS[f]);
        for (int64_t n = 1; n < LONGEST; n++) {
            fer_tensor *rows = random_tensor(FLOATS[f], 2, (int64_t[]){3, n});
            fer_tensor *all = call(op, rows, NULL);
            fer_tensor *row = part_of(rows, 2 * n, n);
            fer_tensor *alone = call(op, row, NULL);
            assert_memory_equal(fer_tensor_const_data(alone),
                                (const char *)fer_tensor_const_data(all) + 2 * (size_t)n * bytes,
                                (size_t)n * bytes);
            release_3(rows, all, NULL);
            release_3(row, alone, NULL);
        }
    }
    fer_op_release(op);
}

/* What is not libm's has these bits from every compiler and on every machine. */
static void test_bits_are_the_same_everywhere(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t digests[2]; /* f32, f64 */
    } DIGESTS[] = {
        {"exp", {0xd6aa629a363ddcea, 0x7cb41b3bb95cb9e5}},
        {"tanh", {0x565fa737fb81a3ac, 0x4f9e721df4642977}},
        {"erf", {0xdfbbac3ce2cfcd1e, 0x6135c3a2734695b4}},
        {"gelu", {0x91215595ed7e93e5, 0xe2013620440d8bc8}},
        {"silu", {0xa4c2724c3675b031, 0x8622f3385e1f889f}},
        {"log", {0x9fbb96a400d6450e, 0x45b82e2e0cdc7d18}},
        {"sigmoid", {0x14391235e2212b9c, 0x721b980ca708cde9}},
        {"softmax", {0x97fe8ed801dad04d, 0x66a6d7a985173593}},
    };
    const int64_t count = 4001;
    for (size_t which = 0; which < COUNT(DIGESTS); which++) {
        fer_op *op = standard(DIGESTS[which].name);
        for (int d = 0; d < 2; d++) {
            const fer_dtype dtype = d == 0 ? FER_F32 : FER_F64;
            fer_tensor *x = empty_tensor(dtype, 1, &count);
            for (int64_t i = 0; i < count; i++)
                write_element(x, i, (wide){.f = (double)(i * 37 % 4001 - 1000) / 128});
            fer_tensor *y = call(op, x, NULL);
            uint64_t digest = 0;
            for (int64_t i = 0; i < count; i++) {
                const wide element = read_element(y, i);
                const uint64_t bits = isnan(element.f) ? 1 : (uint64_t)element.i;
                digest = (digest ^ bits) * 0x100000001b3 + (digest >> 40);
            }
            if (digest != DIGESTS[which].digests[d])
                fail_msg("%s of %s: %#llx", DIGESTS[which].name, fer_dtype_name(dtype),
                         (unsigned long long)digest);
            release_3(x, y, NULL);
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
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_bits_do_not_depend_on_sizes),
        cmocka_unit_test(test_bits_of_rows),
        cmocka_unit_test(test_bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
