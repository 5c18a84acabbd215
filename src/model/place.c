/* Where a schedule's slots lie: those that are used at different times share a buffer. */
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
            use(s, &s->slots[s->steps[i].slots[j]], i);
}

/* --- Buffers ---------------------------------------------------------------------------------- */

/* The buffers of one kind that no slot uses at the moment. */
typedef struct buffer_list {
    size_t *buffers;
    size_t count;
    size_t num_made;
} buffer_list;

/* The slots that end with each step, as linked lists. */
typedef struct endings {
    size_t *first; /* of each step; FER_NONE: there is none */
    size_t *next;  /* of each slot */
} endings;

static size_t take_buffer(buffer_list *list)
{
    return list->count > 0 ? list->buffers[--list->count] : list->num_made++;
}

static void take_buffers(fer_schedule *s, size_t position, buffer_list lists[2], endings *ends)
{
    const fer_step_plan *step = &s->steps[position];
    for (size_t i = 0; i < step->num_slots; i++) {
        fer_slot *slot = &s->slots[step->slots[i]];
        if (slot->storage != FER_STORAGE_BUFFER || slot->first_use != position ||
            slot->index != FER_NONE)
            continue;
        slot->index = take_buffer(&lists[fer_slot_is_late(slot)]);
        ends->next[step->slots[i]] = ends->first[slot->last_use];
        ends->first[slot->last_use] = step->slots[i];
    }
}

/* Hands out buffers in the order of the steps: first to what a step writes, then what was used for
 * the last time goes back, so that no kernel reads and writes one buffer. Arms stand one behind the
 * other, as if both ran. Buffers whose sizes are known before a run and those of later sizes never
 * mix: the first stay where they are when the second grow. */
static void place_buffers(fer_schedule *s, buffer_list lists[2], endings *ends)
{
    for (size_t i = 0; i < s->num_steps; i++)
        ends->first[i] = FER_NONE;
    for (size_t i = 0; i < s->num_steps; i++) {
        take_buffers(s, i, lists, ends);
        for (size_t j = ends->first[i]; j != FER_NONE; j = ends->next[j]) {
            buffer_list *list = &lists[fer_slot_is_late(&s->slots[j])];
            list->buffers[list->count++] = s->slots[j].index;
        }
    }
}

fer_status fer_schedule_place(fer_schedule *s, fer_error *error)
{
    buffer_list lists[2] = {{0}, {0}};
    endings ends = {NULL, NULL};
    lists[0].buffers = calloc(s->num_slots + 1, sizeof *lists[0].buffers);
    lists[1].buffers = calloc(s->num_slots + 1, sizeof *lists[1].buffers);
    ends.first = calloc(s->num_steps + 1, sizeof *ends.first);
    ends.next = calloc(s->num_slots + 1, sizeof *ends.next);
    fer_status status = FER_OK;
    if (lists[0].buffers == NULL || lists[1].buffers == NULL || ends.first == NULL ||
        ends.next == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    find_lives(s);
    place_buffers(s, lists, &ends);
    s->num_static_buffers = lists[0].num_made;
    s->num_buffers = lists[0].num_made + lists[1].num_made;
    for (size_t i = 0; i < s->num_slots; i++)
        if (s->slots[i].storage == FER_STORAGE_BUFFER && fer_slot_is_late(&s->slots[i]))
            s->slots[i].index += s->num_static_buffers;

done:
    free(lists[0].buffers);
    free(lists[1].buffers);
    free(ends.first);
    free(ends.next);
    return status;
}
