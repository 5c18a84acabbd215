/* One owner for the many small pieces of a signature: arrays, strings and dims that all go at once.
 */
#ifndef FERRULE_SIGNATURE_POOL_H
#define FERRULE_SIGNATURE_POOL_H

#include "base/error.h"
#include <ferrule/dim.h>

typedef struct fer_pool {
    struct fer_pool_node *nodes;
} fer_pool;

/* Each allocation lives until fer_pool_clear; NULL when there is no memory. */

/* Zeroed. */
void *fer_pool_array(fer_pool *pool, size_t count, size_t size);
/* A copy with a terminator after it. `bytes` may be NULL when `length` is 0. */
char *fer_pool_bytes(fer_pool *pool, const char *bytes, size_t length);
char *fer_pool_string(fer_pool *pool, const char *string);

/* Takes a reference, also when it fails; a dim of NULL is kept as NULL. */
fer_status fer_pool_take_dim(fer_pool *pool, fer_dim *dim, const fer_dim **out_dim,
                             fer_error *error);

/* Frees everything. A zeroed pool is an empty one. */
void fer_pool_clear(fer_pool *pool);

#endif
