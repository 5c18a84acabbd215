/* What every executor takes for granted of a finished graph, checked once and in one pass. */
#include "graph/graph.h"
#include "signature/unify.h"

#include <string.h>

/* A value is defined when it comes before the node's own results. */
static fer_status verify_operands(const fer_graph *graph, const fer_node *node, size_t num_defined,
                                  size_t position, fer_error *error)
{
    for (size_t i = 0; i < node->num_operands; i++) {
        const fer_value *operand = node->operands[i];
        if (operand->graph != graph || operand->index >= num_defined ||
            graph->values[operand->index] != operand)
            return fer_fail(error, FER_VALUE_ERROR,
                            "graph '%s': step %zu uses a value that is not defined before it",
                            graph->name, position);
    }
    return FER_OK;
}

static fer_status fail_type(const fer_graph *graph, size_t position, const fer_value *value,
                            const char *expected, fer_error *error)
{
    return fer_fail(error, FER_VALUE_ERROR,
                    "graph '%s': step %zu gives %s, but the value is typed %s", graph->name,
                    position, expected, fer_type_text(value->type));
}

static fer_status verify_result_types(const fer_graph *graph, const fer_node *node, size_t ordinal,
                                      size_t position, fer_type *const *open, fer_error *error)
{
    for (size_t i = 0; i < node->num_results; i++) {
        fer_type *expected = NULL;
        FER_TRY(fer_name_open_dims(graph, node->op, ordinal, i, open[i], &expected, error));
        fer_status status = FER_OK;
        if (!fer_type_equal(expected, node->results[i]->type))
            status = fail_type(graph, position, node->results[i], fer_type_text(expected), error);
        fer_type_release(expected);
        FER_TRY(status);
    }
    return FER_OK;
}

static fer_status verify_op(const fer_graph *graph, const fer_node *node, size_t ordinal,
                            size_t position, fer_error *error)
{
    if (strcmp(node->token, node->op->token) != 0 || node->num_operands != node->op->num_operands ||
        node->num_results != node->op->num_results)
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s': step %zu is not the op %s",
                        graph->name, position, node->op->name);
    const fer_type *types[FER_MAX_OPERANDS];
    for (size_t i = 0; i < node->num_operands; i++)
        types[i] = node->operands[i]->type;
    fer_unification unification;
    FER_TRY(fer_unify(node->op->signature, types, node->num_operands, &unification, error));
    fer_status status =
        verify_result_types(graph, node, ordinal, position, unification.results, error);
    fer_unification_clear(&unification);
    return status;
}

static fer_status verify_constant(const fer_graph *graph, const fer_node *node, size_t position,
                                  fer_error *error)
{
    fer_type *type = NULL;
    FER_TRY(fer_tensor_type(node->constant, &type, error));
    fer_status status = FER_OK;
    if (!fer_type_equal(type, node->results[0]->type))
        status = fail_type(graph, position, node->results[0], fer_type_text(type), error);
    fer_type_release(type);
    return status;
}

static fer_status verify_rebind(const fer_graph *graph, const fer_node *node, size_t position,
                                fer_error *error)
{
    const fer_type *from = node->operands[0]->type;
    const fer_type *to = node->results[0]->type;
    if (fer_type_dtype(from) != fer_type_dtype(to) || fer_type_rank(from) != fer_type_rank(to) ||
        fer_type_device(from).id != fer_type_device(to).id ||
        node->results[0]->root != node->operands[0]->root)
        return fail_type(graph, position, node->results[0], fer_type_text(from), error);
    return FER_OK;
}

static fer_status verify_node(const fer_graph *graph, const fer_node *node, size_t ordinal,
                              size_t position, fer_error *error)
{
    switch (node->kind) {
    case FER_NODE_OP:
        return verify_op(graph, node, ordinal, position, error);
    case FER_NODE_CONSTANT:
        return verify_constant(graph, node, position, error);
    case FER_NODE_REBIND:
        return verify_rebind(graph, node, position, error);
    }
    return fer_fail(error, FER_VALUE_ERROR, "graph '%s': step %zu is of no known kind", graph->name,
                    position);
}

fer_status fer_graph_verify(const fer_graph *graph, fer_error *error)
{
    size_t num_defined = graph->num_inputs;
    size_t ordinal = 0;
    for (size_t i = 0; i < graph->num_nodes; i++) {
        const fer_node *node = graph->nodes[i];
        FER_TRY(verify_operands(graph, node, num_defined, i, error));
        FER_TRY(verify_node(graph, node, ordinal, i, error));
        num_defined += node->num_results;
        ordinal += node->kind == FER_NODE_OP;
    }
    for (size_t i = 0; i < graph->num_outputs; i++)
        if (graph->outputs[i]->graph != graph || graph->outputs[i]->index >= num_defined)
            return fer_fail(error, FER_VALUE_ERROR,
                            "graph '%s': output %zu is a value that the graph does not define",
                            graph->name, i);
    return FER_OK;
}
