/* A finished graph as an executor walks it: which steps run, where elements live, and what a step
 * must find. It depends on no size. */
#ifndef FERRULE_MODEL_SCHEDULE_H
#define FERRULE_MODEL_SCHEDULE_H

#include "graph/graph.h"

/* Where a slot's elements are while the graph runs. */
typedef enum fer_storage {
    FER_STORAGE_INPUT = 0, /* in the caller's tensor */
    FER_STORAGE_CONSTANT,  /* in the graph's tensor */
    FER_STORAGE_COPY,      /* in a block: of a constant that an op changes, copied for each run */
    FER_STORAGE_BLOCK,     /* in a block that other slots use at other times */
    FER_STORAGE_OUTPUT     /* in a tensor that is new in each run */
} fer_storage;

/* The elements of one value and of its rebinds. */
typedef struct fer_slot {
    const fer_value *value; /* the root */
    fer_storage storage;
    size_t index;    /* of the input, the block or the output */
    bool is_dynamic; /* its extents are known only when kernels have run */
    bool is_changed; /* an inout operand */
    bool is_free;    /* while blocks are handed out: it is used no more */
    size_t last_use; /* the step; SIZE_MAX: it must be there at the end */
} fer_slot;

/* What one axis of a value must be. */
typedef struct fer_axis_rule {
    enum { FER_RULE_STATIC, FER_RULE_BIND, FER_RULE_MATCH, FER_RULE_EVALUATE } kind;
    int64_t value;
    size_t symbol;
    const fer_dim *dim;
} fer_axis_rule;

/* A dim of the graph: where its value comes from. */
typedef struct fer_symbol {
    const char *name;
    bool is_dynamic;
    bool is_input;
    size_t input; /* and its axis, for messages */
    size_t axis;
} fer_symbol;

/* A node that runs: an op or a rebind. */
typedef struct fer_step_plan {
    const fer_node *node;
    const fer_specialisation *specialisation; /* NULL for a rebind */
    size_t *slots;                            /* of results, then of operands */
    size_t first_argument;                    /* among those of all steps */
    bool is_dynamic;                          /* its checks and extents wait until it is reached */
    bool is_open;         /* its kernel's SHAPE function says how large its results are */
    fer_axis_rule *rules; /* of all results' axes, one result after the other */
} fer_step_plan;

typedef struct fer_output_plan {
    size_t slot;
    bool is_direct; /* the kernel writes it; else it is copied at the end */
} fer_output_plan;

typedef struct fer_schedule {
    const fer_graph *graph;
    int32_t device;
    fer_slot *slots;
    size_t num_slots;
    size_t *slot_of; /* of each value of the graph; SIZE_MAX: nothing uses it */
    fer_symbol *symbols;
    size_t num_symbols;
    fer_names symbol_names; /* to the index and 1 */
    fer_axis_rule **input_rules;
    fer_step_plan *steps;
    size_t num_steps;
    size_t num_arguments;
    size_t num_changed_inputs;
    size_t num_copies;        /* slots of FER_STORAGE_COPY */
    size_t num_static_blocks; /* these come first */
    size_t num_blocks;
    fer_output_plan *outputs;
} fer_schedule;

/* Takes what a finished graph needs: kernels are selected, and compiled where need be. UNSUPPORTED:
 * what the interpreter cannot run. */
fer_status fer_schedule_create(const fer_graph *graph, fer_schedule *out_schedule,
                               fer_error *error);
void fer_schedule_clear(fer_schedule *schedule);

#endif
