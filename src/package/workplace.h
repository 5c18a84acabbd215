/* The private folder that a compiler runs in. */
#ifndef FERRULE_PACKAGE_WORKPLACE_H
#define FERRULE_PACKAGE_WORKPLACE_H

#include "package/package.h"
#include "package/store.h"

/* A build folder holds `include/` (the headers that travel inside the library), `origin` (a link to
 * the author's folder, until the package's snapshot is whole) and `tree/`: the snapshot, below as
 * many folders as its includes climb, each called as the author's own, so that `../name/x.h` leads
 * to the same file. The compiler runs in the package, so that what it prints names files as the
 * author does. */
#define FER_ORIGIN_LINK "origin"

typedef struct fer_workplace {
    char *folder;  /* the build's */
    char *package; /* where the compiler runs */
    char up[64];   /* from there back to `folder` */
    bool has_origin;
    bool is_kept; /* closing leaves the folder, which goes some time after as old builds do */
} fer_workplace;

/* Writes the package with what `outside`, which was read from it before, adds. */
fer_status fer_workplace_open(const fer_store *store, const fer_package *package,
                              const fer_outside *outside, fer_workplace *out_place,
                              fer_error *error);
void fer_workplace_close(fer_workplace *place); /* removes the folder, unless it is kept */

/* A digest of the headers that kernels are compiled against. */
const char *fer_embedded_digest(void);

#endif
