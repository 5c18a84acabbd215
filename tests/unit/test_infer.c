/* Binding operand types to a signature: what comes out, and what each refusal says. */
#include "testing.h"

#include "signature/unify.h"

static fer_error error = FER_ERROR_INIT;

#define MAX_TYPES 16

/* A declaration, operand types separated by `;`, and what inferring them gave. */
typedef struct inference {
    fer_signature *signature;
    fer_type *operands[MAX_TYPES];
    size_t num_operands;
    fer_type *results[MAX_TYPES];
    size_t num_results;
    fer_status status;
} inference;

static void parse_types(const char *text, fer_type **out_types, size_t *out_count)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    *out_count = 0;
    for (char *one = strtok(copy, ";"); one != NULL; one = strtok(NULL, ";")) {
        assert_true(*out_count < MAX_TYPES);
        ASSERT_OK(&error, fer_type_parse(one, &out_types[*out_count], &error));
        (*out_count)++;
    }
}

static inference infer(const char *declaration, const char *operands)
{
    inference made = {0};
    made.status = fer_signature_parse(declaration, &made.signature, &error);
    if (made.status != FER_OK)
        return made;
    parse_types(operands, made.operands, &made.num_operands);
    made.num_results = fer_signature_folded(made.signature)->num_results;
    made.status = fer_signature_infer(made.signature, (const fer_type *const *)made.operands,
                                      made.num_operands, made.results, made.num_results, &error);
    return made;
}

static void forget(inference *made)
{
    for (size_t i = 0; i < made->num_operands; i++)
        fer_type_release(made->operands[i]);
    for (size_t i = 0; i < made->num_results; i++)
        fer_type_release(made->results[i]);
    fer_signature_release(made->signature);
    fer_error_clear(&error);
}

/* The results' canonical texts, as one string. */
static void print_results(const inference *made, char *out, size_t size)
{
    *out = '\0';
    for (size_t i = 0; i < made->num_results; i++) {
        size_t length = strlen(out);
        snprintf(out + length, size - length, "%s%s", i == 0 ? "" : "; ",
                 fer_type_text(made->results[i]));
    }
}

/* The same types with canonical dims: `f32[w//2]` as `f32[w // 2]`; `?` stays. */
static void canonical(const char *types, char *out, size_t size)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", types);
    *out = '\0';
    for (char *one = strtok(copy, ";"); one != NULL; one = strtok(NULL, ";")) {
        one += strspn(one, " ");
        size_t length = strlen(out);
        fer_type *type = NULL;
        if (strchr(one, '?') == NULL)
            ASSERT_OK(&error, fer_type_parse(one, &type, &error));
        snprintf(out + length, size - length, "%s%s", length == 0 ? "" : "; ",
                 type == NULL ? one : fer_type_text(type));
        fer_type_release(type);
    }
}

static void check_infers(const char *declaration, const char *operands, const char *expected)
{
    inference made = infer(declaration, operands);
    if (made.status != FER_OK)
        fail_msg("%s of %s: %s: %s", declaration, operands, fer_status_name(made.status),
                 error.message);
    char results[512];
    char wanted[512];
    print_results(&made, results, sizeof results);
    canonical(expected, wanted, sizeof wanted);
    assert_string_equal(results, wanted);
    forget(&made);
}

/* Expects the message whole, and the members that it names. */
static void check_refuses(const char *declaration, const char *operands, fer_status kind,
                          const char *message)
{
    inference made = infer(declaration, operands);
    assert_int_equal(made.status, kind);
    assert_int_equal(error.kind, kind);
    assert_string_equal(error.message, message);
    for (size_t i = 0; i < made.num_results; i++)
        assert_null(made.results[i]);
    forget(&made);
}

static void check_members(const char *declaration, const char *operands, const char *operand,
                          int axis, const char *expected, const char *actual)
{
    inference made = infer(declaration, operands);
    assert_int_not_equal(made.status, FER_OK);
    assert_string_equal(error.op, "f");
    assert_string_equal(error.operand == NULL ? "" : error.operand, operand);
    assert_int_equal(error.axis, axis);
    assert_string_equal(error.expected == NULL ? "" : error.expected, expected);
    assert_string_equal(error.actual == NULL ? "" : error.actual, actual);
    forget(&made);
}

static bool is_kind(const char *text)
{
    return strcmp(text, "") != 0 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(text);
}

static void check_row(const testing_row *row)
{
    const char *const *columns = row->columns;
    if (!is_kind(columns[2])) {
        check_infers(columns[0], columns[1], columns[2]);
        return;
    }
    inference made = infer(columns[0], columns[1]);
    if (made.status != testing_status(columns[2]))
        fail_msg("row %zu: %s", row->line, fer_status_name(made.status));
    char words[256];
    snprintf(words, sizeof words, "%s", columns[3]);
    for (char *word = strtok(words, ";"); word != NULL; word = strtok(NULL, ";"))
        if (strstr(error.message, word) == NULL)
            fail_msg("row %zu: '%s' lacks '%s'", row->line, error.message, word);
    forget(&made);
}

static void test_table(void **state)
{
    (void)state;
    testing_table table = testing_table_read("infer.tsv");
    assert_true(table.num_rows >= 35);
    for (size_t i = 0; i < table.num_rows; i++)
        check_row(&table.rows[i]);
    testing_table_free(&table);
}

static void test_counts_and_ranks(void **state)
{
    (void)state;
    check_refuses("f(x: f32[n]) -> f32[n]", "f32[1]; f32[2]", FER_TYPE_ERROR,
                  "f: expected 1 operand, got 2");
    check_refuses("f(x: f32[n], y: f32[n]) -> f32[n]", "f32[1]", FER_TYPE_ERROR,
                  "f: expected 2 operands, got 1");
    check_refuses("f(x: f32[n], y: f32[a, b]) -> f32[n]", "f32[1]; f32[2]", FER_VALUE_ERROR,
                  "f: operand 'y' has rank 1, but rank 2 is declared");
    check_refuses("f(x: f32[a, *s, b]) -> f32[]", "f32[2]", FER_VALUE_ERROR,
                  "f: operand 'x' has rank 1, but rank 2 or more is declared");
    check_members("f(x: f32[a, b]) -> f32[]", "f32[2]", "x", -1, "2", "1");
    check_members("f(x: f32[n]) -> f32[n]", "f32[1]; f32[2]", "", -1, "1", "2");

    fer_signature *signature;
    ASSERT_OK(&error, fer_signature_parse("f(x: f32[n]) -> f32[n]", &signature, &error));
    const fer_type *none = NULL;
    fer_type *result;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_signature_infer(signature, &none, 1, &result, 1, &error), "f: ", "'x'",
                 "no tensor");
    fer_type *results[2];
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_signature_infer(signature, &none, 1, results, 2, &error), "f: ", "1", "2");
    fer_signature_release(signature);
}

static void test_dtypes(void **state)
{
    (void)state;
    check_refuses("f(x: f32[n]) -> f32[n]", "f64[1]", FER_VALUE_ERROR,
                  "f: operand 'x' is f64, but f32 is declared");
    check_refuses("f<T>(x: T[n], y: T[n]) -> T[n]", "f32[1]; f64[1]", FER_VALUE_ERROR,
                  "f: operand 'y' is f64, but its dtype T is f32, bound by operand 'x'");
    check_refuses("f<T: any_float>(x: T[n]) -> T[n]", "i32[1]", FER_VALUE_ERROR,
                  "f: operand 'x' is i32, but its dtype T is one of any_float");
    check_refuses("f<T: i8|u8>(x: T[n]) -> T[n]", "bool[1]", FER_VALUE_ERROR,
                  "f: operand 'x' is bool, but its dtype T is one of i8|u8");
    check_refuses("f<T: any_int>(x: T[n]) -> T[n]", "bool[1]", FER_VALUE_ERROR,
                  "f: operand 'x' is bool, but its dtype T is one of any_int");
    check_refuses("f<to: dtype = f16>(x: to[n]) -> to[n]", "f32[1]", FER_VALUE_ERROR,
                  "f: operand 'x' is f32, but parameter 'to' makes it f16");
    check_members("f<T>(x: T[n], y: T[n]) -> T[n]", "f32[1]; f64[1]", "y", -1, "f32", "f64");
    check_infers("f<T: any_int>(x: T[n]) -> T[n]", "u64[1]", "u64[1]");
    check_infers("f<T: i8|u8>(x: T[n]) -> T[n]", "u8[1]", "u8[1]");
    check_infers("f<T, U>(x: T[n], y: U[m], z: T[m]) -> (U[n], T[n])", "f32[2]; i8[3]; f32[3]",
                 "i8[2]; f32[2]");
    check_infers("f<to: dtype = f16>(x: f32[n]) -> to[n]", "f32[1]", "f16[1]");

    fer_signature *signature;
    fer_type *operands[3];
    size_t num_operands;
    ASSERT_OK(&error, fer_signature_parse("f<A, B>(x: B[n], y: A[n], z: B[n]) -> ( )  effect",
                                          &signature, &error));
    parse_types("i8[1]; f64[1]; i8[1]", operands, &num_operands);
    fer_unification unification;
    ASSERT_OK(&error,
              fer_unify(signature, (const fer_type *const *)operands, 3, &unification, &error));
    assert_int_equal(unification.dtypes[0], FER_F64);
    assert_int_equal(unification.dtypes[1], FER_I8);
    assert_int_equal(unification.num_results, 0);
    fer_unification_clear(&unification);
    for (size_t i = 0; i < 3; i++)
        fer_type_release(operands[i]);
    fer_signature_release(signature);
}

static void test_static_dims(void **state)
{
    (void)state;
    check_refuses("f(x: f32[n, 4]) -> f32[n]", "f32[2, 3]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 1 is 3, but 4 is declared");
    check_refuses("f<g: int = 4>(x: f32[n, g]) -> f32[n]", "f32[2, 3]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 1 is 3, but parameter 'g' makes it 4");
    /* Behind a run the axis is the operand's own. */
    check_refuses("f<g: int = 4>(x: f32[*s, g]) -> f32[]", "f32[2, 3, 5]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 2 is 5, but parameter 'g' makes it 4");
    check_refuses("f<g: int = 4>(x: f32[n, g // 2]) -> f32[n]", "f32[2, 3]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 1 is 3, but 2 is declared");
    check_refuses("f(x: f32[n, 4]) -> f32[n]", "f32[2, k]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 1 is k, but 4 is declared; if the two are equal, rebind the "
                  "value to say so");
    check_refuses("f<g: int = 4>(x: f32[n, g]) -> f32[n]", "f32[2, k // 2]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 1 is k // 2, but parameter 'g' makes it 4; if the two are "
                  "equal, rebind the value to say so");
    check_members("f(x: f32[n, 4]) -> f32[n]", "f32[2, 3]", "x", 1, "4", "3");
    check_infers("f(x: f32[0, 1]) -> f32[1, 0]", "f32[0, 1]", "f32[1, 0]");
}

static void test_symbols(void **state)
{
    (void)state;
    check_refuses("softmax(mask: f32[n], x: f32[m, n]) -> f32[n]", "f32[128]; f32[1, 64]",
                  FER_VALUE_ERROR,
                  "softmax: operand 'x' axis 1 is 64, but n is 128, bound by operand 'mask' axis "
                  "0");
    check_refuses("f(x: f32[n, n]) -> f32[n]", "f32[2, 3]", FER_VALUE_ERROR,
                  "f: operand 'x' axis 1 is 3, but n is 2, bound by operand 'x' axis 0");
    check_refuses("f(x: f32[n], y: f32[n]) -> f32[n]", "f32[k]; f32[k + 1]", FER_VALUE_ERROR,
                  "f: operand 'y' axis 0 is k + 1, but n is k, bound by operand 'x' axis 0; if the "
                  "two are equal, rebind the value to say so");
    check_refuses("f(x: f32[n], y: f32[n]) -> f32[n]", "f32[k]; f32[4]", FER_VALUE_ERROR,
                  "f: operand 'y' axis 0 is 4, but n is k, bound by operand 'x' axis 0; if the two "
                  "are equal, rebind the value to say so");
    check_members("f(x: f32[n], y: f32[m, n]) -> f32[n]", "f32[2]; f32[1, 3]", "y", 1, "2", "3");
    /* Compared by canonical form; a caller's name is never the signature's. */
    check_infers("f(x: f32[n], y: f32[n]) -> f32[n]", "f32[2 * (k + 1)]; f32[k + 2 + k]",
                 "f32[2 * k + 2]");
    check_infers("f(x: f32[n, w]) -> f32[w + 1, n]", "f32[w, n]", "f32[n + 1, w]");
    check_infers("f(x: f32[a, b]) -> f32[a * b, a - a, a // b]", "f32[2 * k, k]",
                 "f32[2 * k * k, 0, 2]");
    check_infers("f(x: f32[n]) -> f32[(n - 3) // 2 + 1]", "f32[2 * w + 3]", "f32[w + 1]");
    check_infers("f<n_: int = 3>(x: f32[n]) -> f32[n * n_]", "f32[n_]", "f32[3 * n_]");
}

static void test_runs(void **state)
{
    (void)state;
    check_infers("f(x: f32[*s]) -> f32[*s, 2]", "f32[]", "f32[2]");
    check_infers("f(x: f32[n, *s, m]) -> f32[m, *s, n]", "f32[1, 2, 3, 4]", "f32[4, 2, 3, 1]");
    check_infers("f(x: f32[n, *s, m]) -> f32[m, *s, n]", "f32[1, 4]", "f32[4, 1]");
    check_infers("f(x: f32[*s], y: f32[*t]) -> f32[*t, *s, *s]", "f32[a, 2]; f32[3]",
                 "f32[3, a, 2, a, 2]");
    check_infers("f(x: f32[*s, n], y: f32[n, *s]) -> f32[*s]", "f32[2, 3, 4]; f32[4, 2, 3]",
                 "f32[2, 3]");
    check_refuses("f(x: f32[*s, n], y: f32[m, *s]) -> f32[*s]", "f32[2, 3, 4]; f32[4, 2, 5]",
                  FER_VALUE_ERROR,
                  "f: operand 'y' axis 2 is 5, but *s has 3 there, bound by operand 'x' axis 1");
    check_refuses(
        "f(x: f32[*s], y: f32[*s]) -> f32[*s]", "f32[2, k]; f32[2]", FER_VALUE_ERROR,
        "f: operand 'y' has [2] for *s, but *s is [2, k], bound by operand 'x'; operands are "
        "not broadcast");
    check_refuses(
        "f(x: f32[*s], y: f32[*s]) -> f32[*s]", "f32[]; f32[2]", FER_VALUE_ERROR,
        "f: operand 'y' has [2] for *s, but *s is [], bound by operand 'x'; operands are not "
        "broadcast");
    check_refuses("f(x: f32[*s], y: f32[*s]) -> f32[*s]", "f32[k]; f32[2]", FER_VALUE_ERROR,
                  "f: operand 'y' axis 0 is 2, but *s has k there, bound by operand 'x' axis 0; if "
                  "the two are equal, rebind the value to say so");
    check_infers("f(x: f32[*s]) -> f32[*s]", "f32[1, 1, 1, 1, 1, 1, 1, 1]",
                 "f32[1, 1, 1, 1, 1, 1, 1, 1]");
    check_refuses("f(x: f32[*s]) -> f32[*s, 1]", "f32[1, 1, 1, 1, 1, 1, 1, 1]", FER_VALUE_ERROR,
                  "f: result 0 would have rank 9; the highest rank is 8");
    check_refuses("f(x: f32[*s]) -> f32[*s, *s, *s, *s, *s, *s, *s, *s, *s, *s, *s]",
                  "f32[1, 1, 1, 1, 1, 1, 1, 1]", FER_VALUE_ERROR,
                  "f: result 0 would have rank 88; the highest rank is 8");
}

static void test_conditions(void **state)
{
    (void)state;
    check_refuses("f<g: int = 8>(x: u8[n], y: u8[m]) -> u8[n] where n%g == m", "u8[9]; u8[3]",
                  FER_VALUE_ERROR, "f: condition 'n%g == m' is false with n = 9, g = 8, m = 3");
    check_infers("f(x: u8[n]) -> u8[n] where n % 8 == 0", "u8[k]", "u8[k]");
    check_infers("f(x: u8[n], y: u8[m]) -> u8[n] where n == m, n <= m, n < m + 1", "u8[k]; u8[k]",
                 "u8[k]");
    check_refuses("f(x: u8[n], y: u8[m]) -> u8[n] where n < m", "u8[k + 1]; u8[k]", FER_VALUE_ERROR,
                  "f: condition 'n < m' is false with n = k + 1, m = k");
    check_members("f(x: u8[n], y: u8[m]) -> u8[n] where n  <  m", "u8[4]; u8[3]", "", -1, "n < m",
                  "n = 4, m = 3");
    inference zero = infer("f(x: u8[n], y: u8[m]) -> u8[n] where n % m == 0", "u8[4]; u8[0]");
    assert_int_equal(zero.status, FER_ZERO_DIVISION_ERROR);
    assert_non_null(strstr(error.message, "f: condition 'n % m == 0' with n = 4, m = 0: "));
    forget(&zero);
    static const struct {
        const char *comparison;
        bool holds[3]; /* for 1, 2, 3 against 2 */
    } ROWS[] = {
        {"==", {false, true, false}}, {"!=", {true, false, true}}, {"<", {true, false, false}},
        {"<=", {true, true, false}},  {">", {false, false, true}}, {">=", {false, true, true}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        for (int value = 1; value <= 3; value++) {
            char declaration[80];
            char operand[16];
            snprintf(declaration, sizeof declaration, "f(x: u8[n]) -> () effect where n %s 2",
                     ROWS[i].comparison);
            snprintf(operand, sizeof operand, "u8[%d]", value);
            inference made = infer(declaration, operand);
            assert_int_equal(made.status, ROWS[i].holds[value - 1] ? FER_OK : FER_VALUE_ERROR);
            forget(&made);
        }
    }
}

static void test_results(void **state)
{
    (void)state;
    check_refuses("conv(x: f32[n], k: f32[m]) -> f32[n - m + 1]", "f32[3]; f32[5]", FER_VALUE_ERROR,
                  "conv: result 0 axis 0 ('n - m + 1') is -1 with n = 3, m = 5; a dim is not "
                  "negative");
    check_members("f(x: f32[n], k: f32[m]) -> f32[n - m + 1]", "f32[3]; f32[5]", "", 0, "0 or more",
                  "-1");
    /* Axes are those of the type, where a run stands for its dims. */
    check_refuses("f(x: f32[*s, n]) -> (f32[*s], y: f32[*s, n - 3])", "f32[5, 6, 2]",
                  FER_VALUE_ERROR,
                  "f: result 'y' axis 2 ('n - 3') is -1 with n = 2; a dim is not negative");
    check_refuses("f<g: int = 2>(x: f32[n]) -> (f32[n], y: f32[n // g - 3])", "f32[4]",
                  FER_VALUE_ERROR,
                  "f: result 'y' axis 0 ('n // g - 3') is -1 with n = 4, g = 2; a dim is not "
                  "negative");
    check_infers("f(x: f32[n], k: f32[m]) -> f32[n - m + 1]", "f32[a]; f32[5]", "f32[a - 4]");
    check_infers("f(x: f32[n]) -> f32[n - 4]", "f32[4]", "f32[0]");
    check_infers("mask<T>(x: T[n]) -> (T[kept], i64[kept_2, n])", "f32[8]", "f32[?]; i64[?, 8]");
    check_infers("f(x: f32[n]) -> ()  effect", "f32[8]", "");
    check_infers("f(x: f32[n]) -> f32[]", "f32[8]", "f32[]");
    check_refuses("f(x: f32[n], y: f32[m]) -> f32[n // m]", "f32[8]; f32[0]",
                  FER_ZERO_DIVISION_ERROR,
                  "f: result 0 axis 0 ('n // m') with n = 8, m = 0: division by zero");
    check_refuses("f(x: f32[*s, m]) -> f32[*s, 2 // m]", "f32[0]", FER_ZERO_DIVISION_ERROR,
                  "f: result 0 axis 0 ('2 // m') with m = 0: division by zero");
    inference made = infer("f(x: u8[n]) -> u8[n * 4611686018427387904]", "u8[4]");
    assert_int_equal(made.status, FER_OVERFLOW_ERROR);
    assert_non_null(strstr(error.message, "f: result 0 axis 0"));
    assert_non_null(strstr(error.message, "n = 4"));
    forget(&made);
    made = infer("f(x: u8[n]) -> f64[n, n]", "u8[3037000499]"); /* bytes, not elements */
    assert_int_equal(made.status, FER_OVERFLOW_ERROR);
    assert_non_null(strstr(error.message, "f: "));
    assert_string_equal(error.op, "f");
    forget(&made);
}

static void test_incomplete(void **state)
{
    (void)state;
    check_refuses(
        "f<g: int, k: int = 2, h: str>(x: f32[n]) -> f32[n // g]", "f32[8]", FER_VALUE_ERROR,
        "f: parameters 'g', 'h' have no value; give them at declaration, or subscript the "
        "op: f<g = ...> in a program, --param g=... with `ferrule call`, f[{'g': ...}] in Python, "
        "fer_op_specialise in C");
    check_refuses("f<to: dtype>(x: f32[n]) -> to[n]", "f32[8]", FER_VALUE_ERROR,
                  "f: parameter 'to' has no value; give it at declaration, or subscript the op: "
                  "f<to = ...> in a program, --param to=... with `ferrule call`, "
                  "f[{'to': ...}] in Python, fer_op_specialise in C");
}

static void test_devices(void **state)
{
    (void)state;
    fer_dim *two;
    fer_type *types[2];
    fer_type *result;
    fer_signature *signature;
    ASSERT_OK(&error, fer_dim_constant(2, &two, &error));
    const fer_dim *dims[] = {two};
    for (int i = 0; i < 2; i++)
        ASSERT_OK(&error, fer_type_create(FER_F32, 1, dims, (fer_device){i}, &types[i], &error));
    ASSERT_OK(&error, fer_signature_parse("f(x: f32[n], y: f32[n]) -> f32[n]", &signature, &error));

    const fer_type *mixed[] = {types[0], types[1]};
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR, fer_signature_infer(signature, mixed, 2, &result, 1, &error),
        "f: operand 'y' is on device 1, but operand 'x' is on device 0; insert an explicit "
        "transfer");
    assert_int_equal(fer_signature_infer(signature, mixed, 2, &result, 1, &error), FER_VALUE_ERROR);
    assert_string_equal(error.operand, "y");
    assert_string_equal(error.expected, "0");
    assert_string_equal(error.actual, "1");
    fer_error_clear(&error);
    const fer_type *second[] = {types[1], types[1]};
    ASSERT_OK(&error, fer_signature_infer(signature, second, 2, &result, 1, &error));
    assert_int_equal(fer_type_device(result).id, 1);
    fer_type_release(result);
    fer_signature_release(signature);
    fer_type_release(types[0]);
    fer_type_release(types[1]);
    fer_dim_release(two);
}

/* A dim that only a kernel's run will tell binds nothing. */
static void test_open_operand_dims(void **state)
{
    (void)state;
    inference made = infer("f(x: f32[n]) -> f32[k]", "f32[8]");
    assert_int_equal(made.status, FER_OK);
    static const char *const DECLARATIONS[] = {"g(x: f32[n]) -> f32[n]", "g(x: f32[3]) -> f32[]",
                                               "g(x: f32[*s]) -> f32[*s]"};
    for (size_t i = 0; i < 3; i++) {
        fer_signature *signature;
        fer_type *result;
        ASSERT_OK(&error, fer_signature_parse(DECLARATIONS[i], &signature, &error));
        const fer_type *operand = made.results[0];
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_signature_infer(signature, &operand, 1, &result, 1, &error),
                     "g: operand 'x' axis 0", "not known");
        fer_signature_release(signature);
    }
    forget(&made);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_counts_and_ranks),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_static_dims),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_open_operand_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
