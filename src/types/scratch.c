#include "types/scratch.h"

#include "types/polynomial.h"

#include <stdlib.h>

#define ALIGNMENT 16
#define BLOCK_BYTES ((size_t)16384)

struct fer_scratch_block {
    _Alignas(ALIGNMENT) fer_scratch_block *next;
};

struct fer_scratch_owned {
    fer_scratch_owned *next;
    fer_dim *dim;
    const fer_atom *atom;
};

void fer_scratch_start(fer_scratch *scratch)
{
    scratch->blocks = NULL;
    scratch->owned = NULL;
    scratch->cursor = scratch->first;
    scratch->end = scratch->first + sizeof scratch->first;
}

void fer_scratch_end(fer_scratch *scratch)
{
    for (fer_scratch_owned *owned = scratch->owned; owned != NULL; owned = owned->next) {
        fer_dim_release(owned->dim);
        fer_atom_release(owned->atom);
    }
    while (scratch->blocks != NULL) {
        fer_scratch_block *next = scratch->blocks->next;
        free(scratch->blocks);
        scratch->blocks = next;
    }
}

static bool add_block(fer_scratch *scratch, size_t bytes)
{
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    if (room > SIZE_MAX - sizeof(fer_scratch_block))
        return false;
    fer_scratch_block *block = malloc(sizeof *block + room);
    if (block == NULL)
        return false;
    block->next = scratch->blocks;
    scratch->blocks = block;
    scratch->cursor = (unsigned char *)(block + 1);
    scratch->end = scratch->cursor + room;
    return true;
}

void *fer_scratch_allocate(fer_scratch *scratch, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > (size_t)(scratch->end - scratch->cursor) && !add_block(scratch, bytes))
        return NULL;
    void *memory = scratch->cursor;
    scratch->cursor += bytes;
    return memory;
}

bool fer_scratch_own(fer_scratch *scratch, fer_dim *dim, const fer_atom *atom)
{
    fer_scratch_owned *owned = fer_scratch_allocate(scratch, 1, sizeof *owned);
    if (owned == NULL) {
        fer_dim_release(dim);
        fer_atom_release(atom);
        return false;
    }
    *owned = (fer_scratch_owned){.next = scratch->owned, .dim = dim, .atom = atom};
    scratch->owned = owned;
    return true;
}
