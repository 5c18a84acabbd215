/* The inside of a package: its files as they were when it was opened. */
#ifndef FERRULE_PACKAGE_PACKAGE_H
#define FERRULE_PACKAGE_PACKAGE_H

#include "base/hash.h"
#include "package/flags.h"
#include "package/scan.h"
#include <ferrule/package.h>
#include <stdatomic.h>

/* A file of the folder; or one beyond it that a kernel reads, named by its path from the folder
 * (`../common/x.h`, `sub/x.h`) without needless `.` and `..`. */
typedef struct fer_source {
    char *name;
    char *data;
    size_t size;
    fer_digest digest;
    fer_scan scan;
    bool has_kernel;
    bool is_followed; /* what it includes is in the snapshot too */
} fer_source;

typedef struct fer_sources {
    fer_source *items; /* sorted by name */
    size_t count;
    size_t capacity;
} fer_sources;

/* What else the kernels read. */
typedef struct fer_outside {
    fer_sources files;
    bool is_whole; /* a build has shown that nothing else is read: the folder is not needed */
    struct fer_outside *older;
} fer_outside;

/* A shared object in place of files; see package/object.h. */
typedef struct fer_object fer_object;

struct fer_package {
    atomic_size_t references;
    char *path;
    bool is_inline;
    fer_object *object; /* NULL: a package of C files */
    fer_sources files;
    fer_flags flags;
    fer_kernel_info *kernels; /* sorted by name; strings belong to the package */
    size_t num_kernels;
    /* Only grows, at its head, and needs no lock: who looks at a package reads the head once, and
     * has a snapshot that stays as it is. */
    _Atomic(fer_outside *) outside;
};

const fer_source *fer_sources_find(const fer_sources *sources, const char *name);
/* Adds a file, taking `data`, which the call frees when it fails. A name that is there is kept. */
fer_status fer_sources_add(fer_sources *sources, const char *name, char *data, size_t size,
                           fer_error *error);

void fer_sources_clear(fer_sources *sources);

/* `.c` at the end of a name. */
bool fer_is_c_file(const char *name);

/* The same path without `.` and without `..` behind a name, by its text alone; an absolute one
 * stays. For the caller to free. */
fer_status fer_normal_path(const char *path, char **out_path, fer_error *error);

/* The file of that normal path in a package whose `outside` was read before, or NULL. */
const fer_source *fer_package_file(const fer_package *package, const fer_outside *outside,
                                   const char *path);
bool fer_package_is_whole(const fer_package *package, const fer_outside *outside);

/* Where an include of a file may be in the snapshot, by its text alone: the places that the
 * compiler looks in, in its order. NULL-terminated normal paths for fer_places_free. */
fer_status fer_include_places(const fer_package *package, const char *file, const fer_found *found,
                              char ***out_places, fer_error *error);
void fer_places_free(char **places); /* NULL-safe */
/* Takes into the snapshot what the package's files include, and what that includes. */
fer_status fer_package_follow_includes(fer_package *package, fer_error *error);
/* Adds files to the snapshot, makes it whole, and takes them. False, with the files left to the
 * caller: there is no memory, or `seen` is not the newest any more. */
bool fer_package_publish(fer_package *package, const fer_outside *seen, fer_sources *files);
/* Makes the snapshot whole by the paths of what a build read. */
fer_status fer_package_settle(fer_package *package, char *const *paths, size_t num_paths,
                              fer_error *error);
/* Whether one of the paths is neither in this snapshot nor absolute. */
bool fer_package_lacks(const fer_package *package, const fer_outside *outside, char *const *paths,
                       size_t num_paths);
void fer_outside_release(fer_outside *outside); /* and the older ones; NULL-safe */

/* The packages that come with Ferrule: `std`, and `blas`. */
#define FER_NUM_OWN_PACKAGES 2
extern const char *const fer_own_packages[FER_NUM_OWN_PACKAGES];

/* Whether that is no path, but one of them. */
bool fer_is_own_package(const char *path);

/* Its folder, absolute, for the caller to free. The standard package is $FERRULE_STD, else beside
 * the library or the program that has it in itself, else among the system's data folders, and the
 * other lies in it. IO: nowhere. */
fer_status fer_own_package(const char *name, char **out_path, fer_error *error);

/* Lets the preprocessor say what each file declares, and remembers it in the store. */
fer_status fer_package_describe(fer_package *package, fer_error *error);

#endif
