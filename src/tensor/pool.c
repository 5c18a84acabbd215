#include "tensor/pool.h"

#include <ferrule/tensor.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- Size classes ----------------------------------------------------------------------------- */

/* 16 classes from each power of two to the next: a block is at most a sixteenth larger than asked
 * for, and of a mapped block the rest is address space that nobody touches. */
#define STEP_BITS 4
#define NUM_STEPS ((size_t)1 << STEP_BITS)
#define MIN_EXPONENT 14 /* FER_POOL_MIN_BYTES without the slack lies above 2^14 */
#define MAX_EXPONENT 62
#define NUM_CLASSES ((MAX_EXPONENT - MIN_EXPONENT) * NUM_STEPS)

#define HUGE_PAGE ((size_t)2 << 20)
/* From here on a block is a mapping of its own, of whole huge pages, but for what a header adds. */
#define MIN_MAPPED HUGE_PAGE
/* A multiple of every page size there is. */
#define GRANULE ((size_t)64 << 10)

typedef struct size_class {
    size_t index;
    size_t num_bytes; /* of every block in it */
} size_class;

static bool is_mapped(size_class class)
{
    return class.num_bytes >= MIN_MAPPED;
}

/* False: more than any machine has. */
static bool find_class(size_t num_bytes, size_class *out_class)
{
    size_t last = num_bytes - FER_POOL_SLACK_BYTES - 1;
    unsigned exponent = (unsigned)(63 - __builtin_clzll(last));
    if (exponent >= MAX_EXPONENT)
        return false;
    unsigned shift = exponent - STEP_BITS;
    size_t step = last >> shift; /* from NUM_STEPS up to 2 * NUM_STEPS */
    out_class->index = (exponent - MIN_EXPONENT) * NUM_STEPS + step - NUM_STEPS;
    out_class->num_bytes = (step + 1) << shift;
    out_class->num_bytes += is_mapped(*out_class) ? GRANULE : FER_POOL_SLACK_BYTES;
    return true;
}

/* --- Memory from the system ------------------------------------------------------------------- */

/* Aligned to huge pages, or the kernel could not use them. */
static void *map(size_t num_bytes)
{
    char *start = mmap(NULL, num_bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)start & (HUGE_PAGE - 1);
    size_t behind = HUGE_PAGE - before;
    char *block = start + before;
    if (before > 0)
        munmap(start, before);
    munmap(block + num_bytes, behind);
    /* A kernel without huge pages says no, and small ones do. */
    (void)madvise(block, num_bytes, MADV_HUGEPAGE);
    return block;
}

static void *take_from_system(size_class class, bool is_zeroed)
{
    if (is_mapped(class))
        return map(class.num_bytes);
    return is_zeroed ? calloc(1, class.num_bytes) : malloc(class.num_bytes);
}

static void give_to_system(void *block, size_class class)
{
    if (is_mapped(class))
        munmap(block, class.num_bytes);
    else
        free(block);
}

/* --- What is idle ----------------------------------------------------------------------------- */

/* Of a ring through a head; the newest comes first, the oldest last. */
typedef struct ring {
    struct ring *next;
    struct ring *previous;
} ring;

/* Lies in an idle block's first bytes, which its user has touched. */
typedef struct idle_block {
    ring by_age; /* first: an entry of the ring of all ages is an idle block */
    ring by_class;
    size_class class;
} idle_block;

_Static_assert(sizeof(idle_block) <= FER_POOL_MIN_BYTES, "an idle block holds its own record");

typedef struct pool {
    pthread_mutex_t lock; /* of all the rest; never held while memory goes to or from the system */
    ring by_age;
    ring by_class[NUM_CLASSES];
    size_t bound;
    fer_memory_figures figures;
} pool;

static pool blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void insert(ring *head, ring *entry)
{
    entry->next = head->next;
    entry->previous = head;
    head->next->previous = entry;
    head->next = entry;
}

static void detach(idle_block *block)
{
    ring *entries[] = {&block->by_age, &block->by_class};
    for (size_t i = 0; i < 2; i++) {
        entries[i]->next->previous = entries[i]->previous;
        entries[i]->previous->next = entries[i]->next;
    }
    blocks.figures.bytes_idle -= block->class.num_bytes;
}

/* Detaches the oldest until no more than `bound` is idle; give_chain has the rest of the work. */
static ring *take_oldest(size_t bound)
{
    ring *chain = NULL;
    while (blocks.figures.bytes_idle > bound) {
        ring *oldest = blocks.by_age.previous;
        detach((idle_block *)oldest);
        oldest->next = chain;
        chain = oldest;
    }
    return chain;
}

static void give_chain(ring *chain)
{
    while (chain != NULL) {
        idle_block *block = (idle_block *)chain;
        chain = chain->next;
        give_to_system(block, block->class);
    }
}

/* --- Process-wide state ----------------------------------------------------------------------- */

static void lock(void)
{
    pthread_mutex_lock(&blocks.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&blocks.lock);
}

#define DEFAULT_BOUND ((size_t)1 << 30)

/* An eighth of the machine's memory, but never more than DEFAULT_BOUND. */
static size_t default_bound(void)
{
    long num_pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    size_t share;
    if (num_pages <= 0 || page_bytes <= 0 ||
        __builtin_mul_overflow((size_t)num_pages / 8, (size_t)page_bytes, &share))
        return DEFAULT_BOUND;
    return share < DEFAULT_BOUND ? share : DEFAULT_BOUND;
}

/* What is no number counts as unset. */
static size_t read_bound(void)
{
    const char *text = getenv("FERRULE_IDLE_BYTES");
    if (text == NULL || *text < '0' || *text > '9')
        return default_bound();
    char *end;
    unsigned long long bound = strtoull(text, &end, 10);
    if (*end != '\0')
        return default_bound();
    return bound < SIZE_MAX ? (size_t)bound : SIZE_MAX;
}

static void start_ring(ring *head)
{
    *head = (ring){.next = head, .previous = head};
}

static void start(void)
{
    start_ring(&blocks.by_age);
    for (size_t i = 0; i < NUM_CLASSES; i++)
        start_ring(&blocks.by_class[i]);
    blocks.bound = read_bound();
    /* A child must not find the lock held by a thread that it does not have. */
    (void)pthread_atfork(lock, unlock, unlock);
}

static void enter(void)
{
    pthread_once(&once, start);
    lock();
}

/* A host that unloads the library gets its memory back. */
__attribute__((destructor)) static void trim_at_unload(void)
{
    (void)fer_memory_trim();
}

/* --- Allocating and releasing ----------------------------------------------------------------- */

static void *take_idle(size_class class)
{
    idle_block *found = NULL;
    enter();
    ring *head = &blocks.by_class[class.index];
    if (head->next != head) {
        found = (idle_block *)((char *)head->next - offsetof(idle_block, by_class));
        detach(found);
        blocks.figures.bytes_in_use += class.num_bytes;
        blocks.figures.num_reused++;
    }
    unlock();
    return found;
}

static void *take_fresh(size_class class, bool is_zeroed)
{
    void *block = take_from_system(class, is_zeroed);
    if (block == NULL && fer_memory_trim() > 0)
        block = take_from_system(class, is_zeroed);
    if (block == NULL)
        return NULL;
    enter();
    blocks.figures.bytes_in_use += class.num_bytes;
    blocks.figures.num_fresh++;
    unlock();
    return block;
}

void *fer_pool_allocate(size_t num_bytes, bool is_zeroed)
{
    size_class class;
    if (!find_class(num_bytes, &class))
        return NULL;
    void *block = take_idle(class);
    if (block == NULL)
        return take_fresh(class, is_zeroed);
    if (is_zeroed)
        memset(block, 0, num_bytes);
    return block;
}

void fer_pool_release(void *block, size_t num_bytes)
{
    size_class class = {0};
    (void)find_class(num_bytes, &class); /* as when it was allocated */
    ring *chain = NULL;
    enter();
    blocks.figures.bytes_in_use -= class.num_bytes;
    bool is_kept = class.num_bytes <= blocks.bound;
    if (is_kept) {
        idle_block *idle = block;
        idle->class = class;
        insert(&blocks.by_age, &idle->by_age);
        insert(&blocks.by_class[class.index], &idle->by_class);
        blocks.figures.bytes_idle += class.num_bytes;
        chain = take_oldest(blocks.bound);
    }
    unlock();
    give_chain(chain);
    if (!is_kept)
        give_to_system(block, class);
}

/* --- What users see --------------------------------------------------------------------------- */

fer_memory_figures fer_memory_read(void)
{
    enter();
    fer_memory_figures figures = blocks.figures;
    figures.bytes_bound = blocks.bound;
    unlock();
    return figures;
}

uint64_t fer_memory_trim(void)
{
    enter();
    uint64_t num_bytes = blocks.figures.bytes_idle;
    ring *chain = take_oldest(0);
    unlock();
    give_chain(chain);
    return num_bytes;
}

void fer_memory_set_bound(uint64_t num_bytes)
{
    enter();
    blocks.bound = num_bytes < SIZE_MAX ? (size_t)num_bytes : SIZE_MAX;
    ring *chain = take_oldest(blocks.bound);
    unlock();
    give_chain(chain);
}
