/* Kernels with the faults of form that beginners make: the first line of the message says what to
 * write, whichever compiler's words it has. */
#include "testing_package.h"

#define INCLUDE "#include <ferrule/kernel.h>\n"
#define LINE "KERNEL(f, OUT(f32, 1, y), IN(f32, 1, x))"
#define COPY "{ AT(y, 0) = AT(x, 0); return OK; }\n"

#define ENDS "; a KERNEL and a SHAPE end with `return OK;`, a MAP returns its element"
#define ROLES                                                                                      \
    "; a KERNEL takes OUT(dtype, rank, name) and IN(dtype, rank, name), a MAP its result's dtype " \
    "and IN(dtype, name)"
#define HEADER "; write `#include <ferrule/kernel.h>` at the top of the file"
#define SEMICOLON "; SIGNATURE, PARAM and DTYPE_VAR end with `;`"

static fer_status declare(const char *signature, const char *source)
{
    fer_op *op = NULL;
    fer_status status =
        fer_declare(&(fer_declaration){.signature = signature, .source = source}, &op, &error);
    assert_null(op);
    return status;
}

static void assert_advised(const char *signature, const char *source, const char *advice)
{
    assert_int_equal(declare(signature, source), FER_COMPILE_ERROR);
    size_t length = strcspn(error.message, "\n");
    char *line = strndup(error.message, length);
    assert_true(length > strlen(advice));
    assert_string_equal(line + length - strlen(advice), advice);
    free(line);
    fer_error_clear(&error);
}

static void what_a_compiler_refuses(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {LINE COPY, HEADER},
        {"MAP(f, f32, IN(f32, x)) { return x; }\n", HEADER},
        {"#include \"kernel.h\"\n" LINE COPY, HEADER},
        {"#include <ferrule/ferrule.h>\n" LINE COPY, HEADER},
        {INCLUDE LINE "{ AT(y, 0) = AT(x, 0); }\n", ENDS},
        {INCLUDE LINE "{ if (DIM(x, 0) > 2) return OK; }\n", ENDS},
        {INCLUDE LINE "{ AT(y, 0) = AT(x, 0); return; }\n", ENDS},
        {INCLUDE "MAP(f, f32, IN(f32, x)) { x * 2; }\n", ENDS},
        {INCLUDE "KERNEL(f, OUT(f32, y), IN(f32, x))" COPY, ROLES},
        {INCLUDE "MAP(f, OUT(f32, y), IN(f32, x)) { return x; }\n", ROLES},
        {INCLUDE "KERNEL(f, OUT(f32, n, y), IN(f32, n, x))" COPY,
         "; a rank is a number up to 8, or ANY"},
        {INCLUDE LINE ";" COPY, "; no `;` stands between a KERNEL's line and its body"},
        {INCLUDE "SIGNATURE(f, \"(x: f32[n]) -> f32[n]\")\n" LINE COPY, SEMICOLON},
        {INCLUDE LINE "{ y[0] = x[0]; return OK; }\n",
         "; an element is AT(x, i, j), or DATA(x)[i] in row-major order"},
        {INCLUDE LINE "{ AT(x, 0) = 1; return OK; }\n",
         "; what a kernel writes is OUT or INOUT on its line"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_advised("f(x: f32[n]) -> f32[n]", CASES[i][0], CASES[i][1]);
}

static void parameters(void **state)
{
    (void)state;
    assert_advised("f<g: int = 2>(x: f32[n]) -> f32[n]",
                   INCLUDE LINE "{ AT(y, 0) = g; return OK; }\n",
                   "; 'g' is a parameter: write PARAM(int, g, ...); above");
    assert_advised("f<g: int = 2>(x: f32[n]) -> f32[n]",
                   INCLUDE "PARAM(g, int, 2);\n" LINE "{ AT(y, 0) = g; return OK; }\n",
                   "; a parameter's kind comes first: PARAM(int, g, ...);");
}

/* Other faults keep the compiler's words alone; so does a header that may be there. */
static void nothing_is_guessed(void **state)
{
    (void)state;
    assert_int_equal(declare("f(x: f32[n]) -> f32[n]", INCLUDE LINE "{ AT(z, 0) = 1; return OK; }"),
                     FER_COMPILE_ERROR);
    assert_null(memchr(error.message, ';', strcspn(error.message, "\n")));
    fer_error_clear(&error);
    write_file("p/own.h", "#include <ferrule/kernel.h>\n");
    write_file("p/f.c", "#include \"own.h\"\n" LINE "{ AT(z, 0) = 1; return OK; }\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, "f(x: f32[n]) -> f32[n]", "p", "f.c:2", "'z'");
    write_file("q/f.c", "#define HEADER <ferrule/kernel.h>\n#include HEADER\n" LINE
                        "{ AT(z, 0) = 1; return OK; }\n");
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, "f(x: f32[n]) -> f32[n]", "q", "f.c:3", "'z'");
}

static void assert_refused(fer_status kind, const char *signature, const char *source,
                           const char *message)
{
    assert_int_equal(declare(signature, source), kind);
    assert_string_equal(error.message, message);
    fer_error_clear(&error);
}

static void what_is_refused_before(void **state)
{
    (void)state;
    assert_refused(FER_TYPE_ERROR, "f(x: f32[n]) -> f32[n]",
                   INCLUDE "KERNEL(f, IN(f32, 1, x), OUT(f32, 1, y))" COPY,
                   "f: the KERNEL line (inline.c:2) disagrees: 'y' is OUT behind 'x', which is IN; "
                   "results come first: KERNEL(f, OUT(...), IN(...))");
    assert_refused(FER_TYPE_ERROR, "f(x: f32[n]) -> f32[k]",
                   INCLUDE LINE COPY "SHAPE(f, OUT(f32, 1, y), IN(f32, 1, x)) { EXTENT(k) = 1; "
                                     "return OK; }\n",
                   "f: the SHAPE line (inline.c:3) disagrees: 'y' is OUT, but a SHAPE reads the "
                   "operands alone: SHAPE(f, IN(...))");
    assert_refused(FER_VALUE_ERROR, "f(x: f32[n]) -> f32[n]",
                   INCLUDE "SIGNATURE(f, \"f(x: f32[n]) -> f32[n]\");\n" LINE COPY,
                   "f: its SIGNATURE is 'f(x: f32[n]) -> f32[n]' in inline.c, but the text goes on "
                   "behind the name, as in SIGNATURE(f, \"(x: f32[n]) -> f32[n]\");");
    write_file("none/f.c", INCLUDE "void f(float *y, const float *x) { *y = *x; }\n");
    ASSERT_PACKAGE_REFUSED(FER_VALUE_ERROR, "f(x: f32[n]) -> f32[n]", "none",
                           "(which has no kernels: no .c file in it has KERNEL(f, ...) or MAP(f, "
                           "...))");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_compiler_refuses),
        TEST(parameters),
        TEST(nothing_is_guessed),
        TEST(what_is_refused_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
