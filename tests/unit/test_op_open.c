/* Data-dependent results, and what is decided before a SHAPE function or a kernel runs. */
#include "testing_op.h"

static const char SOURCE[] =
    "#include <ferrule/kernel.h>\n"
    "PARAM(int, mode, 0);\n"
    /* Extents that the operand holds: rows, then columns. Counts its runs in `runs`. */
    "SHAPE(grow, IN(i64, 1, wanted), IN(i64, 0, runs))\n"
    "{\n"
    "    (void)runs;\n"
    "    if (mode == 1)\n"
    "        return OK;\n"
    "    CHECK(mode != 2, \"SHAPE says no: %d\", 2);\n"
    "    EXTENT(rows) = AT(wanted, 0);\n"
    "    if (mode == 3)\n"
    "        return 3;\n"
    "    EXTENT(columns) = AT(wanted, 1);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(grow, OUT(i64, 2, y), OUT(i64, 2, z), IN(i64, 1, wanted), INOUT(i64, 0, runs))\n"
    "{\n"
    "    (void)wanted;\n"
    "    AT(runs) += 1;\n"
    "    for (index_t i = 0; i < SIZE(y); i++)\n"
    "        DATA(y)[i] = i;\n"
    "    for (index_t i = 0; i < SIZE(z); i++)\n"
    "        DATA(z)[i] = -i;\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(counted, OUT(f32, 1, y), IN(f32, 1, x), INOUT(i64, 0, runs))\n"
    "{\n"
    "    (void)x;\n"
    "    AT(runs) += 1;\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = 1;\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(noted, IN(f32, 1, x)) { CHECK(DIM(x, 0) < 3, \"noted %d\", 3); return OK; }\n"
    "MAP(fill, f32, IN(f32, x)) { return x; }\n"
    "SHAPE(fill, IN(f32, 0, x)) { EXTENT(n) = (index_t)AT(x); return OK; }\n";

#define GROW_IN_MODE                                                                               \
    "grow<mode: int>(wanted: i64[n], inout runs: i64[]) -> (i64[rows, n], i64[n - 1, columns])"

static fer_tensor *make_wanted(int64_t rows, int64_t columns)
{
    fer_tensor *wanted = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, EXTENTS(2), (int64_t[]){rows, columns}, host,
                                           &wanted, &error));
    return wanted;
}

static fer_op *declare_grow(int64_t mode)
{
    fer_op *open = declare_source(GROW_IN_MODE, SOURCE);
    fer_op *op = specialise_op(open, int_param("mode", mode));
    fer_op_release(open);
    return op;
}

static void test_extents_come_from_shape(void **state)
{
    (void)state;
    fer_op *op = declare_grow(0);
    fer_tensor *runs = make_scalar(FER_I64, 0);
    const int64_t cases[][2] = {{3, 4}, {0, 4}, {3, 0}, {0, 0}, {1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fer_tensor *wanted = make_wanted(cases[i][0], cases[i][1]);
        fer_tensor *results[2];
        ASSERT_OK(&error, fer_call(op, OPERANDS(wanted, runs), 2, results, 2, &error));
        assert_extents(results[0], EXTENTS(cases[i][0], 2));
        assert_extents(results[1], EXTENTS(1, cases[i][1]));
        if (cases[i][0] > 0)
            assert_int_equal(((const int64_t *)fer_tensor_const_data(results[0]))[1], 1);
        fer_tensor *given[2] = {make_ones(FER_I64, EXTENTS(cases[i][0], 2)),
                                make_ones(FER_I64, EXTENTS(1, cases[i][1]))};
        ASSERT_OK(&error, fer_call_into(op, OPERANDS(wanted, runs), 2, given, 2, &error));
        assert_memory_equal(fer_tensor_const_data(given[0]), fer_tensor_const_data(results[0]),
                            fer_tensor_num_bytes(given[0]));
        RELEASE(wanted, results[0], results[1], given[0], given[1]);
    }
    assert_int_equal(*(const int64_t *)fer_tensor_const_data(runs), 10);
    fer_tensor_release(runs);
    fer_op_release(op);
}

/* Calls `grow`, which must fail before the kernel runs. */
static void assert_grow_fails(const fer_op *op, fer_status kind, fer_tensor *wanted,
                              const char *first, const char *second)
{
    fer_tensor *runs = make_scalar(FER_I64, 0);
    fer_tensor *results[2] = {runs, runs};
    ASSERT_FAILS(&error, kind, fer_call(op, OPERANDS(wanted, runs), 2, results, 2, &error),
                 "grow: ", first, second);
    assert_null(results[0]);
    assert_null(results[1]);
    assert_int_equal(*(const int64_t *)fer_tensor_const_data(runs), 0);
    RELEASE(wanted, runs);
}

static void test_extents_that_cannot_be(void **state)
{
    (void)state;
    fer_op *op = declare_grow(0);
    assert_grow_fails(op, FER_RUNTIME_ERROR, make_wanted(-1, 2), "-1 for 'rows'", "negative");
    assert_grow_fails(op, FER_RUNTIME_ERROR, make_wanted(2, -7), "-7 for 'columns'", "negative");
    assert_grow_fails(op, FER_RUNTIME_ERROR, make_wanted(INT64_MAX, 1),
                      "9223372036854775807 for 'rows'", "too large");
    assert_grow_fails(op, FER_RUNTIME_ERROR, make_wanted(1, INT64_MAX),
                      "1 for 'rows', 9223372036854775807 for 'columns'", "too large");
    assert_grow_fails(op, FER_RUNTIME_ERROR, make_wanted(1, (INT64_C(1) << 60) + 1),
                      "1152921504606846977 for 'columns'", "too large");
    fer_op_release(op);
}

/* A size that int64 holds and no machine has is a lack of memory. */
static void test_an_extent_that_there_is_no_memory_for(void **state)
{
    (void)state;
    fer_op *op = declare_grow(0);
    fer_tensor *wanted = make_wanted(1, INT64_C(1) << 50);
    fer_tensor *runs = make_scalar(FER_I64, 0);
    fer_tensor *results[2] = {runs, runs};
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_call(op, OPERANDS(wanted, runs), 2, results, 2, &error), "memory");
    assert_null(results[0]);
    assert_null(results[1]);
    assert_int_equal(*(const int64_t *)fer_tensor_const_data(runs), 0);
    RELEASE(wanted, runs);
    fer_op_release(op);
}

static void test_a_shape_function_that_fails(void **state)
{
    (void)state;
    fer_op *silent = declare_grow(1);
    assert_grow_fails(silent, FER_RUNTIME_ERROR, make_wanted(1, 1), "SHAPE", "EXTENT(rows)");
    fer_op_release(silent);
    fer_op *says_no = declare_grow(2);
    assert_grow_fails(says_no, FER_RUNTIME_ERROR, make_wanted(1, 1), "SHAPE says no: 2",
                      "inline.c:");
    fer_op_release(says_no);
    fer_op *returns_three = declare_grow(3);
    assert_grow_fails(returns_three, FER_RUNTIME_ERROR, make_wanted(1, 1), "returned 3", "");
    fer_op_release(returns_three);
}

/* The dims that operands do decide are judged before SHAPE runs, as in any other op. */
static void test_the_other_dims_are_judged_first(void **state)
{
    (void)state;
    fer_op *op = declare_grow(2);
    fer_tensor *none = make_counting(FER_I64, 0);
    assert_grow_fails(op, FER_VALUE_ERROR, none, "result 1 axis 0 ('n - 1') is -1", "n = 0");
    fer_op_release(op);
}

static void test_given_results_have_the_extents_of_shape(void **state)
{
    (void)state;
    fer_op *op = declare_grow(0);
    fer_tensor *wanted = make_wanted(2, 3);
    fer_tensor *runs = make_scalar(FER_I64, 0);
    fer_tensor *y = make_ones(FER_I64, EXTENTS(2, 2));
    fer_tensor *z = make_ones(FER_I64, EXTENTS(1, 4));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(op, OPERANDS(wanted, runs), 2, OPERANDS(y, z), 2, &error), "grow",
                 "result 1", "i64[1, 3]", "i64[1, 4]");
    assert_int_equal(*(const int64_t *)fer_tensor_const_data(runs), 0);
    RELEASE(wanted, runs, y, z);
    fer_op_release(op);
}

static void test_a_map_may_have_a_shape(void **state)
{
    (void)state;
    fer_op *op = declare_source("fill(x: f32[]) -> f32[n]", SOURCE);
    fer_tensor *x = make_scalar(FER_F32, 3);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    assert_floats(y, FLOATS(3, 3, 3));
    RELEASE(x, y);
    fer_op_release(op);
}

/* --- Before the kernel ------------------------------------------------------------------------ */

/* What a call says is what the checker of types says: one set of rules. */
static void assert_same_refusal(const char *declaration, fer_status kind, int64_t n)
{
    fer_op *op = declare_source(declaration, SOURCE);
    fer_tensor *x = make_ones(FER_F32, EXTENTS(n));
    fer_tensor *runs = make_scalar(FER_I64, 0);
    fer_tensor *y = NULL;
    assert_int_equal(fer_call(op, OPERANDS(x, runs), 2, &y, 1, &error), kind);
    assert_null(y);
    char message[512];
    snprintf(message, sizeof message, "%s", error.message);
    fer_type *types[2];
    fer_type *result = NULL;
    ASSERT_OK(&error, fer_tensor_type(x, &types[0], &error));
    ASSERT_OK(&error, fer_tensor_type(runs, &types[1], &error));
    assert_int_equal(fer_signature_infer(fer_op_signature(op), (const fer_type *const *)types, 2,
                                         &result, 1, &error),
                     kind);
    assert_string_equal(error.message, message);
    assert_int_equal(*(const int64_t *)fer_tensor_const_data(runs), 0);
    fer_error_clear(&error);
    fer_type_release(types[0]);
    fer_type_release(types[1]);
    RELEASE(x, runs);
    fer_op_release(op);
}

static void test_conditions_and_dims_are_decided_before_the_kernel(void **state)
{
    (void)state;
#define COUNTED "counted(x: f32[n], inout runs: i64[]) -> "
    assert_same_refusal(COUNTED "f32[n] where n % 4 == 0", FER_VALUE_ERROR, 6);
    assert_same_refusal(COUNTED "f32[n] where n != 6", FER_VALUE_ERROR, 6);
    assert_same_refusal(COUNTED "f32[n] where n < 100, n * n < 30, n > 7", FER_VALUE_ERROR, 6);
    assert_same_refusal(COUNTED "f32[n] where n // (n - 6) > 0", FER_ZERO_DIVISION_ERROR, 6);
    assert_same_refusal(COUNTED "f32[n - 7]", FER_VALUE_ERROR, 6);
    assert_same_refusal(COUNTED "f32[8 // (n - 6)]", FER_ZERO_DIVISION_ERROR, 6);
    assert_same_refusal(COUNTED "f32[n * 4611686018427387904]", FER_OVERFLOW_ERROR, 6);
    assert_same_refusal(COUNTED "f32[n] where n * 4611686018427387904 > 0", FER_OVERFLOW_ERROR, 6);
    fer_op *op = declare_source(COUNTED "f32[n] where n % 4 == 0, n < 9", SOURCE);
    fer_tensor *x = make_ones(FER_F32, EXTENTS(8));
    fer_tensor *runs = make_scalar(FER_I64, 0);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, OPERANDS(x, runs), 2, &y, 1, &error));
    assert_int_equal(*(const int64_t *)fer_tensor_const_data(runs), 1);
    RELEASE(x, runs, y);
    fer_op_release(op);
#undef COUNTED
}

/* An op may have neither results nor inout operands when it says that it does something else. */
static void test_an_effect_alone(void **state)
{
    (void)state;
    ASSERT_NOT_DECLARED(FER_VALUE_ERROR, "noted(x: f32[n]) -> ()", SOURCE, "noted", "effect");
    fer_op *op = declare_source("noted(x: f32[n]) -> () effect", SOURCE);
    fer_tensor *x = make_counting(FER_F32, 2);
    fer_tensor *longer = make_counting(FER_F32, 3);
    ASSERT_OK(&error, fer_call(op, &x, 1, NULL, 0, &error));
    ASSERT_OK(&error, fer_call_into(op, &x, 1, NULL, 0, &error));
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, &longer, 1, NULL, 0, &error), "noted",
                 "noted 3");
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, op, 1, &x, "noted", "0 results", "got 1");
    RELEASE(x, longer);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extents_come_from_shape),
        cmocka_unit_test(test_extents_that_cannot_be),
        cmocka_unit_test(test_an_extent_that_there_is_no_memory_for),
        cmocka_unit_test(test_a_shape_function_that_fails),
        cmocka_unit_test(test_the_other_dims_are_judged_first),
        cmocka_unit_test(test_given_results_have_the_extents_of_shape),
        cmocka_unit_test(test_a_map_may_have_a_shape),
        cmocka_unit_test(test_conditions_and_dims_are_decided_before_the_kernel),
        cmocka_unit_test(test_an_effect_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
