#include "tensor/guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

fer_status fer_guarded_open(size_t num_bytes, size_t alignment, fer_guard_side side, uint8_t filler,
                            fer_guarded *out_guarded, fer_error *error)
{
    *out_guarded = (fer_guarded){0};
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
    if (guarded->pages != NULL)
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

static bool is_filled(const char *from, const char *end, uint8_t filler)
{
    for (; from < end; from++)
        if ((uint8_t)*from != filler)
            return false;
    return true;
}

bool fer_guarded_is_intact(const fer_guarded *guarded)
{
    const char *end = guarded->data + guarded->num_bytes;
    return is_filled(guarded->pages, guarded->data, guarded->filler) &&
           is_filled(end, guarded->pages + guarded->page_bytes, guarded->filler);
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
