/* Packages that are shared objects: what is loaded, which entry serves, what is refused. */
#include "testing_package.h"

#include <elf.h>

#define INCLUDE FERRULE_TEST_DATA "/../include"

/* Compiles a C file to a shared object below the test's folder. */
static void build_with(const char *compiler, const char *source, const char *options,
                       const char *object)
{
    char command[2048];
    snprintf(command, sizeof command, "%s -fPIC -O1 %s '-I%s' '%s' -o '%s'", compiler, options,
             INCLUDE, source, at(object));
    assert_int_equal(system(command), 0);
}

static void build(const char *source, const char *options, const char *object)
{
    build_with("cc -shared", source, options, object);
}

static void build_table(const char *options, const char *object)
{
    build(FERRULE_TEST_DATA "/kernels/object/table.c", options, object);
}

/* --- What is loaded --------------------------------------------------------------------------- */

static void test_kernels_are_listed(void **state)
{
    (void)state;
    build_table("", "lib.so");
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open(at("lib.so"), &package, &error));
    assert_string_equal(fer_package_path(package), at("lib.so"));
    assert_int_equal(fer_package_num_kernels(package), 3);
    fer_kernel_info keep = fer_package_kernel(package, 0);
    assert_string_equal(keep.name, "keep");
    assert_string_equal(keep.signature, "keep(x: f32[n]) -> f32[kept]");
    assert_string_equal(keep.file, "keep.ada");
    assert_int_equal(keep.line, 12);
    fer_kernel_info scale = fer_package_kernel(package, 1);
    assert_string_equal(scale.name, "scale");
    assert_null(scale.signature);
    assert_string_equal(scale.file, "lib.so");
    assert_int_equal(scale.line, 0);
    assert_string_equal(fer_package_kernel(package, 2).name, "value");
    fer_package_release(package);
}

static void test_a_kernel_is_called_without_a_compiler(void **state)
{
    (void)state;
    build_table("", "lib.so");
    setenv("FERRULE_CC", "/no/such/compiler", 1);
    fer_counters before = fer_read_counters();
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = "value", .packages = {at("lib.so")}},
                                  &op, &error));
    assert_int_equal(value_of(op), 1);
    assert_string_equal(fer_op_extension(op, 0), at("lib.so"));
    assert_int_equal(fer_read_counters().compiles, before.compiles);
    fer_op_release(op);
}

static void test_a_data_dependent_result(void **state)
{
    (void)state;
    build_table("", "lib.so");
    fer_op *op = declared("keep(x: f32[n]) -> f32[kept]", "lib.so");
    float numbers[] = {1, -1, 2, 0, 3};
    fer_tensor *x = make_view(FER_F32, EXTENTS(5), numbers);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    assert_floats(y, FLOATS(1, 2, 3));
    RELEASE(y);
    numbers[1] = 0.0F / (numbers[3] * 1);
    ASSERT_CALL_FAILS(FER_RUNTIME_ERROR, op, 1, &x, "keep: element 1 is no number", "table.c:7");
    RELEASE(x);
    fer_op_release(op);
}

/* --- Which entry serves ----------------------------------------------------------------------- */

static double scaled(const char *declaration, fer_dtype dtype)
{
    fer_op *op = declared(declaration, "lib.so");
    fer_tensor *x = make_scalar(dtype, 0);
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_call(op, &x, 1, &y, 1, &error));
    const void *data = fer_tensor_const_data(y);
    double value = dtype == FER_F32 ? *(const float *)data : *(const double *)data;
    RELEASE(x, y);
    fer_op_release(op);
    return value;
}

static void test_the_entry_that_lists_the_values_serves(void **state)
{
    (void)state;
    build_table("", "lib.so");
    assert_float_equal(scaled("scale<T: f32|f64>(x: T[]) -> T[]", FER_F32), 1, 0);
    assert_float_equal(scaled("scale<T: f32|f64>(x: T[]) -> T[]", FER_F64), 2, 0);
    assert_float_equal(scaled("scale<T: dtype = f64>(x: T[]) -> T[]", FER_F64), 2, 0);
    /* A parameter that no entry lists is any value's. */
    assert_float_equal(scaled("scale<T: f32|f64, by: int = 5>(x: T[]) -> T[]", FER_F32), 1, 0);
    assert_float_equal(scaled("scale<T: f32|f64, by: int = 4>(x: T[]) -> T[]", FER_F32), 4, 0);
    static const char ALL[] = "scale<T: f32|f64, by: int = %s, mode: str = %s, how: float = %s, "
                              "on: bool = %s>(x: T[]) -> T[]";
    static const char *const VALUES[][5] = {
        {"-3", "\"a\\u0000b\"", "-0.0", "true", "3"},  {"-3", "\"a\\u0000c\"", "-0.0", "true", "1"},
        {"-3", "\"a\"", "-0.0", "true", "1"},          {"-3", "\"a\\u0000b\"", "0.0", "true", "1"},
        {"-3", "\"a\\u0000b\"", "-0.0", "false", "1"}, {"4", "\"a\\u0000b\"", "-0.0", "true", "4"},
    };
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        char text[256];
        snprintf(text, sizeof text, ALL, VALUES[i][0], VALUES[i][1], VALUES[i][2], VALUES[i][3]);
        assert_float_equal(scaled(text, FER_F32), atof(VALUES[i][4]), 0);
    }
}

static void test_values_that_no_entry_serves(void **state)
{
    (void)state;
    build_table("", "lib.so");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, "scale<T: i32|i64>(x: T[]) -> T[]", "lib.so",
                           "scale<T = i32>: ", at("lib.so"),
                           "has no entry for it, but <T = f32>, "
                           "<T = f64>, <T = f32, by = -3, mode = \"a\\u0000b\", how = -0, on = "
                           "true>, <T = f32, by = 4>");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, "scale(x: f32[]) -> f32[]", "lib.so", "has no entry");
    ASSERT_PACKAGE_REFUSED(FER_TYPE_ERROR, "scale<T: dtype = i32, by: float = 4>(x: T[]) -> T[]",
                           "lib.so", "scale: parameter 'by' is declared float", "has it as int");
    ASSERT_PACKAGE_REFUSED(
        FER_TYPE_ERROR, "value(x: f32[]) -> i32[]", "lib.so",
        "the KERNEL line disagrees: 'x' is i32, but operand 'x' is declared f32");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, "valu(x: f32[]) -> i32[]", "lib.so",
                           "lib.so (which has keep, scale, value); did you mean 'value'?");
    fer_op *op = declared("scale<T: f32|f16>(x: T[]) -> T[]", "lib.so");
    fer_tensor *x = make_scalar(FER_F16, 0);
    ASSERT_CALL_FAILS(FER_VALUE_ERROR, op, 1, &x, "scale<T = f16>", "has no entry");
    RELEASE(x);
    fer_op_release(op);
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open(at("lib.so"), &package, &error));
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        fer_declare(&(fer_declaration){.kernel = "scale", .packages = {at("lib.so")}}, &op, &error),
        "scale: lib.so has no SIGNATURE for it");
    fer_package_release(package);
}

/* C kernels that were compiled by hand know their parameters' defaults alone. */
static void test_kernels_of_c_without_their_parameters(void **state)
{
    (void)state;
    write_file("k.c", "#include <ferrule/kernel.h>\n"
                      "PARAM(int, by, 1);\n"
                      "DTYPE_VAR(T, i32);\n"
                      "KERNEL(value, OUT(T, 0, y), IN(T, 0, x))\n"
                      "{\n    AT(y) = AT(x) + 7;\n    return OK;\n}\n"
                      "KERNEL(other, OUT(T, 0, y), IN(T, 0, x))\n"
                      "{\n    AT(y) = AT(x) + (T)by;\n    return OK;\n}\n");
    build(at("k.c"), "", "lib.so");
    fer_op *op = declared("value<T: i32|i64>(x: T[]) -> T[]", "lib.so");
    assert_int_equal(value_of(op), 7);
    fer_op_release(op);
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, "other<T: i32|i64, by: int = 2>(x: T[]) -> T[]",
                           "lib.so", "the default of PARAM 'by'", "open the folder");
    ASSERT_PACKAGE_REFUSED(FER_TYPE_ERROR, "value<T: i64|u8>(x: T[]) -> T[]", "lib.so",
                           "the KERNEL line (", "'y' is i32, but result 0 is declared i64");
}

/* --- Tables that are malformed ---------------------------------------------------------------- */

#define TENSOR "of the kernel table gives "
#define HAS "entry 0 ('value') of the kernel table has "

static void test_malformed_tables(void **state)
{
    (void)state;
    static const struct {
        const char *fault;
        const char *words;
    } FAULTS[] = {
        {"null", "ferrule_package_table() gives NULL"},
        {"table bytes", "struct_bytes 8, but one of version 1 has 24 bytes"},
        {"order", "the kernel table ends before it begins"},
        {"twice", "scale<T = f32>: the kernel has two entries in"},
        {"entry bytes",
         "entry 0 of the kernel table has struct_bytes 40, but an entry of version 1"},
        {"no name", "entry 0 of the kernel table has no name"},
        {"name", "has a name that is none"},
        {"kind", HAS "kind 9"},
        {"no run", HAS "no function"},
        {"no tensors", HAS "no list of its tensors"},
        {"many tensors", HAS "17 tensors; a kernel has 1 to 16"},
        {"none", HAS "0 tensors"},
        {"tensor name", HAS "no name for tensor 1"},
        {"role", TENSOR "'x' role 7; a role is 0 (result), 1 (operand) or 2 (inout)"},
        {"result last", HAS "the result 'x' behind an operand; results come first"},
        {"shape role", "('keep') of the kernel table is a shape function, which has operands only"},
        {"rank", TENSOR "'x' rank 9; a rank is 0 to 8, or -1 for any"},
        {"dtype", TENSOR "'x' a dtype of code 0, 33 bits and 1 lanes, which is none"},
        {"lanes", TENSOR "'x' a dtype of code 0, 32 bits and 2 lanes, which is none"},
        {"no params", "entry 1 ('scale') of the kernel table has no list of its 1 parameters"},
        {"many params", "has 65 parameters; an op has at most 64"},
        {"param name", "has no name for parameter 0"},
        {"param kind", "gives parameter 'T' kind 5"},
        {"param dtype", "gives parameter 'T' a dtype of code 77"},
        {"param str", "has no string for parameter 'T'"},
        {"signature", HAS "the signature of something else, 'values(x: i32[]) -> i32[]'"},
    };
    build_table("", "lib.so");
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        fer_package *package = (fer_package *)&error;
        setenv("FAULT", FAULTS[i].fault, 1);
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_package_open(at("lib.so"), &package, &error),
                     at("lib.so"), FAULTS[i].words);
        assert_null(package);
    }
    fer_package *package = NULL;
    setenv("FAULT", "version", 1);
    ASSERT_FAILS(&error, FER_UNSUPPORTED_ERROR, fer_package_open(at("lib.so"), &package, &error),
                 "lib.so has kernel table version 2, this library reads version 1; compile it "
                 "against the ferrule/abi.h of this library");
    setenv("FAULT", "empty", 1);
    ASSERT_OK(&error, fer_package_open(at("lib.so"), &package, &error));
    assert_int_equal(fer_package_num_kernels(package), 0);
    fer_package_release(package);
    setenv("FAULT", "bad signature", 1);
    fer_op *op = NULL;
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        fer_declare(&(fer_declaration){.kernel = "value", .packages = {at("lib.so")}}, &op, &error),
        "lib.so: value: column 14");
    unsetenv("FAULT");
    ASSERT_OK(&error, fer_package_open(at("lib.so"), &package, &error));
    fer_package_release(package);
}

/* --- Files that are no such thing ------------------------------------------------------------- */

static void refuse_bytes(const void *bytes, size_t size, fer_status kind, const char *words)
{
    fer_package *package = NULL;
    write_bytes("bad.so", bytes, size);
    ASSERT_FAILS(&error, kind, fer_package_open(at("bad.so"), &package, &error), at("bad.so"),
                 words);
}

static void test_other_files(void **state)
{
    (void)state;
    refuse_bytes("", 0, FER_VALUE_ERROR, "not a shared object");
    refuse_bytes("int x;\n", 7, FER_VALUE_ERROR,
                 "not a shared object; a package is a shared object, or a folder of C files");
    write_file("none.c", "int nothing(void);\nint nothing(void) { return 1; }\n");
    build(at("none.c"), "", "none.so");
    fer_package *package = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_package_open(at("none.so"), &package, &error),
                 "none.so: the shared object has no kernel table", "ferrule_package_table");
    build_with("cc -c", at("none.c"), "", "none.o");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_package_open(at("none.o"), &package, &error),
                 "an object file or a program, not a shared object");
    write_file("open.c", "int gone(void);\nint open_(void);\nint open_(void) { return gone(); }\n");
    build(at("open.c"), "", "open.so");
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_package_open(at("open.so"), &package, &error),
                 "open.so: the shared object cannot be loaded: ", "gone");
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_package_open(at("nowhere.so"), &package, &error),
                 "nowhere.so", "No such file");
}

static void test_a_file_that_is_cut_short(void **state)
{
    (void)state;
    build_table("", "lib.so");
    char *bytes = NULL;
    size_t size;
    size_t num_loaded = 0;
    ASSERT_OK(&error, fer_file_read(at("lib.so"), &bytes, &size, &error));
    for (size_t length = 0; length <= size; length += length < 256 ? 16 : size / 64) {
        fer_package *package = NULL;
        write_bytes("cut.so", bytes, length);
        fer_status status = fer_package_open(at("cut.so"), &package, &error);
        assert_true(status == FER_OK || status == FER_VALUE_ERROR);
        assert_true((status == FER_OK) == (package != NULL));
        num_loaded += status == FER_OK; /* what no segment has may be gone */
        fer_package_release(package);
        fer_error_clear(&error);
    }
    assert_true(num_loaded < 32);
    unsigned char *machine = (unsigned char *)bytes + offsetof(Elf64_Ehdr, e_machine);
    machine[0] ^= 1;
    refuse_bytes(bytes, size, FER_VALUE_ERROR, "for another kind of machine");
    machine[0] ^= 1;
    bytes[EI_CLASS] = ELFCLASS32;
    refuse_bytes(bytes, size, FER_VALUE_ERROR, "for another kind of machine");
    free(bytes);
}

/* --- Neighbours and time ---------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    char *bytes = NULL;
    size_t size;
    ASSERT_OK(&error, fer_file_read(at(from), &bytes, &size, &error));
    FILE *file = fopen(at(to), "w"); /* into the file that is there, as cp does */
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

static void test_a_file_that_is_replaced(void **state)
{
    (void)state;
    build_table("", "one.so");
    build_table("-DADDED=2", "two.so");
    copy_file("one.so", "lib.so");
    fer_op *one = declared(DECLARATION, "lib.so");
    copy_file("two.so", "lib.so");
    assert_int_equal(value_of(one), 1);
    fer_op *two = declared(DECLARATION, "lib.so");
    assert_int_equal(value_of(two), 2);
    write_file("lib.so", "gone");
    assert_int_equal(value_of(one), 1);
    assert_int_equal(value_of(two), 2);
    assert_string_not_equal(fer_op_binary(one, 0), fer_op_binary(two, 0));
    unlink(at("lib.so"));
    fer_op *again = NULL;
    ASSERT_OK(&error, fer_op_specialise(one, NULL, 0, &again, &error));
    assert_int_equal(value_of(again), 1);
    fer_op_release(again);
    fer_op_release(one);
    fer_op_release(two);
}

static void test_the_same_names_side_by_side(void **state)
{
    (void)state;
    static const char FOLDER[] = "#include <ferrule/kernel.h>\n"
                                 "int helper(void);\n"
                                 "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                                 "{\n    AT(y) = AT(x) + helper();\n    return OK;\n}\n";
    build_table("", "one.so");
    build_table("-DADDED=2", "two.so");
    write_file("three/value.c", FOLDER);
    write_file("three/helper.c", "__attribute__((visibility(\"default\"))) int helper(void);\n"
                                 "int helper(void) { return 3; }\n");
    write_file("four/value.c", FOLDER);
    write_file("four/helper.c", "__attribute__((visibility(\"default\"))) int helper(void);\n"
                                "int helper(void) { return 4; }\n");
    static const char *const PACKAGES[] = {"one.so", "two.so", "three", "four"};
    fer_op *ops[4];
    for (size_t i = 0; i < 4; i++)
        ops[i] = declared(DECLARATION, PACKAGES[i]);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(value_of(ops[i]), (int)i + 1);
    for (size_t i = 0; i < 4; i++)
        fer_op_release(ops[i]);
}

/* Nothing that is loaded stays with nobody. */
static void test_many_declarations(void **state)
{
    (void)state;
    build_table("", "lib.so");
    uint64_t bindings = fer_read_counters().bindings;
    for (int i = 0; i < 200; i++) {
        fer_op *op = declared(DECLARATION, "lib.so");
        assert_int_equal(value_of(op), 1);
        assert_int_equal(fer_read_counters().bindings, bindings + 1);
        fer_op_release(op);
    }
    assert_int_equal(fer_read_counters().bindings, bindings);
    /* A damaged copy in the store is replaced. */
    fer_op *op = declared(DECLARATION, "lib.so");
    char *path = strdup(fer_op_binary(op, 0));
    fer_op_release(op);
    ASSERT_OK(&error, fer_file_write(path, "damaged", 7, &error));
    assert_int_equal(declared_value("lib.so"), 1);
    free(path);
}

static void test_a_store_that_cannot_keep_it(void **state)
{
    (void)state;
    build_table("", "lib.so");
    write_file("file", "");
    setenv("FERRULE_CACHE_DIR", at("file/below"), 1);
    assert_int_equal(declared_value("lib.so"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kernels_are_listed),
        TEST(test_a_kernel_is_called_without_a_compiler),
        TEST(test_a_data_dependent_result),
        TEST(test_the_entry_that_lists_the_values_serves),
        TEST(test_values_that_no_entry_serves),
        TEST(test_kernels_of_c_without_their_parameters),
        TEST(test_malformed_tables),
        TEST(test_other_files),
        TEST(test_a_file_that_is_cut_short),
        TEST(test_a_file_that_is_replaced),
        TEST(test_the_same_names_side_by_side),
        TEST(test_many_declarations),
        TEST(test_a_store_that_cannot_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
