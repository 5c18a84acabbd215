/* A shared object that exports a table of kernels (ferrule/abi.h): checked, loaded, chosen from. */
#ifndef FERRULE_PACKAGE_OBJECT_H
#define FERRULE_PACKAGE_OBJECT_H

#include "base/hash.h"
#include "package/compile.h"
#include "package/openmp.h"

struct fer_object {
    char digest[FER_DIGEST_HEX]; /* of its content */
    char *path;                  /* of the file that is loaded */
    char *name;                  /* what messages call it */
    void *handle;
    const fer_abi_table *table;
    bool has_openmp;
    fer_openmp openmp; /* when it has it */
};

/* Loads a file. The table and each entry are checked, so that whoever reads them trusts them.
 * VALUE: it is no shared object, exports no table, or a table that is malformed. UNSUPPORTED:
 * another version of the table. IO: the system cannot load it. Messages begin with `name`. */
fer_status fer_object_load(const char *path, const char *name, const char *digest,
                           fer_object **out_object, fer_error *error);
void fer_object_unload(fer_object *object); /* NULL-safe */
/* An exported symbol's address; NULL: there is none. */
/* The address of what it exports under that name; NULL: nothing. */
void *fer_object_symbol(const fer_object *object, const char *symbol);

/* VALUE: these bytes are no shared object for this machine, or one that is cut short, which the
 * system's loader would crash on. */
fer_status fer_object_check_file(const char *name, const char *data, size_t size, fer_error *error);

/* Opens a package that is a shared object: loads a copy, so that nobody's writing to the file
 * reaches it, and lists its kernels. */
fer_status fer_package_load_object(fer_package *package, fer_error *error);

/* The entries for a request: of those that list no other values the one that lists the most.
 * `shape` NULL: there is none. VALUE: none serves. */
fer_status fer_object_choose(const fer_object *object, const fer_request *request,
                             const fer_abi_entry **out_kernel, const fer_abi_entry **out_shape,
                             fer_error *error);

/* Held while an object is loaded or unloaded, only so that no fork happens then: a child would find
 * the loader's own lock taken for ever. For library.c's handlers. */
void fer_loader_lock(void);
void fer_loader_unlock(void);
void fer_loader_reset(void); /* in a forked child */

#endif
