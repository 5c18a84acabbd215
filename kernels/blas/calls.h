/* When OpenBLAS may be called. It has memory for a number of calls at the same time (128 as Debian
 * builds it), and a lock around it, which a child would find locked for ever if it were forked
 * while another thread is in a call. */
#ifndef FERRULE_BLAS_CALLS_H
#define FERRULE_BLAS_CALLS_H

/* Waits while too many threads are in calls, or while a fork is under way. A fork waits for
 * end_calls, so no more than a few calls should stand between the two. */
void begin_calls(void);
void end_calls(void);

#endif
