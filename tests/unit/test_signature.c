/* Declaring: what a signature may be, folding of parameters, specialising, equality; through text
 * and through the structs. */
#include "testing.h"

#include "signature/unify.h"
#include <math.h>

static fer_error error = FER_ERROR_INIT;

static fer_signature *parse(const char *text)
{
    fer_signature *signature = NULL;
    ASSERT_OK(&error, fer_signature_parse(text, &signature, &error));
    return signature;
}

static void check_fails(const char *text, fer_status kind, const char *word, const char *word2)
{
    fer_signature *signature;
    ASSERT_FAILS(&error, kind, fer_signature_parse(text, &signature, &error), word, word2);
    assert_null(signature);
}

static void check_equal(const char *a, const char *b, bool expected)
{
    fer_signature *left = parse(a);
    fer_signature *right = parse(b);
    char *left_identity;
    char *right_identity;
    ASSERT_OK(&error, fer_signature_identity(left, &left_identity, &error));
    ASSERT_OK(&error, fer_signature_identity(right, &right_identity, &error));
    if (fer_signature_equal(left, right) != expected)
        fail_msg("%s and %s", a, b);
    assert_int_equal(fer_signature_equal(right, left), expected);
    assert_int_equal(strcmp(left_identity, right_identity) == 0, expected);
    free(left_identity);
    free(right_identity);
    fer_signature_release(left);
    fer_signature_release(right);
}

static void test_table(void **state)
{
    (void)state;
    testing_table table = testing_table_read("declare.tsv");
    assert_true(table.num_rows >= 37);
    for (size_t i = 0; i < table.num_rows; i++) {
        const testing_row *row = &table.rows[i];
        fer_signature *signature;
        fer_status status = fer_signature_parse(row->columns[0], &signature, &error);
        bool is_ok = strcmp(row->columns[1], "ok") == 0;
        fer_status expected = is_ok ? FER_OK : testing_status(row->columns[1]);
        if (status != expected)
            fail_msg("row %zu: %s: %s: %s", row->line, row->columns[0], fer_status_name(status),
                     error.message == NULL ? "" : error.message);
        char words[256];
        snprintf(words, sizeof words, "%s", row->columns[2]);
        for (char *word = strtok(words, ";"); word != NULL; word = strtok(NULL, ";"))
            if (strstr(error.message, word) == NULL)
                fail_msg("row %zu: '%s' lacks '%s'", row->line, error.message, word);
        fer_error_clear(&error);
        fer_signature_release(signature);
    }
    testing_table_free(&table);
}

static void test_numbers_of_things(void **state)
{
    (void)state;
    check_fails("f() -> f32[3]", FER_VALUE_ERROR, "f: ", "operand");
    check_fails("f() -> () effect", FER_VALUE_ERROR, "f: ", "operand");
    check_fails("f(x: f32[n]) -> ()", FER_VALUE_ERROR, "result", "inout");
    fer_signature_release(parse("f(inout x: f32[n]) -> ()"));
    fer_signature_release(parse("f(x: f32[n]) -> () effect"));
}

static void test_one_role_for_a_name(void **state)
{
    (void)state;
    check_fails("f(x: f32[n], x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "'x'", "twice");
    check_fails("f(x: f32[n]) -> (y: f32[n], y: f32[n])", FER_VALUE_ERROR, "'y'", "twice");
    check_fails("f<T, T>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "'T'", "twice");
    check_fails("f<g: int, g: int>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "'g'", "twice");
    check_fails("f<T, T: int>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "'T'", "role");
    check_fails("f<T>(x: T[T]) -> T[1]", FER_VALUE_ERROR, "'T'", "role");
    check_fails("f<T>(x: T[n]) -> T[n + T]", FER_VALUE_ERROR, "'T'", "role");
    check_fails("f<T>(x: T[*T]) -> T[1]", FER_VALUE_ERROR, "'T'", "role");
    check_fails("f<g: int = 1>(x: f32[*g]) -> f32[1]", FER_VALUE_ERROR, "'g'", "role");
    check_fails("f(x: f32[*s], y: f32[s]) -> f32[1]", FER_VALUE_ERROR, "'s'", "role");
    check_fails("f(x: f32[*s]) -> f32[s]", FER_VALUE_ERROR, "'s'", "role");
    check_fails("f(x: f32[*s, n]) -> f32[n] where n == s", FER_VALUE_ERROR, "'s'", "role");
    check_fails("f(x: f32[*s, *t]) -> f32[*s]", FER_VALUE_ERROR, "'x'", "run");
    check_fails("f(x: f32[n]) -> f32[*s]", FER_VALUE_ERROR, "'*s'", "result 0");
    /* Operands are a namespace of their own, and so are results. */
    fer_signature_release(parse("f<T, g: int = 2>(T: T[f], g: f32[g], f: f32[*s]) -> (T: T[f])"));
}

static void test_bindable_dims(void **state)
{
    (void)state;
    check_fails("f(x: f32[n // 2]) -> f32[n]", FER_TYPE_ERROR, "operand 'x' axis 0 ('n // 2')",
                "not directly bindable");
    check_fails("f<g: int>(x: f32[n, g]) -> f32[n]", FER_TYPE_ERROR, "operand 'x' axis 1 ('g')",
                "not directly bindable");
    check_fails("f<g: int>(x: f32[n, g // 2]) -> f32[n]", FER_TYPE_ERROR, "'g'",
                "not directly bindable");
    check_fails("f<g: int = 2>(x: f32[n + g]) -> f32[n]", FER_TYPE_ERROR, "'g + n'",
                "not directly bindable");
    check_fails("f(x: f32[-1]) -> f32[1]", FER_VALUE_ERROR, "'x'", "-1");
    check_fails("f<g: int = 2>(x: f32[g - 5]) -> f32[1]", FER_VALUE_ERROR, "is -3 with g = 2",
                "'g - 5'");
    check_fails("f<g: int = 2>(x: f32[n]) -> f32[g - 5]", FER_VALUE_ERROR, "is -3 with g = 2",
                "result 0 axis 0");
    fer_signature_release(parse("f<g: int = 4>(x: f32[n, g // 2, g - g, 0]) -> f32[n]"));
    /* The symbol goes when the parameter folds, and the dim is a number. */
    fer_signature_release(parse("f<g: int = 0>(x: f32[n, n * g]) -> f32[n]"));
}

static void test_only_int_parameters_are_dims(void **state)
{
    (void)state;
    static const char *const PARAMS[] = {"bool = true", "bool", "float = 1.0", "float",
                                         "str = \"a\"", "str",  "dtype = f32", "dtype"};
    static const char *const RESTS[] = {
        "x: f32[n, g]) -> f32[n]", "x: f32[n]) -> f32[g]", "x: f32[n]) -> f32[n // (g + 1)]",
        "x: f32[n, g // 2]) -> f32[n]", "x: f32[n]) -> f32[n] where n > g"};
    for (size_t i = 0; i < sizeof PARAMS / sizeof *PARAMS; i++) {
        for (size_t j = 0; j < sizeof RESTS / sizeof *RESTS; j++) {
            char text[128];
            char kind[16];
            snprintf(text, sizeof text, "f<g: %s>(%s", PARAMS[i], RESTS[j]);
            snprintf(kind, sizeof kind, "%.*s", (int)strcspn(PARAMS[i], " "), PARAMS[i]);
            check_fails(text, FER_TYPE_ERROR, "'g'", kind);
        }
    }
}

static void test_dtype_variables(void **state)
{
    (void)state;
    check_fails("f(x: f32[n]) -> T[n]", FER_TYPE_ERROR, "'T'", "column");
    check_fails("f<T>(x: f32[n]) -> T[n]", FER_TYPE_ERROR, "'T'", "operand");
    check_fails("f<T>(x: f32[n]) -> f32[n]", FER_TYPE_ERROR, "'T'", "operand");
    check_fails("f<g: int = 1>(x: g[n]) -> f32[n]", FER_TYPE_ERROR, "'g'", "dtype");
    check_fails("f<g: str = \"f32\">(x: f32[n]) -> g[n]", FER_TYPE_ERROR, "'g'", "dtype");
    fer_signature *signature = parse("cast<T, to: dtype = f32>(x: T[*s]) -> to[*s]");
    const fer_signature_spec *folded = fer_signature_folded(signature);
    assert_int_equal(folded->results[0].type.dtype, FER_F32);
    assert_null(folded->results[0].type.dtype_var);
    assert_string_equal(fer_signature_declared(signature)->results[0].type.dtype_var, "to");
    fer_signature_release(signature);
}

static void test_data_dependent_symbols(void **state)
{
    (void)state;
    check_fails("f(x: f32[n]) -> f32[k, k]", FER_VALUE_ERROR, "'k'", "SHAPE");
    check_fails("f(x: f32[n]) -> (f32[k], f32[k])", FER_VALUE_ERROR, "'k'", "SHAPE");
    check_fails("f(x: f32[n]) -> (f32[k], f32[k + 1])", FER_VALUE_ERROR, "'k'", "SHAPE");
    check_fails("f(x: f32[n]) -> f32[k // 2]", FER_VALUE_ERROR, "'k'", "SHAPE");
    check_fails("f(x: f32[n]) -> f32[n + k]", FER_VALUE_ERROR, "'k'", "SHAPE");
    check_fails("f(x: f32[n]) -> f32[k] where k > 0", FER_VALUE_ERROR, "'k'", "condition 'k > 0'");
    check_fails("f(x: f32[n]) -> f32[n] where m > 0", FER_VALUE_ERROR, "'m'", "condition 'm > 0'");
    fer_signature *signature = parse("f(x: f32[n, *s]) -> (f32[a, n], f32[*s, b])");
    assert_int_equal(fer_signature_num_open(signature), 2);
    assert_string_equal(fer_signature_open_at(signature, 0), "a");
    assert_string_equal(fer_signature_open_at(signature, 1), "b");
    assert_string_equal(fer_signature_open_symbol(signature, 0, 0), "a");
    assert_null(fer_signature_open_symbol(signature, 0, 1));
    assert_null(fer_signature_open_symbol(signature, 1, 0));
    assert_string_equal(fer_signature_open_symbol(signature, 1, 1), "b");
    fer_signature_release(signature);
}

static void test_conditions_at_declaration(void **state)
{
    (void)state;
    check_fails("f<g: int = 3>(x: f32[n]) -> f32[n] where g % 2 == 0", FER_VALUE_ERROR,
                "condition 'g % 2 == 0'", "with g = 3");
    check_fails("f(x: f32[n]) -> f32[n] where n < n", FER_VALUE_ERROR, "'n < n'", "false");
    check_fails("f(x: f32[n]) -> f32[n] where n + 1 <= n", FER_VALUE_ERROR, "'n + 1 <= n'",
                "false");
    check_fails("f<g: int = 0>(x: f32[n]) -> f32[n] where n % g == 0", FER_ZERO_DIVISION_ERROR,
                "f: condition 'n % g == 0'", "g = 0");
    fer_signature_release(parse("f<g: int = 4>(x: f32[n]) -> f32[n] where g % 2 == 0, n == n"));
    fer_signature_release(parse("f<g: int>(x: f32[n]) -> f32[n] where g % 2 == 0"));
}

static void test_folding(void **state)
{
    (void)state;
    fer_signature *signature =
        parse("f<g: int = 4, k: int>(x: f32[*s, g, n, g // 2]) -> f32[n // g, k] where n > g");
    const fer_signature_spec *folded = fer_signature_folded(signature);
    const fer_signature_spec *declared = fer_signature_declared(signature);
    assert_string_equal(fer_dim_text(folded->operands[0].type.axes[1].dim), "4");
    assert_string_equal(fer_dim_text(folded->operands[0].type.axes[3].dim), "2");
    assert_string_equal(fer_dim_text(folded->results[0].type.axes[0].dim), "n // 4");
    assert_string_equal(fer_dim_text(folded->conditions[0].right), "4");
    assert_string_equal(fer_dim_text(declared->operands[0].type.axes[1].dim), "g");
    assert_string_equal(fer_dim_text(declared->results[0].type.axes[0].dim), "n // g");
    assert_string_equal(declared->conditions[0].text, "n > g");
    /* Only the bare parameter pins; the axis counts the template's axes. */
    assert_null(fer_signature_pinned_param(signature, 0, 0));
    assert_string_equal(fer_signature_pinned_param(signature, 0, 1), "g");
    assert_null(fer_signature_pinned_param(signature, 0, 2));
    assert_null(fer_signature_pinned_param(signature, 0, 3));
    assert_null(fer_signature_pinned_param(signature, 0, 400));
    assert_null(fer_signature_pinned_param(signature, 7, 0));
    assert_false(fer_signature_is_complete(signature));
    fer_signature_release(signature);
    check_fails("f<g: int = 0>(x: f32[n]) -> f32[n // g]", FER_ZERO_DIVISION_ERROR,
                "f: result 0 axis 0 ('n // g') with g = 0", "f");
    check_fails("f<g: int = 4611686018427387904>(x: f32[n]) -> f32[g * 4]", FER_OVERFLOW_ERROR,
                "f: result 0 axis 0", "4611686018427387904");
}

static fer_param int_param(const char *name, int64_t value)
{
    return (fer_param){
        .name = name, .kind = FER_PARAM_INT, .has_value = true, .value.as_int = value};
}

static fer_signature *specialise(const fer_signature *signature, fer_param param)
{
    fer_signature *out;
    ASSERT_OK(&error, fer_signature_specialise(signature, &param, 1, &out, &error));
    return out;
}

static void test_specialise(void **state)
{
    (void)state;
    fer_signature *open = parse("f<g: int>(x: f32[n]) -> f32[n // g] where n % g == 0");
    assert_false(fer_signature_is_complete(open));
    fer_signature *two = specialise(open, int_param("g", 2));
    assert_true(fer_signature_is_complete(two));
    assert_string_equal(fer_signature_text(two),
                        "f<g: int = 2>(x: f32[n]) -> f32[n // g] where n % g == 0");
    assert_string_equal(fer_dim_text(fer_signature_folded(two)->results[0].type.axes[0].dim),
                        "n // 2");
    /* A folded parameter changes again, and equal values give equal signatures. */
    fer_signature *four = specialise(two, int_param("g", 4));
    assert_string_equal(fer_dim_text(fer_signature_folded(four)->results[0].type.axes[0].dim),
                        "n // 4");
    fer_signature *two_again = specialise(four, int_param("g", 2));
    assert_true(fer_signature_equal(two, two_again));
    assert_false(fer_signature_equal(two, four));
    assert_false(fer_signature_equal(two, open));

    fer_signature *out;
    fer_param param = int_param("g", 0);
    ASSERT_FAILS(&error, FER_ZERO_DIVISION_ERROR,
                 fer_signature_specialise(open, &param, 1, &out, &error), "f: ", "g = 0");
    assert_null(out);
    param = int_param("gg", 1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_signature_specialise(open, &param, 1, &out, &error),
                 "f: ", "'gg'", "did you mean 'g'");
    param = (fer_param){.name = "g", .kind = FER_PARAM_BOOL, .has_value = true};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_signature_specialise(open, &param, 1, &out, &error),
                 "'g'", "int", "bool", "false");
    param =
        (fer_param){.name = "g", .kind = FER_PARAM_FLOAT, .has_value = true, .value.as_float = 2};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_signature_specialise(open, &param, 1, &out, &error),
                 "'g'", "int", "2.0", "float");
    param = (fer_param){.name = "g", .kind = FER_PARAM_INT};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_signature_specialise(open, &param, 1, &out, &error),
                 "'g'", "without a value");
    fer_param twice[] = {int_param("g", 1), int_param("g", 2)};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_signature_specialise(open, twice, 2, &out, &error),
                 "'g'", "twice");
    fer_signature_release(open);
    fer_signature_release(two);
    fer_signature_release(four);
    fer_signature_release(two_again);

    fer_signature *none = parse("f(x: f32[n]) -> f32[n]");
    param = int_param("n", 1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_signature_specialise(none, &param, 1, &out, &error),
                 "'n'", "none");
    ASSERT_OK(&error, fer_signature_specialise(none, NULL, 0, &out, &error));
    assert_true(fer_signature_equal(none, out));
    fer_signature_release(out);
    fer_signature_release(none);
}

static void test_specialise_kinds(void **state)
{
    (void)state;
    fer_signature *signature = parse("f<p: float, s: str, to: dtype>(x: f32[n]) -> to[n]");
    fer_param given[] = {
        int_param("p", 3),
        {.name = "s", .kind = FER_PARAM_STR, .has_value = true, .value.as_str = {"a\0b", 3}},
        {.name = "to", .kind = FER_PARAM_DTYPE, .has_value = true, .value.as_dtype = FER_I8},
    };
    fer_signature *out;
    ASSERT_OK(&error, fer_signature_specialise(signature, given, 3, &out, &error));
    assert_string_equal(
        fer_signature_text(out),
        "f<p: float = 3.0, s: str = \"a\\u0000b\", to: dtype = i8>(x: f32[n]) -> to[n]");
    assert_int_equal(fer_signature_folded(out)->results[0].type.dtype, FER_I8);
    fer_signature_release(out);
    given[0].value.as_int = INT64_MAX;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_signature_specialise(signature, given, 3, &out, &error), "'p'", "exactly");
    given[0].value.as_int = INT64_MIN; /* a power of two */
    given[2].value.as_dtype = (fer_dtype)77;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_signature_specialise(signature, given, 3, &out, &error), "'to'", "dtype");
    fer_signature_release(signature);
}

static void test_equality(void **state)
{
    (void)state;
    static const char *const DIFFERENT[] = {
        "f<T>(x: T[n, 4], y: T[n]) -> T[n]",
        "g<T>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<U>(x: U[n, 4], y: U[n]) -> U[n]",
        "f<T: any_float>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T: any_int>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T>(y: T[n], x: T[n, 4]) -> T[n]",
        "f<T>(x: T[n, 4], z: T[n]) -> T[n]",
        "f<T>(x: T[n, 4], inout y: T[n]) -> T[n]",
        "f<T>(x: T[n, 4], y: T[n]) -> (r: T[n])",
        "f<T>(x: T[n, 4], y: T[n]) -> (T[n], T[n])",
        "f<T>(x: T[n, 4], y: T[n]) -> T[n] effect",
        "f<T>(x: T[n, 4], y: T[n]) -> T[n] where n > 0",
        "f<T>(x: T[n, 4], y: T[n]) -> T[n] where n >= 0",
        "f<T>(x: T[n, 5], y: T[n]) -> T[n]",
        "f<T>(x: T[m, 4], y: T[m]) -> T[m]",
        "f<T>(x: T[*n, 4], y: T[*n]) -> T[*n]",
        "f<T>(x: T[n, 4], y: T[n]) -> T[n + 1]",
        "f<T, p: int>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: int = 1>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: bool = true>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: float = 1.0>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: str = \"1\">(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: str = \"f32\">(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: dtype = f32>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: float = 0.0>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: float = -0.0>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: float = nan>(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: str = \"a, b\">(x: T[n, 4], y: T[n]) -> T[n]",
        "f<T, p: int = 4>(x: T[n, 4], y: T[n]) -> T[n]",
    };
    size_t count = sizeof DIFFERENT / sizeof *DIFFERENT;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            check_equal(DIFFERENT[i], DIFFERENT[j], i == j);
    /* Not declared dims, nor pinned parameters, nor the order of what stands between the brackets,
     * nor how a condition is written. */
    check_equal("f<p: int = 4>(x: f32[n, p]) -> f32[n]", "f<p: int = 4>(x: f32[n, 4]) -> f32[n]",
                true);
    check_equal("f<p: int = 4>(x: f32[n]) -> f32[n // p]",
                "f<p: int = 4>(x: f32[n]) -> f32[n // 4]", true);
    check_equal("f<p: int = 4, q: int, T, U>(x: T[n], y: U[n]) -> f32[n]",
                "f<U, q: int, T, p: int = 4>(x: T[n], y: U[n]) -> f32[n]", true);
    check_equal("f<p: int = 4>(x: f32[n]) -> f32[n] where n % p == 0",
                "f<p: int = 4>(x: f32[n]) -> f32[n] where n%4 == 0", true);
    check_equal("f<to: dtype = f32>(x: f32[n]) -> to[n]", "f<to: dtype = f32>(x: f32[n]) -> f32[n]",
                true);
    check_equal("f(x: f32[n]) -> f32[n + 1]", "f(x: float32[n]) -> (f32[1 + n])", true);
    /* A dtype variable called f32 is no dtype. */
    check_equal("f<f32, to: dtype = f32>(x: f32[n]) -> to[n]",
                "f<f32, to: dtype = f32>(x: f32[n]) -> f32[n]", false);
}

/* Structs. */

static fer_dim *dims[256];
static size_t num_dims;

static int release_dims(void **state)
{
    (void)state;
    while (num_dims > 0)
        fer_dim_release(dims[--num_dims]);
    return 0;
}

static fer_dim *keep(fer_dim *dim)
{
    assert_true(num_dims < 256);
    return dims[num_dims++] = dim;
}

static fer_dim *symbol(fer_namespace space, const char *name)
{
    fer_dim *dim;
    ASSERT_OK(&error, fer_dim_symbol(space, name, &dim, &error));
    return keep(dim);
}

static fer_dim *sym(const char *name)
{
    return symbol(FER_NAMESPACE_SIGNATURE, name);
}

static fer_dim *par(const char *name)
{
    return symbol(FER_NAMESPACE_PARAMETER, name);
}

static fer_dim *number(int64_t value)
{
    fer_dim *dim;
    ASSERT_OK(&error, fer_dim_constant(value, &dim, &error));
    return keep(dim);
}

static fer_dim *quotient(const fer_dim *a, const fer_dim *b)
{
    fer_dim *dim;
    ASSERT_OK(&error, fer_dim_floor_divide(a, b, &dim, &error));
    return keep(dim);
}

static fer_dim *remainder_of(const fer_dim *a, const fer_dim *b)
{
    fer_dim *dim;
    ASSERT_OK(&error, fer_dim_modulo(a, b, &dim, &error));
    return keep(dim);
}

static void test_structs_equal_text(void **state)
{
    (void)state;
    fer_axis x_axes[] = {{.run = "s"}, {.dim = sym("n")}, {.dim = par("g")}, {.dim = number(3)}};
    fer_axis y_axes[] = {{.run = "s"}, {.dim = quotient(sym("n"), par("g"))}, {.dim = sym("kept")}};
    fer_operand operands[] = {
        {.name = "x", .type = {.dtype_var = "T", .axes = x_axes, .num_axes = 4}},
        {.name = "y", .type = {.dtype = FER_I64}, .is_inout = true},
    };
    fer_operand results[] = {
        {.name = "a", .type = {.dtype_var = "to", .axes = y_axes, .num_axes = 3}},
        {.type = {.dtype_var = "T"}},
    };
    fer_dtype_var variables[] = {{.name = "T", .allowed = FER_ANY_FLOAT}};
    fer_param params[] = {
        int_param("g", 2),
        {.name = "to", .kind = FER_PARAM_DTYPE},
        {.name = "mode", .kind = FER_PARAM_STR, .has_value = true, .value.as_str = {"same", 4}},
        {.name = "eps", .kind = FER_PARAM_FLOAT, .has_value = true, .value.as_float = -NAN},
        {.name = "fast", .kind = FER_PARAM_BOOL, .has_value = true, .value.as_bool = true},
    };
    fer_condition conditions[] = {
        {remainder_of(sym("n"), par("g")), FER_EQ, number(0), NULL},
        {sym("n"), FER_GT, number(1), "n>1"},
    };
    fer_signature_spec spec = {
        .name = "f",
        .dtype_vars = variables,
        .num_dtype_vars = 1,
        .params = params,
        .num_params = 5,
        .operands = operands,
        .num_operands = 2,
        .results = results,
        .num_results = 2,
        .conditions = conditions,
        .num_conditions = 2,
        .has_effect = true,
    };
    static const char TEXT[] =
        "f<T: any_float, g: int = 2, to: dtype, mode: str = \"same\", eps: float = nan, fast: bool "
        "= "
        "true>(x: T[*s, n, g, 3], inout y: i64[]) -> (a: to[*s, n // g, kept], T[]) effect where n "
        "% g == 0, n>1";
    fer_signature *built;
    ASSERT_OK(&error, fer_signature_create(&spec, &built, &error));
    assert_string_equal(fer_signature_text(built), TEXT);
    fer_signature *parsed = parse(TEXT);
    assert_true(fer_signature_equal(built, parsed));
    assert_string_equal(fer_signature_pinned_param(built, 0, 2), "g");
    /* The copy is deep: what made it may go. */
    params[2].value.as_str = (fer_string){NULL, 0};
    release_dims(NULL);
    assert_string_equal(fer_dim_text(fer_signature_folded(built)->results[0].type.axes[1].dim),
                        "n // 2");
    fer_signature *retained = fer_signature_retain(built);
    fer_signature_release(built);
    assert_true(fer_signature_equal(retained, parsed));
    fer_signature_release(retained);
    fer_signature_release(parsed);
    fer_signature_release(NULL);

    /* What accessors give makes the same signature again. */
    parsed = parse(TEXT);
    ASSERT_OK(&error, fer_signature_create(fer_signature_declared(parsed), &built, &error));
    assert_true(fer_signature_equal(built, parsed));
    assert_string_equal(fer_signature_text(built), TEXT);
    fer_signature_release(built);
    fer_signature_release(parsed);
}

/* One operand `x` and one result, each of one axis. */
typedef struct small {
    fer_axis operand_axis;
    fer_axis result_axis;
    fer_operand operand;
    fer_operand result;
    fer_param param;
    fer_dtype_var variable;
    fer_condition condition;
    fer_signature_spec spec;
} small;

static void make_small(small *out)
{
    *out = (small){.operand_axis = {.dim = sym("n")},
                   .result_axis = {.dim = sym("n")},
                   .param = {.name = "g", .kind = FER_PARAM_INT},
                   .variable = {.name = "T"}};
    out->operand = (fer_operand){
        .name = "x", .type = {.dtype = FER_F32, .axes = &out->operand_axis, .num_axes = 1}};
    out->result =
        (fer_operand){.type = {.dtype = FER_F32, .axes = &out->result_axis, .num_axes = 1}};
    out->spec = (fer_signature_spec){.name = "f",
                                     .params = &out->param,
                                     .dtype_vars = &out->variable,
                                     .operands = &out->operand,
                                     .num_operands = 1,
                                     .results = &out->result,
                                     .num_results = 1,
                                     .conditions = &out->condition};
}

static void check_small(small *spec, fer_status kind, const char *word, const char *word2)
{
    fer_signature *signature;
    ASSERT_FAILS(&error, kind, fer_signature_create(&spec->spec, &signature, &error), word, word2);
    assert_null(signature);
    make_small(spec);
}

static void test_struct_refusals(void **state)
{
    (void)state;
    small s;
    make_small(&s);
    fer_signature *signature;
    ASSERT_OK(&error, fer_signature_create(&s.spec, &signature, &error));
    assert_string_equal(fer_signature_text(signature), "f(x: f32[n]) -> f32[n]");
    fer_signature_release(signature);

    s.spec.name = "1f";
    check_small(&s, FER_VALUE_ERROR, "'1f'", "name");
    s.spec.name = NULL;
    check_small(&s, FER_VALUE_ERROR, "name", "name");
    s.operand.name = "x y";
    check_small(&s, FER_VALUE_ERROR, "'x y'", "f: ");
    s.operand.name = NULL;
    check_small(&s, FER_VALUE_ERROR, "operand", "f: ");
    s.result.name = "";
    check_small(&s, FER_VALUE_ERROR, "result", "f: ");
    s.result.is_inout = true;
    check_small(&s, FER_VALUE_ERROR, "inout", "result 0");
    s.operand.type.dtype = FER_DTYPE_INVALID;
    check_small(&s, FER_TYPE_ERROR, "'x'", "dtype");
    s.operand.type.dtype = (fer_dtype)99;
    check_small(&s, FER_TYPE_ERROR, "'x'", "dtype");
    s.operand.type.dtype_var = "T";
    check_small(&s, FER_TYPE_ERROR, "'x'", "both");
    s.result.type.dtype = FER_DTYPE_INVALID;
    s.result.type.dtype_var = "T";
    check_small(&s, FER_TYPE_ERROR, "'T'", "not declared");
    s.operand_axis = (fer_axis){0};
    check_small(&s, FER_TYPE_ERROR, "'x'", "axis");
    s.operand_axis.run = "s";
    check_small(&s, FER_TYPE_ERROR, "'x'", "axis");
    s.operand_axis = (fer_axis){.run = "*s"};
    check_small(&s, FER_VALUE_ERROR, "'*s'", "run");
    s.spec.num_params = 1;
    s.param.name = "g h";
    check_small(&s, FER_VALUE_ERROR, "'g h'", "parameter");
    s.spec.num_params = 1;
    s.param.kind = (fer_param_kind)9;
    check_small(&s, FER_TYPE_ERROR, "'g'", "kind");
    s.spec.num_params = 1;
    s.param = (fer_param){.name = "g", .kind = FER_PARAM_DTYPE, .has_value = true};
    check_small(&s, FER_TYPE_ERROR, "'g'", "dtype");
    s.spec.num_dtype_vars = 1;
    s.variable.allowed = FER_DTYPE_BIT(FER_F32);
    check_small(&s, FER_VALUE_ERROR, "'T'", "one dtype");
    s.spec.num_dtype_vars = 1;
    s.variable.allowed = 1u << 30 | FER_DTYPE_BIT(FER_F32);
    check_small(&s, FER_TYPE_ERROR, "'T'", "no dtype");
    s.spec.num_dtype_vars = 1;
    s.variable.name = "f32"; /* the text could not say which is meant */
    check_small(&s, FER_VALUE_ERROR, "'f32'", "dtype variable");
    s.spec.num_operands = SIZE_MAX;
    check_small(&s, FER_VALUE_ERROR, "operands", "16");
    s.spec.num_params = SIZE_MAX;
    check_small(&s, FER_VALUE_ERROR, "parameters", "64");
    s.operand.type.num_axes = SIZE_MAX;
    check_small(&s, FER_VALUE_ERROR, "'x'", "axes");
    s.spec.num_conditions = 1;
    check_small(&s, FER_TYPE_ERROR, "condition", "two dims");
    s.spec.num_conditions = 1;
    s.condition = (fer_condition){sym("n"), (fer_comparison)17, number(1), NULL};
    check_small(&s, FER_TYPE_ERROR, "condition", "two dims");
    s.spec.num_conditions = 1;
    s.condition = (fer_condition){sym("n"), FER_GT, number(1), "n > 2"};
    check_small(&s, FER_VALUE_ERROR, "'n > 2'", "'n > 1'");
    s.spec.num_conditions = 1;
    s.condition = (fer_condition){sym("n"), FER_GT, number(1), "n > 1 effect"};
    check_small(&s, FER_VALUE_ERROR, "'n > 1 effect'", "'n > 1'");
}

/* A condition of structs may be its text alone. */
static void test_struct_condition_by_text(void **state)
{
    (void)state;
    small s;
    make_small(&s);
    s.spec.num_conditions = 1;
    s.condition = (fer_condition){.text = "n % 2 == 0"};
    fer_signature *signature = NULL;
    ASSERT_OK(&error, fer_signature_create(&s.spec, &signature, &error));
    assert_non_null(strstr(fer_signature_text(signature), " where n % 2 == 0"));
    fer_signature *parsed = parse(fer_signature_text(signature));
    assert_true(fer_signature_equal(signature, parsed));
    fer_signature_release(parsed);
    fer_signature_release(signature);
    s.condition.text = "n = 2";
    check_small(&s, FER_VALUE_ERROR, "condition 'n = 2'", "column 3");
    s.spec.num_conditions = 1;
    s.condition.text = "n > 2, n > 3";
    check_small(&s, FER_VALUE_ERROR, "condition 'n > 2, n > 3'", "the end");
    s.spec.num_conditions = 1;
    s.condition.text = "m > 2";
    check_small(&s, FER_VALUE_ERROR, "'m'", "no operand binds");
    s.spec.num_conditions = 1;
    s.spec.num_params = 1;
    s.param.kind = FER_PARAM_BOOL;
    s.condition.text = "g > 2";
    check_small(&s, FER_TYPE_ERROR, "'g'", "kind bool");
}

static void test_struct_namespaces(void **state)
{
    (void)state;
    small s;
    make_small(&s);
    fer_dim *caller = symbol(FER_NAMESPACE_CALLER, "n");
    s.operand_axis.dim = caller;
    check_small(&s, FER_TYPE_ERROR, "'n'", "neither a symbol nor a parameter");
    s.result_axis.dim = caller;
    check_small(&s, FER_TYPE_ERROR, "'n'", "neither a symbol nor a parameter");
    s.result_axis.dim = quotient(caller, sym("n"));
    check_small(&s, FER_TYPE_ERROR, "'n'", "neither a symbol nor a parameter");
    s.spec.num_conditions = 1;
    s.condition = (fer_condition){caller, FER_GT, number(1), NULL};
    check_small(&s, FER_TYPE_ERROR, "'n'", "neither a symbol nor a parameter");
    /* An undeclared parameter enters only where a result names it. */
    s.operand_axis.dim = par("k");
    check_small(&s, FER_TYPE_ERROR, "'k'", "neither a symbol nor a parameter");
    s.spec.num_conditions = 1;
    s.condition = (fer_condition){par("k"), FER_GT, number(1), NULL};
    check_small(&s, FER_TYPE_ERROR, "'k'", "neither a symbol nor a parameter");
    /* A symbol and a parameter of one name. */
    s.result_axis.dim = par("n");
    check_small(&s, FER_VALUE_ERROR, "'n'", "role");
    s.spec.num_params = 1;
    s.operand_axis.dim = sym("g");
    check_small(&s, FER_VALUE_ERROR, "'g'", "role");
    s.spec.num_params = 1;
    s.operand_axis = (fer_axis){.run = "g"};
    check_small(&s, FER_VALUE_ERROR, "'g'", "role");
    s.result_axis.dim = par("f32"); /* would print as a parameter f32 beside the dtype f32 */
    check_small(&s, FER_VALUE_ERROR, "'f32'", "dtype");
}

static void test_undeclared_parameter_enters(void **state)
{
    (void)state;
    small s;
    make_small(&s);
    s.result_axis.dim = quotient(sym("n"), par("k"));
    fer_signature *signature;
    ASSERT_OK(&error, fer_signature_create(&s.spec, &signature, &error));
    assert_string_equal(fer_signature_text(signature), "f<k: int>(x: f32[n]) -> f32[n // k]");
    assert_false(fer_signature_is_complete(signature));
    fer_signature *parsed = parse(fer_signature_text(signature));
    assert_true(fer_signature_equal(signature, parsed));
    fer_signature *complete = specialise(signature, int_param("k", 3));
    assert_true(fer_signature_is_complete(complete));
    assert_string_equal(fer_signature_text(complete), "f<k: int = 3>(x: f32[n]) -> f32[n // k]");
    fer_signature_release(complete);
    fer_signature_release(parsed);
    fer_signature_release(signature);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_numbers_of_things),
        cmocka_unit_test(test_one_role_for_a_name),
        cmocka_unit_test(test_bindable_dims),
        cmocka_unit_test(test_only_int_parameters_are_dims),
        cmocka_unit_test(test_dtype_variables),
        cmocka_unit_test(test_data_dependent_symbols),
        cmocka_unit_test(test_conditions_at_declaration),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_specialise),
        cmocka_unit_test(test_specialise_kinds),
        cmocka_unit_test(test_equality),
        cmocka_unit_test_teardown(test_structs_equal_text, release_dims),
        cmocka_unit_test_teardown(test_struct_refusals, release_dims),
        cmocka_unit_test_teardown(test_struct_condition_by_text, release_dims),
        cmocka_unit_test_teardown(test_struct_namespaces, release_dims),
        cmocka_unit_test_teardown(test_undeclared_parameter_enters, release_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
