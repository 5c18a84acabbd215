/* The memory of one run of a kernel that is watched, and words for what became of it: what
 * `ferrule verify` and the calls of a process that checks (op/check.c) share.
 */
#ifndef FERRULE_OP_HELD_H
#define FERRULE_OP_HELD_H

#include "tensor/guard.h"
#include "tensor/tensor.h"
#include <ferrule/abi.h>

/* Tensors over guarded memory, and the kernel's SCRATCH. */
typedef struct fer_held {
    fer_guard_side side;
    uint8_t filler; /* of tensors; SCRATCH has another one, since it may be copied to a result */
    size_t num_tensors;
    fer_guarded memory[FER_ABI_MAX_TENSORS]; /* results, then operands */
    fer_tensor *tensors[FER_ABI_MAX_TENSORS];
    fer_guarded *scratch;
    size_t num_scratch;
} fer_held;

/* Makes a tensor at that place. MEMORY: then the place may hold part of it, as for the others
 * until fer_held_close. */
fer_status fer_held_open(fer_held *held, size_t place, fer_dtype dtype, size_t rank,
                         const int64_t *extents, fer_error *error);
/* For the kernel, 64-byte aligned. NULL: there is no memory. */
void *fer_held_take_scratch(fer_held *held, uint64_t num_bytes);
void fer_held_close_scratch(fer_held *held);
void fer_held_close(fer_held *held);

/* Room for the words, which are cut where they are longer. */
#define FER_HELD_TEXT 256

/* `[1, 0, 2]`, the element at a flat index. */
const char *fer_element_text(const fer_tensor *tensor, size_t index, char text[FER_HELD_TEXT]);
/* ` and 3 more` of four, or nothing. */
const char *fer_others_text(size_t count, char text[FER_HELD_TEXT]);
/* `AT with index 3 on axis 0 of 'x', whose extent is 3`: what fer_outside_function is told. */
const char *fer_outside_text(const char *view, int axis, int64_t index, int64_t bound,
                             char text[FER_HELD_TEXT]);
/* The flat index of the element that a byte is in, counted from the tensor's first one. */
int64_t fer_element_at(const fer_tensor *tensor, int64_t offset);

#endif
