/* Control flow that always goes one way. The steps of the arm that an `if` always takes stand in
 * its place, and a `while` that never turns gives its initial values.
 *
 * What a run does must stay as it is also where it fails. A step in a block is checked for sizes
 * when it is reached, and one in the graph's body before anything runs: so what moves there must be
 * what no sizes can refuse. And a name of a dim that ended with its arm may come again behind it
 * with another size, so nothing that brings names moves. */
#include "graph/passes.h"

#include <string.h>

static bool has_same_dims(const fer_type *a, const fer_type *b)
{
    if (fer_type_rank(a) != fer_type_rank(b))
        return false;
    for (size_t axis = 0; axis < fer_type_rank(a); axis++)
        if (!fer_dim_equal(fer_type_dim(a, axis), fer_type_dim(b, axis)))
            return false;
    return true;
}

/* Whether each result is as large as an operand, and no condition waits for a run. */
static bool is_certain_op(const fer_node *node)
{
    if (fer_signature_folded(node->op->signature)->num_conditions > 0)
        return false;
    for (size_t i = 0; i < node->num_results; i++) {
        size_t operand = 0;
        while (operand < node->num_operands &&
               !has_same_dims(node->results[i]->type, node->operands[operand]->type))
            operand++;
        if (operand == node->num_operands)
            return false;
    }
    return true;
}

static bool is_folded(const fer_rewrite *rewrite, const fer_node *node)
{
    return node->num_results > 0 && rewrite->constants[node->results[0]->index] != NULL;
}

static bool has_name(const fer_type *type, const char *name)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++)
            if (strcmp(fer_dim_symbol_at(dim, i, NULL), name) == 0)
                return true;
    }
    return false;
}

static bool is_operands_name(const fer_node *node, const char *name)
{
    for (size_t i = 0; i < node->num_operands; i++)
        if (has_name(node->operands[i]->type, name))
            return true;
    return false;
}

/* Whether a dim of a result has a name that no operand has: it may be new here. */
static bool may_bring_names(const fer_node *node)
{
    for (size_t i = 0; i < node->num_results; i++)
        for (size_t axis = 0; axis < fer_type_rank(node->results[i]->type); axis++) {
            const fer_dim *dim = fer_type_dim(node->results[i]->type, axis);
            for (size_t j = 0; j < fer_dim_num_symbols(dim); j++)
                if (!is_operands_name(node, fer_dim_symbol_at(dim, j, NULL)))
                    return true;
        }
    return false;
}

static bool has_dim(const fer_type *type, const fer_dim *dim)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++)
        if (fer_dim_equal(fer_type_dim(type, axis), dim))
            return true;
    return false;
}

/* Whether it fits all sizes, and each dim is a number or the operand's: of elements that are none,
 * a product of dims may be too large. */
static bool is_certain_reshape(const fer_node *node)
{
    const fer_type *type = node->results[0]->type;
    if (fer_node_must_run(node))
        return false;
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        if (fer_dim_num_symbols(dim) > 0 && !has_dim(node->operands[0]->type, dim))
            return false;
    }
    return true;
}

static bool can_leave_arm(const fer_rewrite *rewrite, const fer_block *arm, bool is_to_block);

/* Whether a step of an arm can stand around it: in a block, or in the graph's body. What is in the
 * blocks of a step waits there as before. */
static bool can_leave(const fer_rewrite *rewrite, const fer_node *node, bool is_to_block)
{
    if (rewrite->taken[node->index] != NULL)
        return can_leave_arm(rewrite, rewrite->taken[node->index], is_to_block);
    if (may_bring_names(node))
        return false;
    switch (node->kind) {
    case FER_NODE_CONSTANT:
    case FER_NODE_TRANSFER:
    case FER_NODE_WHILE:
        return true;
    case FER_NODE_OP:
        return is_to_block || is_certain_op(node) || is_folded(rewrite, node);
    case FER_NODE_RESHAPE:
        return is_to_block || is_certain_reshape(node);
    case FER_NODE_IF:
        return is_to_block || node->num_results == 0;
    case FER_NODE_CALL:
    case FER_NODE_REBIND:
        break;
    }
    return is_to_block;
}

static bool can_leave_arm(const fer_rewrite *rewrite, const fer_block *arm, bool is_to_block)
{
    for (size_t i = 0; i < arm->num_nodes; i++)
        if (!can_leave(rewrite, arm->nodes[i], is_to_block))
            return false;
    return true;
}

/* A result is a value of its own, so it is the same as another one if neither ever changes. */
static bool may_stand_in(const fer_value *value, const fer_value *result)
{
    return !value->root->is_changed && !result->is_changed;
}

static void stand_in(fer_rewrite *rewrite, const fer_node *node, fer_value *const *values)
{
    for (size_t i = 0; i < node->num_results; i++)
        rewrite->same[node->results[i]->index] = fer_rewrite_find(rewrite, values[i]);
    rewrite->num_changes++;
}

void fer_fold_if(fer_rewrite *rewrite, const fer_node *node, bool predicate)
{
    const fer_block *arm = node->blocks[predicate ? 0 : 1];
    for (size_t i = 0; i < node->num_results; i++)
        if (!may_stand_in(fer_rewrite_find(rewrite, arm->results[i]), node->results[i]))
            return;
    if (!can_leave_arm(rewrite, arm, node->block->depth > 0))
        return;
    rewrite->taken[node->index] = arm;
    stand_in(rewrite, node, arm->results);
}

/* Whether a condition does nothing but say what it yields. */
static bool is_idle(const fer_rewrite *rewrite, const fer_block *condition)
{
    for (size_t i = 0; i < condition->num_nodes; i++) {
        const fer_node *node = condition->nodes[i];
        if (node->kind != FER_NODE_CONSTANT && node->kind != FER_NODE_TRANSFER &&
            !is_folded(rewrite, node))
            return false;
    }
    return true;
}

void fer_fold_while(fer_rewrite *rewrite, const fer_node *node)
{
    const fer_block *condition = node->blocks[0];
    for (size_t i = 0; i < node->num_results; i++)
        if (!may_stand_in(fer_rewrite_find(rewrite, node->operands[i]), node->results[i]) ||
            condition->arguments[i]->is_changed)
            return;
    if (!is_idle(rewrite, condition))
        return;
    rewrite->is_dropped[node->index] = true;
    stand_in(rewrite, node, node->operands);
}
