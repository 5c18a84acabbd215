/* Memory for one operation on dims: what it needs on the way lives until it ends. */
#ifndef FERRULE_TYPES_SCRATCH_H
#define FERRULE_TYPES_SCRATCH_H

#include "types/form.h"

typedef struct fer_scratch_block fer_scratch_block;
typedef struct fer_scratch_owned fer_scratch_owned;

typedef struct fer_scratch {
    fer_scratch_block *blocks; /* those beyond the first, newest first */
    fer_scratch_owned *owned;
    unsigned char *cursor;
    unsigned char *end;
    _Alignas(16) unsigned char first[2048]; /* most operations need no more */
} fer_scratch;

void fer_scratch_start(fer_scratch *scratch);
/* Frees the memory and releases what is owned. */
void fer_scratch_end(fer_scratch *scratch);

/* `count` elements of `size` bytes, uninitialised, aligned to 16; NULL when there is no memory. */
void *fer_scratch_allocate(fer_scratch *scratch, size_t count, size_t size);

/* Takes a reference, to be released at the end; the other kind is NULL. false, with the reference
 * released, when there is no memory. */
bool fer_scratch_own(fer_scratch *scratch, fer_dim *dim, const fer_atom *atom);

#endif
