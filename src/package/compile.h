/* Running the compiler on a package's snapshot. */
#ifndef FERRULE_PACKAGE_COMPILE_H
#define FERRULE_PACKAGE_COMPILE_H

#include "base/text.h"
#include "package/library.h"
#include "package/package.h"
#include "package/toolchain.h"
#include "package/workplace.h"
#include <time.h>

/* What is to be built: one kernel for one set of parameters and dtypes. */
typedef struct fer_request {
    const fer_package *package;
    const fer_source *main; /* the file that has the kernel */
    const char *kernel;
    const fer_param *params;
    size_t num_params;
    const fer_dtype_choice *dtypes;
    size_t num_dtypes;
    fer_outside_function told; /* not NULL: a checked kernel... */
    bool is_verified;          /* ...for `ferrule verify` */
} fer_request;

/* `<T = f32, factor = 2>`, or nothing where there is nothing to choose. */
void fer_append_choices(fer_text *text, const fer_request *request);

/* The files that the compiler read: normal paths from the package, or absolute for what is not the
 * author's. */
typedef struct fer_dependencies {
    char **paths;
    size_t count;
    size_t capacity;
} fer_dependencies;

typedef struct fer_build {
    fer_workplace place;
    char *output;  /* the shared object in it */
    fer_text said; /* by the compiler all the same: its warnings */
    fer_dependencies dependencies;
    const fer_outside *outside; /* the package's, as it was when the build began */
    struct timespec began;      /* by the clock of files */
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

#endif
