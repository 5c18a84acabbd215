/* Staging an op: the checks of a call on types, and a node for it in the graph. */
#include "graph/graph.h"
#include "signature/unify.h"

#include <stdlib.h>
#include <string.h>

static fer_status check_operands(const fer_graph *graph, const fer_op *op,
                                 fer_value *const *operands, size_t num_operands, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    if (num_operands != spec->num_operands)
        return fer_fail_count(error, &(fer_count){.op = op->name,
                                                  .what = "operand",
                                                  .expected = spec->num_operands,
                                                  .actual = num_operands});
    for (size_t i = 0; i < num_operands; i++) {
        fer_place place = {.op = op->name, .operand = spec->operands[i].name};
        if (operands[i] == NULL)
            return fer_fail_at(error, FER_TYPE_ERROR, &place,
                               "%s: operand '%s' is NULL, not a value", op->name, place.operand);
        if (operands[i]->graph != graph)
            return fer_fail_at(error, FER_VALUE_ERROR, &place,
                               "%s: operand '%s' is a value of another graph, '%s', than the op is "
                               "staged in, '%s'",
                               op->name, place.operand, operands[i]->graph->name, graph->name);
        if (!operands[i]->block->is_open)
            return fer_fail_at(error, FER_VALUE_ERROR, &place,
                               "%s: operand '%s' is a value of %s, which has ended; only what it "
                               "yields, in Python returns, can be used outside of it",
                               op->name, place.operand, fer_block_role(operands[i]->block));
    }
    return FER_OK;
}

static fer_status check_inout(const fer_op *op, fer_value *const *operands, size_t index,
                              fer_error *error)
{
    const fer_operand *declared = fer_signature_folded(op->signature)->operands;
    fer_place place = {.op = op->name, .operand = declared[index].name};
    FER_TRY(fer_value_require_changeable(operands[index], place.op, place.operand, error));
    for (size_t i = 0; i < op->num_operands; i++)
        if (i != index && operands[i]->root == operands[index]->root)
            return fer_fail_at(error, FER_VALUE_ERROR, &place,
                               "%s: operand '%s' is inout, but operand '%s' shares its memory",
                               op->name, place.operand, declared[i].name);
    return FER_OK;
}

static fer_status check_all_inout(const fer_op *op, fer_value *const *operands, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    for (size_t i = 0; i < spec->num_operands; i++)
        if (spec->operands[i].is_inout)
            FER_TRY(check_inout(op, operands, i, error));
    return FER_OK;
}

/* TYPE: the graph has a dim of the name that a data-dependent one would get. */
static fer_status check_open_dims(const fer_graph *graph, const fer_node *node,
                                  fer_type *const *open, fer_error *error)
{
    for (size_t i = 0; i < node->num_results; i++)
        for (size_t axis = 0; axis < fer_type_rank(open[i]); axis++) {
            if (fer_type_dim(open[i], axis) != NULL)
                continue;
            const char *name =
                fer_dim_symbol_name(fer_type_dim(node->results[i]->type, axis), NULL);
            if (fer_names_find(&graph->dims, name) != NULL)
                return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = node->op->name},
                                   "%s: the graph has a dim '%s' already, which is the name of "
                                   "this op's data-dependent dim",
                                   node->op->name, name);
        }
    return FER_OK;
}

static fer_status create_op_node(fer_graph *graph, const fer_op *op, fer_value *const *operands,
                                 const fer_unification *unification, fer_node **out_node,
                                 fer_error *error)
{
    fer_node *node = NULL;
    FER_TRY(fer_node_create(graph, FER_NODE_OP, operands, op->num_operands, op->num_results, &node,
                            error));
    fer_status status = FER_OK;
    node->op = fer_op_retain(op);
    node->token = op->token;
    node->ordinal = graph->num_ops;
    for (size_t i = 0; i < op->num_results; i++) {
        fer_type *type = NULL;
        FER_TRY_DONE(fer_name_open_dims(graph, op, graph->num_ops, i, unification->results[i],
                                        &type, error));
        FER_TRY_DONE(fer_node_add_result(node, type, error));
    }
    FER_TRY_DONE(check_open_dims(graph, node, unification->results, error));
    *out_node = node;
    node = NULL;

done:
    fer_node_destroy(node);
    return status;
}

static fer_status infer(const fer_op *op, fer_value *const *operands, fer_unification *out,
                        fer_error *error)
{
    const fer_type *types[FER_MAX_OPERANDS];
    for (size_t i = 0; i < op->num_operands; i++)
        types[i] = operands[i]->type;
    FER_TRY(fer_signature_require_complete(op->signature, error));
    return fer_unify(op->signature, types, op->num_operands, out, error);
}

static fer_status stage(fer_graph *graph, const fer_op *op, fer_value *const *operands,
                        size_t num_operands, fer_value **out_results, size_t num_results,
                        fer_error *error)
{
    FER_TRY(fer_graph_require_open(graph, error));
    FER_TRY(check_operands(graph, op, operands, num_operands, error));
    FER_TRY(check_all_inout(op, operands, error));
    if (num_results != op->num_results)
        return fer_fail_count(error, &(fer_count){.op = op->name,
                                                  .what = "result",
                                                  .is_room = true,
                                                  .expected = op->num_results,
                                                  .actual = num_results});
    fer_unification unification;
    FER_TRY(infer(op, operands, &unification, error));
    fer_node *node = NULL;
    fer_status status = create_op_node(graph, op, operands, &unification, &node, error);
    fer_unification_clear(&unification);
    if (status == FER_OK)
        status = fer_node_append(node, error);
    if (status != FER_OK) {
        fer_node_destroy(node);
        return status;
    }
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    for (size_t i = 0; i < num_operands; i++)
        if (spec->operands[i].is_inout)
            fer_node_changes(node, i);
    graph->has_dynamic_dims |= fer_signature_num_open(op->signature) > 0;
    if (num_results > 0)
        memcpy(out_results, node->results, num_results * sizeof *out_results);
    return FER_OK;
}

/* Results are cleared last: a chain of ops may be staged with one variable for both. */
fer_status fer_graph_stage(fer_graph *graph, const fer_op *op, fer_value *const *operands,
                           size_t num_operands, fer_value **out_results, size_t num_results,
                           fer_error *error)
{
    fer_status status = stage(graph, op, operands, num_operands, out_results, num_results, error);
    for (size_t i = 0; status != FER_OK && i < num_results; i++)
        out_results[i] = NULL;
    return status;
}
