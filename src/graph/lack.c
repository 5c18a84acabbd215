/* Which kernels a graph's ops do not have yet. */
#include "graph/graph.h"

#include <stdlib.h>

typedef struct search {
    const fer_node **found; /* one for each kernel */
    size_t num_found;
    size_t capacity;
    bool *were_seen; /* the module's graphs: one may be called from many places */
} search;

/* A kernel is told by the dtypes of its operands. */
static bool has_kernel(const fer_node *node)
{
    const fer_specialisation *made = atomic_load(&node->op->specialisations);
    for (; made != NULL; made = made->next) {
        size_t i = 0;
        while (i < node->num_operands &&
               made->plan.operands[i].dtype == (uint8_t)fer_type_dtype(node->operands[i]->type))
            i++;
        if (i == node->num_operands)
            return true;
    }
    return false;
}

static bool need_the_same(const fer_node *a, const fer_node *b)
{
    if (a->op != b->op)
        return false;
    for (size_t i = 0; i < a->num_operands; i++)
        if (fer_type_dtype(a->operands[i]->type) != fer_type_dtype(b->operands[i]->type))
            return false;
    return true;
}

static fer_status add(search *s, const fer_node *node)
{
    for (size_t i = 0; i < s->num_found; i++)
        if (need_the_same(s->found[i], node))
            return FER_OK;
    FER_TRY(fer_reserve(&s->found, s->num_found + 1, &s->capacity, sizeof *s->found, NULL));
    s->found[s->num_found++] = node;
    return FER_OK;
}

static fer_status search_block(search *s, const fer_block *block)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        if (node->kind == FER_NODE_OP && !has_kernel(node))
            FER_TRY(add(s, node));
        for (size_t j = 0; j < 2; j++)
            if (node->blocks[j] != NULL)
                FER_TRY(search_block(s, node->blocks[j]));
        if (node->kind == FER_NODE_CALL && !s->were_seen[node->callee->index]) {
            s->were_seen[node->callee->index] = true;
            FER_TRY(search_block(s, &node->callee->body));
        }
    }
    return FER_OK;
}

size_t fer_graph_num_lacking(const fer_graph *graph)
{
    search s = {.were_seen = calloc(graph->module->num_graphs + 1, sizeof *s.were_seen)};
    bool is_whole = s.were_seen != NULL && search_block(&s, &graph->body) == FER_OK;
    free(s.were_seen);
    free(s.found);
    return is_whole ? s.num_found : 0;
}
