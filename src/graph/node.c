/* Values and nodes, the parts that a graph is made of. */
#include "graph/graph.h"
#include "graph/text.h"
#include "signature/unify.h"
#include "tensor/tensor.h"

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
    *value = (fer_value){.graph = graph,
                         .type = type,
                         .node = node,
                         .root = value,
                         .block = node == NULL ? graph->current : node->block};
    *out_value = value;
    return FER_OK;
}

void fer_node_destroy(fer_node *node)
{
    if (node == NULL)
        return;
    for (size_t i = 0; i < node->num_results; i++)
        fer_value_destroy(node->results[i]);
    fer_block_destroy(node->blocks[0]);
    fer_block_destroy(node->blocks[1]);
    fer_op_release(node->op);
    fer_tensor_release(node->constant);
    free(node->operands);
    free(node->results);
    free(node->file);
    free(node->digest);
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

fer_status fer_node_create(fer_graph *graph, fer_node_kind kind, fer_value *const *operands,
                           size_t num_operands, size_t num_results, fer_node **out_node,
                           fer_error *error)
{
    fer_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return fer_fail_memory(error);
    node->kind = kind;
    node->block = graph->current;
    node->operands = calloc(num_operands + 1, sizeof *node->operands);
    node->results = calloc(num_results + 1, sizeof *node->results);
    if (node->operands == NULL || node->results == NULL) {
        fer_node_destroy(node);
        return fer_fail_memory(error);
    }
    node->num_operands = num_operands;
    if (num_operands > 0)
        memcpy(node->operands, operands, num_operands * sizeof *operands);
    *out_node = node;
    return FER_OK;
}

fer_status fer_node_add_result(fer_node *node, fer_type *type, fer_error *error)
{
    fer_value **result = &node->results[node->num_results];
    FER_TRY(fer_value_create(node->block->graph, type, node, result, error));
    node->num_results++;
    return FER_OK;
}

fer_status fer_value_require_changeable(const fer_value *value, const char *op, const char *operand,
                                        fer_error *error)
{
    const fer_value *root = value->root;
    if (root->index >= root->graph->num_inputs || root->is_changed)
        return FER_OK;
    fer_place place = {
        .op = op, .operand = operand, .expected = "an inout input", .actual = "an input"};
    fer_text input = FER_TEXT_INIT;
    fer_input_append(&input, root);
    fer_status status =
        input.has_failed
            ? fer_fail_memory(error)
            : fer_fail_at(error, FER_VALUE_ERROR, &place,
                          "%s%s '%s' is inout, but the graph's input '%s' is not declared so; "
                          "write 'inout %s'",
                          op == NULL ? "" : op, op == NULL ? "input" : ": operand", operand,
                          root->name, fer_text_string(&input));
    fer_text_free(&input);
    return status;
}

void fer_node_changes(const fer_node *node, size_t operand)
{
    node->operands[operand]->root->is_changed = true;
}

fer_status fer_node_select(const fer_node *node, const fer_specialisation **out_specialisation,
                           fer_error *error)
{
    *out_specialisation = NULL;
    const fer_type *types[FER_MAX_OPERANDS];
    for (size_t i = 0; i < node->num_operands; i++)
        types[i] = node->operands[i]->type;
    fer_unification unification;
    FER_TRY(fer_unify(node->op->signature, types, node->num_operands, &unification, error));
    fer_status status = fer_op_select(node->op, unification.dtypes, out_specialisation, error);
    fer_unification_clear(&unification);
    return status;
}

bool fer_node_same_constants(const fer_node *a, const fer_node *b)
{
    size_t num_bytes = a->constant->num_bytes;
    return num_bytes == b->constant->num_bytes &&
           (num_bytes == 0 || memcmp(a->constant->dl.data, b->constant->dl.data, num_bytes) == 0);
}

/* --- Effects ---------------------------------------------------------------------------------- */

static bool op_has_effect(const fer_op *op)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    for (size_t i = 0; i < spec->num_operands; i++)
        if (spec->operands[i].is_inout)
            return true;
    return spec->has_effect;
}

bool fer_node_has_effect(const fer_node *node)
{
    switch (node->kind) {
    case FER_NODE_OP:
        return op_has_effect(node->op);
    case FER_NODE_CONSTANT:
    case FER_NODE_REBIND:
    case FER_NODE_RESHAPE:
    case FER_NODE_TRANSFER:
        return false;
    case FER_NODE_IF:
    case FER_NODE_WHILE:
        return node->blocks[0]->has_effect || node->blocks[1]->has_effect;
    case FER_NODE_CALL:
        return node->callee->body.has_effect;
    }
    return true;
}

bool fer_node_must_run(const fer_node *node)
{
    switch (node->kind) {
    case FER_NODE_REBIND:
        return true;
    case FER_NODE_RESHAPE:
        return !fer_reshape_always_holds(node->operands[0]->type, node->results[0]->type);
    case FER_NODE_IF:
    case FER_NODE_WHILE:
        return node->blocks[0]->must_run || node->blocks[1]->must_run;
    case FER_NODE_CALL:
        return node->callee->body.must_run;
    case FER_NODE_OP:
    case FER_NODE_CONSTANT:
    case FER_NODE_TRANSFER:
        break;
    }
    return fer_node_has_effect(node);
}
