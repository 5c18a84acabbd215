/* Transfers: a copy of a value's elements on a device. */
#include "graph/graph.h"

fer_status fer_transferred_type(const fer_type *type, fer_device device, fer_type **out_type,
                                fer_error *error)
{
    const fer_dim *dims[FER_MAX_RANK];
    size_t rank = fer_type_rank(type);
    for (size_t axis = 0; axis < rank; axis++)
        dims[axis] = fer_type_dim(type, axis);
    return fer_type_create(fer_type_dtype(type), rank, dims, device, out_type, error);
}

static fer_status make_type(const fer_graph *graph, const fer_value *value, fer_device device,
                            fer_type **out_type, fer_error *error)
{
    fer_status status = fer_transferred_type(value->type, device, out_type, error);
    if (status == FER_OK)
        return FER_OK;
    return fer_error_prepend(error, status, "graph '%s': transfer: ", graph->name);
}

fer_status fer_graph_transfer(fer_graph *graph, fer_value *value, fer_device device,
                              fer_value **out_value, fer_error *error)
{
    *out_value = NULL;
    FER_TRY(fer_graph_require_open(graph, error));
    FER_TRY(fer_graph_require_value(graph, value, "transfer's operand", error));
    fer_status status = FER_OK;
    fer_node *node = NULL;
    fer_type *type = NULL;
    FER_TRY(make_type(graph, value, device, &type, error));
    FER_TRY_DONE(fer_node_create(graph, FER_NODE_TRANSFER, &value, 1, 1, &node, error));
    FER_TRY_DONE(fer_node_add_result(node, fer_type_retain(type), error));
    FER_TRY_DONE(fer_node_append(node, error));
    *out_value = node->results[0];
    node = NULL;

done:
    fer_type_release(type);
    fer_node_destroy(node);
    return status;
}
