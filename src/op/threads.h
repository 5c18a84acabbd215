/* How many threads a kernel may use. */
#ifndef FERRULE_OP_THREADS_H
#define FERRULE_OP_THREADS_H

#include <ferrule/abi.h>
#include <ferrule/op.h>
#include <stdatomic.h>

/* 0 before fer_threads_prepare. */
extern atomic_uint fer_threads_allowed;

/* Reads the environment, once; and from then on a forked child has one thread. */
void fer_threads_prepare(void);

/* Of a context. Only where a specialisation was made, which prepares. */
static inline uint32_t fer_threads_now(void)
{
    return atomic_load_explicit(&fer_threads_allowed, memory_order_relaxed);
}

/* Stand in for the functions of a kernel that uses OpenMP, and hold its regions to what the context
 * allows. */
int fer_run_limited(fer_context *context, const fer_dl_tensor *const *tensors);
int fer_measure_limited(fer_context *context, const fer_dl_tensor *const *tensors);

/* VALUE when FERRULE_NUM_THREADS is set to no number of threads, which else counts as not set. */
fer_status fer_threads_check_environment(fer_error *error);

#endif
