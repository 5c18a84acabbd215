/* A kernel compiled for one set of parameters and dtypes, and loaded. */
#ifndef FERRULE_PACKAGE_LIBRARY_H
#define FERRULE_PACKAGE_LIBRARY_H

#include "base/error.h"
#include "base/hash.h"
#include "package/openmp.h"
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

/* Told by a checked kernel, before the access, of an index outside its axis, or, with axis -1, of
 * an axis outside its view's rank. `view` is what the author calls it, `file` as fer_kernel_info
 * has it. Gives the index to use instead. */
typedef int64_t (*fer_outside_function)(const char *file, int line, const char *view, int axis,
                                        int64_t index, int64_t bound);
/* The same kernel checked: AT and DIM tell `told`, which is always the same function, what lies
 * outside. A checked kernel has a key of its own. A shared object's is what it is. */
fer_status fer_library_open_checked(const fer_package *package, const char *kernel,
                                    const fer_param *params, size_t num_params,
                                    const fer_dtype_choice *dtypes, size_t num_dtypes,
                                    fer_outside_function told, fer_library **out_library,
                                    fer_error *error);

/* From now on kernels are built for `ferrule verify`: checked, undefined behaviour is watched for,
 * and there are lines for addresses. NULL: as usual again. They have keys of their own; ops keep
 * what they have loaded. Set it before other threads declare. */
void fer_verify_kernels(fer_outside_function told);

fer_library *fer_library_retain(const fer_library *library);
void fer_library_release(fer_library *library); /* NULL-safe */

const fer_abi_entry *fer_library_kernel(const fer_library *library);
const fer_abi_entry *fer_library_shape(const fer_library *library); /* NULL: none */
const fer_openmp *fer_library_openmp(const fer_library *library);   /* NULL: it uses none */
const char *fer_library_path(const fer_library *library);
/* The digest of the binary's content, as hex. */
const char *fer_library_digest(const fer_library *library);

/* Is told what the compiler said of a kernel that it compiled all the same, once, by the thread
 * that compiled it; NULL: nobody is. The log of `compile` shows it either way. */
typedef void (*fer_warning_reader)(const char *what, const char *said);
void fer_set_warning_reader(fer_warning_reader reader);

/* What a kernel's file calls its parameters and dtype variables, against the declaration; values do
 * not matter. TYPE: a parameter is of another kind there, or a dtype variable is none. */
fer_status fer_package_agrees(const fer_package *package, const char *kernel,
                              const fer_param *params, size_t num_params,
                              const fer_dtype_var *dtype_vars, size_t num_dtype_vars,
                              fer_error *error);

/* A result or operand by a kernel's own line. In the text a dtype may be a variable (`dtype_var`),
 * or a word that only the compiler knows: then neither is there. */
typedef struct fer_line_tensor {
    const char *name;
    int32_t role; /* FER_ABI_RESULT, FER_ABI_OPERAND or FER_ABI_INOUT */
    int32_t rank; /* or FER_ABI_ANY_RANK */
    fer_dtype dtype;
    const char *dtype_var;
} fer_line_tensor;

/* A kernel's line, or its SHAPE's: compiled, or as the text has it. Strings are borrowed. */
typedef struct fer_kernel_line {
    int32_t kind; /* FER_ABI_KERNEL, FER_ABI_MAP or FER_ABI_SHAPE */
    const char *file;
    int line;
    size_t num_tensors; /* there may be more than are kept */
    fer_line_tensor tensors[FER_ABI_MAX_TENSORS];
} fer_kernel_line;

void fer_line_of_entry(const fer_abi_entry *entry, fer_kernel_line *out_line);

/* What the package's text says without a compiler. UNKNOWN: macros may have a part in it. */
typedef enum fer_line_state { FER_LINE_UNKNOWN = 0, FER_LINE_ABSENT, FER_LINE_READ } fer_line_state;
fer_line_state fer_line_of_text(const fer_package *package, const char *kernel, bool is_shape,
                                fer_kernel_line *out_line);

/* Makes forks of the process wait for what other threads have locked here; at the first use. */
void fer_watch_forks(void);

/* Keeps a binary under its content's digest, in the store or for as long as the process lives. */
fer_status fer_library_keep(const char *data, size_t size, char out_digest[FER_DIGEST_HEX],
                            char **out_path, fer_error *error);

/* The C text of a package in memory; NULL for a folder. Lives as long as the package. */
const char *fer_package_source(const fer_package *package);

/* The kernel of that name in the package, or NULL; `out_info` may be NULL. */
bool fer_package_find(const fer_package *package, const char *name, fer_kernel_info *out_info);

#endif
