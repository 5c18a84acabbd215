/* Plain numbers as elements: what fits, what rounds, what is refused; and the floats that C has no
 * type for, over all their bits. */
#include "tensor/number.h"
#include "tensor/smallfloat.h"
#include "testing.h"

#include <math.h>

static fer_number of_int(int64_t value)
{
    return (fer_number){.kind = FER_NUMBER_INT, .value.as_int = value};
}

static fer_number of_uint(uint64_t value)
{
    return (fer_number){.kind = FER_NUMBER_UINT, .value.as_uint = value};
}

static fer_number of_float(double value)
{
    return (fer_number){.kind = FER_NUMBER_FLOAT, .value.as_float = value};
}

static fer_number of_bool(bool value)
{
    return (fer_number){.kind = FER_NUMBER_BOOL, .value.as_bool = value};
}

/* Stores the number and compares the element's bytes; the byte behind it must stay. */
static void check_stored(fer_number number, fer_dtype dtype, const void *expected)
{
    unsigned char bytes[16];
    size_t size = fer_dtype_bytes(dtype);
    memset(bytes, 0xaa, sizeof bytes);
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, fer_number_store(number, dtype, bytes + 1, &error));
    assert_memory_equal(bytes + 1, expected, size);
    assert_int_equal(bytes[0], 0xaa);
    assert_int_equal(bytes[size + 1], 0xaa);
}

static void check_refused(fer_number number, fer_dtype dtype, const char *words)
{
    unsigned char bytes[8];
    fer_error error = FER_ERROR_INIT;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_number_store(number, dtype, bytes, &error), words,
                 fer_dtype_name(dtype));
}

typedef struct limits {
    fer_dtype dtype;
    int64_t min;
    uint64_t max;
} limits;

static const limits LIMITS[] = {
    {FER_I8, INT8_MIN, INT8_MAX},    {FER_I16, INT16_MIN, INT16_MAX},
    {FER_I32, INT32_MIN, INT32_MAX}, {FER_I64, INT64_MIN, INT64_MAX},
    {FER_U8, 0, UINT8_MAX},          {FER_U16, 0, UINT16_MAX},
    {FER_U32, 0, UINT32_MAX},        {FER_U64, 0, UINT64_MAX},
};
#define NUM_LIMITS (sizeof LIMITS / sizeof *LIMITS)

static void test_ints_to_integer_dtypes(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_LIMITS; i++) {
        fer_dtype dtype = LIMITS[i].dtype;
        check_stored(of_int(LIMITS[i].min), dtype, &LIMITS[i].min);
        check_stored(of_int(0), dtype, &(int64_t){0});
        check_stored(of_int(77), dtype, &(int64_t){77});
        if (LIMITS[i].min > INT64_MIN)
            check_refused(of_int(LIMITS[i].min - 1), dtype, "does not fit");
        if (LIMITS[i].max < INT64_MAX) {
            check_stored(of_int((int64_t)LIMITS[i].max), dtype, &LIMITS[i].max);
            check_refused(of_int((int64_t)LIMITS[i].max + 1), dtype, "does not fit");
        }
        check_refused(of_int(INT64_MIN + (dtype == FER_I64 ? 0 : 1)),
                      dtype == FER_I64 ? FER_U64 : dtype, "does not fit");
    }
    check_stored(of_int(INT64_MAX), FER_I64, &(int64_t){INT64_MAX});
    check_stored(of_int(INT64_MAX), FER_U64, &(int64_t){INT64_MAX});
    check_refused(of_int(300), FER_U8, "300 does not fit u8, which holds 0 to 255");
}

/* The same numbers, whichever way they are given. */
static void test_unsigned_integers(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_LIMITS; i++) {
        fer_dtype dtype = LIMITS[i].dtype;
        check_stored(of_uint(77), dtype, &(uint64_t){77});
        check_stored(of_uint(LIMITS[i].max), dtype, &LIMITS[i].max);
        if (LIMITS[i].max < UINT64_MAX)
            check_refused(of_uint(LIMITS[i].max + 1), dtype, "does not fit");
    }
    check_stored(of_uint(UINT64_MAX), FER_U64, &(uint64_t){UINT64_MAX});
    check_refused(of_uint(UINT64_MAX), FER_I64,
                  "18446744073709551615 does not fit i64, which holds -9223372036854775808 to "
                  "9223372036854775807");
    check_stored(of_uint(UINT64_C(1) << 63), FER_F64, &(double){0x1p63});
    check_stored(of_uint(0xfffffffffffff800), FER_F64, &(double){0x1.fffffffffffffp63});
    check_refused(of_uint(UINT64_MAX), FER_F64,
                  "18446744073709551615 has no exact f64; write 18446744073709551615.0");
    check_refused(of_uint((UINT64_C(1) << 53) + 1), FER_F64, "9007199254740993 has no exact f64");
    check_stored(of_uint(UINT64_C(1) << 63), FER_BF16, &(uint16_t){0x5f00});
    check_refused(of_uint(UINT64_C(1) << 63), FER_F16, "9223372036854775808 is too large for f16");
    check_refused(of_uint(1), FER_BOOL, "1 is a number, but bool takes true or false");
}

static fer_status parse(const char *text, fer_number *out_number, fer_error *error)
{
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    FER_TRY(fer_number_parse(&lexer, out_number, error));
    assert_int_equal(lexer.token.kind, FER_TOKEN_END);
    return FER_OK;
}

static fer_number parse_good(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_number number;
    ASSERT_OK(&error, parse(text, &number, &error));
    return number;
}

static void test_numbers_from_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        fer_number_kind kind;
    } KINDS[] = {
        {"0", FER_NUMBER_INT},
        {"-3", FER_NUMBER_INT},
        {"9223372036854775807", FER_NUMBER_INT},
        {"-9223372036854775808", FER_NUMBER_INT},
        {"9223372036854775808", FER_NUMBER_UINT},
        {"18446744073709551615", FER_NUMBER_UINT},
        {"2.5", FER_NUMBER_FLOAT},
        {"-1e+300", FER_NUMBER_FLOAT},
        {"inf", FER_NUMBER_FLOAT},
        {"-inf", FER_NUMBER_FLOAT},
        {"nan", FER_NUMBER_FLOAT},
        {"true", FER_NUMBER_BOOL},
        {"false", FER_NUMBER_BOOL},
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        fer_number number = parse_good(KINDS[i].text);
        char text[FER_NUMBER_TEXT];
        assert_int_equal(number.kind, KINDS[i].kind);
        assert_string_equal(fer_number_text(number, text), KINDS[i].text);
    }
    assert_true(parse_good("0x1p-3").value.as_float == 0.125);
    assert_true(signbit(parse_good("-0.0").value.as_float));
    assert_true(signbit(parse_good("-nan").value.as_float));
    assert_true(parse_good("- 4").value.as_int == -4);
}

static void test_what_is_no_number(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_number number;
    static const char *const LARGE[] = {"18446744073709551616", "-9223372036854775809",
                                        "99999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof LARGE / sizeof *LARGE; i++)
        ASSERT_FAILS(&error, FER_OVERFLOW_ERROR, parse(LARGE[i], &number, &error), LARGE[i],
                     "outside 64 bits");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR, parse("-1e999", &number, &error), "-1e999",
                 "too large for a float");
    static const char *const FAULTY[] = {"", "x", "-x", "-true", "--1", "0x10", "\"1\"", "True"};
    for (size_t i = 0; i < sizeof FAULTY / sizeof *FAULTY; i++)
        ASSERT_FAILS(&error, FER_VALUE_ERROR, parse(FAULTY[i], &number, &error), "a number");
}

/* What was wanted and what came, beside the message. */
static void test_refusals_fill_the_members(void **state)
{
    (void)state;
    static const struct {
        fer_number number;
        fer_dtype dtype;
        const char *expected;
        const char *actual;
    } CASES[] = {
        {{.kind = FER_NUMBER_INT, .value.as_int = 256}, FER_U8, "0 to 255", "256"},
        {{.kind = FER_NUMBER_UINT, .value.as_uint = UINT64_MAX},
         FER_I8,
         "-128 to 127",
         "18446744073709551615"},
        {{.kind = FER_NUMBER_FLOAT, .value.as_float = 2.5}, FER_I32, "a whole number", "2.5"},
        {{.kind = FER_NUMBER_FLOAT, .value.as_float = 1e300}, FER_F32, "f32", "1e+300"},
        {{.kind = FER_NUMBER_INT, .value.as_int = 16777217}, FER_F32, "f32", "16777217"},
        {{.kind = FER_NUMBER_INT, .value.as_int = 1}, FER_BOOL, "true or false", "1"},
        {{.kind = FER_NUMBER_BOOL, .value.as_bool = true}, FER_I8, "i8", "true"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        unsigned char bytes[8];
        assert_int_equal(fer_number_store(CASES[i].number, CASES[i].dtype, bytes, &error),
                         FER_VALUE_ERROR);
        assert_string_equal(error.expected, CASES[i].expected);
        assert_string_equal(error.actual, CASES[i].actual);
        fer_error_clear(&error);
        assert_int_equal(fer_number_store(CASES[i].number, CASES[i].dtype, bytes, NULL),
                         FER_VALUE_ERROR);
    }
}

static void test_floats_to_integer_dtypes(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_LIMITS; i++) {
        fer_dtype dtype = LIMITS[i].dtype;
        int bits = 8 * (int)fer_dtype_bytes(dtype);
        double end = ldexp(1, LIMITS[i].min < 0 ? bits - 1 : bits);
        check_stored(of_float((double)LIMITS[i].min), dtype, &LIMITS[i].min);
        check_stored(of_float(-0.0), dtype, &(int64_t){0});
        check_stored(of_float(100.0), dtype, &(int64_t){100});
        check_refused(of_float(end), dtype, "does not fit");
        check_refused(of_float(nextafter((double)LIMITS[i].min, -INFINITY) - 1), dtype, "");
        check_refused(of_float(2.5), dtype, "2.5 is no whole number");
        check_refused(of_float(INFINITY), dtype, "inf");
        check_refused(of_float(NAN), dtype, "nan");
    }
    check_stored(of_float(0x1.fffffffffffffp63), FER_U64, &(uint64_t){0xfffffffffffff800});
    check_stored(of_float(-0x1p63), FER_I64, &(int64_t){INT64_MIN});
    check_refused(of_float(-1.0), FER_U64, "-1 does not fit");
    check_refused(of_float(0.1), FER_I8, "0.1 is no whole number, and i8 holds only those");
}

static void test_floats_round_to_float_dtypes(void **state)
{
    (void)state;
    check_stored(of_float(0.1), FER_F64, &(double){0.1});
    check_stored(of_float(0.1), FER_F32, &(float){0.1f});
    check_stored(of_float(0.1), FER_F16, &(uint16_t){0x2e66});
    check_stored(of_float(0.1), FER_BF16, &(uint16_t){0x3dcd});
    check_stored(of_float(0.1), FER_F8E4M3FN, &(uint8_t){0x1d});
    check_stored(of_float(0.1), FER_F8E5M2, &(uint8_t){0x2e});
    check_stored(of_float(-0.0), FER_F32, &(float){-0.0f});
    check_stored(of_float(-0.0), FER_F16, &(uint16_t){0x8000});
    check_stored(of_float(1e-60), FER_F32, &(float){0.0f});
    check_stored(of_float(-1e-60), FER_F8E5M2, &(uint8_t){0x80});
}

static void test_too_large_floats_are_refused(void **state)
{
    (void)state;
    check_stored(of_float(0x1.fffffefffffffp127), FER_F32, &(float){0x1.fffffep127f});
    check_refused(of_float(0x1.ffffffp127), FER_F32, "is too large for f32");
    check_refused(of_float(-1e60), FER_F32, "-1e+60 is too large");
    check_stored(of_float(65519.99), FER_F16, &(uint16_t){0x7bff});
    check_refused(of_float(65520), FER_F16, "65520 is too large for f16");
    check_refused(of_float(0x1.ffp127), FER_BF16, "is too large");
    check_stored(of_float(-464), FER_F8E4M3FN, &(uint8_t){0xfe});
    check_refused(of_float(465), FER_F8E4M3FN, "465 is too large");
    check_stored(of_float(61439), FER_F8E5M2, &(uint8_t){0x7b});
    check_refused(of_float(61440), FER_F8E5M2, "is too large");
}

static void test_infinities_and_nans(void **state)
{
    (void)state;
    check_stored(of_float(INFINITY), FER_F64, &(double){INFINITY});
    check_stored(of_float(-INFINITY), FER_F32, &(float){-INFINITY});
    check_stored(of_float(INFINITY), FER_F16, &(uint16_t){0x7c00});
    check_stored(of_float(-INFINITY), FER_BF16, &(uint16_t){0xff80});
    check_stored(of_float(INFINITY), FER_F8E5M2, &(uint8_t){0x7c});
    check_refused(of_float(INFINITY), FER_F8E4M3FN, "inf does not fit");
    check_refused(of_float(-INFINITY), FER_F8E4M3FN, "which has no infinity");
    check_stored(of_float(NAN), FER_F16, &(uint16_t){0x7e00});
    check_stored(of_float(NAN), FER_BF16, &(uint16_t){0x7fc0});
    check_stored(of_float(NAN), FER_F8E4M3FN, &(uint8_t){0x7f});
    check_stored(of_float(NAN), FER_F8E5M2, &(uint8_t){0x7e});
    fer_error error = FER_ERROR_INIT;
    float narrow = 0;
    ASSERT_OK(&error, fer_number_store(of_float(NAN), FER_F32, &narrow, &error));
    assert_true(isnan(narrow));
}

static void test_ints_must_be_exact_in_float_dtypes(void **state)
{
    (void)state;
    check_stored(of_int(-3), FER_F64, &(double){-3});
    check_stored(of_int(INT64_C(1) << 53), FER_F64, &(double){0x1p53});
    check_refused(of_int((INT64_C(1) << 53) + 1), FER_F64, "9007199254740993 has no exact f64");
    check_refused(of_int(INT64_MAX), FER_F64, "no exact");
    check_stored(of_int(INT64_MIN), FER_F64, &(double){-0x1p63});
    check_stored(of_int(INT64_MIN), FER_F32, &(float){-0x1p63f});
    check_stored(of_int(16777216), FER_F32, &(float){16777216});
    check_refused(of_int(16777217), FER_F32, "write 16777217.0 to have it rounded");
    check_stored(of_int(2048), FER_F16, &(uint16_t){0x6800});
    check_refused(of_int(2049), FER_F16, "no exact");
    check_refused(of_int(70000), FER_F16, "too large");
    check_stored(of_int(256), FER_BF16, &(uint16_t){0x4380});
    check_refused(of_int(257), FER_BF16, "no exact");
    check_stored(of_int(-16), FER_F8E4M3FN, &(uint8_t){0xd8});
    check_refused(of_int(17), FER_F8E4M3FN, "no exact");
    check_refused(of_int(9), FER_F8E5M2, "no exact");
}

static void test_bool_is_apart(void **state)
{
    (void)state;
    check_stored(of_bool(true), FER_BOOL, &(uint8_t){1});
    check_stored(of_bool(false), FER_BOOL, &(uint8_t){0});
    check_refused(of_int(1), FER_BOOL, "1 is a number, but bool takes true or false");
    check_refused(of_float(0), FER_BOOL, "takes true or false");
    for (fer_dtype dtype = FER_I8; dtype <= FER_F8E5M2; dtype++)
        check_refused(of_bool(true), dtype, "true goes only to bool");
}

static const fer_dtype SMALL[] = {FER_F16, FER_BF16, FER_F8E4M3FN, FER_F8E5M2};
#define NUM_SMALL (sizeof SMALL / sizeof *SMALL)

static uint32_t sign_bit(fer_dtype dtype)
{
    return 1u << (8 * fer_dtype_bytes(dtype) - 1);
}

static void test_small_floats_decode(void **state)
{
    (void)state;
    static const struct {
        fer_dtype dtype;
        uint16_t bits;
        double value;
    } known[] = {
        {FER_F16, 0x3c00, 1},          {FER_F16, 0x7bff, 65504},       {FER_F16, 0x0001, 0x1p-24},
        {FER_F16, 0x0400, 0x1p-14},    {FER_F16, 0xc248, -3.140625},   {FER_F16, 0x7c00, INFINITY},
        {FER_BF16, 0x3f80, 1},         {FER_BF16, 0x7f7f, 0x1.fep127}, {FER_BF16, 0x0001, 0x1p-133},
        {FER_BF16, 0xff80, -INFINITY}, {FER_BF16, 0x4049, 3.140625},   {FER_F8E4M3FN, 0x38, 1},
        {FER_F8E4M3FN, 0x7e, 448},     {FER_F8E4M3FN, 0x01, 0x1p-9},   {FER_F8E4M3FN, 0xfe, -448},
        {FER_F8E4M3FN, 0x78, 256},     {FER_F8E5M2, 0x3c, 1},          {FER_F8E5M2, 0x7b, 57344},
        {FER_F8E5M2, 0x01, 0x1p-16},   {FER_F8E5M2, 0xfc, -INFINITY},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fer_small_float_decode(known[i].dtype, known[i].bits) == known[i].value);
    assert_true(isnan(fer_small_float_decode(FER_F16, 0x7c01)));
    assert_true(isnan(fer_small_float_decode(FER_BF16, 0xffff)));
    assert_true(isnan(fer_small_float_decode(FER_F8E4M3FN, 0x7f)));
    assert_true(isnan(fer_small_float_decode(FER_F8E4M3FN, 0xff)));
    assert_true(isnan(fer_small_float_decode(FER_F8E5M2, 0x7d)));
    for (size_t i = 0; i < NUM_SMALL; i++)
        assert_true(signbit(fer_small_float_decode(SMALL[i], (uint16_t)sign_bit(SMALL[i]))));
}

static void test_every_small_float_returns(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_SMALL; i++) {
        for (uint32_t bits = 0; bits < 2 * sign_bit(SMALL[i]); bits++) {
            double value = fer_small_float_decode(SMALL[i], (uint16_t)bits);
            uint16_t again = fer_small_float_encode(SMALL[i], value);
            if (isnan(value))
                assert_true(isnan(fer_small_float_decode(SMALL[i], again)));
            else
                assert_int_equal(again, bits);
        }
    }
}

/* Between every two neighbours: the middle goes to the even one, and the doubles nearest to the
 * middle to the side that they are on. */
static void test_every_halfway_point_rounds_to_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_SMALL; i++) {
        fer_dtype dtype = SMALL[i];
        uint32_t sign = sign_bit(dtype);
        for (uint32_t low = 0;; low++) {
            double below = fer_small_float_decode(dtype, (uint16_t)low);
            double above = fer_small_float_decode(dtype, (uint16_t)(low + 1));
            if (!isfinite(above))
                break;
            double middle = below + (above - below) / 2;
            uint32_t even = low % 2 == 0 ? low : low + 1;
            assert_int_equal(fer_small_float_encode(dtype, middle), even);
            assert_int_equal(fer_small_float_encode(dtype, -middle), even | sign);
            assert_int_equal(fer_small_float_encode(dtype, nextafter(middle, 0)), low);
            assert_int_equal(fer_small_float_encode(dtype, nextafter(middle, INFINITY)), low + 1);
            assert_int_equal(fer_small_float_encode(dtype, -nextafter(middle, INFINITY)),
                             (low + 1) | sign);
        }
    }
}

/* Through a float these would round twice, and wrongly. */
static void test_small_floats_round_once(void **state)
{
    (void)state;
    assert_int_equal(fer_small_float_encode(FER_F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(fer_small_float_encode(FER_BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
    assert_int_equal(fer_small_float_encode(FER_F8E4M3FN, 1 + 0x1p-4 + 0x1p-40), 0x39);
    assert_int_equal(fer_small_float_encode(FER_F8E5M2, 1 + 0x1p-3 + 0x1p-40), 0x3d);
    assert_int_equal(fer_small_float_encode(FER_F16, 0x1p-25), 0);
    assert_int_equal(fer_small_float_encode(FER_F16, 0x1p-25 + 0x1p-70), 1);
    assert_int_equal(fer_small_float_encode(FER_BF16, 0x1p-1074), 0);
    assert_int_equal(fer_small_float_encode(FER_BF16, 0x1.fffffffffffffp1023), 0x7f80);
    assert_false(fer_dtype_is_small_float(FER_F32));
    assert_false(fer_dtype_is_small_float(FER_U8));
    assert_true(fer_dtype_is_small_float(FER_F8E5M2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ints_to_integer_dtypes),
        cmocka_unit_test(test_unsigned_integers),
        cmocka_unit_test(test_numbers_from_text),
        cmocka_unit_test(test_what_is_no_number),
        cmocka_unit_test(test_refusals_fill_the_members),
        cmocka_unit_test(test_floats_to_integer_dtypes),
        cmocka_unit_test(test_floats_round_to_float_dtypes),
        cmocka_unit_test(test_too_large_floats_are_refused),
        cmocka_unit_test(test_infinities_and_nans),
        cmocka_unit_test(test_ints_must_be_exact_in_float_dtypes),
        cmocka_unit_test(test_bool_is_apart),
        cmocka_unit_test(test_small_floats_decode),
        cmocka_unit_test(test_every_small_float_returns),
        cmocka_unit_test(test_every_halfway_point_rounds_to_even),
        cmocka_unit_test(test_small_floats_round_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
