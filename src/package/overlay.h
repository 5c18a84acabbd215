/* The packages that every declaration in the process looks in after its own. */
#ifndef FERRULE_PACKAGE_OVERLAY_H
#define FERRULE_PACKAGE_OVERLAY_H

#include <ferrule/package.h>

/* The package that was added last of those that have the kernel, retained for the caller; NULL:
 * none has it. */
fer_package *fer_overlay_find(const char *kernel);

/* All of them, the last one first, each retained for the caller, who frees the array. */
fer_status fer_overlay_list(fer_package ***out_packages, size_t *out_count, fer_error *error);

/* For library.c's handlers of forks. */
void fer_overlay_lock(void);
void fer_overlay_unlock(void);
void fer_overlay_reset(void);

#endif
