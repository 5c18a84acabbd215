/* Blocks: what is in one, and what can be seen from it. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

void fer_block_destroy(fer_block *block)
{
    if (block == NULL)
        return;
    for (size_t i = 0; i < block->num_arguments; i++)
        fer_value_destroy(block->arguments[i]);
    for (size_t i = 0; i < block->num_nodes; i++)
        fer_node_destroy(block->nodes[i]);
    free(block->arguments);
    free(block->nodes);
    free(block->results);
    if (block->owner != NULL)
        free(block);
}

fer_status fer_block_create(fer_node *owner, fer_block *parent, fer_block **out_block,
                            fer_error *error)
{
    fer_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return fer_fail_memory(error);
    block->graph = parent->graph;
    block->parent = parent;
    block->owner = owner;
    block->depth = owner->block->depth + 1;
    *out_block = block;
    return FER_OK;
}

const char *fer_block_role(const fer_block *block)
{
    const fer_node *owner = block->owner;
    if (owner == NULL)
        return "the body of the graph";
    bool is_first = block == owner->blocks[0];
    if (owner->kind == FER_NODE_IF)
        return is_first ? "the first arm of if" : "the else arm of if";
    return is_first ? "the condition of while" : "the body of while";
}

bool fer_block_is_inside(const fer_block *block, const fer_block *outer)
{
    while (block != NULL && block != outer)
        block = block->parent;
    return block == outer;
}

/* --- What can be seen ------------------------------------------------------------------------- */

fer_status fer_graph_require_value(const fer_graph *graph, const fer_value *value, const char *what,
                                   fer_error *error)
{
    if (value == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "graph '%s': %s is NULL, not a value", graph->name,
                        what);
    if (value->graph != graph)
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s': %s is a value of another graph, '%s'",
                        graph->name, what, value->graph->name);
    if (!value->block->is_open)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s': %s is a value of %s, which has ended; only what it yields, in "
                        "Python returns, can be used outside of it",
                        graph->name, what, fer_block_role(value->block));
    return FER_OK;
}

fer_value *fer_graph_find_value(const fer_graph *graph, const char *name)
{
    fer_value *value = fer_names_find(&graph->value_names, name);
    return value != NULL && value->block->is_open ? value : NULL;
}

fer_value *fer_graph_find_dim(const fer_graph *graph, const char *name)
{
    fer_value *value = fer_names_find(&graph->dims, name);
    return value != NULL && value->block->is_open ? value : NULL;
}

static bool stands_bare(const char *name, const fer_type *const *types, size_t num_types)
{
    for (size_t i = 0; i < num_types; i++)
        for (size_t axis = 0; axis < fer_type_rank(types[i]); axis++) {
            const char *bare = fer_dim_symbol_name(fer_type_dim(types[i], axis), NULL);
            if (bare != NULL && strcmp(bare, name) == 0)
                return true;
        }
    return false;
}

const char *fer_graph_unknown_name(const fer_graph *graph, const fer_type *type,
                                   const fer_type *const *types, size_t num_types, size_t *out_axis)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            const char *name = fer_dim_symbol_at(dim, i, NULL);
            *out_axis = axis;
            if (fer_graph_find_dim(graph, name) == NULL && !stands_bare(name, types, num_types))
                return name;
        }
    }
    return NULL;
}

/* --- What is added ---------------------------------------------------------------------------- */

fer_status fer_graph_add_dims(fer_graph *graph, fer_value *value, fer_error *error)
{
    for (size_t axis = 0; axis < fer_type_rank(value->type); axis++) {
        const fer_dim *dim = fer_type_dim(value->type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            const char *name = fer_dim_symbol_at(dim, i, NULL);
            if (fer_graph_find_dim(graph, name) == NULL)
                FER_TRY(fer_names_set(&graph->dims, name, value, error));
        }
    }
    return FER_OK;
}

/* Forgets the names that a value brought that will not be. */
static void remove_dims(fer_graph *graph, const fer_value *value)
{
    for (size_t axis = 0; axis < fer_type_rank(value->type); axis++) {
        const fer_dim *dim = fer_type_dim(value->type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            const char *name = fer_dim_symbol_at(dim, i, NULL);
            if (fer_names_find(&graph->dims, name) == value)
                fer_names_remove(&graph->dims, name);
        }
    }
}

fer_status fer_graph_reserve_values(fer_graph *graph, size_t num_values, fer_error *error)
{
    return fer_reserve(&graph->values, graph->num_values + num_values, &graph->values_capacity,
                       sizeof *graph->values, error);
}

void fer_graph_add_value(fer_graph *graph, fer_value *value)
{
    value->index = graph->num_values;
    graph->values[graph->num_values++] = value;
}

fer_status fer_node_append(fer_node *node, fer_error *error)
{
    fer_block *block = node->block;
    fer_graph *graph = block->graph;
    FER_TRY(fer_reserve(&block->nodes, block->num_nodes + 1, &block->nodes_capacity,
                        sizeof *block->nodes, error));
    FER_TRY(fer_graph_reserve_values(graph, node->num_results, error));
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < node->num_results; i++)
        status = fer_graph_add_dims(graph, node->results[i], error);
    if (status != FER_OK) {
        for (size_t i = 0; i < node->num_results; i++)
            remove_dims(graph, node->results[i]);
        return status;
    }
    for (size_t i = 0; i < node->num_results; i++)
        fer_graph_add_value(graph, node->results[i]);
    block->nodes[block->num_nodes++] = node;
    block->has_effect |= fer_node_has_effect(node);
    block->must_run |= fer_node_must_run(node);
    node->index = graph->num_nodes++;
    graph->num_calls += node->kind == FER_NODE_CALL;
    graph->has_loop |=
        node->kind == FER_NODE_WHILE || (node->kind == FER_NODE_CALL && node->callee->has_loop);
    graph->num_ops += node->kind == FER_NODE_OP || node->kind == FER_NODE_CALL;
    return FER_OK;
}

/* The values that brought the names are computed, even if only the names are used. */
static void measure_names(const fer_graph *graph, const fer_type *type)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++)
            fer_graph_find_dim(graph, fer_dim_symbol_at(dim, i, NULL))->is_measured = true;
    }
}

fer_status fer_graph_share(fer_graph *graph, fer_node_kind kind, fer_value *value,
                           const fer_type *type, fer_value **out_value, fer_error *error)
{
    fer_status status = FER_OK;
    fer_node *node = NULL;
    FER_TRY_DONE(fer_node_create(graph, kind, &value, 1, 1, &node, error));
    FER_TRY_DONE(fer_node_add_result(node, fer_type_retain(type), error));
    node->results[0]->root = value->root;
    FER_TRY_DONE(fer_node_append(node, error));
    measure_names(graph, type);
    *out_value = node->results[0];
    node = NULL;

done:
    fer_node_destroy(node);
    return status;
}

void fer_graph_drop_constant(fer_graph *graph)
{
    fer_block *block = graph->current;
    graph->num_values--;
    graph->num_nodes--;
    fer_node_destroy(block->nodes[--block->num_nodes]);
}
