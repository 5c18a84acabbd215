/* Memory for elements between pages that nobody may touch, and what became of it: for running
 * kernels that are not trusted yet. An access outside it, or a write where none is allowed, is a
 * SIGSEGV at that instruction; fer_guarded_holds then tells whose address it was.
 */
#ifndef FERRULE_TENSOR_GUARD_H
#define FERRULE_TENSOR_GUARD_H

#include "base/error.h"

/* On each side. Farther away, an access is a fault all the same, but nobody's. */
#define FER_GUARD_BYTES ((size_t)16 << 20)

/* Which end of the memory lies at the guard: elements of any size and number can only be laid
 * against one of them without a gap. */
typedef enum fer_guard_side { FER_GUARD_BEHIND, FER_GUARD_BEFORE } fer_guard_side;

typedef struct fer_guarded {
    char *data;
    size_t num_bytes;
    uint8_t filler; /* what every byte is at first */
    char *pages;    /* that may be touched */
    size_t page_bytes;
} fer_guarded;

/* `alignment` is a power of two, at most a page; with FER_GUARD_BEHIND less than that many bytes
 * are left between the end and the guard. MEMORY. */
fer_status fer_guarded_open(size_t num_bytes, size_t alignment, fer_guard_side side, uint8_t filler,
                            fer_guarded *out_guarded, fer_error *error);
void fer_guarded_close(fer_guarded *guarded); /* may be repeated */

/* From now on it can only be read. */
void fer_guarded_seal(const fer_guarded *guarded);

/* Whether an address is in it or in its guards. */
bool fer_guarded_holds(const fer_guarded *guarded, const void *address);

/* Whether the bytes round the data, up to the guards, are as they were at first. */
bool fer_guarded_is_intact(const fer_guarded *guarded);

/* What two runs of a kernel made of the same result, in memory with fillers that differ in every
 * bit, element for element. */
typedef struct fer_comparison_of_runs {
    size_t num_unwritten; /* elements that both left as they were */
    size_t num_different; /* elements with other bits, when at least one was written */
    size_t first_unwritten;
    size_t first_different;
} fer_comparison_of_runs;
fer_comparison_of_runs fer_guarded_compare(const fer_guarded *a, const fer_guarded *b,
                                           size_t element_bytes);

#endif
