/* Control flow: `if` and `while`, whose blocks are built between a call that begins and one that
 * ends them. As everywhere in building, a refused call leaves the graph as it was. */
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Blocks ----------------------------------------------------------------------------------- */

/* VALUE: the graph's current block is not this one of such a node; `call` is what was called. */
static fer_status require_block(const fer_graph *graph, fer_node_kind kind, size_t which,
                                const char *call, fer_error *error)
{
    const fer_node *owner = graph->current->owner;
    FER_TRY(fer_graph_require_open(graph, error));
    if (owner != NULL && owner->kind == kind && owner->blocks[which] == graph->current)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR, "graph '%s': %s belongs elsewhere; this is %s",
                    graph->name, call, fer_block_role(graph->current));
}

static fer_status check_depth(const fer_graph *graph, const char *what, fer_error *error)
{
    if (graph->current->depth < FER_MAX_DEPTH)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR, "graph '%s': %s lies deeper than %d blocks",
                    graph->name, what, FER_MAX_DEPTH);
}

static void enter(fer_block *block)
{
    fer_graph *graph = block->graph;
    block->is_open = true;
    graph->current = block;
    if (block->depth > graph->depth)
        graph->depth = block->depth;
}

static fer_status check_values(const fer_graph *graph, fer_value *const *values, size_t num_values,
                               const char *what, fer_error *error)
{
    for (size_t i = 0; i < num_values; i++)
        FER_TRY(fer_graph_require_value(graph, values[i], what, error));
    return FER_OK;
}

/* What the current block yields; it stays open. */
static fer_status set_results(fer_block *block, fer_value *const *values, size_t num_values,
                              fer_error *error)
{
    fer_value **results = calloc(num_values + 1, sizeof *results);
    if (results == NULL)
        return fer_fail_memory(error);
    if (num_values > 0)
        memcpy(results, values, num_values * sizeof *results);
    block->results = results;
    block->num_results = num_values;
    return FER_OK;
}

static void unset_results(fer_block *block)
{
    free(block->results);
    block->results = NULL;
    block->num_results = 0;
}

static fer_status check_predicate(const fer_graph *graph, const fer_value *predicate,
                                  const char *what, fer_error *error)
{
    FER_TRY(fer_graph_require_value(graph, predicate, what, error));
    if (fer_type_dtype(predicate->type) == FER_BOOL && fer_type_rank(predicate->type) == 0)
        return FER_OK;
    fer_place place = {.expected = "bool[]", .actual = fer_type_text(predicate->type)};
    return fer_fail_at(error, FER_VALUE_ERROR, &place, "graph '%s': %s is %s, but must be bool[]",
                       graph->name, what, place.actual);
}

/* Results are cleared last: they may lie where the values that were given do. */
static fer_status clear_refused(fer_status status, fer_value **out_values, size_t num_values)
{
    for (size_t i = 0; status != FER_OK && i < num_values; i++)
        out_values[i] = NULL;
    return status;
}

/* Ends the node, whose last block is the current one: its blocks close, and it takes its place. Its
 * results' types are those of `like`. */
static fer_status end_node(fer_node *node, fer_value *const *like, fer_value **out_results,
                           fer_error *error)
{
    fer_block *last = node->blocks[1];
    fer_graph *graph = last->graph;
    bool was_open = node->blocks[0]->is_open;
    size_t num_results = last->num_results;
    node->blocks[0]->is_open = last->is_open = false;
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < num_results; i++)
        status = fer_node_add_result(node, fer_type_retain(like[i]->type), error);
    if (status == FER_OK)
        status = fer_node_append(node, error);
    if (status != FER_OK) {
        while (node->num_results > 0)
            fer_value_destroy(node->results[--node->num_results]);
        node->blocks[0]->is_open = was_open;
        last->is_open = true;
        return status;
    }
    graph->current = node->block;
    if (num_results > 0)
        memcpy(out_results, node->results, num_results * sizeof *out_results);
    return FER_OK;
}

/* --- if --------------------------------------------------------------------------------------- */

fer_status fer_graph_if(fer_graph *graph, fer_value *predicate, fer_error *error)
{
    FER_TRY(fer_graph_require_open(graph, error));
    FER_TRY(check_depth(graph, "if", error));
    FER_TRY(check_predicate(graph, predicate, "the predicate of if", error));
    fer_node *node = NULL;
    FER_TRY(fer_node_create(graph, FER_NODE_IF, &predicate, 1, 0, &node, error));
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < 2; i++)
        status = fer_block_create(node, graph->current, &node->blocks[i], error);
    if (status != FER_OK) {
        fer_node_destroy(node);
        return status;
    }
    enter(node->blocks[0]);
    return FER_OK;
}

fer_status fer_graph_else(fer_graph *graph, fer_value *const *values, size_t num_values,
                          fer_error *error)
{
    FER_TRY(require_block(graph, FER_NODE_IF, 0, "else", error));
    FER_TRY(check_values(graph, values, num_values, "what the first arm of if yields", error));
    fer_node *node = graph->current->owner;
    fer_value **results = calloc(num_values + 1, sizeof *results);
    if (results == NULL)
        return fer_fail_memory(error);
    fer_status status = set_results(node->blocks[0], values, num_values, error);
    if (status != FER_OK) {
        free(results);
        return status;
    }
    free(node->results);
    node->results = results;
    node->blocks[0]->is_open = false;
    enter(node->blocks[1]);
    return FER_OK;
}

/* A dim that only an arm knows is worth a hint. Called while the arms are closed. */
static fer_status fail_arm_type(const fer_graph *graph, const fer_type *const *types,
                                const fer_type *other, size_t num_results, size_t index,
                                fer_error *error)
{
    const fer_type *pair[] = {types[index], other};
    fer_place place = {.expected = fer_type_text(pair[0]), .actual = fer_type_text(pair[1])};
    size_t axis;
    const char *name = NULL;
    for (size_t i = 0; i < 2 && name == NULL; i++)
        name = fer_graph_unknown_name(graph, pair[i], NULL, 0, &axis);
    if (fer_type_equal(pair[0], pair[1]))
        name = fer_graph_unknown_name(graph, pair[0], types, num_results, &axis);
    if (name != NULL)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "graph '%s': if: result %zu is %s in the first arm and %s in the else "
                           "arm, and only an arm knows what %s is; rebind it in both arms to the "
                           "same dims, which may be new bare names",
                           graph->name, index, place.expected, place.actual, name);
    return fer_fail_at(error, FER_VALUE_ERROR, &place,
                       "graph '%s': if: result %zu is %s in the first arm, but %s in the else arm",
                       graph->name, index, place.expected, place.actual);
}

/* The types of both arms' results are the same, and their dims are known outside, or new names that
 * stand bare in one of them: `if` binds those. */
static fer_status check_arm_types(const fer_graph *graph, const fer_block *first,
                                  fer_value *const *values, fer_error *error)
{
    size_t count = first->num_results;
    const fer_type **types = calloc(count + 1, sizeof *types);
    if (types == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        types[i] = first->results[i]->type;
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < count; i++) {
        size_t axis;
        if (!fer_type_equal(types[i], values[i]->type) ||
            fer_graph_unknown_name(graph, types[i], types, count, &axis) != NULL)
            status = fail_arm_type(graph, types, values[i]->type, count, i, error);
    }
    free(types);
    return status;
}

static fer_status check_arms(const fer_graph *graph, fer_value *const *values, size_t num_values,
                             fer_error *error)
{
    const fer_node *node = graph->current->owner;
    const fer_block *first = node->blocks[0];
    if (num_values != first->num_results) {
        char expected[24], actual[24];
        snprintf(expected, sizeof expected, "%zu", first->num_results);
        snprintf(actual, sizeof actual, "%zu", num_values);
        return fer_fail_at(error, FER_VALUE_ERROR,
                           &(fer_place){.expected = expected, .actual = actual},
                           "graph '%s': if: the first arm yields %s value%s, but the else arm %s",
                           graph->name, expected, first->num_results == 1 ? "" : "s", actual);
    }
    node->blocks[1]->is_open = false; /* for what can be seen outside */
    fer_status status = check_arm_types(graph, first, values, error);
    node->blocks[1]->is_open = true;
    return status;
}

static fer_status end_if(fer_graph *graph, fer_value *const *values, size_t num_values,
                         fer_value **out_results, fer_error *error)
{
    FER_TRY(require_block(graph, FER_NODE_IF, 1, "the end of if", error));
    FER_TRY(check_values(graph, values, num_values, "what the else arm of if yields", error));
    FER_TRY(check_arms(graph, values, num_values, error));
    fer_node *node = graph->current->owner;
    FER_TRY(set_results(node->blocks[1], values, num_values, error));
    fer_status status = end_node(node, node->blocks[0]->results, out_results, error);
    if (status != FER_OK)
        unset_results(node->blocks[1]);
    return status;
}

fer_status fer_graph_end_if(fer_graph *graph, fer_value *const *values, size_t num_values,
                            fer_value **out_results, fer_error *error)
{
    return clear_refused(end_if(graph, values, num_values, out_results, error), out_results,
                         num_values);
}

/* --- while ------------------------------------------------------------------------------------ */

/* The carried values are the condition's, and the body, which runs after it, sees both. */
static fer_status create_loop(fer_graph *graph, fer_value *const *initial, size_t num_values,
                              fer_node **out_node, fer_error *error)
{
    fer_node *node = NULL;
    fer_block *condition = NULL;
    FER_TRY(fer_node_create(graph, FER_NODE_WHILE, initial, num_values, num_values, &node, error));
    fer_status status = fer_block_create(node, graph->current, &node->blocks[0], error);
    if (status != FER_OK)
        goto done;
    condition = node->blocks[0];
    FER_TRY_DONE(fer_block_create(node, condition, &node->blocks[1], error));
    condition->arguments = calloc(num_values + 1, sizeof *condition->arguments);
    if (condition->arguments == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    for (size_t i = 0; i < num_values; i++) {
        fer_value **carried = &condition->arguments[i];
        FER_TRY_DONE(
            fer_value_create(graph, fer_type_retain(initial[i]->type), NULL, carried, error));
        (*carried)->block = condition;
        condition->num_arguments++;
    }
    FER_TRY_DONE(fer_graph_reserve_values(graph, num_values, error));
    *out_node = node;
    return FER_OK;

done:
    fer_node_destroy(node);
    return status;
}

static fer_status begin_while(fer_graph *graph, fer_value *const *initial, size_t num_values,
                              fer_value **out_carried, fer_error *error)
{
    FER_TRY(fer_graph_require_open(graph, error));
    FER_TRY(check_depth(graph, "while", error));
    FER_TRY(check_values(graph, initial, num_values, "an initial value of while", error));
    fer_node *node = NULL;
    FER_TRY(create_loop(graph, initial, num_values, &node, error));
    for (size_t i = 0; i < num_values; i++) {
        out_carried[i] = node->blocks[0]->arguments[i];
        fer_graph_add_value(graph, out_carried[i]);
    }
    enter(node->blocks[0]);
    return FER_OK;
}

fer_status fer_graph_while(fer_graph *graph, fer_value *const *initial, size_t num_values,
                           fer_value **out_carried, fer_error *error)
{
    return clear_refused(begin_while(graph, initial, num_values, out_carried, error), out_carried,
                         num_values);
}

fer_status fer_graph_do(fer_graph *graph, fer_value *predicate, fer_error *error)
{
    FER_TRY(require_block(graph, FER_NODE_WHILE, 0, "do", error));
    FER_TRY(check_predicate(graph, predicate, "what the condition of while yields", error));
    fer_node *node = graph->current->owner;
    FER_TRY(set_results(node->blocks[0], &predicate, 1, error));
    enter(node->blocks[1]);
    return FER_OK;
}

static fer_status fail_carried(const fer_graph *graph, const fer_value *carried, size_t index,
                               const fer_type *next, fer_error *error)
{
    fer_place place = {.operand = carried->name,
                       .expected = fer_type_text(carried->type),
                       .actual = fer_type_text(next)};
    bool is_size = fer_type_dtype(next) == fer_type_dtype(carried->type) &&
                   fer_type_rank(next) == fer_type_rank(carried->type) &&
                   fer_type_device(next).id == fer_type_device(carried->type).id;
    fer_text name = FER_TEXT_INIT;
    if (carried->name != NULL)
        fer_text_printf(&name, " '%s'", carried->name);
    fer_status status = fer_fail_at(
        error, FER_VALUE_ERROR, &place,
        "graph '%s': while: carried value %zu%s is %s, but the body yields %s for it; %s",
        graph->name, index, fer_text_string(&name), place.expected, place.actual,
        is_size ? "a loop carries values whose size stays" : "a loop carries values of one type");
    fer_text_free(&name);
    return status;
}

static fer_status check_next(const fer_graph *graph, fer_value *const *next, size_t num_values,
                             fer_error *error)
{
    const fer_block *condition = graph->current->parent;
    if (num_values != condition->num_arguments) {
        char expected[24], actual[24];
        snprintf(expected, sizeof expected, "%zu", condition->num_arguments);
        snprintf(actual, sizeof actual, "%zu", num_values);
        return fer_fail_at(error, FER_VALUE_ERROR,
                           &(fer_place){.expected = expected, .actual = actual},
                           "graph '%s': while carries %s value%s, but the body yields %s",
                           graph->name, expected, condition->num_arguments == 1 ? "" : "s", actual);
    }
    for (size_t i = 0; i < num_values; i++)
        if (!fer_type_equal(condition->arguments[i]->type, next[i]->type))
            return fail_carried(graph, condition->arguments[i], i, next[i]->type, error);
    return FER_OK;
}

static fer_status end_while(fer_graph *graph, fer_value *const *next, size_t num_values,
                            fer_value **out_results, fer_error *error)
{
    FER_TRY(require_block(graph, FER_NODE_WHILE, 1, "the end of while", error));
    FER_TRY(check_values(graph, next, num_values, "what the body of while yields", error));
    FER_TRY(check_next(graph, next, num_values, error));
    fer_node *node = graph->current->owner;
    FER_TRY(set_results(node->blocks[1], next, num_values, error));
    fer_status status = end_node(node, node->operands, out_results, error);
    if (status != FER_OK)
        unset_results(node->blocks[1]);
    return status;
}

fer_status fer_graph_end_while(fer_graph *graph, fer_value *const *next, size_t num_values,
                               fer_value **out_results, fer_error *error)
{
    return clear_refused(end_while(graph, next, num_values, out_results, error), out_results,
                         num_values);
}
