/* Programs: what to write instead, where a text is as other languages have it. A fault of syntax
 * keeps its message and its place; the advice ends it. */
#include "graph/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Words ------------------------------------------------------------------------------------ */

/* A word that stands where a step begins, or is called as an op is, and is none. */
static const struct {
    const char *word;
    const char *advice;
} WORDS[] = {
    {"if", "the predicate of `if` is a value's name, without parentheses: if p { ... }"},
    {"else", "`else` is followed by a block, and there is no `else if`: else { if p { ... } }"},
    {"elif", "there is no `elif`; nest an `if` in the else block: else { if p { ... } }"},
    {"elseif", "there is no `elseif`; nest an `if` in the else block: else { if p { ... } }"},
    {"while", "`while` is followed by what it carries, and its first block yields the predicate: "
              "y = while y = x { ... yield p } do { ... yield z }"},
    {"do",
     "`do` is behind the first block of a `while`: while y = x { ... yield p } do { ... yield "
     "z }"},
    {"for", "there is no `for`; a `while` counts with a value that it carries: "
            "i = while i = start { ... yield p } do { ... yield next }"},
    {"break", "there is no `break`; a loop ends when its first block yields false"},
    {"continue", "there is no `continue`; what is not always to be done stands in an `if`"},
    {"constant", "a constant is a type and then its elements, or their file: constant f32[] [10], "
                 "constant f32[2] [1, 2], constant f32[2] from \"two.npy\""},
    {"rebind", "rebind is followed by a value and its dims: rebind x [n, 4]"},
    {"reshape", "reshape is followed by a value and its dims: reshape x [n, -1]"},
    {"transfer", "transfer is followed by a value and a device: transfer x @ 1"},
    {"call", "call is followed by a graph and its arguments: call thumbnail(x)"},
    {"not", "there are no operators: not a is bitwise_not(a)"},
};

static bool is_word(const fer_token *token, const char *word)
{
    return strlen(word) == token->length && memcmp(word, token->start, token->length) == 0;
}

static const char *advice_of(const fer_token *token)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (is_word(token, WORDS[i].word))
            return WORDS[i].advice;
    return NULL;
}

const char *fer_program_advice(const char *word)
{
    return advice_of(&(fer_token){.start = word, .length = strlen(word)});
}

const char *fer_program_standard_name(const char *name)
{
    static const char *const NAMES[][2] = {
        {"and", "bitwise_and"},    {"logical_and", "bitwise_and"},
        {"or", "bitwise_or"},      {"logical_or", "bitwise_or"},
        {"xor", "bitwise_xor"},    {"logical_xor", "bitwise_xor"},
        {"not", "bitwise_not"},    {"logical_not", "bitwise_not"},
        {"invert", "bitwise_not"}, {"equal", "eq"},
        {"not_equal", "ne"},       {"less", "lt"},
        {"less_equal", "le"},      {"greater", "gt"},
        {"greater_equal", "ge"},   {"subtract", "sub"},
        {"multiply", "mul"},       {"divide", "div"},
        {"mod", "floor_mod"},      {"remainder", "floor_mod"},
        {"power", "pow"},          {"minimum", "min"},
        {"maximum", "max"},        {"concatenate", "concat"},
        {"dot", "matmul"},         {"select", "where"},
        {"astype", "cast"},        {"broadcast_to", "broadcast"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i][0], name) == 0)
            return NAMES[i][1];
    return NULL;
}

/* --- The token that comes next ---------------------------------------------------------------- */

/* What stands for an operator; or NULL. */
static const char *operator_form(const fer_token *token)
{
    static const char *const FORMS[][2] = {
        {"+", "a + b is add(a, b)"},          {"-", "a - b is sub(a, b), -a is sub(zero, a)"},
        {"*", "a * b is mul(a, b)"},          {"/", "a / b is div(a, b)"},
        {"//", "a // b is floor_div(a, b)"},  {"%", "a % b is floor_mod(a, b)"},
        {"**", "a ** b is pow(a, b)"},        {"@", "a @ b is matmul(a, b)"},
        {"==", "a == b is eq(a, b)"},         {"!=", "a != b is ne(a, b)"},
        {"<", "a < b is lt(a, b)"},           {"<=", "a <= b is le(a, b)"},
        {">", "a > b is gt(a, b)"},           {">=", "a >= b is ge(a, b)"},
        {"&", "a & b is bitwise_and(a, b)"},  {"|", "a | b is bitwise_or(a, b)"},
        {"^", "a ^ b is bitwise_xor(a, b)"},  {"~", "~a is bitwise_not(a)"},
        {"!", "!a is bitwise_not(a)"},        {"and", "a and b is bitwise_and(a, b)"},
        {"or", "a or b is bitwise_or(a, b)"},
    };
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
        if (is_word(token, FORMS[i][0]))
            return FORMS[i][1];
    return NULL;
}

bool fer_program_at_number(const fer_program_reader *reader)
{
    fer_token token = reader->lexer.token;
    bool is_signed = fer_token_is(&token, "-");
    if (is_signed)
        token = fer_program_peek(reader);
    return token.kind == FER_TOKEN_INTEGER || token.kind == FER_TOKEN_FLOAT ||
           fer_token_is(&token, "inf") || fer_token_is(&token, "nan") ||
           (!is_signed && (fer_token_is(&token, "true") || fer_token_is(&token, "false")));
}

/* `constant i64[] [-3]`, of the number that comes next. */
static void write_constant(const fer_program_reader *reader, char *out, size_t size)
{
    fer_token token = reader->lexer.token;
    const char *sign = "";
    if (fer_token_is(&token, "-")) {
        sign = "-";
        token = fer_program_peek(reader);
    }
    bool is_bool = fer_token_is(&token, "true") || fer_token_is(&token, "false");
    const char *dtype = token.kind == FER_TOKEN_INTEGER ? "i64" : is_bool ? "bool" : "f32";
    snprintf(out, size, "constant %s[] [%s%.*s]", dtype, sign,
             token.length > 40 ? 40 : (int)token.length, token.start);
}

fer_status fer_program_advise(fer_status status, fer_error *error, const char *advice)
{
    if (status != FER_VALUE_ERROR || error == NULL || error->message == NULL)
        return status;
    fer_place place = fer_place_of(error);
    return fer_fail_at(error, status, &place, "%s; %s", error->message, advice);
}

/* What goes on where something has ended. */
static fer_status advise_end(const fer_program_reader *reader, fer_status status, fer_error *error)
{
    char advice[96];
    const fer_token *token = &reader->lexer.token;
    const char *form = operator_form(token);
    if (*token->start == ';')
        return fer_program_advise(status, error, "a step ends without it");
    if (form == NULL)
        return status;
    snprintf(advice, sizeof advice, "there are no operators: %s", form);
    return fer_program_advise(status, error, advice);
}

fer_status fer_program_expect(fer_program_reader *reader, const char *text, const char *where,
                              fer_error *error)
{
    fer_status status = fer_lexer_expect(&reader->lexer, text, where, error);
    return status == FER_OK ? FER_OK : advise_end(reader, status, error);
}

fer_status fer_program_unexpected(const fer_program_reader *reader, const char *what,
                                  fer_error *error)
{
    const fer_lexer *lexer = &reader->lexer;
    fer_status status = fer_lexer_unexpected(lexer, what, error);
    if (fer_lexer_at(lexer, "["))
        return fer_program_advise(status, error,
                                  "there are no lists and no indices: elements are a constant, as "
                                  "in c = constant f32[2] [1, 2], and slice is an op");
    if (fer_lexer_at(lexer, "("))
        return fer_program_advise(status, error, "only operands stand in parentheses");
    if (!fer_program_at_number(reader))
        return advise_end(reader, status, error);
    char constant[80], advice[128];
    write_constant(reader, constant, sizeof constant);
    snprintf(advice, sizeof advice, "it becomes a value in a step of its own: c = %s", constant);
    return fer_program_advise(status, error, advice);
}

fer_status fer_program_require_name(const fer_program_reader *reader, fer_error *error)
{
    fer_token_kind kind = reader->lexer.token.kind;
    if ((kind == FER_TOKEN_NAME || kind == FER_TOKEN_STRING) && !fer_program_at_number(reader))
        return FER_OK;
    return fer_program_unexpected(reader, "a value's name", error);
}

/* --- Steps ------------------------------------------------------------------------------------ */

fer_status fer_program_fail_names(fer_program_reader *reader, const fer_graph *graph,
                                  const fer_token *first, fer_error *error)
{
    const fer_lexer *lexer = &reader->lexer;
    const char *advice = first->kind == FER_TOKEN_NAME ? advice_of(first) : NULL;
    if (advice != NULL)
        return fer_lexer_fail(lexer, first, FER_VALUE_ERROR, error, "graph '%s': %s", graph->name,
                              advice);
    int length = (int)first->length;
    if (fer_lexer_at(lexer, "}"))
        return fer_lexer_fail(lexer, first, FER_VALUE_ERROR, error,
                              "graph '%s': '%.*s' alone is no step; %s ends with `%s %.*s`",
                              graph->name, length, first->start, fer_block_role(graph->current),
                              graph->current->owner == NULL ? "return" : "yield", length,
                              first->start);
    fer_token second = fer_program_peek(reader);
    bool has_word = lexer->token.kind == FER_TOKEN_NAME && fer_token_is(&second, "=");
    bool has_type = fer_lexer_at(lexer, ":") && !fer_token_is(&second, "=");
    fer_status status = fer_program_expect(reader, "=", "after the names of values", error);
    if (has_word)
        return fer_program_advise(status, error, "a step begins with the names that it gives");
    if (has_type)
        return fer_program_advise(status, error, "a value has the type that its op gives");
    return status;
}

bool fer_program_at_call(const fer_program_reader *reader, const fer_graph *graph)
{
    const fer_token *token = &reader->lexer.token;
    fer_token second = fer_program_peek(reader);
    char name[64];
    if (token->kind != FER_TOKEN_NAME || !fer_token_is(&second, "<"))
        return token->kind == FER_TOKEN_NAME && fer_token_is(&second, "(");
    if (token->length >= sizeof name)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)token->length, token->start);
    return fer_graph_find_value(graph, name) == NULL ||
           fer_names_find(&reader->module->op_names, name) != NULL;
}

fer_status fer_program_fail_right(fer_program_reader *reader, const fer_graph *graph,
                                  fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    fer_token first = lexer->token;
    if (first.kind != FER_TOKEN_NAME || fer_program_at_number(reader))
        return fer_program_unexpected(reader, "an op's name", error);
    char *name = NULL;
    FER_TRY(fer_lexer_expect_name(lexer, "an op's name", &name, error));
    const char *advice = fer_program_advice(name);
    const char *form = operator_form(&lexer->token);
    bool is_value = fer_graph_find_value(graph, name) != NULL;
    fer_text text = FER_TEXT_INIT;
    if (advice != NULL && !is_value)
        fer_text_append(&text, advice);
    else if (form != NULL)
        fer_text_printf(&text, "'%s' is no call, and there are no operators: %s", name, form);
    else if (fer_lexer_at(lexer, "[") || fer_lexer_at(lexer, "."))
        fer_text_printf(&text,
                        "'%s' is no call, and there are no indices or members; slice and gather "
                        "are ops",
                        name);
    else if (is_value)
        fer_text_printf(&text, "'%s' is a value already; use it by this name", name);
    else
        fer_text_printf(&text, "'%s' is no call; a step calls an op, as in %s(x)", name, name);
    fer_status status = fer_lexer_fail(lexer, &first, FER_VALUE_ERROR, error, "graph '%s': %s",
                                       graph->name, fer_text_string(&text));
    fer_text_free(&text);
    free(name);
    return status;
}
