/* Common subexpressions: where an op stands whose op and operands are those of one that ran before
 * it, in its block or in one around it, the earlier results serve; and so for constants and
 * transfers. What is changed in its place, before or after, is never shared. */
#include "base/hash.h"
#include "graph/passes.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

typedef struct finder {
    fer_rewrite *rewrite;
    bool *is_needed;   /* what does not run cannot serve what does */
    fer_names nodes;   /* by what they compute: those that can be seen */
    const char **keys; /* the names in `nodes`, which has them; oldest first */
    size_t num_keys;
} finder;

/* A data-dependent dim has a name of its own for each op, so results with one are not shared. */
static bool is_shareable(const finder *f, const fer_node *node)
{
    if (node->kind == FER_NODE_RESHAPE) /* the same elements both times, changed or not */
        return f->is_needed[node->index] && !fer_node_must_run(node);
    bool is_pure = node->kind == FER_NODE_CONSTANT || node->kind == FER_NODE_TRANSFER ||
                   (node->kind == FER_NODE_OP && !fer_node_has_effect(node));
    if (!f->is_needed[node->index] || !is_pure)
        return false;
    if (node->op != NULL && fer_signature_num_open(node->op->signature) > 0)
        return false;
    for (size_t i = 0; i < node->num_operands; i++)
        if (node->operands[i]->root->is_changed)
            return false;
    for (size_t i = 0; i < node->num_results; i++)
        if (node->results[i]->is_changed)
            return false;
    return node->num_results > 0;
}

/* Says what the node computes. */
static void append_key(const finder *f, const fer_node *node, fer_text *key)
{
    fer_text_append(key, node->op == NULL ? fer_type_text(node->results[0]->type) : node->token);
    if (node->kind == FER_NODE_RESHAPE)
        fer_text_append(key, " reshape");
    for (size_t i = 0; i < node->num_operands; i++)
        fer_text_printf(key, " %zu", fer_rewrite_find(f->rewrite, node->operands[i])->index);
    if (node->constant == NULL)
        return;
    char hex[FER_DIGEST_HEX];
    fer_digest digest = fer_digest_of(node->constant->dl.data, node->constant->num_bytes);
    fer_digest_hex(&digest, hex);
    fer_text_printf(key, " %s", hex);
}

/* Whether equal ops are one kernel: a package may have been edited between two declarations. */
static bool is_same_kernel(const fer_node *a, const fer_node *b)
{
    const fer_specialisation *kernels[2];
    if (a->op->home == b->op->home)
        return true;
    return fer_node_select(a, &kernels[0], NULL) == FER_OK &&
           fer_node_select(b, &kernels[1], NULL) == FER_OK &&
           strcmp(fer_library_digest(kernels[0]->library),
                  fer_library_digest(kernels[1]->library)) == 0;
}

/* Whether nodes of one key give the same. */
static bool is_same(const fer_node *a, const fer_node *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == FER_NODE_CONSTANT)
        return fer_node_same_constants(a, b);
    return a->op == NULL || (fer_op_equal(a->op, b->op) && is_same_kernel(a, b));
}

static void share(const finder *f, const fer_node *earlier, const fer_node *node)
{
    for (size_t i = 0; i < node->num_results; i++)
        f->rewrite->same[node->results[i]->index] = earlier->results[i];
    f->rewrite->is_dropped[node->index] = true;
    f->rewrite->num_changes++;
}

static fer_status find(finder *f, const fer_node *node, fer_error *error)
{
    fer_text key = FER_TEXT_INIT;
    append_key(f, node, &key);
    fer_status status = key.has_failed ? fer_fail_memory(error) : FER_OK;
    const char *name = fer_text_string(&key);
    const fer_node *earlier = status == FER_OK ? fer_names_find(&f->nodes, name) : NULL;
    if (earlier != NULL && is_same(earlier, node))
        share(f, earlier, node);
    if (status == FER_OK && earlier == NULL) {
        status = fer_names_add(&f->nodes, name, node, error);
        if (status == FER_OK)
            f->keys[f->num_keys++] = fer_names_key(&f->nodes, name);
    }
    fer_text_free(&key);
    return status;
}

static void forget(finder *f, size_t num_keys)
{
    while (f->num_keys > num_keys)
        fer_names_remove(&f->nodes, f->keys[--f->num_keys]);
}

static fer_status find_in_block(finder *f, const fer_block *block, fer_error *error)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        size_t num_keys = f->num_keys;
        if (is_shareable(f, node)) {
            FER_TRY(find(f, node, error));
            continue;
        }
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++) {
            if (node->kind == FER_NODE_IF) /* a loop's body sees its condition */
                forget(f, num_keys);
            FER_TRY(find_in_block(f, node->blocks[j], error));
        }
        forget(f, num_keys);
    }
    return FER_OK;
}

static fer_status decide(fer_rewrite *rewrite, fer_error *error)
{
    const fer_graph *graph = rewrite->graph;
    finder f = {.rewrite = rewrite};
    fer_status status = FER_OK;
    f.is_needed = calloc(graph->num_nodes + 1, sizeof *f.is_needed);
    f.keys = calloc(graph->num_nodes + 1, sizeof *f.keys);
    if (f.is_needed == NULL || f.keys == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    FER_TRY_DONE(fer_find_needed(graph, f.is_needed, error));
    FER_TRY_DONE(find_in_block(&f, &graph->body, error));

done:
    free(f.is_needed);
    free(f.keys);
    fer_names_clear(&f.nodes);
    return status;
}

const fer_pass fer_pass_common = {
    .name = "common",
    .summary = "an op that was computed before is not computed again",
    .decide = decide,
};
