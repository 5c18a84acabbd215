/* Tensors that are not compact: they show their owner's memory as it is, and a call copies them for
 * its kernel. */
#include "testing_dlpack.h"
#include "testing_npy.h"
#include "testing_op.h"

/* Columns 3, 1 of memory[2][4], the last first. */
static const int64_t SHAPE[] = {2, 2};
static const int64_t STRIDES[] = {4, -2};
#define COLUMNS(memory) take_strided(FER_F32, 2, SHAPE, STRIDES, (memory) + 3)

static fer_tensor *take_strided(fer_dtype dtype, int32_t rank, const int64_t *shape,
                                const int64_t *strides, const void *data)
{
    fer_tensor *tensor = NULL;
    product *made = produce(VERSIONED, dtype, rank, shape, strides, data);
    ASSERT_OK(&error, take(made, FER_DL_COPY_IF_NEEDED, &tensor, &error));
    return tensor;
}

#define KERNELS                                                                                    \
    "#include <ferrule/kernel.h>\n"                                                                \
    "MAP(plus_one, f32, IN(f32, x)) { return x + 1; }\n"                                           \
    "MAP(add, f32, IN(f32, x), IN(f32, y)) { return x + y; }\n"                                    \
    "KERNEL(halve, OUT(f32, 2, y), IN(f32, 2, x)) {\n"                                             \
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"                                                \
    "        for (index_t j = 0; j < DIM(y, 1); j++) AT(y, i, j) = AT(x, i, 2 * j);\n"             \
    "    return OK; }\n"                                                                           \
    "KERNEL(accumulate, INOUT(f32, 2, x), IN(f32, 2, y)) {\n"                                      \
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"                                                \
    "        for (index_t j = 0; j < DIM(x, 1); j++) AT(x, i, j) += AT(y, i, j);\n"                \
    "    return OK; }\n"                                                                           \
    "SHAPE(positive, IN(f32, 2, x)) {\n"                                                           \
    "    index_t count = 0;\n"                                                                     \
    "    for (index_t i = 0; i < DIM(x, 0); i++) count += AT(x, i, 0) > 0;\n"                      \
    "    EXTENT(k) = count;\n"                                                                     \
    "    return OK; }\n"                                                                           \
    "KERNEL(positive, OUT(f32, 1, y), IN(f32, 2, x)) {\n"                                          \
    "    index_t k = 0;\n"                                                                         \
    "    for (index_t i = 0; i < DIM(x, 0); i++)\n"                                                \
    "        if (AT(x, i, 0) > 0) AT(y, k++) = AT(x, i, 0);\n"                                     \
    "    return OK; }\n"

static fer_tensor *call_one(const fer_op *op, size_t num_operands, fer_tensor *const *operands)
{
    fer_tensor *result = NULL;
    ASSERT_OK(&error, fer_call(op, operands, num_operands, &result, 1, &error));
    return result;
}

/* --- What they show --------------------------------------------------------------------------- */

static void assert_printed(const fer_tensor *tensor, const char *expected)
{
    char *text = NULL;
    ASSERT_OK(&error, fer_tensor_print(tensor, &text, &error));
    assert_string_equal(text, expected);
    fer_string_free(text);
}

static void later_writes_are_seen(void **state)
{
    (void)state;
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    fer_tensor *tensor = COLUMNS(memory);
    int64_t strides[2];
    fer_tensor_strides(tensor, strides);
    assert_memory_equal(strides, STRIDES, sizeof STRIDES);
    assert_printed(tensor, "f32[2, 2]\n[[3, 1],\n [7, 5]]");
    memory[1] = 10;
    assert_printed(tensor, "f32[2, 2]\n[[ 3, 10],\n [ 7,  5]]");
    assert_true(fer_tensor_element(tensor, 1).value.as_float == 10);

    fer_tensor *copy = NULL;
    ASSERT_OK(&error, fer_tensor_clone(tensor, host, &copy, &error));
    memory[1] = 20;
    assert_floats(copy, FLOATS(3, 10, 7, 5));
    assert_int_equal(atomic_load(&num_deleted), 0);
    RELEASE(tensor, copy);
    assert_int_equal(atomic_load(&num_deleted), 1);
}

static void npy_files_are_compact(void **state)
{
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    fer_tensor *tensor = COLUMNS(memory);
    fer_tensor *read = NULL;
    const char *path = path_in(state, "x.npy");
    ASSERT_OK(&error, fer_npy_write(path, tensor, &error));
    ASSERT_OK(&error, fer_npy_read(path, &read, &error));
    assert_floats(read, FLOATS(3, 1, 7, 5));
    RELEASE(tensor, read);
}

static void exports_have_the_same_memory_and_strides(void **state)
{
    (void)state;
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    fer_tensor *tensor = COLUMNS(memory);
    fer_dl_managed_tensor_versioned *managed = NULL;
    fer_tensor *again = NULL;
    ASSERT_OK(&error, fer_tensor_to_dlpack_versioned(tensor, false, &managed, &error));
    assert_ptr_equal(managed->dl_tensor.data, memory + 3);
    assert_memory_equal(managed->dl_tensor.strides, STRIDES, sizeof STRIDES);
    ASSERT_OK(&error,
              fer_tensor_from_dlpack_versioned(managed, FER_DL_COPY_IF_NEEDED, &again, &error));
    fer_tensor_release(tensor);
    memory[3] = 30;
    assert_printed(again, "f32[2, 2]\n[[30,  1],\n [ 7,  5]]");

    fer_dl_managed_tensor *old = NULL;
    ASSERT_OK(&error, fer_tensor_to_dlpack(again, true, &old, &error));
    assert_memory_equal(old->dl_tensor.strides, ((int64_t[]){2, 1}), sizeof STRIDES);
    assert_memory_equal(old->dl_tensor.data, ((float[]){30, 1, 7, 5}), 16);
    old->deleter(old);
    assert_int_equal(atomic_load(&num_deleted), 0);
    fer_tensor_release(again);
    assert_int_equal(atomic_load(&num_deleted), 1);
}

/* Of axes of length 1 nobody keeps the strides, which may be anything. */
static void strides_of_length_1_axes_are_made_up(void **state)
{
    (void)state;
    uint16_t memory[4] = {1, 2, 3, 4};
    fer_tensor *tensor = take_strided(FER_U16, 3, (int64_t[]){1, 2, 1},
                                      (int64_t[]){INT64_MIN, 2, INT64_MAX}, memory);
    int64_t strides[3];
    fer_tensor_strides(tensor, strides);
    assert_memory_equal(strides, ((int64_t[]){2, 2, 1}), sizeof strides);
    assert_int_equal(fer_tensor_element(tensor, 1).value.as_uint, 3);
    fer_tensor_release(tensor);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static void a_call_sees_what_is_there_now(void **state)
{
    (void)state;
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    fer_op *plus_one = declare_source("plus_one(x: f32[*s]) -> f32[*s]", KERNELS);
    fer_op *halve = declare_source("halve(x: f32[n, w]) -> f32[n, w // 2]", KERNELS);
    fer_op *positive = declare_source("positive(x: f32[n, w]) -> f32[k]", KERNELS);
    fer_op *bounded = declare_source("plus_one(x: f32[n, w]) -> f32[n, w] where w < 3", KERNELS);
    fer_tensor *x = COLUMNS(memory);
    for (int repeat = 0; repeat < 2; repeat++) {
        float first = repeat == 0 ? 3 : -1;
        memory[3] = first;
        fer_tensor *results[] = {call_one(plus_one, 1, &x), call_one(halve, 1, &x),
                                 call_one(positive, 1, &x), call_one(bounded, 1, &x)};
        assert_floats(results[0], FLOATS(first + 1, 2, 8, 6));
        assert_floats(results[1], FLOATS(first, 7));
        assert_floats(results[2], repeat == 0 ? 2 : 1,
                      repeat == 0 ? (float[]){3, 7} : (float[]){7});
        assert_floats(results[3], FLOATS(first + 1, 2, 8, 6));
        ASSERT_OK(&error, fer_call_into(plus_one, &x, 1, &results[3], 1, &error));
        ASSERT_OK(&error, fer_call_into(bounded, &x, 1, &results[0], 1, &error));
        assert_floats(results[3], FLOATS(first + 1, 2, 8, 6));
        assert_floats(results[0], FLOATS(first + 1, 2, 8, 6));
        release_tensors(4, results);
    }
    assert_int_equal(atomic_load(&num_deleted), 0);
    fer_tensor_release(x);
    assert_int_equal(atomic_load(&num_deleted), 1);
    fer_op_release(plus_one);
    fer_op_release(halve);
    fer_op_release(positive);
    fer_op_release(bounded);
}

/* Beside a compact operand, repeated by strides of 0, twice in one call, and misaligned. */
static void every_layout_can_be_an_operand(void **state)
{
    (void)state;
    static const float ROW[] = {1, 2};
    _Alignas(4) char bytes[17] = {0};
    memcpy(bytes + 1, (float[]){1, 2, 3, 4}, 16);
    fer_op *add = declare_source("add(x: f32[*s], y: f32[*s]) -> f32[*s]", KERNELS);
    fer_tensor *rows = take_strided(FER_F32, 2, SHAPE, (int64_t[]){0, 1}, ROW);
    fer_tensor *odd = take_strided(FER_F32, 2, SHAPE, NULL, bytes + 1);
    fer_tensor *ones = make_ones(FER_F32, 2, SHAPE);
    fer_tensor *results[] = {call_one(add, 2, OPERANDS(ones, rows)),
                             call_one(add, 2, OPERANDS(odd, ones)),
                             call_one(add, 2, OPERANDS(rows, rows))};
    assert_floats(results[0], FLOATS(2, 3, 2, 3));
    assert_floats(results[1], FLOATS(2, 3, 4, 5));
    assert_floats(results[2], FLOATS(2, 4, 2, 4));
    RELEASE(rows, odd, ones);
    release_tensors(3, results);
    fer_op_release(add);
}

static void kernels_get_bools_of_0_or_1(void **state)
{
    (void)state;
    fer_op *same = declare_source("same(x: bool[n]) -> u8[n]",
                                  "#include <ferrule/kernel.h>\n"
                                  "KERNEL(same, OUT(u8, 1, y), IN(bool, 1, x)) {\n"
                                  "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
                                  "        AT(y, i) = ((const unsigned char *)&AT(x, i))[0];\n"
                                  "    return OK; }\n");
    const uint8_t memory[] = {0, 9, 7, 9, 1};
    fer_tensor *x = take_strided(FER_BOOL, 1, (int64_t[]){3}, (int64_t[]){2}, memory);
    fer_tensor *y = call_one(same, 1, &x);
    assert_memory_equal(fer_tensor_const_data(y), ((uint8_t[]){0, 1, 1}), 3);
    RELEASE(x, y);
    fer_op_release(same);
}

static void what_is_changed_in_place_has_to_be_compact(void **state)
{
    (void)state;
    float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    fer_op *op = declare_source("accumulate(inout x: f32[n, w], y: f32[n, w]) -> ()", KERNELS);
    fer_tensor *strided = COLUMNS(memory);
    fer_tensor *ones = make_ones(FER_F32, 2, SHAPE);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, OPERANDS(strided, ones), 2, NULL, 0, &error),
                 "accumulate: operand 'x' is inout, but the tensor is not compact",
                 "give a compact copy");
    assert_true(memory[3] == 3);
    ASSERT_OK(&error, fer_call(op, OPERANDS(ones, strided), 2, NULL, 0, &error));
    assert_floats(ones, FLOATS(4, 2, 8, 6));

    /* memory[1..4] holds an element of the strided one, memory[4..7] too. */
    fer_tensor *view = make_view(FER_F32, 2, SHAPE, memory + 1);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, OPERANDS(view, strided), 2, NULL, 0, &error),
                 "operand 'x' is inout, but its memory overlaps operand 'y'");
    assert_true(memory[1] == 1);
    RELEASE(strided, ones, view);
    fer_op_release(op);
}

static void given_results_have_to_be_compact(void **state)
{
    (void)state;
    float memory[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    fer_op *plain = declare_source("plus_one(x: f32[*s]) -> f32[*s]", KERNELS);
    fer_op *bounded = declare_source("plus_one(x: f32[n, w]) -> f32[n, w] where w < 3", KERNELS);
    fer_tensor *strided = COLUMNS(memory);
    fer_tensor *ones = make_ones(FER_F32, 2, SHAPE);
    fer_tensor *inside = make_view(FER_F32, 2, SHAPE, memory + 2);
    fer_tensor *behind = make_view(FER_F32, 2, SHAPE, memory + 8);
    fer_op *ops[] = {plain, bounded};
    for (size_t i = 0; i < 2; i++) {
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(ops[i], &ones, 1, &strided, 1, &error),
                     "the tensor given for result 0 is not compact", "give a compact copy");
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_call_into(ops[i], &strided, 1, &inside, 1, &error),
                     "the tensor given for result 0 overlaps operand 'x'");
        assert_true(memory[3] == 3);
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_call_into(ops[i], &strided, 1, OPERANDS(NULL), 1, &error),
                     "the tensor given for result 0 is NULL");
        ASSERT_OK(&error, fer_call_into(ops[i], &strided, 1, &behind, 1, &error));
        assert_floats(behind, FLOATS(4, 2, 8, 6));
    }
    RELEASE(strided, ones, inside, behind);
    fer_op_release(plain);
    fer_op_release(bounded);
}

/* One element, repeated more often than there is memory for: what is wrong with the call itself is
 * said without a copy. */
static void mistakes_are_told_before_anything_is_copied(void **state)
{
    (void)state;
    static const float ELEMENT[1];
    const int64_t huge[] = {INT64_C(1) << 29, INT64_C(1) << 28};
    fer_op *add = declare_source("add(x: f32[n, w], y: f32[n, w]) -> f32[n, w]", KERNELS);
    fer_tensor *x = take_strided(FER_F32, 2, huge, (int64_t[]){0, 0}, ELEMENT);
    fer_tensor *ones = make_ones(FER_F32, 2, SHAPE);
    ASSERT_CALL_FAILS(FER_MEMORY_ERROR, add, 2, OPERANDS(x, x), "memory");
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, add, 2, OPERANDS(ones, x), "operand 'y' axis 0");
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, add, 2, OPERANDS(x, NULL), "operand 'y' is no tensor");
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, add, 1, OPERANDS(x), "expected 2 operands, got 1");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(add, OPERANDS(x, ones), 2, &ones, 1, &error), "operand 'y' axis 0");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR, fer_call_into(add, OPERANDS(x, x), 2, &ones, 1, &error),
                 "memory");
    RELEASE(x, ones);
    assert_int_equal(atomic_load(&num_deleted), 1);
    fer_op_release(add);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_writes_are_seen),
        cmocka_unit_test_setup_teardown(npy_files_are_compact, make_folder, remove_folder),
        cmocka_unit_test(exports_have_the_same_memory_and_strides),
        cmocka_unit_test(strides_of_length_1_axes_are_made_up),
        cmocka_unit_test(a_call_sees_what_is_there_now),
        cmocka_unit_test(every_layout_can_be_an_operand),
        cmocka_unit_test(kernels_get_bools_of_0_or_1),
        cmocka_unit_test(what_is_changed_in_place_has_to_be_compact),
        cmocka_unit_test(given_results_have_to_be_compact),
        cmocka_unit_test(mistakes_are_told_before_anything_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
