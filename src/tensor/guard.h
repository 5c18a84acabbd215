/* Memory for elements between guards, and what became of it: for running kernels that are not
 * trusted yet. Guards are pages that nobody may touch, so that an access outside the memory, or a
 * write where none is allowed, is a SIGSEGV at that instruction; fer_guarded_holds then tells whose
 * address it was. Or they are zones of known bytes on both sides, which end no process: what was
 * written there shows afterwards.
 */
#ifndef FERRULE_TENSOR_GUARD_H
#define FERRULE_TENSOR_GUARD_H

#include "base/error.h"

/* On each side. Farther away, an access is a fault all the same, but nobody's. */
#define FER_GUARD_BYTES ((size_t)16 << 20)

/* Which end of the memory lies at a guard of pages: elements of any size and number can only be
 * laid against one of them without a gap. FER_GUARD_ZONES: zones instead. */
typedef enum fer_guard_side { FER_GUARD_BEHIND, FER_GUARD_BEFORE, FER_GUARD_ZONES } fer_guard_side;

typedef struct fer_guarded {
    char *data;
    size_t num_bytes;
    uint8_t filler; /* what every byte is at first */
    fer_guard_side side;
    char *pages; /* that may be touched */
    size_t page_bytes;
} fer_guarded;

/* `alignment` is a power of two, at most a page, and at most 64 for zones; with FER_GUARD_BEHIND
 * less than that many bytes are left between the end and the guard. MEMORY. */
fer_status fer_guarded_open(size_t num_bytes, size_t alignment, fer_guard_side side, uint8_t filler,
                            fer_guarded *out_guarded, fer_error *error);
void fer_guarded_close(fer_guarded *guarded); /* may be repeated */

/* From now on it can only be read; not for zones. */
void fer_guarded_seal(const fer_guarded *guarded);

/* Whether an address is in it or in its guards; not for zones. */
bool fer_guarded_holds(const fer_guarded *guarded, const void *address);

/* Whether bytes round the data, up to the guards or in the zones, are not as they were at first.
 * `*out_offset` is the one that is nearest to the data, counted from its start: the first one
 * behind it, else the last one before it. */
bool fer_guarded_is_overrun(const fer_guarded *guarded, int64_t *out_offset);

/* Whether there is an element of which every byte is as it was at first. */
bool fer_guarded_has_filler(const fer_guarded *guarded, size_t element_bytes);

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
