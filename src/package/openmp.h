/* Kernels that use OpenMP: how many threads their regions may have. */
#ifndef FERRULE_PACKAGE_OPENMP_H
#define FERRULE_PACKAGE_OPENMP_H

#include <stdbool.h>

/* The runtime that a loaded object links to: functions of OpenMP's standard. gcc's and clang's can
 * both be in a process. */
typedef struct fer_openmp {
    int (*get_threads)(void);
    void (*set_threads)(int);
    int (*get_levels)(void);
    void (*set_levels)(int);
} fer_openmp;

/* Whether the object links to a runtime, which then stays loaded for good: its idle threads are in
 * its code. */
bool fer_openmp_find(void *handle, fer_openmp *out_openmp);

/* What a thread had before, for its own OpenMP regions. */
typedef struct fer_openmp_limits {
    int threads;
    int levels;
} fer_openmp_limits;

/* From here to fer_openmp_restore, regions of this thread have at most `num_threads` threads, but
 * for a region that names its own number. With 1 those are held to one thread too: gcc's runtime
 * waits for ever in a forked child for threads that only the parent has. */
fer_openmp_limits fer_openmp_limit(const fer_openmp *openmp, int num_threads);
void fer_openmp_restore(const fer_openmp *openmp, fer_openmp_limits limits);

#endif
