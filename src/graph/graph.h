/* The inside of modules and graphs: what building, text, checks and executors share. */
#ifndef FERRULE_GRAPH_GRAPH_H
#define FERRULE_GRAPH_GRAPH_H

#include "base/text.h"
#include "graph/names.h"
#include "op/op.h"
#include <ferrule/graph.h>
#include <stdatomic.h>

typedef enum fer_node_kind {
    FER_NODE_OP = 0,
    FER_NODE_CONSTANT,
    FER_NODE_REBIND /* one operand, one result: the same elements under another type */
} fer_node_kind;

/* One step of a graph. Immutable once it is in its graph. */
typedef struct fer_node {
    fer_node_kind kind;
    fer_op *op;           /* FER_NODE_OP: retained */
    const char *token;    /* the attribute that an op is staged with; borrowed from it */
    fer_tensor *constant; /* FER_NODE_CONSTANT: owned, never written */
    size_t num_operands;
    size_t num_results;
    fer_value **operands;
    fer_value **results;
    char *place;   /* in the program that it was read from, `thumbnail.fer:5:10`; or NULL */
    char *excerpt; /* of its line there, as fer_error_excerpt gives one; or NULL */
} fer_node;

struct fer_value {
    fer_graph *graph;
    fer_type *type;        /* every dim is there: static, or over the graph's dims */
    char *name;            /* as an input or a program names it; NULL: printing finds one */
    size_t index;          /* among the graph's values */
    const fer_node *node;  /* that gives it; NULL: an input */
    const fer_value *root; /* whose elements it shares: itself, but for a rebind */
};

struct fer_graph {
    fer_module *module; /* the owner */
    char *name;
    fer_value **values; /* inputs, then results in the order of the nodes */
    size_t num_values;
    size_t values_capacity;
    size_t num_inputs;
    fer_node **nodes;
    size_t num_nodes;
    size_t nodes_capacity;
    size_t num_ops;
    fer_value **outputs;
    size_t num_outputs;
    bool is_finished;
    fer_names value_names;
    fer_names dims; /* every name in its types: to the node whose kernel finds the extent, or to the
                       graph itself */
};

/* An op under the name that a program gives it. */
typedef struct fer_named_op {
    char *name;
    fer_op *op;
} fer_named_op;

struct fer_module {
    atomic_size_t references;
    fer_graph **graphs;
    size_t num_graphs;
    size_t graphs_capacity;
    fer_names graph_names;
    fer_named_op *ops; /* in the order of the program's text; empty for a module built by calls */
    size_t num_ops;
    size_t ops_capacity;
    fer_names op_names; /* to fer_op */
};

/* Makes room for `num_needed` elements in a growing array; `array` is the address of its pointer.
 */
fer_status fer_reserve(void *array, size_t num_needed, size_t *capacity, size_t element_bytes,
                       fer_error *error);

void fer_graph_destroy(fer_graph *graph); /* NULL-safe */
/* Adds a graph whose name is new; takes it only on success. */
fer_status fer_module_take_graph(fer_module *module, fer_graph *graph, fer_error *error);

void fer_value_destroy(fer_value *value); /* NULL-safe */
/* Takes the type, also when it fails. */
fer_status fer_value_create(fer_graph *graph, fer_type *type, const fer_node *node,
                            fer_value **out_value, fer_error *error);
void fer_node_destroy(fer_node *node); /* NULL-safe; its results go with it */
fer_status fer_node_create(fer_node_kind kind, fer_value *const *operands, size_t num_operands,
                           size_t num_results, fer_node **out_node, fer_error *error);
/* Puts a node and its values into the graph; takes the node only on success. */
fer_status fer_node_append(fer_graph *graph, fer_node *node, fer_error *error);

/* Puts the node's place in its program before the message of an error that is there already, and
 * its line into the error. FER_OK stays, and so does an error of a node that has none. */
fer_status fer_node_locate(const fer_node *node, fer_status status, fer_error *error);

/* Takes back the last node, a constant that nothing uses. */
void fer_graph_drop_constant(fer_graph *graph);

/* VALUE for a finished graph. */
fer_status fer_graph_require_open(const fer_graph *graph, fer_error *error);
/* TYPE for NULL, VALUE for another graph's value; `what` says in messages which value it is. */
fer_status fer_graph_require_value(const fer_graph *graph, const fer_value *value, const char *what,
                                   fer_error *error);
fer_status fer_graph_add_dim(fer_graph *graph, const char *name, fer_error *error);

/* Gives an op a name in the program. VALUE: the name is taken. */
fer_status fer_module_name_op(fer_module *module, const char *name, const fer_op *op,
                              fer_error *error);

/* Gives a value a name in the text. VALUE: the graph has it already. */
fer_status fer_value_rename(fer_value *value, const char *name, fer_error *error);

bool fer_node_has_effect(const fer_node *node); /* must run, once and in its place */

/* Names the data-dependent dim that an op staged now would get, for the caller to free. */
fer_status fer_dynamic_dim_name(const char *graph, const char *kernel, size_t ordinal,
                                const char *symbol, char **out_name, fer_error *error);
/* A result's type with the graph's names in place of its open dims. */
fer_status fer_name_open_dims(const fer_graph *graph, const fer_op *op, size_t ordinal,
                              size_t result, const fer_type *open, fer_type **out_type,
                              fer_error *error);

/* Whether a finished graph is what every executor takes for granted: values are defined before they
 * are used, types follow from the ops. VALUE names what is wrong. */
fer_status fer_graph_verify(const fer_graph *graph, fer_error *error);

/* How a call's arguments stand for operands: by position and keyword, numbers still numbers.
 * `bound` has room for the op's operands. */
fer_status fer_arguments_bind(const fer_op *op, const fer_argument *arguments, size_t num_arguments,
                              fer_argument *bound, fer_error *error);
/* Stages bound arguments, numbers as constants. TYPE: a tensor among them. */
fer_status fer_arguments_stage(fer_graph *graph, const fer_op *op, const fer_argument *bound,
                               fer_value **out_results, size_t num_results, fer_error *error);

/* What a program needs of the world. `open` may give no package. */
typedef struct fer_program_host {
    fer_status (*open)(void *context, const char *path, fer_package **out_package,
                       fer_error *error);
    fer_status (*declare)(void *context, const fer_declaration *declaration, fer_op **out_op,
                          fer_error *error);
    void *context;
} fer_program_host;

fer_status fer_module_parse_with(const fer_program_host *host, const char *text,
                                 const char *source_name, const char *folder,
                                 fer_module **out_module, fer_error *error);

#endif
