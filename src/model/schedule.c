#include "model/schedule.h"

#include "signature/unify.h"

#include <stdlib.h>

/* --- What runs -------------------------------------------------------------------------------- */

/* A rebind may name the data-dependent dim of an op whose results nothing else needs. */
static void need_definers(const fer_graph *graph, const fer_node *rebind, bool *is_needed,
                          const size_t *node_of)
{
    const fer_type *type = rebind->results[0]->type;
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            const void *definer = fer_names_find(&graph->dims, fer_dim_symbol_at(dim, i, NULL));
            if (definer == graph)
                continue;
            const fer_node *node = definer;
            is_needed[node_of[node->results[0]->index]] = true;
        }
    }
}

/* Marks the nodes that run: what has an effect, and what the outputs and those need. */
static fer_status find_needed(const fer_graph *graph, bool *is_needed, fer_error *error)
{
    bool *is_used = calloc(graph->num_values + 1, sizeof *is_used);
    size_t *node_of = calloc(graph->num_values + 1, sizeof *node_of);
    if (is_used == NULL || node_of == NULL) {
        free(is_used);
        free(node_of);
        return fer_fail_memory(error);
    }
    for (size_t i = 0; i < graph->num_nodes; i++)
        for (size_t j = 0; j < graph->nodes[i]->num_results; j++)
            node_of[graph->nodes[i]->results[j]->index] = i;
    for (size_t i = 0; i < graph->num_outputs; i++)
        is_used[graph->outputs[i]->index] = true;
    for (size_t i = graph->num_nodes; i-- > 0;) {
        const fer_node *node = graph->nodes[i];
        is_needed[i] |= fer_node_has_effect(node);
        for (size_t j = 0; j < node->num_results; j++)
            is_needed[i] |= is_used[node->results[j]->index];
        for (size_t j = 0; is_needed[i] && j < node->num_operands; j++)
            is_used[node->operands[j]->index] = true;
        if (node->kind == FER_NODE_REBIND)
            need_definers(graph, node, is_needed, node_of);
    }
    free(is_used);
    free(node_of);
    return FER_OK;
}

/* --- Slots ------------------------------------------------------------------------------------ */

static size_t add_slot(fer_schedule *s, const fer_value *value, fer_storage storage, size_t index)
{
    size_t slot = s->num_slots++;
    s->slots[slot] = (fer_slot){.value = value, .storage = storage, .index = index};
    s->slot_of[value->index] = slot;
    return slot;
}

static void add_input_slots(fer_schedule *s)
{
    for (size_t i = 0; i < s->graph->num_values; i++)
        s->slot_of[i] = SIZE_MAX;
    for (size_t i = 0; i < s->graph->num_inputs; i++)
        add_slot(s, s->graph->values[i], FER_STORAGE_INPUT, i);
}

/* The outputs of one slot: the first one is the slot itself, if a kernel makes it; the others, and
 * those that are an input or a constant, are copies. */
static void plan_outputs(fer_schedule *s)
{
    for (size_t i = 0; i < s->graph->num_outputs; i++) {
        const fer_value *value = s->graph->outputs[i];
        fer_slot *slot = &s->slots[s->slot_of[value->root->index]];
        fer_output_plan *output = &s->outputs[i];
        output->slot = (size_t)(slot - s->slots);
        output->is_direct = slot->storage == FER_STORAGE_BLOCK;
        slot->last_use = SIZE_MAX;
        if (output->is_direct) {
            slot->storage = FER_STORAGE_OUTPUT;
            slot->index = i;
        }
    }
}

/* --- Steps ------------------------------------------------------------------------------------ */

static size_t find_symbol(const fer_schedule *s, const char *name)
{
    return (size_t)(uintptr_t)fer_names_find(&s->symbol_names, name);
}

/* What each axis of a type must be; a bare name that is new is bound here. `is_dynamic`: the step
 * waits until it is reached, and so do the symbols that it binds. */
static fer_status make_rules(fer_schedule *s, const fer_type *type, bool is_dynamic,
                             fer_axis_rule *rules, fer_error *error)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        const char *name = fer_dim_symbol_name(dim, NULL);
        fer_axis_rule *rule = &rules[axis];
        *rule = (fer_axis_rule){.kind = FER_RULE_EVALUATE, .dim = dim};
        if (fer_dim_is_static(dim)) {
            rule->kind = FER_RULE_STATIC;
            FER_TRY(fer_dim_value(dim, &rule->value, error));
        }
        if (name == NULL)
            continue;
        size_t found = find_symbol(s, name);
        rule->kind = found == 0 ? FER_RULE_BIND : FER_RULE_MATCH;
        rule->symbol = found == 0 ? s->num_symbols : found - 1;
        if (found != 0)
            continue;
        FER_TRY(
            fer_names_add(&s->symbol_names, name, (void *)(uintptr_t)(s->num_symbols + 1), error));
        s->symbols[s->num_symbols++] =
            (fer_symbol){.name = name, .is_dynamic = is_dynamic, .axis = axis};
    }
    return FER_OK;
}

static fer_status make_input_rules(fer_schedule *s, fer_error *error)
{
    for (size_t i = 0; i < s->graph->num_inputs; i++) {
        const fer_type *type = s->graph->values[i]->type;
        size_t num_known = s->num_symbols;
        s->input_rules[i] = calloc(fer_type_rank(type) + 1, sizeof *s->input_rules[i]);
        if (s->input_rules[i] == NULL)
            return fer_fail_memory(error);
        FER_TRY(make_rules(s, type, false, s->input_rules[i], error));
        for (size_t j = num_known; j < s->num_symbols; j++) {
            s->symbols[j].is_input = true;
            s->symbols[j].input = i;
        }
    }
    return FER_OK;
}

/* Whether a type needs a dim that is known only when kernels have run. */
static bool needs_dynamic_symbol(const fer_schedule *s, const fer_type *type)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            size_t found = find_symbol(s, fer_dim_symbol_at(dim, i, NULL));
            if (found != 0 && s->symbols[found - 1].is_dynamic)
                return true;
        }
    }
    return false;
}

static bool is_dynamic_step(const fer_schedule *s, const fer_node *node)
{
    for (size_t i = 0; i < node->num_operands; i++)
        if (s->slots[s->slot_of[node->operands[i]->root->index]].is_dynamic)
            return true;
    for (size_t i = 0; i < node->num_results; i++)
        if (needs_dynamic_symbol(s, node->results[i]->type))
            return true;
    return false;
}

static fer_status select_kernel(const fer_schedule *s, fer_step_plan *step, fer_error *error)
{
    const fer_node *node = step->node;
    const fer_type *types[FER_MAX_OPERANDS];
    for (size_t i = 0; i < node->num_operands; i++)
        types[i] = node->operands[i]->type;
    fer_unification unification;
    FER_TRY(fer_unify(node->op->signature, types, node->num_operands, &unification, error));
    fer_status status = fer_op_select(node->op, unification.dtypes, &step->specialisation, error);
    fer_unification_clear(&unification);
    if (status != FER_OK) {
        status = fer_error_prepend(error, status, "graph '%s': ", s->graph->name);
        return fer_node_locate(node, status, error);
    }
    step->is_open = step->specialisation->plan.num_open > 0;
    return FER_OK;
}

static fer_status make_step_rules(fer_schedule *s, fer_step_plan *step, fer_error *error)
{
    const fer_node *node = step->node;
    size_t num_rules = 0;
    for (size_t i = 0; i < node->num_results; i++)
        num_rules += fer_type_rank(node->results[i]->type);
    step->rules = calloc(num_rules + 1, sizeof *step->rules);
    if (step->rules == NULL)
        return fer_fail_memory(error);
    fer_axis_rule *rules = step->rules;
    for (size_t i = 0; i < node->num_results; i++) {
        const fer_type *type = node->results[i]->type;
        FER_TRY(make_rules(s, type, step->is_dynamic || step->is_open, rules, error));
        rules += fer_type_rank(type);
    }
    return FER_OK;
}

/* Gives a node's results slots, and notes what the step does to those of its operands. */
static fer_status place_step(fer_schedule *s, fer_step_plan *step, size_t position,
                             fer_error *error)
{
    const fer_node *node = step->node;
    step->slots = calloc(node->num_results + node->num_operands + 1, sizeof *step->slots);
    if (step->slots == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < node->num_operands; i++) {
        size_t slot = s->slot_of[node->operands[i]->root->index];
        step->slots[node->num_results + i] = slot;
        s->slots[slot].last_use = position;
        if (node->kind == FER_NODE_OP)
            s->slots[slot].is_changed |=
                fer_signature_folded(node->op->signature)->operands[i].is_inout;
    }
    for (size_t i = 0; i < node->num_results; i++) {
        step->slots[i] = node->kind == FER_NODE_REBIND
                             ? step->slots[node->num_results]
                             : add_slot(s, node->results[i], FER_STORAGE_BLOCK, 0);
        s->slots[step->slots[i]].last_use = position;
        if (node->kind == FER_NODE_OP)
            s->slots[step->slots[i]].is_dynamic = step->is_dynamic || step->is_open;
    }
    step->first_argument = s->num_arguments;
    s->num_arguments += node->num_results + node->num_operands;
    return FER_OK;
}

static fer_status add_step(fer_schedule *s, const fer_node *node, fer_error *error)
{
    size_t position = s->num_steps++;
    fer_step_plan *step = &s->steps[position];
    step->node = node;
    if (node->kind == FER_NODE_OP)
        FER_TRY(select_kernel(s, step, error));
    step->is_dynamic = is_dynamic_step(s, node);
    FER_TRY(make_step_rules(s, step, error));
    return place_step(s, step, position, error);
}

/* --- Blocks ----------------------------------------------------------------------------------- */

/* The blocks of one kind that no slot uses at the moment. */
typedef struct block_list {
    size_t *blocks;
    size_t count;
    size_t num_made;
} block_list;

static size_t take_block(block_list *list)
{
    return list->count > 0 ? list->blocks[--list->count] : list->num_made++;
}

/* Hands out blocks in the order of the steps: results first, then what was used for the last time
 * goes back, so that no kernel reads and writes one block. Blocks whose sizes are known before a
 * run and those of later sizes never mix: the first stay where they are when the second grow. */
static void place_blocks(fer_schedule *s, block_list lists[2])
{
    for (size_t i = 0; i < s->num_steps; i++) {
        fer_step_plan *step = &s->steps[i];
        size_t num_results = step->node->num_results;
        for (size_t j = 0; step->node->kind == FER_NODE_OP && j < num_results; j++) {
            fer_slot *slot = &s->slots[step->slots[j]];
            if (slot->storage == FER_STORAGE_BLOCK)
                slot->index = take_block(&lists[slot->is_dynamic]);
        }
        for (size_t j = 0; j < num_results + step->node->num_operands; j++) {
            fer_slot *slot = &s->slots[step->slots[j]];
            if (slot->storage != FER_STORAGE_BLOCK || slot->last_use != i || slot->is_free)
                continue;
            slot->is_free = true;
            block_list *list = &lists[slot->is_dynamic];
            list->blocks[list->count++] = slot->index;
        }
    }
}

static fer_status plan_blocks(fer_schedule *s, fer_error *error)
{
    block_list lists[2] = {{0}, {0}};
    lists[0].blocks = calloc(s->num_slots + 1, sizeof *lists[0].blocks);
    lists[1].blocks = calloc(s->num_slots + 1, sizeof *lists[1].blocks);
    fer_status status = FER_OK;
    if (lists[0].blocks == NULL || lists[1].blocks == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    place_blocks(s, lists);
    for (size_t i = 0; i < s->num_slots; i++)
        if (s->slots[i].storage == FER_STORAGE_CONSTANT && s->slots[i].is_changed) {
            s->slots[i].storage = FER_STORAGE_COPY;
            s->slots[i].index = lists[0].num_made++;
            s->num_copies++;
        }
    s->num_static_blocks = lists[0].num_made;
    s->num_blocks = lists[0].num_made + lists[1].num_made;
    for (size_t i = 0; i < s->num_slots; i++)
        if (s->slots[i].storage == FER_STORAGE_BLOCK && s->slots[i].is_dynamic)
            s->slots[i].index += s->num_static_blocks;

done:
    free(lists[0].blocks);
    free(lists[1].blocks);
    return status;
}

/* --- The whole -------------------------------------------------------------------------------- */

/* One device for everything; which one, `out_device`. */
static fer_status check_devices(const fer_graph *graph, int32_t *out_device, fer_error *error)
{
    *out_device = graph->num_values == 0 ? 0 : fer_type_device(graph->values[0]->type).id;
    for (size_t i = 0; i < graph->num_values; i++) {
        int32_t device = fer_type_device(graph->values[i]->type).id;
        if (device != *out_device)
            return fer_fail(error, FER_UNSUPPORTED_ERROR,
                            "graph '%s' has values on devices %d and %d; the interpreter runs a "
                            "graph on one device",
                            graph->name, (int)*out_device, (int)device);
    }
    return FER_OK;
}

static fer_status allocate(fer_schedule *s, fer_error *error)
{
    const fer_graph *graph = s->graph;
    size_t num_symbols = 0;
    for (size_t i = 0; i < graph->num_values; i++)
        num_symbols += fer_type_rank(graph->values[i]->type);
    s->slots = calloc(graph->num_values + 1, sizeof *s->slots);
    s->slot_of = calloc(graph->num_values + 1, sizeof *s->slot_of);
    s->symbols = calloc(num_symbols + 1, sizeof *s->symbols);
    s->input_rules = calloc(graph->num_inputs + 1, sizeof *s->input_rules);
    s->steps = calloc(graph->num_nodes + 1, sizeof *s->steps);
    s->outputs = calloc(graph->num_outputs + 1, sizeof *s->outputs);
    bool is_whole = s->slots != NULL && s->slot_of != NULL && s->symbols != NULL &&
                    s->input_rules != NULL && s->steps != NULL && s->outputs != NULL;
    return is_whole ? FER_OK : fer_fail_memory(error);
}

static fer_status add_steps(fer_schedule *s, const bool *is_needed, fer_error *error)
{
    for (size_t i = 0; i < s->graph->num_nodes; i++) {
        const fer_node *node = s->graph->nodes[i];
        if (!is_needed[i])
            continue;
        if (node->kind == FER_NODE_CONSTANT)
            add_slot(s, node->results[0], FER_STORAGE_CONSTANT, 0);
        else
            FER_TRY(add_step(s, node, error));
    }
    for (size_t i = 0; i < s->graph->num_inputs; i++)
        s->num_changed_inputs += s->slots[i].is_changed;
    return FER_OK;
}

fer_status fer_schedule_create(const fer_graph *graph, fer_schedule *out_schedule, fer_error *error)
{
    fer_schedule s = {.graph = graph};
    bool *is_needed = NULL;
    fer_status status = FER_OK;
    FER_TRY_DONE(check_devices(graph, &s.device, error));
    FER_TRY_DONE(allocate(&s, error));
    is_needed = calloc(graph->num_nodes + 1, sizeof *is_needed);
    if (is_needed == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    FER_TRY_DONE(find_needed(graph, is_needed, error));
    add_input_slots(&s);
    FER_TRY_DONE(make_input_rules(&s, error));
    FER_TRY_DONE(add_steps(&s, is_needed, error));
    plan_outputs(&s);
    FER_TRY_DONE(plan_blocks(&s, error));
    *out_schedule = s;
    s = (fer_schedule){0};

done:
    free(is_needed);
    fer_schedule_clear(&s);
    return status;
}

void fer_schedule_clear(fer_schedule *schedule)
{
    for (size_t i = 0; i < schedule->num_steps; i++) {
        free(schedule->steps[i].slots);
        free(schedule->steps[i].rules);
    }
    for (size_t i = 0; schedule->input_rules != NULL && i < schedule->graph->num_inputs; i++)
        free(schedule->input_rules[i]);
    free(schedule->slots);
    free(schedule->slot_of);
    free(schedule->symbols);
    fer_names_clear(&schedule->symbol_names);
    free(schedule->input_rules);
    free(schedule->steps);
    free(schedule->outputs);
    *schedule = (fer_schedule){0};
}
