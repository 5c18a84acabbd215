#include "tensor/guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ZONE_ALIGNMENT ((size_t)64)

/* As much as the data on each side, which a wrong index along any axis stays in, within reason. */
static size_t zone_bytes(size_t num_bytes)
{
    enum { LEAST = 1 << 12, MOST = 1 << 20 };
    size_t zone = num_bytes < LEAST ? LEAST : num_bytes > MOST ? MOST : num_bytes;
    return zone + (ZONE_ALIGNMENT - zone % ZONE_ALIGNMENT) % ZONE_ALIGNMENT;
}

static fer_status open_zones(size_t num_bytes, uint8_t filler, fer_guarded *out_guarded,
                             fer_error *error)
{
    const size_t zone = zone_bytes(num_bytes);
    size_t all_bytes;
    if (__builtin_add_overflow(num_bytes, 2 * zone + ZONE_ALIGNMENT - 1, &all_bytes))
        return fer_fail_memory(error);
    all_bytes -= all_bytes % ZONE_ALIGNMENT;
    char *start = aligned_alloc(ZONE_ALIGNMENT, all_bytes);
    if (start == NULL)
        return fer_fail_memory(error);
    memset(start, filler, all_bytes);
    *out_guarded = (fer_guarded){.data = start + zone,
                                 .num_bytes = num_bytes,
                                 .filler = filler,
                                 .side = FER_GUARD_ZONES,
                                 .pages = start,
                                 .page_bytes = all_bytes};
    return FER_OK;
}

fer_status fer_guarded_open(size_t num_bytes, size_t alignment, fer_guard_side side, uint8_t filler,
                            fer_guarded *out_guarded, fer_error *error)
{
    *out_guarded = (fer_guarded){0};
    if (side == FER_GUARD_ZONES)
        return open_zones(num_bytes, filler, out_guarded, error);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t page_bytes;
    size_t all_bytes;
    if (__builtin_add_overflow(num_bytes, page - 1, &page_bytes))
        return fer_fail_memory(error);
    page_bytes -= page_bytes % page;
    if (__builtin_add_overflow(page_bytes, 2 * FER_GUARD_BYTES, &all_bytes))
        return fer_fail_memory(error);
    char *start =
        mmap(NULL, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return fer_fail_memory(error);
    fer_guarded made = {.num_bytes = num_bytes,
                        .filler = filler,
                        .side = side,
                        .pages = start + FER_GUARD_BYTES,
                        .page_bytes = page_bytes};
    made.data = made.pages;
    if (side == FER_GUARD_BEHIND)
        made.data += (page_bytes - num_bytes) / alignment * alignment;
    if (page_bytes > 0 && mprotect(made.pages, page_bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(start, all_bytes);
        return fer_fail_memory(error);
    }
    if (page_bytes > 0)
        memset(made.pages, filler, page_bytes);
    *out_guarded = made;
    return FER_OK;
}

void fer_guarded_close(fer_guarded *guarded)
{
    if (guarded->side == FER_GUARD_ZONES)
        free(guarded->pages);
    else if (guarded->pages != NULL)
        munmap(guarded->pages - FER_GUARD_BYTES, guarded->page_bytes + 2 * FER_GUARD_BYTES);
    *guarded = (fer_guarded){0};
}

void fer_guarded_seal(const fer_guarded *guarded)
{
    if (guarded->page_bytes > 0)
        (void)mprotect(guarded->pages, guarded->page_bytes, PROT_READ);
}

bool fer_guarded_holds(const fer_guarded *guarded, const void *address)
{
    const uintptr_t start = (uintptr_t)guarded->pages - FER_GUARD_BYTES;
    return guarded->pages != NULL &&
           (uintptr_t)address - start < guarded->page_bytes + 2 * FER_GUARD_BYTES;
}

/* Each byte is the first one's neighbour's equal: memcmp looks at many at once. */
static bool is_filled(const char *from, const char *end, uint8_t filler)
{
    return from == end ||
           ((uint8_t)*from == filler && memcmp(from, from + 1, (size_t)(end - from) - 1) == 0);
}

bool fer_guarded_is_overrun(const fer_guarded *guarded, int64_t *out_offset)
{
    const char *end = guarded->data + guarded->num_bytes;
    const char *touched = NULL;
    if (!is_filled(end, guarded->pages + guarded->page_bytes, guarded->filler))
        for (touched = end; (uint8_t)*touched == guarded->filler;)
            touched++;
    else if (!is_filled(guarded->pages, guarded->data, guarded->filler))
        for (touched = guarded->data - 1; (uint8_t)*touched == guarded->filler;)
            touched--;
    if (touched == NULL)
        return false;
    *out_offset = touched - guarded->data;
    return true;
}

bool fer_guarded_has_filler(const fer_guarded *guarded, size_t element_bytes)
{
    const char *end = guarded->data + guarded->num_bytes;
    for (const char *element = guarded->data; element < end; element += element_bytes)
        if (is_filled(element, element + element_bytes, guarded->filler))
            return true;
    return false;
}

fer_comparison_of_runs fer_guarded_compare(const fer_guarded *a, const fer_guarded *b,
                                           size_t element_bytes)
{
    fer_comparison_of_runs found = {0};
    if (a->num_bytes == 0 || memcmp(a->data, b->data, a->num_bytes) == 0)
        return found;
    for (size_t i = 0; i < a->num_bytes / element_bytes; i++) {
        const char *x = a->data + i * element_bytes;
        const char *y = b->data + i * element_bytes;
        if (memcmp(x, y, element_bytes) == 0)
            continue;
        if (is_filled(x, x + element_bytes, a->filler) &&
            is_filled(y, y + element_bytes, b->filler)) {
            found.first_unwritten = found.num_unwritten++ == 0 ? i : found.first_unwritten;
        } else {
            found.first_different = found.num_different++ == 0 ? i : found.first_different;
        }
    }
    return found;
}
