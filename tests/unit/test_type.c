/* Tensor types: limits, text, equality, parsing inside a larger text. */
#include "testing.h"

#include "types/expression.h"

#define HOST ((fer_device){0})

static fer_dim *constant(int64_t value)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = NULL;
    ASSERT_OK(&error, fer_dim_constant(value, &dim, &error));
    return dim;
}

static fer_type *parse(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_type *type = NULL;
    ASSERT_OK(&error, fer_type_parse(text, &type, &error));
    return type;
}

static void assert_prints(const char *text, const char *expected)
{
    fer_type *type = parse(text);
    assert_string_equal(fer_type_text(type), expected);
    fer_type *again = parse(fer_type_text(type));
    assert_true(fer_type_equal(type, again));
    fer_type_release(type);
    fer_type_release(again);
}

#define ASSERT_REFUSED(kind, text, ...)                                                            \
    do {                                                                                           \
        fer_error refused = FER_ERROR_INIT;                                                        \
        fer_type *nothing = (fer_type *)&refused;                                                  \
        ASSERT_FAILS(&refused, kind, fer_type_parse(text, &nothing, &refused), __VA_ARGS__);       \
        assert_null(nothing);                                                                      \
    } while (0)

static void test_text(void **state)
{
    (void)state;
    assert_prints("f32[]", "f32[]");
    assert_prints("float32[ 2,w//2 , 3 ]", "f32[2, w // 2, 3]");
    assert_prints("bf16[n, 0]", "bf16[n, 0]");
    assert_prints("bool[n % 3 + 1]", "bool[n % 3 + 1]");
    assert_prints("float8_e4m3fn[1, 2, 3, 4, 5, 6, 7, 8]", "f8e4m3fn[1, 2, 3, 4, 5, 6, 7, 8]");
}

static void test_parts(void **state)
{
    (void)state;
    fer_type *type = parse("i16[n, 4]");
    fer_type *shared = fer_type_retain(type);
    fer_type_release(type);
    assert_int_equal(fer_type_dtype(shared), FER_I16);
    assert_int_equal(fer_type_rank(shared), 2);
    assert_int_equal(fer_type_device(shared).id, 0);
    assert_string_equal(fer_dim_text(fer_type_dim(shared, 0)), "n");
    assert_string_equal(fer_dim_text(fer_type_dim(shared, 1)), "4");
    fer_type_release(shared);
    fer_type_release(NULL);
}

static void test_equality(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"f32[n, 2]",    "f64[n, 2]", "f32[m, 2]", "f32[n]",
                                        "f32[n, 2, 1]", "f32[n, 3]", "f32[2, n]"};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            fer_type *a = parse(TEXTS[i]), *b = parse(TEXTS[j]);
            assert_int_equal(fer_type_equal(a, b), i == j);
            fer_type_release(a);
            fer_type_release(b);
        }
    fer_type *a = parse("f32[(n + 1) * 2]"), *b = parse("f32[2 * n + 2]");
    assert_true(fer_type_equal(a, b));
    fer_type_release(a);
    fer_type_release(b);
}

static void test_an_open_dim_equals_nothing(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *two = constant(2);
    fer_type *type;
    ASSERT_OK(&error,
              fer_type_create(FER_F32, 2, (const fer_dim *[]){NULL, two}, HOST, &type, &error));
    assert_string_equal(fer_type_text(type), "f32[?, 2]");
    assert_null(fer_type_dim(type, 0));
    assert_false(fer_type_equal(type, type));
    fer_type_release(type);
    fer_dim_release(two);
}

static void test_devices_are_part_of_a_type(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_type *first, *second;
    ASSERT_OK(&error, fer_type_create(FER_F32, 0, NULL, HOST, &first, &error));
    ASSERT_OK(&error, fer_type_create(FER_F32, 0, NULL, (fer_device){1}, &second, &error));
    assert_false(fer_type_equal(first, second));
    assert_int_equal(fer_type_device(second).id, 1);
    assert_string_equal(fer_type_text(first), "f32[]");
    assert_string_equal(fer_type_text(second), "f32[] @ 1");
    fer_type_release(first);
    ASSERT_OK(&error, fer_type_parse("f32[]@1", &first, &error));
    assert_true(fer_type_equal(first, second));
    fer_type_release(first);
    fer_type_release(second);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_type_parse("f32[n] @ 2", &first, &error),
                 "column 10: there is no device 2");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_type_parse("f32[n] @ n", &first, &error),
                 "column 10: expected the number of a device");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_type_parse("f32[n] @ 1234567890", &first, &error),
                 "the number of a device");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_type_create(FER_F32, 0, NULL, (fer_device){2}, &first, &error), "device 2");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_type_create(FER_F32, 0, NULL, (fer_device){-1}, &first, &error), "device -1");
    assert_null(first);
}

static void test_sizes_are_checked(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "f32[4294967296, 4294967296]", "f32[4294967296, 4294967296]",
                   "elements");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "f32[n, 4294967296, 4294967296]", "elements");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "f32[2305843009213693952]", "bytes");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "f64[2, 576460752303423488]", "bytes");
    assert_prints("f32[2305843009213693951]", "f32[2305843009213693951]");
    assert_prints("u8[9223372036854775807]", "u8[9223372036854775807]");
    assert_prints("f32[1099511627776, 1099511627776, 0]", "f32[1099511627776, 1099511627776, 0]");
    assert_prints("f32[0, 9223372036854775807]", "f32[0, 9223372036854775807]");
}

static void test_negative_static_dims(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[-1]", "axis 0", "-1", "negative");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[2, 3 - 4]", "axis 1", "-1");
    assert_prints("f32[n - 4]", "f32[n - 4]");
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = constant(-3);
    fer_type *type;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_type_create(FER_F32, 1, (const fer_dim *[]){dim}, HOST, &type, &error),
                 "axis 0", "-3");
    fer_dim_release(dim);
}

static void test_signature_names_are_reserved(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *n, *one = constant(1), *sum;
    fer_type *type;
    for (int space = FER_NAMESPACE_SIGNATURE; space <= FER_NAMESPACE_PARAMETER; space++) {
        ASSERT_OK(&error, fer_dim_symbol((fer_namespace)space, "n", &n, &error));
        ASSERT_OK(&error, fer_dim_add(n, one, &sum, &error));
        const fer_dim *dims[] = {one, sum};
        ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_type_create(FER_F32, 2, dims, HOST, &type, &error),
                     "axis 1", "n + 1", "reserved");
        assert_null(type);
        fer_dim_release(n);
        fer_dim_release(sum);
    }
    fer_dim_release(one);
}

static void test_dtype_and_rank_are_checked(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_type *type;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_type_create(FER_DTYPE_INVALID, 0, NULL, HOST, &type, &error), "dtype");
    const fer_dim *dims[9] = {NULL};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_type_create(FER_F32, 9, dims, HOST, &type, &error),
                 "rank 9", "8");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[1, 2, 3, 4, 5, 6, 7, 8, 9]", "column 29", "8");
}

static void test_faults_name_their_place(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_TYPE_ERROR, "f33[n]", "column 1", "'f33'", "'f32'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "", "column 1", "dtype");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32", "column 4", "'['");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[n", "column 6", "']'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[n,]", "column 7", "dim");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[n w]", "column 7", "']'", "','");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[*s]", "column 5", "signatures");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[n / 2]", "column 7", "'//'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[?]", "column 5");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f32[n] x", "column 8", "end");
    ASSERT_REFUSED(FER_ZERO_DIVISION_ERROR, "f32[n // 0]", "column 7");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "f32[9223372036854775808]", "column 5");
}

static void test_parsing_stops_at_the_bracket(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_lexer lexer;
    fer_lexer_start(&lexer, "f32[n, 2] -> f64[]", NULL, false);
    fer_type *type;
    ASSERT_OK(&error, fer_type_parse_tokens(&lexer, &type, &error));
    assert_string_equal(fer_type_text(type), "f32[n, 2]");
    assert_true(fer_lexer_at(&lexer, "->"));
    fer_type_release(type);

    fer_lexer_start(&lexer, "\n  f32[n,\n  -1]", "half.fer", true);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_type_parse_tokens(&lexer, &type, &error),
                 "half.fer:2:3", "axis 1");
    assert_null(type);
}

static fer_namespace only_g_is_a_parameter(void *context, const char *name)
{
    ++*(int *)context;
    return strcmp(name, "g") == 0 ? FER_NAMESPACE_PARAMETER : FER_NAMESPACE_SIGNATURE;
}

static void test_expressions_resolve_names(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_lexer lexer;
    fer_lexer_start(&lexer, "w // g < 4", NULL, false);
    int num_asked = 0;
    fer_dim *dim;
    ASSERT_OK(&error,
              fer_expression_parse(&lexer, only_g_is_a_parameter, &num_asked, &dim, &error));
    assert_int_equal(num_asked, 2);
    assert_true(fer_lexer_at(&lexer, "<"));
    fer_namespace space;
    assert_int_equal(fer_dim_num_symbols(dim), 2);
    assert_string_equal(fer_dim_symbol_at(dim, 0, &space), "w");
    assert_int_equal(space, FER_NAMESPACE_SIGNATURE);
    assert_string_equal(fer_dim_symbol_at(dim, 1, &space), "g");
    assert_int_equal(space, FER_NAMESPACE_PARAMETER);
    fer_dim_release(dim);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_an_open_dim_equals_nothing),
        cmocka_unit_test(test_devices_are_part_of_a_type),
        cmocka_unit_test(test_sizes_are_checked),
        cmocka_unit_test(test_negative_static_dims),
        cmocka_unit_test(test_signature_names_are_reserved),
        cmocka_unit_test(test_dtype_and_rank_are_checked),
        cmocka_unit_test(test_faults_name_their_place),
        cmocka_unit_test(test_parsing_stops_at_the_bracket),
        cmocka_unit_test(test_expressions_resolve_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
