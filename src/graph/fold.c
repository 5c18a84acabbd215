/* Constant folding: an op whose operands are constants is called once, when the graph is made
 * ready, and its results are constants from there on; so is what a transfer makes of one. An
 * `if` or a `while` whose predicate is then a constant goes with it (fold_control.c). The
 * kernel is the one that a run would call, so the bits are the same. What fails is left for the
 * run, which then fails in its place. */
#include "base/arithmetic.h"
#include "graph/passes.h"
#include "tensor/tensor.h"

#include <stdlib.h>

/* Elements of one op's operands and results, and of all results in a graph: folding saves small
 * work that is done again and again, and must not fill the memory. */
#define MAX_OP_BYTES ((int64_t)1 << 16)
#define MAX_GRAPH_BYTES ((int64_t)1 << 20)

typedef struct folder {
    fer_rewrite *rewrite;
    bool *is_needed;
    int64_t num_bytes; /* of all results */
} folder;

/* What the value always is, or NULL. */
static fer_tensor *constant_of(const folder *f, fer_value *given)
{
    const fer_value *value = fer_rewrite_find(f->rewrite, given);
    if (value->is_changed)
        return NULL;
    if (value->node != NULL && value->node->kind == FER_NODE_CONSTANT)
        return value->node->constant;
    return f->rewrite->constants[value->index];
}

/* False: they are not known. */
static bool read_extents(const fer_type *type, int64_t *extents)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++)
        if (fer_dim_value(fer_type_dim(type, axis), &extents[axis], NULL) != FER_OK)
            return false;
    return true;
}

/* Adds the bytes of values; false: they are too many, or not known. */
static bool add_bytes(fer_value *const *values, size_t num_values, int64_t *num_bytes)
{
    for (size_t i = 0; i < num_values; i++) {
        const fer_type *type = values[i]->type;
        int64_t extents[FER_MAX_RANK];
        int64_t count;
        if (!read_extents(type, extents))
            return false;
        if (!fer_count_elements(extents, fer_type_rank(type), &count) || count > MAX_OP_BYTES)
            return false;
        *num_bytes += count * (int64_t)fer_dtype_bytes(fer_type_dtype(type));
        if (*num_bytes > MAX_OP_BYTES)
            return false;
    }
    return true;
}

static bool is_foldable(const folder *f, const fer_node *node)
{
    bool is_op = node->kind == FER_NODE_OP && node->op->home != NULL;
    if ((!is_op && node->kind != FER_NODE_TRANSFER) || fer_node_has_effect(node) ||
        !f->is_needed[node->index])
        return false;
    for (size_t i = 0; i < node->num_operands; i++)
        if (constant_of(f, node->operands[i]) == NULL)
            return false;
    return true;
}

static fer_status evaluate(const fer_node *node, fer_tensor *const *operands, fer_tensor **results)
{
    if (node->kind == FER_NODE_TRANSFER)
        return fer_tensor_clone(operands[0], fer_type_device(node->results[0]->type), results,
                                NULL);
    return fer_call(node->op, operands, node->num_operands, results, node->num_results, NULL);
}

static void fold(folder *f, const fer_node *node)
{
    fer_tensor *operands[FER_MAX_OPERANDS];
    fer_tensor *results[FER_MAX_OPERANDS];
    int64_t result_bytes = 0;
    if (!is_foldable(f, node) || !add_bytes(node->results, node->num_results, &result_bytes))
        return;
    int64_t num_bytes = result_bytes;
    if (!add_bytes(node->operands, node->num_operands, &num_bytes) ||
        f->num_bytes + result_bytes > MAX_GRAPH_BYTES)
        return;
    for (size_t i = 0; i < node->num_operands; i++)
        operands[i] = constant_of(f, node->operands[i]);
    if (evaluate(node, operands, results) != FER_OK)
        return;
    for (size_t i = 0; i < node->num_results; i++)
        f->rewrite->constants[node->results[i]->index] = results[i];
    f->num_bytes += result_bytes;
    f->rewrite->num_changes++;
}

/* A step with blocks, whose blocks have been folded. */
static void fold_control(folder *f, const fer_node *node)
{
    fer_value *predicate =
        node->kind == FER_NODE_IF ? node->operands[0] : node->blocks[0]->results[0];
    const fer_tensor *constant = constant_of(f, predicate);
    if (constant == NULL)
        return;
    bool is_true = *(const unsigned char *)constant->dl.data != 0;
    if (node->kind == FER_NODE_IF)
        fer_fold_if(f->rewrite, node, is_true);
    else if (!is_true)
        fer_fold_while(f->rewrite, node);
}

/* Shares the constant's memory; what it is of is never changed. */
static void fold_reshape(folder *f, const fer_node *node)
{
    const fer_value *result = node->results[0];
    const fer_tensor *constant = constant_of(f, node->operands[0]);
    int64_t extents[FER_MAX_RANK];
    if (constant == NULL || result->root->is_changed || !f->is_needed[node->index] ||
        !read_extents(result->type, extents))
        return;
    fer_tensor **folded = &f->rewrite->constants[result->index];
    if (fer_tensor_reshape(constant, fer_type_rank(result->type), extents, folded, NULL) == FER_OK)
        f->rewrite->num_changes++;
}

static void fold_block(folder *f, const fer_block *block)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        if (node->kind == FER_NODE_RESHAPE)
            fold_reshape(f, node);
        else
            fold(f, node);
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++)
            fold_block(f, node->blocks[j]);
        if (node->blocks[0] != NULL)
            fold_control(f, node);
    }
}

static fer_status decide(fer_rewrite *rewrite, fer_error *error)
{
    folder f = {.rewrite = rewrite};
    f.is_needed = calloc(rewrite->graph->num_nodes + 1, sizeof *f.is_needed);
    if (f.is_needed == NULL)
        return fer_fail_memory(error);
    fer_status status = fer_find_needed(rewrite->graph, f.is_needed, error);
    if (status == FER_OK)
        fold_block(&f, &rewrite->graph->body);
    free(f.is_needed);
    return status;
}

const fer_pass fer_pass_fold = {
    .name = "fold",
    .summary = "ops on constants become constants; what always goes one way loses the other",
    .decide = decide,
};
