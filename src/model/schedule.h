/* A finished graph as an executor walks it: which steps run, where elements live, and what a step
 * must find. Called graphs are part of it, once for each call; arms and loops are jumps. It depends
 * on no size. */
#ifndef FERRULE_MODEL_SCHEDULE_H
#define FERRULE_MODEL_SCHEDULE_H

#include "graph/graph.h"

#define FER_NONE SIZE_MAX

/* Where a slot's elements are while the graph runs. */
typedef enum fer_storage {
    FER_STORAGE_INPUT = 0, /* in the caller's tensor */
    FER_STORAGE_CONSTANT,  /* in the graph's tensor */
    FER_STORAGE_BUFFER,    /* in a buffer that other slots use at other times */
    FER_STORAGE_OUTPUT,    /* in a tensor that is new in each run */
    FER_STORAGE_VIEW       /* where those of another slot are, which is no view */
} fer_storage;

/* The elements of one value and of its rebinds; of a call's arguments, and what the callee calls
 * them. A reshape has other extents, and so a slot of its own. */
typedef struct fer_slot {
    const fer_value *value; /* whose dtype and rank it has */
    fer_storage storage;
    size_t index;     /* of the input, the buffer, the output or the other slot */
    bool is_dynamic;  /* its extents are known only when kernels have run */
    bool is_nested;   /* it is made in an arm or a loop, if that is reached */
    size_t first_use; /* by a step; FER_NONE: there is none */
    size_t last_use;
} fer_slot;

/* Its extents and its place wait until a step gives it. */
static inline bool fer_slot_is_late(const fer_slot *slot)
{
    return slot->is_dynamic || slot->is_nested;
}

/* What one axis of a value must be. */
typedef struct fer_axis_rule {
    enum { FER_RULE_STATIC, FER_RULE_BIND, FER_RULE_MATCH, FER_RULE_EVALUATE } kind;
    int64_t value;
    size_t symbol;
    const fer_dim *dim;
} fer_axis_rule;

/* A dim of a graph: where its value comes from. */
typedef struct fer_symbol {
    const char *name;
    bool is_bound; /* where the schedule is being made */
    bool is_left;  /* a block that has ended bound it; its steps do so in each run */
    bool is_dynamic;
    bool is_input;
    size_t input; /* and its axis, for messages */
    size_t axis;
} fer_symbol;

/* A graph that runs: the model's own comes first, the others are calls. */
typedef struct fer_frame {
    const fer_graph *graph;
    size_t caller;       /* the frame; FER_NONE: there is none */
    size_t loop;         /* that the call is in, or FER_NONE */
    size_t first_symbol; /* its dims are those from here on */
    size_t num_symbols;
} fer_frame;

/* A `while`: its steps, and the next loop around it. */
typedef struct fer_loop {
    size_t frame;
    size_t parent; /* or FER_NONE */
    size_t start;
    size_t end; /* the last step */
} fer_loop;

typedef enum fer_step_kind {
    FER_STEP_OP = 0,  /* calls a kernel */
    FER_STEP_CHECK,   /* holds the slots' extents to the rules, and binds symbols */
    FER_STEP_SIZE,    /* gives the slots the extents that the rules say */
    FER_STEP_COPY,    /* the first slot becomes the second one */
    FER_STEP_VIEW,    /* the first slot, of other extents, is where the second one is */
    FER_STEP_SYMBOLS, /* the caller's symbols take the values of the callee's */
    FER_STEP_TURN,    /* one more turn of the loop begins */
    FER_STEP_BRANCH,  /* goes to the target when the slot, a predicate, is false */
    FER_STEP_JUMP     /* goes to the target */
} fer_step_kind;

typedef struct fer_symbol_pair {
    size_t to;
    size_t from;
} fer_symbol_pair;

typedef struct fer_step_plan {
    const fer_specialisation *specialisation; /* NULL: no kernel is called */
    size_t first_argument;                    /* among those of all steps */
    bool is_late;     /* it is prepared when it is reached, not for all sizes before a run */
    bool is_dynamic;  /* it must be each time, since what it finds follows from elements */
    bool is_open;     /* its kernel's SHAPE function says how large its results are */
    bool is_repeated; /* it is late, and prepared before a run as well */
    fer_step_kind kind;
    const fer_node *node;
    size_t frame;
    size_t loop;   /* the innermost, or FER_NONE */
    size_t *slots; /* of an op: of results, then of operands */
    size_t num_slots;
    size_t num_results;   /* the first slots, which it writes */
    fer_axis_rule *rules; /* one slot after the other: results of an op, else all */
    size_t target;        /* the step that a jump or a branch goes to; of a turn, the loop */
    size_t counter;       /* of a branch that ends a loop: the loop; else FER_NONE */
    fer_symbol_pair *pairs;
    size_t num_pairs;
} fer_step_plan;

typedef struct fer_output_plan {
    size_t slot;
    bool is_direct; /* steps write its elements; else it is copied at the end */
} fer_output_plan;

typedef struct fer_schedule {
    const fer_graph *graph;
    fer_slot *slots; /* of the inputs first */
    size_t num_slots;
    size_t slots_capacity;
    fer_symbol *symbols;
    size_t num_symbols;
    size_t symbols_capacity;
    fer_frame *frames;
    size_t num_frames;
    size_t frames_capacity;
    fer_loop *loops;
    size_t num_loops;
    size_t loops_capacity;
    fer_step_plan *steps;
    size_t num_steps;
    size_t steps_capacity;
    fer_axis_rule **input_rules;
    size_t num_arguments;
    size_t num_inout_inputs;
    size_t num_buffers;
    fer_output_plan *outputs;
} fer_schedule;

/* The slot whose memory this one's elements are in. */
static inline size_t fer_slot_base(const fer_schedule *schedule, size_t slot)
{
    const fer_slot *s = &schedule->slots[slot];
    return s->storage == FER_STORAGE_VIEW ? s->index : slot;
}

/* Takes what a finished graph needs: kernels are selected, and compiled where need be. UNSUPPORTED:
 * what the interpreter cannot run. */
fer_status fer_schedule_create(const fer_graph *graph, fer_schedule *out_schedule,
                               fer_error *error);
void fer_schedule_clear(fer_schedule *schedule);

/* --- Its parts -------------------------------------------------------------------------------- */

/* Adds the steps of a graph and of all that it calls, with the slots of its inputs and outputs. */
fer_status fer_schedule_emit(fer_schedule *schedule, fer_error *error);
/* Gives the slots buffers. */
fer_status fer_schedule_place(fer_schedule *schedule, fer_error *error);

#endif
