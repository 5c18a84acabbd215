/* MAP through the kernel header: sizes, scalars, and the same bits everywhere. */
#include "kernel_testing.h"

enum { LONGEST = 150 };

/* Around every multiple of a block, and with each operand whole or one scalar for all. */
static void test_a_map_runs_over_any_size(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("map.c"));
    record calls = {0};
    bool which[LONGEST];
    int8_t a[LONGEST];
    uint32_t b[LONGEST];
    for (int i = 0; i < LONGEST; i++) {
        which[i] = i % 3 == 0;
        a[i] = (int8_t)-i;
        b[i] = 1000u + (uint32_t)i;
    }
    const fer_abi_entry *entry = find(object, "choose", FER_ABI_MAP);
    assert_row(&entry->tensors[0], "result", FER_ABI_RESULT, FER_ABI_ANY_RANK, 0, 16);
    assert_row(&entry->tensors[1], "which", FER_ABI_OPERAND, FER_ABI_ANY_RANK, 6, 8);
    for (int64_t size = 0; size < LONGEST; size++)
        for (int scalars = 0; scalars < 8; scalars++) {
            int16_t y[LONGEST + 1];
            for (int i = 0; i <= LONGEST; i++)
                y[i] = 12345;
            operand tensors[4] = {VECTOR(y, size), VECTOR(which, size), VECTOR(a, size),
                                  VECTOR(b, size)};
            for (int i = 0; i < 3; i++)
                tensors[1 + i].rank = (scalars >> i & 1) == 0;
            assert_int_equal(run(entry, tensors, &calls), 0);
            for (int64_t i = 0; i < size; i++) {
                const bool is_a = which[scalars & 1 ? 0 : i];
                const int expected = is_a ? a[scalars & 2 ? 0 : i] : (int)b[scalars & 4 ? 0 : i];
                assert_int_equal(y[i], expected);
            }
            assert_int_equal(y[size], 12345);
        }
    unload(object);
}

static void test_a_map_takes_any_rank(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("map.c"));
    record calls = {0};
    uint8_t x[24];
    double y[24] = {0};
    for (uint8_t i = 0; i < 24; i++)
        x[i] = i;
    operand tensors[2] = {{.data = y, .rank = 4, .shape = {2, 3, 1, 4}},
                          {.data = x, .rank = 4, .shape = {2, 3, 1, 4}}};
    assert_int_equal(run(find(object, "widen", FER_ABI_MAP), tensors, &calls), 0);
    for (int i = 0; i < 24; i++)
        assert_true(y[i] == i + 0.25);

    int32_t a[3] = {7, -7, 9};
    int32_t b[3] = {2, 2, -3};
    int32_t q[3];
    assert_int_equal(
        RUN(object, "divide", FER_ABI_MAP, &calls, VECTOR(q, 3), VECTOR(a, 3), VECTOR(b, 3)), 0);
    assert_true(q[0] == 3 && q[1] == -3 && q[2] == -3);
    unload(object);
}

/* An element's bits depend on its operands alone, not on where in a tensor of what size it is. */
static void test_a_map_gives_the_same_bits_at_every_size(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("map.c"));
    record calls = {0};
    float x[LONGEST];
    float alone[LONGEST];
    for (int i = 0; i < LONGEST; i++) {
        x[i] = (float)(i - 70) * 0.3171F;
        assert_int_equal(RUN(object, "growth", FER_ABI_MAP, &calls, SCALAR(alone[i]), SCALAR(x[i])),
                         0);
    }
    for (int64_t start = 0; start < 20; start++)
        for (int64_t size = 1; size < LONGEST - start; size++) {
            float y[LONGEST];
            assert_int_equal(RUN(object, "growth", FER_ABI_MAP, &calls, VECTOR(y, size),
                                 VECTOR(x + start, size)),
                             0);
            assert_memory_equal(y, alone + start, (size_t)size * sizeof *y);
        }
    unload(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_map_runs_over_any_size),
        cmocka_unit_test(test_a_map_takes_any_rank),
        cmocka_unit_test(test_a_map_gives_the_same_bits_at_every_size),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
