/* What a build has read, so that a later declaration knows without a compiler whether it would read
 * the same again. */
#ifndef FERRULE_PACKAGE_MANIFEST_H
#define FERRULE_PACKAGE_MANIFEST_H

#include "package/compile.h"

/* The key of what is known before compiling: the kernel, its parameters and dtypes, the files that
 * are compiled, flags, target and library. The compiler is not in it: a manifest's records name it.
 */
void fer_manifest_key(const fer_request *request, char out_key[FER_DIGEST_HEX]);

/* Finds a record whose files are all as they were and whose absent files still are. A package that
 * is settled is judged by its snapshot, any other by what is there now; a match settles it: what
 * lies outside the folder is read into the snapshot. `compiler` NULL: there is none, and any will
 * do. Returns whether there is one; `out_entry` is the digest of its binary. */
bool fer_manifest_find(const fer_store *store, const char *key, const fer_compiler *compiler,
                       fer_package *package, char out_entry[FER_DIGEST_HEX]);

/* Settles the package by what a build read, and puts a record of it first in the key's manifest;
 * that a store cannot keep it is no error. */
fer_status fer_manifest_record(const fer_store *store, const char *key,
                               const fer_compiler *compiler, fer_package *package,
                               const fer_dependencies *dependencies, const char *entry,
                               fer_error *error);

#endif
