/* Dims from text: Python's arithmetic over the shared lexer, by recursive descent.
 *
 *     sum     := product {("+" | "-") product}
 *     product := unary {("*" | "//" | "%") unary}
 *     unary   := {"-"} primary
 *     primary := INTEGER | NAME | "(" sum ")"
 */
#include "types/expression.h"

#include <stdlib.h>

/* Twice FER_MAX_DIVISION_DEPTH and more, so that every canonical text can be read. */
#define MAX_PARENTHESES 256

typedef struct parser {
    fer_lexer *lexer;
    fer_name_resolver resolver;
    void *context;
    size_t num_open; /* parentheses */
    fer_error *error;
} parser;

typedef fer_status (*operation)(const fer_dim *a, const fer_dim *b, fer_dim **out_dim,
                                fer_error *error);

typedef struct binary {
    const char *sign;
    operation operation;
} binary;

static const binary SUM_OPERATORS[] = {{"+", fer_dim_add}, {"-", fer_dim_subtract}, {0}};
static const binary PRODUCT_OPERATORS[] = {
    {"*", fer_dim_multiply}, {"//", fer_dim_floor_divide}, {"%", fer_dim_modulo}, {0}};

static fer_status parse_sum(parser *parser, fer_dim **out_dim);

static const binary *at_operator(const parser *parser, const binary *operators)
{
    while (operators->sign != NULL && !fer_lexer_at(parser->lexer, operators->sign))
        operators++;
    return operators->sign == NULL ? NULL : operators;
}

/* Gives what arithmetic found a place in the text. */
static fer_status locate(parser *parser, const fer_token *token, fer_status status)
{
    return fer_lexer_locate(parser->lexer, token, status, parser->error);
}

/* Replaces `left` by `left operator right`, whatever happens to `right`. */
static fer_status apply(parser *parser, const binary *binary, const fer_token *token,
                        fer_dim **left, const fer_dim *right)
{
    fer_dim *result;
    fer_status status = binary->operation(*left, right, &result, parser->error);
    if (status != FER_OK)
        return locate(parser, token, status);
    fer_dim_release(*left);
    *left = result;
    return FER_OK;
}

/* The digits as a number that is `sign` times their value. */
static bool read_digits(const fer_token *token, int sign, int64_t *out_value)
{
    int64_t value = 0;
    for (size_t i = 0; i < token->length; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, sign * (token->start[i] - '0'), &value))
            return false;
    *out_value = value;
    return true;
}

static fer_status parse_integer(parser *parser, int sign, fer_dim **out_dim)
{
    const fer_token token = parser->lexer->token;
    int64_t value;
    if (!read_digits(&token, sign, &value))
        return fer_lexer_fail(parser->lexer, &token, FER_OVERFLOW_ERROR, parser->error,
                              "%s%.*s%s is outside int64", sign < 0 ? "-" : "",
                              token.length > 60 ? 60 : (int)token.length, token.start,
                              token.length > 60 ? "..." : "");
    fer_lexer_advance(parser->lexer);
    return fer_dim_constant(value, out_dim, parser->error);
}

static fer_status parse_name(parser *parser, fer_dim **out_dim)
{
    const fer_token token = parser->lexer->token;
    char *name;
    FER_TRY(fer_lexer_expect_name(parser->lexer, "a name", &name, parser->error));
    fer_namespace space =
        parser->resolver == NULL ? FER_NAMESPACE_CALLER : parser->resolver(parser->context, name);
    fer_status status = fer_dim_symbol(space, name, out_dim, parser->error);
    free(name);
    return locate(parser, &token, status);
}

static fer_status parse_parentheses(parser *parser, fer_dim **out_dim)
{
    if (parser->num_open == MAX_PARENTHESES)
        return fer_lexer_fail(parser->lexer, &parser->lexer->token, FER_VALUE_ERROR, parser->error,
                              "parentheses nest more than %d deep", MAX_PARENTHESES);
    parser->num_open++;
    fer_lexer_advance(parser->lexer);
    FER_TRY(parse_sum(parser, out_dim));
    fer_status status = fer_lexer_expect(parser->lexer, ")", "after the dim", parser->error);
    parser->num_open--;
    if (status != FER_OK) {
        fer_dim_release(*out_dim);
        *out_dim = NULL;
    }
    return status;
}

static fer_status parse_primary(parser *parser, fer_dim **out_dim)
{
    const fer_lexer *lexer = parser->lexer;
    if (lexer->token.kind == FER_TOKEN_INTEGER)
        return parse_integer(parser, 1, out_dim);
    if (lexer->token.kind == FER_TOKEN_NAME)
        return parse_name(parser, out_dim);
    if (fer_lexer_at(lexer, "("))
        return parse_parentheses(parser, out_dim);
    if (lexer->token.kind == FER_TOKEN_FLOAT)
        return fer_lexer_unexpected(lexer, "a dim, which is made of integers", parser->error);
    return fer_lexer_unexpected(lexer, "a dim", parser->error);
}

/* A minus and a literal are one constant, so that the smallest int64 can be written. */
static fer_status parse_unary(parser *parser, fer_dim **out_dim)
{
    const fer_token token = parser->lexer->token;
    size_t num_minus = 0;
    while (fer_lexer_accept(parser->lexer, "-"))
        num_minus++;
    bool is_literal = num_minus > 0 && parser->lexer->token.kind == FER_TOKEN_INTEGER;
    if (is_literal)
        FER_TRY(parse_integer(parser, -1, out_dim));
    else
        FER_TRY(parse_primary(parser, out_dim));
    if ((num_minus - is_literal) % 2 == 0)
        return FER_OK;
    fer_dim *dim = *out_dim;
    fer_status status = fer_dim_negate(dim, out_dim, parser->error);
    fer_dim_release(dim);
    return locate(parser, &token, status);
}

/* `n - 9223372036854775808`: here too a minus and a literal are one constant, when the literal
 * stands alone. */
static bool at_lone_smallest(const parser *parser)
{
    int64_t value;
    const fer_token *token = &parser->lexer->token;
    if (token->kind != FER_TOKEN_INTEGER || read_digits(token, 1, &value) ||
        !read_digits(token, -1, &value))
        return false;
    fer_lexer ahead = *parser->lexer;
    fer_lexer_advance(&ahead);
    return !fer_lexer_at(&ahead, "*") && !fer_lexer_at(&ahead, "//") && !fer_lexer_at(&ahead, "%");
}

/* What other languages write. */
static fer_status refuse_foreign(parser *parser)
{
    const fer_lexer *lexer = parser->lexer;
    if (fer_lexer_at(lexer, "/"))
        return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, parser->error,
                              "dims have no '/'; use '//', which rounds down");
    if (fer_lexer_at(lexer, "**"))
        return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, parser->error,
                              "dims have no '**'; write the product, like 'n * n'");
    return FER_OK;
}

static fer_status parse_product(parser *parser, fer_dim **out_dim)
{
    FER_TRY(parse_unary(parser, out_dim));
    fer_status status = refuse_foreign(parser);
    const binary *binary;
    while (status == FER_OK && (binary = at_operator(parser, PRODUCT_OPERATORS)) != NULL) {
        const fer_token token = parser->lexer->token;
        fer_lexer_advance(parser->lexer);
        fer_dim *right = NULL;
        status = parse_unary(parser, &right);
        if (status == FER_OK)
            status = apply(parser, binary, &token, out_dim, right);
        fer_dim_release(right);
        if (status == FER_OK)
            status = refuse_foreign(parser);
    }
    if (status != FER_OK) {
        fer_dim_release(*out_dim);
        *out_dim = NULL;
    }
    return status;
}

static fer_status parse_sum(parser *parser, fer_dim **out_dim)
{
    FER_TRY(parse_product(parser, out_dim));
    fer_status status = FER_OK;
    const binary *binary;
    while (status == FER_OK && (binary = at_operator(parser, SUM_OPERATORS)) != NULL) {
        const fer_token token = parser->lexer->token;
        fer_lexer_advance(parser->lexer);
        fer_dim *right = NULL;
        if (binary->operation == fer_dim_subtract && at_lone_smallest(parser)) {
            binary = &SUM_OPERATORS[0];
            status = parse_integer(parser, -1, &right);
        } else {
            status = parse_product(parser, &right);
        }
        if (status == FER_OK)
            status = apply(parser, binary, &token, out_dim, right);
        fer_dim_release(right);
    }
    if (status != FER_OK) {
        fer_dim_release(*out_dim);
        *out_dim = NULL;
    }
    return status;
}

fer_status fer_expression_parse(fer_lexer *lexer, fer_name_resolver resolver, void *context,
                                fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    parser parser = {.lexer = lexer, .resolver = resolver, .context = context, .error = error};
    return parse_sum(&parser, out_dim);
}

fer_status fer_dim_parse(const char *text, fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    fer_dim *dim;
    FER_TRY(fer_expression_parse(&lexer, NULL, NULL, &dim, error));
    if (lexer.token.kind == FER_TOKEN_END) {
        *out_dim = dim;
        return FER_OK;
    }
    fer_dim_release(dim);
    return fer_lexer_unexpected(&lexer, "an operator (+ - * // %) or the end", error);
}
