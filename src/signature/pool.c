#include "signature/pool.h"

#include <stdlib.h>
#include <string.h>

struct fer_pool_node {
    struct fer_pool_node *next;
    fer_dim *dim; /* NULL: the node is memory */
    max_align_t data[];
};

static struct fer_pool_node *add_node(fer_pool *pool, size_t num_bytes)
{
    if (num_bytes > SIZE_MAX - sizeof(struct fer_pool_node))
        return NULL;
    struct fer_pool_node *node = calloc(1, sizeof *node + num_bytes);
    if (node == NULL)
        return NULL;
    node->next = pool->nodes;
    pool->nodes = node;
    return node;
}

void *fer_pool_array(fer_pool *pool, size_t count, size_t size)
{
    size_t num_bytes;
    if (__builtin_mul_overflow(count, size, &num_bytes))
        return NULL;
    struct fer_pool_node *node = add_node(pool, num_bytes);
    return node == NULL ? NULL : node->data;
}

char *fer_pool_bytes(fer_pool *pool, const char *bytes, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = fer_pool_array(pool, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *fer_pool_string(fer_pool *pool, const char *string)
{
    return fer_pool_bytes(pool, string, strlen(string));
}

fer_status fer_pool_take_dim(fer_pool *pool, fer_dim *dim, const fer_dim **out_dim,
                             fer_error *error)
{
    *out_dim = NULL;
    if (dim == NULL)
        return FER_OK;
    struct fer_pool_node *node = add_node(pool, 0);
    if (node == NULL) {
        fer_dim_release(dim);
        return fer_fail_memory(error);
    }
    node->dim = dim;
    *out_dim = dim;
    return FER_OK;
}

void fer_pool_clear(fer_pool *pool)
{
    while (pool->nodes != NULL) {
        struct fer_pool_node *node = pool->nodes;
        pool->nodes = node->next;
        fer_dim_release(node->dim);
        free(node);
    }
}
