/* Programs: the steps that have blocks in them, and the call of a graph.
 * `y = if c { ... yield a } else { ... yield b }`,
 * `s = while s = x { ... yield c } do { ... yield t }`, `y = call thumbnail(x)`. */
#include "graph/text.h"

#include <stdlib.h>

/* --- Blocks ----------------------------------------------------------------------------------- */

/* What a block yields, and where it says so. */
typedef struct yielded {
    fer_value **values;
    size_t num_values;
    fer_token token;
} yielded;

/* From the opening brace to the closing one; `yield` may be left out where it has no values. The
 * caller frees the values, also when it fails. */
static fer_status parse_block(fer_program_reader *reader, fer_graph *graph, yielded *out,
                              fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    FER_TRY(fer_program_expect(reader, "{", "before a block", error));
    while (!fer_lexer_at(lexer, "yield") && !fer_lexer_at(lexer, "}")) {
        if (fer_lexer_at(lexer, "return"))
            return fer_lexer_fail(
                lexer, &lexer->token, FER_VALUE_ERROR, error,
                "graph '%s': %s cannot return; a block yields, and only the graph "
                "returns",
                graph->name, fer_block_role(graph->current));
        FER_TRY(fer_program_parse_step(reader, graph, error));
    }
    out->token = lexer->token;
    if (fer_lexer_accept(lexer, "yield") && !fer_lexer_at(lexer, "}"))
        FER_TRY(fer_program_parse_values(reader, graph, &out->values, &out->num_values, error));
    return fer_program_expect(reader, "}", "after what a block yields", error);
}

/* Names the results of a node that has ended. Their number is that of what its last block yields.
 */
static fer_status name_results(fer_program_reader *reader, fer_graph *graph,
                               const fer_step_names *left, const fer_token *at, const char *what,
                               const yielded *last, fer_error *error)
{
    fer_status status =
        fer_step_names_check(left, reader, graph, at, what, last->num_values, error);
    if (last->num_values == 0)
        status = fer_program_advise(status, error,
                                    "its blocks end with `yield` and the names of what they give");
    FER_TRY(status);
    return fer_step_names_give(left, reader, last->values, error);
}

/* --- if --------------------------------------------------------------------------------------- */

/* The predicate and the first arm. */
static fer_status parse_first_arm(fer_program_reader *reader, fer_graph *graph, yielded *out,
                                  fer_error *error)
{
    fer_token token = reader->lexer.token;
    fer_value *predicate;
    FER_TRY(fer_program_expect_value(reader, graph, &predicate, error));
    if (!fer_lexer_at(&reader->lexer, "{"))
        return fer_program_expect(reader, "{", "behind the predicate", error);
    FER_TRY(
        fer_program_locate_in(reader, graph, &token, fer_graph_if(graph, predicate, error), error));
    FER_TRY(parse_block(reader, graph, out, error));
    fer_status status = fer_graph_else(graph, out->values, out->num_values, error);
    return fer_program_locate_in(reader, graph, &out->token, status, error);
}

/* Ends the message of an arm, or of a body, that yields nothing where something is expected. */
static fer_status advise_yield(fer_status status, const yielded *a, const yielded *b,
                               fer_error *error)
{
    if ((a->num_values == 0) == (b->num_values == 0))
        return status;
    return fer_program_advise(status, error,
                              "a block ends with `yield` and the names of its values");
}

/* Behind the first arm: whether there is another one. */
static fer_status accept_else(fer_program_reader *reader, const fer_graph *graph,
                              const yielded *first, bool *out_has_else, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    fer_token second = fer_program_peek(reader);
    *out_has_else = fer_token_is(&second, "{") && fer_lexer_accept(lexer, "else");
    if (*out_has_else)
        return FER_OK;
    bool is_else_if = (fer_lexer_at(lexer, "else") && fer_token_is(&second, "if")) ||
                      fer_lexer_at(lexer, "elif") || fer_lexer_at(lexer, "elseif");
    if (is_else_if && second.kind == FER_TOKEN_NAME)
        return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error, "graph '%s': %s",
                              graph->name, fer_program_advice("else"));
    if (first->num_values == 0)
        return FER_OK;
    return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                          "graph '%s': if: the first arm yields %zu value%s, so there must be an "
                          "else block that yields as many",
                          graph->name, first->num_values, first->num_values == 1 ? "" : "s");
}

fer_status fer_program_parse_if(fer_program_reader *reader, fer_graph *graph,
                                const fer_step_names *left, fer_error *error)
{
    fer_token token = reader->lexer.token;
    fer_lexer_advance(&reader->lexer);
    yielded arms[2] = {{.num_values = 0}, {.num_values = 0}};
    fer_status status = parse_first_arm(reader, graph, &arms[0], error);
    arms[1].token = reader->lexer.token;
    bool has_else = false;
    if (status == FER_OK)
        status = accept_else(reader, graph, &arms[0], &has_else, error);
    if (has_else)
        status = parse_block(reader, graph, &arms[1], error);
    if (status == FER_OK) {
        yielded *last = &arms[1];
        status = fer_graph_end_if(graph, last->values, last->num_values, last->values, error);
        status = advise_yield(status, &arms[0], last, error);
        status = fer_program_locate_in(reader, graph, &last->token, status, error);
    }
    if (status == FER_OK)
        status = name_results(reader, graph, left, &token, "if", &arms[1], error);
    free(arms[0].values);
    free(arms[1].values);
    return status;
}

/* --- while ------------------------------------------------------------------------------------ */

/* `s = x, i = zero`: the names that the loop gives its values, and the initial ones. */
static fer_status parse_initial(fer_program_reader *reader, fer_graph *graph,
                                fer_step_names *carried, yielded *initial, fer_error *error)
{
    size_t capacity = 0;
    fer_token first = reader->lexer.token;
    fer_token second = fer_program_peek(reader);
    if (fer_token_is(&first, "{"))
        return FER_OK;
    if (!fer_token_is(&second, "="))
        return fer_lexer_fail(&reader->lexer, &first, FER_VALUE_ERROR, error, "graph '%s': %s",
                              graph->name, fer_program_advice("while"));
    do {
        FER_TRY(fer_reserve(&initial->values, initial->num_values + 1, &capacity,
                            sizeof *initial->values, error));
        FER_TRY(fer_step_names_read(carried, reader, error));
        FER_TRY(fer_lexer_expect(&reader->lexer, "=", "after the name of a carried value", error));
        FER_TRY(
            fer_program_expect_value(reader, graph, &initial->values[initial->num_values], error));
        initial->num_values++;
    } while (fer_lexer_accept(&reader->lexer, ","));
    return FER_OK;
}

static fer_status parse_condition(fer_program_reader *reader, fer_graph *graph, const fer_token *at,
                                  yielded *values, fer_error *error)
{
    fer_step_names carried = {.count = 0};
    yielded condition = {.num_values = 0};
    fer_status status = parse_initial(reader, graph, &carried, values, error);
    if (status == FER_OK) {
        status = fer_graph_while(graph, values->values, values->num_values, values->values, error);
        status = fer_program_locate_in(reader, graph, at, status, error);
    }
    if (status == FER_OK)
        status = fer_step_names_give(&carried, reader, values->values, error);
    if (status == FER_OK)
        status = parse_block(reader, graph, &condition, error);
    if (status == FER_OK && condition.num_values != 1)
        status = fer_lexer_fail(&reader->lexer, &condition.token, FER_VALUE_ERROR, error,
                                "graph '%s': the condition of while yields %zu values, but must "
                                "yield one, bool[], as in `yield p`",
                                graph->name, condition.num_values);
    if (status == FER_OK) {
        status = fer_graph_do(graph, condition.values[0], error);
        status = fer_program_locate_in(reader, graph, &condition.token, status, error);
    }
    free(condition.values);
    fer_step_names_clear(&carried);
    return status;
}

static fer_status expect_body(fer_program_reader *reader, fer_error *error)
{
    fer_status status =
        fer_lexer_expect(&reader->lexer, "do", "after the condition of while", error);
    return fer_program_advise(status, error,
                              "the first block yields whether to go on, a second one behind `do` "
                              "the next values");
}

fer_status fer_program_parse_while(fer_program_reader *reader, fer_graph *graph,
                                   const fer_step_names *left, fer_error *error)
{
    fer_token token = reader->lexer.token;
    fer_lexer_advance(&reader->lexer);
    yielded carried = {.num_values = 0};
    yielded body = {.num_values = 0};
    fer_status status = parse_condition(reader, graph, &token, &carried, error);
    if (status == FER_OK)
        status = expect_body(reader, error);
    if (status == FER_OK)
        status = parse_block(reader, graph, &body, error);
    if (status == FER_OK) {
        status = fer_graph_end_while(graph, body.values, body.num_values, body.values, error);
        status = advise_yield(status, &carried, &body, error);
        status = fer_program_locate_in(reader, graph, &body.token, status, error);
    }
    if (status == FER_OK)
        status = name_results(reader, graph, left, &token, "while", &body, error);
    free(carried.values);
    free(body.values);
    return status;
}

/* --- call ------------------------------------------------------------------------------------- */

/* The graph of that name, which stands before this one. */
static fer_status find_graph(fer_program_reader *reader, const fer_graph *graph,
                             const fer_graph **out_callee, fer_error *error)
{
    fer_token token = reader->lexer.token;
    char *name = NULL;
    FER_TRY(fer_program_expect_name(reader, "the name of a graph", &name, error));
    *out_callee = fer_module_find(reader->module, name);
    fer_status status = FER_OK;
    if (*out_callee == NULL) {
        fer_hint hint;
        const char *near = fer_names_near(&reader->module->graph_names, name);
        status = fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                                "graph '%s': there is no graph '%s' yet%s; a graph calls those "
                                "that stand before it",
                                graph->name, name, fer_did_you_mean(near, &hint));
    }
    free(name);
    return status;
}

static fer_status call(fer_program_reader *reader, fer_graph *graph, const fer_graph *callee,
                       const yielded *arguments, const fer_step_names *left, const fer_token *at,
                       fer_error *error)
{
    fer_value **results = calloc(callee->num_outputs + 1, sizeof *results);
    if (results == NULL)
        return fer_fail_memory(error);
    fer_status status = fer_graph_call(graph, callee, arguments->values, arguments->num_values,
                                       results, callee->num_outputs, error);
    status = fer_program_locate_in(reader, graph, at, status, error);
    if (status == FER_OK)
        status =
            fer_step_names_check(left, reader, graph, at, callee->name, callee->num_outputs, error);
    if (status == FER_OK)
        status = fer_step_names_give(left, reader, results, error);
    free(results);
    return status;
}

fer_status fer_program_parse_graph_call(fer_program_reader *reader, fer_graph *graph,
                                        const fer_step_names *left, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    fer_token token = lexer->token;
    fer_lexer_advance(lexer);
    const fer_graph *callee;
    yielded arguments = {.num_values = 0};
    FER_TRY(find_graph(reader, graph, &callee, error));
    FER_TRY(fer_lexer_expect(lexer, "(", "after the name of a graph", error));
    fer_status status = FER_OK;
    if (!fer_lexer_at(lexer, ")"))
        status = fer_program_parse_values(reader, graph, &arguments.values, &arguments.num_values,
                                          error);
    if (status == FER_OK)
        status = fer_lexer_expect(lexer, ")", "after the arguments of a call", error);
    if (status == FER_OK)
        status = call(reader, graph, callee, &arguments, left, &token, error);
    free(arguments.values);
    return status;
}
