/* A copy of a graph, as it is under another name, or with what a pass decided. What the original
 * was checked for holds for it, so that nodes are taken over one by one, in the order in which they
 * were made. */
#include "graph/passes.h"

#include <stdlib.h>
#include <string.h>

typedef struct copier {
    const fer_rewrite *rewrite;
    fer_graph *const *callees; /* by the index of the original's; NULL: they stay */
    fer_graph *to;
    fer_value **values; /* of the copy, by the index in the original */
} copier;

static fer_value *copy_of(const copier *c, const fer_value *value)
{
    const fer_value *same = c->rewrite->same[value->index];
    return c->values[same == NULL ? value->index : same->index];
}

static fer_status copy_string(const char *string, char **out_copy, fer_error *error)
{
    return string == NULL ? FER_OK : fer_copy_string(string, out_copy, error);
}

/* Whether the steps of a block stand in place of its step. */
static bool is_taken(const copier *c, const fer_block *block)
{
    return block->owner != NULL && c->rewrite->taken[block->owner->index] == block;
}

/* Makes a value of the copy what another one is to the original. A name that ended with its arm may
 * come again behind it, so it does not leave the arm. */
static fer_status note_value(copier *c, const fer_value *from, fer_value *value, fer_error *error)
{
    value->is_changed = from->is_changed;
    value->is_measured = from->is_measured;
    if (!is_taken(c, from->block))
        FER_TRY(copy_string(from->name, &value->name, error));
    if (value->name != NULL)
        FER_TRY(fer_names_set(&c->to->value_names, value->name, value, error));
    c->values[from->index] = value;
    return FER_OK;
}

static fer_status copy_block(copier *c, const fer_block *from, fer_block *to, fer_error *error);

static fer_status copy_arguments(copier *c, const fer_block *from, fer_block *to, fer_error *error)
{
    to->arguments = calloc(from->num_arguments + 1, sizeof *to->arguments);
    if (to->arguments == NULL)
        return fer_fail_memory(error);
    FER_TRY(fer_graph_reserve_values(c->to, from->num_arguments, error));
    for (size_t i = 0; i < from->num_arguments; i++) {
        const fer_value *argument = from->arguments[i];
        fer_value *copy;
        FER_TRY(fer_value_create(c->to, fer_type_retain(argument->type), NULL, &copy, error));
        to->arguments[to->num_arguments++] = copy;
        FER_TRY(note_value(c, argument, copy, error));
        fer_graph_add_value(c->to, copy);
    }
    return FER_OK;
}

static fer_status copy_blocks(copier *c, const fer_node *from, fer_node *to, fer_error *error)
{
    for (size_t i = 0; i < 2 && from->blocks[i] != NULL; i++) {
        fer_block *parent = from->blocks[i]->parent == from->block ? to->block : to->blocks[0];
        FER_TRY(fer_block_create(to, parent, &to->blocks[i], error));
        FER_TRY(copy_block(c, from->blocks[i], to->blocks[i], error));
    }
    for (size_t i = 0; i < 2 && from->blocks[i] != NULL; i++)
        to->blocks[i]->is_open = false;
    c->to->current = to->block;
    return FER_OK;
}

static fer_status copy_results(copier *c, const fer_node *from, fer_node *to, fer_error *error)
{
    for (size_t i = 0; i < from->num_results; i++) {
        FER_TRY(fer_node_add_result(to, fer_type_retain(from->results[i]->type), error));
        FER_TRY(note_value(c, from->results[i], to->results[i], error));
    }
    if (from->kind == FER_NODE_REBIND || from->kind == FER_NODE_RESHAPE)
        to->results[0]->root = to->operands[0]->root;
    return FER_OK;
}

static fer_status copy_file(const fer_node *from, fer_node *to, fer_error *error)
{
    FER_TRY(copy_string(from->file, &to->file, error));
    return copy_string(from->digest, &to->digest, error);
}

static fer_status copy_place(const fer_node *from, fer_node *to, fer_error *error)
{
    FER_TRY(copy_string(from->place, &to->place, error));
    return copy_string(from->excerpt, &to->excerpt, error);
}

/* Fills a node that is new and has its operands. */
static fer_status fill_node(copier *c, const fer_node *from, fer_node *to, fer_error *error)
{
    if (from->op != NULL)
        to->op = fer_op_retain(from->op);
    if (from->constant != NULL)
        to->constant = fer_tensor_retain(from->constant);
    to->token = from->token;
    to->ordinal = from->ordinal;
    to->callee = from->callee;
    if (to->callee != NULL && c->callees != NULL)
        to->callee = c->callees[to->callee->index];
    FER_TRY(copy_file(from, to, error));
    FER_TRY(copy_place(from, to, error));
    FER_TRY(copy_blocks(c, from, to, error));
    FER_TRY(copy_results(c, from, to, error));
    return fer_node_append(to, error);
}

static fer_status copy_node(copier *c, const fer_node *from, fer_error *error)
{
    fer_node *node = NULL;
    FER_TRY(fer_node_create(c->to, from->kind, from->operands, from->num_operands,
                            from->num_results, &node, error));
    for (size_t i = 0; i < node->num_operands; i++)
        node->operands[i] = copy_of(c, from->operands[i]);
    fer_status status = fill_node(c, from, node, error);
    if (status != FER_OK) {
        c->to->current = node->block;
        fer_node_destroy(node);
    }
    return status;
}

/* In place of an op, one of its results, which is always the same. */
static fer_status make_constant(copier *c, const fer_node *from, const fer_value *result,
                                fer_error *error)
{
    fer_node *node = NULL;
    FER_TRY(fer_node_create(c->to, FER_NODE_CONSTANT, NULL, 0, 1, &node, error));
    node->constant = fer_tensor_retain(c->rewrite->constants[result->index]);
    fer_status status = FER_OK;
    FER_TRY_DONE(copy_place(from, node, error));
    FER_TRY_DONE(fer_node_add_result(node, fer_type_retain(result->type), error));
    FER_TRY_DONE(note_value(c, result, node->results[0], error));
    FER_TRY_DONE(fer_node_append(node, error));
    node = NULL;

done:
    fer_node_destroy(node);
    return status;
}

static fer_status take_nodes(copier *c, const fer_block *from, fer_error *error);

/* What is left of a node. */
static fer_status take_node(copier *c, const fer_node *from, fer_error *error)
{
    if (c->rewrite->is_dropped[from->index])
        return FER_OK;
    if (c->rewrite->taken[from->index] != NULL)
        return take_nodes(c, c->rewrite->taken[from->index], error);
    if (from->num_results == 0 || c->rewrite->constants[from->results[0]->index] == NULL)
        return copy_node(c, from, error);
    for (size_t i = 0; i < from->num_results; i++)
        FER_TRY(make_constant(c, from, from->results[i], error));
    return FER_OK;
}

/* Into the current block. */
static fer_status take_nodes(copier *c, const fer_block *from, fer_error *error)
{
    for (size_t i = 0; i < from->num_nodes; i++)
        FER_TRY(take_node(c, from->nodes[i], error));
    return FER_OK;
}

static fer_status copy_block(copier *c, const fer_block *from, fer_block *to, fer_error *error)
{
    to->is_open = true;
    c->to->current = to;
    FER_TRY(copy_arguments(c, from, to, error));
    FER_TRY(take_nodes(c, from, error));
    to->results = calloc(from->num_results + 1, sizeof *to->results);
    if (to->results == NULL)
        return fer_fail_memory(error);
    to->num_results = from->num_results;
    for (size_t i = 0; i < from->num_results; i++)
        to->results[i] = copy_of(c, from->results[i]);
    return FER_OK;
}

/* A graph with the same inputs and nothing else, in no module yet. */
static fer_status create_like(const fer_graph *from, fer_module *module, const char *name,
                              fer_graph **out_graph, fer_error *error)
{
    fer_graph_input *inputs = calloc(from->num_inputs + 1, sizeof *inputs);
    if (inputs == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < from->num_inputs; i++)
        inputs[i] = (fer_graph_input){.name = from->values[i]->name,
                                      .type = from->values[i]->type,
                                      .is_inout = fer_value_is_inout(from->values[i])};
    fer_status status = fer_graph_make(module, name, inputs, from->num_inputs, out_graph, error);
    free(inputs);
    return status;
}

static fer_status fill_graph(const fer_rewrite *rewrite, fer_graph *const *callees, fer_graph *to,
                             fer_error *error)
{
    const fer_graph *from = rewrite->graph;
    copier c = {.rewrite = rewrite, .callees = callees, .to = to};
    fer_value **outputs = NULL;
    c.values = calloc(from->num_values + 1, sizeof *c.values);
    outputs = calloc(from->num_outputs + 1, sizeof *outputs);
    fer_status status = FER_OK;
    if (c.values == NULL || outputs == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    for (size_t i = 0; i < from->num_inputs; i++)
        c.values[i] = to->values[i];
    FER_TRY_DONE(copy_block(&c, &from->body, &to->body, error));
    to->depth = from->depth;
    to->has_dynamic_dims = from->has_dynamic_dims;
    for (size_t i = 0; i < from->num_outputs; i++)
        outputs[i] = copy_of(&c, from->outputs[i]);
    status = fer_graph_output(to, outputs, from->num_outputs, error);

done:
    free(c.values);
    free(outputs);
    return status;
}

fer_status fer_graph_rewrite(const fer_rewrite *rewrite, fer_module *module, const char *name,
                             fer_graph *const *callees, fer_graph **out_graph, fer_error *error)
{
    *out_graph = NULL;
    fer_graph *graph = NULL;
    FER_TRY(create_like(rewrite->graph, module, name, &graph, error));
    fer_status status = fill_graph(rewrite, callees, graph, error);
    if (status != FER_OK) {
        fer_graph_destroy(graph);
        return status;
    }
    *out_graph = graph;
    return FER_OK;
}

/* --- What is decided -------------------------------------------------------------------------- */

fer_status fer_rewrite_start(const fer_graph *graph, fer_rewrite *out_rewrite, fer_error *error)
{
    *out_rewrite = (fer_rewrite){
        .graph = graph,
        .same = calloc(graph->num_values + 1, sizeof *out_rewrite->same),
        .constants = calloc(graph->num_values + 1, sizeof *out_rewrite->constants),
        .is_dropped = calloc(graph->num_nodes + 1, sizeof *out_rewrite->is_dropped),
        .taken = calloc(graph->num_nodes + 1, sizeof *out_rewrite->taken),
    };
    bool has_all = out_rewrite->same != NULL && out_rewrite->constants != NULL &&
                   out_rewrite->is_dropped != NULL && out_rewrite->taken != NULL;
    return has_all ? FER_OK : fer_fail_memory(error);
}

void fer_rewrite_clear(fer_rewrite *rewrite)
{
    for (size_t i = 0; rewrite->constants != NULL && i < rewrite->graph->num_values; i++)
        fer_tensor_release(rewrite->constants[i]);
    free(rewrite->same);
    free(rewrite->constants);
    free(rewrite->is_dropped);
    free(rewrite->taken);
}

/* --- Copies ----------------------------------------------------------------------------------- */

static fer_status check_original(const fer_module *module, const fer_graph *graph, fer_error *error)
{
    if (graph == NULL)
        return fer_fail(error, FER_TYPE_ERROR,
                        "the graph to copy is NULL: fer_module_find found none of that name");
    FER_TRY(fer_graph_require_finished(graph, " and is not copied", error));
    if (graph->has_dynamic_dims)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s' holds a data-dependent dim, whose name says which graph it is "
                        "of, so it is not copied; build it again under the other name",
                        graph->name);
    if (graph->module == module || graph->num_calls == 0)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR,
                    "graph '%s' calls graphs of its module, so it is not copied into another one",
                    graph->name);
}

fer_status fer_graph_copy(fer_module *module, const fer_graph *graph, const char *name,
                          fer_graph **out_graph, fer_error *error)
{
    *out_graph = NULL;
    FER_TRY(check_original(module, graph, error));
    fer_graph *copy = NULL;
    fer_rewrite rewrite;
    fer_status status = fer_rewrite_start(graph, &rewrite, error);
    if (status == FER_OK)
        status = fer_graph_rewrite(&rewrite, module, name, NULL, &copy, error);
    fer_rewrite_clear(&rewrite);
    if (status == FER_OK)
        status = fer_module_take_graph(module, copy, error);
    if (status != FER_OK) {
        fer_graph_destroy(copy);
        return status;
    }
    *out_graph = copy;
    return FER_OK;
}
