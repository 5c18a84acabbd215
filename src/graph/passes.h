/* Passes: what is decided about a finished graph, and the graph that follows from it. A pass only
 * looks and notes; fer_graph_rewrite alone makes graphs. What a pass leaves gives the same bits,
 * fails where the original fails, and changes what the original changes, in the same order. */
#ifndef FERRULE_GRAPH_PASSES_H
#define FERRULE_GRAPH_PASSES_H

#include "graph/graph.h"

/* What is to become of a graph's values and nodes, by their indices. */
typedef struct fer_rewrite {
    const fer_graph *graph;
    fer_value **same;        /* the value, which stays, that stands in for one; NULL: none */
    fer_tensor **constants;  /* owned: what a value always is; all results of an op, or none */
    bool *is_dropped;        /* nodes */
    const fer_block **taken; /* of an if, the arm that takes its place; NULL: the if stays */
    size_t num_changes;
} fer_rewrite;

/* Nothing is to change. Cleared by its owner, also when this fails. */
fer_status fer_rewrite_start(const fer_graph *graph, fer_rewrite *out_rewrite, fer_error *error);
void fer_rewrite_clear(fer_rewrite *rewrite);
/* Makes a graph, not in its module yet, of what is left. `callees`, by the index of the original's
 * graphs, are called in place of those; NULL: the same ones are. */
fer_status fer_graph_rewrite(const fer_rewrite *rewrite, fer_module *module, const char *name,
                             fer_graph *const *callees, fer_graph **out_graph, fer_error *error);

/* The value that stands in for one; it itself when there is none. */
static inline fer_value *fer_rewrite_find(const fer_rewrite *rewrite, fer_value *value)
{
    fer_value *same = rewrite->same[value->index];
    return same == NULL ? value : same;
}

/* Notes that an if whose predicate is always this one becomes what its arm is, and that a while
 * whose condition is always false becomes nothing; but for those that must stay. The blocks in them
 * have been judged before. */
void fer_fold_if(fer_rewrite *rewrite, const fer_node *node, bool predicate);
void fer_fold_while(fer_rewrite *rewrite, const fer_node *node);

typedef struct fer_pass {
    const char *name;
    const char *summary;
    fer_status (*decide)(fer_rewrite *rewrite, fer_error *error);
} fer_pass;

extern const fer_pass fer_pass_fold;
extern const fer_pass fer_pass_common;
extern const fer_pass fer_pass_dead;

/* Marks, by their index, the nodes that run: what has an effect or asserts, and what the outputs
 * and those need. */
fer_status fer_find_needed(const fer_graph *graph, bool *is_needed, fer_error *error);

/* --- The pipeline ----------------------------------------------------------------------------- */

/* The passes in the order in which they run; ends with NULL. */
extern const fer_pass *const FER_PASSES[];

/* The pass of that name. VALUE lists them. */
fer_status fer_pass_find(const char *name, const fer_pass **out_pass, fer_error *error);

/* A module with the finished graphs of another one, after all passes up to `last`. */
fer_status fer_module_after(const fer_module *module, const fer_pass *last, fer_module **out_module,
                            fer_error *error);

/* A graph after all passes, in a module of its own with what it calls, for the caller to release.
 */
fer_status fer_graph_optimise(const fer_graph *graph, const fer_graph **out_graph,
                              fer_error *error);

#endif
