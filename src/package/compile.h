/* Running the compiler on a package's snapshot. */
#ifndef FERRULE_PACKAGE_COMPILE_H
#define FERRULE_PACKAGE_COMPILE_H

#include "package/library.h"
#include "package/package.h"
#include "package/toolchain.h"

/* What is to be built: one kernel for one set of parameters and dtypes. */
typedef struct fer_request {
    const fer_package *package;
    const fer_source *main; /* the file that has the kernel */
    const char *kernel;
    const fer_param *params;
    size_t num_params;
    const fer_dtype_choice *dtypes;
    size_t num_dtypes;
} fer_request;

/* A file that the compiler read: relative to the package, or absolute for what is not the author's.
 */
typedef struct fer_dependencies {
    char **paths;
    size_t count;
    size_t capacity;
} fer_dependencies;

typedef struct fer_build {
    char *folder; /* everything is in it; gone with fer_build_clear */
    char *output; /* the shared object */
    fer_dependencies dependencies;
} fer_build;

/* Builds. COMPILE with the author's file and line, the compiler's output and the command; TYPE when
 * the kernel uses a parameter that the request does not have. */
fer_status fer_compile(const fer_store *store, const fer_compiler *compiler,
                       const fer_request *request, fer_build *out_build, fer_error *error);
void fer_build_clear(fer_build *build);

/* What the preprocessor makes of one file with kernel.h describing; the caller frees it. */
fer_status fer_preprocess(const fer_store *store, const fer_compiler *compiler,
                          const fer_package *package, const char *file, char **out_text,
                          fer_error *error);

/* A digest of the headers that kernels are compiled against. */
const char *fer_embedded_digest(void);

#endif
