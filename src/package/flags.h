/* What a package's `package.ini` adds to the commands that compile and link its kernels. */
#ifndef FERRULE_PACKAGE_FLAGS_H
#define FERRULE_PACKAGE_FLAGS_H

#include "base/hash.h"
#include "package/arguments.h"

/* Read when the package is opened, pkg-config's answer too, and immutable from then on. */
typedef struct fer_flags {
    fer_arguments cflags;
    /* Folders of includes, each behind its option (-I, -isystem, ...), as they are written. */
    fer_arguments includes;
    fer_arguments libs; /* files and folders absolute */
} fer_flags;

/* Reads FOLDER/package.ini, where there is one, and asks pkg-config. VALUE with the line: a fault
 * of syntax, or a flag that is refused, and why. COMPILE: pkg-config's own words. */
fer_status fer_flags_read(const char *folder, fer_flags *out_flags, fer_error *error);
void fer_flags_clear(fer_flags *flags);
bool fer_flags_is_empty(const fer_flags *flags);
void fer_flags_hash(const fer_flags *flags, fer_hasher *hasher);

#endif
