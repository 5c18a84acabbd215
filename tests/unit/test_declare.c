/* Declaring ops: finding the kernel, judging its line, parameters, tokens, equality. */
#include "testing.h"

#include "op/op.h"

static fer_error error = FER_ERROR_INIT;

static const char DOWNSAMPLE[] =
    "#include <ferrule/kernel.h>\n"
    "SIGNATURE(downsample, \"<factor: int = 2>(x: f32[n, w]) -> f32[n, w // factor]\");\n"
    "PARAM(int, factor, 2);\n"
    "KERNEL(downsample, OUT(f32, 2, y), IN(f32, 2, x))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        for (index_t j = 0; j < DIM(y, 1); j++)\n"
    "            AT(y, i, j) = AT(x, i, factor * j);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(upsample, OUT(f32, 1, y), IN(f32, 1, x))\n"
    "{\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = AT(x, i / 2);\n"
    "    return OK;\n"
    "}\n";

static fer_status declare_in(const char *signature, const char *source, fer_op **out_op)
{
    return fer_declare(&(fer_declaration){.signature = signature, .source = source}, out_op,
                       &error);
}

static fer_op *declared(const char *signature, const char *source)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, declare_in(signature, source, &op));
    return op;
}

#define ASSERT_REFUSED(kind, signature, source, ...)                                               \
    do {                                                                                           \
        fer_op *refused = (fer_op *)&error; /* must be cleared */                                  \
        ASSERT_FAILS(&error, kind, declare_in(signature, source, &refused), __VA_ARGS__);          \
        assert_null(refused);                                                                      \
    } while (0)

static void test_an_op_prints_as_its_declaration(void **state)
{
    (void)state;
    fer_op *op = declared("downsample<factor: int = 4>(x: float32[n, w]) -> f32[n, w // factor]",
                          DOWNSAMPLE);
    assert_string_equal(fer_op_name(op), "downsample");
    assert_string_equal(fer_op_text(op),
                        "downsample<factor: int = 4>(x: f32[n, w]) -> f32[n, w // factor]");
    assert_true(fer_op_is_complete(op));
    assert_int_equal(fer_op_num_extensions(op), 1);
    assert_ptr_equal(strstr(fer_op_extension(op, 0), "inline:"), fer_op_extension(op, 0));
    assert_int_equal(fer_op_num_binaries(op), 1);
    assert_int_equal(fer_op_binary(op, 0)[0], '/');
    fer_op_release(op);
}

static void test_a_signature_in_the_package_declares(void **state)
{
    (void)state;
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = "downsample", .source = DOWNSAMPLE},
                                  &op, &error));
    assert_string_equal(fer_op_text(op),
                        "downsample<factor: int = 2>(x: f32[n, w]) -> f32[n, w // factor]");
    fer_op_release(op);
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        fer_declare(&(fer_declaration){.kernel = "upsample", .source = DOWNSAMPLE}, &op, &error),
        "upsample", "SIGNATURE");
}

static void test_a_declaration_needs_exactly_one_description(void **state)
{
    (void)state;
    fer_op *op = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(&(fer_declaration){.source = DOWNSAMPLE}, &op, &error), "one of");
    ASSERT_FAILS(&error, FER_VALUE_ERROR,
                 fer_declare(&(fer_declaration){.signature = "upsample(x: f32[n]) -> f32[2 * n]",
                                                .kernel = "upsample",
                                                .source = DOWNSAMPLE},
                             &op, &error),
                 "one of");
    assert_null(op);
}

static void test_a_missing_kernel_says_where_it_looked(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_VALUE_ERROR, "downsampel(x: f32[n, w]) -> f32[n, w]", DOWNSAMPLE,
                   "downsampel", "inline:", "downsample, upsample", "did you mean 'downsample'?");
    ASSERT_REFUSED(FER_VALUE_ERROR, "f(x: f32[n]) -> f32[n]", NULL, "f", "no package");
    fer_op *op = NULL;
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_declare(&(fer_declaration){.signature = "f(x: f32[n]) -> f32[n]",
                                                .packages = {"/no/such/folder"}},
                             &op, &error),
                 "/no/such/folder");
}

static void test_a_line_that_disagrees_is_a_type_error(void **state)
{
    (void)state;
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(x: f32[n], z: f32[n]) -> f32[2 * n]", DOWNSAMPLE,
                   "upsample", "KERNEL", "1 operand,", "2");
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(x: f32[n]) -> (f32[2 * n], f32[n])", DOWNSAMPLE,
                   "upsample", "1 result and", "2");
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(x: f64[n]) -> f32[2 * n]", DOWNSAMPLE, "upsample",
                   "'x'", "f32", "f64");
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(x: f32[n]) -> f64[2 * n]", DOWNSAMPLE, "upsample",
                   "'y'", "f32", "f64");
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(x: f32[n, m]) -> f32[2 * n]", DOWNSAMPLE, "upsample",
                   "'x'", "rank 1", "2 dims");
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(x: f32[*s]) -> f32[*s]", DOWNSAMPLE, "upsample",
                   "rank 1", "ANY");
    ASSERT_REFUSED(FER_TYPE_ERROR, "upsample(inout x: f32[n]) -> f32[2 * n]", DOWNSAMPLE,
                   "upsample", "'x'", "INOUT");
}

static void test_operands_in_another_order_are_found_by_name(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "KERNEL(minus, OUT(f32, 1, y), IN(f32, 1, a), IN(f32, 1, b))\n"
                         "{\n"
                         "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
                         "        AT(y, i) = AT(a, i) - AT(b, i);\n"
                         "    return OK;\n"
                         "}\n";
    ASSERT_REFUSED(FER_TYPE_ERROR, "minus(b: f32[n], a: f32[n]) -> f32[n]", source, "minus", "'b'",
                   "number 1", "number 0");
    fer_op_release(declared("minus(left: f32[n], right: f32[n]) -> f32[n]", source));
}

static void test_a_map_must_be_declared_elementwise(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "DTYPE_VAR(T, f32);\n"
                         "MAP(scale, T, IN(T, x), IN(T, k)) { return x * k; }\n";
    fer_op_release(declared("scale<T>(x: T[*s], k: T[]) -> T[*s]", source));
    fer_op_release(declared("scale(x: f32[n, m], k: f32[n, m]) -> f32[n, m]", source));
    ASSERT_REFUSED(FER_TYPE_ERROR, "scale<T>(x: T[n], k: T[m]) -> T[n]", source, "scale", "MAP",
                   "'k'");
    ASSERT_REFUSED(FER_TYPE_ERROR, "scale<T>(x: T[*s], k: T[*s]) -> (T[*s], T[*s])", source,
                   "scale");
}

static void test_a_data_dependent_dim_needs_a_shape_function(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "KERNEL(keep, OUT(f32, 1, y), IN(f32, 1, x))\n"
                         "{\n"
                         "    (void)x;\n"
                         "    (void)y;\n"
                         "    return OK;\n"
                         "}\n";
    ASSERT_REFUSED(FER_VALUE_ERROR, "keep(x: f32[n]) -> f32[kept]", source, "keep", "kept",
                   "SHAPE");
}

static void test_a_compile_error_appears_at_the_declaration(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "DTYPE_VAR(T, f32);\n"
                         "KERNEL(bad, OUT(T, 1, y), IN(T, 1, x))\n"
                         "{\n"
                         "    return undeclared_thing;\n"
                         "}\n";
    ASSERT_REFUSED(FER_COMPILE_ERROR, "bad<T>(x: T[n]) -> T[n]", source, "bad", "undeclared_thing",
                   ":5");
}

static void test_an_incomplete_op_waits_for_its_parameters(void **state)
{
    (void)state;
    fer_op *op =
        declared("downsample<factor: int>(x: f32[n, w]) -> f32[n, w // factor]", DOWNSAMPLE);
    assert_false(fer_op_is_complete(op));
    assert_int_equal(fer_op_num_binaries(op), 0);
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    ASSERT_OK(&error, fer_tensor_ones(FER_F32, 2, (int64_t[]){1, 4}, (fer_device){0}, &x, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, &x, 1, &y, 1, &error), "downsample",
                 "factor");
    fer_param factor = {
        .name = "factor", .kind = FER_PARAM_INT, .has_value = true, .value.as_int = 4};
    fer_op *complete = NULL;
    ASSERT_OK(&error, fer_op_specialise(op, &factor, 1, &complete, &error));
    assert_true(fer_op_is_complete(complete));
    ASSERT_OK(&error, fer_call(complete, &x, 1, &y, 1, &error));
    assert_int_equal(fer_tensor_shape(y)[1], 1);
    fer_tensor_release(x);
    fer_tensor_release(y);
    fer_op_release(complete);
    fer_op_release(op);
}

static fer_op *with_factor(const fer_op *op, int64_t value)
{
    fer_param factor = {
        .name = "factor", .kind = FER_PARAM_INT, .has_value = true, .value.as_int = value};
    fer_op *made = NULL;
    ASSERT_OK(&error, fer_op_specialise(op, &factor, 1, &made, &error));
    return made;
}

static void test_a_parameter_can_change_again(void **state)
{
    (void)state;
    fer_op *two =
        declared("downsample<factor: int = 2>(x: f32[n, w]) -> f32[n, w // factor]", DOWNSAMPLE);
    fer_op *three = with_factor(two, 3);
    fer_op *again = with_factor(three, 2);
    assert_false(fer_op_equal(two, three));
    assert_string_not_equal(fer_op_token(two), fer_op_token(three));
    assert_true(fer_op_equal(two, again));
    assert_string_equal(fer_op_token(two), fer_op_token(again));
    assert_int_equal(fer_op_hash(two), fer_op_hash(again));
    fer_op_release(again);
    fer_op_release(three);
    fer_op_release(two);
}

static void test_equal_parameters_are_found_without_a_compiler(void **state)
{
    (void)state;
    fer_op *two =
        declared("downsample<factor: int = 2>(x: f32[n, w]) -> f32[n, w // factor]", DOWNSAMPLE);
    uint64_t compiles = fer_read_counters().compiles;
    fer_op *again = with_factor(two, 2);
    assert_int_equal(fer_read_counters().compiles, compiles);
    fer_op_release(again);
    fer_op_release(two);
}

static void test_a_bad_parameter_fails_right_there(void **state)
{
    (void)state;
    fer_op *op =
        declared("downsample<factor: int = 2>(x: f32[n, w]) -> f32[n, w // factor]", DOWNSAMPLE);
    fer_op *bad = NULL;
    fer_param param = {.name = "factor", .kind = FER_PARAM_INT, .has_value = true};
    ASSERT_FAILS(&error, FER_ZERO_DIVISION_ERROR, fer_op_specialise(op, &param, 1, &bad, &error),
                 "downsample");
    param.name = "facto";
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_op_specialise(op, &param, 1, &bad, &error), "facto");
    param = (fer_param){.name = "factor", .kind = FER_PARAM_BOOL, .has_value = true};
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_op_specialise(op, &param, 1, &bad, &error), "factor",
                 "bool");
    assert_null(bad);
    fer_op_release(op);
}

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") == length && strlen(text) == length;
}

static void test_tokens_tell_declarations_apart(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "DTYPE_VAR(T, f32);\n"
                         "MAP(f, T, IN(T, x)) { return x; }\n";
    static const char *const DIFFERENT[] = {
        "f(x: f32[n]) -> f32[n]",
        "f(z: f32[n]) -> f32[n]",
        "f(x: f32[n]) -> (y: f32[n])",
        "f(x: f32[m]) -> f32[m]",
        "f<T>(x: T[n]) -> T[n]",
        "f<T: f32|f64>(x: T[n]) -> T[n]",
        "f(x: f32[n]) -> f32[n] effect",
        "f(x: f32[n]) -> f32[n] where n > 0",
        "f<p: int = 1>(x: f32[n]) -> f32[n]",
        "f<p: bool = true>(x: f32[n]) -> f32[n]",
        "f<p: float = 1.0>(x: f32[n]) -> f32[n]",
        "f<p: str = \"1\">(x: f32[n]) -> f32[n]",
        "f<p: str = \"f32\">(x: f32[n]) -> f32[n]",
        "f<p: dtype = f32>(x: f32[n]) -> f32[n]",
        "f<p: int = 1, q: int = 2>(x: f32[n]) -> f32[n]",
    };
    enum { COUNT = sizeof DIFFERENT / sizeof *DIFFERENT };
    fer_op *ops[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        ops[i] = declared(DIFFERENT[i], source);
        assert_memory_equal(fer_op_token(ops[i]), "f#", 2);
        assert_true(is_hex(fer_op_token(ops[i]) + 2, 16));
        fer_op *same = declared(fer_op_text(ops[i]), source);
        assert_string_equal(fer_op_token(ops[i]), fer_op_token(same));
        assert_true(fer_op_equal(ops[i], same));
        fer_op_release(same);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(fer_op_token(ops[i]), fer_op_token(ops[j]));
            assert_false(fer_op_equal(ops[i], ops[j]));
        }
    }
    for (size_t i = 0; i < COUNT; i++)
        fer_op_release(ops[i]);
}

/* No kernel can have such a variable; a signature can. */
static void test_a_dtype_variable_named_like_a_dtype_is_another_thing(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"f<f32>(x: f32[n]) -> f32[n]", "f(x: f32[n]) -> f32[n]"};
    fer_op *ops[2] = {NULL};
    for (size_t i = 0; i < 2; i++) {
        fer_signature *signature = NULL;
        ASSERT_OK(&error, fer_signature_parse(TEXTS[i], &signature, &error));
        ASSERT_OK(&error, fer_op_from_signature(signature, &ops[i], &error));
        fer_signature_release(signature);
    }
    assert_string_not_equal(fer_op_token(ops[0]), fer_op_token(ops[1]));
    assert_false(fer_op_equal(ops[0], ops[1]));
    fer_op_release(ops[0]);
    fer_op_release(ops[1]);
}

/* What the kernel's file calls a parameter or a variable has to be what the declaration says. */
static void test_the_file_and_the_declaration_agree(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "PARAM(int, times, 2);\n"
                         "MAP(f, f32, IN(f32, x)) { return x * (f32)times; }\n"
                         "KERNEL(two, OUT(f32, 0, hi), OUT(f32, 0, lo), IN(f32, 0, x))\n"
                         "{\n"
                         "    AT(hi) = AT(lo) = AT(x);\n"
                         "    return OK;\n"
                         "}\n";
    ASSERT_REFUSED(FER_TYPE_ERROR, "f<times: float = 2.5>(x: f32[n]) -> f32[n]", source, "f",
                   "'times'", "float", "PARAM(int, times", "inline.c:2");
    ASSERT_REFUSED(FER_TYPE_ERROR, "f<times: bool = true>(x: f32[n]) -> f32[n]", source, "'times'",
                   "bool");
    ASSERT_REFUSED(FER_TYPE_ERROR, "f<times: str = \"2\">(x: f32[n]) -> f32[n]", source, "'times'",
                   "str");
    ASSERT_REFUSED(FER_TYPE_ERROR, "f<T, times: int = 2>(x: T[n]) -> T[n]", source, "f", "'T'",
                   "DTYPE_VAR(T");
    ASSERT_REFUSED(FER_TYPE_ERROR, "two(x: f32[]) -> (lo: f32[], hi: f32[])", source, "two",
                   "result 'lo'", "number 1", "number 0");
    fer_op_release(declared("two(x: f32[]) -> (hi: f32[], lo: f32[])", source));
}

static void test_a_format_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "KERNEL(f, OUT(f32, 0, y), IN(f32, 0, x))\n"
                         "{\n"
                         "    AT(y) = AT(x);\n"
                         "    CHECK(AT(x) > 0, \"bad %s\", 3);\n"
                         "    return OK;\n"
                         "}\n";
    ASSERT_REFUSED(FER_COMPILE_ERROR, "f(x: f32[]) -> f32[]", source, "inline.c:5", "%s");
}

static void test_parameters_in_another_order_are_the_same_op(void **state)
{
    (void)state;
    const char *source = "#include <ferrule/kernel.h>\n"
                         "MAP(f, f32, IN(f32, x)) { return x; }\n";
    fer_op *a = declared("f<p: int = 1, q: int = 2>(x: f32[n]) -> f32[n]", source);
    fer_op *b = declared("f<q: int = 2, p: int = 1>(x: f32[n]) -> f32[n]", source);
    assert_string_equal(fer_op_token(a), fer_op_token(b));
    assert_true(fer_op_equal(a, b));
    fer_op_release(a);
    fer_op_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_op_prints_as_its_declaration),
        cmocka_unit_test(test_a_signature_in_the_package_declares),
        cmocka_unit_test(test_a_declaration_needs_exactly_one_description),
        cmocka_unit_test(test_a_missing_kernel_says_where_it_looked),
        cmocka_unit_test(test_a_line_that_disagrees_is_a_type_error),
        cmocka_unit_test(test_operands_in_another_order_are_found_by_name),
        cmocka_unit_test(test_a_map_must_be_declared_elementwise),
        cmocka_unit_test(test_a_data_dependent_dim_needs_a_shape_function),
        cmocka_unit_test(test_a_compile_error_appears_at_the_declaration),
        cmocka_unit_test(test_an_incomplete_op_waits_for_its_parameters),
        cmocka_unit_test(test_a_parameter_can_change_again),
        cmocka_unit_test(test_equal_parameters_are_found_without_a_compiler),
        cmocka_unit_test(test_a_bad_parameter_fails_right_there),
        cmocka_unit_test(test_tokens_tell_declarations_apart),
        cmocka_unit_test(test_a_dtype_variable_named_like_a_dtype_is_another_thing),
        cmocka_unit_test(test_the_file_and_the_declaration_agree),
        cmocka_unit_test(test_a_format_that_does_not_fit_is_refused),
        cmocka_unit_test(test_parameters_in_another_order_are_the_same_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
