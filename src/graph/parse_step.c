/* Programs: one step of a block. `a, b = split(x)`, `y = rebind x [h, 4]`, `y = reshape x [h, -1]`,
 * `y = transfer x @ 1`, and calls whose op gives nothing, `log(x)`. */
#include "graph/text.h"
#include "signature/literal.h"
#include "signature/signature.h"
#include "tensor/number.h"
#include "types/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Names ------------------------------------------------------------------------------------ */

fer_status fer_step_names_read(fer_step_names *names, fer_program_reader *reader, fer_error *error)
{
    size_t count = names->count;
    fer_token_kind kind = reader->lexer.token.kind;
    if (kind != FER_TOKEN_NAME && kind != FER_TOKEN_STRING)
        return fer_program_unexpected(reader, "a value's name", error);
    FER_TRY(
        fer_reserve(&names->names, count + 1, &names->names_capacity, sizeof *names->names, error));
    FER_TRY(fer_reserve(&names->tokens, count + 1, &names->tokens_capacity, sizeof *names->tokens,
                        error));
    names->tokens[count] = reader->lexer.token;
    FER_TRY(fer_program_expect_name(reader, "a value's name", &names->names[count], error));
    names->count++;
    return FER_OK;
}

void fer_step_names_clear(fer_step_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    free(names->tokens);
}

fer_status fer_step_names_give(const fer_step_names *names, fer_program_reader *reader,
                               fer_value *const *values, fer_error *error)
{
    for (size_t i = 0; i < names->count; i++) {
        fer_status status = fer_value_rename(values[i], names->names[i], error);
        FER_TRY(fer_program_locate(reader, &names->tokens[i], status, error));
    }
    return FER_OK;
}

fer_status fer_step_names_check(const fer_step_names *names, const fer_program_reader *reader,
                                const fer_graph *graph, const fer_token *at, const char *op,
                                size_t num_results, fer_error *error)
{
    if (names->count == num_results)
        return FER_OK;
    char expected[24], actual[24];
    snprintf(expected, sizeof expected, "%zu", num_results);
    snprintf(actual, sizeof actual, "%zu", names->count);
    fer_place place = {.op = op, .expected = expected, .actual = actual};
    fer_status status =
        fer_fail_at(error, FER_VALUE_ERROR, &place,
                    "graph '%s': %s gives %s result%s, but %s name%s it", graph->name, op, expected,
                    num_results == 1 ? "" : "s", actual, names->count == 1 ? " takes" : "s take");
    if (names->count == 0)
        status = fer_program_advise(status, error, "a step begins with the names that it gives");
    return fer_lexer_locate(&reader->lexer, at, status, error);
}

fer_status fer_step_names_check_one(const fer_step_names *names, const fer_program_reader *reader,
                                    const char *what, fer_error *error)
{
    if (names->count == 1)
        return FER_OK;
    return fer_lexer_fail(&reader->lexer, &names->tokens[0], FER_VALUE_ERROR, error,
                          "a %s is one value, but %zu names take it", what, names->count);
}

static fer_status parse_names(fer_program_reader *reader, const fer_graph *graph,
                              fer_step_names *left, fer_error *error)
{
    fer_token first = reader->lexer.token;
    do {
        FER_TRY(fer_step_names_read(left, reader, error));
    } while (fer_lexer_accept(&reader->lexer, ","));
    if (fer_lexer_accept(&reader->lexer, "="))
        return FER_OK;
    return fer_program_fail_names(reader, graph, &first, error);
}

fer_status fer_program_locate_in(const fer_program_reader *reader, const fer_graph *graph,
                                 const fer_token *at, fer_status status, fer_error *error)
{
    if (status == FER_OK)
        return FER_OK;
    if (error != NULL && error->message != NULL && strncmp(error->message, "graph '", 7) != 0)
        status = fer_error_prepend(error, status, "graph '%s': ", graph->name);
    return fer_program_locate(reader, at, status, error);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static fer_status parse_param(fer_program_reader *reader, fer_pool *pool, const fer_param *params,
                              size_t num_params, fer_param *out, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    fer_token token = lexer->token;
    char *name = NULL;
    FER_TRY(fer_lexer_expect_name(lexer, "a parameter's name", &name, error));
    char *kept = fer_pool_string(pool, name);
    free(name);
    if (kept == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < num_params; i++)
        if (strcmp(params[i].name, kept) == 0)
            return fer_lexer_fail(lexer, &token, FER_VALUE_ERROR, error,
                                  "parameter '%s' is given twice", kept);
    fer_status status = fer_lexer_expect(lexer, "=", "after a parameter's name", error);
    FER_TRY(fer_program_advise(status, error, "a parameter has a name, as in f<g = 2>(x)"));
    FER_TRY(fer_literal_parse(lexer, pool, out, error));
    out->name = kept;
    return FER_OK;
}

/* An op's name, and perhaps `<to = f16>` behind it: the op with those values, for the caller to
 * release. */
static fer_status parse_op(fer_program_reader *reader, fer_op **out_op, fer_error *error)
{
    fer_token token = reader->lexer.token;
    fer_pool pool = {0};
    char *name = NULL;
    fer_param *params = NULL;
    size_t num_params = 0;
    size_t capacity = 0;
    fer_status status = fer_lexer_expect_name(&reader->lexer, "an op's name", &name, error);
    if (status != FER_OK)
        goto done;
    if (fer_lexer_accept(&reader->lexer, "<")) {
        do {
            FER_TRY_DONE(fer_reserve(&params, num_params + 1, &capacity, sizeof *params, error));
            FER_TRY_DONE(
                parse_param(reader, &pool, params, num_params, &params[num_params], error));
            num_params++;
        } while (fer_lexer_accept(&reader->lexer, ","));
        FER_TRY_DONE(fer_lexer_expect(&reader->lexer, ">", "after an op's parameters", error));
    }
    status = fer_program_find_op(reader, &token, name, params, num_params, out_op, error);

done:
    free(params);
    free(name);
    fer_pool_clear(&pool);
    return status;
}

/* VALUE: a parameter's name where those of operands stand. */
static fer_status refuse_param(const fer_program_reader *reader, const fer_graph *graph,
                               const fer_op *op, const fer_token *at, const char *name,
                               fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    for (size_t i = 0; i < spec->num_operands; i++)
        if (strcmp(spec->operands[i].name, name) == 0)
            return FER_OK;
    if (fer_spec_find_param(spec, name) == NULL)
        return FER_OK;
    return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error,
                          "graph '%s': %s: '%s' is a parameter; it stands before the operands, as "
                          "in %s<%s = ...>(...)",
                          graph->name, op->name, name, op->name, name);
}

/* `x`, `2.5` or `name = x`. The caller frees the keyword. */
static fer_status parse_argument(fer_program_reader *reader, fer_graph *graph, const fer_op *op,
                                 char **out_keyword, fer_argument *out, fer_error *error)
{
    fer_token first = reader->lexer.token;
    fer_token second = fer_program_peek(reader);
    if (first.kind == FER_TOKEN_NAME && fer_token_is(&second, "=")) {
        FER_TRY(fer_lexer_expect_name(&reader->lexer, "an operand's name", out_keyword, error));
        fer_lexer_advance(&reader->lexer);
        FER_TRY(refuse_param(reader, graph, op, &first, *out_keyword, error));
    }
    *out = (fer_argument){.keyword = *out_keyword};
    if (fer_program_at_number(reader)) {
        out->kind = FER_ARGUMENT_NUMBER;
        return fer_number_parse(&reader->lexer, &out->as.number, error);
    }
    out->kind = FER_ARGUMENT_VALUE;
    return fer_program_expect_value(reader, graph, &out->as.value, error);
}

/* The arguments between the parentheses of a call. */
typedef struct arguments {
    fer_argument list[FER_MAX_OPERANDS];
    char *keywords[FER_MAX_OPERANDS];
    size_t count;
} arguments;

static fer_status parse_arguments(fer_program_reader *reader, fer_graph *graph, const fer_op *op,
                                  arguments *given, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    FER_TRY(fer_lexer_expect(lexer, "(", "after an op's name", error));
    if (fer_lexer_accept(lexer, ")"))
        return FER_OK;
    do {
        if (given->count == FER_MAX_OPERANDS)
            return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                                  "an op takes at most %d operands", FER_MAX_OPERANDS);
        size_t i = given->count++;
        FER_TRY(parse_argument(reader, graph, op, &given->keywords[i], &given->list[i], error));
    } while (fer_lexer_accept(lexer, ","));
    return fer_program_expect(reader, ")", "after an op's operands", error);
}

fer_status fer_program_parse_attribute(fer_program_reader *reader, const char *name,
                                       const char *what, fer_token *out_string, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    *out_string = (fer_token){.length = 0};
    if (!fer_lexer_accept(lexer, "{"))
        return FER_OK;
    if (!fer_lexer_accept(lexer, name)) {
        char expected[32];
        snprintf(expected, sizeof expected, "the attribute '%s'", name);
        return fer_lexer_unexpected(lexer, expected, error);
    }
    FER_TRY(fer_lexer_expect(lexer, ":", "after an attribute's name", error));
    *out_string = lexer->token;
    if (lexer->token.kind != FER_TOKEN_STRING)
        return fer_lexer_unexpected(lexer, what, error);
    fer_lexer_advance(lexer);
    return fer_lexer_expect(lexer, "}", "after an attribute", error);
}

static fer_status stage(fer_program_reader *reader, fer_graph *graph, const fer_token *at,
                        const fer_op *op, const arguments *given, const fer_step_names *left,
                        fer_error *error)
{
    FER_TRY(fer_step_names_check(left, reader, graph, at, op->name, op->num_results, error));
    fer_argument bound[FER_MAX_OPERANDS];
    fer_value *results[FER_MAX_OPERANDS];
    fer_status status = fer_arguments_bind(op, given->list, given->count, bound, error);
    if (status == FER_OK)
        status = fer_arguments_stage(graph, op, bound, results, left->count, error);
    FER_TRY(fer_program_locate_in(reader, graph, at, status, error));
    return fer_step_names_give(left, reader, results, error);
}

static fer_status parse_call(fer_program_reader *reader, fer_graph *graph,
                             const fer_step_names *left, fer_error *error)
{
    fer_status status = FER_OK;
    fer_op *op = NULL;
    arguments given = {.count = 0};
    fer_token token = reader->lexer.token;
    fer_token shown;
    FER_TRY_DONE(parse_op(reader, &op, error));
    FER_TRY_DONE(parse_arguments(reader, graph, op, &given, error));
    /* `{token: "f#0123456789abcdef"}`: what a printed program shows. Read and not believed: the
     * op's own declaration says what its token is. */
    FER_TRY_DONE(fer_program_parse_attribute(reader, "token", "a token in quotes", &shown, error));
    status = stage(reader, graph, &token, op, &given, left, error);

done:
    for (size_t i = 0; i < given.count; i++)
        free(given.keywords[i]);
    fer_op_release(op);
    return status;
}

/* --- Views and transfers ---------------------------------------------------------------------- */

/* `transfer x @ 1` */
static fer_status parse_transfer(fer_program_reader *reader, fer_graph *graph,
                                 const fer_step_names *left, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    fer_token token = lexer->token;
    fer_value *value = NULL;
    fer_device device;
    fer_lexer_advance(lexer);
    FER_TRY(fer_step_names_check_one(left, reader, "transfer", error));
    FER_TRY(fer_program_expect_value(reader, graph, &value, error));
    FER_TRY(fer_lexer_expect(lexer, "@", "and a device behind the value of a transfer", error));
    FER_TRY(fer_device_parse_tokens(lexer, &device, error));
    fer_status status = fer_graph_transfer(graph, value, device, &value, error);
    FER_TRY(fer_program_locate_in(reader, graph, &token, status, error));
    return fer_step_names_give(left, reader, &value, error);
}

static fer_status parse_dims(fer_program_reader *reader, const char *word, fer_dim **dims,
                             size_t *num_dims, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    fer_status status = fer_lexer_expect(lexer, "[", "before the dims of a value", error);
    FER_TRY(fer_program_advise(status, error, fer_program_advice(word)));
    if (fer_lexer_accept(lexer, "]"))
        return FER_OK;
    do {
        if (*num_dims == FER_MAX_RANK)
            return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                                  "a value has at most %d dims", FER_MAX_RANK);
        FER_TRY(fer_expression_parse(lexer, NULL, NULL, &dims[*num_dims], error));
        (*num_dims)++;
    } while (fer_lexer_accept(lexer, ","));
    return fer_lexer_expect(lexer, "]", "after the dims of a value", error);
}

typedef fer_status (*stage_view)(fer_graph *graph, fer_value *value, const fer_dim *const *dims,
                                 size_t num_dims, fer_value **out_value, fer_error *error);

/* A rebind or a reshape: `word x [dims]`. */
static fer_status parse_view(fer_program_reader *reader, fer_graph *graph,
                             const fer_step_names *left, const char *word, stage_view stage_it,
                             fer_error *error)
{
    fer_token token = reader->lexer.token;
    fer_lexer_advance(&reader->lexer);
    FER_TRY(fer_step_names_check_one(left, reader, word, error));
    fer_value *value = NULL;
    fer_dim *dims[FER_MAX_RANK];
    size_t num_dims = 0;
    FER_TRY(fer_program_expect_value(reader, graph, &value, error));
    fer_status status = parse_dims(reader, word, dims, &num_dims, error);
    if (status == FER_OK) {
        status = stage_it(graph, value, (const fer_dim *const *)dims, num_dims, &value, error);
        status = fer_program_locate_in(reader, graph, &token, status, error);
    }
    if (status == FER_OK)
        status = fer_step_names_give(left, reader, &value, error);
    while (num_dims > 0)
        fer_dim_release(dims[--num_dims]);
    return status;
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* Whether this word comes next, and is one: no call of an op has a name behind the op's. */
static bool at_word(const fer_program_reader *reader, const char *word)
{
    fer_token second = fer_program_peek(reader);
    return fer_lexer_at(&reader->lexer, word) &&
           (second.kind == FER_TOKEN_NAME || second.kind == FER_TOKEN_STRING);
}

/* A loop need not carry anything. */
static bool at_while(const fer_program_reader *reader)
{
    fer_token second = fer_program_peek(reader);
    return at_word(reader, "while") ||
           (fer_lexer_at(&reader->lexer, "while") && fer_token_is(&second, "{"));
}

static fer_status parse_right(fer_program_reader *reader, fer_graph *graph,
                              const fer_step_names *left, fer_error *error)
{
    if (at_word(reader, "constant"))
        return fer_program_parse_constant(reader, graph, left, error);
    if (at_word(reader, "rebind"))
        return parse_view(reader, graph, left, "rebind", fer_graph_rebind, error);
    if (at_word(reader, "reshape"))
        return parse_view(reader, graph, left, "reshape", fer_graph_reshape, error);
    if (at_word(reader, "transfer"))
        return parse_transfer(reader, graph, left, error);
    if (at_word(reader, "if"))
        return fer_program_parse_if(reader, graph, left, error);
    if (at_while(reader))
        return fer_program_parse_while(reader, graph, left, error);
    if (at_word(reader, "call"))
        return fer_program_parse_graph_call(reader, graph, left, error);
    if (!fer_program_at_call(reader, graph))
        return fer_program_fail_right(reader, graph, error);
    return parse_call(reader, graph, left, error);
}

/* Whether a step begins with what it does, for want of results. */
static bool has_no_names(const fer_program_reader *reader)
{
    fer_token second = fer_program_peek(reader);
    bool is_call = reader->lexer.token.kind == FER_TOKEN_NAME &&
                   (fer_token_is(&second, "(") || fer_token_is(&second, "<"));
    return is_call || at_word(reader, "if") || at_word(reader, "call") || at_while(reader);
}

/* For what goes wrong when the graph runs. */
static fer_status note_place(const fer_program_reader *reader, const fer_token *at, fer_node *node,
                             fer_error *error)
{
    fer_text place = FER_TEXT_INIT;
    fer_text excerpt = FER_TEXT_INIT;
    fer_lexer_append_place(&reader->lexer, at, &place);
    fer_text_append_excerpt(&excerpt, at->start - (at->column - 1), at->column);
    fer_status status = fer_text_take(&place, &node->place, error);
    if (status == FER_OK)
        status = fer_text_take(&excerpt, &node->excerpt, error);
    fer_text_free(&excerpt);
    return status;
}

fer_status fer_program_parse_step(fer_program_reader *reader, fer_graph *graph, fer_error *error)
{
    fer_step_names left = {.count = 0};
    fer_status status = has_no_names(reader) ? FER_OK : parse_names(reader, graph, &left, error);
    fer_token right = reader->lexer.token;
    fer_block *block = graph->current;
    size_t num_nodes = block->num_nodes;
    if (status == FER_OK)
        status = parse_right(reader, graph, &left, error);
    if (status == FER_OK && block->num_nodes > num_nodes) /* numbers' constants come before */
        status = note_place(reader, &right, block->nodes[block->num_nodes - 1], error);
    fer_step_names_clear(&left);
    return status;
}
