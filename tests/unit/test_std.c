/* The standard package's exact elementwise ops against slow references, on random shapes, sizes 0
 * and 1 among them. */
#include "testing_std.h"

/* --- Arithmetic ------------------------------------------------------------------------------- */

typedef wide (*binary_reference)(fer_dtype dtype, wide a, wide b);

static wide add_reference(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (wide){.f = rounded(dtype, a.f + b.f)};
    return (wide){.i = wrapped(dtype, (uint64_t)a.i + (uint64_t)b.i)};
}

static wide sub_reference(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (wide){.f = rounded(dtype, a.f - b.f)};
    return (wide){.i = wrapped(dtype, (uint64_t)a.i - (uint64_t)b.i)};
}

static wide mul_reference(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (wide){.f = rounded(dtype, a.f * b.f)};
    return (wide){.i = wrapped(dtype, (uint64_t)a.i * (uint64_t)b.i)};
}

static wide div_reference(fer_dtype dtype, wide a, wide b)
{
    return (wide){.f = rounded(dtype, a.f / b.f)};
}

static int compare(fer_dtype dtype, wide a, wide b)
{
    if (is_float(dtype))
        return (a.f > b.f) - (a.f < b.f);
    if (dtype == FER_U64)
        return ((uint64_t)a.i > (uint64_t)b.i) - ((uint64_t)a.i < (uint64_t)b.i);
    return (a.i > b.i) - (a.i < b.i);
}

static wide min_reference(fer_dtype dtype, wide a, wide b)
{
    return compare(dtype, a, b) < 0 ? a : b;
}

static wide max_reference(fer_dtype dtype, wide a, wide b)
{
    return compare(dtype, a, b) > 0 ? a : b;
}

static void check_binary(const char *name, binary_reference reference, const fer_dtype *dtypes,
                         size_t num_dtypes)
{
    fer_op *op = standard(name);
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = dtypes[(size_t)round % num_dtypes];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *a = random_tensor(dtype, rank, extents);
        fer_tensor *b = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, a, b);
        assert_shape(y, rank, extents);
        assert_int_equal(fer_tensor_dtype(y), dtype);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_same(dtype, read_element(y, i),
                        reference(dtype, read_element(a, i), read_element(b, i)));
        release_3(a, b, y);
    }
    fer_op_release(op);
}

static void test_arithmetic(void **state)
{
    (void)state;
    check_binary("add", add_reference, NUMERIC, NUM_NUMERIC);
    check_binary("sub", sub_reference, NUMERIC, NUM_NUMERIC);
    check_binary("mul", mul_reference, NUMERIC, NUM_NUMERIC);
    check_binary("div", div_reference, FLOATS, NUM_FLOATS);
}

static fer_tensor *singles(size_t count, const float *values)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 1, (int64_t[]){(int64_t)count}, values, host,
                                           &tensor, &error));
    return tensor;
}

static void test_min_and_max(void **state)
{
    (void)state;
    check_binary("min", min_reference, NUMERIC, NUM_NUMERIC);
    check_binary("max", max_reference, NUMERIC, NUM_NUMERIC);
    static const float left[] = {NAN, 1, NAN, INFINITY, 0.0f, -0.0f};
    static const float right[] = {1, NAN, NAN, 1, -0.0f, 0.0f};
    fer_tensor *a = singles(COUNT(left), left);
    fer_tensor *b = singles(COUNT(right), right);
    for (int is_max = 0; is_max < 2; is_max++) {
        fer_op *op = standard(is_max ? "max" : "min");
        fer_tensor *y = call(op, a, b);
        const float *values = fer_tensor_const_data(y);
        assert_true(isnan(values[0]) && isnan(values[1]) && isnan(values[2]));
        assert_true(is_max ? isinf(values[3]) : values[3] == 1);
        assert_true(signbit(values[4]) && !signbit(values[5]));
        fer_tensor_release(y);
        fer_op_release(op);
    }
    release_3(a, b, NULL);
}

static void test_relu(void **state)
{
    (void)state;
    fer_op *op = standard("relu");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[(size_t)round % NUM_NUMERIC];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            const wide from = read_element(x, i);
            const wide zero = {0};
            assert_same(dtype, read_element(y, i), compare(dtype, from, zero) < 0 ? zero : from);
        }
        release_3(x, y, NULL);
    }
    static const float special[] = {NAN, -0.0f, INFINITY, -INFINITY};
    fer_tensor *x = singles(4, special);
    fer_tensor *y = call(op, x, NULL);
    const float *values = fer_tensor_const_data(y);
    assert_true(isnan(values[0]) && values[1] == 0 && isinf(values[2]) && values[3] == 0);
    release_3(x, y, NULL);
    fer_op_release(op);
}

/* --- Comparisons and choices ------------------------------------------------------------------ */

static bool expected_comparison(size_t which, int order)
{
    const bool expected[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    return expected[which];
}

static void test_comparisons(void **state)
{
    (void)state;
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const fer_dtype dtypes[] = {FER_BOOL, FER_I8,  FER_U64,     FER_F32,
                                       FER_F64,  FER_F16, FER_F8E4M3FN};
    for (size_t which = 0; which < COUNT(names); which++) {
        fer_op *op = standard(names[which]);
        for (size_t round = 0; round < ROUNDS; round++) {
            const fer_dtype dtype = dtypes[round % COUNT(dtypes)];
            int64_t extents[3];
            size_t rank = random_shape(extents);
            fer_tensor *a = random_tensor(dtype, rank, extents);
            fer_tensor *b = random_tensor(dtype, rank, extents);
            for (int64_t i = 0; i < fer_tensor_num_elements(a); i += 2)
                write_element(b, i, read_element(a, i));
            fer_tensor *y = call(op, a, b);
            assert_shape(y, rank, extents);
            assert_int_equal(fer_tensor_dtype(y), FER_BOOL);
            for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
                assert_int_equal(read_element(y, i).i,
                                 expected_comparison(which, compare(dtype, read_element(a, i),
                                                                    read_element(b, i))));
            release_3(a, b, y);
        }
        static const float left[] = {NAN, NAN, 1, -0.0f};
        static const float right[] = {NAN, 1, NAN, 0.0f};
        fer_tensor *a = singles(4, left);
        fer_tensor *b = singles(4, right);
        fer_tensor *y = call(op, a, b);
        for (int64_t i = 0; i < 3; i++) /* a NaN is in no order: different, and nothing else */
            assert_int_equal(read_element(y, i).i, strcmp(names[which], "ne") == 0);
        assert_int_equal(read_element(y, 3).i, expected_comparison(which, 0));
        release_3(a, b, y);
        fer_op_release(op);
    }
}

static void test_where(void **state)
{
    (void)state;
    static const fer_dtype dtypes[] = {FER_BOOL, FER_I8, FER_U64, FER_F32, FER_BF16, FER_F8E5M2};
    fer_op *op = standard("where");
    for (size_t round = 0; round < ROUNDS; round++) {
        const fer_dtype dtype = dtypes[round % COUNT(dtypes)];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *condition = random_tensor(FER_BOOL, rank, extents);
        fer_tensor *a = random_tensor(dtype, rank, extents);
        fer_tensor *b = random_tensor(dtype, rank, extents);
        fer_tensor *y = call_3(op, condition, a, b);
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++)
            assert_same(dtype, read_element(y, i),
                        read_element(read_element(condition, i).i ? a : b, i));
        release_3(a, b, y);
        fer_tensor_release(condition);
    }
    fer_op_release(op);
}

/* --- Bits ------------------------------------------------------------------------------------- */

static wide and_reference(fer_dtype dtype, wide a, wide b)
{
    (void)dtype;
    return (wide){.i = a.i & b.i};
}

static wide or_reference(fer_dtype dtype, wide a, wide b)
{
    (void)dtype;
    return (wide){.i = a.i | b.i};
}

static wide xor_reference(fer_dtype dtype, wide a, wide b)
{
    (void)dtype;
    return (wide){.i = a.i ^ b.i};
}

static const fer_dtype BITS[] = {FER_BOOL, FER_I8, FER_U16, FER_I32, FER_U64};

static void test_bits(void **state)
{
    (void)state;
    check_binary("bitwise_and", and_reference, BITS, COUNT(BITS));
    check_binary("bitwise_or", or_reference, BITS, COUNT(BITS));
    check_binary("bitwise_xor", xor_reference, BITS, COUNT(BITS));
    fer_op *op = standard("bitwise_not");
    for (size_t round = 0; round < ROUNDS; round++) {
        const fer_dtype dtype = BITS[round % COUNT(BITS)];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *x = random_tensor(dtype, rank, extents);
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, rank, extents);
        assert_int_equal(fer_tensor_dtype(y), dtype);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            const int64_t from = read_element(x, i).i;
            assert_int_equal(read_element(y, i).i,
                             dtype == FER_BOOL ? !from : wrapped(dtype, ~(uint64_t)from));
        }
        release_3(x, y, NULL);
    }
    fer_op_release(op);
}

/* --- Integer division ------------------------------------------------------------------------- */

static int64_t floor_div_reference(fer_dtype dtype, wide a, wide b)
{
    if (dtype == FER_U64)
        return (int64_t)((uint64_t)a.i / (uint64_t)b.i);
    if (b.i == -1)
        return wrapped(dtype, 0 - (uint64_t)a.i);
    int64_t quotient = a.i / b.i;
    if (quotient * b.i != a.i && (a.i < 0) != (b.i < 0))
        quotient--;
    return quotient;
}

static int64_t floor_mod_reference(fer_dtype dtype, wide a, wide b)
{
    return wrapped(dtype,
                   (uint64_t)a.i - (uint64_t)b.i * (uint64_t)floor_div_reference(dtype, a, b));
}

/* Divisors are small for half of the elements, and never 0. */
static void test_floor_division(void **state)
{
    (void)state;
    fer_op *floor_div = standard("floor_div");
    fer_op *floor_mod = standard("floor_mod");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[(size_t)round % (NUM_NUMERIC - NUM_FLOATS)];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *a = random_tensor(dtype, rank, extents);
        fer_tensor *b = random_tensor(dtype, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(b); i++) {
            const wide small = {.i = wrapped(dtype, random_bits() % 7 - 3)};
            if (read_element(b, i).i == 0 || i % 2 == 0)
                write_element(b, i, small.i == 0 ? (wide){.i = 1} : small);
        }
        fer_tensor *quotient = call(floor_div, a, b);
        fer_tensor *rest = call(floor_mod, a, b);
        for (int64_t i = 0; i < fer_tensor_num_elements(a); i++) {
            const wide left = read_element(a, i);
            const wide right = read_element(b, i);
            assert_int_equal(read_element(quotient, i).i, floor_div_reference(dtype, left, right));
            assert_int_equal(read_element(rest, i).i, floor_mod_reference(dtype, left, right));
        }
        release_3(a, b, quotient);
        fer_tensor_release(rest);
    }
    fer_op_release(floor_div);
    fer_op_release(floor_mod);
}

/* Of the same sign, zeros too; NaN to NaN. */
static void assert_singles(const fer_tensor *tensor, const float *expected)
{
    const float *actual = fer_tensor_const_data(tensor);
    for (int64_t i = 0; i < fer_tensor_num_elements(tensor); i++)
        if (isnan(expected[i])
                ? !isnan(actual[i])
                : actual[i] != expected[i] || !signbit(actual[i]) != !signbit(expected[i]))
            fail_msg("element %d: %g is not %g", (int)i, (double)actual[i], (double)expected[i]);
}

static void test_floor_division_of_floats(void **state)
{
    (void)state;
    static const float left[] = {7, -7, 7, -7, -0.0f, 6, -6, 1, -1, 0, INFINITY, 5, 5, NAN, 1};
    static const float right[] = {2,    2, -2, -2,       3,         -3, 3,   0,
                                  0.0f, 0, 2,  INFINITY, -INFINITY, 1,  0.1f};
    static const float quotients[] = {3,         -4,  -4,  3, -0.0f, -2,  -2, INFINITY,
                                      -INFINITY, NAN, NAN, 0, -1,    NAN, 9};
    const float rests[] = {1,   1,   -1, -1,        0,   -0.0f,         0, NAN, NAN,
                           NAN, NAN, 5,  -INFINITY, NAN, 0x1.999996p-4f};
    fer_tensor *a = singles(COUNT(left), left);
    fer_tensor *b = singles(COUNT(right), right);
    fer_op *op = standard("floor_div");
    fer_tensor *y = call(op, a, b);
    assert_singles(y, quotients);
    fer_tensor_release(y);
    fer_op_release(op);
    op = standard("floor_mod");
    y = call(op, a, b);
    assert_singles(y, rests);
    release_3(a, b, y);
    fer_op_release(op);
}

static void test_int_pow(void **state)
{
    (void)state;
    fer_op *op = standard("int_pow");
    for (int round = 0; round < ROUNDS; round++) {
        fer_dtype dtype = NUMERIC[(size_t)round % (NUM_NUMERIC - NUM_FLOATS)];
        int64_t extents[3];
        size_t rank = random_shape(extents);
        fer_tensor *a = random_tensor(dtype, rank, extents);
        fer_tensor *b = random_tensor(dtype, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(b); i++)
            write_element(b, i, (wide){.i = (int64_t)(random_bits() % 70)});
        fer_tensor *y = call(op, a, b);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            uint64_t power = 1;
            for (int64_t j = 0; j < read_element(b, i).i; j++)
                power *= (uint64_t)read_element(a, i).i;
            assert_int_equal(read_element(y, i).i, wrapped(dtype, power));
        }
        release_3(a, b, y);
    }
    fer_tensor *a = empty_tensor(FER_I8, 1, (int64_t[]){2});
    fer_tensor *b = empty_tensor(FER_I8, 1, (int64_t[]){2});
    for (int64_t i = 0; i < 2; i++) {
        write_element(a, i, (wide){.i = 1});
        write_element(b, i, (wide){.i = -i});
    }
    fer_tensor *y = NULL;
    fer_tensor *operands[] = {a, b};
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, operands, 2, &y, 1, &error), "int_pow",
                 "element 1 of b is -1");
    assert_null(y);
    release_3(a, b, NULL);
    fer_op_release(op);
}

static void check_never_traps(const char *name, const int64_t *expected, int64_t smallest)
{
    fer_op *op = standard(name);
    static const int64_t lefts[] = {INT64_MIN, INT64_MIN, -7, 7, 7};
    static const int64_t rights[] = {-1, 1, 2, -2, 2};
    fer_tensor *a = NULL;
    fer_tensor *b = NULL;
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 1, (int64_t[]){5}, lefts, host, &a, &error));
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 1, (int64_t[]){5}, rights, host, &b, &error));
    fer_tensor *y = call(op, a, b);
    assert_memory_equal(fer_tensor_const_data(y), expected, sizeof lefts);
    fer_tensor_release(y);

    write_element(b, 3, (wide){.i = 0});
    y = NULL;
    fer_tensor *operands[] = {a, b};
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_call(op, operands, 2, &y, 1, &error), name,
                 "division by zero: element 3 of b is 0");
    assert_null(y);
    release_3(a, b, NULL);

    a = empty_tensor(FER_I8, 0, NULL);
    b = empty_tensor(FER_I8, 0, NULL);
    write_element(a, 0, (wide){.i = INT8_MIN});
    write_element(b, 0, (wide){.i = -1});
    y = call(op, a, b);
    assert_int_equal(read_element(y, 0).i, smallest);
    release_3(a, b, y);
    fer_op_release(op);
}

static void test_floor_division_never_traps(void **state)
{
    (void)state;
    check_never_traps("floor_div", (int64_t[]){INT64_MIN, INT64_MIN, -4, -4, 3}, INT8_MIN);
    check_never_traps("floor_mod", (int64_t[]){0, 0, 1, -1, 1}, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_min_and_max),
        cmocka_unit_test(test_relu),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_floor_division),
        cmocka_unit_test(test_floor_division_of_floats),
        cmocka_unit_test(test_floor_division_never_traps),
        cmocka_unit_test(test_int_pow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
