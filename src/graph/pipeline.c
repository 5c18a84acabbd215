/* The passes in their order, and graphs after them. */
#include "graph/passes.h"

#include <stdlib.h>
#include <string.h>

/* What folding and sharing leave without use goes last. */
const fer_pass *const FER_PASSES[] = {&fer_pass_fold, &fer_pass_common, &fer_pass_dead, NULL};

fer_status fer_pass_find(const char *name, const fer_pass **out_pass, fer_error *error)
{
    fer_text known = FER_TEXT_INIT;
    for (size_t i = 0; FER_PASSES[i] != NULL; i++) {
        *out_pass = FER_PASSES[i];
        if (strcmp(name, FER_PASSES[i]->name) == 0) {
            fer_text_free(&known);
            return FER_OK;
        }
        fer_text_printf(&known, "%s'%s' (%s)", i == 0 ? "" : ", ", FER_PASSES[i]->name,
                        FER_PASSES[i]->summary);
    }
    *out_pass = NULL;
    fer_status status =
        fer_fail(error, FER_VALUE_ERROR, "there is no pass '%s'; in their order, the passes are %s",
                 name, fer_text_string(&known));
    fer_text_free(&known);
    return status;
}

/* --- Graphs ----------------------------------------------------------------------------------- */

typedef struct pipeline {
    fer_module *to;
    const fer_pass *last; /* NULL: of all */
    fer_graph **graphs;   /* what has become of those of the original module, by their index */
} pipeline;

/* Puts the graph after a pass, in no module yet, in place of the graph. */
static fer_status run_pass(const fer_pass *pass, fer_graph **graph, fer_error *error)
{
    fer_rewrite rewrite;
    fer_graph *after = NULL;
    fer_status status = fer_rewrite_start(*graph, &rewrite, error);
    if (status == FER_OK)
        status = pass->decide(&rewrite, error);
    if (status == FER_OK && rewrite.num_changes > 0)
        status = fer_graph_rewrite(&rewrite, (*graph)->module, (*graph)->name, NULL, &after, error);
    fer_rewrite_clear(&rewrite);
    if (after != NULL) {
        fer_graph_destroy(*graph);
        *graph = after;
    }
    return status;
}

/* A copy of the graph in the new module, which has the graphs that it calls. */
static fer_status copy(const pipeline *p, const fer_graph *graph, fer_graph **out_graph,
                       fer_error *error)
{
    fer_rewrite rewrite;
    fer_status status = fer_rewrite_start(graph, &rewrite, error);
    if (status == FER_OK)
        status = fer_graph_rewrite(&rewrite, p->to, graph->name, p->graphs, out_graph, error);
    fer_rewrite_clear(&rewrite);
    return status;
}

static fer_status run_passes(const pipeline *p, const fer_graph *graph, fer_error *error)
{
    fer_graph *after = NULL;
    fer_status status = copy(p, graph, &after, error);
    for (size_t i = 0; status == FER_OK && FER_PASSES[i] != NULL; i++) {
        status = run_pass(FER_PASSES[i], &after, error);
        if (FER_PASSES[i] == p->last)
            break;
    }
    if (status == FER_OK)
        status = fer_module_take_graph(p->to, after, error);
    if (status != FER_OK) {
        fer_graph_destroy(after);
        return status;
    }
    p->graphs[graph->index] = after;
    return FER_OK;
}

/* The graphs that are called in a block, and then... */
static fer_status add_callees(const pipeline *p, const fer_block *block, fer_error *error);

/* ...the graph, once. */
static fer_status add_graph(const pipeline *p, const fer_graph *graph, fer_error *error)
{
    if (p->graphs[graph->index] != NULL)
        return FER_OK;
    FER_TRY(add_callees(p, &graph->body, error));
    return run_passes(p, graph, error);
}

static fer_status add_callees(const pipeline *p, const fer_block *block, fer_error *error)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        if (node->kind == FER_NODE_CALL)
            FER_TRY(add_graph(p, node->callee, error));
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++)
            FER_TRY(add_callees(p, node->blocks[j], error));
    }
    return FER_OK;
}

static fer_status start(const fer_module *from, const fer_pass *last, pipeline *p, fer_error *error)
{
    *p = (pipeline){.last = last};
    p->graphs = calloc(from->num_graphs + 1, sizeof *p->graphs);
    if (p->graphs == NULL)
        return fer_fail_memory(error);
    return fer_module_create(&p->to, error);
}

/* Gives the module away when all went well. */
static fer_status finish(pipeline *p, fer_status status)
{
    free(p->graphs);
    if (status != FER_OK)
        fer_module_release(p->to);
    return status;
}

fer_status fer_module_after(const fer_module *module, const fer_pass *last, fer_module **out_module,
                            fer_error *error)
{
    *out_module = NULL;
    pipeline p;
    fer_status status = start(module, last, &p, error);
    for (size_t i = 0; status == FER_OK && i < module->num_ops; i++)
        status = fer_module_name_op(p.to, module->ops[i].name, module->ops[i].op, error);
    for (size_t i = 0; status == FER_OK && i < module->num_graphs; i++)
        if (module->graphs[i]->is_finished)
            status = add_graph(&p, module->graphs[i], error);
    FER_TRY(finish(&p, status));
    *out_module = p.to;
    return FER_OK;
}

fer_status fer_graph_optimise(const fer_graph *graph, const fer_graph **out_graph, fer_error *error)
{
    *out_graph = NULL;
    pipeline p;
    fer_status status = start(graph->module, NULL, &p, error);
    if (status == FER_OK)
        status = add_graph(&p, graph, error);
    const fer_graph *after = status == FER_OK ? p.graphs[graph->index] : NULL;
    FER_TRY(finish(&p, status));
    *out_graph = after;
    return FER_OK;
}
