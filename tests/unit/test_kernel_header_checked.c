/* AT and DIM with FERRULE_CHECKED: what lies outside is told, what lies inside is as without it. */
#include "kernel_testing.h"

#define CHECKED FLAGS("-std=c17", "-O1", "-DFERRULE_CHECKED=1")

typedef int64_t (*outside_function)(const char *file, int line, const char *view, int axis,
                                    int64_t index, int64_t bound);

static struct {
    int count;
    int line;
    char view[16];
    int axis;
    int64_t index;
    int64_t bound;
    bool keeps; /* the index */
} told;

static int64_t tell(const char *file, int line, const char *view, int axis, int64_t index,
                    int64_t bound)
{
    assert_non_null(strstr(file, "checked.c"));
    told.count++;
    told.line = line;
    snprintf(told.view, sizeof told.view, "%s", view);
    told.axis = axis;
    told.index = index;
    told.bound = bound;
    return told.keeps ? index : 0;
}

static loaded load_checked(const char *const *files)
{
    const loaded object = load(CHECKED, files);
    const outside_function function = tell;
    void *place = dlsym(object.handle, "fer_tell_outside");
    assert_non_null(place);
    memcpy(place, &function, sizeof function);
    memset(&told, 0, sizeof told);
    told.keeps = true;
    return object;
}

static void assert_told(const char *view, int axis, int64_t index, int64_t bound)
{
    assert_int_equal(told.count, 1);
    assert_string_equal(told.view, view);
    assert_int_equal(told.axis, axis);
    assert_int_equal(told.index, index);
    assert_int_equal(told.bound, bound);
    told.count = 0;
}

static void test_indices_outside_are_told(void **state)
{
    (void)state;
    const loaded object = load_checked(FLAGS("checked.c"));
    record calls = {0};
    int32_t room[40] = {0};
    int32_t *x = room + 20; /* what is outside may be looked at */
    int32_t y = 0;
    x[5] = 5;
    static const struct {
        int64_t place[2];
        int axis;
    } CASES[] = {{{0, 3}, 1}, {{1, -1}, 1}, {{2, 0}, 0}, {{-1, 2}, 0}, {{1, 2}, -2}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int64_t place[2] = {CASES[i].place[0], CASES[i].place[1]};
        operand tensors[3] = {SCALAR(y), {.data = x, .rank = 2, .shape = {2, 3}}, VECTOR(place, 2)};
        assert_int_equal(run(find(object, "looks_at", FER_ABI_KERNEL), tensors, &calls), 0);
        if (CASES[i].axis >= 0) {
            assert_int_equal(told.line, 6);
            assert_told("x", CASES[i].axis, place[CASES[i].axis], CASES[i].axis == 0 ? 2 : 3);
        } else {
            assert_int_equal(told.count, 0);
            assert_int_equal(y, 5);
        }
    }
    unload(object);
}

/* An empty tensor has no element: its first place is looked at, whatever the other indices. */
static void test_another_index_may_be_used(void **state)
{
    (void)state;
    const loaded object = load_checked(FLAGS("checked.c"));
    record calls = {0};
    int32_t x[6] = {10, 11, 12, 13, 14, 15};
    int32_t y = 0;
    told.keeps = false;
    static const struct {
        int64_t place[2];
        int64_t shape[2];
        int32_t expected;
    } CASES[] = {{{1, 3}, {2, 3}, 13},       {{-1, 2}, {2, 3}, 12},
                 {{1, 2}, {2, 3}, 15},       {{0, 1}, {0, 3}, 10},
                 {{1, 0}, {1 << 20, 0}, 10}, {{0, 1 << 30}, {0, INT32_MAX}, 10}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int64_t place[2] = {CASES[i].place[0], CASES[i].place[1]};
        operand tensors[3] = {
            SCALAR(y),
            {.data = x, .rank = 2, .shape = {CASES[i].shape[0], CASES[i].shape[1]}},
            VECTOR(place, 2)};
        assert_int_equal(run(find(object, "looks_at", FER_ABI_KERNEL), tensors, &calls), 0);
        assert_int_equal(y, CASES[i].expected);
        assert_int_equal(told.count, i != 2);
        told.count = 0;
    }
    unload(object);
}

static void test_axes_outside_are_told(void **state)
{
    (void)state;
    const loaded object = load_checked(FLAGS("checked.c"));
    record calls = {0};
    int64_t y = 0;
    for (int64_t axis = -1; axis < 4; axis++) {
        operand tensors[3] = {SCALAR(y), {.rank = 2, .shape = {2, 0}}, SCALAR(axis)};
        assert_int_equal(run(find(object, "asks_for_axis", FER_ABI_KERNEL), tensors, &calls), 0);
        if (axis < 0 || axis > 1)
            assert_told("x", -1, axis, 2);
        else
            assert_int_equal(y, tensors[1].shape[axis]);
        assert_int_equal(told.count, 0);
    }
    unload(object);
}

static void test_an_index_is_computed_once(void **state)
{
    (void)state;
    const loaded object = load_checked(FLAGS("checked.c"));
    record calls = {0};
    int32_t y[2] = {0};
    assert_int_equal(RUN(object, "writes_once", FER_ABI_KERNEL, &calls, VECTOR(y, 2)), 0);
    assert_int_equal(y[0], 7);
    assert_int_equal(y[1], 8);
    assert_int_equal(told.count, 0);
    unload(object);
}

static void test_all_that_compiles_compiles_checked(void **state)
{
    (void)state;
    const char *const *files = FLAGS("names.c", "ranks.c", "dtypes.c", "shape.c", "errors.c",
                                     "map.c", "unwanted.c", "values.c", "floats.c", "checked.c");
    const char *const *flags = FLAGS("-std=c11", "-fsyntax-only", WARNINGS, "-DFERRULE_CHECKED=1");
    assert_compiles(compiler(), flags, files);
    if (is_installed("clang"))
        assert_compiles("clang", flags, files);
}

/* What lies inside is not told of, at any rank. */
static void test_inside_nothing_is_told_at_any_rank(void **state)
{
    (void)state;
    const loaded object = load_checked(FLAGS("ranks.c"));
    record calls = {0};
    for (int32_t rank = 1; rank <= FER_ABI_MAX_RANK; rank++) {
        char name[32];
        int32_t x[1] = {0};
        int64_t y[1] = {0};
        operand tensors[2] = {{.data = y, .rank = rank}, {.data = x, .rank = rank}};
        for (int32_t axis = 0; axis < rank; axis++)
            tensors[0].shape[axis] = tensors[1].shape[axis] = 1;
        snprintf(name, sizeof name, "ranked_%d", rank);
        assert_int_equal(run(find(object, name, FER_ABI_KERNEL), tensors, &calls), 0);
        assert_int_equal(told.count, 0);
    }
    unload(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices_outside_are_told),
        cmocka_unit_test(test_another_index_may_be_used),
        cmocka_unit_test(test_axes_outside_are_told),
        cmocka_unit_test(test_an_index_is_computed_once),
        cmocka_unit_test(test_all_that_compiles_compiles_checked),
        cmocka_unit_test(test_inside_nothing_is_told_at_any_rank),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
