#include "tensor/small.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local fer_small_blocks fer_small_kept __attribute__((tls_model("initial-exec")));

static pthread_key_t key; /* its destructor runs at the end of a thread that keeps blocks */
static bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A tensor that is released later still, by another key's destructor, begins anew. */
static void give_back(void *context)
{
    fer_small_blocks *kept = context;
    fer_small_block *block = kept->first;
    *kept = (fer_small_blocks){0};
    while (block != NULL) {
        fer_small_block *next = block->next;
        free(block);
        block = next;
    }
}

static void start(void)
{
    has_key = pthread_key_create(&key, give_back) == 0;
}

/* The code that the key runs goes away. What other threads keep now stays with them. */
__attribute__((destructor)) static void stop(void)
{
    if (!has_key)
        return;
    has_key = false;
    (void)pthread_key_delete(key);
    give_back(&fer_small_kept);
}

void *fer_small_allocate_fresh(void)
{
    return malloc(FER_SMALL_BYTES);
}

/* The first of a thread, or one too many. */
void fer_small_release_more(void *block)
{
    fer_small_blocks *kept = &fer_small_kept;
    pthread_once(&once, start);
    if (kept->first == NULL && has_key && pthread_setspecific(key, kept) == 0) {
        kept->num_more = FER_SMALL_MAX_KEPT;
        fer_small_release(block);
    } else {
        free(block);
    }
}
