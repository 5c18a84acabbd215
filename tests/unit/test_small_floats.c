/* The kernel header's conversions of small floats against the host's, which other tests hold to the
 * formats: every bit pattern, every halfway point and its neighbours, by gcc and by clang. */
#include "kernel_testing.h"

#include "tensor/smallfloat.h"
#include <math.h>

static const struct {
    const char *name;
    fer_dtype dtype;
    int num_bits;
} FORMATS[] = {
    {"f16", FER_F16, 16},
    {"bf16", FER_BF16, 16},
    {"f8e4m3fn", FER_F8E4M3FN, 8},
    {"f8e5m2", FER_F8E5M2, 8},
};
#define NUM_FORMATS (sizeof FORMATS / sizeof *FORMATS)
enum { MAX_VALUES = 300000, NUM_RANDOM = 50000 };

static double values[MAX_VALUES];
static float single_values[MAX_VALUES];
static union {
    uint16_t wide[MAX_VALUES];
    uint8_t narrow[MAX_VALUES];
} bits;

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint16_t element(size_t format, int64_t i)
{
    return FORMATS[format].num_bits == 16 ? bits.wide[i] : bits.narrow[i];
}

static const fer_abi_entry *entry_of(loaded object, const char *what, size_t format)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", what, FORMATS[format].name);
    return find(object, name, FER_ABI_MAP);
}

static void set_compiler(const char *name)
{
    assert_int_equal(setenv("CC", name, 1), 0);
}

/* What is tested with each compiler that is there. */
static void with_compilers(void (*test)(loaded object))
{
    static const char *const compilers[] = {"gcc", "clang"};
    const char *given = getenv("CC");
    char *kept = given == NULL ? NULL : strdup(given);
    for (size_t i = 0; i < 2; i++) {
        if (!is_installed(compilers[i])) {
            print_message("%s is not installed: skipped\n", compilers[i]);
            continue;
        }
        set_compiler(compilers[i]);
        const loaded object = load(OPTIMISED, FLAGS("floats.c"));
        test(object);
        unload(object);
    }
    if (kept == NULL)
        unsetenv("CC");
    else
        set_compiler(kept);
    free(kept);
}

static void check_widening(loaded object)
{
    record calls = {0};
    for (size_t format = 0; format < NUM_FORMATS; format++) {
        const int64_t count = (int64_t)1 << FORMATS[format].num_bits;
        for (int64_t i = 0; i < count; i++)
            if (FORMATS[format].num_bits == 16)
                bits.wide[i] = (uint16_t)i;
            else
                bits.narrow[i] = (uint8_t)i;
        assert_int_equal(run(entry_of(object, "widen", format),
                             (operand[]){VECTOR(single_values, count), VECTOR(&bits, count)},
                             &calls),
                         0);
        for (int64_t i = 0; i < count; i++) {
            const double expected = fer_small_float_decode(FORMATS[format].dtype, (uint16_t)i);
            assert_int_equal(signbit(single_values[i]) != 0, signbit(expected) != 0);
            if (isnan(expected))
                assert_true(isnan(single_values[i]));
            else
                assert_true((double)single_values[i] == expected);
        }
    }
}

static void test_every_pattern_widens_exactly(void **state)
{
    (void)state;
    with_compilers(check_widening);
}

static int64_t add_value(int64_t count, double value)
{
    assert_true(count + 2 <= MAX_VALUES);
    values[count] = value;
    values[count + 1] = -value;
    return count + 2;
}

/* Every number of the format, every point halfway between two, and the nearest doubles or floats
 * on both sides of it. */
static int64_t list_edges(size_t format, bool is_single)
{
    const fer_dtype dtype = FORMATS[format].dtype;
    const uint16_t infinity = fer_small_float_encode(dtype, INFINITY);
    int64_t count = 0;
    for (uint16_t low = 0; low < infinity; low++) {
        const double below = fer_small_float_decode(dtype, low);
        double above = fer_small_float_decode(dtype, (uint16_t)(low + 1));
        if (!isfinite(above)) /* the number that would come next */
            above = below + (below - fer_small_float_decode(dtype, (uint16_t)(low - 1)));
        const double middle = (below + above) / 2;
        count = add_value(count, below);
        count = add_value(count, middle);
        if (is_single) {
            count = add_value(count, (double)nextafterf((float)middle, 0));
            count = add_value(count, (double)nextafterf((float)middle, INFINITY));
        } else {
            count = add_value(count, nextafter(middle, 0));
            count = add_value(count, nextafter(middle, INFINITY));
        }
    }
    static const double SPECIAL[] = {0,       INFINITY,   NAN,        0x1p-149, 0x1p-126, 0x1p-1074,
                                     0x1p127, 0x1.8p1000, 0x1p-1000,  464,      465,      57344,
                                     61440,   65504,      65519.9961, 65520,    3.4e38,   3.5e38};
    for (size_t i = 0; i < sizeof SPECIAL / sizeof *SPECIAL; i++)
        count = add_value(count, SPECIAL[i]);
    return count;
}

static void check_narrowing(loaded object, size_t format, int64_t count, bool is_single)
{
    record calls = {0};
    for (int64_t i = 0; i < count && is_single; i++) {
        single_values[i] = (float)values[i];
        values[i] = (double)single_values[i];
    }
    void *from = is_single ? (void *)single_values : (void *)values;
    assert_int_equal(run(entry_of(object, is_single ? "narrow" : "narrow_double", format),
                         (operand[]){VECTOR(&bits, count), VECTOR(from, count)}, &calls),
                     0);
    for (int64_t i = 0; i < count; i++) {
        const uint16_t expected = fer_small_float_encode(FORMATS[format].dtype, values[i]);
        if (element(format, i) != expected)
            fail_msg("%s of %a is %x, not %x", FORMATS[format].name, values[i], element(format, i),
                     expected);
    }
}

static void check_edges(loaded object)
{
    for (size_t format = 0; format < NUM_FORMATS; format++)
        for (int is_single = 0; is_single < 2; is_single++)
            check_narrowing(object, format, list_edges(format, is_single), is_single);
}

static void test_halfway_points_go_to_even(void **state)
{
    (void)state;
    with_compilers(check_edges);
}

/* Any bits of a float, and doubles whose exponents a small float has, with few bits set, so that
 * many lie just beside a halfway point. */
static void check_random(loaded object)
{
    for (size_t format = 0; format < NUM_FORMATS; format++)
        for (int is_single = 0; is_single < 2; is_single++) {
            for (int64_t i = 0; i < NUM_RANDOM; i++) {
                const uint32_t pattern = (uint32_t)random_bits();
                float single;
                memcpy(&single, &pattern, sizeof single);
                const int exponent = (int)(random_bits() % 60) - 40;
                const double sparse = 1 + ldexp((double)(random_bits() % 4096), -12) +
                                      ldexp((double)(random_bits() % 3) - 1, -40);
                values[i] = is_single ? (double)single : ldexp(sparse, exponent);
            }
            check_narrowing(object, format, NUM_RANDOM, is_single);
        }
}

static void test_random_values_round_once(void **state)
{
    (void)state;
    with_compilers(check_random);
}

static uint16_t sum_of(fer_dtype dtype, uint16_t a, uint16_t b)
{
    const float sum =
        (float)fer_small_float_decode(dtype, a) + (float)fer_small_float_decode(dtype, b);
    return fer_small_float_encode(dtype, (double)sum);
}

/* All sums of two elements of 8 bits, those of 16 bits with some. */
static void check_sums(loaded object)
{
    record calls = {0};
    for (size_t format = 0; format < NUM_FORMATS; format++) {
        const fer_dtype dtype = FORMATS[format].dtype;
        const bool is_wide = FORMATS[format].num_bits == 16;
        const int64_t count = (int64_t)1 << FORMATS[format].num_bits;
        static uint16_t wide[1 << 16];
        static uint8_t narrow[1 << 8];
        for (int64_t i = 0; i < count; i++)
            if (is_wide)
                wide[i] = (uint16_t)i;
            else
                narrow[i] = (uint8_t)i;
        for (uint32_t b = 0; b < 256; b++) {
            uint16_t wide_b = (uint16_t)(b * 257);
            uint8_t narrow_b = (uint8_t)b;
            if (is_wide && b % 64 != 1)
                continue;
            operand tensors[3] = {VECTOR(&bits, count), VECTOR(wide, count), SCALAR(wide_b)};
            if (!is_wide) {
                tensors[1].data = narrow;
                tensors[2].data = &narrow_b;
            }
            assert_int_equal(run(entry_of(object, "add", format), tensors, &calls), 0);
            for (int64_t i = 0; i < count; i++) {
                const uint16_t expected =
                    sum_of(dtype, (uint16_t)i, is_wide ? wide_b : (uint16_t)b);
                const double value = fer_small_float_decode(dtype, expected);
                if (isnan(
                        value)) /* of which of two NaNs the sign stays is the processor's affair */
                    assert_true(isnan(fer_small_float_decode(dtype, element(format, i))));
                else
                    assert_int_equal(element(format, i), expected);
            }
        }
    }
}

static void test_a_map_computes_in_float(void **state)
{
    (void)state;
    with_compilers(check_sums);
}

/* i32 has numbers that no float has: rounding to float first would go the wrong way. */
static void check_once(loaded object)
{
    record calls = {0};
    int32_t x[4] = {0x01010001, -0x01010001, 0x01010000, INT32_MIN};
    uint16_t y[4];
    assert_int_equal(RUN(object, "narrow_i32", FER_ABI_MAP, &calls, VECTOR(y, 4), VECTOR(x, 4)), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(y[i], fer_small_float_encode(FER_BF16, x[i]));
    assert_int_equal(y[0], y[2] + 1);
}

static void test_a_map_of_wide_operands_rounds_once(void **state)
{
    (void)state;
    with_compilers(check_once);
}

static void check_kernels(loaded object)
{
    record calls = {0};
    for (size_t format = 0; format < NUM_FORMATS; format++) {
        const fer_dtype dtype = FORMATS[format].dtype;
        const bool is_wide = FORMATS[format].num_bits == 16;
        double more[3] = {1 + 0x1p-4 + 0x1p-40, 1e300, -0x1p-1000};
        uint16_t wide[3][3];
        uint8_t narrow[3][3];
        for (int i = 0; i < 3; i++) {
            wide[0][i] = fer_small_float_encode(dtype, 1.5 * i - 1);
            narrow[0][i] = (uint8_t)wide[0][i];
        }
        char name[32];
        snprintf(name, sizeof name, "stored_%s", FORMATS[format].name);
        operand tensors[4] = {VECTOR(wide[1], 3), VECTOR(wide[2], 3), VECTOR(wide[0], 3),
                              VECTOR(more, 3)};
        if (!is_wide) {
            tensors[0].data = narrow[1];
            tensors[1].data = narrow[2];
            tensors[2].data = narrow[0];
        }
        assert_int_equal(run(find(object, name, FER_ABI_KERNEL), tensors, &calls), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(is_wide ? wide[1][i] : narrow[1][i],
                             fer_small_float_encode(dtype, 1.5 * i));
            assert_int_equal(is_wide ? wide[2][i] : narrow[2][i],
                             fer_small_float_encode(dtype, more[i]));
        }
    }
}

static void test_kernels_load_and_store(void **state)
{
    (void)state;
    with_compilers(check_kernels);
}

static void check_native(loaded object)
{
    record calls = {0};
    int64_t x = INT64_MAX;
    int64_t y = 0;
    bool b = false;
    uint8_t m[6] = {0};
    uint16_t t = fer_small_float_encode(FER_F16, 3);
    operand tensors[5] = {
        SCALAR(y), SCALAR(b), {.data = m, .rank = 2, .shape = {2, 3}}, SCALAR(t), VECTOR(&x, 1)};
    assert_int_equal(run(find(object, "native", FER_ABI_KERNEL), tensors, &calls), 0);
    assert_int_equal(y, INT64_MAX);
    assert_true(b);
    assert_int_equal(m[5], 3);
    assert_int_equal(m[0], 4);
    assert_int_equal(t, fer_small_float_encode(FER_F16, 1.5));
}

static void test_native_dtypes_take_the_same_words(void **state)
{
    (void)state;
    with_compilers(check_native);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pattern_widens_exactly),
        cmocka_unit_test(test_halfway_points_go_to_even),
        cmocka_unit_test(test_random_values_round_once),
        cmocka_unit_test(test_a_map_computes_in_float),
        cmocka_unit_test(test_a_map_of_wide_operands_rounds_once),
        cmocka_unit_test(test_kernels_load_and_store),
        cmocka_unit_test(test_native_dtypes_take_the_same_words),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
