/* What happens again and again takes no more memory, no more open files.
 *
 *   fault_flat [FAULTS]
 *
 * For each of FAULTS: 100 calls, 10 calls that fail, one declaration with a call, and one that
 * fails. 10000 of them are a million calls. */
#include "testing_allocations.h"
#include "testing_package.h"

#include "tensor/pool.h"
#include <ferrule/ferrule.h>
#include <inttypes.h>

static size_t num_faults = 100;

static const char PACKAGE[] =
    "#include <ferrule/kernel.h>\n"
    "SIGNATURE(scale, \"<T: f32|f64, by: int = 3>(x: T[n]) -> T[n]\");\n"
    "PARAM(int, by, 3);\n"
    "DTYPE_VAR(T, f32);\n"
    "MAP(scale, T, IN(T, x)) { return x * by; }\n"
    "SIGNATURE(kept, \"(x: f32[n]) -> f32[k]\");\n"
    "SHAPE(kept, IN(f32, 1, x)) { EXTENT(k) = DIM(x, 0) / 2; return OK; }\n"
    "KERNEL(kept, OUT(f32, 1, y), IN(f32, 1, x))\n"
    "{\n"
    "    f32 *copy = SCRATCH(f32, DIM(x, 0));\n"
    "    CHECK(DIM(x, 0) < 100, \"%d is too many\", (int)DIM(x, 0));\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = copy[i] = AT(x, i);\n"
    "    return OK;\n"
    "}\n";

static const char PROGRAM[] = "use \"p\"\n"
                              "graph g(x: f32[n]) -> f32[n] {\n"
                              "  a = scale(x)\n"
                              "  b = scale<by = 4>(a)\n"
                              "  return b\n"
                              "}\n";

/* What lives on between the turns. */
static fer_op *scale;
static fer_op *kept;
static fer_model *model;
static fer_tensor *few;
static fer_tensor *many;

static fer_op *declare(const char *kernel)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = kernel, .packages = {at("p")}}, &op,
                                  &error));
    return op;
}

static fer_model *make_model(void)
{
    fer_module *module = NULL;
    fer_model *made = NULL;
    ASSERT_OK(&error, fer_module_parse(PROGRAM, "program", folder, &module, &error));
    ASSERT_OK(&error, fer_model_create(fer_module_find(module, "g"), NULL, &made, &error));
    fer_module_release(module);
    return made;
}

static int set_up_flat(void **state)
{
    if (set_up(state) != 0)
        return -1;
    int64_t extents[2] = {8, 40000};
    use_remembering_compiler("");
    write_file("p/kernels.c", PACKAGE);
    scale = declare("scale");
    kept = declare("kept");
    model = make_model();
    few = make_ones(FER_F32, 1, &extents[0]);
    many = make_ones(FER_F32, 1, &extents[1]);
    return 0;
}

static int tear_down_flat(void **state)
{
    RELEASE(few, many);
    fer_model_release(model);
    fer_op_release(scale);
    fer_op_release(kept);
    return tear_down(state);
}

/* --- The turns -------------------------------------------------------------------------------- */

static void call(void)
{
    fer_tensor *result = NULL;
    fer_tensor *again = NULL;
    ASSERT_OK(&error, fer_call(scale, &few, 1, &result, 1, &error));
    ASSERT_OK(&error, fer_call_into(scale, &few, 1, &result, 1, &error));
    ASSERT_OK(&error, fer_call(kept, &result, 1, &again, 1, &error));
    RELEASE(result, again);
    ASSERT_OK(&error, fer_model_run(model, &few, 1, &result, 1, &error));
    RELEASE(result);
}

static void call_many(void)
{
    fer_tensor *result = NULL;
    for (int i = 0; i < 25; i++) /* four calls each */
        call();
    ASSERT_OK(&error, fer_call(scale, &many, 1, &result, 1, &error));
    RELEASE(result);
}

static void call_wrongly(void)
{
    fer_tensor *scalar = make_scalar(FER_F32, 1);
    fer_tensor *wrong[2] = {few, scalar};
    for (int i = 0; i < 2; i++) {
        ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, kept, 1, &many, "is too many");
        ASSERT_CALL_FAILS(FER_VALUE_ERROR, scale, 1, &scalar, "rank");
        ASSERT_CALL_FAILS(FER_TYPE_ERROR, scale, 2, wrong, "expected 1 operand");
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call_into(scale, &few, 1, &few, 1, &error),
                     "overlap");
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, &scalar, 1, wrong, 1, &error),
                     "rank");
    }
    RELEASE(scalar);
}

static void declare_again(void)
{
    fer_op *op = declare("scale");
    fer_param by = int_param("by", 4);
    fer_op *special = specialise_op(op, by);
    fer_tensor *result = NULL;
    fer_tensor *deep = make_ones(FER_F64, EXTENTS(3));
    ASSERT_OK(&error, fer_call(special, &few, 1, &result, 1, &error));
    RELEASE(result);
    ASSERT_OK(&error, fer_call(op, &deep, 1, &result, 1, &error));
    RELEASE(result, deep);
    fer_op_release(op);
    fer_op_release(special);
    fer_model_release(make_model());
    ASSERT_PACKAGE_REFUSED(FER_TYPE_ERROR, "kept(x: f64[n]) -> f64[k]", "p", "disagrees");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, "nothing(x: f64[n]) -> f64[n]", "p", "no such kernel");
}

/* --- Flat ------------------------------------------------------------------------------------- */

static size_t num_open_files(void)
{
    size_t count = 0;
    DIR *files = opendir("/proc/self/fd");
    assert_non_null(files);
    while (readdir(files) != NULL)
        count++;
    closedir(files);
    return count;
}

/* Of the process, in KiB. */
static long resident(void)
{
    long size = 0;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void assert_flat(const char *name, void (*turn)(void), size_t num_turns)
{
    for (size_t i = 0; i < 5 + num_turns / 10; i++) /* what is made once is there then */
        turn();
    (void)fer_memory_trim();
    int64_t living = num_living;
    size_t files = num_open_files();
    long before = resident();
    for (size_t i = 0; i < num_turns; i++)
        turn();
    (void)fer_memory_trim();
    long after = resident();
    print_message("%s, %zu turns: %" PRId64 " blocks more, %ld KiB more of %ld\n", name, num_turns,
                  num_living - living, after - before, after);
    assert_int_equal(num_living, living);
    assert_int_equal(num_open_files(), files);
    /* With a sanitizer, what was released is kept for a while. */
    if (FER_POOL_IS_USED)
        assert_true(after - before < 1024);
}

static void test_calls_are_flat(void **state)
{
    (void)state;
    assert_flat("100 calls", call_many, num_faults);
}

static void test_failing_calls_are_flat(void **state)
{
    (void)state;
    assert_flat("10 calls that fail", call_wrongly, num_faults);
}

static void test_declarations_are_flat(void **state)
{
    (void)state;
    assert_flat("a declaration", declare_again, num_faults);
}

#define FLAT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_flat, tear_down_flat)

int main(int argc, char **argv)
{
    if (argc > 1)
        num_faults = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        FLAT_TEST(test_calls_are_flat),
        FLAT_TEST(test_failing_calls_are_flat),
        FLAT_TEST(test_declarations_are_flat),
    };
    return cmocka_run_group_tests(tests, set_up_remembering, tear_down_remembering);
}
