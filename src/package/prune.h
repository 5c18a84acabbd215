/* What the store keeps, and what goes: the least recently used first, beyond a bound of bytes.
 *
 * A file's modification time is when it was last used, to the hour. Only files that are named as
 * the store names its own are ever listed or removed, and no link is followed. Any number of
 * processes may do this at once: what another one removes first is gone either way, and what it
 * uses first stays.
 */
#ifndef FERRULE_PACKAGE_PRUNE_H
#define FERRULE_PACKAGE_PRUNE_H

#include "base/hash.h"
#include "package/store.h"

#include <time.h>

#define FER_STORE_DEFAULT_BYTES ((uint64_t)512 << 20)

/* $FERRULE_CACHE_BYTES: digits, then K, M or G for powers of 1024; else the default. */
uint64_t fer_store_bound(void);
/* VALUE when the variable is set to anything else. */
fer_status fer_store_check_environment(fer_error *error);

typedef struct fer_stored {
    const char *kind; /* the folder below the root, static */
    char *name;
    uint64_t size;
    struct timespec used;
    bool is_held;     /* by a living process */
    bool is_leftover; /* of a process that was ended in the middle of a write, over a day ago */
} fer_stored;

typedef struct fer_stored_list {
    fer_stored *items; /* the least recently used first */
    size_t count;
    size_t capacity;
} fer_stored_list;

/* Files that another process is about to finish are not among them. MEMORY; what cannot be read is
 * as if it were not there. */
fer_status fer_stored_read(const fer_store *store, fer_stored_list *out_list, fer_error *error);
void fer_stored_clear(fer_stored_list *list);
bool fer_stored_is_binary(const fer_stored *file);

typedef struct fer_pruning {
    size_t num_removed;
    uint64_t bytes_removed;
    size_t num_kept;
    uint64_t bytes_kept;
} fer_pruning;

/* Removes leftovers, and then files until `bound` bytes are kept or all that is left is in use. */
fer_status fer_store_prune(const fer_store *store, uint64_t bound, fer_pruning *out_pruning,
                           fer_error *error);

/* Whether the file has what its name or its own digest says. */
bool fer_stored_is_whole(const fer_store *store, const fer_stored *file);
/* False, with errno, when it is still there. */
bool fer_stored_remove(const fer_store *store, const fer_stored *file);

#endif
