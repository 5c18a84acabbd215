#include "op/held.h"

#include "base/arithmetic.h"

#include <stdio.h>
#include <stdlib.h>

fer_status fer_held_open(fer_held *held, size_t place, fer_dtype dtype, size_t rank,
                         const int64_t *extents, fer_error *error)
{
    int64_t count = 0;
    if (!fer_count_elements(extents, rank, &count))
        return fer_fail_memory(error);
    const size_t element_bytes = fer_dtype_bytes(dtype);
    held->num_tensors = place + 1;
    FER_TRY(fer_guarded_open((size_t)count * element_bytes, element_bytes, held->side, held->filler,
                             &held->memory[place], error));
    return fer_tensor_borrow(dtype, rank, extents, held->memory[place].data, false, (fer_device){0},
                             NULL, NULL, &held->tensors[place], error);
}

void *fer_held_take_scratch(fer_held *held, uint64_t num_bytes)
{
    enum { ALIGNMENT = 64 };
    fer_guarded *larger = realloc(held->scratch, (held->num_scratch + 1) * sizeof *larger);
    if (larger == NULL)
        return NULL;
    held->scratch = larger;
    const uint8_t filler = held->filler ^ 0x66;
    if (fer_guarded_open(num_bytes, ALIGNMENT, held->side, filler, &larger[held->num_scratch],
                         NULL) != FER_OK)
        return NULL;
    return larger[held->num_scratch++].data;
}

void fer_held_close_scratch(fer_held *held)
{
    for (size_t i = 0; i < held->num_scratch; i++)
        fer_guarded_close(&held->scratch[i]);
    free(held->scratch);
    held->scratch = NULL;
    held->num_scratch = 0;
}

void fer_held_close(fer_held *held)
{
    for (size_t i = 0; i < held->num_tensors; i++) {
        fer_tensor_release(held->tensors[i]);
        fer_guarded_close(&held->memory[i]);
    }
    fer_held_close_scratch(held);
    *held = (fer_held){0};
}

/* --- Words ------------------------------------------------------------------------------------ */

const char *fer_element_text(const fer_tensor *tensor, size_t index, char text[FER_HELD_TEXT])
{
    const size_t rank = fer_tensor_rank(tensor);
    const int64_t *extents = fer_tensor_shape(tensor);
    int64_t places[FER_MAX_RANK];
    for (size_t i = rank; i > 0; i--) {
        places[i - 1] = (int64_t)index % extents[i - 1];
        index /= (size_t)extents[i - 1];
    }
    size_t length = (size_t)snprintf(text, FER_HELD_TEXT, "[");
    for (size_t i = 0; i < rank; i++)
        length += (size_t)snprintf(text + length, FER_HELD_TEXT - length, "%s%lld",
                                   i == 0 ? "" : ", ", (long long)places[i]);
    snprintf(text + length, FER_HELD_TEXT - length, "]");
    return text;
}

const char *fer_others_text(size_t count, char text[FER_HELD_TEXT])
{
    text[0] = '\0';
    if (count > 1)
        snprintf(text, FER_HELD_TEXT, " and %zu more", count - 1);
    return text;
}

const char *fer_outside_text(const char *view, int axis, int64_t index, int64_t bound,
                             char text[FER_HELD_TEXT])
{
    if (axis < 0)
        snprintf(text, FER_HELD_TEXT, "DIM of axis %lld of '%s', which has rank %lld",
                 (long long)index, view, (long long)bound);
    else
        snprintf(text, FER_HELD_TEXT, "AT with index %lld on axis %d of '%s', whose extent is %lld",
                 (long long)index, axis, view, (long long)bound);
    return text;
}

int64_t fer_element_at(const fer_tensor *tensor, int64_t offset)
{
    const int64_t element_bytes = (int64_t)fer_dtype_bytes(fer_tensor_dtype(tensor));
    return offset / element_bytes - (offset < 0 && offset % element_bytes != 0);
}
