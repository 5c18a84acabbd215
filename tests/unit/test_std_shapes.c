/* The standard package's ops for axes and parts, against slow references. */
#include "testing_std.h"

static const fer_dtype MOVED[] = {FER_BOOL, FER_U64, FER_BF16, FER_F8E5M2};

static fer_dtype moved(int round)
{
    return MOVED[(size_t)round % COUNT(MOVED)];
}

/* Declared with dims of its own. */
static fer_op *declare_std(const char *signature)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = signature, .packages = {"std"}},
                                  &op, &error));
    return op;
}

static fer_tensor *integers(size_t count, const int64_t *values)
{
    fer_tensor *tensor = empty_tensor(FER_I64, 1, (int64_t[]){(int64_t)count});
    for (size_t i = 0; i < count; i++)
        write_element(tensor, (int64_t)i, (wide){.i = values[i]});
    return tensor;
}

static void assert_refused(const fer_op *op, fer_tensor *a, fer_tensor *b, const char *message)
{
    fer_tensor *y = NULL;
    fer_tensor *operands[] = {a, b};
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR,
                 fer_call(op, operands, b == NULL ? 1 : 2, &y, 1, &error), message);
    assert_null(y);
}

static void test_dim(void **state)
{
    (void)state;
    for (int64_t axis = -3; axis < 3; axis++) {
        fer_op *op = with_int(standard("dim"), "axis", axis);
        fer_tensor *x = random_tensor(moved((int)axis + 3), 3, (int64_t[]){4, 0, 7});
        fer_tensor *y = call(op, x, NULL);
        assert_shape(y, 0, NULL);
        assert_int_equal(read_element(y, 0).i, ((int64_t[]){4, 0, 7})[(axis + 3) % 3]);
        release_3(x, y, NULL);
        fer_op_release(op);
    }
}

static void test_dim_checks_the_axis(void **state)
{
    (void)state;
    static const struct {
        int64_t axis;
        size_t rank;
        const char *message;
    } CASES[] = {
        {0, 0, "dim: x has rank 0, and so no axis 0"},
        {2, 2, "dim: x has rank 2, and so no axis 2"},
        {-3, 2, "dim: x has rank 2, and so no axis -3"},
        {INT64_MIN, 2, "dim: x has rank 2, and so no axis -9223372036854775808"},
        {INT64_MAX, 2, "no axis 9223372036854775807"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_op *op = with_int(standard("dim"), "axis", CASES[i].axis);
        fer_tensor *x = random_tensor(FER_F32, CASES[i].rank, (int64_t[]){1, 2});
        assert_refused(op, x, NULL, CASES[i].message);
        fer_tensor_release(x);
        fer_op_release(op);
    }
}

static void test_permute(void **state)
{
    (void)state;
    static const struct {
        const char *signature;
        int64_t order[3];
    } CASES[] = {
        {"permute<T>(x: T[a, b, c], order: i64[3]) -> T[a, b, c]", {0, 1, 2}},
        {"permute<T>(x: T[a, b, c], order: i64[3]) -> T[a, c, b]", {0, 2, 1}},
        {"permute<T>(x: T[a, b, c], order: i64[3]) -> T[b, c, a]", {1, 2, 0}},
        {"permute<T>(x: T[a, b, c], order: i64[3]) -> T[c, a, b]", {2, 0, 1}},
        {"permute<T>(x: T[a, b, c], order: i64[3]) -> T[c, b, a]", {2, 1, 0}},
    };
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t *order = CASES[(size_t)round % COUNT(CASES)].order;
        fer_op *op = declare_std(CASES[(size_t)round % COUNT(CASES)].signature);
        int64_t from[3], to[3];
        for (int i = 0; i < 3; i++)
            from[i] = random_extent();
        for (int i = 0; i < 3; i++)
            to[i] = from[order[i]];
        fer_tensor *x = random_tensor(moved(round), 3, from);
        fer_tensor *given = integers(3, order);
        fer_tensor *y = call(op, x, given);
        assert_shape(y, 3, to);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            const int64_t at[3] = {i / (to[1] * to[2]), i / to[2] % to[1], i % to[2]};
            int64_t own[3];
            for (int axis = 0; axis < 3; axis++)
                own[order[axis]] = at[axis];
            assert_same(moved(round), read_element(y, i),
                        read_element(x, (own[0] * from[1] + own[1]) * from[2] + own[2]));
        }
        release_3(x, given, y);
        fer_op_release(op);
    }
}

static void test_permute_checks_the_order(void **state)
{
    (void)state;
    static const struct {
        int64_t order[2];
        const char *message;
    } CASES[] = {
        {{1, 1}, "permute: order 1 is 1, which is no axis of x that is left"},
        {{2, 0}, "permute: order 0 is 2, which is no axis of x that is left"},
        {{-1, 0}, "permute: order 0 is -1, which is no axis of x that is left"},
        {{0, 1}, "permute: axis 0 of x is 2, but axis 0 of the result 3"},
    };
    fer_op *op = standard("permute");
    fer_tensor *x = random_tensor(FER_F32, 2, (int64_t[]){2, 3});
    for (size_t i = 0; i < COUNT(CASES); i++) {
        fer_tensor *order = integers(2, CASES[i].order);
        assert_refused(op, x, order, CASES[i].message);
        fer_tensor_release(order);
    }
    fer_op_release(op);
    op = declare_std("permute<T>(x: T[a, b], order: i64[2]) -> T[a, b, 1]");
    fer_tensor *order = integers(2, (int64_t[]){0, 1});
    assert_refused(op, x, order,
                   "x has rank 2, but the result has rank 3 and there are 2 axes in order");
    release_3(x, order, NULL);
    fer_op_release(op);
}

static void test_take(void **state)
{
    (void)state;
    fer_op *op = standard("take");
    for (int round = 0; round < ROUNDS; round++) {
        int64_t extents[5];
        size_t rank = 2 + random_shape(extents + 2);
        const int64_t n = 1 + random_extent();
        const int64_t m = random_extent();
        int64_t length = 1;
        for (size_t i = 2; i < rank; i++)
            length *= extents[i];
        extents[0] = random_extent();
        extents[1] = n;
        fer_tensor *x = random_tensor(moved(round), rank, extents);
        fer_tensor *index = empty_tensor(round % 2 == 0 ? FER_I32 : FER_I64, 1, &m);
        for (int64_t i = 0; i < m; i++)
            write_element(index, i, (wide){.i = (int64_t)(random_bits() % (uint64_t)n)});
        fer_tensor *y = call(op, x, index);
        extents[1] = m;
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            const int64_t from = read_element(index, i / length % m).i;
            assert_same(moved(round), read_element(y, i),
                        read_element(x, (i / length / m * n + from) * length + i % length));
        }
        release_3(x, index, y);
    }
    fer_op_release(op);
}

static void test_take_checks_bounds(void **state)
{
    (void)state;
    fer_op *op = standard("take");
    static const int64_t OUTSIDE[] = {3, -1};
    for (size_t i = 0; i < COUNT(OUTSIDE); i++)
        for (int64_t num_rows = 0; num_rows < 2; num_rows++) {
            fer_tensor *x = random_tensor(FER_F32, 2, (int64_t[]){num_rows, 3});
            fer_tensor *index = integers(2, (int64_t[]){0, OUTSIDE[i]});
            assert_refused(op, x, index,
                           i == 0 ? "take: index 1 is 3, but axis 1 of x is 3"
                                  : "take: index 1 is -1, but axis 1 of x is 3");
            release_3(x, index, NULL);
        }
    fer_op_release(op);
}

static void test_join(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t num_parts = 2 + (size_t)round % 7;
        char name[16];
        snprintf(name, sizeof name, "join%zu", num_parts);
        fer_op *op = standard(name);
        const fer_dtype dtype = moved((int)num_parts); /* one of each: there is much to compile */
        int64_t extents[5], lengths[8], total = 0;
        size_t rank = 1 + random_shape(extents);
        fer_tensor *parts[8], *y = NULL;
        for (size_t i = 0; i < num_parts; i++) {
            lengths[i] = extents[rank - 1] = random_extent();
            total += lengths[i];
            parts[i] = random_tensor(dtype, rank, extents);
        }
        ASSERT_OK(&error, fer_call(op, parts, num_parts, &y, 1, &error));
        extents[rank - 1] = total;
        assert_shape(y, rank, extents);
        for (int64_t i = 0; i < fer_tensor_num_elements(y); i++) {
            int64_t column = i % total;
            size_t part = 0;
            for (; column >= lengths[part]; part++)
                column -= lengths[part];
            assert_same(dtype, read_element(y, i),
                        read_element(parts[part], i / total * lengths[part] + column));
        }
        fer_tensor_release(y);
        for (size_t i = 0; i < num_parts; i++)
            fer_tensor_release(parts[i]);
        fer_op_release(op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dim),     cmocka_unit_test(test_dim_checks_the_axis),
        cmocka_unit_test(test_permute), cmocka_unit_test(test_permute_checks_the_order),
        cmocka_unit_test(test_take),    cmocka_unit_test(test_take_checks_bounds),
        cmocka_unit_test(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
