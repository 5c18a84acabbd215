/* The inside of a package: its files as they were when it was opened. */
#ifndef FERRULE_PACKAGE_PACKAGE_H
#define FERRULE_PACKAGE_PACKAGE_H

#include "base/hash.h"
#include "package/scan.h"
#include <ferrule/package.h>
#include <pthread.h>
#include <stdatomic.h>

/* A file of the folder; or one outside it that a kernel reads, named by its path from the folder
 * (`../common/x.h`). */
typedef struct fer_source {
    char *name;
    char *data;
    size_t size;
    fer_digest digest;
    fer_scan scan;
    bool has_kernel;
} fer_source;

typedef struct fer_sources {
    fer_source *items; /* sorted by name */
    size_t count;
    size_t capacity;
} fer_sources;

struct fer_package {
    atomic_size_t references;
    char *path;
    bool is_inline;
    fer_sources files;
    fer_kernel_info *kernels; /* sorted by name; strings belong to the package */
    size_t num_kernels;
    /* Files outside the folder, under the lock. They are known once something was compiled or found
     * in the store; from then on the folder itself is not looked at any more. */
    pthread_mutex_t lock;
    fer_sources outside;
    bool is_settled;
};

const fer_source *fer_sources_find(const fer_sources *sources, const char *name);
/* Adds a file, taking `data`, which the call frees when it fails. A name that is there is kept. */
fer_status fer_sources_add(fer_sources *sources, const char *name, char *data, size_t size,
                           fer_error *error);

void fer_sources_clear(fer_sources *sources);

/* `.c` at the end of a name. */
bool fer_is_c_file(const char *name);

/* The standard package's folder, absolute, for the caller to free: $FERRULE_STD, else beside the
 * library or the program that has it in itself, else among the system's data folders. IO: nowhere.
 */
fer_status fer_standard_package(char **out_path, fer_error *error);

/* Lets the preprocessor say what each file declares, and remembers it in the store. */
fer_status fer_package_describe(fer_package *package, fer_error *error);

#endif
