/* Where a schedule's slots lie: those of a device that are used at different times share a buffer.
 */
#include "model/schedule.h"

#include <stdlib.h>

/* --- Lives ------------------------------------------------------------------------------------ */

/* A slot that is used in a loop and is older than it lives until the loop's end, since each turn
 * finds it again. */
static void use(fer_schedule *s, fer_slot *slot, size_t position)
{
    if (slot->first_use == FER_NONE)
        slot->first_use = position;
    size_t loop = s->steps[position].loop;
    size_t last = position;
    for (; loop != FER_NONE && slot->first_use < s->loops[loop].start; loop = s->loops[loop].parent)
        last = s->loops[loop].end;
    if (last > slot->last_use)
        slot->last_use = last;
}

static void find_lives(fer_schedule *s)
{
    for (size_t i = 0; i < s->num_steps; i++)
        for (size_t j = 0; j < s->steps[i].num_slots; j++)
            use(s, &s->slots[fer_slot_base(s, s->steps[i].slots[j])], i);
}

/* --- Buffers ---------------------------------------------------------------------------------- */

/* Lists of numbers below a bound, each number in one list at most. */
typedef struct lists {
    size_t *first; /* of each list; FER_NONE: it is empty */
    size_t *next;  /* of each number in a list */
} lists;

static fer_status create_lists(lists *l, size_t num_lists, size_t bound, fer_error *error)
{
    l->first = calloc(num_lists + 1, sizeof *l->first);
    l->next = calloc(bound + 1, sizeof *l->next);
    if (l->first == NULL || l->next == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < num_lists; i++)
        l->first[i] = FER_NONE;
    return FER_OK;
}

static void clear_lists(lists *l)
{
    free(l->first);
    free(l->next);
}

static void push(lists *l, size_t list, size_t number)
{
    l->next[number] = l->first[list];
    l->first[list] = number;
}

/* The last number that came, or FER_NONE. */
static size_t pop(lists *l, size_t list)
{
    size_t number = l->first[list];
    if (number != FER_NONE)
        l->first[list] = l->next[number];
    return number;
}

typedef struct placer {
    fer_schedule *s;
    lists idle; /* buffers that no slot uses at the moment, by their kind */
    lists ends; /* slots, by the step that uses them last */
} placer;

/* Buffers whose sizes are known before a run and those of later sizes never mix: the first stay
 * where they are when the second grow. Nor do those of several devices. */
static size_t kind_of(const fer_slot *slot)
{
    return 2 * (size_t)fer_type_device(slot->value->type).id + fer_slot_is_late(slot);
}

static void take_buffers(placer *p, size_t position)
{
    const fer_step_plan *step = &p->s->steps[position];
    for (size_t i = 0; i < step->num_slots; i++) {
        fer_slot *slot = &p->s->slots[step->slots[i]];
        if (slot->storage != FER_STORAGE_BUFFER || slot->first_use != position ||
            slot->index != FER_NONE)
            continue;
        slot->index = pop(&p->idle, kind_of(slot));
        if (slot->index == FER_NONE)
            slot->index = p->s->num_buffers++;
        push(&p->ends, slot->last_use, step->slots[i]);
    }
}

/* Hands out buffers in the order of the steps: first to what a step writes, then what was used for
 * the last time goes back, so that no kernel reads and writes one buffer. Arms stand one behind the
 * other, as if both ran. */
static void place_buffers(placer *p)
{
    for (size_t i = 0; i < p->s->num_steps; i++) {
        take_buffers(p, i);
        for (size_t slot; (slot = pop(&p->ends, i)) != FER_NONE;)
            push(&p->idle, kind_of(&p->s->slots[slot]), p->s->slots[slot].index);
    }
}

fer_status fer_schedule_place(fer_schedule *s, fer_error *error)
{
    placer p = {.s = s};
    fer_status status = create_lists(&p.idle, 2 * (size_t)fer_device_count(), s->num_slots, error);
    if (status == FER_OK)
        status = create_lists(&p.ends, s->num_steps, s->num_slots, error);
    if (status == FER_OK) {
        find_lives(s);
        place_buffers(&p);
    }
    clear_lists(&p.idle);
    clear_lists(&p.ends);
    return status;
}
