/* Kernels and shape functions through the kernel header: ranks, dtypes, failures, memory. */
#include "kernel_testing.h"

/* Fills `shape` with extents 2 and 3 in turn and `x` with 0, 1, ... */
static int64_t fill_ranked(int32_t rank, int64_t *shape, int32_t *x)
{
    int64_t size = 1;
    for (int32_t axis = 0; axis < rank; axis++) {
        shape[axis] = 2 + axis % 2;
        size *= shape[axis];
    }
    for (int64_t i = 0; i < size; i++)
        x[i] = (int32_t)i;
    return size;
}

static void test_every_rank_is_row_major(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("ranks.c"));
    record calls = {0};
    for (int32_t rank = 0; rank <= FER_ABI_MAX_RANK; rank++) {
        char name[32];
        int32_t x[1296] = {0};
        int64_t y[1296] = {0};
        operand tensors[2] = {{.data = y, .rank = rank}, {.data = x, .rank = rank}};
        const int64_t size = fill_ranked(rank, tensors[0].shape, x);
        memcpy(tensors[1].shape, tensors[0].shape, sizeof tensors[0].shape);
        snprintf(name, sizeof name, "ranked_%d", rank);
        const fer_abi_entry *entry = find(object, name, FER_ABI_KERNEL);
        assert_int_equal(entry->tensors[0].rank, rank);
        assert_int_equal(run(entry, tensors, &calls), 0);
        for (int64_t i = 0; i < size; i++)
            assert_int_equal(y[i], rank == 0 ? 10 : i + rank);

        int64_t facts[4];
        entry = find(object, "any", FER_ABI_KERNEL);
        assert_int_equal(entry->tensors[1].rank, FER_ABI_ANY_RANK);
        tensors[0] = (operand)VECTOR(facts, 4);
        assert_int_equal(run(entry, tensors, &calls), 0);
        assert_int_equal(facts[0], rank);
        assert_int_equal(facts[1], size);
        assert_int_equal(facts[2], size);
        assert_int_equal(facts[3], size - 1);
    }
    unload(object);
}

static void test_empty_tensors_are_run(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("ranks.c", "map.c"));
    record calls = {0};
    int64_t facts[4];
    operand tensors[2] = {VECTOR(facts, 4), {.rank = 3, .shape = {4, 0, 5}}};
    assert_int_equal(run(find(object, "any", FER_ABI_KERNEL), tensors, &calls), 0);
    assert_int_equal(facts[0], 3);
    assert_int_equal(facts[1], 0);
    assert_int_equal(facts[3], -1);

    float k = 2;
    operand scaled[3] = {{.rank = 2, .shape = {0, 7}}, {.rank = 2, .shape = {0, 7}}, SCALAR(k)};
    assert_int_equal(run(find(object, "scale", FER_ABI_MAP), scaled, &calls), 0);
    unload(object);
}

static void test_views_go_to_shared_functions(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("ranks.c"));
    record calls = {0};
    int32_t x[6] = {1, 2, 3, 4, 5, 6};
    int64_t y = 0;
    operand tensors[2] = {SCALAR(y), {.data = x, .rank = 2, .shape = {2, 3}}};
    assert_int_equal(run(find(object, "shared", FER_ABI_KERNEL), tensors, &calls), 0);
    assert_int_equal(y, 6);
    unload(object);
}

/* 2^31 elements lie before the one that is read; only two pages of them are ever touched. */
static void test_indices_are_64_bits_wide(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("ranks.c"));
    record calls = {0};
    const int64_t side = 65536;
    uint8_t *x = calloc((size_t)side, (size_t)side);
    if (x == NULL)
        skip();
    int32_t where[2] = {65535, 65535};
    uint8_t y = 0;
    x[side * side - 1] = 9;
    operand tensors[3] = {
        SCALAR(y), {.data = x, .rank = 2, .shape = {side, side}}, VECTOR(where, 2)};
    assert_int_equal(run(find(object, "far", FER_ABI_KERNEL), tensors, &calls), 0);
    assert_int_equal(y, 9);
    free(x);
    unload(object);
}

static void test_descriptors_tell_role_rank_and_dtype(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        int code;
        int bits;
    } cases[] = {{"copy_bool", 6, 8},           {"copy_i8", 0, 8},
                 {"copy_i16", 0, 16},           {"copy_i32", 0, 32},
                 {"copy_i64", 0, 64},           {"copy_u8", 1, 8},
                 {"copy_u16", 1, 16},           {"copy_u32", 1, 32},
                 {"copy_u64", 1, 64},           {"copy_f32", 2, 32},
                 {"copy_f64", 2, 64},           {"copy_signed_char", 0, 8},
                 {"copy_long", 0, 64},          {"copy_long_long", 0, 64},
                 {"copy_unsigned_long", 1, 64}, {"copy_unsigned_long_long", 1, 64},
                 {"copy_index", 0, 64},         {"copy_f16", 2, 16},
                 {"copy_bf16", 4, 16},          {"copy_f8e4m3fn", 10, 8},
                 {"copy_f8e5m2", 12, 8}};
    const loaded object = load(OPTIMISED, FLAGS("dtypes.c"));
    record calls = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const fer_abi_entry *entry = find(object, cases[i].kernel, FER_ABI_KERNEL);
        assert_int_equal(entry->num_tensors, 2);
        assert_row(&entry->tensors[0], "y", FER_ABI_RESULT, 1, cases[i].code, cases[i].bits);
        assert_row(&entry->tensors[1], "x", FER_ABI_OPERAND, 1, cases[i].code, cases[i].bits);
        uint8_t x[24];
        uint8_t y[24] = {0};
        for (uint8_t j = 0; j < sizeof x; j++)
            x[j] = cases[i].code == 6 ? j % 2 : j;
        const int64_t length = (int64_t)sizeof x * 8 / cases[i].bits;
        assert_int_equal(run(entry, (operand[]){VECTOR(y, length), VECTOR(x, length)}, &calls), 0);
        assert_memory_equal(x, y, sizeof x);
    }

    const fer_abi_entry *mixed = find(object, "mixed", FER_ABI_KERNEL);
    assert_int_equal(mixed->num_tensors, 5);
    assert_row(&mixed->tensors[0], "a", FER_ABI_RESULT, 0, 6, 8);
    assert_row(&mixed->tensors[1], "b", FER_ABI_RESULT, 3, 1, 16);
    assert_row(&mixed->tensors[2], "c", FER_ABI_INOUT, FER_ABI_ANY_RANK, 2, 64);
    assert_row(&mixed->tensors[3], "d", FER_ABI_OPERAND, 8, 0, 64);
    assert_row(&mixed->tensors[4], "e", FER_ABI_INOUT, 1, 0, 8);
    unload(object);
}

static void test_an_entry_tells_where_it_is_written(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("dtypes.c"));
    const fer_abi_entry *mixed = find(object, "mixed", FER_ABI_KERNEL);
    assert_string_equal(mixed->file, KERNELS "dtypes.c");

    FILE *file = fopen(KERNELS "dtypes.c", "r");
    assert_non_null(file);
    char line[256];
    int number = 0;
    while (fgets(line, sizeof line, file) != NULL && ++number > 0)
        if (strstr(line, "KERNEL(mixed") != NULL)
            break;
    fclose(file);
    /* Compilers count a call over two lines to its first or its last. */
    assert_in_range(mixed->line, number, number + 1);
    unload(object);
}

static void test_sixteen_tensors(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("dtypes.c"));
    record calls = {0};
    int64_t values[16];
    operand tensors[16];
    for (int i = 0; i < 16; i++) {
        values[i] = i;
        tensors[i] = (operand)SCALAR(values[i]);
    }
    const fer_abi_entry *entry = find(object, "sixteen", FER_ABI_KERNEL);
    assert_int_equal(entry->num_tensors, 16);
    assert_row(&entry->tensors[15], "p", FER_ABI_INOUT, 0, 0, 64);
    assert_int_equal(run(entry, tensors, &calls), 0);
    assert_int_equal(values[0], 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12);
    assert_int_equal(values[1], 13 * 14);
    assert_int_equal(values[15], 16);

    entry = find(object, "sixteen_elements", FER_ABI_MAP);
    assert_int_equal(entry->num_tensors, 16);
    values[1] = 1;
    assert_int_equal(run(entry, tensors, &calls), 0);
    assert_int_equal(values[0], 14 * 15 / 2 - 16);
    unload(object);
}

static void test_a_shape_stores_extents(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("shape.c"));
    assert_int_equal(num_entries(object), 4);
    record calls = {0};
    float x[5] = {1, 2, 3, 4, 5};
    bool mask[5] = {true, false, true, true, false};
    const fer_abi_entry *shape = find(object, "keep", FER_ABI_SHAPE);
    assert_int_equal(shape->num_tensors, 2);
    assert_row(&shape->tensors[0], "x", FER_ABI_OPERAND, 1, 2, 32);
    assert_row(&shape->tensors[1], "mask", FER_ABI_OPERAND, 1, 6, 8);
    assert_int_equal(run(shape, (operand[]){VECTOR(x, 5), VECTOR(mask, 5)}, &calls), 0);
    assert_int_equal(recorded_extent(&calls, "kept"), 3);
    float y[3];
    assert_int_equal(
        RUN(object, "keep", FER_ABI_KERNEL, &calls, VECTOR(y, 3), VECTOR(x, 5), VECTOR(mask, 5)),
        0);
    assert_true(y[0] == 1 && y[1] == 3 && y[2] == 4);

    float at = 2.5F;
    shape = find(object, "split", FER_ABI_SHAPE);
    assert_row(&shape->tensors[0], "x", FER_ABI_INOUT, 1, 2, 32);
    assert_int_equal(run(shape, (operand[]){VECTOR(x, 5), SCALAR(at)}, &calls), 0);
    assert_int_equal(recorded_extent(&calls, "num_low"), 2);
    assert_int_equal(recorded_extent(&calls, "num_high"), 3);
    at = __builtin_nanf("");
    assert_int_equal(run(shape, (operand[]){VECTOR(x, 5), SCALAR(at)}, &calls), FAILED);
    assert_string_equal(calls.message, "at is NaN");
    unload(object);
}

static void test_a_failure_reaches_the_caller(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("errors.c"));
    record calls = {0};
    int64_t x = 3;
    int64_t y = 0;
    assert_int_equal(RUN(object, "checked", FER_ABI_KERNEL, &calls, SCALAR(y), SCALAR(x)), 0);
    assert_int_equal(y, 2);
    assert_string_equal(calls.message, "");

    x = -5;
    assert_int_equal(RUN(object, "checked", FER_ABI_KERNEL, &calls, SCALAR(y), SCALAR(x)), FAILED);
    assert_int_equal(y, 1);
    assert_string_equal(calls.message, "x is -5, not 100 %");
    assert_string_equal(calls.file, KERNELS "errors.c");

    x = 101;
    assert_int_equal(RUN(object, "checked", FER_ABI_KERNEL, &calls, SCALAR(y), SCALAR(x)), FAILED);
    assert_string_equal(calls.message, "x is large");

    assert_int_equal(RUN(object, "fails_at_a_line", FER_ABI_KERNEL, &calls, SCALAR(y)), FAILED);
    assert_string_equal(calls.file, "elsewhere.c");
    assert_int_equal(calls.line, 321);
    unload(object);
}

static void test_scratch_memory(void **state)
{
    (void)state;
    const loaded object = load(OPTIMISED, FLAGS("errors.c"));
    record calls = {0};
    double x[3] = {1, 2, 3};
    double y[3] = {0};
    assert_int_equal(RUN(object, "reversed", FER_ABI_KERNEL, &calls, VECTOR(y, 3), VECTOR(x, 3)),
                     0);
    assert_true(y[0] == 3 && y[1] == 2 && y[2] == 1);
    assert_int_equal(calls.scratch_bytes, 24);

    int64_t count = 0;
    int64_t was_given = 0;
    assert_int_equal(
        RUN(object, "asks_for", FER_ABI_KERNEL, &calls, SCALAR(was_given), SCALAR(count)), 0);
    assert_int_equal(was_given, 1);

    static const int64_t refused[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 8 + 1};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        count = refused[i];
        assert_int_equal(
            RUN(object, "asks_for", FER_ABI_KERNEL, &calls, SCALAR(was_given), SCALAR(count)),
            FAILED);
        assert_int_equal(calls.scratch_bytes, 0);
        assert_non_null(strstr(calls.message, "out of memory for scratch"));
    }
    static const struct {
        int64_t extents[3];
        int64_t num_bytes; /* -1: refused */
    } arrays[] = {
        {{2, 2, 8}, 8 * 24},
        {{INT64_MAX, 1 << 20, 0}, 1},
        {{0, 1LL << 62, 1LL << 62}, 1},
        {{1LL << 32, 1LL << 32, 4}, -1},
        {{1LL << 31, (1LL << 31) - 1, 1LL << 10}, -1},
        {{3, -2, 8}, -1},
        {{0, 8, -4}, -1},
        {{INT64_MIN, INT64_MAX, 2}, -1},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        int64_t extents[3];
        memcpy(extents, arrays[i].extents, sizeof extents);
        if (extents[1] == INT64_MAX)
            extents[1]--;
        calls.scratch_bytes = 0;
        int returned = RUN(object, "asks_for_array", FER_ABI_KERNEL, &calls, SCALAR(was_given),
                           VECTOR(extents, 3));
        assert_int_equal(returned, arrays[i].num_bytes < 0 ? FAILED : 0);
        assert_int_equal(calls.scratch_bytes, arrays[i].num_bytes < 0 ? 0 : arrays[i].num_bytes);
    }
    count = 5;
    calls.has_no_memory = true;
    assert_int_equal(
        RUN(object, "asks_for", FER_ABI_KERNEL, &calls, SCALAR(was_given), SCALAR(count)), FAILED);
    assert_string_equal(calls.message, "out of memory for scratch of 5 elements");
    unload(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rank_is_row_major),
        cmocka_unit_test(test_empty_tensors_are_run),
        cmocka_unit_test(test_views_go_to_shared_functions),
        cmocka_unit_test(test_indices_are_64_bits_wide),
        cmocka_unit_test(test_descriptors_tell_role_rank_and_dtype),
        cmocka_unit_test(test_an_entry_tells_where_it_is_written),
        cmocka_unit_test(test_sixteen_tensors),
        cmocka_unit_test(test_a_shape_stores_extents),
        cmocka_unit_test(test_a_failure_reaches_the_caller),
        cmocka_unit_test(test_scratch_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
