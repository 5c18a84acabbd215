/* Whether a graph is under construction, finished, or left: what may be called on it then. */
#include "graph/graph.h"

#include <stdlib.h>

fer_status fer_graph_abandon(fer_graph *graph, const char *why, fer_error *error)
{
    if (graph->is_finished || graph->left_by != NULL)
        return FER_OK;
    return fer_copy_string(why, &graph->left_by, error);
}

fer_status fer_graph_require_kept(const fer_graph *graph, fer_error *error)
{
    if (graph->left_by == NULL)
        return FER_OK;
    bool is_block = graph->current->owner != NULL;
    return fer_fail(error, FER_VALUE_ERROR,
                    "graph '%s': its building was left by %s%s%s; build it anew", graph->name,
                    graph->left_by, is_block ? ", in " : "",
                    is_block ? fer_block_role(graph->current) : "");
}

fer_status fer_graph_require_open(const fer_graph *graph, fer_error *error)
{
    FER_TRY(fer_graph_require_kept(graph, error));
    if (!graph->is_finished)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR, "graph '%s' is finished and takes nothing more",
                    graph->name);
}

fer_status fer_graph_require_finished(const fer_graph *graph, const char *else_what,
                                      fer_error *error)
{
    FER_TRY(fer_graph_require_kept(graph, error));
    if (graph->is_finished)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR,
                    "graph '%s' has no outputs yet%s; fer_graph_output, in Python "
                    "graph.output(...), gives it some",
                    graph->name, else_what);
}
