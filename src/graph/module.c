#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

fer_status fer_reserve(void *array, size_t num_needed, size_t *capacity, size_t element_bytes,
                       fer_error *error)
{
    void **elements = array;
    if (num_needed <= *capacity)
        return FER_OK;
    size_t larger = *capacity < 8 ? 8 : *capacity;
    while (larger < num_needed && larger <= SIZE_MAX / 2)
        larger *= 2;
    void *moved = larger < num_needed ? NULL : reallocarray(*elements, larger, element_bytes);
    if (moved == NULL)
        return fer_fail_memory(error);
    *elements = moved;
    *capacity = larger;
    return FER_OK;
}

fer_status fer_module_create(fer_module **out_module, fer_error *error)
{
    *out_module = calloc(1, sizeof **out_module);
    if (*out_module == NULL)
        return fer_fail_memory(error);
    atomic_init(&(*out_module)->references, 1);
    return FER_OK;
}

fer_module *fer_module_retain(const fer_module *module)
{
    fer_module *retained = (fer_module *)module;
    atomic_fetch_add_explicit(&retained->references, 1, memory_order_relaxed);
    return retained;
}

void fer_module_release(fer_module *module)
{
    if (module == NULL ||
        atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < module->num_graphs; i++)
        fer_graph_destroy(module->graphs[i]);
    free(module->graphs);
    fer_names_clear(&module->graph_names);
    for (size_t i = 0; i < module->num_ops; i++) {
        free(module->ops[i].name);
        fer_op_release(module->ops[i].op);
    }
    free(module->ops);
    fer_names_clear(&module->op_names);
    free(module);
}

size_t fer_module_num_graphs(const fer_module *module)
{
    return module->num_graphs;
}

fer_graph *fer_module_graph_at(const fer_module *module, size_t index)
{
    return module->graphs[index];
}

fer_graph *fer_module_find(const fer_module *module, const char *name)
{
    return fer_names_find(&module->graph_names, name);
}

fer_status fer_module_take_graph(fer_module *module, fer_graph *graph, fer_error *error)
{
    FER_TRY(fer_reserve(&module->graphs, module->num_graphs + 1, &module->graphs_capacity,
                        sizeof *module->graphs, error));
    FER_TRY(fer_names_add(&module->graph_names, graph->name, graph, error));
    graph->index = module->num_graphs;
    module->graphs[module->num_graphs++] = graph;
    return FER_OK;
}

fer_status fer_module_name_op(fer_module *module, const char *name, const fer_op *op,
                              fer_error *error)
{
    if (fer_names_find(&module->op_names, name) != NULL)
        return fer_fail(error, FER_VALUE_ERROR, "the program has an op '%s' already", name);
    FER_TRY(fer_reserve(&module->ops, module->num_ops + 1, &module->ops_capacity,
                        sizeof *module->ops, error));
    fer_named_op named = {0};
    FER_TRY(fer_copy_string(name, &named.name, error));
    fer_status status = fer_names_add(&module->op_names, name, op, error);
    if (status != FER_OK) {
        free(named.name);
        return status;
    }
    named.op = fer_op_retain(op);
    module->ops[module->num_ops++] = named;
    return FER_OK;
}

/* --- Equality --------------------------------------------------------------------------------- */

static bool same_values(fer_value *const *a, fer_value *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i]->index != b[i]->index || !fer_type_equal(a[i]->type, b[i]->type))
            return false;
    return true;
}

static bool same_blocks(const fer_block *a, const fer_block *b);

static bool same_nodes(const fer_node *a, const fer_node *b)
{
    if (a->kind != b->kind || a->num_operands != b->num_operands ||
        a->num_results != b->num_results ||
        !same_values(a->operands, b->operands, a->num_operands) ||
        !same_values(a->results, b->results, a->num_results))
        return false;
    switch (a->kind) {
    case FER_NODE_OP:
        return fer_op_equal(a->op, b->op);
    case FER_NODE_CONSTANT:
        return fer_node_same_constants(a, b);
    case FER_NODE_REBIND:
    case FER_NODE_RESHAPE:
    case FER_NODE_TRANSFER:
        return true;
    case FER_NODE_IF:
    case FER_NODE_WHILE:
        return same_blocks(a->blocks[0], b->blocks[0]) && same_blocks(a->blocks[1], b->blocks[1]);
    case FER_NODE_CALL:
        return strcmp(a->callee->name, b->callee->name) == 0;
    }
    return false;
}

static bool same_blocks(const fer_block *a, const fer_block *b)
{
    if (a->num_arguments != b->num_arguments || a->num_nodes != b->num_nodes ||
        a->num_results != b->num_results ||
        !same_values(a->arguments, b->arguments, a->num_arguments) ||
        !same_values(a->results, b->results, a->num_results))
        return false;
    for (size_t i = 0; i < a->num_nodes; i++)
        if (!same_nodes(a->nodes[i], b->nodes[i]))
            return false;
    return true;
}

static bool same_graphs(const fer_graph *a, const fer_graph *b)
{
    if (a->num_inputs != b->num_inputs || a->num_outputs != b->num_outputs ||
        a->is_finished != b->is_finished || !same_values(a->values, b->values, a->num_inputs))
        return false;
    for (size_t i = 0; i < a->num_inputs; i++)
        if (strcmp(a->values[i]->name, b->values[i]->name) != 0 ||
            fer_value_is_inout(a->values[i]) != fer_value_is_inout(b->values[i]))
            return false;
    return same_blocks(&a->body, &b->body) && same_values(a->outputs, b->outputs, a->num_outputs);
}

/* Graphs are compared by name: their order means nothing. */
bool fer_module_equal(const fer_module *a, const fer_module *b)
{
    if (a->num_graphs != b->num_graphs)
        return false;
    for (size_t i = 0; i < a->num_graphs; i++) {
        const fer_graph *other = fer_module_find(b, a->graphs[i]->name);
        if (other == NULL || !same_graphs(a->graphs[i], other))
            return false;
    }
    return true;
}
