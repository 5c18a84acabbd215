/* A kernel compiled for one set of parameters and dtypes, and loaded. */
#ifndef FERRULE_PACKAGE_LIBRARY_H
#define FERRULE_PACKAGE_LIBRARY_H

#include "base/error.h"
#include <ferrule/abi.h>
#include <ferrule/package.h>
#include <ferrule/signature.h>

/* A loaded specialisation. Immutable, reference-counted, shared between threads; it stays loaded
 * while anybody holds it. */
typedef struct fer_library fer_library;

typedef struct fer_dtype_choice {
    const char *name; /* of a dtype variable */
    fer_dtype dtype;
} fer_dtype_choice;

/* Compiles `kernel` from the package's snapshot, or takes it from memory or the store. Every param
 * has a value. COMPILE: the compiler's words, its command, the author's file and line; or there is
 * no compiler, and what to do. */
fer_status fer_library_open(const fer_package *package, const char *kernel, const fer_param *params,
                            size_t num_params, const fer_dtype_choice *dtypes, size_t num_dtypes,
                            fer_library **out_library, fer_error *error);
fer_library *fer_library_retain(const fer_library *library);
void fer_library_release(fer_library *library); /* NULL-safe */

const fer_abi_entry *fer_library_kernel(const fer_library *library);
const fer_abi_entry *fer_library_shape(const fer_library *library); /* NULL: none */
const char *fer_library_path(const fer_library *library);
/* The digest of the binary's content, as hex. */
const char *fer_library_digest(const fer_library *library);

/* The C text of a package in memory; NULL for a folder. Lives as long as the package. */
const char *fer_package_source(const fer_package *package);

/* The kernel of that name in the package, or NULL; `out_info` may be NULL. */
bool fer_package_find(const fer_package *package, const char *name, fer_kernel_info *out_info);

#endif
