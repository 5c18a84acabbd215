/* What a build has read, so that a later declaration knows without a compiler whether it would read
 * the same again. */
#ifndef FERRULE_PACKAGE_MANIFEST_H
#define FERRULE_PACKAGE_MANIFEST_H

#include "package/compile.h"

/* The key of what is known before compiling: the kernel, its parameters and dtypes, the files that
 * are compiled, flags, target and library. The compiler is not in it: a manifest's records name it.
 */
void fer_manifest_key(const fer_request *request, char out_key[FER_DIGEST_HEX]);

/* Finds a record whose files are all as they were and whose absent files still are. Files are those
 * of the snapshot; what it lacks, unless it is whole, is read into it, and a match makes it whole.
 * `compiler` NULL: there is none, and any will do. `out_entry` is the digest of its binary. MEMORY.
 */
fer_status fer_manifest_find(const fer_store *store, const char *key, const fer_compiler *compiler,
                             fer_package *package, char out_entry[FER_DIGEST_HEX],
                             bool *out_is_found, fer_error *error);

/* Puts a record of what a build read first in the key's manifest, if the store can keep it. What
 * changed while the compiler ran is not recorded. */
void fer_manifest_record(const fer_store *store, const char *key, const fer_compiler *compiler,
                         const fer_request *request, const fer_build *build, const char *entry);

/* Tells `visit` of each record: the digest of its binary, and the kernel with its specialisation.
 * NULL: nobody. Returns whether the manifest is whole. */
typedef void (*fer_manifest_visitor)(void *context, const char *entry, const char *kernel);
bool fer_manifest_read(const char *data, size_t size, fer_manifest_visitor visit, void *context);

#endif
