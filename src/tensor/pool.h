/* Memory for large tensors: what is released is kept, and found again by its size. A block that was
 * used before has its pages, so that a call whose result is as large as the last one's runs without
 * page faults; a fresh large block asks for huge pages. What is kept idle is bounded, the least
 * recently used goes first (fer_memory_set_bound).
 *
 * Any thread may allocate and release, also each other's blocks; a forked child goes on with what
 * was there. Smaller blocks are malloc's, and the smallest small.h's. */
#ifndef FERRULE_TENSOR_POOL_H
#define FERRULE_TENSOR_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* The smallest request: below, malloc neither maps nor gives back pages at every turn. */
#define FER_POOL_MIN_BYTES ((size_t)32 << 10)
/* What a request may add to a round size (a header, alignment) without falling into the next class.
 */
#define FER_POOL_SLACK_BYTES 512

/* With a sanitizer every block is malloc's, or it would not see that a tensor is used after its
 * release. The pool itself works, and is tested, all the same. */
#ifdef __has_feature
#define FER_POOL_HAS_FEATURE(name) __has_feature(name)
#else
#define FER_POOL_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    FER_POOL_HAS_FEATURE(address_sanitizer) || FER_POOL_HAS_FEATURE(thread_sanitizer) ||           \
    FER_POOL_HAS_FEATURE(memory_sanitizer)
#define FER_POOL_IS_USED false
#else
#define FER_POOL_IS_USED true
#endif

static inline bool fer_pool_takes(size_t num_bytes)
{
    return FER_POOL_IS_USED && num_bytes >= FER_POOL_MIN_BYTES;
}

/* At least FER_POOL_MIN_BYTES, aligned as by malloc. With `is_zeroed` every byte is 0, and a fresh
 * block's pages are not touched for it; else the bytes are arbitrary. NULL when there is no memory,
 * also after everything idle was given back. */
void *fer_pool_allocate(size_t num_bytes, bool is_zeroed);
/* With the size that was asked for. */
void fer_pool_release(void *block, size_t num_bytes);

#endif
