/* Values and nodes, the parts that a graph is made of. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

void fer_value_destroy(fer_value *value)
{
    if (value == NULL)
        return;
    fer_type_release(value->type);
    free(value->name);
    free(value);
}

fer_status fer_value_create(fer_graph *graph, fer_type *type, const fer_node *node,
                            fer_value **out_value, fer_error *error)
{
    fer_value *value = calloc(1, sizeof *value);
    if (value == NULL) {
        fer_type_release(type);
        return fer_fail_memory(error);
    }
    *value = (fer_value){.graph = graph, .type = type, .node = node, .root = value};
    *out_value = value;
    return FER_OK;
}

void fer_node_destroy(fer_node *node)
{
    if (node == NULL)
        return;
    for (size_t i = 0; i < node->num_results; i++)
        fer_value_destroy(node->results[i]);
    fer_op_release(node->op);
    fer_tensor_release(node->constant);
    free(node->operands);
    free(node->results);
    free(node->place);
    free(node->excerpt);
    free(node);
}

fer_status fer_node_locate(const fer_node *node, fer_status status, fer_error *error)
{
    if (status == FER_OK || node->place == NULL)
        return status;
    fer_error_set_excerpt(error, node->excerpt);
    return fer_error_prepend(error, status, "%s: ", node->place);
}

fer_status fer_node_create(fer_node_kind kind, fer_value *const *operands, size_t num_operands,
                           size_t num_results, fer_node **out_node, fer_error *error)
{
    fer_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return fer_fail_memory(error);
    node->kind = kind;
    node->operands = calloc(num_operands + 1, sizeof *node->operands);
    node->results = calloc(num_results + 1, sizeof *node->results);
    if (node->operands == NULL || node->results == NULL) {
        fer_node_destroy(node);
        return fer_fail_memory(error);
    }
    node->num_operands = num_operands;
    node->num_results = num_results;
    if (num_operands > 0)
        memcpy(node->operands, operands, num_operands * sizeof *operands);
    *out_node = node;
    return FER_OK;
}

fer_status fer_node_append(fer_graph *graph, fer_node *node, fer_error *error)
{
    FER_TRY(fer_reserve(&graph->nodes, graph->num_nodes + 1, &graph->nodes_capacity,
                        sizeof *graph->nodes, error));
    FER_TRY(fer_reserve(&graph->values, graph->num_values + node->num_results,
                        &graph->values_capacity, sizeof *graph->values, error));
    for (size_t i = 0; i < node->num_results; i++) {
        node->results[i]->index = graph->num_values;
        graph->values[graph->num_values++] = node->results[i];
    }
    graph->nodes[graph->num_nodes++] = node;
    graph->num_ops += node->kind == FER_NODE_OP;
    return FER_OK;
}

void fer_graph_drop_constant(fer_graph *graph)
{
    graph->num_values--;
    fer_node_destroy(graph->nodes[--graph->num_nodes]);
}

fer_status fer_graph_require_open(const fer_graph *graph, fer_error *error)
{
    if (!graph->is_finished)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR, "graph '%s' is finished and takes nothing more",
                    graph->name);
}

fer_status fer_graph_require_value(const fer_graph *graph, const fer_value *value, const char *what,
                                   fer_error *error)
{
    if (value == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "graph '%s': %s is NULL, not a value", graph->name,
                        what);
    if (value->graph != graph)
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s': %s is a value of another graph, '%s'",
                        graph->name, what, value->graph->name);
    return FER_OK;
}

bool fer_node_has_effect(const fer_node *node)
{
    if (node->kind != FER_NODE_OP)
        return node->kind == FER_NODE_REBIND; /* it asserts */
    const fer_signature_spec *spec = fer_signature_folded(node->op->signature);
    for (size_t i = 0; i < spec->num_operands; i++)
        if (spec->operands[i].is_inout)
            return true;
    return spec->has_effect;
}
