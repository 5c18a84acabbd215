/* The overlay: packages that every declaration looks in after its own. */
#include "testing_package.h"

#include <ferrule/graph.h>
#include <pthread.h>
#include <sys/wait.h>

/* A package whose kernel `value` adds a number. */
static void write_adding(const char *name, int number)
{
    char text[512];
    char file[64];
    snprintf(text, sizeof text,
             "#include <ferrule/kernel.h>\n"
             "SIGNATURE(value, \"(x: i32[]) -> i32[]\");\n"
             "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
             "{\n    AT(y) = AT(x) + %d;\n    return OK;\n}\n",
             number);
    snprintf(file, sizeof file, "%s/value.c", name);
    write_file(file, text);
}

static fer_overlay *added(const char *name)
{
    fer_package *package = NULL;
    fer_overlay *overlay = NULL;
    ASSERT_OK(&error, fer_package_open(at(name), &package, &error));
    ASSERT_OK(&error, fer_overlay_add(package, &overlay, &error));
    fer_package_release(package);
    return overlay;
}

static fer_op *declared_alone(void)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = DECLARATION}, &op, &error));
    return op;
}

static int value_alone(void)
{
    fer_op *op = declared_alone();
    int value = value_of(op);
    fer_op_release(op);
    return value;
}

static void assert_undeclared(const char *words)
{
    fer_op *op = (fer_op *)&error;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(&(fer_declaration){.signature = DECLARATION}, &op, &error), words);
    assert_null(op);
}

static void test_a_scope(void **state)
{
    (void)state;
    write_adding("a", 1);
    assert_undeclared("value: no package was given to look for the kernel in");
    fer_overlay *overlay = added("a");
    fer_op *op = declared_alone();
    assert_int_equal(value_of(op), 1);
    fer_op *by_name = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = "value"}, &by_name, &error));
    assert_true(fer_op_equal(op, by_name));
    fer_overlay_remove(overlay);
    assert_undeclared("no package was given");
    /* What was found is kept. */
    assert_int_equal(value_of(op), 1);
    fer_op *again = NULL;
    ASSERT_OK(&error, fer_op_specialise(op, NULL, 0, &again, &error));
    assert_int_equal(value_of(again), 1);
    fer_op_release(again);
    fer_op_release(by_name);
    fer_op_release(op);
    fer_overlay_remove(NULL);
}

static void test_own_packages_come_first_and_late_ones_before_early_ones(void **state)
{
    (void)state;
    write_adding("a", 1);
    write_adding("b", 2);
    write_adding("own", 3);
    fer_overlay *a = added("a");
    fer_overlay *b = added("b");
    assert_int_equal(value_alone(), 2);
    assert_int_equal(declared_value("own"), 3);
    fer_overlay_remove(a); /* in any order */
    assert_int_equal(value_alone(), 2);
    a = added("a");
    assert_int_equal(value_alone(), 1);
    fer_overlay *twice = added("a");
    fer_overlay_remove(a);
    assert_int_equal(value_alone(), 1);
    fer_overlay_remove(twice);
    assert_int_equal(value_alone(), 2);
    fer_overlay_remove(b);
    assert_undeclared("no package was given");
}

/* An op is as if it had been declared with the package. */
static void test_what_an_op_says_of_itself(void **state)
{
    (void)state;
    write_adding("a", 1);
    write_adding("b", 2);
    write_file("other/other.c", "#include <ferrule/kernel.h>\n"
                                "MAP(other, i32, IN(i32, x)) { return x; }\n");
    fer_overlay *a = added("a");
    fer_op *by_a = declared("value(x: i32[]) -> i32[]", "other");
    assert_int_equal(fer_op_num_extensions(by_a), 2);
    assert_string_equal(fer_op_extension(by_a, 0), at("other"));
    assert_string_equal(fer_op_extension(by_a, 1), at("a"));
    fer_op *given = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = DECLARATION,
                                                     .packages = {at("other"), at("a")}},
                                  &given, &error));
    assert_true(fer_op_equal(by_a, given));
    assert_string_equal(fer_op_token(by_a), fer_op_token(given));
    fer_overlay *b = added("b");
    fer_op *by_b = declared("value(x: i32[]) -> i32[]", "other");
    assert_false(fer_op_equal(by_a, by_b));
    assert_string_not_equal(fer_op_token(by_a), fer_op_token(by_b));
    fer_op *none = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(&(fer_declaration){.signature = "vallue(x: i32[]) -> i32[]",
                                                .packages = {at("other")}},
                             &none, &error),
                 "other (which has other), the overlay: ", "/b (which has value), ",
                 "/a (which has value); did you mean 'value'?");
    fer_overlay_remove(a);
    fer_overlay_remove(b);
    fer_op_release(by_a);
    fer_op_release(by_b);
    fer_op_release(given);
}

static void test_programs_find_it(void **state)
{
    (void)state;
    static const char PROGRAM[] = "graph g(x: i32[]) { y = value(x) return y }";
    write_adding("a", 1);
    fer_module *module = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_module_parse(PROGRAM, "p", NULL, &module, &error),
                 "there is no op 'value'");
    fer_overlay *overlay = added("a");
    ASSERT_OK(&error, fer_module_parse(PROGRAM, "p", NULL, &module, &error));
    fer_overlay_remove(overlay);
    /* The text names the package, so that it stands without the overlay. */
    char *text = NULL;
    fer_module *again = NULL;
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_non_null(strstr(text, at("a")));
    ASSERT_OK(&error, fer_module_parse(text, "p", NULL, &again, &error));
    assert_true(fer_module_equal(module, again));
    fer_string_free(text);
    fer_module_release(again);
    fer_module_release(module);
}

static void test_an_op_with_all_its_packages(void **state)
{
    (void)state;
    write_adding("a", 1);
    write_file("none/none.h", "");
    fer_overlay *overlay = added("a");
    fer_declaration declaration = {.signature = DECLARATION};
    for (size_t i = 0; i < FER_MAX_PACKAGES; i++)
        declaration.packages[i] = at("none");
    fer_op *op = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_declare(&declaration, &op, &error),
                 "value: an op takes at most 8 packages", "overlay");
    fer_overlay_remove(overlay);
}

/* --- Threads and forks ------------------------------------------------------------------------ */

static void *work_in_scopes(void *argument)
{
    const char *path = argument;
    fer_error own = FER_ERROR_INIT;
    size_t num_failed = 0;
    for (int i = 0; i < 200; i++) {
        fer_package *package = NULL;
        fer_overlay *overlay = NULL;
        fer_op *op = NULL;
        num_failed += fer_package_open(path, &package, &own) != FER_OK;
        num_failed += fer_overlay_add(package, &overlay, &own) != FER_OK;
        /* One of the two that is there now. */
        num_failed +=
            fer_declare(&(fer_declaration){.signature = DECLARATION}, &op, &own) != FER_OK;
        fer_op_release(op);
        fer_overlay_remove(overlay);
        fer_package_release(package);
    }
    fer_error_clear(&own);
    return (void *)num_failed;
}

static void test_threads(void **state)
{
    (void)state;
    write_adding("a", 1);
    write_adding("b", 2);
    assert_int_equal(declared_value("a"), 1);
    assert_int_equal(declared_value("b"), 2);
    pthread_t threads[4];
    char *const paths[] = {strdup(at("a")), strdup(at("b"))};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_scopes, paths[i % 2]), 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            fer_op *op = NULL;
            fer_status status =
                fer_declare(&(fer_declaration){.signature = DECLARATION}, &op, NULL);
            _exit(status == FER_OK || status == FER_VALUE_ERROR ? 0 : 1);
        }
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *num_failed;
        assert_int_equal(pthread_join(threads[i], &num_failed), 0);
        assert_int_equal((size_t)num_failed, 0);
    }
    assert_undeclared("no package was given");
    free(paths[0]);
    free(paths[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_scope),
        TEST(test_own_packages_come_first_and_late_ones_before_early_ones),
        TEST(test_what_an_op_says_of_itself),
        TEST(test_programs_find_it),
        TEST(test_an_op_with_all_its_packages),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
