/* A second logical host device, so that device errors can be met. */
#include "testing.h"

#include "types/device.h"
#include <ferrule/op.h>

static fer_error error = FER_ERROR_INIT;
static const fer_device first = {0};
static const fer_device second = {1};

static const char SOURCE[] = "#include <ferrule/kernel.h>\n"
                             "MAP(plus, f32, IN(f32, a), IN(f32, b)) { return a + b; }\n";

static fer_tensor *ones_on(fer_device device)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_ones(FER_F32, 1, (int64_t[]){2}, device, &tensor, &error));
    return tensor;
}

static void test_the_environment_sets_the_count(void **state)
{
    (void)state;
    assert_int_equal(fer_device_count(), 2);
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        fer_tensor_ones(FER_F32, 0, NULL, (fer_device){2}, &tensor, &error),
        "there is no device 2; devices are 0 to 1, and FERRULE_HOST_DEVICES sets how many");
    fer_type *type = NULL;
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR, fer_type_create(FER_F32, 0, NULL, (fer_device){2}, &type, &error),
        "there is no device 2; devices are 0 to 1, and FERRULE_HOST_DEVICES sets how many");
}

/* The count is settled by now; this is what the variable says. */
static void test_a_faulty_environment_can_be_refused(void **state)
{
    (void)state;
    static const char *const GOOD[] = {"", "1", "2", "16"};
    static const char *const FAULTY[] = {
        "0", "17", "two", "-1", "+2", " 2", "2 ", "1e1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        setenv("FERRULE_HOST_DEVICES", GOOD[i], 1);
        ASSERT_OK(&error, fer_device_check_environment(&error));
    }
    for (size_t i = 0; i < sizeof FAULTY / sizeof *FAULTY; i++) {
        setenv("FERRULE_HOST_DEVICES", FAULTY[i], 1);
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_device_check_environment(&error),
                     "FERRULE_HOST_DEVICES", FAULTY[i], "1 to 16");
    }
    unsetenv("FERRULE_HOST_DEVICES");
    ASSERT_OK(&error, fer_device_check_environment(&error));
    assert_int_equal(fer_device_count(), 2);
}

static void test_results_stay_on_the_operands_device(void **state)
{
    (void)state;
    fer_op *op = NULL;
    ASSERT_OK(&error,
              fer_declare(&(fer_declaration){.signature = "plus(a: f32[n], b: f32[n]) -> f32[n]",
                                             .source = SOURCE},
                          &op, &error));
    fer_tensor *here = ones_on(first);
    fer_tensor *there = ones_on(second);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){there, there}, 2, &y, 1, &error));
    assert_int_equal(fer_tensor_device(y).id, 1);
    fer_tensor_release(y);
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call(op, (fer_tensor *[]){here, there}, 2, &y, 1, &error), "plus", "'b'",
                 "insert an explicit transfer");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_call_into(op, (fer_tensor *[]){there, there}, 2, &here, 1, &error), "plus",
                 "result 0", "device", "insert an explicit transfer");
    fer_tensor *moved = NULL;
    ASSERT_OK(&error, fer_tensor_clone(here, second, &moved, &error));
    ASSERT_OK(&error, fer_call(op, (fer_tensor *[]){moved, there}, 2, &y, 1, &error));
    fer_tensor_release(y);
    fer_tensor_release(moved);
    fer_tensor_release(here);
    fer_tensor_release(there);
    fer_op_release(op);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_environment_sets_the_count),
        cmocka_unit_test(test_a_faulty_environment_can_be_refused),
        cmocka_unit_test(test_results_stay_on_the_operands_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
