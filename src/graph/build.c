/* Building a graph: its inputs, constants and outputs. Each public call checks everything, makes
 * what it adds on the side, and only then changes the graph: a refused call leaves it as it was. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* --- Graphs and inputs ------------------------------------------------------------------------ */

void fer_graph_destroy(fer_graph *graph)
{
    if (graph == NULL)
        return;
    for (size_t i = 0; i < graph->num_inputs; i++)
        fer_value_destroy(graph->values[i]);
    while (graph->current != &graph->body) { /* what was begun and never ended */
        fer_node *owner = graph->current->owner;
        graph->current = owner->block;
        fer_node_destroy(owner);
    }
    fer_block_destroy(&graph->body);
    free(graph->values);
    free(graph->outputs);
    fer_names_clear(&graph->value_names);
    fer_names_clear(&graph->dims);
    free(graph->left_by);
    free(graph->name);
    free(graph);
}

static fer_status check_input_dims(const fer_graph *graph, const fer_graph_input *input,
                                   fer_error *error)
{
    for (size_t axis = 0; axis < fer_type_rank(input->type); axis++) {
        const fer_dim *dim = fer_type_dim(input->type, axis);
        const char *name = dim == NULL ? NULL : fer_dim_symbol_name(dim, NULL);
        if (name != NULL || (dim != NULL && fer_dim_is_static(dim)))
            continue;
        fer_place place = {.operand = input->name,
                           .has_axis = true,
                           .axis = (int)axis,
                           .expected = "a number or a bare name",
                           .actual = dim == NULL ? "?" : fer_dim_text(dim)};
        return fer_fail_at(error, FER_TYPE_ERROR, &place,
                           "graph '%s': input '%s' axis %zu is %s, but an input's dims are numbers "
                           "or bare names",
                           graph->name, input->name, axis, place.actual);
    }
    return FER_OK;
}

static fer_status add_input(fer_graph *graph, const fer_graph_input *input, fer_error *error)
{
    if (input->name == NULL || *input->name == '\0')
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s': input %zu has no name", graph->name,
                        graph->num_inputs);
    if (input->type == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "graph '%s': input '%s' has no type", graph->name,
                        input->name);
    if (fer_names_find(&graph->value_names, input->name) != NULL)
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s': there are two inputs '%s'",
                        graph->name, input->name);
    FER_TRY(check_input_dims(graph, input, error));
    FER_TRY(fer_graph_reserve_values(graph, 1, error));
    fer_value *value;
    FER_TRY(fer_value_create(graph, fer_type_retain(input->type), NULL, &value, error));
    fer_graph_add_value(graph, value);
    graph->num_inputs++;
    value->is_changed = input->is_inout;
    FER_TRY(fer_graph_add_dims(graph, value, error));
    return fer_value_rename(value, input->name, error);
}

fer_status fer_graph_make(fer_module *module, const char *name, const fer_graph_input *inputs,
                          size_t num_inputs, fer_graph **out_graph, fer_error *error)
{
    if (name == NULL || *name == '\0')
        return fer_fail(error, FER_VALUE_ERROR, "a graph needs a name");
    if (fer_module_find(module, name) != NULL)
        return fer_fail(error, FER_VALUE_ERROR, "the module has a graph '%s' already", name);
    fer_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return fer_fail_memory(error);
    graph->module = module;
    graph->body = (fer_block){.graph = graph, .is_open = true};
    graph->current = &graph->body;
    fer_status status = fer_copy_string(name, &graph->name, error);
    for (size_t i = 0; status == FER_OK && i < num_inputs; i++)
        status = add_input(graph, &inputs[i], error);
    if (status != FER_OK) {
        fer_graph_destroy(graph);
        return status;
    }
    *out_graph = graph;
    return FER_OK;
}

fer_status fer_graph_create(fer_module *module, const char *name, const fer_graph_input *inputs,
                            size_t num_inputs, fer_graph **out_graph, fer_error *error)
{
    *out_graph = NULL;
    fer_graph *graph = NULL;
    FER_TRY(fer_graph_make(module, name, inputs, num_inputs, &graph, error));
    fer_status status = fer_module_take_graph(module, graph, error);
    if (status != FER_OK) {
        fer_graph_destroy(graph);
        return status;
    }
    *out_graph = graph;
    return FER_OK;
}

fer_status fer_value_rename(fer_value *value, const char *name, fer_error *error)
{
    fer_graph *graph = value->graph;
    if (fer_graph_find_value(graph, name) != NULL)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s' has a value '%s' already; give this one another name",
                        graph->name, name);
    char *copy;
    FER_TRY(fer_copy_string(name, &copy, error));
    fer_status status = fer_names_set(&graph->value_names, name, value, error);
    if (status != FER_OK) {
        free(copy);
        return status;
    }
    if (value->name != NULL && fer_names_find(&graph->value_names, value->name) == value)
        fer_names_remove(&graph->value_names, value->name);
    free(value->name);
    value->name = copy;
    return FER_OK;
}

/* --- Constants -------------------------------------------------------------------------------- */

fer_status fer_graph_keep_constant(fer_graph *graph, fer_tensor *tensor, fer_node **out_node,
                                   fer_error *error)
{
    fer_node *node = NULL;
    fer_type *type = NULL;
    *out_node = NULL;
    FER_TRY(fer_node_create(graph, FER_NODE_CONSTANT, NULL, 0, 1, &node, error));
    node->constant = fer_tensor_retain(tensor);
    fer_status status = FER_OK;
    FER_TRY_DONE(fer_tensor_type(tensor, &type, error));
    FER_TRY_DONE(fer_node_add_result(node, type, error));
    FER_TRY_DONE(fer_node_append(node, error));
    *out_node = node;
    return FER_OK;

done:
    fer_node_destroy(node);
    return status;
}

fer_status fer_graph_constant(fer_graph *graph, const fer_tensor *tensor, fer_value **out_value,
                              fer_error *error)
{
    *out_value = NULL;
    FER_TRY(fer_graph_require_open(graph, error));
    if (tensor == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "graph '%s': a constant is NULL, not a tensor",
                        graph->name);
    fer_tensor *copy = NULL;
    fer_node *node = NULL;
    FER_TRY(fer_tensor_clone(tensor, fer_tensor_device(tensor), &copy, error));
    fer_status status = fer_graph_keep_constant(graph, copy, &node, error);
    fer_tensor_release(copy);
    if (status == FER_OK)
        *out_value = node->results[0];
    return status;
}

/* --- Finishing -------------------------------------------------------------------------------- */

fer_status fer_graph_output(fer_graph *graph, fer_value *const *values, size_t num_values,
                            fer_error *error)
{
    FER_TRY(fer_graph_require_kept(graph, error));
    if (graph->is_finished)
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s' has its outputs already", graph->name);
    if (graph->current != &graph->body)
        return fer_fail(error, FER_VALUE_ERROR, "graph '%s': %s has not ended", graph->name,
                        fer_block_role(graph->current));
    for (size_t i = 0; i < num_values; i++)
        FER_TRY(fer_graph_require_value(graph, values[i], "an output", error));
    fer_value **outputs = calloc(num_values + 1, sizeof *outputs);
    if (outputs == NULL)
        return fer_fail_memory(error);
    if (num_values > 0)
        memcpy(outputs, values, num_values * sizeof *outputs);
    graph->outputs = outputs;
    graph->num_outputs = num_values;
    graph->is_finished = true;
    graph->body.is_open = false;
    fer_status status = fer_graph_verify(graph, error);
    if (status != FER_OK) {
        free(graph->outputs);
        graph->outputs = NULL;
        graph->num_outputs = 0;
        graph->is_finished = false;
        graph->body.is_open = true;
    }
    return status;
}

/* --- Looking at a graph ----------------------------------------------------------------------- */

const char *fer_graph_name(const fer_graph *graph)
{
    return graph->name;
}

size_t fer_graph_num_inputs(const fer_graph *graph)
{
    return graph->num_inputs;
}

fer_value *fer_graph_input_at(const fer_graph *graph, size_t index)
{
    return graph->values[index];
}

size_t fer_graph_num_outputs(const fer_graph *graph)
{
    return graph->num_outputs;
}

fer_value *fer_graph_output_at(const fer_graph *graph, size_t index)
{
    return graph->outputs[index];
}

size_t fer_graph_num_ops(const fer_graph *graph)
{
    return graph->num_ops;
}

bool fer_graph_has_loop(const fer_graph *graph)
{
    return graph->has_loop;
}

const fer_type *fer_value_type(const fer_value *value)
{
    return value->type;
}

const char *fer_value_name(const fer_value *value)
{
    return value->name;
}

fer_graph *fer_value_graph(const fer_value *value)
{
    return value->graph;
}

bool fer_value_is_inout(const fer_value *value)
{
    const fer_value *root = value->root;
    return root->is_changed && root->index < root->graph->num_inputs;
}
