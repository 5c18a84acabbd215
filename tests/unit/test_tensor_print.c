/* Tensors as text, for people. */
#include "testing.h"

#include <ferrule/tensor.h>
#include <locale.h>
#include <math.h>

static const fer_device HOST = {0};

static void check_printed(const fer_tensor *tensor, const char *expected)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    ASSERT_OK(&error, fer_tensor_print(tensor, &text, &error));
    assert_string_equal(text, expected);
    fer_string_free(text);
}

static void check_elements(fer_dtype dtype, size_t rank, const int64_t *shape, const void *data,
                           const char *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(dtype, rank, shape, data, HOST, &tensor, &error));
    check_printed(tensor, expected);
    fer_tensor_release(tensor);
}

static void check_counting(size_t rank, const int64_t *shape, int64_t count, const char *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *line = NULL;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_arange(FER_I32, (fer_number){.value.as_int = 0},
                                        (fer_number){.value.as_int = count},
                                        (fer_number){.value.as_int = 1}, HOST, &line, &error));
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I32, rank, shape, fer_tensor_const_data(line), HOST,
                                           &tensor, &error));
    check_printed(tensor, expected);
    fer_tensor_release(line);
    fer_tensor_release(tensor);
}

static void test_dtypes(void **state)
{
    (void)state;
    int64_t two[] = {2};
    int64_t four[] = {4};
    check_elements(FER_BOOL, 1, two, (uint8_t[]){1, 0}, "bool[2]\n[ true, false]");
    check_elements(FER_I8, 1, two, (int8_t[]){-128, 127}, "i8[2]\n[-128,  127]");
    check_elements(FER_I16, 1, two, (int16_t[]){-32768, 7}, "i16[2]\n[-32768,      7]");
    check_elements(FER_I32, 1, two, (int32_t[]){INT32_MIN, 0},
                   "i32[2]\n[-2147483648,           0]");
    check_elements(FER_I64, 0, NULL, &(int64_t){INT64_MIN}, "i64[]\n-9223372036854775808");
    check_elements(FER_U8, 1, two, (uint8_t[]){255, 1}, "u8[2]\n[255,   1]");
    check_elements(FER_U16, 0, NULL, &(uint16_t){65535}, "u16[]\n65535");
    check_elements(FER_U32, 0, NULL, &(uint32_t){UINT32_MAX}, "u32[]\n4294967295");
    check_elements(FER_U64, 0, NULL, &(uint64_t){UINT64_MAX}, "u64[]\n18446744073709551615");
    check_elements(FER_F64, 1, four, (double[]){0.1, -2, 1e300, 1.0 / 3},
                   "f64[4]\n[     0.1,       -2,   1e+300, 0.333333]");
    check_elements(FER_F32, 1, four, (float[]){INFINITY, -INFINITY, -NAN, 0.1f},
                   "f32[4]\n[ inf, -inf,  nan,  0.1]");
    check_elements(FER_F16, 1, two, (uint16_t[]){0x3c00, 0xc248}, "f16[2]\n[       1, -3.14062]");
    check_elements(FER_BF16, 1, two, (uint16_t[]){0x3f00, 0x7f80}, "bf16[2]\n[0.5, inf]");
    check_elements(FER_F8E4M3FN, 1, two, (uint8_t[]){0x7e, 0x7f}, "f8e4m3fn[2]\n[448, nan]");
    check_elements(FER_F8E5M2, 0, NULL, &(uint8_t){0xfc}, "f8e5m2[]\n-inf");
}

static void test_shapes(void **state)
{
    (void)state;
    check_counting(2, (int64_t[]){3, 4}, 12,
                   "i32[3, 4]\n"
                   "[[ 0,  1,  2,  3],\n"
                   " [ 4,  5,  6,  7],\n"
                   " [ 8,  9, 10, 11]]");
    check_counting(3, (int64_t[]){2, 2, 2}, 8,
                   "i32[2, 2, 2]\n"
                   "[[[0, 1],\n"
                   "  [2, 3]],\n"
                   "\n"
                   " [[4, 5],\n"
                   "  [6, 7]]]");
    check_counting(8, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1}, 1,
                   "i32[1, 1, 1, 1, 1, 1, 1, 1]\n[[[[[[[[0]]]]]]]]");
    check_counting(1, (int64_t[]){0}, 0, "i32[0]\n[]");
    check_counting(3, (int64_t[]){2, 0, 3}, 0, "i32[2, 0, 3]\n[]");
}

static void test_long_axes_are_shortened(void **state)
{
    (void)state;
    check_counting(1, (int64_t[]){1001}, 1001,
                   "i32[1001]\n[   0,    1,    2, ...,  998,  999, 1000]");
    check_counting(2, (int64_t[]){7, 200}, 1400,
                   "i32[7, 200]\n"
                   "[[   0,    1,    2, ...,  197,  198,  199],\n"
                   " [ 200,  201,  202, ...,  397,  398,  399],\n"
                   " [ 400,  401,  402, ...,  597,  598,  599],\n"
                   " ...,\n"
                   " [ 800,  801,  802, ...,  997,  998,  999],\n"
                   " [1000, 1001, 1002, ..., 1197, 1198, 1199],\n"
                   " [1200, 1201, 1202, ..., 1397, 1398, 1399]]");
    /* An axis of six is whole. */
    check_counting(2, (int64_t[]){200, 6}, 1200,
                   "i32[200, 6]\n"
                   "[[   0,    1,    2,    3,    4,    5],\n"
                   " [   6,    7,    8,    9,   10,   11],\n"
                   " [  12,   13,   14,   15,   16,   17],\n"
                   " ...,\n"
                   " [1182, 1183, 1184, 1185, 1186, 1187],\n"
                   " [1188, 1189, 1190, 1191, 1192, 1193],\n"
                   " [1194, 1195, 1196, 1197, 1198, 1199]]");
}

/* A thousand elements are shown whole, over several lines of the same columns. */
static void test_full_rows_go_on_below(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    char *text = NULL;
    ASSERT_OK(&error, fer_tensor_full(FER_I32, 1, &(int64_t){1000}, HOST,
                                      (fer_number){.value.as_int = 12345}, &tensor, &error));
    ASSERT_OK(&error, fer_tensor_print(tensor, &text, &error));
    size_t num_elements = 0;
    for (const char *p = text; (p = strstr(p, "12345")) != NULL; p++)
        num_elements++;
    assert_int_equal(num_elements, 1000);
    assert_null(strstr(text, "..."));
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(strlen(line) <= 100);
        assert_true(line[0] == ' ' || line[0] == '[' || line[0] == 'i');
    }
    fer_string_free(text);
    fer_tensor_release(tensor);
}

static void test_the_locale_is_not_asked(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
        if (setlocale(LC_NUMERIC, commas[i]) != NULL)
            break;
    check_elements(FER_F32, 0, NULL, &(float){1.5f}, "f32[]\n1.5");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_long_axes_are_shortened),
        cmocka_unit_test(test_full_rows_go_on_below),
        cmocka_unit_test(test_the_locale_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
