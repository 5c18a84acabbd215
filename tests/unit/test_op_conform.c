/* The declaration against the kernel's own line: every way in which the two can disagree. */
#include "testing_op.h"

static const char SOURCE[] =
    "#include <ferrule/kernel.h>\n"
    "DTYPE_VAR(T, f32);\n"
    "KERNEL(two, OUT(f32, 1, y), OUT(i64, 0, count), IN(f32, 1, a), INOUT(T, 2, b), IN(u8, ANY, "
    "c))\n"
    "{\n"
    "    (void)y, (void)a, (void)c;\n"
    "    AT(count) = DIM(b, 0);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(pair, OUT(f32, 0, p), OUT(f32, 0, q), IN(f32, 1, x))\n"
    "{\n"
    "    (void)x;\n"
    "    AT(p) = 0;\n"
    "    AT(q) = 1;\n"
    "    return OK;\n"
    "}\n"
    "MAP(scale, T, IN(T, x), IN(f32, k)) { return x * (T)k; }\n"
    "SHAPE(keep, IN(f32, 1, x), IN(bool, 1, mask))\n"
    "{\n"
    "    (void)mask;\n"
    "    EXTENT(kept) = DIM(x, 0);\n"
    "    return OK;\n"
    "}\n"
    "KERNEL(keep, OUT(f32, 1, y), IN(f32, 1, x), IN(bool, 1, mask))\n"
    "{\n"
    "    (void)y, (void)x, (void)mask;\n"
    "    return OK;\n"
    "}\n";

#define ASSERT_DISAGREES(signature, ...)                                                           \
    ASSERT_NOT_DECLARED(FER_TYPE_ERROR, signature, SOURCE, "disagrees", "inline.c:", __VA_ARGS__)

static void test_a_line_that_agrees(void **state)
{
    (void)state;
    fer_op_release(declare_source("two<T>(a: f32[n], inout b: T[m, k], c: u8[*s]) -> "
                                  "(f32[n], i64[])",
                                  SOURCE));
    fer_op_release(declare_source("two(a: f32[n], inout b: f32[m, k], c: u8[]) -> "
                                  "(f32[4], count: i64[])",
                                  SOURCE));
    fer_op_release(declare_source("scale<T>(x: T[*s], k: f32[]) -> T[*s]", SOURCE));
}

static void test_numbers_of_operands_and_results(void **state)
{
    (void)state;
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: u8[]) -> f32[n]", "KERNEL",
                     "2 results and 3 operands", "1 and 3");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k]) -> (f32[n], i64[])", "KERNEL",
                     "2 results and 3 operands", "2 and 2");
    /* As many in all, cut elsewhere. */
    ASSERT_DISAGREES("two(y: i64[], a: f32[n], inout b: f32[m, k], c: u8[]) -> f32[n]", "KERNEL",
                     "2 results and 3 operands", "1 and 4");
}

static void test_dtypes(void **state)
{
    (void)state;
    ASSERT_DISAGREES("two(a: f64[n], inout b: f32[m, k], c: u8[]) -> (f32[n], i64[])", "'a'", "f32",
                     "operand 'a'", "f64");
    ASSERT_DISAGREES("two(a: f32[n], inout b: i32[m, k], c: u8[]) -> (f32[n], i64[])", "'b'", "f32",
                     "i32");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: i8[]) -> (f32[n], i64[])", "'c'", "u8",
                     "i8");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: bool[]) -> (f32[n], i64[])", "'c'",
                     "u8", "bool");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: u8[]) -> (f32[n], u64[])", "'count'",
                     "i64", "result 1", "u64");
}

/* A kernel that is not generic where its declaration is shows with the first other dtype. */
static void test_a_dtype_variable_that_the_line_lacks(void **state)
{
    (void)state;
    fer_op *op = declare_source("keep<T>(x: T[n], mask: bool[n]) -> T[n]", SOURCE);
    fer_tensor *x = make_counting(FER_F64, 2);
    fer_tensor *mask = make_ones(FER_BOOL, EXTENTS(2));
    ASSERT_CALL_FAILS(FER_TYPE_ERROR, op, 2, OPERANDS(x, mask), "keep", "KERNEL",
                      "inline.c:", "'y' is f32", "f64");
    assert_int_equal(fer_op_num_binaries(op), 1);
    RELEASE(x, mask);
    fer_op_release(op);
}

static void test_directions(void **state)
{
    (void)state;
    ASSERT_DISAGREES("two(inout a: f32[n], inout b: f32[m, k], c: u8[]) -> (f32[n], i64[])",
                     "'a' is IN", "operand 'a'", "INOUT");
    ASSERT_DISAGREES("two(a: f32[n], b: f32[m, k], c: u8[]) -> (f32[n], i64[])", "'b' is INOUT",
                     "operand 'b'", "is IN");
    ASSERT_DISAGREES("scale(inout x: f32[*s], k: f32[]) -> f32[*s]", "MAP", "'x' is IN", "INOUT");
}

static void test_ranks(void **state)
{
    (void)state;
    ASSERT_DISAGREES("two(a: f32[], inout b: f32[m, k], c: u8[]) -> (f32[4], i64[])", "'a'",
                     "rank 1", "0 dims");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m], c: u8[]) -> (f32[n], i64[])", "'b'", "rank 2",
                     "1 dims");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: u8[]) -> (f32[n], i64[n])", "'count'",
                     "rank 0", "result 1", "1 dims");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: u8[]) -> (f32[n, 1], i64[])", "'y'",
                     "rank 1", "result 0", "2 dims");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[*s], c: u8[]) -> (f32[n], i64[])", "'b'", "ANY",
                     "MAP");
    ASSERT_DISAGREES("two(a: f32[n], inout b: f32[m, k], c: u8[*s]) -> (y: f32[*s], i64[])", "'y'",
                     "result 'y'", "ANY", "MAP");
    /* One dim and a run may be one dim, and still no kernel of rank 1 serves it. */
    ASSERT_DISAGREES("two(a: f32[n, *s], inout b: f32[m, k], c: u8[]) -> (f32[n], i64[])", "'a'",
                     "ANY", "MAP");
}

static void test_orders(void **state)
{
    (void)state;
    ASSERT_DISAGREES("keep(mask: f32[n], x: bool[n]) -> f32[n]", "operand 'mask' is number 1",
                     "number 0");
    ASSERT_DISAGREES("scale(k: f32[*s], x: f32[]) -> f32[*s]", "MAP", "'k'", "number 1",
                     "number 0");
    ASSERT_DISAGREES("pair(x: f32[n]) -> (q: f32[], p: f32[])", "result 'q' is number 1",
                     "number 0");
    fer_op_release(declare_source("pair(x: f32[n]) -> (a: f32[], q: f32[])", SOURCE));
}

static void test_maps(void **state)
{
    (void)state;
    ASSERT_DISAGREES("scale(x: f32[n, m], k: f32[n]) -> f32[n, m]", "MAP", "elementwise", "'k'");
    ASSERT_DISAGREES("scale(x: f32[n], k: f32[]) -> f32[n + 1]", "MAP", "elementwise", "'x'");
    ASSERT_DISAGREES("scale(x: f32[*s], k: f32[*t]) -> f32[*s]", "MAP", "elementwise", "'k'");
    ASSERT_DISAGREES("scale(x: f32[n], k: f32[]) -> (f32[n], f32[n])", "MAP", "1 results", "2");
    ASSERT_DISAGREES("scale(x: f32[n], k: f32[]) -> () effect", "MAP", "1 results", "0");
    /* The same dims by another way of writing them are the same. */
    fer_op_release(declare_source("scale<g: int = 2>(x: f32[n, g * 2], k: f32[n, 4]) -> "
                                  "f32[n + 0, 2 * g]",
                                  SOURCE));
}

/* Each SHAPE stands beside a kernel that agrees. */
static void assert_shape_disagrees(const char *shape, const char *first, const char *second)
{
    char source[1024];
    snprintf(source, sizeof source,
             "#include <ferrule/kernel.h>\n"
             "KERNEL(keep, OUT(f32, 1, y), INOUT(f32, 1, x), IN(bool, 1, mask))\n"
             "{\n"
             "    (void)y, (void)x, (void)mask;\n"
             "    return OK;\n"
             "}\n"
             "SHAPE(keep, %s) { EXTENT(kept) = 1; return OK; }\n",
             shape);
    ASSERT_NOT_DECLARED(FER_TYPE_ERROR, "keep(inout x: f32[n], mask: bool[n]) -> f32[kept]", source,
                        "keep: the SHAPE line (inline.c:7) disagrees", first, second);
}

static void test_shapes(void **state)
{
    (void)state;
    fer_op_release(declare_source("keep(x: f32[n], mask: bool[n]) -> f32[kept]", SOURCE));
    assert_shape_disagrees("IN(f32, 1, x)", "1 operands", "2");
    assert_shape_disagrees("IN(f64, 1, x), IN(bool, 1, mask)", "'x' is f64", "f32");
    assert_shape_disagrees("IN(f32, 1, x), IN(bool, 2, mask)", "'mask' has rank 2", "1 dims");
    assert_shape_disagrees("IN(f32, 1, mask), IN(bool, 1, x)", "'x' is number 1", "number 0");
    assert_shape_disagrees("INOUT(f32, 1, x), IN(bool, 1, mask)", "'x' is INOUT", "is IN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_that_agrees),
        cmocka_unit_test(test_numbers_of_operands_and_results),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_a_dtype_variable_that_the_line_lacks),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
