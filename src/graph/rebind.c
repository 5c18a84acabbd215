/* Rebind: a value's elements under dims that hold when the graph runs. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* VALUE when two dims differ at every point. */
static fer_status check_rebound_dim(const fer_graph *graph, size_t axis, const fer_dim *is,
                                    const fer_dim *wanted, fer_error *error)
{
    fer_dim *difference = NULL;
    bool may_hold = fer_dim_subtract(is, wanted, &difference, NULL) != FER_OK ||
                    !fer_dim_is_static(difference) || fer_dim_equal(is, wanted);
    fer_dim_release(difference);
    if (may_hold)
        return FER_OK;
    fer_place place = {.has_axis = true,
                       .axis = (int)axis,
                       .expected = fer_dim_text(wanted),
                       .actual = fer_dim_text(is)};
    return fer_fail_at(error, FER_VALUE_ERROR, &place,
                       "graph '%s': rebind axis %zu: %s is never %s", graph->name, axis,
                       place.actual, place.expected);
}

/* A bare name that is new to the graph is bound here; an expression can only use known ones. */
static fer_status check_rebind_names(const fer_graph *graph, const fer_type *type, fer_error *error)
{
    size_t axis;
    const char *name = fer_graph_unknown_name(graph, type, &type, 1, &axis);
    if (name == NULL)
        return FER_OK;
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.has_axis = true, .axis = (int)axis},
                       "graph '%s': rebind axis %zu is %s, but nothing in the graph says what %s "
                       "is",
                       graph->name, axis, fer_dim_text(fer_type_dim(type, axis)), name);
}

static fer_status check_rebind(const fer_graph *graph, const fer_value *value,
                               const fer_dim *const *dims, size_t num_dims, fer_error *error)
{
    FER_TRY(fer_graph_require_open(graph, error));
    FER_TRY(fer_graph_require_value(graph, value, "rebind's operand", error));
    size_t rank = fer_type_rank(value->type);
    if (num_dims != rank)
        return fer_fail(
            error, FER_VALUE_ERROR, "graph '%s': rebind gives %zu dim%s to a value of rank %zu, %s",
            graph->name, num_dims, num_dims == 1 ? "" : "s", rank, fer_type_text(value->type));
    for (size_t axis = 0; axis < num_dims; axis++) {
        if (dims[axis] == NULL)
            return fer_fail(error, FER_TYPE_ERROR, "graph '%s': rebind axis %zu has no dim",
                            graph->name, axis);
        FER_TRY(check_rebound_dim(graph, axis, fer_type_dim(value->type, axis), dims[axis], error));
    }
    return FER_OK;
}

fer_status fer_graph_rebind(fer_graph *graph, fer_value *value, const fer_dim *const *dims,
                            size_t num_dims, fer_value **out_value, fer_error *error)
{
    *out_value = NULL;
    FER_TRY(check_rebind(graph, value, dims, num_dims, error));
    fer_status status = FER_OK;
    fer_type *type = NULL;
    FER_TRY(fer_type_create(fer_type_dtype(value->type), num_dims, dims,
                            fer_type_device(value->type), &type, error));
    FER_TRY_DONE(check_rebind_names(graph, type, error));
    status = fer_graph_share(graph, FER_NODE_REBIND, value, type, out_value, error);

done:
    fer_type_release(type);
    return status;
}
