/* The declaration against the kernel's own line: every way in which the two can disagree, as it
 * was compiled, and as its text shows before anything is compiled. */
#include "testing_package.h"

#include "op/op.h"

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
    ASSERT_DISAGREES("scale(x: f32[n], k: f32[]) -> (f32[n], f32[n])", "MAP", "1 result and", "2");
    ASSERT_DISAGREES("scale(x: f32[n], k: f32[]) -> () effect", "MAP", "1 result and", "0");
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
    assert_shape_disagrees("IN(f32, 1, x)", "1 operand,", "2");
    assert_shape_disagrees("IN(f64, 1, x), IN(bool, 1, mask)", "'x' is f64", "f32");
    assert_shape_disagrees("IN(f32, 1, x), IN(bool, 2, mask)", "'mask' has rank 2", "1 dims");
    assert_shape_disagrees("IN(f32, 1, mask), IN(bool, 1, x)", "'x' is number 1", "number 0");
    assert_shape_disagrees("INOUT(f32, 1, x), IN(bool, 1, mask)", "'x' is INOUT", "is IN");
}

/* --- By the text alone ------------------------------------------------------------------------ */

/* Refused, and nothing was compiled for it. */
#define ASSERT_TEXT_DISAGREES(signature, source, ...)                                              \
    do {                                                                                           \
        uint64_t compiles = fer_read_counters().compiles;                                          \
        ASSERT_NOT_DECLARED(FER_TYPE_ERROR, signature, source, __VA_ARGS__);                       \
        assert_int_equal(fer_read_counters().compiles, compiles);                                  \
    } while (0)

/* A declaration that waits for a parameter has the same line as one that does not. */
static void test_an_incomplete_op_is_held_against_the_text(void **state)
{
    (void)state;
    static const char source[] = "#include <ferrule/kernel.h>\n"
                                 "DTYPE_VAR(T, f32);\n"
                                 "PARAM(int, k, 1);\n"
                                 "KERNEL(f, OUT(f32, 1, y), INOUT(T, 2, b), IN(u8, ANY, c))\n"
                                 "{ (void)y, (void)b, (void)c; return OK; }\n"
                                 "MAP(m, T, IN(T, x), IN(T, scale)) { return x * scale; }\n";
    fer_op_release(
        declare_source("f<T, k: int>(inout b: T[m, n], c: u8[*s]) -> f32[n // k]", source));
    fer_op_release(declare_source("m<T, k: int>(x: T[n, l], scale: T[]) -> T[n, l * k]", source));
    /* With k = 1 the dims are the same. */
    fer_op_release(declare_source("m<T, k: int>(x: T[n], scale: T[]) -> T[n // k]", source));
#define AT_F "f: the KERNEL line (inline.c:4) disagrees"
    ASSERT_TEXT_DISAGREES("f<T, k: int>(inout b: T[m, n]) -> f32[n]", source, AT_F,
                          "it has 1 result and 2 operands", "1 and 1");
    ASSERT_TEXT_DISAGREES("f<T, k: int>(inout b: T[m, n], c: i8[*s]) -> f32[n]", source, AT_F,
                          "'c' is u8", "declared i8");
    ASSERT_TEXT_DISAGREES("f<T, k: int>(b: T[m, n], c: u8[*s]) -> f32[n]", source, AT_F,
                          "'b' is INOUT", "is IN");
    ASSERT_TEXT_DISAGREES("f<T, k: int>(inout b: T[m], c: u8[*s]) -> f32[n]", source, AT_F,
                          "'b' has rank 2", "1 dims");
    ASSERT_TEXT_DISAGREES("f<T, k: int>(inout b: T[*s], c: u8[*s]) -> f32[k]", source, AT_F,
                          "'b' has rank 2", "write ANY");
    ASSERT_TEXT_DISAGREES("f<T, k: int>(inout c: T[m, n], b: u8[*s]) -> f32[k]", source, AT_F,
                          "'c' is number 1", "number 0");
    ASSERT_TEXT_DISAGREES("m<T, k: int>(x: T[n, l], scale: T[n]) -> T[n, l * k]", source,
                          "m: the MAP line (inline.c:6) disagrees", "elementwise", "'scale'");
    ASSERT_TEXT_DISAGREES("f<T, k: float>(inout b: T[m, n], c: u8[*s]) -> f32[n]", source,
                          "parameter 'k' is declared float", "PARAM(int, k, ...)");
    ASSERT_TEXT_DISAGREES("f<U, k: int>(inout b: U[m, n], c: u8[*s]) -> f32[n]", source,
                          "'U' is declared a dtype variable");
#undef AT_F
    uint64_t compiles = fer_read_counters().compiles;
    ASSERT_NOT_DECLARED(FER_VALUE_ERROR, "f<T, k: int>(inout b: T[m, m], c: u8[]) -> f32[n]",
                        source, "SHAPE(f, IN(...)...)", "EXTENT(n)");
    assert_int_equal(fer_read_counters().compiles, compiles);
}

/* A line for one dtype under a declaration for several shows before a call with another. */
static void test_dtype_variables_in_the_text(void **state)
{
    (void)state;
    static const char source[] = "#include <ferrule/kernel.h>\n"
                                 "DTYPE_VAR(T, f32);\n"
                                 "DTYPE_VAR(to, f32);\n"
                                 "MAP(one, f32, IN(f32, x)) { return x; }\n"
                                 "MAP(c, double, IN(float, x)) { return x; }\n"
                                 "MAP(same, T, IN(T, x)) { return x; }\n"
                                 "MAP(convert, to, IN(T, x)) { return (to)x; }\n"
                                 "MAP(two, to, IN(to, x), IN(T, z)) { return x + (to)z; }\n";
    ASSERT_TEXT_DISAGREES("one<T>(x: T[*s]) -> T[*s]", source,
                          "one: the MAP line (inline.c:4) disagrees",
                          "'result' is f32, but result 0 is declared T");
    ASSERT_TEXT_DISAGREES("same<T>(x: f32[*s], y: T[]) -> T[*s]", source, "1 operand,", "2");
    ASSERT_TEXT_DISAGREES("same<T>(x: T[*s]) -> f32[*s]", source, "'result' is T", "declared f32");
    ASSERT_TEXT_DISAGREES("convert<T, to>(x: to[*s], z: T[]) -> T[*s]", source, "1 operand,", "2");
    ASSERT_TEXT_DISAGREES("two<T, to>(x: to[*s], z: T[*s]) -> T[*s]", source, "'result' is to",
                          "declared T");
    ASSERT_TEXT_DISAGREES("convert<T, to: dtype = f64>(x: T[*s]) -> f32[*s]", source,
                          "'result' is f64", "declared f32");
    ASSERT_TEXT_DISAGREES("c(x: f64[*s]) -> f64[*s]", source, "'x' is f32", "declared f64");
    ASSERT_NOT_DECLARED(FER_TYPE_ERROR, "same(x: f64[*s]) -> f64[*s]", source,
                        "'result' is f32, the default of T, which the declaration lacks",
                        "result 0 is declared f64");
    ASSERT_NOT_DECLARED(FER_TYPE_ERROR, "convert<T>(x: T[*s]) -> f64[*s]", source,
                        "the default of to, which");
    fer_op_release(declare_source("same(x: f32[*s]) -> f32[*s]", source));
    fer_op_release(declare_source("convert<T, to: dtype = f64>(x: T[*s]) -> to[*s]", source));
    fer_op_release(declare_source("convert<T, to: dtype>(x: T[*s]) -> to[*s]", source));
    fer_op_release(declare_source("c<k: int>(x: f32[*s]) -> f64[*s]", source));
    /* What `to` will be is not known yet, so neither is whether the line serves it. */
    fer_op *open = declare_source("one<to: dtype>(x: f32[*s]) -> to[*s]", source);
    fer_param to = {.name = "to", .kind = FER_PARAM_DTYPE, .has_value = true};
    to.value.as_dtype = FER_F32;
    fer_op *made = NULL;
    ASSERT_OK(&error, fer_op_specialise(open, &to, 1, &made, &error));
    fer_op_release(made);
    to.value.as_dtype = FER_F64;
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_op_specialise(open, &to, 1, &made, &error),
                 "'result' is f32", "declared f64");
    fer_op_release(open);
}

/* The line of `f` in a package as it would be judged: `KERNEL@a.c:2 OUT f32 1 y, IN ? ANY x`, a
 * dtype only the compiler knows as `?`; or `unknown`, or `absent`. */
static void assert_line(const char *package_name, const char *expected)
{
    fer_package *package = NULL;
    fer_kernel_line line;
    char text[512] = "unknown";
    ASSERT_OK(&error, fer_package_open(at(package_name), &package, &error));
    fer_line_state is = fer_line_of_text(package, "f", false, &line);
    if (is == FER_LINE_ABSENT)
        snprintf(text, sizeof text, "absent");
    size_t length = 0;
    if (is == FER_LINE_READ)
        length =
            (size_t)snprintf(text, sizeof text, "%s@%s:%d",
                             line.kind == FER_ABI_MAP ? "MAP" : "KERNEL", line.file, line.line);
    for (size_t i = 0; is == FER_LINE_READ && i < line.num_tensors; i++) {
        const fer_line_tensor *tensor = &line.tensors[i];
        static const char *const ROLES[] = {"OUT", "IN", "INOUT"};
        const char *dtype =
            tensor->dtype_var != NULL ? tensor->dtype_var : fer_dtype_name(tensor->dtype);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %s %s %d %s",
                                   i == 0 ? "" : ",", ROLES[tensor->role],
                                   dtype == NULL ? "?" : dtype, tensor->rank, tensor->name);
    }
    assert_string_equal(text, expected);
    fer_package_release(package);
}

#define INCLUDE "#include <ferrule/kernel.h>\n"
#define BODY "\n{ (void)y, (void)x; return OK; }\n"
#define LINE "KERNEL(f, OUT(f32, 1, y), IN(T, ANY, x))"

static void test_what_the_text_shows(void **state)
{
    (void)state;
    write_file("plain/a.c", INCLUDE "DTYPE_VAR(T, f32);\n" LINE BODY);
    assert_line("plain", "KERNEL@a.c:3 OUT f32 1 y, IN T -1 x");
    write_file("spaced/a.c", INCLUDE "KERNEL /* a */ ( f , // b\n OUT \\\n ( i64,/* 1 */0\n, y ) ,"
                                     "INOUT(uint8_t, 8, x)\r\n)" BODY);
    assert_line("spaced", "KERNEL@a.c:2 OUT i64 0 y, INOUT u8 8 x");
    write_file("map/a.c", INCLUDE "MAP(f, bool, IN(f16, x), IN(real, y)) { return x > 0; }\n");
    assert_line("map", "MAP@a.c:2 OUT bool -1 result, IN f16 -1 x, IN ? -1 y");
    write_file("chosen/a.c", INCLUDE "#if 0\n" LINE BODY "#elif 1\n"
                                     "KERNEL(f, OUT(f32, 2, y), IN(f64, 0, x))" BODY "#else\n"
                                     "KERNEL(f, OUT(f32, 3, y), IN(f64, 0, x))" BODY "#endif\n");
    assert_line("chosen", "KERNEL@a.c:6 OUT f32 2 y, IN f64 0 x");
}

/* Whatever may mean something else is left to the compiler. */
static void test_what_the_text_does_not_show(void **state)
{
    (void)state;
    static const char *const SOURCES[] = {
        /* macros in the place of words: dtypes, ranks, names, roles, the whole */
        "#define T f64\n" LINE BODY,
        "#define f32 f64\n" LINE BODY,
        "#define y z\n" LINE BODY,
        "#define RANK_OF_X 2\nKERNEL(f, OUT(f32, 1, y), IN(f32, RANK_OF_X, x))" BODY,
        "#define X IN(f32, 1, x)\nKERNEL(f, OUT(f32, 1, y), X)" BODY,
        "#define TAKES OUT(f32, 1, y), IN(f32, 1, x)\nKERNEL(f, TAKES)" BODY,
        "#define IT(T) KERNEL(f, OUT(T, 1, y), IN(T, 1, x))\nIT(f32)" BODY,
        "#undef ANY\n#define ANY 2\n" LINE BODY,
        "#undef IN\n#define IN(a, b, c) INOUT(f64, b, c)\n" LINE BODY,
        /* types of several words, arguments that are conditional or missing */
        "KERNEL(f, OUT(unsigned char, 1, y), IN(f32, 1, x))" BODY,
        "KERNEL(f, OUT(f32, 1, y),\n#if 1\n IN(f32, 1, x)\n#endif\n)" BODY,
        "KERNEL(f, OUT(f32, y), IN(f32, x))" BODY,
        "KERNEL(f, OUT(f32, 9, y), IN(f32, 1, x))" BODY,
        "KERNEL(f, OUT(f32, 1, y) IN(f32, 1, x))" BODY,
        "KERNEL(f, OUT(f32, 1, y), IN(f32, 1, x), )" BODY,
        "KERNEL(f, )" BODY,
        "KERNEL(f, OUT(f32, 1",
    };
    for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++) {
        char name[32], file[40], text[512];
        snprintf(name, sizeof name, "p%zu", i);
        snprintf(file, sizeof file, "%s/a.c", name);
        snprintf(text, sizeof text, INCLUDE "%s", SOURCES[i]);
        write_file(file, text);
        assert_line(name, "unknown");
    }
    /* A definition, and a variable that need not be one, in a header; an include by a macro. */
    write_file("beside/a.h", "#define T f64\n");
    write_file("beside/a.c", INCLUDE "#include \"a.h\"\n" LINE BODY);
    assert_line("beside", "unknown");
    write_file("perhaps/a.c", INCLUDE "#ifdef ONE\ntypedef float T;\n#else\nDTYPE_VAR(T, f32);\n"
                                      "#endif\n" LINE BODY);
    assert_line("perhaps", "KERNEL@a.c:7 OUT f32 1 y, IN ? -1 x");
    write_file("hidden/b.h", "");
    write_file("hidden/a.c", INCLUDE "#define OTHER \"b.h\"\n#include OTHER\n" LINE BODY);
    assert_line("hidden", "unknown");
}

/* None is refused that compiles: dtype macros decide here, and the text does not see them. */
static void test_no_false_refusals(void **state)
{
    (void)state;
    static const char aliased[] = "#include <ferrule/kernel.h>\n"
                                  "DTYPE_VAR(T, f32);\n"
                                  "typedef T element;\n"
                                  "#define f32 T\n"
                                  "#define BOTH OUT(f32, 1, y), IN(element, 1, x)\n"
                                  "KERNEL(f, BOTH) { (void)y, (void)x; return OK; }\n"
                                  "KERNEL(g, OUT(f32, 1, y), IN(element, 1, x))\n"
                                  "{ (void)y, (void)x; return OK; }\n";
    fer_op_release(declare_source("f<T>(x: T[n]) -> T[n]", aliased));
    fer_op_release(declare_source("g<T>(x: T[n]) -> T[n]", aliased));
    fer_op_release(declare_source("g<T, k: int>(x: T[n]) -> T[n // k]", aliased));
}

/* Every kernel of the project that has a SIGNATURE agrees with it by its text, and is read. */
static void test_the_packages_here(void **state)
{
    (void)state;
    static const char *const PACKAGES[] = {"kernels", "examples/kernels", "examples/photo"};
    size_t num_read = 0;
    size_t num_kernels = 0;
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES; i++) {
        fer_package *package = NULL;
        char path[4096];
        snprintf(path, sizeof path, FERRULE_TEST_DATA "/../%s", PACKAGES[i]);
        ASSERT_OK(&error, fer_package_open(path, &package, &error));
        for (size_t j = 0; j < fer_package_num_kernels(package); j++) {
            fer_kernel_info kernel = fer_package_kernel(package, j);
            fer_signature *signature = NULL;
            fer_kernel_line line;
            ASSERT_OK(&error, fer_signature_parse(kernel.signature, &signature, &error));
            ASSERT_OK(&error, fer_conform_text(signature, package, &error));
            fer_signature_release(signature);
            num_kernels++;
            if (fer_line_of_text(package, kernel.name, false, &line) == FER_LINE_READ)
                num_read++;
            else
                print_message("%s: not read\n", kernel.name);
        }
        fer_package_release(package);
    }
    assert_true(num_kernels > 40);
    assert_int_equal(num_read, num_kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_that_agrees),
        cmocka_unit_test(test_numbers_of_operands_and_results),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_an_incomplete_op_is_held_against_the_text),
        cmocka_unit_test(test_dtype_variables_in_the_text),
        TEST(test_what_the_text_shows),
        TEST(test_what_the_text_does_not_show),
        cmocka_unit_test(test_no_false_refusals),
        cmocka_unit_test(test_the_packages_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
