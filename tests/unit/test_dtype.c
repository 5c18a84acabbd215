/* Element types and logical devices. */
#include "testing.h"

#include <ferrule/dtype.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct expectation {
    fer_dtype dtype;
    const char *name;
    const char *long_name;
    size_t bytes;
    int code;
} expectation;

static const expectation ALL[] = {
    {FER_BOOL, "bool", "bool", 1, 6},
    {FER_I8, "i8", "int8", 1, 0},
    {FER_I16, "i16", "int16", 2, 0},
    {FER_I32, "i32", "int32", 4, 0},
    {FER_I64, "i64", "int64", 8, 0},
    {FER_U8, "u8", "uint8", 1, 1},
    {FER_U16, "u16", "uint16", 2, 1},
    {FER_U32, "u32", "uint32", 4, 1},
    {FER_U64, "u64", "uint64", 8, 1},
    {FER_F16, "f16", "float16", 2, 2},
    {FER_BF16, "bf16", "bfloat16", 2, 4},
    {FER_F32, "f32", "float32", 4, 2},
    {FER_F64, "f64", "float64", 8, 2},
    {FER_F8E4M3FN, "f8e4m3fn", "float8_e4m3fn", 1, 10},
    {FER_F8E5M2, "f8e5m2", "float8_e5m2", 1, 12},
};
#define NUM_ALL (sizeof ALL / sizeof *ALL)

static void test_every_dtype(void **state)
{
    (void)state;
    assert_int_equal(NUM_ALL, FER_NUM_DTYPES - 1);
    fer_error error = FER_ERROR_INIT;
    for (size_t i = 0; i < NUM_ALL; i++) {
        const expectation *e = &ALL[i];
        assert_string_equal(fer_dtype_name(e->dtype), e->name);
        assert_string_equal(fer_dtype_long_name(e->dtype), e->long_name);
        assert_int_equal(fer_dtype_bytes(e->dtype), e->bytes);
        assert_int_equal(fer_dtype_dlpack_code(e->dtype), e->code);
        assert_int_equal(fer_dtype_dlpack_bits(e->dtype), 8 * e->bytes);
        assert_int_equal(fer_dtype_from_dlpack((uint8_t)e->code, (uint8_t)(8 * e->bytes), 1),
                         e->dtype);
        fer_dtype dtype;
        ASSERT_OK(&error, fer_dtype_parse(e->name, strlen(e->name), &dtype, &error));
        assert_int_equal(dtype, e->dtype);
        ASSERT_OK(&error, fer_dtype_parse(e->long_name, strlen(e->long_name), &dtype, &error));
        assert_int_equal(dtype, e->dtype);
    }
}

static void test_what_is_no_dtype(void **state)
{
    (void)state;
    static const int NONE[] = {FER_DTYPE_INVALID, FER_NUM_DTYPES, 1000, -1};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        assert_null(fer_dtype_name((fer_dtype)NONE[i]));
        assert_int_equal(fer_dtype_bytes((fer_dtype)NONE[i]), 0);
        assert_int_equal(fer_dtype_dlpack_bits((fer_dtype)NONE[i]), 0);
    }
    fer_error error = FER_ERROR_INIT;
    fer_dtype dtype = FER_F32;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dtype_parse("f33", 3, &dtype, &error), "'f33'",
                 "'f32'");
    assert_int_equal(dtype, FER_DTYPE_INVALID);
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dtype_parse("", 0, &dtype, &error), "dtype");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dtype_parse("F32", 3, &dtype, &error), "'F32'");
    char *text = calloc(1, 5000);
    assert_non_null(text);
    memset(text, 'f', 4999);
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dtype_parse(text, 4999, &dtype, &error), "ffff");
    free(text);
}

static void assert_meant(const char *text, const char *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_dtype dtype;
    char words[64];
    snprintf(words, sizeof words, "unknown dtype '%s'; did you mean '%s'?", text, expected);
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dtype_parse(text, strlen(text), &dtype, &error),
                 words);
}

static void test_names_of_other_languages(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"int", "i64"},      {"long", "i64"},        {"float", "f32"},    {"double", "f64"},
        {"half", "f16"},     {"char", "i8"},         {"unsigned", "u32"}, {"size_t", "u64"},
        {"boolean", "bool"}, {"F32", "f32"},         {"Float64", "f64"},  {"DOUBLE", "f64"},
        {"int32_t", "i32"},  {"uint8_t", "u8"},      {"fp32", "f32"},     {"float8", "f8e4m3fn"},
        {"bfloat", "bf16"},  {"f8e4m3", "f8e4m3fn"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_meant(ROWS[i][0], ROWS[i][1]);
}

static void test_what_is_nothing_like_a_dtype_lists_them(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dtype dtype;
    static const char *const NAMES[] = {"T", "number", "complex64", "string"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        ASSERT_FAILS(&error, FER_TYPE_ERROR,
                     fer_dtype_parse(NAMES[i], strlen(NAMES[i]), &dtype, &error), NAMES[i],
                     "; the dtypes are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, "
                     "f64, f8e4m3fn and f8e5m2");
}

static void test_names_need_no_terminator(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dtype dtype;
    ASSERT_OK(&error, fer_dtype_parse("f64[n]", 3, &dtype, &error));
    assert_int_equal(dtype, FER_F64);
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dtype_parse("f64[n]", 4, &dtype, &error), "'f64['");
}

static void test_dlpack_types_without_a_dtype(void **state)
{
    (void)state;
    assert_int_equal(fer_dtype_from_dlpack(2, 32, 2), FER_DTYPE_INVALID);
    assert_int_equal(fer_dtype_from_dlpack(2, 32, 0), FER_DTYPE_INVALID);
    assert_int_equal(fer_dtype_from_dlpack(2, 8, 1), FER_DTYPE_INVALID);
    assert_int_equal(fer_dtype_from_dlpack(5, 64, 1), FER_DTYPE_INVALID);
    assert_int_equal(fer_dtype_from_dlpack(0, 0, 1), FER_DTYPE_INVALID);
    assert_int_equal(fer_dtype_from_dlpack(3, 64, 1), FER_DTYPE_INVALID);
}

static void test_classes(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUM_ALL; i++) {
        uint32_t bit = FER_DTYPE_BIT(ALL[i].dtype);
        char first = ALL[i].name[0];
        assert_int_equal((FER_ANY_SIGNED & bit) != 0, first == 'i');
        assert_int_equal((FER_ANY_UNSIGNED & bit) != 0, first == 'u');
        assert_int_equal((FER_ANY_INT & bit) != 0, first == 'i' || first == 'u');
        bool is_float = strstr(ALL[i].name, "f8") == NULL && strchr(ALL[i].name, 'f') != NULL;
        assert_int_equal((FER_ANY_FLOAT & bit) != 0, is_float);
    }
}

/* The variable is read once in a process, so each value has a process of its own. */
static int count_devices_with(const char *value)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (value == NULL)
            unsetenv("FERRULE_HOST_DEVICES");
        else
            setenv("FERRULE_HOST_DEVICES", value, 1);
        int count = fer_device_count();
        setenv("FERRULE_HOST_DEVICES", "5", 1);
        _exit(count == fer_device_count() ? count : 99);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_devices(void **state)
{
    (void)state;
    assert_int_equal(count_devices_with(NULL), 1);
    assert_int_equal(count_devices_with("2"), 2);
    assert_int_equal(count_devices_with("1"), 1);
    assert_int_equal(count_devices_with("16"), 16);
    static const char *const JUNK[] = {
        "", "0", "17", "-2", "+2", "2x", " 2", "2 ", "two", "1.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof JUNK / sizeof *JUNK; i++)
        assert_int_equal(count_devices_with(JUNK[i]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_dtype),
        cmocka_unit_test(test_what_is_no_dtype),
        cmocka_unit_test(test_names_of_other_languages),
        cmocka_unit_test(test_what_is_nothing_like_a_dtype_lists_them),
        cmocka_unit_test(test_names_need_no_terminator),
        cmocka_unit_test(test_dlpack_types_without_a_dtype),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
