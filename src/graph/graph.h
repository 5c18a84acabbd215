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
    FER_NODE_REBIND,   /* one operand, one result: the same elements and extents under other dims */
    FER_NODE_RESHAPE,  /* one operand, one result: the same elements with other extents */
    FER_NODE_TRANSFER, /* one operand, one result: a copy on the device of its type */
    FER_NODE_IF,       /* the predicate; two blocks, the arms */
    FER_NODE_WHILE,    /* the initial values; two blocks, the condition and the body */
    FER_NODE_CALL      /* of another graph of the module, on its inputs */
} fer_node_kind;

typedef struct fer_block fer_block;

/* One step of a graph. Immutable once it is in its graph. */
typedef struct fer_node {
    fer_node_kind kind;
    fer_op *op;              /* FER_NODE_OP: retained */
    const char *token;       /* the attribute that an op is staged with; borrowed from it */
    fer_tensor *constant;    /* FER_NODE_CONSTANT: owned, never written */
    const fer_graph *callee; /* FER_NODE_CALL */
    fer_block *blocks[2];    /* owned; NULL for other kinds */
    fer_block *block;        /* that it is in */
    size_t index;            /* among the graph's nodes */
    size_t ordinal;          /* of an op or a call: how many of them were staged before */
    size_t num_operands;
    size_t num_results;
    fer_value **operands;
    fer_value **results;
    char *file;    /* that a program has a constant from, absolute; or NULL */
    char *digest;  /* that it says the constant has; or NULL */
    char *place;   /* in the program that it was read from, `thumbnail.fer:5:10`; or NULL */
    char *excerpt; /* of its line there, as fer_error_excerpt gives one; or NULL */
} fer_node;

struct fer_value {
    fer_graph *graph;
    fer_type *type;       /* every dim is there: static, or over the graph's dims */
    char *name;           /* as an input or a program names it; NULL: printing finds one */
    size_t index;         /* among the graph's values */
    const fer_node *node; /* that gives it; NULL: an input */
    fer_value *root;      /* whose elements it shares: itself, but for a rebind or reshape */
    fer_block *block;     /* that defines it */
    bool is_changed;      /* a root: an op or a call changes it in its place. An input: it may,
                             since that is declared inout */
    bool is_measured;     /* a dim that came with it is named later, so it is computed */
};

/* Steps that run one after the other: the body of a graph, an arm, a condition, a loop's body. It
 * sees the values of its parents, and what it defines ends with it. */
struct fer_block {
    fer_graph *graph;
    fer_block *parent;     /* of a loop's body, the condition. NULL: the body of the graph */
    fer_node *owner;       /* NULL: the graph */
    size_t depth;          /* 0 for the body of the graph */
    bool is_open;          /* it is being built, and its values can be used */
    bool has_effect;       /* a node in it has one */
    bool must_run;         /* that, or a node in it asserts */
    fer_value **arguments; /* owned; of a condition: the carried values */
    size_t num_arguments;
    fer_node **nodes; /* owned */
    size_t num_nodes;
    size_t nodes_capacity;
    fer_value **results;
    size_t num_results;
};

struct fer_graph {
    fer_module *module; /* the owner */
    char *name;
    size_t index;       /* among the module's graphs */
    fer_value **values; /* of all blocks: inputs, then results as the nodes were made */
    size_t num_values;
    size_t values_capacity;
    size_t num_inputs;
    fer_block body;
    fer_block *current; /* the open block that has no open block in it */
    size_t num_nodes;   /* of all blocks */
    size_t num_ops;     /* of all blocks; a call is one */
    size_t num_calls;
    size_t depth; /* of blocks and calls in each other */
    fer_value **outputs;
    size_t num_outputs;
    bool is_finished;
    char *left_by; /* what ended its building early; NULL: nothing */
    bool has_dynamic_dims;
    bool has_loop;         /* a while, or a call of a graph that has one */
    fer_names value_names; /* to the last value of that name */
    fer_names dims;        /* every name in its types: to the last value that brought it */
};

/* Blocks and calls in each other, so many at most: whoever walks them may recurse. */
#define FER_MAX_DEPTH 100

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
/* A graph with its inputs that its module does not have yet. */
fer_status fer_graph_make(fer_module *module, const char *name, const fer_graph_input *inputs,
                          size_t num_inputs, fer_graph **out_graph, fer_error *error);
/* Adds a graph whose name is new; takes it only on success. */
fer_status fer_module_take_graph(fer_module *module, fer_graph *graph, fer_error *error);

void fer_value_destroy(fer_value *value); /* NULL-safe */
/* Takes the type, also when it fails. */
fer_status fer_value_create(fer_graph *graph, fer_type *type, const fer_node *node,
                            fer_value **out_value, fer_error *error);
void fer_node_destroy(fer_node *node); /* NULL-safe; its results go with it */
/* In the graph's current block. */
fer_status fer_node_create(fer_graph *graph, fer_node_kind kind, fer_value *const *operands,
                           size_t num_operands, size_t num_results, fer_node **out_node,
                           fer_error *error);
/* Makes one more result of a type that the node takes, also when it fails; it has room for it. */
fer_status fer_node_add_result(fer_node *node, fer_type *type, fer_error *error);
/* Puts a node and its values at the end of its block, and makes known the dims that its results
 * bring; takes the node only on success. */
fer_status fer_node_append(fer_node *node, fer_error *error);
/* The kernel that an op's node runs; compiles it if need be. */
fer_status fer_node_select(const fer_node *node, const fer_specialisation **out_specialisation,
                           fer_error *error);
/* Adds a step of one operand whose result shares the operand's elements, under a type whose names
 * are known or bound by it. */
fer_status fer_graph_share(fer_graph *graph, fer_node_kind kind, fer_value *value,
                           const fer_type *type, fer_value **out_value, fer_error *error);
/* Whether a reshape is right, or wrong, for every size. Both are false when it is not known. */
bool fer_reshape_always_holds(const fer_type *from, const fer_type *to);
bool fer_reshape_never_holds(const fer_type *from, const fer_type *to);
/* Whether two constants of one type have the same bytes. */
bool fer_node_same_constants(const fer_node *a, const fer_node *b);
/* VALUE for an input that is not declared inout, or a view of one. It would be changed as that
 * operand of an op, or without an op as that input of a graph. */
fer_status fer_value_require_changeable(const fer_value *value, const char *op, const char *operand,
                                        fer_error *error);
/* Notes that the node changes an operand in its place. */
void fer_node_changes(const fer_node *node, size_t operand);

/* Makes an empty block that sees the parent's values. It is not open yet, and the caller gives it
 * to the node. */
fer_status fer_block_create(fer_node *owner, fer_block *parent, fer_block **out_block,
                            fer_error *error);
/* NULL-safe; frees what is in a block, with the blocks in it. */
void fer_block_destroy(fer_block *block);
/* `the body of while`: which block of its owner it is. */
const char *fer_block_role(const fer_block *block);
/* Whether the block is `outer` or inside of it. */
bool fer_block_is_inside(const fer_block *block, const fer_block *outer);

/* Puts the node's place in its program before the message of an error that is there already, and
 * its line into the error. FER_OK stays, and so does an error of a node that has none. */
fer_status fer_node_locate(const fer_node *node, fer_status status, fer_error *error);

/* Adds a constant that shares the tensor, which is compact and nobody writes any more; its bools
 * are 0 and 1. */
fer_status fer_graph_keep_constant(fer_graph *graph, fer_tensor *tensor, fer_node **out_node,
                                   fer_error *error);
/* Takes back the last node, a constant that nothing uses. */
void fer_graph_drop_constant(fer_graph *graph);

/* VALUE for a graph whose building was left. */
fer_status fer_graph_require_kept(const fer_graph *graph, fer_error *error);
/* The same, and VALUE for a finished graph. */
fer_status fer_graph_require_open(const fer_graph *graph, fer_error *error);
/* The same, and VALUE for one that is not finished; `else_what` goes on behind that. */
fer_status fer_graph_require_finished(const fer_graph *graph, const char *else_what,
                                      fer_error *error);
/* TYPE for NULL, VALUE for a value of another graph or of a block that has ended; `what` says in
 * messages which value it is. */
fer_status fer_graph_require_value(const fer_graph *graph, const fer_value *value, const char *what,
                                   fer_error *error);
/* The value of that name that can be used now, or NULL. */
fer_value *fer_graph_find_value(const fer_graph *graph, const char *name);
/* The value that brought a dim's name, where it is known now; else NULL. */
fer_value *fer_graph_find_dim(const fer_graph *graph, const char *name);
/* Makes known the names in a value's type that are new. */
fer_status fer_graph_add_dims(fer_graph *graph, fer_value *value, fer_error *error);
/* The first name in a type's dims that is not known now and stands bare in none of `types`; NULL:
 * there is none. `out_axis` is where it is. */
const char *fer_graph_unknown_name(const fer_graph *graph, const fer_type *type,
                                   const fer_type *const *types, size_t num_types,
                                   size_t *out_axis);
/* Makes room for values, so that adding so many cannot fail. */
fer_status fer_graph_reserve_values(fer_graph *graph, size_t num_values, fer_error *error);
void fer_graph_add_value(fer_graph *graph, fer_value *value);

/* Gives an op a name in the program. VALUE: the name is taken. */
fer_status fer_module_name_op(fer_module *module, const char *name, const fer_op *op,
                              fer_error *error);

/* Gives a value a name in the text. VALUE: the graph has it already. */
fer_status fer_value_rename(fer_value *value, const char *name, fer_error *error);

/* It does more than its results show: it runs once, in its place, whatever uses them. */
bool fer_node_has_effect(const fer_node *node);
bool fer_node_must_run(const fer_node *node); /* that, or it asserts */

/* The type on another device. */
fer_status fer_transferred_type(const fer_type *type, fer_device device, fer_type **out_type,
                                fer_error *error);

/* Names the data-dependent dim that an op staged now would get, for the caller to free. */
fer_status fer_dynamic_dim_name(const char *graph, const char *kernel, size_t ordinal,
                                const char *symbol, char **out_name, fer_error *error);
/* A result's type with the graph's names in place of its open dims. */
fer_status fer_name_open_dims(const fer_graph *graph, const fer_op *op, size_t ordinal,
                              size_t result, const fer_type *open, fer_type **out_type,
                              fer_error *error);

/* What a dim of a called graph is in the graph that calls it. */
typedef struct fer_bound_dim {
    const char *name; /* the callee's, borrowed from its types */
    fer_dim *dim;
    size_t input; /* that binds it, and its axis */
    size_t axis;
} fer_bound_dim;

/* Owned by the caller, who calls fer_call_binding_clear. */
typedef struct fer_call_binding {
    fer_bound_dim *dims; /* those that inputs bind, then those that the callee finds when it runs */
    size_t num_bound;
    size_t num_dims;
    size_t capacity;
    fer_names names; /* to the index and 1 */
    fer_type **results;
    size_t num_results;
} fer_call_binding;

/* The checker of calls of graphs: as many arguments as the callee has inputs. */
fer_status fer_call_bind(const fer_graph *caller, const fer_graph *callee,
                         fer_value *const *arguments, size_t ordinal, fer_call_binding *out_binding,
                         fer_error *error);
void fer_call_binding_clear(fer_call_binding *binding);

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
    /* The elements of a constant's .npy file. */
    fer_status (*map)(void *context, const char *path, fer_tensor **out_tensor, fer_error *error);
    void *context;
} fer_program_host;

fer_status fer_module_parse_with(const fer_program_host *host, const char *text,
                                 const char *source_name, const char *folder,
                                 fer_module **out_module, fer_error *error);

#endif
