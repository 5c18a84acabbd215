/* How kernels run: how many threads one may use, and whether they are checked. */
#ifndef FERRULE_OP_THREADS_H
#define FERRULE_OP_THREADS_H

#include <ferrule/abi.h>
#include <ferrule/op.h>
#include <stdatomic.h>

/* Both in one word, so that a call loads no second one: the number of threads, 0 before
 * fer_run_mode_prepare, and FER_MODE_CHECKS. */
extern atomic_uint fer_run_mode;
#define FER_MODE_CHECKS (1u << 31)

/* Reads the environment, once; and from then on a forked child has one thread. */
void fer_run_mode_prepare(void);

/* For a call. Only where a specialisation was made, which prepares. */
static inline uint32_t fer_run_mode_now(void)
{
    return atomic_load_explicit(&fer_run_mode, memory_order_relaxed);
}

/* Stand in for the functions of a kernel that uses OpenMP, and hold its regions to what the context
 * allows. */
int fer_run_limited(fer_context *context, const fer_dl_tensor *const *tensors);
int fer_measure_limited(fer_context *context, const fer_dl_tensor *const *tensors);

/* VALUE when FERRULE_CHECK is something else than a choice, which else counts as not set. */
fer_status fer_check_environment(fer_error *error);

/* VALUE when FERRULE_NUM_THREADS is set to no number of threads, which else counts as not set. */
fer_status fer_threads_check_environment(fer_error *error);

#endif
