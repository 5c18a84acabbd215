/* The declaration language: what parses, how it prints, and what a fault of syntax says. */
#include "testing.h"

#include <ferrule/signature.h>
#include <locale.h>
#include <math.h>

static fer_error error = FER_ERROR_INIT;

static fer_signature *parse(const char *text)
{
    fer_signature *signature = NULL;
    ASSERT_OK(&error, fer_signature_parse(text, &signature, &error));
    return signature;
}

/* Parses `text`, expects this print, and that the print parses to an equal signature that prints
 * the same. */
static void check_print(const char *text, const char *expected)
{
    fer_signature *signature = parse(text);
    assert_string_equal(fer_signature_text(signature), expected);
    fer_signature *again = parse(expected);
    assert_string_equal(fer_signature_text(again), expected);
    assert_true(fer_signature_equal(signature, again));
    fer_signature_release(again);
    fer_signature_release(signature);
}

static void check_prints_itself(const char *text)
{
    check_print(text, text);
}

static void check_fails(const char *text, fer_status kind, const char *word, const char *word2)
{
    fer_signature *signature = (fer_signature *)&error;
    ASSERT_FAILS(&error, kind, fer_signature_parse(text, &signature, &error), word, word2);
    assert_null(signature);
}

static void test_print(void **state)
{
    (void)state;
    check_print("f( x:float32[ n ] )->float32[n]", "f(x: f32[n]) -> f32[n]");
    check_print("f(x: f32[n]) -> (f32[n])", "f(x: f32[n]) -> f32[n]");
    check_prints_itself("f(x: f32[n]) -> (y: f32[n])");
    check_prints_itself("f(x: f32[n]) -> (a: f32[n], b: i64[n])");
    check_prints_itself("f(x: f32[n]) -> (a: f32[n], i64[])");
    check_prints_itself("f(inout x: f32[n], y: f32[n]) -> ()");
    check_prints_itself("log(x: f32[n]) -> () effect");
    check_prints_itself("f(x: f32[*s, n, 3]) -> f32[n, *s]");
    check_prints_itself("f(x: f32[*s], y: f32[*t]) -> f32[*s, *t]");
    check_prints_itself("f<T: any_float, U: any_int, V: any_signed, W: any_unsigned>(a: T[n], "
                        "b: U[n], c: V[n], d: W[n]) -> T[n]");
    check_print("f<T: f32 | bf16>(x: T[]) -> T[]", "f<T: bf16|f32>(x: T[]) -> T[]");
    check_prints_itself("f<T: bool|f8e4m3fn>(x: T[]) -> T[]");
    check_print("f<T: f16|bf16|f32|f64>(x: T[]) -> T[]", "f<T: any_float>(x: T[]) -> T[]");
    check_print("f(x: f32[w, n]) -> f32[n+w, (n+1)//2]",
                "f(x: f32[w, n]) -> f32[n + w, (n + 1) // 2]");
    check_prints_itself("cast<T, to: dtype = f32>(x: T[*s]) -> to[*s]");
    check_prints_itself("f<g: int>(x: f32[n]) -> f32[n // g]");
    check_prints_itself("f<g: int = 4>(x: f32[n, g // 2]) -> f32[n // g]");
    check_print("f<g: int = 4, T>(x: T[n, g]) -> T[n]", "f<T, g: int = 4>(x: T[n, g]) -> T[n]");
    check_prints_itself("f(x: f32[n]) -> f32[n, kept]");
}

static void test_conditions_print_as_written(void **state)
{
    (void)state;
    check_prints_itself("f(x: u8[n]) -> u8[n // 8] where n%8 == 0");
    check_prints_itself("f(x: u8[n], y: u8[m]) -> u8[n] where 0 < n - m, m != n, 2 * 3 <= m + n");
    check_prints_itself("f(x: f32[n]) -> () effect where n >= 1, n > 0, n < 1000");
    check_print("f(x: u8[n]) -> u8[n] where n  %\n8\t== 0 ",
                "f(x: u8[n]) -> u8[n] where n % 8 == 0");
    fer_signature *a = parse("f(x: u8[n]) -> u8[n] where n + 1 == 3");
    fer_signature *b = parse("f(x: u8[n]) -> u8[n] where 1+n == 3");
    assert_true(fer_signature_equal(a, b));
    fer_signature_release(a);
    fer_signature_release(b);
}

static void test_keywords_only_in_their_places(void **state)
{
    (void)state;
    check_prints_itself("where(inout: f32[n]) -> f32[n]");
    check_prints_itself(
        "effect(inout inout: f32[where]) -> (where: f32[where]) effect where where > 0");
    check_prints_itself("int<int, float: bool>(x: int[n]) -> int[n]");
    check_prints_itself("f<where>(x: where[n]) -> where[n] where n > 1");
    check_prints_itself("f<effect>(x: effect[n]) -> effect[n] effect");
    check_prints_itself("dtype<any_int: int>(str: f32[n]) -> f32[any_int]");
    check_prints_itself("f(x: f32[and, inf]) -> f32[and + inf]");
    check_prints_itself("f<f32>(x: f32[n]) -> f32[n]"); /* a dtype variable called f32 */
}

static void check_float(const char *literal, double expected, const char *printed)
{
    char text[200];
    snprintf(text, sizeof text, "f<p: float = %s>(x: f32[]) -> f32[]", literal);
    fer_signature *signature = parse(text);
    double value = fer_signature_folded(signature)->params[0].value.as_float;
    if (isnan(expected))
        assert_true(isnan(value));
    else
        assert_memory_equal(&value, &expected, sizeof value);
    snprintf(text, sizeof text, "f<p: float = %s>(x: f32[]) -> f32[]", printed);
    assert_string_equal(fer_signature_text(signature), text);
    fer_signature *again = parse(text);
    assert_true(fer_signature_equal(signature, again));
    fer_signature_release(again);
    fer_signature_release(signature);
}

static void test_float_literals(void **state)
{
    (void)state;
    check_float("1e-5", 1e-5, "1e-05");
    check_float("0.1", 0.1, "0.1");
    check_float("-0.1", -0.1, "-0.1");
    check_float("2.0", 2.0, "2.0");
    check_float("2", 2.0, "2.0");
    check_float("-3", -3.0, "-3.0");
    check_float("0x1.8p-3", 0.1875, "0.1875");
    check_float("-0x1p4", -16.0, "-16.0");
    check_float("-0.0", -0.0, "-0.0");
    check_float("0.1e1", 1.0, "1.0");
    check_float("1e300", 1e300, "1e+300");
    check_float("5e-324", 5e-324, "4.94065645841247e-324");
    check_float("1e-400", 0.0, "0.0");
    check_float("1.7976931348623157e308", 1.7976931348623157e308, "1.7976931348623157e+308");
    check_float("0.30000000000000004", 0.1 + 0.2, "0.30000000000000004");
    check_float("inf", INFINITY, "inf");
    check_float("-inf", -INFINITY, "-inf");
    check_float("nan", NAN, "nan");
    check_float("-nan", NAN, "nan");
    check_float("9007199254740992", 9007199254740992.0, "9007199254740992.0");
    check_fails("f<p: float = 9007199254740993>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "'p'",
                "exactly");
    check_fails("f<p: float = 9223372036854775807>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "'p'",
                "exactly");
    check_fails("f<p: float = 1e999>(x: f32[]) -> f32[]", FER_OVERFLOW_ERROR, "1e999", "inf");
}

/* A program with a decimal comma reads and writes the same text. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "C"};
    for (size_t i = 0; i < 4 && setlocale(LC_NUMERIC, NAMES[i]) == NULL; i++)
        continue;
    check_float("1.5", 1.5, "1.5");
    check_float("1e-5", 1e-5, "1e-05");
    setlocale(LC_NUMERIC, "C");
}

static void test_integer_literals(void **state)
{
    (void)state;
    check_prints_itself("f<p: int = -9223372036854775808>(x: f32[]) -> f32[]");
    check_prints_itself("f<p: int = 9223372036854775807>(x: f32[]) -> f32[]");
    check_print("f<p: int = - 1>(x: f32[]) -> f32[]", "f<p: int = -1>(x: f32[]) -> f32[]");
    check_fails("f<p: int = 9223372036854775808>(x: f32[]) -> f32[]", FER_OVERFLOW_ERROR,
                "9223372036854775808", "column 12");
    check_fails("f<p: int = -9223372036854775809>(x: f32[]) -> f32[]", FER_OVERFLOW_ERROR,
                "-9223372036854775809", "outside int64");
    check_fails("f<p: int = 0x10>(x: f32[]) -> f32[]", FER_VALUE_ERROR, "decimal", "column 12");
    check_fails("f<p: int = --1>(x: f32[]) -> f32[]", FER_VALUE_ERROR, "number", "column 13");
    check_fails("f<p: int = >(x: f32[]) -> f32[]", FER_VALUE_ERROR, "value", "column 12");
}

static void test_string_literals(void **state)
{
    (void)state;
    check_prints_itself("f<p: str = \"same\">(x: f32[]) -> f32[]");
    check_prints_itself("f<p: str = \"\">(x: f32[]) -> f32[]");
    check_prints_itself(
        "f<p: str = \"a\\\"b\\\\c\\n\\t\\r\\u0000\\u001f\\u007f\">(x: f32[]) -> f32[]");
    check_prints_itself("f<p: str = \"\xc3\xa9 \xff\xfe\">(x: f32[]) -> f32[]");
    check_print("f<p: str = \"\\u00e9\\/\\ud83d\\ude00\">(x: f32[]) -> f32[]",
                "f<p: str = \"\xc3\xa9/\xf0\x9f\x98\x80\">(x: f32[]) -> f32[]");
    fer_signature *signature = parse("f<p: str = \"a\\u0000b\">(x: f32[]) -> f32[]");
    fer_string value = fer_signature_folded(signature)->params[0].value.as_str;
    assert_int_equal(value.num_bytes, 3);
    assert_memory_equal(value.data, "a\0b", 3);
    fer_signature_release(signature);
    check_fails("f<p: str = 'same'>(x: f32[]) -> f32[]", FER_VALUE_ERROR, "double quotes",
                "column 12");
    check_fails("f<p: str = \"a>(x: f32[]) -> f32[]", FER_VALUE_ERROR, "closing quote",
                "column 12");
    check_fails("f<p: str = \"\\x41\">(x: f32[]) -> f32[]", FER_VALUE_ERROR, "escape", "column 12");
}

static void test_other_literals(void **state)
{
    (void)state;
    check_prints_itself("f<a: bool = true, b: bool = false, c: dtype = bool>(x: f32[]) -> f32[]");
    check_print("f<c: dtype = bfloat16>(x: f32[]) -> c[]", "f<c: dtype = bf16>(x: f32[]) -> c[]");
    check_fails("f<p: bool = True>(x: f32[]) -> f32[]", FER_VALUE_ERROR, "'true'", "column 13");
    check_fails("f<p: int = None>(x: f32[]) -> f32[]", FER_VALUE_ERROR, "None", "column 12");
    check_fails("f<p: dtype = f33>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "f33", "column 14");
    check_fails("f<p: dtype = \"f32\">(x: f32[]) -> f32[]", FER_TYPE_ERROR, "dtype", "str");
    check_fails("f<p: str = f32>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "dtype", "str");
    check_fails("f<p: bool = 1>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "bool", "int");
    check_fails("f<p: float = true>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "float", "bool");
    check_fails("f<p: int = 1.0>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "int", "float");
}

/* What looks like another language says what to write. */
static void test_hints(void **state)
{
    (void)state;
    check_fails("f(x: f32[n]) -> f32[n / 2]", FER_VALUE_ERROR, "//", "column 23");
    check_fails("f(x: f32[n]) -> f32[n ** 2]", FER_VALUE_ERROR, "**", "column 23");
    check_fails("f(x: f32[n]) -> f32[n] where n / 2 == 0", FER_VALUE_ERROR, "//", "column 32");
    check_fails("f(x: f32[n]) -> f32[n] where 1 < n < 5", FER_VALUE_ERROR, "a < b, b < c",
                "column 36");
    check_fails("f(x: f32[n]) -> f32[n] where n > 1 and n < 5", FER_VALUE_ERROR, "','",
                "column 36");
    check_fails("f(x: f32[n]) -> f32[n] where n > 1 && n < 5", FER_VALUE_ERROR, "','", "column 36");
    check_fails("f(x: f32[n]) -> f32[n] where n > 1 or n < 5", FER_VALUE_ERROR, "','", "column 36");
    check_fails("f(x: f32[n]) -> f32[n] where n > 1 || n < 5", FER_VALUE_ERROR, "','", "column 36");
    check_fails("f(x: f32[n]) -> f32[n] where n || n", FER_VALUE_ERROR, "','", "column 32");
    check_fails("f(x: f32[n | m]) -> f32[n]", FER_VALUE_ERROR, "expected ',' or ']'", "column 12");
    check_fails("f(x: f32[n]) -> f32[n] where n = 1", FER_VALUE_ERROR, "'=='", "column 32");
    check_fails("f(x: f32[n]) -> f32[n] where n > 1 effect", FER_VALUE_ERROR, "before 'where'",
                "column 36");
    check_fails("f<g: i64>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "'g: int'", "column 6");
    check_fails("f<g: i64 = 4>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "'g: int'", "column 6");
    check_fails("f<T: f32>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "write 'f32'", "column 6");
    check_fails("f<g = 4>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "g: int = 4", "column 5");
    check_fails("f<T: any_float|i8>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "alone", "column 15");
    check_fails("f<T: i8|any_float>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "alone", "column 9");
    check_fails("f<g: int|float>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "kind", "column 6");
    check_fails("f<T: f32|dtype>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "kind", "column 10");
    check_fails("f<T: i8|i8>(x: T[n]) -> T[n]", FER_VALUE_ERROR, "twice", "column 9");
    check_fails("f<g: integer>(x: f32[n]) -> f32[n]", FER_TYPE_ERROR, "integer", "a kind is int");
    check_fails("f<g: 4>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "a kind", "column 6");
    check_fails("f<T: i8|f33>(x: T[n]) -> T[n]", FER_TYPE_ERROR, "f33", "column 9");
    check_fails("f(f32[n]) -> f32[n]", FER_VALUE_ERROR, "'x: f32[n]'", "column 6");
    check_fails("f(x: f32) -> f32[n]", FER_VALUE_ERROR, "'[]'", "column 9");
    check_fails("f(x: f32[n]) -> f32[n], f32[n]", FER_VALUE_ERROR, "parentheses", "column 23");
    check_fails("f(x: f32[n]) -> y: f32[n]", FER_VALUE_ERROR, "parentheses", "column 17");
    check_fails("f(x: f32[n]) -> (inout y: f32[n])", FER_VALUE_ERROR, "inout", "column 18");
    check_fails("f(x: f32[...]) -> f32[1]", FER_VALUE_ERROR, "'*s'", "column 10");
    check_fails("f(x: f32[:, 2]) -> f32[1]", FER_VALUE_ERROR, "'*s'", "column 10");
    check_fails("f(x: f32[?]) -> f32[1]", FER_VALUE_ERROR, "'?'", "column 10");
    check_fails("f(x: f32[**s]) -> f32[1]", FER_VALUE_ERROR, "'*s'", "column 10");
    check_fails("f<e: float = 9007199254740993>(x: f32[]) -> f32[]", FER_TYPE_ERROR, "column 14",
                "the value 9007199254740993 is of kind int, which a float cannot hold exactly");
    check_fails("f(x: float[n]) -> f32[1]", FER_TYPE_ERROR, "did you mean 'f32'?", "column 6");
    check_fails("f(x: int[n]) -> f32[1]", FER_TYPE_ERROR, "did you mean 'i64'?", "column 6");
    check_fails("f(x: T[n]) -> f32[1]", FER_TYPE_ERROR, "a dtype variable", "bool, i8");
    check_fails("f<T: number>(x: T[n]) -> f32[1]", FER_TYPE_ERROR, "a class", "bool, i8");
    check_fails("f<to: dtype = double>(x: f32[n]) -> to[n]", FER_TYPE_ERROR, "'f64'", "column 15");
    check_fails("f(x: f33[n]) -> f32[1]", FER_TYPE_ERROR, "did you mean", "column 6");
}

static void test_syntax_errors_name_op_and_column(void **state)
{
    (void)state;
    check_fails("f(x f32[n]) -> f32[n]", FER_VALUE_ERROR, "f: column 5: ", "':'");
    check_fails("f(x: f32[n) -> f32[n]", FER_VALUE_ERROR, "f: column 11: ", "']'");
    check_fails("f(x: f32[n]", FER_VALUE_ERROR, "column 12", "end of the text");
    check_fails("f(x: f32[n])", FER_VALUE_ERROR, "column 13", "'->'");
    check_fails("f(x: f32[n]) ->", FER_VALUE_ERROR, "column 16", "type");
    check_fails("f(x: f32[n]) -> f32[n] ;", FER_VALUE_ERROR, "column 24", "';'");
    check_fails("f(x: f32[n]) -> f32[n] g", FER_VALUE_ERROR, "column 24", "'effect', 'where'");
    check_fails("f(x: f32[n]) -> f32[n] effect g", FER_VALUE_ERROR, "column 31",
                "expected 'where' or the end");
    check_fails("f(x: f32[n]) -> f32[n] where n > 1 g", FER_VALUE_ERROR, "column 36",
                "expected ',' or the end after a condition");
    check_fails("f(x: f32[n],\n  y: f32[n) -> f32[n]", FER_VALUE_ERROR,
                "f: line 2, column 11: ", "']'");
    check_fails("f(x: f32[n) -> f32[n]\n", FER_VALUE_ERROR, "f: line 1, column 11: ", "']'");
    check_fails("f(x: f32[n],) -> f32[n]", FER_VALUE_ERROR, "column 13", "operand");
    check_fails("f(x: f32[n,]) -> f32[n]", FER_VALUE_ERROR, "column 12", "f");
    check_fails("f<>(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "column 3", "name");
    check_fails("f<T(x: T[n]) -> T[n]", FER_VALUE_ERROR, "column 4", "'>'");
    check_fails("f(x: f32[*]) -> f32[1]", FER_VALUE_ERROR, "column 11", "run");
    check_fails("f(x: f32[n]) -> f32[n] where", FER_VALUE_ERROR, "column 29", "f");
    check_fails("f(x: f32[n]) -> f32[n] where n", FER_VALUE_ERROR, "column 31", "'=='");
    check_fails("f(x: f32[n]) -> f32[n] where n == ", FER_VALUE_ERROR, "column", "f");
    check_fails("", FER_VALUE_ERROR, "column 1", "name");
    check_fails("1f(x: f32[n]) -> f32[n]", FER_VALUE_ERROR, "column 1", "'1'");
    check_fails("f(x: f32[n]) -> f32[n // 0]", FER_ZERO_DIVISION_ERROR, "f: ", "column");
    check_fails("f(x: f32[n]) -> f32[9223372036854775808]", FER_OVERFLOW_ERROR, "f: ", "column");

    fer_signature *signature;
    assert_int_equal(fer_signature_parse("f(x f32[n]) -> ()", &signature, &error), FER_VALUE_ERROR);
    assert_string_equal(error.op, "f");
    fer_error_clear(&error);
    assert_int_equal(fer_signature_parse("f(x f32[n]) -> ()", &signature, NULL), FER_VALUE_ERROR);
}

static void put(char *end, const char *text)
{
    memcpy(end, text, strlen(text) + 1);
}

/* Long and deep texts are refused or accepted, never a crash. */
static void test_sizes(void **state)
{
    (void)state;
    static char text[200000];
    char *end = text + sprintf(text, "f(x: f32[n]) -> f32[");
    memset(end, '(', 100000);
    put(end + 100000, "n");
    fer_signature *signature;
    assert_int_equal(fer_signature_parse(text, &signature, &error), FER_VALUE_ERROR);
    fer_error_clear(&error);

    end = text + sprintf(text, "f<p: str = \"");
    memset(end, 'a', 100000);
    put(end + 100000, "\">(x: f32[n]) -> f32[n]");
    signature = parse(text);
    assert_int_equal(fer_signature_folded(signature)->params[0].value.as_str.num_bytes, 100000);
    fer_signature_release(signature);

    end = text + sprintf(text, "f<p0: int");
    for (int i = 1; i < 65; i++)
        end += sprintf(end, ", p%d: int", i);
    put(end, ">(x: f32[n]) -> f32[n]");
    check_fails(text, FER_VALUE_ERROR, "64", "column");

    end = text + sprintf(text, "f(x: f32[n]) -> f32[n] where n > 0");
    for (int i = 1; i < 65; i++)
        end += sprintf(end, ", n > %d", i);
    check_fails(text, FER_VALUE_ERROR, "64", "column");

    end = text + sprintf(text, "f(x0: f32[n]");
    for (int i = 1; i < 16; i++)
        end += sprintf(end, ", x%d: f32[n]", i);
    put(end, ") -> () effect");
    fer_signature_release(parse(text));
    put(end, ") -> f32[n]");
    check_fails(text, FER_VALUE_ERROR, "16", "f");
    put(end, ", y: f32[n]) -> () effect");
    check_fails(text, FER_VALUE_ERROR, "16", "f");

    fer_signature_release(parse("f(x: f32[1, 2, 3, 4, 5, 6, 7, 8, *s]) -> f32[]"));
    check_fails("f(x: f32[1, 2, 3, 4, 5, 6, 7, 8, 9]) -> f32[]", FER_VALUE_ERROR, "'x'", "8");
    check_fails("f(x: f32[]) -> f32[1, 2, 3, 4, 5, 6, 7, 8, 9]", FER_VALUE_ERROR, "result 0", "8");
    check_fails("f(x: f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]) -> f32[]", FER_VALUE_ERROR, "f", "8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_conditions_print_as_written),
        cmocka_unit_test(test_keywords_only_in_their_places),
        cmocka_unit_test(test_float_literals),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_integer_literals),
        cmocka_unit_test(test_string_literals),
        cmocka_unit_test(test_other_literals),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_syntax_errors_name_op_and_column),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
