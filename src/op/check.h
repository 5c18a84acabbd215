/* Calls of a process that checks (fer_set_checking): each kernel runs on copies between guard
 * zones, and what it did there that it must not is an error. The caller's memory only takes what a
 * run without a fault has made.
 */
#ifndef FERRULE_OP_CHECK_H
#define FERRULE_OP_CHECK_H

#include "op/op.h"

/* Stands in for a run of the kernel, or, where `open` is not NULL, of its SHAPE function, on the
 * same tensors. RUNTIME: what the kernel said, or a fault. */
fer_status fer_run_checked(const fer_specialisation *specialisation,
                           const fer_dl_tensor *const *tensors, int64_t *open, fer_error *error);

/* What checked kernels tell: a fault of what this thread runs, where it is a checked run, and then
 * index 0 is used instead; on a thread that the kernel has started, the index stays. */
int64_t fer_tell_run(const char *file, int line, const char *view, int axis, int64_t index,
                     int64_t bound);

#endif
