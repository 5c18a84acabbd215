/* cast between dtypes, at their edges. With FERRULE_ALL_CASTS every pair of dtypes is compiled. */
#include "testing_std.h"

static const fer_dtype DTYPES[] = {FER_BOOL, FER_I8,  FER_I16,  FER_I32,      FER_I64,
                                   FER_U8,   FER_U16, FER_U32,  FER_U64,      FER_F32,
                                   FER_F64,  FER_F16, FER_BF16, FER_F8E4M3FN, FER_F8E5M2};

/* Integers at and beside bounds and powers of two, and one whose nearest bf16 is another one than
 * that of its nearest float. */
static const uint64_t INTEGERS[] = {0,
                                    1,
                                    2,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x100,
                                    300,
                                    2049,
                                    0x7fff,
                                    0x8000,
                                    0xffef,
                                    0xfff0,
                                    0xffff,
                                    0x10000,
                                    0x1000001,
                                    0x1010001,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x20000000000001,
                                    0x8080000000000001,
                                    0x8180000000000001,
                                    0x4040000000000001,
                                    0x40c0000000000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xffffffffffffffff};

static const double NUMBERS[] = {0,
                                 -0.0,
                                 0.1,
                                 0.5,
                                 0.9,
                                 1,
                                 1.5,
                                 2.5,
                                 127,
                                 127.9,
                                 128,
                                 255,
                                 255.5,
                                 256,
                                 448,
                                 464,
                                 464.001,
                                 480,
                                 32767.5,
                                 32768,
                                 57344,
                                 61439.9,
                                 61440,
                                 65504,
                                 65519.99,
                                 65520,
                                 65535,
                                 65536,
                                 2147483647,
                                 2147483648,
                                 4294967295,
                                 4294967296,
                                 9223372036854774784.,
                                 9223372036854775808.,
                                 18446744073709549568.,
                                 18446744073709551616.,
                                 1 + 0x1p-11 + 0x1p-40,
                                 1 + 0x1p-8 + 0x1p-40,
                                 1 + 0x1p-4 + 0x1p-40,
                                 1 + 0x1p-3 + 0x1p-40,
                                 0x1p-9,
                                 0x1p-10,
                                 0x1p-10 + 0x1p-50,
                                 0x1p-16,
                                 0x1p-17,
                                 0x1p-24,
                                 0x1p-25,
                                 0x1p-25 + 0x1p-60,
                                 0x1p-126,
                                 0x1p-133,
                                 0x1p-134,
                                 0x1p-149,
                                 0x1p-1074,
                                 0x1.fffffep127,
                                 0x1.ffffffp127,
                                 1e39,
                                 1e300,
                                 INFINITY,
                                 NAN};

static fer_op *cast_to(const fer_op *cast, fer_dtype dtype)
{
    fer_param to = {
        .name = "to", .kind = FER_PARAM_DTYPE, .has_value = true, .value.as_dtype = dtype};
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_op_specialise(cast, &to, 1, &op, &error));
    return op;
}

/* Edges and their negatives, and random bits. */
static fer_tensor *edges(fer_dtype dtype)
{
    const bool is_real = is_float(dtype);
    const int64_t num_edges = is_real ? (int64_t)COUNT(NUMBERS) : (int64_t)COUNT(INTEGERS);
    const int64_t count = 2 * num_edges + 100;
    fer_tensor *x = empty_tensor(dtype, 1, &count);
    for (int64_t i = 0; i < count; i++) {
        const double sign = i % 2 == 0 ? 1 : -1;
        wide value;
        if (i >= 2 * num_edges)
            value = is_real ? (wide){.f = sign * ldexp((double)(random_bits() >> 11),
                                                       (int)(random_bits() % 80) - 70)}
                            : (wide){.i = (int64_t)(random_bits() >> random_bits() % 64)};
        else if (is_real)
            value.f = sign * NUMBERS[i / 2];
        else
            value.i = i % 2 == 0 ? (int64_t)INTEGERS[i / 2] : (int64_t)(0 - INTEGERS[i / 2]);
        if (dtype == FER_BOOL)
            value.i &= 1;
        write_element(x, i, value);
    }
    return x;
}

static bool is_signed(fer_dtype dtype)
{
    return dtype == FER_I8 || dtype == FER_I16 || dtype == FER_I32 || dtype == FER_I64;
}

/* Towards 0, then to the nearest that there is; a long double holds every bound. */
static int64_t saturated(fer_dtype to, double value)
{
    const int num_bits = 8 * (int)fer_dtype_bytes(to);
    const long double limit = ldexpl(1, is_signed(to) ? num_bits - 1 : num_bits);
    const long double lowest = is_signed(to) ? -limit : 0;
    const long double whole = truncl((long double)value);
    if (isnan(value))
        return 0;
    if (whole >= limit)
        return (int64_t)(is_signed(to) ? ~(uint64_t)0 >> (65 - num_bits)
                                       : ~(uint64_t)0 >> (64 - num_bits));
    if (whole <= lowest)
        return (int64_t)lowest;
    return whole < 0 ? (int64_t)whole : (int64_t)(uint64_t)whole;
}

/* The nearest small float, found by looking at all of them. */
static double nearest_small(fer_dtype to, long double value)
{
    const long double magnitude = fabsl(value);
    const uint16_t too_large = fer_small_float_encode(to, INFINITY);
    uint16_t best = 0;
    long double best_distance = magnitude;
    for (uint16_t bits = 1; bits <= too_large; bits++) {
        long double candidate = fer_small_float_decode(to, bits);
        if (bits == too_large) /* the number that would come next */
            candidate = 2 * (long double)fer_small_float_decode(to, (uint16_t)(bits - 1)) -
                        (long double)fer_small_float_decode(to, (uint16_t)(bits - 2));
        const long double distance = fabsl(candidate - magnitude);
        if (distance < best_distance || (distance == best_distance && bits % 2 == 0)) {
            best = bits;
            best_distance = distance;
        }
        if (candidate > magnitude)
            break;
    }
    return (value < 0 ? -1 : 1) * fer_small_float_decode(to, best);
}

static wide expected_cast(fer_dtype from, fer_dtype to, wide x)
{
    if (is_float(from)) {
        if (to == FER_BOOL)
            return (wide){.i = x.f != 0};
        return is_float(to) ? (wide){.f = rounded(to, x.f)} : (wide){.i = saturated(to, x.f)};
    }
    if (to == FER_BOOL)
        return (wide){.i = x.i != 0};
    if (!is_float(to))
        return (wide){.i = wrapped(to, (uint64_t)x.i)};
    const long double exact = from == FER_U64 ? (long double)(uint64_t)x.i : (long double)x.i;
    if (fer_dtype_is_small_float(to))
        return (wide){.f = nearest_small(to, exact)};
    return (wide){.f = to == FER_F32 ? (double)(float)exact : (double)exact};
}

static void check_pair(const fer_op *op, fer_dtype from, fer_dtype to, fer_tensor *x)
{
    fer_tensor *y = call(op, x, NULL);
    assert_int_equal(fer_tensor_dtype(y), to);
    for (int64_t i = 0; i < fer_tensor_num_elements(x); i++) {
        const wide actual = read_element(y, i);
        const wide expected = expected_cast(from, to, read_element(x, i));
        const bool is_right = !is_float(to)       ? actual.i == expected.i
                              : isnan(expected.f) ? isnan(actual.f)
                                                  : actual.f == expected.f &&
                                                        signbit(actual.f) == signbit(expected.f);
        if (is_right)
            continue;
        const wide value = read_element(x, i);
        print_error("%s to %s: ", fer_dtype_name(from), fer_dtype_name(to));
        if (is_float(from))
            print_error("%a gives ", value.f);
        else
            print_error("%lld gives ", (long long)value.i);
        if (is_float(to))
            fail_msg("%a, not %a", actual.f, expected.f);
        fail_msg("%lld, not %lld", (long long)actual.i, (long long)expected.i);
    }
    fer_tensor_release(y);
}

/* Not each narrow integer with each small float: they take the same code as the ones that are
 * here. */
static bool is_chosen(fer_dtype from, fer_dtype to)
{
    if (getenv("FERRULE_ALL_CASTS") != NULL)
        return true;
    const bool is_narrow = from == FER_I16 || from == FER_U8 || from == FER_U16 || to == FER_I16 ||
                           to == FER_U16 || to == FER_U32;
    if (fer_dtype_is_small_float(from) || fer_dtype_is_small_float(to))
        return !is_narrow;
    return from == FER_F64 || from == FER_I32 || to == FER_F32 || from == FER_BOOL;
}

static void test_casts_are_exact_at_the_edges(void **state)
{
    (void)state;
    fer_op *cast = standard("cast");
    for (size_t t = 0; t < COUNT(DTYPES); t++) {
        fer_op *op = cast_to(cast, DTYPES[t]);
        for (size_t f = 0; f < COUNT(DTYPES); f++) {
            if (!is_chosen(DTYPES[f], DTYPES[t]))
                continue;
            fer_tensor *x = edges(DTYPES[f]);
            check_pair(op, DTYPES[f], DTYPES[t], x);
            fer_tensor_release(x);
        }
        fer_op_release(op);
    }
    fer_op_release(cast);
}

/* The rules in figures. */
static void test_casts_saturate_or_overflow(void **state)
{
    (void)state;
    static const struct {
        fer_dtype to;
        double from;
        double expected;
    } CASES[] = {
        {FER_I8, 1e30, 127},
        {FER_I8, -1e30, -128},
        {FER_U8, -0.9, 0},
        {FER_U8, 255.9, 255},
        {FER_I8, -128.9, -128},
        {FER_I32, NAN, 0},
        {FER_F8E4M3FN, 448, 448},
        {FER_F8E4M3FN, 464, 448},
        {FER_F8E4M3FN, 464.1, NAN},
        {FER_F8E4M3FN, -INFINITY, NAN},
        {FER_F8E5M2, 61439, 57344},
        {FER_F8E5M2, 61440, INFINITY},
        {FER_F8E5M2, -1e9, -INFINITY},
        {FER_F16, 65519, 65504},
        {FER_F16, 65520, INFINITY},
        {FER_BF16, 3.4e38, INFINITY},
        {FER_F16, 0x1p-25, 0},
        {FER_F16, 0x1.8p-24, 0x1p-23},
    };
    fer_op *cast = standard("cast");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_op *op = cast_to(cast, CASES[i].to);
        fer_tensor *x = empty_tensor(FER_F64, 0, NULL);
        write_element(x, 0, (wide){.f = CASES[i].from});
        fer_tensor *y = call(op, x, NULL);
        wide expected = {.f = CASES[i].expected};
        if (!is_float(CASES[i].to))
            expected.i = (int64_t)CASES[i].expected;
        assert_same(CASES[i].to, read_element(y, 0), expected);
        release_3(x, y, NULL);
        fer_op_release(op);
    }
    fer_op_release(cast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_casts_are_exact_at_the_edges),
        cmocka_unit_test(test_casts_saturate_or_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
