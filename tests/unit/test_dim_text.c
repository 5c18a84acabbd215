/* The text of dims: what prints how, what parses, and what is refused. */
#include "testing.h"

#include <ferrule/dim.h>

static void assert_prints(const char *text, const char *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim, *again;
    ASSERT_OK(&error, fer_dim_parse(text, &dim, &error));
    assert_string_equal(fer_dim_text(dim), expected);
    ASSERT_OK(&error, fer_dim_parse(fer_dim_text(dim), &again, &error));
    assert_true(fer_dim_equal(dim, again));
    fer_dim_release(dim);
    fer_dim_release(again);
}

/* A text that prints as it is. */
static void assert_stays(const char *text)
{
    assert_prints(text, text);
}

#define ASSERT_REFUSED(kind, text, ...)                                                            \
    do {                                                                                           \
        fer_error refused = FER_ERROR_INIT;                                                        \
        fer_dim *nothing = (fer_dim *)&refused;                                                    \
        ASSERT_FAILS(&refused, kind, fer_dim_parse(text, &nothing, &refused), __VA_ARGS__);        \
        assert_null(nothing);                                                                      \
    } while (0)

static void test_terms_have_one_order(void **state)
{
    (void)state;
    assert_prints("1 + b + a", "a + b + 1");
    assert_prints("1 + n + n * w + n * n", "n * n + n * w + n + 1");
    assert_prints("n // 2 + z + 3", "z + n // 2 + 3");
    assert_prints("b // 2 + a // 3", "a // 3 + b // 2");
    assert_prints("w * 2 * n", "2 * n * w");
    assert_prints("(n // 2) * w", "w * (n // 2)");
}

static void test_the_first_positive_term_comes_first(void **state)
{
    (void)state;
    assert_prints("-a + b", "b - a");
    assert_prints("-a - b + c + d", "c - a - b + d");
    assert_prints("1 - n", "1 - n");
    assert_stays("-n - 1");
    assert_stays("-2 * n - w");
}

static void test_parentheses_stand_where_they_must(void **state)
{
    (void)state;
    assert_stays("(n + 1) // 2");
    assert_stays("2 * (n // 2)");
    assert_stays("-(n // 2)");
    assert_stays("w - n // 2");
    assert_stays("w - 2 * (n // 2)");
    assert_stays("n // (w + 1)");
    assert_stays("n // (2 * w)");
    assert_stays("n // (w // 2)");
    assert_stays("n // w // c");
    assert_stays("2 * n // 3");
    assert_stays("2 * (n // w) // c");
    assert_stays("-n // w");
    assert_stays("-(n // w) // c");
    assert_stays("-n * (w // 2)");
    assert_stays("5 // n");
    assert_stays("-5 // n");
}

static void test_remainders_print_as_such(void **state)
{
    (void)state;
    assert_prints("n - 3 * (n // 3)", "n % 3");
    assert_prints("n - w * (n // w)", "n % w");
    assert_stays("n % (w + 1)");
    assert_stays("(n + 1) % 2");
    assert_stays("2 * n % 4");
    assert_stays("(2 * n + 1) % 4");
    assert_stays("n // 2 % 3");
    assert_stays("5 % n");
    assert_stays("a % b % c");
    assert_stays("n % w // c");
    /* The divisor starts with -c * (n // c), so both sides are negated. */
    assert_prints("w // (n % c)", "-w // (-(n % c))");
    assert_stays("-n % w");
    assert_stays("2 * n % (2 * w)");
    assert_prints("(n + 6) % 3", "n % 3");
    assert_prints("-n % 8", "7 * n % 8");
}

static void test_remainders_print_inside_sums(void **state)
{
    (void)state;
    assert_stays("n % 3 + 1");
    assert_stays("w + n % 3");
    assert_stays("w - n % 3");
    assert_stays("w + 3 * (n % 2)");
    assert_stays("-(n % 3)");
    assert_stays("(n + 1) % 2 + 3");
    assert_stays("z * (n // 3) + n % 3");
    assert_stays("a % b % c + w");
    /* Only with all that belongs to it. */
    assert_stays("2 * n - 3 * (n // 3)");
    assert_stays("n - 2 * (n // 3)");
    assert_stays("n - 2 * ((n + 1) // 2)");
    /* `n * z % (3 * z)` would be another text for it, but divide by zero where z is 0. */
    assert_stays("n * z - 3 * z * (n // 3)");
}

static void test_the_ends_of_int64(void **state)
{
    (void)state;
    assert_stays("9223372036854775807");
    assert_stays("-9223372036854775808");
    assert_prints("- 9223372036854775808", "-9223372036854775808");
    assert_stays("-9223372036854775808 * n");
    assert_stays("n + -9223372036854775808");
    assert_stays("n + -9223372036854775808 * w");
    assert_prints("n - 9223372036854775808", "n + -9223372036854775808");
    assert_prints("5 // -9223372036854775808", "-1");
    assert_prints("-9223372036854775808 // 9223372036854775807", "-2");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "9223372036854775808", "column 1", "9223372036854775808");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "--9223372036854775808", "column 1");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "n + 9223372036854775808", "column 5");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "n - 9223372036854775808 * 2", "column 5");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "n - 9223372036854775809", "column 5");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "-9223372036854775809", "column 2");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "-9223372036854775808 // -1", "column 22", "int64");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "-9223372036854775808 - 1", "column 22");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "9223372036854775807 * n + n", "int64");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "n // 4294967296 // 4294967296", "int64");
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, "n // -9223372036854775808", "int64");
}

static void test_precedence_is_pythons(void **state)
{
    (void)state;
    assert_prints("2 + 3 * 4", "14");
    assert_prints("(2 + 3) * 4", "20");
    assert_prints("20 - 3 - 4", "13");
    assert_prints("7 // 2 * 2", "6");
    assert_prints("2 * 7 // 4", "3");
    assert_prints("7 % 4 * 2", "6");
    assert_prints("-7 // 2", "-4");
    assert_prints("-(7 // 2)", "-3");
    assert_prints("7 // -2", "-4");
    assert_prints("- - 7", "7");
    assert_prints("3 - -4", "7");
    assert_prints("- -n", "n");
    assert_prints("---n", "-n");
    assert_prints(" \t7\n", "7");
}

static void test_faults_name_their_place(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "", "column 1", "expected a dim", "end");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n +", "column 4", "expected a dim");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n + * w", "column 5", "'*'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "(n + 1", "column 7", "')'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n)", "column 2", "')'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "2n", "column 2", "operator", "'n'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n w", "column 3", "operator", "'w'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "1.5", "column 1", "integers", "1.5");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n + \"w\"", "column 5");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n $", "column 3", "$");
    ASSERT_REFUSED(FER_VALUE_ERROR, "()", "column 2");
    ASSERT_REFUSED(FER_ZERO_DIVISION_ERROR, "n + w // 0", "column 7", "w // 0");
    ASSERT_REFUSED(FER_ZERO_DIVISION_ERROR, "n % (w - w)", "column 3", "n % 0");
}

static void test_other_languages_get_a_hint(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "n / 2", "column 3", "'//'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n * w / 2", "column 7", "'//'");
    ASSERT_REFUSED(FER_VALUE_ERROR, "n ** 2", "column 3", "product");
    ASSERT_REFUSED(FER_VALUE_ERROR, "(n + 1) ** 2", "column 9", "product");
}

/* text, `count` times, with `between` between them. The caller frees it. */
static char *repeat(const char *text, const char *between, size_t count)
{
    size_t length = strlen(text), gap = strlen(between);
    char *result = malloc(count * (length + gap) + 1);
    assert_non_null(result);
    char *end = result;
    *end = '\0';
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(end, i > 0 ? between : "");
        end = stpcpy(end, text);
    }
    return result;
}

/* n0 + n1 + ... The caller frees it. */
static char *long_sum(size_t num_terms)
{
    char *text = calloc(num_terms, 8);
    assert_non_null(text);
    char *end = text;
    for (size_t i = 0; i < num_terms; i++)
        end += sprintf(end, "%sn%zu", i > 0 ? "+" : "", i);
    return text;
}

static void test_more_than_256_terms_overflow(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim;
    char *text = long_sum(256);
    ASSERT_OK(&error, fer_dim_parse(text, &dim, &error));
    fer_dim_release(dim);
    free(text);
    text = long_sum(257);
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, text, "256 terms");
    free(text);
    /* 16 symbols times 16 others are 256 terms, times 17 others too many. */
    ASSERT_OK(&error, fer_dim_parse("(a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p)*(A+B+C+D+E+F+G+H+I+J+K+L+M+"
                                    "N+O+P)",
                                    &dim, &error));
    fer_dim_release(dim);
    ASSERT_REFUSED(FER_OVERFLOW_ERROR,
                   "(a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p)*(A+B+C+D+E+F+G+H+I+J+K+L+M+N+O+P+Q)",
                   "256 terms");
    /* What cancels does not count. */
    assert_prints("(a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p)*(a-a+1)-(b+c+d+e+f+g+h+i+j+k+l+m+n+o+p)", "a");
}

static void test_hostile_texts_end_soon(void **state)
{
    (void)state;
    char *text = repeat("(", "", 100000);
    ASSERT_REFUSED(FER_VALUE_ERROR, text, "column 257", "parentheses");
    free(text);
    /* Each factor doubles the tree that the form stands for. */
    char *tail = repeat("//w*(a+b)", "", 200);
    text = malloc(strlen(tail) + 2);
    assert_non_null(text);
    sprintf(text, "n%s", tail);
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, text, "too large");
    free(tail);
    free(text);
    text = repeat("n", "%w%", 100);
    ASSERT_REFUSED(FER_OVERFLOW_ERROR, text, "too large");
    free(text);
    text = repeat("-", "", 100001);
    strcpy(text + 100000, "n");
    assert_prints(text, "n");
    free(text);
}

static void test_divisions_nest_to_a_bound(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim;
    fer_dim *w;
    ASSERT_OK(&error, fer_dim_parse("n", &dim, &error));
    ASSERT_OK(&error, fer_dim_parse("w", &w, &error));
    for (size_t i = 0; i < 100; i++) {
        fer_dim *deeper;
        ASSERT_OK(&error, fer_dim_floor_divide(dim, w, &deeper, &error));
        fer_dim_release(dim);
        dim = deeper;
    }
    assert_stays(fer_dim_text(dim));
    fer_dim *refused;
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR, fer_dim_floor_divide(dim, w, &refused, &error), "100",
                 "divisions");
    fer_dim_release(dim);
    fer_dim_release(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_have_one_order),
        cmocka_unit_test(test_the_first_positive_term_comes_first),
        cmocka_unit_test(test_parentheses_stand_where_they_must),
        cmocka_unit_test(test_remainders_print_as_such),
        cmocka_unit_test(test_remainders_print_inside_sums),
        cmocka_unit_test(test_the_ends_of_int64),
        cmocka_unit_test(test_precedence_is_pythons),
        cmocka_unit_test(test_faults_name_their_place),
        cmocka_unit_test(test_other_languages_get_a_hint),
        cmocka_unit_test(test_more_than_256_terms_overflow),
        cmocka_unit_test(test_hostile_texts_end_soon),
        cmocka_unit_test(test_divisions_nest_to_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
