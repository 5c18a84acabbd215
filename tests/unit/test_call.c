/* Eager calls: results, every refusal, kernels that fail, data-dependent and inout operands. */
#include "testing.h"

#include <ferrule/op.h>
#include <pthread.h>

static fer_error error = FER_ERROR_INIT;
static const fer_device host = {0};

static const char SOURCE[] =
    "#include <ferrule/kernel.h>\n"
    "DTYPE_VAR(T, f32);\n"
    "PARAM(int, rows, 4);\n"
    "KERNEL(halve, OUT(f32, 3, y), IN(f32, 3, x))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        for (index_t j = 0; j < DIM(y, 1); j++)\n"
    "            for (index_t k = 0; k < DIM(y, 2); k++)\n"
    "                AT(y, i, j, k) = AT(x, i, 2 * j, k);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(dot, OUT(T, 0, y), IN(T, 1, a), IN(T, 1, b))\n"
    "{\n"
    "    T total = 0;\n"
    "    for (index_t i = 0; i < DIM(a, 0); i++)\n"
    "        total += AT(a, i) * AT(b, i);\n"
    "    AT(y) = total;\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(pinned, OUT(f32, 1, y), IN(f32, 2, x))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = AT(x, i, rows - 1);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(divmod, OUT(i64, 1, q), OUT(i64, 1, r), IN(i64, 1, a), IN(i64, 0, b))\n"
    "{\n"
    "    CHECK(AT(b) != 0, \"b is %d\", 0);\n"
    "    for (index_t i = 0; i < DIM(q, 0); i++) {\n"
    "        AT(q, i) = AT(a, i) / AT(b);\n"
    "        AT(r, i) = AT(a, i) % AT(b);\n"
    "    }\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(add_to, INOUT(f32, 1, total), IN(f32, 1, x))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"
    "        AT(total, i) += AT(x, i);\n"
    "    return OK;\n"
    "}\n"
    "SHAPE(keep, IN(f32, 1, x), IN(bool, 1, mask))\n"
    "{\n"
    "    index_t kept = 0;\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"
    "        kept += AT(mask, i);\n"
    "    EXTENT(kept) = kept;\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(keep, OUT(f32, 1, y), IN(f32, 1, x), IN(bool, 1, mask))\n"
    "{\n"
    "    index_t next = 0;\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"
    "        if (AT(mask, i))\n"
    "            AT(y, next++) = AT(x, i);\n"
    "    return OK;\n"
    "}\n"
    "SHAPE(grow, IN(i64, 0, n)) { EXTENT(m) = AT(n); return OK; }\n"
    "KERNEL(grow, OUT(f64, 1, y), IN(i64, 0, n))\n"
    "{\n"
    "    (void)n;\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = (f64)i;\n"
    "    return OK;\n"
    "}\n"
    "SHAPE(wrong_extent, IN(f32, 1, x)) { (void)x; EXTENT(kpet) = 1; return OK; }\n"
    "KERNEL(wrong_extent, OUT(f32, 1, y), IN(f32, 1, x)) { (void)x; (void)y; return OK; }\n"
    "MAP(scale, T, IN(T, x), IN(T, k)) { return x * k; }\n"
    "KERNEL(count, OUT(i64, 0, y), IN(T, ANY, x))\n"
    "{\n"
    "    AT(y) = SIZE(x) * 100 + RANK(x);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(flip, OUT(T, ANY, y), IN(T, ANY, x))\n"
    "{\n"
    "    const index_t n = DIM(x, RANK(x) - 1);\n"
    "    for (index_t i = 0; i < SIZE(x); i++)\n"
    "        DATA(y)[i % n * (SIZE(x) / n) + i / n] = DATA(x)[i];\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(conv, OUT(f32, 1, y), IN(f32, 1, x), IN(f32, 1, k))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++) {\n"
    "        AT(y, i) = 0;\n"
    "        for (index_t j = 0; j < DIM(k, 0); j++)\n"
    "            AT(y, i) += AT(x, i + j) * AT(k, j);\n"
    "    }\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(pack, OUT(u8, 1, y), IN(u8, 1, x))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = AT(x, 8 * i);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(spread, OUT(f32, 2, y), IN(u8, 1, x)) { (void)x; (void)y; return OK; }\n"
    "KERNEL(use_scratch, OUT(f32, 1, y), IN(f32, 1, x))\n"
    "{\n"
    "    f32 *copy = SCRATCH(f32, DIM(x, 0));\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"
    "        copy[i] = AT(x, i);\n"
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"
    "        AT(y, i) = copy[DIM(x, 0) - 1 - i];\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(returns_seven, OUT(f32, 0, y), IN(f32, 0, x)) { (void)x; AT(y) = 0; return 7; }\n";

static fer_op *declared(const char *signature)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = signature, .source = SOURCE}, &op,
                                  &error));
    return op;
}

#define EXTENTS(...) (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8

static fer_tensor *ones(fer_dtype dtype, const int64_t *extents, size_t rank)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_ones(dtype, rank, extents, host, &tensor, &error));
    return tensor;
}

static fer_tensor *counting(fer_dtype dtype, int64_t count)
{
    fer_tensor *tensor = NULL;
    fer_number zero = {.kind = FER_NUMBER_INT};
    fer_number stop = {.kind = FER_NUMBER_INT, .value.as_int = count};
    fer_number one = {.kind = FER_NUMBER_INT, .value.as_int = 1};
    ASSERT_OK(&error, fer_tensor_arange(dtype, zero, stop, one, host, &tensor, &error));
    return tensor;
}

static fer_tensor *scalar_i64(int64_t value)
{
    fer_tensor *tensor = NULL;
    fer_number number = {.kind = FER_NUMBER_INT, .value.as_int = value};
    ASSERT_OK(&error, fer_tensor_scalar(FER_I64, host, number, &tensor, &error));
    return tensor;
}

static void assert_extents(const fer_tensor *tensor, const int64_t *extents, size_t rank)
{
    assert_int_equal(fer_tensor_rank(tensor), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(fer_tensor_shape(tensor)[i], extents[i]);
}

static void assert_floats(const fer_tensor *tensor, const float *values, size_t count)
{
    assert_int_equal(fer_tensor_num_elements(tensor), count);
    assert_int_equal(fer_tensor_dtype(tensor), FER_F32);
    const float *data = fer_tensor_const_data(tensor);
    for (size_t i = 0; i < count; i++)
        assert_float_equal(data[i], values[i], 0);
}

static void release(fer_tensor **tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fer_tensor_release(tensors[i]);
}

/* Calls with these operands, which must be refused, and releases them. */
#define ASSERT_CALL_FAILS(kind, op, num_operands, operands, ...)                                   \
    do {                                                                                           \
        fer_tensor *refused[16] = {(fer_tensor *)&error};                                          \
        ASSERT_FAILS(&error, kind, fer_call(op, operands, num_operands, refused, 1, &error),       \
                     __VA_ARGS__);                                                                 \
        assert_null(refused[0]);                                                                   \
    } while (0)

static void test_results_have_the_declared_dims(void **state)
{
    (void)state;
    fer_op *op = declared("halve(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    const int64_t shapes[][6] = {{2, 8, 3, 2, 4, 3},
                                 {1, 9, 1, 1, 4, 1},
                                 {2, 1, 3, 2, 0, 3},
                                 {0, 4, 4, 0, 2, 4},
                                 {3, 0, 2, 3, 0, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        fer_tensor *x = ones(FER_F32, shapes[i], 3);
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
        assert_extents(y, shapes[i] + 3, 3);
        for (int64_t j = 0; j < fer_tensor_num_elements(y); j++)
            assert_float_equal(((const float *)fer_tensor_const_data(y))[j], 1, 0);
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    fer_op_release(op);
}

static void test_new_sizes_compile_nothing(void **state)
{
    (void)state;
    fer_op *op = declared("halve(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    fer_counters before = fer_read_counters();
    for (int64_t n = 1; n < 50; n++) {
        fer_tensor *x = ones(FER_F32, EXTENTS(n, 2 * n, 3));
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    fer_counters after = fer_read_counters();
    assert_int_equal(before.compiles, after.compiles);
    assert_int_equal(before.cache_hits, after.cache_hits);
    fer_op_release(op);
}

static void test_wrong_operands_are_named(void **state)
{
    (void)state;
    fer_op *op = declared("halve(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    fer_tensor *x = ones(FER_F32, EXTENTS(2, 8, 3));
    fer_tensor *flat = ones(FER_F32, EXTENTS(2, 8));
    fer_tensor *doubles = ones(FER_F64, EXTENTS(2, 8, 3));
    fer_tensor *none = NULL;
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &flat, "halve", "'x'", "rank", "3", "2");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &doubles, "halve", "'x'", "f32", "f64");
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, op, 1, &none, "halve", "'x'", "no tensor");
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, op, 2, ((fer_tensor *[]){x, x}), "halve", "1", "2");
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, op, 0, &x, "halve", "1", "0");
    fer_tensor *two[2];
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_call(op, &x, 1, two, 2, &error), "halve", "1 result",
                 "2");
    fer_tensor *all[] = {x, flat, doubles};
    release(all, 3);
    fer_op_release(op);
}

static void test_an_error_says_where_in_its_members(void **state)
{
    (void)state;
    fer_op *op = declared("dot<T>(a: T[n], b: T[n]) -> T[]");
    fer_tensor *operands[] = {counting(FER_F32, 5), counting(FER_F32, 6)};
    fer_tensor *y = NULL;
    assert_int_equal(fer_call(op, operands, 2, &y, 1, &error), FER_VALUE_ERROR);
    assert_string_equal(error.op, "dot");
    assert_string_equal(error.operand, "b");
    assert_int_equal(error.axis, 0);
    assert_non_null(strstr(error.message, "5"));
    assert_non_null(strstr(error.message, "'a'"));
    fer_error_clear(&error);
    assert_int_equal(fer_call(op, operands, 2, &y, 1, NULL), FER_VALUE_ERROR);
    release(operands, 2);
    fer_op_release(op);
}

static void test_dtype_variables_agree_and_specialise(void **state)
{
    (void)state;
    fer_op *op = declared("dot<T: f32|f64|i32>(a: T[n], b: T[n]) -> T[]");
    fer_tensor *f32 = counting(FER_F32, 4);
    fer_tensor *f64 = counting(FER_F64, 4);
    fer_tensor *i32 = counting(FER_I32, 4);
    fer_tensor *u8 = counting(FER_U8, 4);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){f32, f32}, 2, &y, 1, &error));
    assert_floats(y, (float[]){14}, 1);
    fer_tensor_release(y);
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){f64, f64}, 2, &y, 1, &error));
    assert_int_equal(fer_tensor_dtype(y), FER_F64);
    assert_float_equal(*(const double *)fer_tensor_const_data(y), 14, 0);
    fer_tensor_release(y);
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){i32, i32}, 2, &y, 1, &error));
    assert_int_equal(*(const int32_t *)fer_tensor_const_data(y), 14);
    fer_tensor_release(y);
    assert_int_equal(fer_op_num_binaries(op), 3);
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 2, ((fer_tensor *[]){f64, f32}), "dot", "'a'", "'b'",
                      "T", "f64", "f32");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 2, ((fer_tensor *[]){u8, u8}), "dot", "T", "u8");
    release((fer_tensor *[]){f32, f64, i32, u8}, 4);
    fer_op_release(op);
}

static void test_a_pinned_dim_names_its_parameter(void **state)
{
    (void)state;
    fer_op *op = declared("pinned<rows: int = 4>(x: f32[n, rows]) -> f32[n]");
    fer_tensor *good = ones(FER_F32, EXTENTS(2, 4));
    fer_tensor *bad = ones(FER_F32, EXTENTS(2, 3));
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &good, 1, &y, 1, &error));
    assert_extents(y, EXTENTS(2));
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &bad, "pinned", "'x'", "rows", "4", "3");
    release((fer_tensor *[]){good, bad, y}, 3);
    fer_op_release(op);
}

static void test_conditions_are_quoted(void **state)
{
    (void)state;
    fer_op *op = declared("pack(x: u8[n]) -> u8[n // 8] where n % 8 == 0, n >= 8");
    fer_tensor *good = counting(FER_U8, 24);
    fer_tensor *bad = counting(FER_U8, 25);
    fer_tensor *empty = counting(FER_U8, 0);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &good, 1, &y, 1, &error));
    assert_memory_equal(fer_tensor_const_data(y), "\0\10\20", 3);
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &bad, "pack", "n % 8 == 0", "25");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &empty, "pack", "n >= 8", "0");
    release((fer_tensor *[]){good, bad, empty, y}, 4);
    fer_op_release(op);
}

static void test_result_dims_are_judged(void **state)
{
    (void)state;
    fer_op *conv = declared("conv(x: f32[n], k: f32[m]) -> f32[n - m + 1]");
    fer_tensor *x = counting(FER_F32, 5);
    fer_tensor *k = ones(FER_F32, EXTENTS(2));
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(conv, (fer_tensor *[]){x, k}, 2, &y, 1, &error));
    assert_floats(y, (float[]){1, 3, 5, 7}, 4);
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, conv, 2, ((fer_tensor *[]){k, x}), "conv", "n - m + 1",
                      "-2");
    fer_op *spread = declared("spread(x: u8[n]) -> f32[n * n * 4294967296, n]");
    fer_tensor *large = ones(FER_U8, EXTENTS(70000));
    ASSERT_CALL_FAILS(FER_OVERFLOW_ERROR, spread, 1, &large, "spread");
    fer_op *divide = declared("conv(x: f32[n], k: f32[m]) -> f32[n // m]");
    fer_tensor *empty = counting(FER_F32, 0);
    ASSERT_CALL_FAILS(FER_ZERO_DIVISION_ERROR, divide, 2, ((fer_tensor *[]){x, empty}), "conv");
    release((fer_tensor *[]){x, k, y, large, empty}, 5);
    fer_op_release(conv);
    fer_op_release(spread);
    fer_op_release(divide);
}

static void test_steps_of_a_dim_may_leave_int64(void **state)
{
    (void)state;
    fer_op *op = declared("conv(x: f32[n], k: f32[m]) -> "
                          "f32[9223372036854775807 * n // (9223372036854775807 * m + 0 * n)]");
    fer_tensor *x = counting(FER_F32, 6);
    fer_tensor *k = ones(FER_F32, EXTENTS(2));
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){x, k}, 2, &y, 1, &error));
    assert_extents(y, EXTENTS(3));
    release((fer_tensor *[]){x, k, y}, 3);
    fer_op_release(op);
}

static void test_runs_serve_every_rank(void **state)
{
    (void)state;
    fer_op *count = declared("count<T>(x: T[*s]) -> i64[]");
    fer_op *flip = declared("flip<T>(x: T[*s, n]) -> T[n, *s]");
    const int64_t extents[] = {2, 3, 1, 2, 1, 2, 1, 1};
    int64_t size = 1;
    for (size_t rank = 0; rank <= 8; rank++) {
        fer_tensor *x = ones(FER_I32, extents, rank);
        fer_tensor *y = NULL;
        ASSERT_OK(&error, fer_call(count, &x, 1, &y, 1, &error));
        assert_int_equal(*(const int64_t *)fer_tensor_const_data(y), size * 100 + (int64_t)rank);
        fer_tensor_release(y);
        if (rank == 0) {
            ASSERT_CALL_FAILS(FER_VALUE_ERROR, flip, 1, &x, "flip", "'x'", "rank");
        } else {
            ASSERT_OK(&error, fer_call(flip, &x, 1, &y, 1, &error));
            assert_int_equal(fer_tensor_shape(y)[0], extents[rank - 1]);
            for (size_t i = 1; i < rank; i++)
                assert_int_equal(fer_tensor_shape(y)[i], extents[i - 1]);
            fer_tensor_release(y);
        }
        fer_tensor_release(x);
        size *= rank < 8 ? extents[rank] : 1;
    }
    fer_tensor *x = counting(FER_F32, 3);
    fer_op *scale = declared("scale<T>(x: T[*s], k: T[*s]) -> T[*s]");
    fer_tensor *k = counting(FER_F32, 4);
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, scale, 2, ((fer_tensor *[]){x, k}), "scale", "3", "4");
    release((fer_tensor *[]){x, k}, 2);
    fer_op_release(scale);
    fer_op_release(flip);
    fer_op_release(count);
}

static void test_a_scalar_of_a_map_serves_all_elements(void **state)
{
    (void)state;
    fer_op *op = declared("scale<T>(x: T[*s], k: T[]) -> T[*s]");
    fer_tensor *x = counting(FER_F32, 37);
    fer_tensor *k = NULL;
    fer_tensor *y = NULL;
    fer_number three = {.kind = FER_NUMBER_INT, .value.as_int = 3};
    ASSERT_OK(&error, fer_tensor_scalar(FER_F32, host, three, &k, &error));
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){x, k}, 2, &y, 1, &error));
    for (int i = 0; i < 37; i++)
        assert_float_equal(((const float *)fer_tensor_const_data(y))[i], 3 * i, 0);
    release((fer_tensor *[]){x, k, y}, 3);
    fer_op_release(op);
}

static void test_several_results_and_a_failing_kernel(void **state)
{
    (void)state;
    fer_op *op = declared("divmod(a: i64[n], b: i64[]) -> (q: i64[n], r: i64[n])");
    fer_tensor *a = counting(FER_I64, 5);
    fer_tensor *b = scalar_i64(3);
    fer_tensor *zero = scalar_i64(0);
    fer_tensor *results[2];
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){a, b}, 2, results, 2, &error));
    assert_memory_equal(fer_tensor_const_data(results[0]), ((int64_t[]){0, 0, 0, 1, 1}), 40);
    assert_memory_equal(fer_tensor_const_data(results[1]), ((int64_t[]){0, 1, 2, 0, 1}), 40);
    release(results, 2);
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR,
                 fer_call(op, (fer_tensor *[]){a, zero}, 2, results, 2, &error), "divmod",
                 "b is 0");
    assert_null(results[0]);
    assert_null(results[1]);
    fer_op *seven = declared("returns_seven(x: f32[]) -> f32[]");
    fer_tensor *x = ones(FER_F32, NULL, 0);
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, seven, 1, &x, "returns_seven", "7");
    release((fer_tensor *[]){a, b, zero, x}, 4);
    fer_op_release(seven);
    fer_op_release(op);
}

static void test_inout_changes_in_place(void **state)
{
    (void)state;
    fer_op *op = declared("add_to(inout total: f32[n], x: f32[n]) -> ()");
    fer_tensor *total = ones(FER_F32, EXTENTS(3));
    fer_tensor *x = counting(FER_F32, 3);
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){total, x}, 2, NULL, 0, &error));
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){total, x}, 2, NULL, 0, &error));
    assert_floats(total, (float[]){1, 3, 5}, 3);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call(op, (fer_tensor *[]){total, total}, 2, NULL, 0, &error), "add_to",
                 "'total'", "'x'", "overlap");
    float values[3] = {1, 2, 3};
    fer_tensor *constant = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 1, (int64_t[]){3}, values, true, host, NULL, NULL,
                                        &constant, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call(op, (fer_tensor *[]){constant, x}, 2, NULL, 0, &error), "add_to",
                 "'total'", "read-only");
    assert_float_equal(values[1], 2, 0);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){total, constant}, 2, &y, 0, &error));
    release((fer_tensor *[]){total, x, constant}, 3);
    fer_op_release(op);
}

static void test_data_dependent_results(void **state)
{
    (void)state;
    fer_op *op = declared("keep(x: f32[n], mask: bool[n]) -> f32[kept]");
    fer_tensor *x = counting(FER_F32, 4);
    bool flags[] = {true, false, false, true};
    fer_tensor *mask = NULL;
    fer_tensor *y = NULL;
    ASSERT_OK(&error,
              fer_tensor_copy_from(FER_BOOL, 1, (int64_t[]){4}, flags, host, &mask, &error));
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){x, mask}, 2, &y, 1, &error));
    assert_floats(y, (float[]){0, 3}, 2);
    fer_tensor *given = ones(FER_F32, EXTENTS(2));
    fer_tensor *larger = ones(FER_F32, EXTENTS(3));
    ASSERT_OK(&error, fer_call_into(op, (fer_tensor *[]){x, mask}, 2, &given, 1, &error));
    assert_floats(given, (float[]){0, 3}, 2);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(op, (fer_tensor *[]){x, mask}, 2, &larger, 1, &error), "keep",
                 "f32[2]", "f32[3]");
    release((fer_tensor *[]){x, mask, y, given, larger}, 5);
    fer_op_release(op);
}

static void test_a_bad_extent_is_a_runtime_error(void **state)
{
    (void)state;
    fer_op *op = declared("grow(n: i64[]) -> f64[m]");
    fer_tensor *three = scalar_i64(3);
    fer_tensor *negative = scalar_i64(-1);
    fer_tensor *large = scalar_i64(INT64_MAX);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &three, 1, &y, 1, &error));
    assert_extents(y, EXTENTS(3));
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, op, 1, &negative, "grow", "m", "-1");
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, op, 1, &large, "grow", "m", "9223372036854775807");
    fer_op *wrong = declared("wrong_extent(x: f32[n]) -> f32[kept]");
    fer_tensor *x = counting(FER_F32, 2);
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, wrong, 1, &x, "wrong_extent", "kpet");
    release((fer_tensor *[]){three, negative, large, y, x}, 5);
    fer_op_release(wrong);
    fer_op_release(op);
}

static void test_given_results_are_checked(void **state)
{
    (void)state;
    fer_op *op = declared("halve(x: f32[n, w, c]) -> f32[n, w // 2, c]");
    fer_tensor *x = ones(FER_F32, EXTENTS(1, 4, 1));
    fer_tensor *good = ones(FER_F32, EXTENTS(1, 2, 1));
    fer_tensor *wide = ones(FER_F32, EXTENTS(1, 3, 1));
    fer_tensor *doubles = ones(FER_F64, EXTENTS(1, 2, 1));
    fer_tensor *flat = ones(FER_F32, EXTENTS(2));
    fer_tensor *none = NULL;
    float memory[8] = {0};
    fer_tensor *constant = NULL;
    fer_tensor *front = NULL;
    fer_tensor *part = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 3, (int64_t[]){1, 2, 1}, memory, true, host, NULL,
                                        NULL, &constant, &error));
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 3, (int64_t[]){1, 4, 1}, memory, false, host, NULL,
                                        NULL, &front, &error));
    ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 3, (int64_t[]){1, 2, 1}, memory + 3, false, host,
                                        NULL, NULL, &part, &error));
    ASSERT_OK(&error, fer_call_into(op, &x, 1, &good, 1, &error));
#define ASSERT_INTO_FAILS(kind, operand, result, ...)                                              \
    ASSERT_FAILS(&error, kind, fer_call_into(op, operand, 1, result, 1, &error), __VA_ARGS__)
    ASSERT_INTO_FAILS(FER_VALUE_ERROR, &x, &wide, "halve", "f32[1, 2, 1]", "f32[1, 3, 1]");
    ASSERT_INTO_FAILS(FER_VALUE_ERROR, &x, &doubles, "halve", "f32[1, 2, 1]", "f64[1, 2, 1]");
    ASSERT_INTO_FAILS(FER_VALUE_ERROR, &x, &flat, "halve", "f32[1, 2, 1]", "f32[2]");
    ASSERT_INTO_FAILS(FER_VALUE_ERROR, &x, &none, "halve", "NULL");
    ASSERT_INTO_FAILS(FER_VALUE_ERROR, &x, &constant, "halve", "read-only");
    ASSERT_INTO_FAILS(FER_VALUE_ERROR, &front, &part, "halve", "overlaps operand 'x'");
    fer_op *divmod = declared("divmod(a: i64[n], b: i64[]) -> (q: i64[n], r: i64[n])");
    fer_tensor *operands[] = {counting(FER_I64, 3), scalar_i64(2)};
    fer_tensor *q = counting(FER_I64, 3);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(divmod, operands, 2, (fer_tensor *[]){q, q}, 2, &error), "divmod",
                 "result 1", "result 0");
    release((fer_tensor *[]){x, good, wide, doubles, flat, constant, front, part, q}, 9);
    release(operands, 2);
    fer_op_release(divmod);
    fer_op_release(op);
}

static void test_scratch_is_the_calls_own(void **state)
{
    (void)state;
    fer_op *op = declared("use_scratch(x: f32[n]) -> f32[n]");
    fer_tensor *x = counting(FER_F32, 3);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    assert_floats(y, (float[]){2, 1, 0}, 3);
    release((fer_tensor *[]){x, y}, 2);
    fer_op_release(op);
}

static void *call_many(void *op)
{
    fer_error own = FER_ERROR_INIT;
    static const fer_dtype DTYPES[] = {FER_F32, FER_F64, FER_I32, FER_I64, FER_U8};
    for (int i = 0; i < 500; i++) {
        int64_t n = i % 7;
        fer_tensor *x = NULL;
        fer_tensor *y = NULL;
        if (fer_tensor_ones(DTYPES[i % 5], 1, &n, host, &x, &own) != FER_OK ||
            fer_call(op, (fer_tensor *[]){x, x}, 2, &y, 1, &own) != FER_OK ||
            fer_tensor_dtype(y) != DTYPES[i % 5])
            return own.message == NULL ? "wrong dtype" : (void *)own.message;
        fer_tensor_release(x);
        fer_tensor_release(y);
    }
    return NULL;
}

static void test_threads_share_an_op(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    fer_op *op = declared("dot<T>(a: T[n], b: T[n]) -> T[]");
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, op), 0);
    for (int i = 0; i < THREADS; i++) {
        void *message;
        pthread_join(threads[i], &message);
        assert_null(message);
    }
    assert_int_equal(fer_op_num_binaries(op), 5);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_have_the_declared_dims),
        cmocka_unit_test(test_new_sizes_compile_nothing),
        cmocka_unit_test(test_wrong_operands_are_named),
        cmocka_unit_test(test_an_error_says_where_in_its_members),
        cmocka_unit_test(test_dtype_variables_agree_and_specialise),
        cmocka_unit_test(test_a_pinned_dim_names_its_parameter),
        cmocka_unit_test(test_conditions_are_quoted),
        cmocka_unit_test(test_result_dims_are_judged),
        cmocka_unit_test(test_steps_of_a_dim_may_leave_int64),
        cmocka_unit_test(test_runs_serve_every_rank),
        cmocka_unit_test(test_a_scalar_of_a_map_serves_all_elements),
        cmocka_unit_test(test_several_results_and_a_failing_kernel),
        cmocka_unit_test(test_inout_changes_in_place),
        cmocka_unit_test(test_data_dependent_results),
        cmocka_unit_test(test_a_bad_extent_is_a_runtime_error),
        cmocka_unit_test(test_given_results_are_checked),
        cmocka_unit_test(test_scratch_is_the_calls_own),
        cmocka_unit_test(test_threads_share_an_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
