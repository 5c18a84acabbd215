/* The steps of a graph. A called graph's steps stand in place of the call, in a frame of their own:
 * its inputs are the arguments' slots. The arms of `if` and the parts of `while` become jumps. */
#include "model/schedule.h"

#include <stdlib.h>
#include <string.h>

/* Values and nodes of called graphs, counted for each call, so many at most: a few lines of a
 * program can ask for endless ones. */
#define MAX_CALLED ((size_t)1 << 20)

/* A frame whose steps are being added. */
typedef struct scope {
    fer_schedule *s;
    const fer_graph *graph;
    size_t frame;
    size_t loop;       /* the innermost, or FER_NONE */
    bool is_nested;    /* in an arm or a loop, of this graph or around the call */
    size_t *slot_of;   /* of each value */
    fer_names symbols; /* to the index and 1 */
    size_t *bound;     /* the symbols that are bound, oldest first */
    size_t num_bound;
    size_t num_symbols;
    size_t *num_called; /* of all calls so far */
} scope;

/* --- Slots ------------------------------------------------------------------------------------ */

static fer_status add_slot(fer_schedule *s, const fer_value *value, fer_storage storage,
                           size_t index, size_t *out_slot, fer_error *error)
{
    FER_TRY(fer_reserve(&s->slots, s->num_slots + 1, &s->slots_capacity, sizeof *s->slots, error));
    *out_slot = s->num_slots++;
    s->slots[*out_slot] =
        (fer_slot){.value = value, .storage = storage, .index = index, .first_use = FER_NONE};
    return FER_OK;
}

/* A slot that steps of this scope write. */
static fer_status add_buffer_slot(const scope *c, const fer_value *value, bool is_dynamic,
                                  size_t *out_slot, fer_error *error)
{
    FER_TRY(add_slot(c->s, value, FER_STORAGE_BUFFER, FER_NONE, out_slot, error));
    c->s->slots[*out_slot].is_dynamic = is_dynamic;
    c->s->slots[*out_slot].is_nested = c->is_nested;
    return FER_OK;
}

static size_t slot_of(const scope *c, const fer_value *value)
{
    return c->slot_of[value->index];
}

static bool is_dynamic_slot(const scope *c, size_t slot)
{
    return c->s->slots[slot].is_dynamic;
}

static fer_step_plan *last_step(const scope *c)
{
    return &c->s->steps[c->s->num_steps - 1];
}

/* --- Symbols ---------------------------------------------------------------------------------- */

/* The symbol of a name in this frame, which is new when it comes for the first time. A name that
 * two arms bind is one symbol: only one of them runs. */
static fer_status find_symbol(scope *c, const char *name, size_t *out_symbol, fer_error *error)
{
    uintptr_t found = (uintptr_t)fer_names_find(&c->symbols, name);
    if (found != 0) {
        *out_symbol = found - 1;
        return FER_OK;
    }
    size_t symbol = c->s->frames[c->frame].first_symbol + c->num_symbols;
    FER_TRY(fer_names_add(&c->symbols, name, (void *)(symbol + 1), error));
    c->s->symbols[symbol] = (fer_symbol){.name = name};
    c->num_symbols++;
    *out_symbol = symbol;
    return FER_OK;
}

/* A block that bound the name before leaves its value in a run, so the last step binds again. */
static void bind_symbol(scope *c, size_t symbol, bool is_dynamic)
{
    fer_symbol *bound = &c->s->symbols[symbol];
    if (bound->is_left)
        last_step(c)->is_repeated = true;
    bound->is_bound = true;
    bound->is_dynamic = is_dynamic;
    c->bound[c->num_bound++] = symbol;
}

/* What a block bound ends with it. */
static void unbind_symbols(scope *c, size_t num_bound)
{
    while (c->num_bound > num_bound) {
        fer_symbol *symbol = &c->s->symbols[c->bound[--c->num_bound]];
        symbol->is_bound = false;
        symbol->is_left = true;
    }
}

/* What each axis of a type must be; a bare name that is new is bound here. */
static fer_status make_rules(scope *c, const fer_type *type, bool is_dynamic, fer_axis_rule *rules,
                             fer_error *error)
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
        FER_TRY(find_symbol(c, name, &rule->symbol, error));
        rule->kind = c->s->symbols[rule->symbol].is_bound ? FER_RULE_MATCH : FER_RULE_BIND;
        if (rule->kind == FER_RULE_MATCH)
            continue;
        bind_symbol(c, rule->symbol, is_dynamic);
        c->s->symbols[rule->symbol].axis = axis;
    }
    return FER_OK;
}

/* Whether a type has a dim that is known only when kernels have run; or, with `counts_new`, that is
 * not bound yet. */
static bool is_dynamic_type(const scope *c, const fer_type *type, bool counts_new)
{
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
            uintptr_t found =
                (uintptr_t)fer_names_find(&c->symbols, fer_dim_symbol_at(dim, i, NULL));
            const fer_symbol *symbol = found == 0 ? NULL : &c->s->symbols[found - 1];
            bool is_bound = symbol != NULL && symbol->is_bound;
            if (is_bound ? symbol->is_dynamic : counts_new)
                return true;
        }
    }
    return false;
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* A step on so many slots, with no rules; the last of the schedule. */
static fer_status add_step(const scope *c, fer_step_kind kind, const fer_node *node,
                           size_t num_slots, fer_error *error)
{
    fer_schedule *s = c->s;
    FER_TRY(fer_reserve(&s->steps, s->num_steps + 1, &s->steps_capacity, sizeof *s->steps, error));
    fer_step_plan step = {.kind = kind,
                          .node = node,
                          .frame = c->frame,
                          .loop = c->loop,
                          .num_slots = num_slots,
                          .counter = FER_NONE};
    step.slots = calloc(num_slots + 1, sizeof *step.slots);
    if (step.slots == NULL)
        return fer_fail_memory(error);
    s->steps[s->num_steps++] = step;
    return FER_OK;
}

/* Gives the last step rules for these values' types. */
static fer_status add_rules(scope *c, fer_value *const *values, size_t num_values, bool is_dynamic,
                            fer_error *error)
{
    size_t num_rules = 0;
    for (size_t i = 0; i < num_values; i++)
        num_rules += fer_type_rank(values[i]->type);
    fer_axis_rule *rules = calloc(num_rules + 1, sizeof *rules);
    if (rules == NULL)
        return fer_fail_memory(error);
    last_step(c)->rules = rules;
    for (size_t i = 0; i < num_values; i++) {
        FER_TRY(make_rules(c, values[i]->type, is_dynamic, rules, error));
        rules += fer_type_rank(values[i]->type);
    }
    return FER_OK;
}

static fer_status add_copy(const scope *c, const fer_node *node, size_t to, size_t from,
                           fer_error *error)
{
    FER_TRY(add_step(c, FER_STEP_COPY, node, 2, error));
    fer_step_plan *step = last_step(c);
    step->num_results = 1;
    step->slots[0] = to;
    step->slots[1] = from;
    step->is_dynamic = is_dynamic_slot(c, to);
    step->is_late = c->is_nested || step->is_dynamic;
    return FER_OK;
}

/* Holds slots to the types of values. */
static fer_status add_check(scope *c, const fer_node *node, const size_t *slots,
                            fer_value *const *values, size_t num_values, bool is_dynamic,
                            fer_error *error)
{
    FER_TRY(add_step(c, FER_STEP_CHECK, node, num_values, error));
    fer_step_plan *step = last_step(c);
    if (num_values > 0)
        memcpy(step->slots, slots, num_values * sizeof *slots);
    step->is_dynamic = is_dynamic;
    FER_TRY(add_rules(c, values, num_values, is_dynamic, error));
    bool is_late = c->is_nested || is_dynamic;
    step->is_repeated = step->is_repeated && !is_late;
    step->is_late = is_late || step->is_repeated;
    return FER_OK;
}

/* --- Nodes without blocks --------------------------------------------------------------------- */

/* A constant that an op changes is a copy, made anew where the constant stands. */
static fer_status emit_constant(scope *c, const fer_node *node, fer_error *error)
{
    const fer_value *value = node->results[0];
    size_t slot;
    FER_TRY(add_slot(c->s, value, FER_STORAGE_CONSTANT, 0, &slot, error));
    c->slot_of[value->index] = slot;
    if (!value->is_changed)
        return FER_OK;
    FER_TRY(add_buffer_slot(c, value, false, &c->slot_of[value->index], error));
    return add_copy(c, node, c->slot_of[value->index], slot, error);
}

static fer_status select_kernel(const scope *c, const fer_node *node,
                                const fer_specialisation **out_specialisation, fer_error *error)
{
    fer_status status = fer_node_select(node, out_specialisation, error);
    if (status == FER_OK)
        return FER_OK;
    status = fer_error_prepend(error, status, "graph '%s': ", c->graph->name);
    return fer_node_locate(node, status, error);
}

static bool is_dynamic_op(const scope *c, const fer_node *node)
{
    for (size_t i = 0; i < node->num_operands; i++)
        if (is_dynamic_slot(c, slot_of(c, node->operands[i])))
            return true;
    for (size_t i = 0; i < node->num_results; i++)
        if (is_dynamic_type(c, node->results[i]->type, false))
            return true;
    return false;
}

static fer_status emit_op(scope *c, const fer_node *node, fer_error *error)
{
    const fer_specialisation *specialisation;
    FER_TRY(select_kernel(c, node, &specialisation, error));
    size_t count = node->num_results + node->num_operands;
    FER_TRY(add_step(c, FER_STEP_OP, node, count, error));
    fer_step_plan *step = last_step(c);
    step->specialisation = specialisation;
    step->first_argument = c->s->num_arguments;
    step->num_results = node->num_results;
    step->is_open = specialisation->plan.num_open > 0;
    step->is_dynamic = is_dynamic_op(c, node);
    step->is_late = c->is_nested || step->is_dynamic || step->is_open;
    c->s->num_arguments += count;
    bool is_dynamic = step->is_dynamic || step->is_open;
    for (size_t i = 0; i < node->num_operands; i++)
        step->slots[node->num_results + i] = slot_of(c, node->operands[i]);
    for (size_t i = 0; i < node->num_results; i++) {
        const fer_value *result = node->results[i];
        FER_TRY(add_buffer_slot(c, result, is_dynamic, &step->slots[i], error));
        c->slot_of[result->index] = step->slots[i];
    }
    return add_rules(c, node->results, node->num_results, is_dynamic, error);
}

static fer_status emit_rebind(scope *c, const fer_node *node, fer_error *error)
{
    size_t slot = slot_of(c, node->operands[0]);
    c->slot_of[node->results[0]->index] = slot;
    bool is_dynamic = is_dynamic_slot(c, slot) || is_dynamic_type(c, node->results[0]->type, false);
    return add_check(c, node, &slot, node->results, 1, is_dynamic, error);
}

static fer_status emit_reshape(scope *c, const fer_node *node, fer_error *error)
{
    const fer_value *value = node->results[0];
    size_t from = slot_of(c, node->operands[0]);
    size_t *slot = &c->slot_of[value->index];
    FER_TRY(add_slot(c->s, value, FER_STORAGE_VIEW, fer_slot_base(c->s, from), slot, error));
    c->s->slots[*slot].is_dynamic =
        is_dynamic_slot(c, from) || is_dynamic_type(c, value->type, false);
    c->s->slots[*slot].is_nested = c->is_nested;
    FER_TRY(add_step(c, FER_STEP_VIEW, node, 2, error));
    fer_step_plan *step = last_step(c);
    step->slots[0] = *slot;
    step->slots[1] = from;
    step->is_dynamic = is_dynamic_slot(c, *slot);
    step->is_late = c->is_nested || step->is_dynamic;
    return FER_OK;
}

static fer_status emit_transfer(scope *c, const fer_node *node, fer_error *error)
{
    const fer_value *result = node->results[0];
    size_t from = slot_of(c, node->operands[0]);
    size_t *slot = &c->slot_of[result->index];
    FER_TRY(add_buffer_slot(c, result, is_dynamic_slot(c, from), slot, error));
    return add_copy(c, node, *slot, from, error);
}

/* --- Nodes with blocks ------------------------------------------------------------------------ */

static fer_status emit_block(scope *c, const fer_block *block, fer_error *error);

static fer_status add_jump(const scope *c, fer_step_kind kind, const fer_node *node, size_t target,
                           size_t *out_step, fer_error *error)
{
    FER_TRY(add_step(c, kind, node, 0, error));
    *out_step = c->s->num_steps - 1;
    last_step(c)->target = target;
    return FER_OK;
}

static fer_status add_branch(const scope *c, const fer_node *node, const fer_value *predicate,
                             size_t *out_step, fer_error *error)
{
    FER_TRY(add_step(c, FER_STEP_BRANCH, node, 1, error));
    *out_step = c->s->num_steps - 1;
    last_step(c)->slots[0] = slot_of(c, predicate);
    return FER_OK;
}

/* What an if gives, where sizes say before a run how large it is: so later steps know it too. */
static fer_status add_sizes(const scope *c, const fer_node *node, const size_t *slots,
                            fer_error *error)
{
    for (size_t i = 0; i < node->num_results && !c->is_nested; i++) {
        if (is_dynamic_slot(c, slots[i]))
            continue;
        FER_TRY(add_step(c, FER_STEP_SIZE, node, 1, error));
        last_step(c)->slots[0] = slots[i];
        last_step(c)->num_results = 1;
    }
    return FER_OK;
}

static fer_status emit_arm(scope *c, const fer_node *node, size_t which, const size_t *slots,
                           fer_error *error)
{
    const fer_block *arm = node->blocks[which];
    bool was_nested = c->is_nested;
    size_t num_bound = c->num_bound;
    c->is_nested = true;
    FER_TRY(emit_block(c, arm, error));
    for (size_t i = 0; i < arm->num_results; i++)
        FER_TRY(add_copy(c, node, slots[i], slot_of(c, arm->results[i]), error));
    unbind_symbols(c, num_bound);
    c->is_nested = was_nested;
    return FER_OK;
}

/* New names in the results' types are bound by what the arm gave. */
static fer_status check_results(scope *c, const fer_node *node, const size_t *slots,
                                fer_error *error)
{
    bool is_dynamic = false;
    for (size_t i = 0; i < node->num_results; i++)
        is_dynamic |= is_dynamic_slot(c, slots[i]);
    if (!is_dynamic)
        return FER_OK;
    return add_check(c, node, slots, node->results, node->num_results, true, error);
}

static fer_status emit_if_into(scope *c, const fer_node *node, size_t *slots, fer_error *error)
{
    size_t branch, jump;
    for (size_t i = 0; i < node->num_results; i++)
        FER_TRY(add_buffer_slot(c, node->results[i],
                                is_dynamic_type(c, node->results[i]->type, true), &slots[i],
                                error));
    FER_TRY(add_sizes(c, node, slots, error));
    FER_TRY(add_branch(c, node, node->operands[0], &branch, error));
    FER_TRY(emit_arm(c, node, 0, slots, error));
    FER_TRY(add_jump(c, FER_STEP_JUMP, node, 0, &jump, error));
    c->s->steps[branch].target = c->s->num_steps;
    FER_TRY(emit_arm(c, node, 1, slots, error));
    c->s->steps[jump].target = c->s->num_steps;
    FER_TRY(check_results(c, node, slots, error));
    for (size_t i = 0; i < node->num_results; i++)
        c->slot_of[node->results[i]->index] = slots[i];
    return FER_OK;
}

static fer_status emit_if(scope *c, const fer_node *node, fer_error *error)
{
    size_t *slots = calloc(node->num_results + 1, sizeof *slots);
    if (slots == NULL)
        return fer_fail_memory(error);
    fer_status status = emit_if_into(c, node, slots, error);
    free(slots);
    return status;
}

/* The carried values have memory of their own, which the loop's results are in the end. */
static fer_status emit_initial(scope *c, const fer_node *node, fer_error *error)
{
    for (size_t i = 0; i < node->num_operands; i++) {
        const fer_value *carried = node->blocks[0]->arguments[i];
        size_t initial = slot_of(c, node->operands[i]);
        size_t slot;
        FER_TRY(add_buffer_slot(
            c, carried, is_dynamic_slot(c, initial) || is_dynamic_type(c, carried->type, false),
            &slot, error));
        FER_TRY(add_copy(c, node, slot, initial, error));
        c->slot_of[carried->index] = slot;
        c->slot_of[node->results[i]->index] = slot;
    }
    return FER_OK;
}

/* All carried values change at once: one that is the next of another is kept before it changes. */
static fer_status emit_next(scope *c, const fer_node *node, size_t *from, fer_error *error)
{
    const fer_block *body = node->blocks[1];
    fer_value *const *carried = node->blocks[0]->arguments;
    for (size_t i = 0; i < body->num_results; i++) {
        const fer_value *root = body->results[i]->root;
        from[i] = slot_of(c, root == carried[i] ? root : body->results[i]);
        if (root->block != node->blocks[0] || root->node != NULL || root == carried[i])
            continue;
        size_t kept;
        FER_TRY(add_buffer_slot(c, body->results[i], is_dynamic_slot(c, from[i]), &kept, error));
        FER_TRY(add_copy(c, node, kept, from[i], error));
        from[i] = kept;
    }
    for (size_t i = 0; i < body->num_results; i++)
        if (from[i] != c->slot_of[carried[i]->index])
            FER_TRY(add_copy(c, node, c->slot_of[carried[i]->index], from[i], error));
    return FER_OK;
}

static fer_status emit_turn(scope *c, const fer_node *node, size_t loop, fer_error *error)
{
    size_t start, branch, end;
    FER_TRY(add_jump(c, FER_STEP_TURN, node, loop, &start, error));
    c->s->loops[loop].start = start;
    FER_TRY(emit_block(c, node->blocks[0], error));
    FER_TRY(add_branch(c, node, node->blocks[0]->results[0], &branch, error));
    c->s->steps[branch].counter = loop;
    FER_TRY(emit_block(c, node->blocks[1], error));
    size_t *from = calloc(node->num_operands + 1, sizeof *from);
    if (from == NULL)
        return fer_fail_memory(error);
    fer_status status = emit_next(c, node, from, error);
    free(from);
    FER_TRY(status);
    FER_TRY(add_jump(c, FER_STEP_JUMP, node, start, &end, error));
    c->s->loops[loop].end = end;
    c->s->steps[branch].target = end + 1;
    return FER_OK;
}

static fer_status emit_while(scope *c, const fer_node *node, fer_error *error)
{
    fer_schedule *s = c->s;
    FER_TRY(emit_initial(c, node, error));
    FER_TRY(fer_reserve(&s->loops, s->num_loops + 1, &s->loops_capacity, sizeof *s->loops, error));
    size_t loop = s->num_loops++;
    s->loops[loop] = (fer_loop){.frame = c->frame, .parent = c->loop};
    bool was_nested = c->is_nested;
    size_t num_bound = c->num_bound;
    c->is_nested = true;
    c->loop = loop;
    FER_TRY(emit_turn(c, node, loop, error));
    unbind_symbols(c, num_bound);
    c->is_nested = was_nested;
    c->loop = s->loops[loop].parent;
    return FER_OK;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static fer_status emit_call(scope *c, const fer_node *node, fer_error *error);

static fer_status emit_node(scope *c, const fer_node *node, fer_error *error)
{
    switch (node->kind) {
    case FER_NODE_OP:
        return emit_op(c, node, error);
    case FER_NODE_CONSTANT:
        return emit_constant(c, node, error);
    case FER_NODE_REBIND:
        return emit_rebind(c, node, error);
    case FER_NODE_RESHAPE:
        return emit_reshape(c, node, error);
    case FER_NODE_TRANSFER:
        return emit_transfer(c, node, error);
    case FER_NODE_IF:
        return emit_if(c, node, error);
    case FER_NODE_WHILE:
        return emit_while(c, node, error);
    case FER_NODE_CALL:
        return emit_call(c, node, error);
    }
    return fer_fail(error, FER_UNSUPPORTED_ERROR,
                    "graph '%s' has a step that the interpreter does not know", c->graph->name);
}

static fer_status emit_block(scope *c, const fer_block *block, fer_error *error)
{
    for (size_t i = 0; i < block->num_nodes; i++)
        FER_TRY(emit_node(c, block->nodes[i], error));
    return FER_OK;
}

/* Begins a frame. The scope is left through leave_frame, also when this fails. */
static fer_status enter_frame(scope *c, size_t caller, fer_error *error)
{
    fer_schedule *s = c->s;
    const fer_graph *graph = c->graph;
    size_t num_names = fer_names_count(&graph->dims);
    c->slot_of = calloc(graph->num_values + 1, sizeof *c->slot_of);
    c->bound = calloc(num_names + 1, sizeof *c->bound);
    if (c->slot_of == NULL || c->bound == NULL)
        return fer_fail_memory(error);
    FER_TRY(
        fer_reserve(&s->frames, s->num_frames + 1, &s->frames_capacity, sizeof *s->frames, error));
    FER_TRY(fer_reserve(&s->symbols, s->num_symbols + num_names, &s->symbols_capacity,
                        sizeof *s->symbols, error));
    if (num_names > 0)
        memset(s->symbols + s->num_symbols, 0, num_names * sizeof *s->symbols);
    c->frame = s->num_frames++;
    s->frames[c->frame] = (fer_frame){
        .graph = graph, .caller = caller, .loop = c->loop, .first_symbol = s->num_symbols};
    s->num_symbols += num_names;
    return FER_OK;
}

static void leave_frame(scope *c)
{
    if (c->frame < c->s->num_frames)
        c->s->frames[c->frame].num_symbols = c->num_symbols;
    free(c->slot_of);
    free(c->bound);
    fer_names_clear(&c->symbols);
}

/* The arguments' slots are the callee's inputs. */
static fer_status emit_callee(scope *callee, const scope *caller, const fer_node *node,
                              fer_error *error)
{
    bool is_dynamic = false;
    for (size_t i = 0; i < node->num_operands; i++) {
        callee->slot_of[i] = slot_of(caller, node->operands[i]);
        is_dynamic |= is_dynamic_slot(caller, callee->slot_of[i]);
    }
    FER_TRY(add_check(callee, node, callee->slot_of, callee->graph->values, node->num_operands,
                      is_dynamic, error));
    return emit_block(callee, &callee->graph->body, error);
}

/* What the callee made is the call's result; an input, a constant, and what was a result before,
 * are copied. `first_slot` is the first one that the callee added. */
static fer_status take_results(scope *c, const scope *callee, const fer_node *node,
                               size_t first_slot, fer_error *error)
{
    size_t num_slots = c->s->num_slots;
    bool *is_taken = calloc(num_slots - first_slot + 1, sizeof *is_taken);
    if (is_taken == NULL)
        return fer_fail_memory(error);
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < node->num_results; i++) {
        size_t *result = &c->slot_of[node->results[i]->index];
        size_t slot = slot_of(callee, callee->graph->outputs[i]);
        size_t base = fer_slot_base(c->s, slot);
        if (base >= first_slot && c->s->slots[base].storage == FER_STORAGE_BUFFER &&
            !is_taken[base - first_slot]) {
            is_taken[base - first_slot] = true;
            *result = slot;
            continue;
        }
        status = add_buffer_slot(c, node->results[i], is_dynamic_slot(c, slot), result, error);
        if (status == FER_OK)
            status = add_copy(c, node, *result, slot, error);
    }
    free(is_taken);
    return status;
}

/* The dims that the callee found get the names that they have here. */
static fer_status pair_symbols(scope *c, scope *callee, const fer_node *node,
                               const fer_call_binding *binding, fer_error *error)
{
    size_t count = binding->num_dims - binding->num_bound;
    if (count == 0)
        return FER_OK;
    FER_TRY(add_step(c, FER_STEP_SYMBOLS, node, 0, error));
    fer_step_plan *step = last_step(c);
    step->pairs = calloc(count, sizeof *step->pairs);
    if (step->pairs == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const fer_bound_dim *dim = &binding->dims[binding->num_bound + i];
        fer_symbol_pair *pair = &step->pairs[i];
        const char *name = fer_names_key(&c->graph->dims, fer_dim_symbol_name(dim->dim, NULL));
        FER_TRY(find_symbol(callee, dim->name, &pair->from, error));
        FER_TRY(find_symbol(c, name, &pair->to, error));
        bool is_dynamic = c->s->symbols[pair->from].is_dynamic;
        bind_symbol(c, pair->to, is_dynamic);
        step->is_dynamic |= is_dynamic;
        step->num_pairs++;
    }
    step->is_late = c->is_nested || step->is_dynamic;
    return FER_OK;
}

static fer_status finish_call(scope *c, scope *callee, const fer_node *node, size_t first_slot,
                              fer_error *error)
{
    fer_call_binding binding;
    FER_TRY(take_results(c, callee, node, first_slot, error));
    FER_TRY(fer_call_bind(c->graph, node->callee, node->operands, node->ordinal, &binding, error));
    fer_status status = pair_symbols(c, callee, node, &binding, error);
    fer_call_binding_clear(&binding);
    return status;
}

static fer_status count_call(const scope *c, const fer_graph *callee, fer_error *error)
{
    *c->num_called += callee->num_values + callee->num_nodes + 1;
    if (*c->num_called <= MAX_CALLED)
        return FER_OK;
    return fer_fail(error, FER_UNSUPPORTED_ERROR,
                    "graph '%s': its calls, and the calls in them, are too many for the "
                    "interpreter: more than %zu steps",
                    c->s->graph->name, MAX_CALLED);
}

static fer_status emit_call(scope *c, const fer_node *node, fer_error *error)
{
    FER_TRY(count_call(c, node->callee, error));
    scope callee = {.s = c->s,
                    .graph = node->callee,
                    .frame = FER_NONE,
                    .loop = c->loop,
                    .is_nested = c->is_nested,
                    .num_called = c->num_called};
    size_t first_slot = c->s->num_slots;
    fer_status status = enter_frame(&callee, c->frame, error);
    if (status == FER_OK)
        status = emit_callee(&callee, c, node, error);
    if (status == FER_OK)
        status = finish_call(c, &callee, node, first_slot, error);
    leave_frame(&callee);
    return status;
}

/* --- The whole -------------------------------------------------------------------------------- */

static fer_status emit_inputs(scope *c, fer_error *error)
{
    fer_schedule *s = c->s;
    for (size_t i = 0; i < c->graph->num_inputs; i++) {
        const fer_value *input = c->graph->values[i];
        FER_TRY(add_slot(s, input, FER_STORAGE_INPUT, i, &c->slot_of[i], error));
        s->num_inout_inputs += fer_value_is_inout(input);
        s->input_rules[i] = calloc(fer_type_rank(input->type) + 1, sizeof *s->input_rules[i]);
        if (s->input_rules[i] == NULL)
            return fer_fail_memory(error);
        size_t num_bound = c->num_bound;
        FER_TRY(make_rules(c, input->type, false, s->input_rules[i], error));
        for (; num_bound < c->num_bound; num_bound++) {
            s->symbols[c->bound[num_bound]].is_input = true;
            s->symbols[c->bound[num_bound]].input = i;
        }
    }
    return FER_OK;
}

/* The outputs in one memory: the first one is that memory, if a step writes it; the others, and
 * those that are an input or a constant, are copies. */
static void plan_outputs(const scope *c)
{
    fer_schedule *s = c->s;
    for (size_t i = 0; i < s->graph->num_outputs; i++) {
        fer_output_plan *output = &s->outputs[i];
        output->slot = slot_of(c, s->graph->outputs[i]);
        fer_slot *slot = &s->slots[fer_slot_base(s, output->slot)];
        output->is_direct = slot->storage == FER_STORAGE_BUFFER;
        if (output->is_direct) {
            slot->storage = FER_STORAGE_OUTPUT;
            slot->index = i;
        }
    }
}

fer_status fer_schedule_emit(fer_schedule *s, fer_error *error)
{
    size_t num_called = 0;
    scope c = {
        .s = s, .graph = s->graph, .frame = FER_NONE, .loop = FER_NONE, .num_called = &num_called};
    fer_status status = enter_frame(&c, FER_NONE, error);
    if (status == FER_OK)
        status = emit_inputs(&c, error);
    if (status == FER_OK)
        status = emit_block(&c, &s->graph->body, error);
    if (status == FER_OK)
        plan_outputs(&c);
    leave_frame(&c);
    return status;
}
