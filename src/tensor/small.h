/* Memory for small tensors: blocks of one size, of which every thread keeps a few that it released
 * for its next small tensors. A call of a tiny op with its result allocated and released spends
 * half of its time in malloc and free without them. Any thread may release any block. */
#ifndef FERRULE_TENSOR_SMALL_H
#define FERRULE_TENSOR_SMALL_H

#include "tensor/pool.h"

/* Of every block; malloc's own header makes it a round 512. */
#define FER_SMALL_BYTES ((size_t)496)
#define FER_SMALL_MAX_KEPT 16

typedef struct fer_small_block {
    struct fer_small_block *next;
} fer_small_block;

/* What a thread keeps. Bounded, and given back when the thread ends. */
typedef struct fer_small_blocks {
    fer_small_block *first;
    unsigned num_more; /* that it may keep; 0 before the first */
} fer_small_blocks;

extern _Thread_local fer_small_blocks fer_small_kept __attribute__((tls_model("initial-exec")));

/* As the pool is: sanitizers have to see every release. */
static inline bool fer_small_takes(size_t num_bytes)
{
    return FER_POOL_IS_USED && num_bytes <= FER_SMALL_BYTES;
}

void *fer_small_allocate_fresh(void);
void fer_small_release_more(void *block);

/* FER_SMALL_BYTES, aligned as by malloc; NULL when there is no memory. */
static inline void *fer_small_allocate(void)
{
    fer_small_blocks *kept = &fer_small_kept;
    fer_small_block *block = kept->first;
    if (block == NULL)
        return fer_small_allocate_fresh();
    kept->first = block->next;
    kept->num_more++;
    return block;
}

static inline void fer_small_release(void *block)
{
    fer_small_blocks *kept = &fer_small_kept;
    if (kept->num_more == 0) {
        fer_small_release_more(block);
        return;
    }
    fer_small_block *added = block;
    added->next = kept->first;
    kept->first = added;
    kept->num_more--;
}

#endif
