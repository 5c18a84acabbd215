/* Dead code: an op that does nothing but give results that nothing uses goes. */
#include "graph/passes.h"

#include <stdlib.h>

typedef struct marks {
    bool *is_used;   /* of each value */
    bool *is_needed; /* of each node */
} marks;

static bool is_needed(const marks *m, const fer_node *node)
{
    bool is_needed = fer_node_must_run(node);
    for (size_t i = 0; i < node->num_results; i++)
        is_needed |= m->is_used[node->results[i]->index] || node->results[i]->is_measured;
    return is_needed;
}

static void use(marks *m, fer_value *const *values, size_t num_values)
{
    for (size_t i = 0; i < num_values; i++)
        m->is_used[values[i]->index] = true;
}

/* From the end, so that uses are known before what they use. */
static void mark_block(marks *m, const fer_block *block)
{
    use(m, block->results, block->num_results);
    for (size_t i = block->num_nodes; i-- > 0;) {
        const fer_node *node = block->nodes[i];
        if (!is_needed(m, node))
            continue;
        m->is_needed[node->index] = true;
        use(m, node->operands, node->num_operands);
        for (size_t j = 2; j-- > 0;)
            if (node->blocks[j] != NULL)
                mark_block(m, node->blocks[j]);
    }
}

fer_status fer_find_needed(const fer_graph *graph, bool *is_needed, fer_error *error)
{
    marks m = {.is_needed = is_needed};
    m.is_used = calloc(graph->num_values + 1, sizeof *m.is_used);
    if (m.is_used == NULL)
        return fer_fail_memory(error);
    use(&m, graph->outputs, graph->num_outputs);
    mark_block(&m, &graph->body);
    free(m.is_used);
    return FER_OK;
}

static fer_status decide(fer_rewrite *rewrite, fer_error *error)
{
    FER_TRY(fer_find_needed(rewrite->graph, rewrite->is_dropped, error));
    for (size_t i = 0; i < rewrite->graph->num_nodes; i++) {
        rewrite->is_dropped[i] = !rewrite->is_dropped[i];
        rewrite->num_changes += rewrite->is_dropped[i];
    }
    return FER_OK;
}

const fer_pass fer_pass_dead = {
    .name = "dead",
    .summary = "ops whose results nothing uses go",
    .decide = decide,
};
