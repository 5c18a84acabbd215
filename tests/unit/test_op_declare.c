/* Declaring: parameters that fold first and change again, where kernels are looked for, what makes
 * two ops equal. */
#include "testing_op.h"

#include "base/path.h"
#include "signature/unify.h"
#include <sys/stat.h>
#include <unistd.h>

/* Keeps every `step`-th element of each row of `rows`, from `first` on. */
static const char SOURCE[] = "#include <ferrule/kernel.h>\n"
                             "DTYPE_VAR(T, f32);\n"
                             "DTYPE_VAR(to, f32);\n"
                             "PARAM(int, rows, 1);\n"
                             "PARAM(int, step, 1);\n"
                             "PARAM(int, first, 0);\n"
                             "KERNEL(every, OUT(f32, 2, y), IN(f32, 2, x))\n"
                             "{\n"
                             "    for (index_t i = 0; i < rows; i++)\n"
                             "        for (index_t j = 0; j < DIM(y, 1); j++)\n"
                             "            AT(y, i, j) = AT(x, i, first + step * j);\n"
                             "    return OK;\n"
                             "}\n"
                             "KERNEL(repeat, OUT(f32, 1, y), IN(f32, 1, x))\n"
                             "{\n"
                             "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
                             "        AT(y, i) = AT(x, i % DIM(x, 0));\n"
                             "    return OK;\n"
                             "}\n"
                             "MAP(convert, to, IN(T, x)) { return (to)x; }\n";

static const char EVERY[] = "every<rows: int = 2, step: int = 2, first: int = 1>"
                            "(x: f32[rows, n]) -> f32[rows, n // step]";

/* --- Parameters ------------------------------------------------------------------------------- */

/* The first row of `every` over 2 x 6 counting up. */
static void check_every(const fer_op *op, size_t count, const float *row)
{
    fer_tensor *flat = make_counting(FER_F32, 12);
    fer_tensor *x = make_view(FER_F32, EXTENTS(2, 6), fer_tensor_data(flat));
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    assert_extents(y, EXTENTS(2, (int64_t)count));
    assert_memory_equal(fer_tensor_const_data(y), row, count * sizeof *row);
    RELEASE(flat, x, y);
}

static void test_the_other_parameters_stay(void **state)
{
    (void)state;
    fer_op *op = declare_source(EVERY, SOURCE);
    fer_op *three = specialise_op(op, int_param("step", 3));
    fer_op *start = specialise_op(three, int_param("first", 0));
    fer_op *two = specialise_op(start, int_param("step", 2));
    fer_op *again = specialise_op(two, int_param("first", 1));
    check_every(op, FLOATS(1, 3, 5));
    check_every(three, FLOATS(1, 4));
    check_every(start, FLOATS(0, 3));
    check_every(two, FLOATS(0, 2, 4));
    assert_string_equal(fer_op_text(start),
                        "every<rows: int = 2, step: int = 3, first: int = 0>(x: f32[rows, n]) -> "
                        "f32[rows, n // step]");
    assert_true(fer_op_equal(op, again));
    assert_string_equal(fer_op_token(op), fer_op_token(again));
    assert_int_equal(fer_op_hash(op), fer_op_hash(again));
    assert_false(fer_op_equal(op, two));
    fer_op_release(op);
    /* An op made of another lives without it. */
    fer_op_release(three);
    check_every(again, FLOATS(1, 3, 5));
    fer_op_release(start);
    fer_op_release(two);
    fer_op_release(again);
}

/* A dim that a parameter folded to a number is the parameter's again for the next value. */
static void test_a_pinned_dim_changes_again(void **state)
{
    (void)state;
    fer_op *two = declare_source(EVERY, SOURCE);
    fer_op *one = specialise_op(two, int_param("rows", 1));
    assert_string_equal(fer_signature_pinned_param(fer_op_signature(one), 0, 0), "rows");
    fer_tensor *x = make_ones(FER_F32, EXTENTS(2, 6));
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, one, 1, &x,
                      "every: operand 'x' axis 0 is 2, but parameter "
                      "'rows' makes it 1");
    fer_op *again = specialise_op(one, int_param("rows", 2));
    check_every(again, FLOATS(1, 3, 5));
    assert_true(fer_op_equal(again, two));
    fer_tensor_release(x);
    fer_op_release(two);
    fer_op_release(one);
    fer_op_release(again);
}

/* Values that are given fold before the dims are checked: the text alone could not be declared. */
static void test_given_values_fold_first(void **state)
{
    (void)state;
    static const char OPEN[] = "every<rows: int, step: int = 7, first: int = 1>"
                               "(x: f32[rows, n]) -> f32[rows, n // step]";
    ASSERT_NOT_DECLARED(FER_TYPE_ERROR, OPEN, SOURCE, "'rows'", "not directly bindable");
    const fer_param params[] = {int_param("rows", 2), int_param("step", 2)};
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = OPEN,
                                                     .source = SOURCE,
                                                     .params = params,
                                                     .num_params = 2},
                                  &op, &error));
    check_every(op, FLOATS(1, 3, 5));
    fer_op *written = declare_source(EVERY, SOURCE);
    assert_true(fer_op_equal(op, written));
    assert_string_equal(fer_op_token(op), fer_op_token(written));
    fer_op_release(op);
    const fer_param unknown = int_param("row", 2);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(
                     &(fer_declaration){
                         .signature = EVERY, .source = SOURCE, .params = &unknown, .num_params = 1},
                     &op, &error),
                 "every", "'row'", "did you mean 'rows'?");
    assert_null(op);
    fer_op_release(written);
}

/* A parameter that only a result names enters by itself, and can then be given. */
static void test_a_parameter_that_enters(void **state)
{
    (void)state;
    fer_dim *n = NULL;
    fer_dim *times = NULL;
    fer_dim *product = NULL;
    ASSERT_OK(&error, fer_dim_symbol(FER_NAMESPACE_SIGNATURE, "n", &n, &error));
    ASSERT_OK(&error, fer_dim_symbol(FER_NAMESPACE_PARAMETER, "times", &times, &error));
    ASSERT_OK(&error, fer_dim_multiply(n, times, &product, &error));
    const fer_axis x_axis = {.dim = n};
    const fer_axis y_axis = {.dim = product};
    const fer_operand x = {.name = "x", .type = {FER_F32, NULL, &x_axis, 1}};
    const fer_operand y = {.type = {FER_F32, NULL, &y_axis, 1}};
    fer_signature *signature = NULL;
    ASSERT_OK(&error, fer_signature_create(&(fer_signature_spec){.name = "repeat",
                                                                 .operands = &x,
                                                                 .num_operands = 1,
                                                                 .results = &y,
                                                                 .num_results = 1},
                                           &signature, &error));
    fer_op *op = NULL;
    ASSERT_OK(&error,
              fer_declare(&(fer_declaration){.parsed = signature, .source = SOURCE}, &op, &error));
    assert_false(fer_op_is_complete(op));
    fer_tensor *operand = make_counting(FER_F32, 2);
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &operand, "repeat", "'times'",
                      "give it at declaration", "subscript");
    fer_op *two = specialise_op(op, int_param("times", 2));
    fer_tensor *result = NULL;
    ASSERT_OK(&error, fer_call(two, &operand, 1, &result, 1, &error));
    assert_floats(result, FLOATS(0, 1, 0, 1));
    const fer_param given = int_param("times", 2);
    fer_op *at_once = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.parsed = signature,
                                                     .source = SOURCE,
                                                     .params = &given,
                                                     .num_params = 1},
                                  &at_once, &error));
    assert_true(fer_op_equal(two, at_once));
    RELEASE(operand, result);
    fer_op_release(op);
    fer_op_release(two);
    fer_op_release(at_once);
    fer_signature_release(signature);
    fer_dim_release(n);
    fer_dim_release(times);
    fer_dim_release(product);
}

static void test_a_dtype_parameter_chooses_the_result(void **state)
{
    (void)state;
    fer_op *op = declare_source("convert<T, to: dtype = f64>(x: T[*s]) -> to[*s]", SOURCE);
    fer_tensor *x = make_counting(FER_F32, 3);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    assert_int_equal(fer_tensor_dtype(y), FER_F64);
    assert_float_equal(((const double *)fer_tensor_const_data(y))[2], 2, 0);
    fer_tensor_release(y);
    fer_op *bytes = specialise_op(op, (fer_param){.name = "to",
                                                  .kind = FER_PARAM_DTYPE,
                                                  .has_value = true,
                                                  .value.as_dtype = FER_U8});
    ASSERT_OK(&error, fer_call(bytes, &x, 1, &y, 1, &error));
    assert_int_equal(fer_tensor_dtype(y), FER_U8);
    assert_memory_equal(fer_tensor_const_data(y), "\0\1\2", 3);
    RELEASE(x, y);
    fer_op_release(op);
    fer_op_release(bytes);
}

/* Incomplete: checked, its kernel too, but not compiled until its parameters have values. */
static void test_an_incomplete_op_is_checked(void **state)
{
    (void)state;
    static const char BROKEN[] = "#include <ferrule/kernel.h>\n"
                                 "MAP(broken, f32, IN(f32, x)) { return x + missing; }\n";
    ASSERT_NOT_DECLARED(FER_VALUE_ERROR, "brokn<p: int>(x: f32[n]) -> f32[n * p]", BROKEN, "brokn",
                        "did you mean 'broken'?");
    ASSERT_NOT_DECLARED(FER_TYPE_ERROR, "broken<p: int>(x: f32[n * p]) -> f32[n]", BROKEN, "broken",
                        "not directly bindable");
    fer_op *op = declare_source("broken<p: int>(x: f32[n]) -> f32[n]", BROKEN);
    assert_false(fer_op_is_complete(op)); /* declared bare, though no dim names it */
    fer_op *made = NULL;
    const fer_param p = int_param("p", 1);
    ASSERT_FAILS(&error, FER_COMPILE_ERROR, fer_op_specialise(op, &p, 1, &made, &error), "broken",
                 "inline.c:2:", "missing");
    assert_null(made);
    fer_op_release(op);
}

static void test_equal_parameters_need_no_compiler(void **state)
{
    (void)state;
    fer_op *op = declare_source(EVERY, SOURCE);
    fer_op *three = specialise_op(op, int_param("step", 3));
    const fer_counters before = fer_read_counters();
    setenv("FERRULE_CC", "/no/such/compiler", 1);
    fer_op *again = specialise_op(three, int_param("step", 2));
    fer_op *same = specialise_op(op, int_param("step", 3));
    unsetenv("FERRULE_CC");
    assert_int_equal(fer_read_counters().compiles, before.compiles);
    assert_int_equal(fer_read_counters().cache_hits, before.cache_hits + 2);
    assert_true(fer_op_equal(again, op));
    assert_true(fer_op_equal(same, three));
    check_every(same, FLOATS(1, 4));
    fer_op_release(op);
    fer_op_release(three);
    fer_op_release(again);
    fer_op_release(same);
}

/* One binary for each choice of dtypes, in the order in which they were loaded. */
static void test_binaries_keep_their_places(void **state)
{
    (void)state;
    static const fer_dtype DTYPES[] = {FER_I32, FER_F64, FER_F32, FER_I32, FER_U8};
    fer_op *op = declare_source("convert<T, to: dtype = f32>(x: T[*s]) -> to[*s]", SOURCE);
    const char *paths[5] = {fer_op_binary(op, 0)};
    size_t count = 1; /* f32, at the declaration */
    for (size_t i = 0; i < sizeof DTYPES / sizeof *DTYPES; i++) {
        fer_tensor *x = make_counting(DTYPES[i], 3);
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
        assert_floats(y, FLOATS(0, 1, 2));
        RELEASE(x, y);
        if (fer_op_num_binaries(op) > count)
            paths[count++] = fer_op_binary(op, fer_op_num_binaries(op) - 1);
        for (size_t j = 0; j < count; j++) {
            assert_ptr_equal(fer_op_binary(op, j), paths[j]);
            for (size_t k = 0; k < j; k++)
                assert_string_not_equal(paths[j], paths[k]);
        }
    }
    assert_int_equal(count, 4);
    fer_op_release(op);
}

/* --- Packages --------------------------------------------------------------------------------- */

static char *folder;

static int set_up(void **state)
{
    (void)state;
    char template[] = "/tmp/ferrule-test.XXXXXX";
    if (mkdtemp(template) == NULL)
        return -1;
    folder = strdup(template);
    return chdir(folder);
}

static int tear_down(void **state)
{
    (void)state;
    int result = chdir("/");
    fer_folder_remove(folder);
    free(folder);
    return result;
}

static void write_kernel(const char *package, const char *kernel, int value)
{
    char path[128];
    char text[256];
    ASSERT_OK(&error, fer_folder_make(package, &error));
    snprintf(path, sizeof path, "%s/%s.c", package, kernel);
    int length = snprintf(text, sizeof text,
                          "#include <ferrule/kernel.h>\n"
                          "MAP(%s, i32, IN(i32, x)) { return x + %d; }\n",
                          kernel, value);
    ASSERT_OK(&error, fer_file_write(path, text, (size_t)length, &error));
}

static int value_of(const fer_op *op)
{
    fer_tensor *x = make_scalar(FER_I32, 0);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    int value = *(const int32_t *)fer_tensor_const_data(y);
    RELEASE(x, y);
    return value;
}

static void test_only_its_own_packages_are_searched(void **state)
{
    (void)state;
    write_kernel("a", "shared", 1);
    write_kernel("b", "shared", 2);
    write_kernel("b", "only_b", 3);
    write_kernel("b/deeper", "hidden", 4); /* a package is flat */
    write_kernel("neighbour", "elsewhere", 5);
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "shared(x: i32[]) -> i32[]",
                                                     .packages = {"a", "b"}},
                                  &op, &error));
    assert_int_equal(value_of(op), 1);
    fer_op_release(op);
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "shared(x: i32[]) -> i32[]",
                                                     .packages = {"b", "a"}},
                                  &op, &error));
    assert_int_equal(value_of(op), 2);
    fer_op_release(op);
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "only_b(x: i32[]) -> i32[]",
                                                     .packages = {"a", "b"}},
                                  &op, &error));
    assert_int_equal(value_of(op), 3);
    fer_op_release(op);
    char a[256];
    char b[256];
    snprintf(a, sizeof a, "%s/a (which has shared)", folder);
    snprintf(b, sizeof b, "%s/b (which has only_b, shared)", folder);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(&(fer_declaration){.signature = "elsewhere(x: i32[]) -> i32[]",
                                                .packages = {"a", "b"}},
                             &op, &error),
                 "elsewhere: ", a, b);
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        fer_declare(&(fer_declaration){.signature = "hidden(x: i32[]) -> i32[]", .packages = {"b"}},
                    &op, &error),
        "hidden", b);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(&(fer_declaration){.signature = "only_c(x: i32[]) -> i32[]",
                                                .packages = {"a", "b"}},
                             &op, &error),
                 "only_c", "did you mean 'only_b'?");
    assert_null(op);
}

static void test_more_packages_than_an_op_takes(void **state)
{
    (void)state;
    write_kernel("p", "value", 1);
    fer_op *op = NULL;
    fer_declaration declaration = {.signature = "value(x: i32[]) -> i32[]",
                                   .packages = {"p", "p", "p", "p", "p", "p", "p", "p"}};
    ASSERT_OK(&error, fer_declare(&declaration, &op, &error));
    assert_int_equal(fer_op_num_extensions(op), 8);
    fer_op_release(op);
    declaration.source = SOURCE;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_declare(&declaration, &op, &error), "8 packages");
    assert_null(op);
}

static void test_extensions_are_absolute_paths(void **state)
{
    (void)state;
    char expected[256];
    snprintf(expected, sizeof expected, "%s/p", folder);
    write_kernel("p", "value", 1);
    assert_int_equal(symlink("p", "link"), 0);
    static const char *const SPELLED[] = {"p", "./p", "p/", "p/../p", "./p/./"};
    fer_op *first = NULL;
    for (size_t i = 0; i < sizeof SPELLED / sizeof *SPELLED; i++) {
        fer_op *op = NULL;
        ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "value(x: i32[]) -> i32[]",
                                                         .packages = {SPELLED[i]}},
                                      &op, &error));
        assert_int_equal(fer_op_num_extensions(op), 1);
        assert_string_equal(fer_op_extension(op, 0), expected);
        if (first == NULL)
            first = fer_op_retain(op);
        assert_true(fer_op_equal(op, first));
        assert_string_equal(fer_op_token(op), fer_op_token(first));
        fer_op_release(op);
    }
    /* A link keeps its name: what was declared is what counts. */
    fer_op *linked = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "value(x: i32[]) -> i32[]",
                                                     .packages = {"link"}},
                                  &linked, &error));
    assert_false(fer_op_equal(linked, first));
    assert_string_not_equal(fer_op_token(linked), fer_op_token(first));
    fer_op_release(linked);
    fer_op_release(first);
}

static void test_the_order_of_packages_counts(void **state)
{
    (void)state;
    write_kernel("a", "value", 1);
    write_kernel("b", "other", 1);
    fer_op *ops[3];
    const fer_declaration declarations[] = {
        {.signature = "value(x: i32[]) -> i32[]", .packages = {"a"}},
        {.signature = "value(x: i32[]) -> i32[]", .packages = {"a", "b"}},
        {.signature = "value(x: i32[]) -> i32[]", .packages = {"b", "a"}},
    };
    for (int i = 0; i < 3; i++) {
        ASSERT_OK(&error, fer_declare(&declarations[i], &ops[i], &error));
        for (int j = 0; j < i; j++) {
            assert_false(fer_op_equal(ops[i], ops[j]));
            assert_false(fer_op_equal(ops[j], ops[i]));
            assert_string_not_equal(fer_op_token(ops[i]), fer_op_token(ops[j]));
        }
    }
    for (int i = 0; i < 3; i++)
        fer_op_release(ops[i]);
}

/* The token is of what was declared: the content of the package is hashed elsewhere. */
static void test_an_edit_keeps_the_token(void **state)
{
    (void)state;
    fer_op *ops[2];
    for (int i = 0; i < 2; i++) {
        write_kernel("p", "value", i);
        ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "value(x: i32[]) -> i32[]",
                                                         .packages = {"p"}},
                                      &ops[i], &error));
        assert_int_equal(value_of(ops[i]), i);
    }
    assert_string_equal(fer_op_token(ops[0]), fer_op_token(ops[1]));
    assert_true(fer_op_equal(ops[0], ops[1]));
    assert_int_equal(fer_op_hash(ops[0]), fer_op_hash(ops[1]));
    assert_string_not_equal(fer_op_binary(ops[0], 0), fer_op_binary(ops[1], 0));
    fer_op_release(ops[0]);
    fer_op_release(ops[1]);
}

/* --- Equality --------------------------------------------------------------------------------- */

static const char IDENTITY[] = "#include <ferrule/kernel.h>\n"
                               "DTYPE_VAR(T, f32);\n"
                               "KERNEL(f, OUT(T, ANY, y), IN(T, ANY, left), IN(T, ANY, right))\n"
                               "{ (void)y, (void)left, (void)right; return OK; }\n";
static const char CHANGING[] =
    "#include <ferrule/kernel.h>\n"
    "KERNEL(f, OUT(f32, ANY, y), INOUT(f32, ANY, left), IN(f32, ANY, right))\n"
    "{ (void)y, (void)left, (void)right; return OK; }\n";

static void assert_equal_ops(const char *first, const char *second, bool expected)
{
    fer_op *a = declare_source(first, IDENTITY);
    fer_op *b = declare_source(second, IDENTITY);
    if (fer_op_equal(a, b) != expected ||
        (strcmp(fer_op_token(a), fer_op_token(b)) == 0) != expected ||
        (fer_op_hash(a) == fer_op_hash(b)) != expected)
        fail_msg("%s and %s", first, second);
    fer_op_release(a);
    fer_op_release(b);
}

static void test_what_makes_ops_equal(void **state)
{
    (void)state;
#define REST "(a: f32[n], b: f32[n]) -> f32[n]"
    assert_equal_ops("f" REST, "f(b: f32[n], a: f32[n]) -> f32[n]", false);
    assert_equal_ops("f" REST, "f(a: f32[n], c: f32[n]) -> f32[n]", false);
    assert_equal_ops("f" REST, "f(a: f32[n], b: f32[n]) -> (y: f32[n])", false);
    assert_equal_ops("f" REST, "f(a: f32[n], b: f32[n]) -> (f32[n])", true);
    assert_equal_ops("f" REST, "f" REST " effect", false);
    assert_equal_ops("f" REST, "f" REST " where n > 1", false);
    assert_equal_ops("f" REST " where n > 1, n > 2", "f" REST " where n > 2, n > 1", false);
    assert_equal_ops("f<T: f32|f64>(a: T[n], b: T[n]) -> T[n]",
                     "f<T: f32|f64|i8>(a: T[n], b: T[n]) -> T[n]", false);
    assert_equal_ops("f<T: any_float>(a: T[n], b: T[n]) -> T[n]",
                     "f<T: f32|f64|f16|bf16>(a: T[n], b: T[n]) -> T[n]", true);
    /* True, 1, 1.0 and "1" differ, and so do -0.0 and 0.0, a dtype and its name. */
    static const char *const VALUES[] = {"int = 1",       "bool = true",          "float = 1.0",
                                         "str = \"1\"",   "float = 0.0",          "float = -0.0",
                                         "int = 0",       "bool = false",         "dtype = f32",
                                         "str = \"f32\"", "str = \"f32\\u0000\"", "str = \"\"",
                                         "float = nan",   "float = inf"};
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++)
        for (size_t j = 0; j <= i; j++) {
            char first[96];
            char second[96];
            snprintf(first, sizeof first, "f<p: %s>" REST, VALUES[i]);
            snprintf(second, sizeof second, "f<p: %s>" REST, VALUES[j]);
            assert_equal_ops(first, second, i == j);
        }
    /* How a dim came to be is not compared: not what was declared, nor what pinned it. */
    assert_equal_ops("f<p: int = 4>(a: f32[p], b: f32[n]) -> f32[n // p]",
                     "f<p: int = 4>(a: f32[4], b: f32[n]) -> f32[n // 4]", true);
    assert_equal_ops("f<p: int = 4>(a: f32[p], b: f32[n]) -> f32[n]",
                     "f(a: f32[4], b: f32[n]) -> f32[n]", false);
    assert_equal_ops("f<p: int = 1, q: int = 2>" REST, "f<q: int = 2, p: int = 1>" REST, true);
    assert_equal_ops("f<p: int = 1, q: int = 2>" REST, "f<p: int = 2, q: int = 1>" REST, false);
#undef REST
}

static void test_inout_counts(void **state)
{
    (void)state;
    fer_op *plain = declare_source("f(a: f32[n], b: f32[n]) -> f32[n]", IDENTITY);
    fer_op *inout = declare_source("f(inout a: f32[n], b: f32[n]) -> f32[n]", CHANGING);
    assert_false(fer_signature_equal(fer_op_signature(plain), fer_op_signature(inout)));
    assert_false(fer_op_equal(plain, inout));
    fer_op_release(plain);
    fer_op_release(inout);
}

/* In every process, and so in every run of this test: BLAKE2b of the source with 16 bytes, and of
 * the op's fields with 8. */
static void test_a_token_is_the_same_everywhere(void **state)
{
    (void)state;
    fer_op *op =
        declare_source("f<T: f32|f64, p: int = -3, q: str = \"a\\u0000b\", r: float = 0.5, "
                       "s: bool = true, t: dtype = bf16, u: int>(a: T[*s_, n], inout b: "
                       "T[n]) -> (y: f32[n // 2 + p], T[*s_]) effect where n % 2 == 0",
                       "#include <ferrule/kernel.h>\nDTYPE_VAR(T, f32);\nKERNEL(f, )\n");
    assert_string_equal(fer_op_extension(op, 0), "inline:8a609ee2594232fdfdbeecab78bcbe8f");
    assert_string_equal(fer_op_token(op), "f#3fa5798bb969cf61");
    fer_op_release(op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_other_parameters_stay),
        cmocka_unit_test(test_a_pinned_dim_changes_again),
        cmocka_unit_test(test_given_values_fold_first),
        cmocka_unit_test(test_a_parameter_that_enters),
        cmocka_unit_test(test_a_dtype_parameter_chooses_the_result),
        cmocka_unit_test(test_an_incomplete_op_is_checked),
        cmocka_unit_test(test_equal_parameters_need_no_compiler),
        cmocka_unit_test(test_binaries_keep_their_places),
        TEST(test_only_its_own_packages_are_searched),
        TEST(test_more_packages_than_an_op_takes),
        TEST(test_extensions_are_absolute_paths),
        TEST(test_the_order_of_packages_counts),
        TEST(test_an_edit_keeps_the_token),
        cmocka_unit_test(test_what_makes_ops_equal),
        cmocka_unit_test(test_inout_counts),
        cmocka_unit_test(test_a_token_is_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
