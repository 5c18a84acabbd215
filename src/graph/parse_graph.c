/* Programs: a graph, its header and the steps of its body but for what a step does. */
#include "graph/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header of a graph, before the graph is there. */
typedef struct header {
    char *name;
    fer_graph_input *inputs; /* names and types are owned */
    size_t num_inputs;
    size_t inputs_capacity;
    bool has_results; /* result types are written */
    fer_type **results;
    fer_token *result_tokens;
    size_t num_results;
    size_t results_capacity;
    size_t tokens_capacity;
} header;

static void clear_header(header *h)
{
    for (size_t i = 0; i < h->num_inputs; i++) {
        free((char *)h->inputs[i].name);
        fer_type_release((fer_type *)h->inputs[i].type);
    }
    for (size_t i = 0; i < h->num_results; i++)
        fer_type_release(h->results[i]);
    free(h->inputs);
    free(h->results);
    free(h->result_tokens);
    free(h->name);
}

/* The word before an input's name; an input may be called so, too. */
static bool accept_inout(fer_program_reader *reader)
{
    fer_token second = fer_program_peek(reader);
    bool is_name = second.kind == FER_TOKEN_NAME || second.kind == FER_TOKEN_STRING;
    return is_name && fer_lexer_accept(&reader->lexer, "inout");
}

static fer_status parse_input(fer_program_reader *reader, header *h, fer_error *error)
{
    char *name = NULL;
    fer_type *type = NULL;
    fer_status status = FER_OK;
    bool is_inout = accept_inout(reader);
    FER_TRY_DONE(
        fer_reserve(&h->inputs, h->num_inputs + 1, &h->inputs_capacity, sizeof *h->inputs, error));
    FER_TRY_DONE(fer_program_expect_name(reader, "an input's name", &name, error));
    status = fer_lexer_expect(&reader->lexer, ":", "after an input's name", error);
    FER_TRY_DONE(fer_program_advise(status, error, "its type follows, as in x: f32[n]"));
    FER_TRY_DONE(fer_program_parse_type(reader, &type, error));
    h->inputs[h->num_inputs++] =
        (fer_graph_input){.name = name, .type = type, .is_inout = is_inout};
    return FER_OK;

done:
    free(name);
    fer_type_release(type);
    return status;
}

static fer_status parse_inputs(fer_program_reader *reader, header *h, fer_error *error)
{
    FER_TRY(fer_lexer_expect(&reader->lexer, "(", "after a graph's name", error));
    if (fer_lexer_accept(&reader->lexer, ")"))
        return FER_OK;
    do {
        FER_TRY(parse_input(reader, h, error));
    } while (fer_lexer_accept(&reader->lexer, ","));
    return fer_lexer_expect(&reader->lexer, ")", "after a graph's inputs", error);
}

static fer_status parse_result(fer_program_reader *reader, header *h, fer_error *error)
{
    FER_TRY(fer_reserve(&h->results, h->num_results + 1, &h->results_capacity, sizeof *h->results,
                        error));
    FER_TRY(fer_reserve(&h->result_tokens, h->num_results + 1, &h->tokens_capacity,
                        sizeof *h->result_tokens, error));
    h->result_tokens[h->num_results] = reader->lexer.token;
    FER_TRY(fer_program_parse_type(reader, &h->results[h->num_results], error));
    h->num_results++;
    return FER_OK;
}

static fer_status parse_results(fer_program_reader *reader, header *h, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    h->has_results = fer_lexer_accept(lexer, "->");
    if (!h->has_results)
        return FER_OK;
    if (!fer_lexer_accept(lexer, "("))
        return parse_result(reader, h, error);
    if (fer_lexer_accept(lexer, ")"))
        return FER_OK;
    do {
        FER_TRY(parse_result(reader, h, error));
    } while (fer_lexer_accept(lexer, ","));
    return fer_lexer_expect(lexer, ")", "after a graph's result types", error);
}

fer_status fer_program_expect_value(fer_program_reader *reader, fer_graph *graph,
                                    fer_value **out_value, fer_error *error)
{
    *out_value = NULL;
    fer_token token = reader->lexer.token;
    char *name = NULL;
    FER_TRY(fer_program_require_name(reader, error));
    FER_TRY(fer_program_expect_name(reader, "a value's name", &name, error));
    *out_value = fer_graph_find_value(graph, name);
    const fer_value *ended = fer_names_find(&graph->value_names, name);
    fer_status status = FER_OK;
    bool is_call = fer_lexer_at(&reader->lexer, "(") || fer_lexer_at(&reader->lexer, "<");
    if (*out_value == NULL && is_call) {
        status = fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                                "graph '%s': '%s' is called where a value belongs; calls do not "
                                "nest: give its result a name in a step before",
                                graph->name, name);
    } else if (*out_value == NULL && token.kind == FER_TOKEN_NAME && strcmp(name, "not") == 0) {
        status = fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error, "graph '%s': %s",
                                graph->name, fer_program_advice(name));
    } else if (*out_value == NULL && ended != NULL) {
        status = fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                                "graph '%s': '%s' is a value of %s, which has ended; only what it "
                                "yields can be used outside of it",
                                graph->name, name, fer_block_role(ended->block));
    } else if (*out_value == NULL) {
        fer_hint hint;
        status = fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                                "graph '%s': there is no value '%s'%s", graph->name, name,
                                fer_did_you_mean(fer_names_near(&graph->value_names, name), &hint));
    }
    free(name);
    return status;
}

fer_status fer_program_parse_values(fer_program_reader *reader, fer_graph *graph,
                                    fer_value ***out_values, size_t *out_num_values,
                                    fer_error *error)
{
    size_t capacity = 0;
    *out_values = NULL;
    *out_num_values = 0;
    do {
        FER_TRY(
            fer_reserve(out_values, *out_num_values + 1, &capacity, sizeof **out_values, error));
        FER_TRY(fer_program_expect_value(reader, graph, &(*out_values)[*out_num_values], error));
        ++*out_num_values;
    } while (fer_lexer_accept(&reader->lexer, ","));
    return FER_OK;
}

static fer_status fail_num_results(const fer_program_reader *reader, const header *h,
                                   const fer_graph *graph, const fer_token *at, fer_error *error)
{
    char expected[24], actual[24];
    snprintf(expected, sizeof expected, "%zu", h->num_results);
    snprintf(actual, sizeof actual, "%zu", graph->num_outputs);
    fer_place place = {.expected = expected, .actual = actual};
    fer_status status = fer_fail_at(
        error, FER_VALUE_ERROR, &place, "graph '%s': %s result%s declared, but return gives %s",
        graph->name, expected, h->num_results == 1 ? " is" : "s are", actual);
    return fer_lexer_locate(&reader->lexer, at, status, error);
}

static fer_status fail_result(const fer_program_reader *reader, const header *h,
                              const fer_graph *graph, size_t index, fer_error *error)
{
    fer_place place = {.expected = fer_type_text(h->results[index]),
                       .actual = fer_type_text(graph->outputs[index]->type)};
    fer_status status = fer_fail_at(error, FER_VALUE_ERROR, &place,
                                    "graph '%s': result %zu is declared %s, but return gives %s",
                                    graph->name, index, place.expected, place.actual);
    return fer_lexer_locate(&reader->lexer, &h->result_tokens[index], status, error);
}

static fer_status check_results(const fer_program_reader *reader, const header *h,
                                const fer_graph *graph, const fer_token *at, fer_error *error)
{
    if (!h->has_results)
        return FER_OK;
    if (h->num_results != graph->num_outputs)
        return fail_num_results(reader, h, graph, at, error);
    for (size_t i = 0; i < h->num_results; i++)
        if (!fer_type_equal(h->results[i], graph->outputs[i]->type))
            return fail_result(reader, h, graph, i, error);
    return FER_OK;
}

static fer_status parse_return(fer_program_reader *reader, const header *h, fer_graph *graph,
                               fer_error *error)
{
    fer_status status = FER_OK;
    fer_value **values = NULL;
    size_t num_values = 0;
    fer_token token = reader->lexer.token;
    fer_lexer_advance(&reader->lexer);
    if (!fer_lexer_at(&reader->lexer, "}"))
        FER_TRY_DONE(fer_program_parse_values(reader, graph, &values, &num_values, error));
    FER_TRY_DONE(fer_program_locate(reader, &token,
                                    fer_graph_output(graph, values, num_values, error), error));
    status = check_results(reader, h, graph, &token, error);

done:
    free(values);
    return status;
}

static fer_status parse_body(fer_program_reader *reader, const header *h, fer_graph *graph,
                             fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    FER_TRY(fer_lexer_expect(lexer, "{", "before a graph's body", error));
    while (!fer_lexer_at(lexer, "return")) {
        if (fer_lexer_at(lexer, "}"))
            return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                                  "graph '%s' ends without `return` and the names of its results",
                                  graph->name);
        fer_token second = fer_program_peek(reader);
        if (fer_lexer_at(lexer, "yield") && !fer_token_is(&second, "("))
            return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                                  "graph '%s': a graph returns; `yield` is for the blocks in it",
                                  graph->name);
        FER_TRY(fer_program_parse_step(reader, graph, error));
    }
    FER_TRY(parse_return(reader, h, graph, error));
    return fer_program_expect(reader, "}", "after what a graph returns", error);
}

fer_status fer_program_parse_graph(fer_program_reader *reader, fer_error *error)
{
    header h = {.name = NULL};
    fer_status status = FER_OK;
    fer_graph *graph = NULL;
    fer_token token = reader->lexer.token;
    FER_TRY_DONE(fer_program_expect_name(reader, "a graph's name", &h.name, error));
    if (fer_module_find(reader->module, h.name) != NULL) {
        status = fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                                "the program has a graph '%s' already", h.name);
        goto done;
    }
    FER_TRY_DONE(parse_inputs(reader, &h, error));
    FER_TRY_DONE(parse_results(reader, &h, error));
    status = fer_graph_create(reader->module, h.name, h.inputs, h.num_inputs, &graph, error);
    FER_TRY_DONE(fer_program_locate(reader, &token, status, error));
    status = parse_body(reader, &h, graph, error);

done:
    clear_header(&h);
    return status;
}
