/* Results of a call: how they are measured, what given ones must be, what an error leaves. */
#include "testing_op.h"

static const char SOURCE[] =
    "#include <ferrule/kernel.h>\n"
    "DTYPE_VAR(T, f32);\n"
    "KERNEL(copy, OUT(T, ANY, y), IN(T, ANY, x))\n"
    "{\n"
    "    for (index_t i = 0; i < SIZE(y); i++)\n"
    "        DATA(y)[i] = SIZE(x) == 0 ? (T)7 : DATA(x)[i % SIZE(x)];\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(ranks, OUT(f32, ANY, y), IN(f32, ANY, a), IN(f32, ANY, b))\n"
    "{\n"
    "    for (index_t i = 0; i < SIZE(y); i++)\n"
    "        DATA(y)[i] = (f32)(RANK(y) * 100 + RANK(a) * 10 + RANK(b));\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(both, OUT(f32, ANY, y), OUT(f32, ANY, z), IN(f32, ANY, a), IN(f32, ANY, b))\n"
    "{\n"
    "    for (index_t i = 0; i < SIZE(y) + SIZE(z); i++)\n"
    "        *(i < SIZE(y) ? DATA(y) + i : DATA(z) + i - SIZE(y)) = (f32)(RANK(a) + RANK(b));\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(pair, OUT(f32, 1, y), OUT(f32, 0, sum), IN(f32, 1, x))\n"
    "{\n"
    "    AT(sum) = 0;\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++) {\n"
    "        AT(y, i) = -AT(x, i);\n"
    "        AT(sum) += AT(x, i);\n"
    "    }\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(told, OUT(f32, 1, y), IN(f32, 1, x))\n"
    "{\n"
    "    (void)x;\n"
    "    FAIL(\"called with %lld elements\", (long long)DIM(y, 0));\n"
    "}\n"
    "KERNEL(midway, OUT(f32, 1, y), INOUT(f32, 1, total), IN(f32, 1, x))\n"
    "{\n"
    "    AT(y, 0) = 5;\n"
    "    AT(total, 0) = 6;\n"
    "    CHECK(AT(x, 0) > 0, \"x[0] is %g\", (double)AT(x, 0));\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(swap, INOUT(f32, 1, a), INOUT(f32, 1, b))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(a, 0); i++) {\n"
    "        f32 kept = AT(a, i);\n"
    "        AT(a, i) = AT(b, i);\n"
    "        AT(b, i) = kept;\n"
    "    }\n"
    "    return OK;\n"
    "}\n";

static fer_op *declared(const char *signature)
{
    return declare_source(signature, SOURCE);
}

static float first_of(const fer_tensor *tensor)
{
    return *(const float *)fer_tensor_const_data(tensor);
}

/* --- Measuring -----------------------------------------------------------------------------------
 */

static const int64_t ALL_ONES[8] = {1, 1, 1, 1, 1, 1, 1, 1};

static void test_runs_join_in_results(void **state)
{
    (void)state;
    fer_op *op = declared("ranks(a: f32[*s], b: f32[*t]) -> f32[*t, 2, *s]");
    fer_tensor *y = NULL;
    for (size_t a_rank = 0; a_rank <= 8; a_rank++)
        for (size_t b_rank = 0; b_rank <= 8; b_rank++) {
            fer_tensor *a = make_ones(FER_F32, a_rank, ALL_ONES);
            fer_tensor *b = make_ones(FER_F32, b_rank, ALL_ONES);
            if (a_rank + b_rank < 8) {
                ASSERT_OK(&error, fer_call(op, OPERANDS(a, b), 2, &y, 1, &error));
                assert_int_equal(fer_tensor_rank(y), a_rank + b_rank + 1);
                assert_int_equal(fer_tensor_shape(y)[b_rank], 2);
                assert_float_equal(first_of(y), (a_rank + b_rank + 1) * 100 + a_rank * 10 + b_rank,
                                   0);
                fer_tensor_release(y);
            } else {
                ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 2, OPERANDS(a, b), "ranks", "result 0",
                                  "highest rank is 8");
            }
            RELEASE(a, b);
        }
    fer_op_release(op);
}

/* More axes are written than a tensor can have, and most of them are empty runs. */
static void test_a_result_of_many_runs(void **state)
{
    (void)state;
    fer_op *op = declared("both(a: f32[*s, n], b: f32[*t]) -> "
                          "(f32[*s, *s, *s, *s, *s, *s, *s, *s, *t, *s, *s, *s, *s, *s, *t, n],"
                          " f32[*s, *s, *s, *s, *s, *s, *s, *s, *t, *s, *s, *s, *s, n, n, 5])");
    fer_tensor *a = make_counting(FER_F32, 3);
    fer_tensor *b = make_ones(FER_F32, EXTENTS(2, 1));
    fer_tensor *wide = make_ones(FER_F32, EXTENTS(1, 3));
    fer_tensor *results[2];
    ASSERT_OK(&error, fer_call(op, OPERANDS(a, b), 2, results, 2, &error));
    assert_extents(results[0], EXTENTS(2, 1, 2, 1, 3));
    assert_extents(results[1], EXTENTS(2, 1, 3, 3, 5));
    release_tensors(2, results);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, OPERANDS(wide, b), 2, results, 2, &error),
                 "both", "rank 18", "highest rank is 8");
    RELEASE(a, b, wide);
    fer_op_release(op);
}

static void test_an_operand_of_eight_dims_and_a_run(void **state)
{
    (void)state;
    fer_op *op = declared("copy(x: f32[a, b, c, *s, d, e, f, g, h]) -> f32[h, g, f, e, d, c, b, a, "
                          "*s]");
    fer_tensor *x = make_ones(FER_F32, EXTENTS(1, 2, 1, 3, 1, 1, 2, 1));
    fer_tensor *flat = make_ones(FER_F32, 7, ALL_ONES);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    assert_extents(y, EXTENTS(1, 2, 1, 1, 3, 1, 2, 1));
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &flat, "copy", "'x'", "rank 7", "rank 8");
    RELEASE(x, flat, y);
    fer_op_release(op);
}

static void test_sizes_at_the_edge_of_int64(void **state)
{
    (void)state;
    fer_op *op = declared("copy(x: f32[n, m, k]) -> f32[n, m, k, k]");
    /* Empty, whatever the other extents are. */
    fer_tensor *empty = make_ones(FER_F32, EXTENTS(1099511627776, 1099511627776, 0));
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &empty, 1, &y, 1, &error));
    assert_extents(y, EXTENTS(1099511627776, 1099511627776, 0, 0));
    fer_tensor_release(y);
    fer_op *square = declared("copy(x: f32[n, m]) -> f32[n + 1, m + 4294967295, 4294967296]");
    fer_tensor *zero = make_ones(FER_F32, EXTENTS(0, 0));
    /* 2^63 - 2^32 elements, which are more bytes than int64 counts. */
    ASSERT_CALL_FAILS(FER_OVERFLOW_ERROR, square, 1, &zero, "copy");
    RELEASE(empty, zero);
    fer_op_release(square);
    fer_op_release(op);
}

static void test_more_memory_than_there_is(void **state)
{
    (void)state;
    fer_op *op = declared("copy(x: f32[n]) -> f32[n, 1125899906842624]");
    fer_tensor *x = make_counting(FER_F32, 8);
    ASSERT_CALL_FAILS(FER_MEMORY_ERROR, op, 1, &x, "memory");
    fer_tensor_release(x);
    fer_op_release(op);
}

static void test_with_zero_elements_the_kernel_is_called(void **state)
{
    (void)state;
    fer_op *op = declared("told(x: f32[n]) -> f32[n]");
    fer_tensor *empty = make_counting(FER_F32, 0);
    fer_tensor *given = make_counting(FER_F32, 0);
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, op, 1, &empty, "told", "called with 0 elements");
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call_into(op, &empty, 1, &given, 1, &error), "told",
                 "called with 0 elements");
    fer_op *copy = declared("copy<T>(x: T[*s]) -> T[]");
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(copy, &empty, 1, &y, 1, &error));
    assert_float_equal(first_of(y), 7, 0);
    RELEASE(empty, given, y);
    fer_op_release(copy);
    fer_op_release(op);
}

/* --- Given results -------------------------------------------------------------------------------
 */

static void test_given_results_of_every_rank(void **state)
{
    (void)state;
    fer_op *op = declared("copy<T>(x: T[*s]) -> T[*s]");
    for (size_t rank = 0; rank <= 8; rank++) {
        int64_t extents[8] = {2, 1, 2, 1, 1, 2, 1, 1};
        fer_tensor *x = make_ones(FER_I16, rank, extents);
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_tensor_zeros(FER_I16, rank, extents, host, &y, &error));
        ASSERT_OK(&error, fer_call_into(op, &x, 1, &y, 1, &error));
        assert_memory_equal(fer_tensor_const_data(x), fer_tensor_const_data(y),
                            fer_tensor_num_bytes(x));
        RELEASE(x, y);
    }
    fer_tensor *empty = make_ones(FER_F64, EXTENTS(3, 0));
    fer_tensor *given = make_ones(FER_F64, EXTENTS(3, 0));
    fer_tensor *turned = make_ones(FER_F64, EXTENTS(0, 3));
    ASSERT_OK(&error, fer_call_into(op, &empty, 1, &given, 1, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &empty, 1, &turned, 1, &error), "copy",
                 "f64[3, 0]", "f64[0, 3]");
    RELEASE(empty, given, turned);
    fer_op_release(op);
}

static void test_the_number_of_given_results(void **state)
{
    (void)state;
    fer_op *op = declared("pair(x: f32[n]) -> (f32[n], f32[])");
    fer_tensor *x = make_counting(FER_F32, 3);
    fer_tensor *y = make_counting(FER_F32, 3);
    fer_tensor *sum = make_scalar(FER_F32, 9);
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_call_into(op, &x, 1, &y, 1, &error), "pair", "2", "1");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_call_into(op, &x, 1, OPERANDS(y, sum, sum), 3, &error),
                 "pair", "2", "3");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_call_into(op, &x, 1, NULL, 0, &error), "pair", "2",
                 "0");
    assert_floats(y, FLOATS(0, 1, 2));
    ASSERT_OK(&error, fer_call_into(op, &x, 1, OPERANDS(y, sum), 2, &error));
    assert_floats(y, FLOATS(-0.0f, -1, -2));
    assert_floats(sum, FLOATS(3));
    RELEASE(x, y, sum);
    fer_op_release(op);
}

/* The second of several is as good as its own type, wherever it is wrong. */
static void test_each_given_result_is_checked(void **state)
{
    (void)state;
    fer_op *op = declared("pair(x: f32[n]) -> (f32[n], f32[])");
    fer_tensor *x = make_counting(FER_F32, 3);
    fer_tensor *y = make_counting(FER_F32, 3);
    fer_tensor *vector = make_ones(FER_F32, EXTENTS(1));
    fer_tensor *integer = make_scalar(FER_I32, 1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &x, 1, OPERANDS(y, vector), 2, &error),
                 "pair", "result 1", "f32[]", "f32[1]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &x, 1, OPERANDS(y, integer), 2, &error),
                 "pair", "result 1", "f32[]", "i32[]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &x, 1, OPERANDS(y, NULL), 2, &error),
                 "pair", "result 1", "NULL");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &x, 1, OPERANDS(x, integer), 2, &error),
                 "pair", "result 0", "overlaps operand 'x'");
    assert_floats(x, FLOATS(0, 1, 2));
    assert_floats(y, FLOATS(0, 1, 2));
    RELEASE(x, y, vector, integer);
    fer_op_release(op);
}

/* --- Overlap -------------------------------------------------------------------------------------
 */

static void test_neighbours_do_not_overlap(void **state)
{
    (void)state;
    fer_op *op = declared("copy<T>(x: T[*s]) -> T[*s]");
    float memory[6] = {1, 2, 3, 0, 0, 0};
    fer_tensor *front = make_view(FER_F32, EXTENTS(3), memory);
    fer_tensor *back = make_view(FER_F32, EXTENTS(3), memory + 3);
    fer_tensor *middle = make_view(FER_F32, EXTENTS(3), memory + 2);
    ASSERT_OK(&error, fer_call_into(op, &front, 1, &back, 1, &error));
    assert_floats(back, FLOATS(1, 2, 3));
    ASSERT_OK(&error, fer_call_into(op, &back, 1, &front, 1, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &front, 1, &middle, 1, &error), "copy",
                 "result 0", "overlaps operand 'x'");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, &middle, 1, &front, 1, &error), "copy",
                 "result 0", "overlaps operand 'x'");
    RELEASE(front, back, middle);
    fer_op_release(op);
}

/* What has no elements shares none, wherever its address lies. */
static void test_an_empty_tensor_overlaps_nothing(void **state)
{
    (void)state;
    fer_op *op = declared("ranks(a: f32[n], b: f32[m]) -> f32[n]");
    fer_op *swap = declared("swap(inout a: f32[n], inout b: f32[n]) -> ()");
    float memory[4] = {1, 2, 3, 4};
    fer_tensor *whole = make_view(FER_F32, EXTENTS(4), memory);
    fer_tensor *other = make_counting(FER_F32, 4);
    fer_tensor *empty = make_view(FER_F32, EXTENTS(0), memory + 2);
    ASSERT_OK(&error, fer_call_into(op, OPERANDS(other, empty), 2, &whole, 1, &error));
    ASSERT_OK(&error, fer_call_into(op, OPERANDS(empty, whole), 2, &empty, 1, &error));
    ASSERT_OK(&error, fer_call(swap, OPERANDS(empty, empty), 2, NULL, 0, &error));
    RELEASE(whole, other, empty);
    fer_op_release(swap);
    fer_op_release(op);
}

static void test_inout_operands_share_no_memory(void **state)
{
    (void)state;
    fer_op *swap = declared("swap(inout a: f32[n], inout b: f32[n]) -> ()");
    float memory[5] = {1, 2, 3, 4, 5};
    fer_tensor *front = make_view(FER_F32, EXTENTS(3), memory);
    fer_tensor *back = make_view(FER_F32, EXTENTS(3), memory + 2);
    fer_tensor *two = make_view(FER_F32, EXTENTS(2), memory);
    fer_tensor *next = make_view(FER_F32, EXTENTS(2), memory + 2);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(swap, OPERANDS(front, back), 2, NULL, 0, &error),
                 "swap", "'a'", "'b'", "overlaps");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(swap, OPERANDS(back, front), 2, NULL, 0, &error),
                 "swap", "overlaps");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call(swap, OPERANDS(front, front), 2, NULL, 0, &error), "swap", "overlaps");
    assert_float_equal(memory[2], 3, 0);
    ASSERT_OK(&error, fer_call(swap, OPERANDS(two, next), 2, NULL, 0, &error));
    assert_memory_equal(memory, ((float[]){3, 4, 1, 2, 5}), sizeof memory);
    fer_op *midway = declared("midway(inout total: f32[n], x: f32[n]) -> f32[n]");
    fer_tensor *x = make_ones(FER_F32, EXTENTS(3));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(midway, OPERANDS(front, x), 2, &back, 1, &error), "midway",
                 "result 0", "overlaps operand 'total'");
    RELEASE(front, back, two, next, x);
    fer_op_release(midway);
    fer_op_release(swap);
}

/* --- What an error leaves ------------------------------------------------------------------------
 */

static void test_after_a_refusal_every_tensor_holds_what_it_held(void **state)
{
    (void)state;
    fer_op *op = declared("midway(inout total: f32[n], x: f32[n]) -> f32[n] where n > 1");
    fer_tensor *total = make_counting(FER_F32, 3);
    fer_tensor *x = make_ones(FER_F32, EXTENTS(3));
    fer_tensor *y = make_counting(FER_F32, 3);
    fer_tensor *longer = make_counting(FER_F32, 4);
    fer_tensor *one[3] = {make_ones(FER_F32, EXTENTS(1)), make_ones(FER_F32, EXTENTS(1)),
                          make_ones(FER_F32, EXTENTS(1))};
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(op, OPERANDS(total, longer), 2, &y, 1, &error), "midway", "'x'");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(op, OPERANDS(total, x), 2, &longer, 1, &error), "midway", "f32[3]",
                 "f32[4]");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(op, one, 2, &one[2], 1, &error), "midway",
                 "'n > 1'", "n = 1");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_call_into(op, &total, 1, &y, 1, &error), "midway");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(op, OPERANDS(total, x), 2, &total, 1, &error), "midway",
                 "overlaps operand 'total'");
    assert_floats(total, FLOATS(0, 1, 2));
    assert_floats(x, FLOATS(1, 1, 1));
    assert_floats(y, FLOATS(0, 1, 2));
    assert_floats(longer, FLOATS(0, 1, 2, 3));
    for (int i = 0; i < 3; i++)
        assert_floats(one[i], FLOATS(1));
    RELEASE(total, x, y, longer, one[0], one[1], one[2]);
    fer_op_release(op);
}

/* Only inout operands and given results may have changed, and no result is published. */
static void test_a_kernel_that_fails_midway(void **state)
{
    (void)state;
    fer_op *op = declared("midway(inout total: f32[n], x: f32[n]) -> f32[n]");
    fer_tensor *total = make_counting(FER_F32, 3);
    fer_tensor *x = NULL;
    ASSERT_OK(&error, fer_tensor_zeros(FER_F32, EXTENTS(3), host, &x, &error));
    fer_tensor *y = (fer_tensor *)&error;
    assert_int_equal(fer_call(op, OPERANDS(total, x), 2, &y, 1, &error), FER_RUNTIME_ERROR);
    assert_null(y);
    assert_string_equal(error.op, "midway");
    assert_int_equal(error.axis, -1);
    assert_ptr_equal(strstr(error.message, "midway: x[0] is 0 (inline.c:"), error.message);
    assert_floats(total, FLOATS(6, 1, 2));
    assert_floats(x, FLOATS(0, 0, 0));
    /* An error is replaced by the next failure, and left alone by a success. */
    fer_tensor *one = make_ones(FER_F32, EXTENTS(3));
    fer_tensor *counting = make_counting(FER_F32, 3);
    assert_int_equal(fer_call(op, OPERANDS(counting, one), 2, &y, 1, &error), FER_OK);
    assert_int_equal(error.kind, FER_RUNTIME_ERROR);
    assert_non_null(strstr(error.message, "x[0] is 0"));
    fer_tensor_release(y);
    assert_int_equal(fer_call(op, &total, 1, &y, 1, &error), FER_TYPE_ERROR);
    assert_non_null(strstr(error.message, "expected 2 operands, got 1"));
    fer_error_clear(&error);
    RELEASE(total, x, one, counting);
    fer_op_release(op);
}

/* Every way to fail goes without a place to put the message. */
static void test_the_error_may_be_null(void **state)
{
    (void)state;
    fer_op *op = NULL;
    const fer_declaration declarations[] = {
        {.source = SOURCE},
        {.signature = "copy(x: f32[n)", .source = SOURCE},
        {.signature = "cpoy(x: f32[n]) -> f32[n]", .source = SOURCE},
        {.signature = "copy(x: f64[n]) -> f64[n]", .source = SOURCE},
        {.signature = "copy(x: f32[n]) -> f32[m]", .source = SOURCE},
        {.signature = "copy(x: f32[n]) -> f32[n]", .source = "KERNEL(copy, ) {"},
        {.signature = "copy(x: f32[n]) -> f32[n]", .packages = {"/no/such/folder"}},
        {.signature = "copy(x: f32[n]) -> f32[n]"},
        {.kernel = "copy", .source = SOURCE},
        {.kernel = "none", .source = SOURCE},
    };
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        op = (fer_op *)&error;
        assert_int_not_equal(fer_declare(&declarations[i], &op, NULL), FER_OK);
        assert_null(op);
    }
    op = declared("midway(inout total: f32[n], x: f32[n]) -> f32[n] where n > 1");
    fer_op *other = NULL;
    fer_param param = int_param("none", 1);
    assert_int_equal(fer_op_specialise(op, &param, 1, &other, NULL), FER_VALUE_ERROR);
    fer_tensor *total = make_ones(FER_F32, EXTENTS(3));
    fer_tensor *x = make_counting(FER_F32, 3);
    fer_tensor *longer = make_counting(FER_F32, 4);
    fer_tensor *doubles = make_counting(FER_F64, 3);
    fer_tensor *single = make_ones(FER_F32, EXTENTS(1));
    fer_tensor *y = NULL;
    assert_int_equal(fer_call(op, OPERANDS(total, x), 2, &y, 1, NULL), FER_RUNTIME_ERROR);
    assert_int_equal(fer_call(op, OPERANDS(total, x), 2, &y, 0, NULL), FER_TYPE_ERROR);
    assert_int_equal(fer_call(op, OPERANDS(total, longer), 2, &y, 1, NULL), FER_VALUE_ERROR);
    assert_int_equal(fer_call(op, OPERANDS(total, doubles), 2, &y, 1, NULL), FER_VALUE_ERROR);
    assert_int_equal(fer_call(op, OPERANDS(single, single), 2, &y, 1, NULL), FER_VALUE_ERROR);
    assert_int_equal(fer_call(op, OPERANDS(total, NULL), 2, &y, 1, NULL), FER_TYPE_ERROR);
    assert_int_equal(fer_call(op, OPERANDS(total, total), 2, &y, 1, NULL), FER_VALUE_ERROR);
    assert_int_equal(fer_call_into(op, OPERANDS(total, x), 2, &longer, 1, NULL), FER_VALUE_ERROR);
    assert_int_equal(fer_call_into(op, OPERANDS(total, x), 2, &x, 1, NULL), FER_VALUE_ERROR);
    assert_int_equal(fer_call_into(op, OPERANDS(total, x), 2, &y, 1, NULL), FER_VALUE_ERROR);
    RELEASE(total, x, longer, doubles, single);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_join_in_results),
        cmocka_unit_test(test_a_result_of_many_runs),
        cmocka_unit_test(test_an_operand_of_eight_dims_and_a_run),
        cmocka_unit_test(test_sizes_at_the_edge_of_int64),
        cmocka_unit_test(test_more_memory_than_there_is),
        cmocka_unit_test(test_with_zero_elements_the_kernel_is_called),
        cmocka_unit_test(test_given_results_of_every_rank),
        cmocka_unit_test(test_the_number_of_given_results),
        cmocka_unit_test(test_each_given_result_is_checked),
        cmocka_unit_test(test_neighbours_do_not_overlap),
        cmocka_unit_test(test_an_empty_tensor_overlaps_nothing),
        cmocka_unit_test(test_inout_operands_share_no_memory),
        cmocka_unit_test(test_after_a_refusal_every_tensor_holds_what_it_held),
        cmocka_unit_test(test_a_kernel_that_fails_midway),
        cmocka_unit_test(test_the_error_may_be_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
