/* Dims: the canonical form, its values, substitution, reading. */
#include "testing.h"

#include <ferrule/dim.h>

static fer_dim *parse(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = NULL;
    ASSERT_OK(&error, fer_dim_parse(text, &dim, &error));
    return dim;
}

static fer_dim *symbol(fer_namespace space, const char *name)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = NULL;
    ASSERT_OK(&error, fer_dim_symbol(space, name, &dim, &error));
    return dim;
}

static fer_dim *constant(int64_t value)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = NULL;
    ASSERT_OK(&error, fer_dim_constant(value, &dim, &error));
    return dim;
}

/* Building a form from itself changes nothing. */
static void assert_fixed(const fer_dim *dim)
{
    fer_dim *again = parse(fer_dim_text(dim));
    assert_true(fer_dim_equal(dim, again));
    assert_string_equal(fer_dim_text(dim), fer_dim_text(again));
    fer_dim_release(again);
}

static void assert_compares(const char *a, const char *b, bool is_equal)
{
    fer_dim *left = parse(a), *right = parse(b);
    if (fer_dim_equal(left, right) != is_equal)
        fail_msg("%s is %s, %s is %s", a, fer_dim_text(left), b, fer_dim_text(right));
    if (is_equal) {
        assert_true(fer_dim_hash(left) == fer_dim_hash(right));
        assert_string_equal(fer_dim_text(left), fer_dim_text(right));
    } else {
        assert_string_not_equal(fer_dim_text(left), fer_dim_text(right));
    }
    assert_fixed(left);
    assert_fixed(right);
    fer_dim_release(left);
    fer_dim_release(right);
}

#define MAX_ASSIGNMENTS 8

/* Reads `n=1 k=4` into assignments, whose names lie in `copy`. */
static size_t read_assignments(char *copy, fer_assignment *assignments)
{
    size_t count = 0;
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        assert_true(count < MAX_ASSIGNMENTS);
        assignments[count++] = (fer_assignment){
            .space = FER_NAMESPACE_CALLER, .name = word, .value = strtoll(equals + 1, NULL, 10)};
    }
    return count;
}

/* Parses and evaluates; either may fail. */
static fer_status evaluate(const char *text, const char *values, int64_t *out_value,
                           fer_error *error)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", values);
    fer_assignment assignments[MAX_ASSIGNMENTS];
    size_t num_assignments = read_assignments(copy, assignments);
    fer_dim *dim;
    fer_status status = fer_dim_parse(text, &dim, error);
    if (status == FER_OK)
        status = fer_dim_evaluate(dim, assignments, num_assignments, out_value, error);
    fer_dim_release(dim);
    return status;
}

static void assert_value(const char *text, const char *values, int64_t expected)
{
    fer_error error = FER_ERROR_INIT;
    int64_t value = 0;
    ASSERT_OK(&error, evaluate(text, values, &value, &error));
    assert_int_equal(value, expected);
}

static void check_row(const testing_row *row)
{
    const char *kind = row->columns[0], *a = row->columns[1], *b = row->columns[2];
    fer_error error = FER_ERROR_INIT;
    int64_t value;
    if (strcmp(kind, "eq") == 0 || strcmp(kind, "ne") == 0) {
        assert_compares(a, b, kind[0] == 'e');
    } else if (strcmp(kind, "val") == 0) {
        assert_value(a, b, strtoll(row->columns[3], NULL, 10));
    } else if (strcmp(kind, "err") == 0) {
        ASSERT_FAILS(&error, testing_status(row->columns[3]), evaluate(a, b, &value, &error), "");
    } else {
        assert_string_equal(kind, "print");
        fer_dim *dim = parse(a);
        assert_string_equal(fer_dim_text(dim), b);
        fer_dim_release(dim);
    }
}

static void test_case_table(void **state)
{
    (void)state;
    testing_table table = testing_table_read("dims.tsv");
    assert_true(table.num_rows >= 60);
    for (size_t i = 0; i < table.num_rows; i++)
        check_row(&table.rows[i]);
    testing_table_free(&table);
}

static void test_rule_1_polynomials(void **state)
{
    (void)state;
    assert_compares("n + w", "w + n", true);
    assert_compares("n + n", "2 * n", true);
    assert_compares("(n + 1) * (n - 1)", "n * n - 1", true);
    assert_compares("(a + b + c) * (a - b - c)", "a * a - b * b - 2 * b * c - c * c", true);
    assert_compares("(n // 2) * (n // 2)", "n // 2", false);
    assert_compares("w * (n // 2)", "(n // 2) * w", true);
    assert_compares("n * w", "n + w", false);
}

static void test_rule_2_division_by_a_constant(void **state)
{
    (void)state;
    assert_compares("(2 * n + 3) // 2", "n + 1", true);
    assert_compares("(6 * n + 5) // 4", "n + n // 2 + 1", true);
    assert_compares("(4 * n + 2) // 6", "(2 * n + 1) // 3", true);
    assert_compares("(4 * n + 3) // 6", "(2 * n + 1) // 3", true);
    assert_compares("-n // 8", "7 * n // 8 - n", true);
    assert_compares("n // -8", "-n // 8", true);
    assert_compares("n // 2 // 3 // 5", "n // 30", true);
    assert_compares("(n // 2 + 1) // 2", "(n + 2) // 4", true);
    assert_compares("(n // 2 + 3) // 2", "(n + 2) // 4 + 1", true);
    assert_compares("3 * (n // 2) // 3", "n // 2", true);
    assert_compares("3 * (n // 7) // 5 // 3", "n // 35", true);
    assert_compares("n // w // 2 // 3", "n // w // 6", true);
    assert_compares("(n + 4294967296) // 4294967296", "n // 4294967296 + 1", true);
}

static void test_rule_3_division_by_a_polynomial(void **state)
{
    (void)state;
    assert_compares("(n * w + w) // w", "n + 1", true);
    assert_compares("(n + w) // (w + n)", "1", true);
    assert_compares("0 // (n + w)", "0", true);
    assert_compares("n * w // (w * c)", "n // c", true);
    assert_compares("(2 * n + 2) // (4 * w)", "(n + 1) // (2 * w)", true);
    assert_compares("(n * w + w) // (2 * w)", "(n + 1) // 2", true);
    assert_compares("n // -w", "-n // w", true);
    assert_compares("-n // -w", "n // w", true);
    assert_compares("n // (1 - w)", "-n // (w - 1)", true);
    assert_compares("n // w // w", "n // (w * w)", false);
    assert_compares("(n + 1) // w", "n // w + 1 // w", false);
}

static void test_modulo_follows_division(void **state)
{
    (void)state;
    assert_compares("n % 3", "n - 3 * (n // 3)", true);
    assert_compares("n % w", "n - w * (n // w)", true);
    assert_compares("n % -3", "n + 3 * (n // -3)", true);
    assert_compares("n % n", "0", true);
    assert_compares("0 % n", "0", true);
    assert_compares("(n * w) % w", "0", true);
}

/* Every sign combination, folded and evaluated. */
static void test_division_floors(void **state)
{
    (void)state;
    static const int64_t NUMBERS[] = {-7, -6, -5, -2, -1, 0, 1, 2, 5, 6, 7};
    static const size_t COUNT = sizeof NUMBERS / sizeof *NUMBERS;
    for (size_t i = 0; i < COUNT * COUNT; i++) {
        int64_t x = NUMBERS[i / COUNT], y = NUMBERS[i % COUNT];
        if (y == 0)
            continue;
        int64_t rest = ((x % y) + y) % y; /* the sign of y */
        int64_t quotient = (x - rest) / y;
        char text[64], values[64];
        snprintf(values, sizeof values, "x=%d y=%d", (int)x, (int)y);
        assert_value("x // y", values, quotient);
        assert_value("x % y", values, rest);
        snprintf(text, sizeof text, "%d // %d", (int)x, (int)y);
        assert_value(text, "", quotient);
        snprintf(text, sizeof text, "%d %% %d", (int)x, (int)y);
        assert_value(text, "", rest);
        snprintf(text, sizeof text, "x // %d", (int)y);
        assert_value(text, values, quotient);
        snprintf(text, sizeof text, "%d %% y", (int)x);
        assert_value(text, values, rest);
    }
}

static void test_evaluation_is_exact_between_the_steps(void **state)
{
    (void)state;
    assert_value("n * w // w * 1 - n + 5", "n=9223372036854775807 w=9223372036854775807", 5);
    assert_value("n * n // (n + 1)", "n=9223372036854775807", INT64_MAX - 1);
    assert_value("(n + w) // 2", "n=9223372036854775807 w=9223372036854775807", INT64_MAX);
    assert_value("(n - w) % 10", "n=9223372036854775807 w=-9223372036854775808", 5);
    assert_value("a * b * c * d",
                 "a=9223372036854775807 b=9223372036854775807 "
                 "c=9223372036854775807 d=0",
                 0);
    fer_error error = FER_ERROR_INIT;
    int64_t value;
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 evaluate("a * a * a // b",
                          "a=9223372036854775807 b=9223372036854775807 c=9223372036854775807",
                          &value, &error),
                 "a * a * a // b", "int64");
    ASSERT_FAILS(&error, FER_OVERFLOW_ERROR,
                 evaluate("-n", "n=-9223372036854775808", &value, &error), "-n");
}

static void test_evaluation_names_what_is_wrong(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    int64_t value;
    ASSERT_FAILS(&error, FER_ZERO_DIVISION_ERROR,
                 evaluate("a + n // (m - 1)", "a=1 n=4 m=1", &value, &error), "m - 1 is 0");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, evaluate("n + k", "n=4", &value, &error), "k");
    /* A zero beside it does not hide an undefined division. */
    ASSERT_FAILS(&error, FER_ZERO_DIVISION_ERROR,
                 evaluate("z * (n // m)", "z=0 n=4 m=0", &value, &error), "m is 0");
    assert_int_equal(value, 0);
}

static void test_namespaces_never_meet(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *w[3], *halves[3], *two = constant(2);
    for (int space = 0; space < 3; space++) {
        w[space] = symbol((fer_namespace)space, "w");
        ASSERT_OK(&error, fer_dim_floor_divide(w[space], two, &halves[space], &error));
        assert_string_equal(fer_dim_text(w[space]), "w");
        assert_string_equal(fer_dim_text(halves[space]), "w // 2");
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            assert_int_equal(fer_dim_equal(w[i], w[j]), i == j);
            assert_int_equal(fer_dim_equal(halves[i], halves[j]), i == j);
        }
    /* The order of the operands still does not matter. */
    fer_dim *left, *right, *difference;
    ASSERT_OK(&error, fer_dim_add(halves[0], halves[2], &left, &error));
    ASSERT_OK(&error, fer_dim_add(halves[2], halves[0], &right, &error));
    ASSERT_OK(&error, fer_dim_subtract(halves[0], halves[1], &difference, &error));
    assert_true(fer_dim_equal(left, right));
    assert_true(fer_dim_hash(left) == fer_dim_hash(right));
    assert_false(fer_dim_is_static(difference));
    fer_dim *all[] = {two,  left, right,     difference, w[0],
                      w[1], w[2], halves[0], halves[1],  halves[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fer_dim_release(all[i]);
}

static void test_static_dims(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    int64_t value;
    fer_dim *six = parse("2 * 3 + n - n"), *plain = constant(6), *open = parse("n + 1");
    assert_true(fer_dim_is_static(six));
    assert_true(fer_dim_equal(six, plain));
    assert_true(fer_dim_hash(six) == fer_dim_hash(plain));
    ASSERT_OK(&error, fer_dim_value(six, &value, &error));
    assert_int_equal(value, 6);
    assert_false(fer_dim_is_static(open));
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_dim_value(open, &value, &error), "n + 1");
    fer_dim *zero = constant(0);
    assert_true(fer_dim_is_static(zero));
    ASSERT_OK(&error, fer_dim_value(zero, &value, &error));
    assert_int_equal(value, 0);
    fer_dim_release(six);
    fer_dim_release(plain);
    fer_dim_release(open);
    fer_dim_release(zero);
}

static void test_bare_symbols(void **state)
{
    (void)state;
    fer_namespace space = FER_NAMESPACE_CALLER;
    fer_dim *bare = symbol(FER_NAMESPACE_PARAMETER, "group");
    assert_string_equal(fer_dim_symbol_name(bare, &space), "group");
    assert_int_equal(space, FER_NAMESPACE_PARAMETER);
    fer_dim_release(bare);
    static const char *const OTHERS[] = {"n + 1", "2 * n", "n * n", "n // 2", "-n", "3", "0"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        fer_dim *dim = parse(OTHERS[i]);
        assert_null(fer_dim_symbol_name(dim, NULL));
        fer_dim_release(dim);
    }
}

static void test_symbols_come_in_the_order_of_the_text(void **state)
{
    (void)state;
    fer_dim *dim = parse("z - a * ((q + b) // (z * c)) + (b - a) % k");
    static const char *const NAMES[] = {"z", "a", "b", "q", "c", "k"};
    const char *text = fer_dim_text(dim);
    const char *previous = text;
    assert_int_equal(fer_dim_num_symbols(dim), 6);
    for (size_t i = 0; i < 6; i++) {
        const char *name = fer_dim_symbol_at(dim, i, NULL);
        const char *place = strchr(text, name[0]);
        assert_true(place >= previous);
        previous = place;
        bool is_known = false;
        for (size_t j = 0; j < 6; j++)
            is_known |= strcmp(name, NAMES[j]) == 0;
        assert_true(is_known);
    }
    fer_dim_release(dim);
    dim = parse("n - n + 4");
    assert_int_equal(fer_dim_num_symbols(dim), 0);
    fer_dim_release(dim);
}

static void assert_substitutes(const char *text, const char *name, const char *replacement,
                               const char *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = parse(text), *by = parse(replacement), *result;
    fer_substitution substitution = {FER_NAMESPACE_CALLER, name, by};
    ASSERT_OK(&error, fer_dim_substitute(dim, &substitution, 1, &result, &error));
    assert_string_equal(fer_dim_text(result), expected);
    fer_dim_release(dim);
    fer_dim_release(by);
    fer_dim_release(result);
}

static void test_substitution_folds_again(void **state)
{
    (void)state;
    assert_substitutes("w // 2", "w", "8", "4");
    assert_substitutes("w // 2", "w", "w // 2", "w // 4");
    assert_substitutes("n * w // 4", "w", "4", "n");
    assert_substitutes("(n + w) // (n + 1)", "w", "1", "1");
    assert_substitutes("n // w", "w", "-1", "-n");
    assert_substitutes("n + 1", "w", "3", "n + 1");
    assert_substitutes("n * w // w + n % c", "c", "1", "n");
    /* The product leaves int64 between the steps only. */
    assert_substitutes("9223372036854775807 * n // w", "n", "w", "9223372036854775807");
}

static void test_substitution_replaces_at_once_and_by_namespace(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *n = parse("n"), *w = parse("w"), *dim = parse("n - 2 * w"), *result;
    fer_substitution swap[] = {{FER_NAMESPACE_CALLER, "n", w}, {FER_NAMESPACE_CALLER, "w", n}};
    ASSERT_OK(&error, fer_dim_substitute(dim, swap, 2, &result, &error));
    assert_string_equal(fer_dim_text(result), "w - 2 * n");
    fer_dim_release(result);

    fer_substitution other = {FER_NAMESPACE_SIGNATURE, "n", w};
    ASSERT_OK(&error, fer_dim_substitute(dim, &other, 1, &result, &error));
    assert_true(fer_dim_equal(dim, result));
    fer_dim_release(result);

    fer_dim *quotient = parse("n // w"), *zero = constant(0);
    fer_substitution divisor = {FER_NAMESPACE_CALLER, "w", zero};
    ASSERT_FAILS(&error, FER_ZERO_DIVISION_ERROR,
                 fer_dim_substitute(quotient, &divisor, 1, &result, &error), "n // w");
    assert_null(result);
    fer_dim *all[] = {n, w, dim, quotient, zero};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fer_dim_release(all[i]);
}

static void test_names_are_checked(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim;
    static const char *const BAD[] = {"", "2n", "n m", "n-m", "n\n", "\xc3\xa9", "a.b"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_dim_symbol(FER_NAMESPACE_CALLER, BAD[i], &dim, &error), "name", BAD[i]);
        assert_null(dim);
    }
    dim = symbol(FER_NAMESPACE_CALLER, "_Az09_");
    fer_dim_release(dim);
}

static void test_a_reference_keeps_a_dim(void **state)
{
    (void)state;
    fer_dim *dim = parse("n // w + 1");
    fer_dim *shared = fer_dim_retain(dim);
    fer_dim_release(dim);
    assert_string_equal(fer_dim_text(shared), "n // w + 1");
    fer_dim_release(shared);
    fer_dim_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_table),
        cmocka_unit_test(test_rule_1_polynomials),
        cmocka_unit_test(test_rule_2_division_by_a_constant),
        cmocka_unit_test(test_rule_3_division_by_a_polynomial),
        cmocka_unit_test(test_modulo_follows_division),
        cmocka_unit_test(test_division_floors),
        cmocka_unit_test(test_evaluation_is_exact_between_the_steps),
        cmocka_unit_test(test_evaluation_names_what_is_wrong),
        cmocka_unit_test(test_namespaces_never_meet),
        cmocka_unit_test(test_static_dims),
        cmocka_unit_test(test_bare_symbols),
        cmocka_unit_test(test_symbols_come_in_the_order_of_the_text),
        cmocka_unit_test(test_substitution_folds_again),
        cmocka_unit_test(test_substitution_replaces_at_once_and_by_namespace),
        cmocka_unit_test(test_names_are_checked),
        cmocka_unit_test(test_a_reference_keeps_a_dim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
