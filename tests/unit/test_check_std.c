/* The kernels of the standard package, checked: no false alarm, and the bits of other calls, but
 * for those of a NaN, which follow the order that a compiler gives to operands. */
#include "testing_op.h"

#include "cli/verify.h"
#include <ferrule/ferrule.h>
#include <math.h>

enum { CASES_OF_EACH = 9 };

/* What a call gave: results, then operands, as they are after it. */
typedef struct outcome {
    fer_status status;
    char *message;
    size_t num_tensors;
    fer_tensor *tensors[FER_MAX_OPERANDS];
} outcome;

static outcome call(const fer_case *a_case, bool checks)
{
    const fer_plan *plan = &a_case->choice->specialisation->plan;
    outcome made = {.num_tensors = plan->num_results + plan->num_operands};
    fer_tensor **operands = made.tensors + plan->num_results;
    for (size_t i = 0; i < plan->num_operands; i++) {
        const fer_case_shape *shape = &a_case->shapes[i];
        ASSERT_OK(&error, fer_tensor_empty(a_case->choice->dtypes[i], shape->rank, shape->extents,
                                           host, &operands[i], &error));
        fer_case_fill(a_case, i, fer_tensor_data(operands[i]),
                      (size_t)fer_tensor_num_elements(operands[i]));
    }
    fer_set_checking(checks);
    made.status =
        fer_call(a_case->op, operands, plan->num_operands, made.tensors, plan->num_results, &error);
    fer_set_checking(false);
    made.message = strdup(error.message == NULL ? "" : error.message);
    fer_error_clear(&error);
    return made;
}

static void clear(outcome *made)
{
    for (size_t i = 0; i < made->num_tensors; i++)
        fer_tensor_release(made->tensors[i]);
    free(made->message);
}

static bool is_nan(const fer_tensor *tensor, int64_t index)
{
    const fer_number number = fer_tensor_element(tensor, index);
    return number.kind == FER_NUMBER_FLOAT && isnan(number.value.as_float);
}

static bool are_same(const fer_tensor *x, const fer_tensor *y)
{
    const size_t element_bytes = fer_dtype_bytes(fer_tensor_dtype(x));
    const int64_t count = fer_tensor_num_elements(x);
    const char *a = fer_tensor_const_data(x);
    const char *b = fer_tensor_const_data(y);
    for (int64_t i = 0; i < count; i++, a += element_bytes, b += element_bytes)
        if (memcmp(a, b, element_bytes) != 0 && !(is_nan(x, i) && is_nan(y, i)))
            return false;
    return count == fer_tensor_num_elements(y);
}

static void try_case(const fer_case *a_case)
{
    outcome plain = call(a_case, false);
    outcome checked = call(a_case, true);
    fer_text text = FER_TEXT_INIT;
    fer_case_append(&text, a_case);
    if (strcmp(plain.message, checked.message) != 0 || plain.status != checked.status)
        fail_msg("%s: %s: '%s', and checked '%s'", fer_op_name(a_case->op), fer_text_string(&text),
                 plain.message, checked.message);
    for (size_t i = 0; plain.status == FER_OK && i < plain.num_tensors; i++)
        if (!are_same(plain.tensors[i], checked.tensors[i]))
            fail_msg("%s: %s: tensor %zu has other bits when it is checked",
                     fer_op_name(a_case->op), fer_text_string(&text), i);
    fer_text_free(&text);
    clear(&plain);
    clear(&checked);
}

static void test_each_kernel_of_the_package(void **state)
{
    (void)state;
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open("std", &package, &error));
    assert_true(fer_package_num_kernels(package) > 40);
    for (size_t i = 0; i < fer_package_num_kernels(package); i++) {
        const char *kernel = fer_package_kernel(package, i).name;
        fer_op *op = NULL;
        fer_cases cases;
        ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = kernel, .packages = {"std"}},
                                      &op, &error));
        ASSERT_OK(&error, fer_cases_make(op, true, &cases, &error));
        const size_t count = fer_cases_count(&cases);
        size_t step = 1 + count / CASES_OF_EACH;
        step += step % FER_NUM_VALUES == 0; /* so that each kind of values comes */
        assert_true(count > 0);
        for (size_t j = 0; j < count; j += step) {
            const fer_case a_case = fer_cases_at(&cases, j);
            try_case(&a_case);
        }
        fer_cases_clear(&cases);
    }
    fer_package_release(package);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_kernel_of_the_package)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
