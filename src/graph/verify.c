/* What every executor takes for granted of a finished graph, checked once and in one pass: values
 * are defined where they are used, types follow from what gives them, dims are known, and what has
 * an effect is marked so. */
#include "graph/graph.h"
#include "signature/unify.h"

#include <string.h>

/* Where the pass is: nodes in the order in which they were made. */
typedef struct verifier {
    const fer_graph *graph;
    size_t position;    /* of the node, in the program's order */
    size_t num_defined; /* values */
    size_t ordinal;     /* the least of the next op or call: a pass may have dropped some */
    fer_names dims;     /* to the block that knows the name */
} verifier;

__attribute__((format(printf, 3, 4))) static fer_status fail(const verifier *v, fer_error *error,
                                                             const char *format, ...)
{
    va_list arguments;
    fer_text why = FER_TEXT_INIT;
    va_start(arguments, format);
    fer_text_vprintf(&why, format, arguments);
    va_end(arguments);
    fer_status status = why.has_failed
                            ? fer_fail_memory(error)
                            : fer_fail(error, FER_VALUE_ERROR, "graph '%s': step %zu %s",
                                       v->graph->name, v->position, fer_text_string(&why));
    fer_text_free(&why);
    return status;
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool is_defined(const verifier *v, const fer_block *block, const fer_value *value)
{
    return value->graph == v->graph && value->index < v->num_defined &&
           v->graph->values[value->index] == value && fer_block_is_inside(block, value->block);
}

static fer_status verify_uses(const verifier *v, const fer_block *block, fer_value *const *values,
                              size_t num_values, fer_error *error)
{
    for (size_t i = 0; i < num_values; i++)
        if (!is_defined(v, block, values[i]))
            return fail(v, error, "uses a value that is not defined before it");
    return FER_OK;
}

static fer_status fail_type(const verifier *v, const fer_value *value, const char *expected,
                            fer_error *error)
{
    return fail(v, error, "gives %s, but the value is typed %s", expected,
                fer_type_text(value->type));
}

static fer_status verify_same_types(const verifier *v, fer_value *const *values,
                                    fer_value *const *like, size_t num_values, fer_error *error)
{
    for (size_t i = 0; i < num_values; i++)
        if (!fer_type_equal(values[i]->type, like[i]->type))
            return fail_type(v, values[i], fer_type_text(like[i]->type), error);
    return FER_OK;
}

/* Defines what is next among the graph's values. */
static fer_status define(verifier *v, const fer_block *block, fer_value *const *values,
                         size_t num_values, fer_error *error)
{
    for (size_t i = 0; i < num_values; i++) {
        fer_value *value = values[i];
        if (value->index != v->num_defined++ || v->graph->values[value->index] != value ||
            value->block != block)
            return fail(v, error, "defines a value out of its place");
        for (size_t axis = 0; axis < fer_type_rank(value->type); axis++) {
            const fer_dim *dim = fer_type_dim(value->type, axis);
            for (size_t j = 0; j < fer_dim_num_symbols(dim); j++) {
                const char *name = fer_dim_symbol_at(dim, j, NULL);
                const fer_block *known = fer_names_find(&v->dims, name);
                if (known == NULL || !fer_block_is_inside(block, known))
                    FER_TRY(fer_names_set(&v->dims, name, block, error));
            }
        }
    }
    return FER_OK;
}

static bool stands_bare(const fer_node *node, const char *name)
{
    for (size_t i = 0; i < node->num_results; i++)
        for (size_t axis = 0; axis < fer_type_rank(node->results[i]->type); axis++) {
            const char *bare =
                fer_dim_symbol_name(fer_type_dim(node->results[i]->type, axis), NULL);
            if (bare != NULL && strcmp(bare, name) == 0)
                return true;
        }
    return false;
}

/* The names in a step's type are known, unless `may_bring` says that it brings those that stand
 * bare. */
static fer_status verify_dims(const verifier *v, const fer_node *node, const fer_type *type,
                              bool may_bring, fer_error *error)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            const char *name = fer_dim_symbol_at(dim, i, NULL);
            const fer_block *known = fer_names_find(&v->dims, name);
            if ((known == NULL || !fer_block_is_inside(node->block, known)) &&
                !(may_bring && stands_bare(node, name)))
                return fail(v, error, "gives %s, but nothing says what %s is", fer_type_text(type),
                            name);
        }
    }
    return FER_OK;
}

/* --- Nodes without blocks --------------------------------------------------------------------- */

static fer_status verify_result_types(const verifier *v, const fer_node *node,
                                      fer_type *const *open, fer_error *error)
{
    for (size_t i = 0; i < node->num_results; i++) {
        fer_type *expected = NULL;
        FER_TRY(
            fer_name_open_dims(v->graph, node->op, node->ordinal, i, open[i], &expected, error));
        fer_status status = FER_OK;
        if (!fer_type_equal(expected, node->results[i]->type))
            status = fail_type(v, node->results[i], fer_type_text(expected), error);
        fer_type_release(expected);
        FER_TRY(status);
    }
    return FER_OK;
}

static fer_status verify_op(const verifier *v, const fer_node *node, fer_error *error)
{
    if (strcmp(node->token, node->op->token) != 0 || node->num_operands != node->op->num_operands ||
        node->num_results != node->op->num_results || node->ordinal < v->ordinal)
        return fail(v, error, "is not the op %s", node->op->name);
    const fer_signature_spec *spec = fer_signature_folded(node->op->signature);
    const fer_type *types[FER_MAX_OPERANDS];
    for (size_t i = 0; i < node->num_operands; i++) {
        types[i] = node->operands[i]->type;
        if (spec->operands[i].is_inout && !node->operands[i]->root->is_changed)
            return fail(v, error, "changes a value that is not marked so");
    }
    fer_unification unification;
    FER_TRY(fer_unify(node->op->signature, types, node->num_operands, &unification, error));
    fer_status status = verify_result_types(v, node, unification.results, error);
    fer_unification_clear(&unification);
    return status;
}

static fer_status verify_constant(const verifier *v, const fer_node *node, fer_error *error)
{
    fer_type *type = NULL;
    FER_TRY(fer_tensor_type(node->constant, &type, error));
    fer_status status = FER_OK;
    if (!fer_type_equal(type, node->results[0]->type))
        status = fail_type(v, node->results[0], fer_type_text(type), error);
    fer_type_release(type);
    return status;
}

static fer_status verify_rebind(const verifier *v, const fer_node *node, fer_error *error)
{
    const fer_type *from = node->operands[0]->type;
    const fer_type *to = node->results[0]->type;
    if (fer_type_dtype(from) != fer_type_dtype(to) || fer_type_rank(from) != fer_type_rank(to) ||
        fer_type_device(from).id != fer_type_device(to).id ||
        node->results[0]->root != node->operands[0]->root)
        return fail_type(v, node->results[0], fer_type_text(from), error);
    return verify_dims(v, node, to, true, error);
}

static fer_status verify_reshape(const verifier *v, const fer_node *node, fer_error *error)
{
    const fer_type *from = node->operands[0]->type;
    const fer_type *to = node->results[0]->type;
    if (fer_type_dtype(from) != fer_type_dtype(to) ||
        fer_type_device(from).id != fer_type_device(to).id ||
        node->results[0]->root != node->operands[0]->root || fer_reshape_never_holds(from, to))
        return fail_type(v, node->results[0], fer_type_text(from), error);
    return verify_dims(v, node, to, false, error);
}

/* A transfer changes where the elements are, and nothing else. */
static fer_status verify_transfer(const verifier *v, const fer_node *node, fer_error *error)
{
    const fer_value *result = node->results[0];
    fer_type *expected = NULL;
    FER_TRY(fer_transferred_type(node->operands[0]->type, fer_type_device(result->type), &expected,
                                 error));
    fer_status status = FER_OK;
    if (!fer_type_equal(expected, result->type) || result->root != result)
        status = fail_type(v, result, fer_type_text(expected), error);
    fer_type_release(expected);
    return status;
}

static fer_status verify_call(const verifier *v, const fer_node *node, fer_error *error)
{
    const fer_graph *callee = node->callee;
    if (callee == v->graph || callee->module != v->graph->module || !callee->is_finished ||
        node->num_operands != callee->num_inputs || node->num_results != callee->num_outputs ||
        node->ordinal < v->ordinal)
        return fail(v, error, "is not a call of the graph '%s'", callee->name);
    for (size_t i = 0; i < node->num_operands; i++)
        if (fer_value_is_inout(callee->values[i]) && !node->operands[i]->root->is_changed)
            return fail(v, error, "changes a value that is not marked so");
    fer_call_binding binding;
    FER_TRY(fer_call_bind(v->graph, callee, node->operands, node->ordinal, &binding, error));
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < node->num_results; i++)
        if (!fer_type_equal(binding.results[i], node->results[i]->type))
            status = fail_type(v, node->results[i], fer_type_text(binding.results[i]), error);
    fer_call_binding_clear(&binding);
    return status;
}

/* --- Nodes with blocks ------------------------------------------------------------------------ */

static fer_status verify_block(verifier *v, const fer_block *block, fer_error *error);

static bool is_predicate(const fer_value *value)
{
    return fer_type_dtype(value->type) == FER_BOOL && fer_type_rank(value->type) == 0;
}

static fer_status verify_if(verifier *v, const fer_node *node, fer_error *error)
{
    if (node->num_operands != 1 || !is_predicate(node->operands[0]))
        return fail(v, error, "has no predicate, bool[]");
    for (size_t i = 0; i < 2; i++) {
        const fer_block *arm = node->blocks[i];
        FER_TRY(verify_block(v, arm, error));
        if (arm->num_results != node->num_results)
            return fail(v, error, "gives %zu values, but %s yields %zu", node->num_results,
                        fer_block_role(arm), arm->num_results);
        FER_TRY(verify_same_types(v, arm->results, node->results, arm->num_results, error));
    }
    for (size_t i = 0; i < node->num_results; i++)
        FER_TRY(verify_dims(v, node, node->results[i]->type, true, error));
    return FER_OK;
}

static fer_status verify_while(verifier *v, const fer_node *node, fer_error *error)
{
    const fer_block *condition = node->blocks[0];
    const fer_block *body = node->blocks[1];
    size_t count = node->num_operands;
    if (node->num_results != count || condition->num_arguments != count)
        return fail(v, error, "gives %zu values, but carries %zu", node->num_results, count);
    FER_TRY(verify_same_types(v, condition->arguments, node->operands, count, error));
    FER_TRY(verify_block(v, condition, error));
    if (condition->num_results != 1 || !is_predicate(condition->results[0]))
        return fail(v, error, "has no predicate, bool[]");
    FER_TRY(verify_block(v, body, error));
    if (body->num_results != count)
        return fail(v, error, "carries %zu values, but the body yields %zu", count,
                    body->num_results);
    FER_TRY(verify_same_types(v, body->results, node->operands, count, error));
    return verify_same_types(v, node->results, node->operands, count, error);
}

static fer_status verify_node(verifier *v, const fer_node *node, fer_error *error)
{
    switch (node->kind) {
    case FER_NODE_OP:
        return verify_op(v, node, error);
    case FER_NODE_CONSTANT:
        return verify_constant(v, node, error);
    case FER_NODE_REBIND:
        return verify_rebind(v, node, error);
    case FER_NODE_RESHAPE:
        return verify_reshape(v, node, error);
    case FER_NODE_TRANSFER:
        return verify_transfer(v, node, error);
    case FER_NODE_IF:
        return verify_if(v, node, error);
    case FER_NODE_WHILE:
        return verify_while(v, node, error);
    case FER_NODE_CALL:
        return verify_call(v, node, error);
    }
    return fail(v, error, "is of no known kind");
}

static fer_status verify_block(verifier *v, const fer_block *block, fer_error *error)
{
    FER_TRY(define(v, block, block->arguments, block->num_arguments, error));
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        FER_TRY(verify_uses(v, block, node->operands, node->num_operands, error));
        FER_TRY(verify_node(v, node, error));
        FER_TRY(define(v, block, node->results, node->num_results, error));
        if ((fer_node_has_effect(node) && !block->has_effect) ||
            (fer_node_must_run(node) && !block->must_run))
            return fail(v, error, "has an effect, but %s is not marked so", fer_block_role(block));
        if (node->kind == FER_NODE_OP || node->kind == FER_NODE_CALL)
            v->ordinal = node->ordinal + 1;
        v->position++;
    }
    return verify_uses(v, block, block->results, block->num_results, error);
}

fer_status fer_graph_verify(const fer_graph *graph, fer_error *error)
{
    verifier v = {.graph = graph};
    fer_status status = define(&v, &graph->body, graph->values, graph->num_inputs, error);
    if (status == FER_OK)
        status = verify_block(&v, &graph->body, error);
    for (size_t i = 0; status == FER_OK && i < graph->num_outputs; i++)
        if (!is_defined(&v, &graph->body, graph->outputs[i]))
            status = fer_fail(error, FER_VALUE_ERROR,
                              "graph '%s': output %zu is a value that the graph does not define",
                              graph->name, i);
    fer_names_clear(&v.dims);
    return status;
}
