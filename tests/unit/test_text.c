/* What messages are made of: places in texts, names that were probably meant, counts. */
#include "testing.h"

#include "base/lexer.h"
#include "base/text.h"

static void assert_near(const char *name, const char *const *candidates, const char *expected)
{
    size_t num_candidates = 0;
    while (candidates[num_candidates] != NULL)
        num_candidates++;
    const char *near = fer_near_name(name, candidates, num_candidates);
    assert_string_equal(near == NULL ? "nothing" : near, expected);
}
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void the_nearest_name(void **state)
{
    (void)state;
    assert_near("rellu", NAMES("exp", "relu", "real"), "relu");
    assert_near("ab", NAMES("abc", "ax"), "abc");
    assert_near("softmax", NAMES("sortmix", "softmin"), "sortmix"); /* the first of equals */
    assert_near("resize", NAMES("relu", "reshape"), "nothing");
    assert_near("relu", (const char *const[]){NULL}, "nothing");
}

static void changed_places_are_one_edit(void **state)
{
    (void)state;
    assert_near("hlaf", NAMES("exp", "half"), "half");
    assert_near("how", NAMES("hwo", "who"), "hwo");
    assert_near("imgae", NAMES("mage", "image"), "image");
    assert_near("abcd", NAMES("badc", "dcba"), "nothing"); /* two, and more */
    assert_near("abcdef", NAMES("badcef"), "badcef");
}

static void a_hint_ends_a_message(void **state)
{
    (void)state;
    fer_hint hint;
    assert_string_equal(fer_did_you_mean(NULL, &hint), "");
    assert_string_equal(fer_did_you_mean("relu", &hint), "; did you mean 'relu'?");
}

static void case_alone_makes_no_distance(void **state)
{
    (void)state;
    assert_near("F32", NAMES("i32", "f16", "f32"), "f32");
    assert_near("RELU", NAMES("exp", "relu"), "relu");
    assert_near("Rellu", NAMES("exp", "relu"), "relu");
    assert_near("relu", NAMES("rel", "ReLU"), "ReLU");
}

static void one_letter_is_near_to_its_other_case_only(void **state)
{
    (void)state;
    assert_near("x", NAMES("y", "xy", "z"), "nothing");
    assert_near("x", NAMES("y", "X"), "X");
}

/* The place of the token behind `num_tokens` others. */
static void assert_place(const char *text, const char *source_name, size_t num_tokens,
                         const char *expected)
{
    fer_lexer lexer;
    fer_error error = FER_ERROR_INIT;
    fer_lexer_start(&lexer, text, source_name, false);
    while (num_tokens-- > 0)
        fer_lexer_advance(&lexer);
    assert_int_equal(fer_lexer_fail(&lexer, &lexer.token, FER_VALUE_ERROR, &error, "%s", "no"),
                     FER_VALUE_ERROR);
    assert_string_equal(error.message, expected);
    fer_error_clear(&error);
}

static void places_name_the_line_where_there_are_several(void **state)
{
    (void)state;
    assert_place("a b", NULL, 0, "column 1: no");
    assert_place("a b", NULL, 1, "column 3: no");
    assert_place("a b", NULL, 2, "column 4: no");
    assert_place("a\nb c", NULL, 0, "line 1, column 1: no");
    assert_place("a\nb c", NULL, 2, "line 2, column 3: no");
    assert_place("a\n", NULL, 1, "line 2, column 1: no");
    assert_place("a\nb c", "p.fer", 2, "p.fer:2:3: no");
    assert_place("a b", "p.fer", 1, "p.fer:1:3: no");
}

static void assert_unexpected(const char *text, const char *expected)
{
    fer_lexer lexer;
    fer_error error = FER_ERROR_INIT;
    fer_lexer_start(&lexer, text, NULL, false);
    assert_int_equal(fer_lexer_unexpected(&lexer, "a dim", &error), FER_VALUE_ERROR);
    assert_string_equal(error.message, expected);
    fer_error_clear(&error);
}

/* A terminal must not obey what a message quotes. */
static void what_was_found_holds_no_control_characters(void **state)
{
    (void)state;
    assert_unexpected("->", "column 1: expected a dim, found '->'");
    assert_unexpected("é", "column 1: expected a dim, found 'é'");
    assert_unexpected(" \033[31m", "column 2: expected a dim, found the control character 0x1b");
    assert_unexpected("\x7f", "column 1: expected a dim, found the control character 0x7f");
    assert_unexpected("\"a\033[31m\tb\"", "column 1: expected a dim, found '\"a?[31m?b\"'");
}

static void a_place_keeps_what_the_error_holds(void **state)
{
    (void)state;
    fer_lexer lexer;
    fer_error error = FER_ERROR_INIT;
    fer_lexer_start(&lexer, "  x", NULL, false);
    assert_int_equal(fer_lexer_locate(&lexer, &lexer.token, FER_OK, &error), FER_OK);
    assert_null(error.message);
    fer_place place = {.op = "f", .operand = "x", .expected = "1", .actual = "2"};
    fer_status status = fer_fail_at(&error, FER_TYPE_ERROR, &place, "f: wrong");
    assert_int_equal(fer_lexer_locate(&lexer, &lexer.token, status, &error), FER_TYPE_ERROR);
    assert_string_equal(error.message, "column 3: f: wrong");
    assert_string_equal(error.op, "f");
    assert_string_equal(error.operand, "x");
    assert_string_equal(error.expected, "1");
    assert_string_equal(error.actual, "2");
    fer_error_clear(&error);
    assert_int_equal(fer_lexer_locate(&lexer, &lexer.token, FER_TYPE_ERROR, NULL), FER_TYPE_ERROR);
}

static void counts_have_one_wording(void **state)
{
    (void)state;
    static const struct {
        fer_count count;
        const char *message;
    } CASES[] = {
        {{.op = "f", .what = "operand", .expected = 1, .actual = 2},
         "f: expected 1 operand, got 2"},
        {{.op = "f", .what = "operand", .expected = 2, .actual = 1, .rest = "; missing 'b'"},
         "f: expected 2 operands, got 1; missing 'b'"},
        {{.op = "f", .what = "result", .is_room = true, .expected = 0, .actual = 1},
         "f: expected room for 0 results, got 1"},
        {{.what = "input", .expected = 1, .actual = 0}, "expected 1 input, got 0"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        assert_int_equal(fer_fail_count(&error, &CASES[i].count), FER_TYPE_ERROR);
        assert_string_equal(error.message, CASES[i].message);
        assert_int_equal(atoi(error.expected), (int)CASES[i].count.expected);
        assert_int_equal(atoi(error.actual), (int)CASES[i].count.actual);
        assert_int_equal(error.op == NULL, CASES[i].count.op == NULL);
        fer_error_clear(&error);
        assert_int_equal(fer_fail_count(NULL, &CASES[i].count), FER_TYPE_ERROR);
    }
}

static void assert_excerpt(const char *line, size_t column, const char *expected)
{
    fer_text text = FER_TEXT_INIT;
    fer_text_append_excerpt(&text, line, column);
    assert_string_equal(fer_text_string(&text), expected);
    fer_text_free(&text);
}

static void an_excerpt_marks_the_column(void **state)
{
    (void)state;
    assert_excerpt("f(x)", 3, "f(x)\n  ^");
    assert_excerpt("f(x)\nnext", 5, "f(x)\n    ^");
    assert_excerpt("f(x)\r\n", 40, "f(x)\n    ^");
    assert_excerpt("", 1, "\n^");
    assert_excerpt("\tf(\xc3\xa9, x)", 8, "\tf(\xc3\xa9, x)\n\t     ^");
    assert_excerpt("a\x1b[31m\x7f", 7, "a?[31m?\n      ^");
    /* 76 columns are shown, from at most 48 before the place. */
    char line[256];
    char expected[256];
    for (int i = 0; i < 200; i++)
        line[i] = (char)('a' + i % 26);
    line[200] = '\0';
    snprintf(expected, sizeof expected, "%.76s...\n^", line);
    assert_excerpt(line, 1, expected);
    snprintf(expected, sizeof expected, "...%.76s...\n%51s^", line + 52, "");
    assert_excerpt(line, 101, expected);
    snprintf(expected, sizeof expected, "...%s\n%51s^", line + 152, "");
    assert_excerpt(line, 201, expected);
    /* A character of several bytes is not cut. */
    for (int i = 0; i < 200; i += 2)
        memcpy(line + i, "\xc3\xa9", 2);
    snprintf(expected, sizeof expected, "...%.76s...\n%28s^", line + 52, "");
    assert_excerpt(line, 102, expected);
}

static void an_error_keeps_the_nearest_excerpt(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_lexer lexer;
    assert_null(fer_error_excerpt(NULL));
    assert_null(fer_error_excerpt(&error));
    fer_lexer_start(&lexer, "x y", NULL, false);
    fer_lexer_advance(&lexer);
    assert_int_equal(fer_lexer_fail(&lexer, &lexer.token, FER_VALUE_ERROR, &error, "no %s", "y"),
                     FER_VALUE_ERROR);
    assert_string_equal(error.message, "column 3: no y");
    assert_string_equal(fer_error_excerpt(&error), "x y\n  ^");
    fer_lexer_start(&lexer, "use x", "a.fer", false);
    assert_int_equal(fer_lexer_locate(&lexer, &lexer.token, FER_VALUE_ERROR, &error),
                     FER_VALUE_ERROR);
    assert_string_equal(error.message, "a.fer:1:1: column 3: no y");
    assert_string_equal(fer_error_excerpt(&error), "x y\n  ^");
    fer_error moved = FER_ERROR_INIT;
    assert_int_equal(fer_error_move(&moved, &error), FER_VALUE_ERROR);
    assert_null(fer_error_excerpt(&error));
    assert_string_equal(fer_error_excerpt(&moved), "x y\n  ^");
    /* The next failure has its own place, or none. */
    assert_int_equal(fer_fail(&moved, FER_TYPE_ERROR, "another"), FER_TYPE_ERROR);
    assert_null(fer_error_excerpt(&moved));
    fer_error_set_excerpt(&moved, NULL);
    assert_null(fer_error_excerpt(&moved));
    fer_error_clear(&moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_name),
        cmocka_unit_test(changed_places_are_one_edit),
        cmocka_unit_test(a_hint_ends_a_message),
        cmocka_unit_test(case_alone_makes_no_distance),
        cmocka_unit_test(one_letter_is_near_to_its_other_case_only),
        cmocka_unit_test(places_name_the_line_where_there_are_several),
        cmocka_unit_test(what_was_found_holds_no_control_characters),
        cmocka_unit_test(a_place_keeps_what_the_error_holds),
        cmocka_unit_test(counts_have_one_wording),
        cmocka_unit_test(an_excerpt_marks_the_column),
        cmocka_unit_test(an_error_keeps_the_nearest_excerpt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
