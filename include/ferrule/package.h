/* Kernel packages: a flat folder of C files, a shared object, or C source in memory.
 *
 * A fer_package is a snapshot: what the files held when it was opened. It is immutable and
 * reference-counted, and may be shared between threads.
 */
#ifndef FERRULE_PACKAGE_H
#define FERRULE_PACKAGE_H

#include <ferrule/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fer_package fer_package;

/* Opens a folder, or a shared object that exports the table of ferrule/abi.h. `path` "std" is the
 * standard package and "blas" the one that calls OpenBLAS; any other is a path, absolute or
 * relative to the working directory. IO: no such
 * folder or file, or one that cannot be read or loaded. VALUE: a kernel that is defined twice in
 * it; a fault in its package.ini; no shared object, or a malformed table. UNSUPPORTED: another
 * version of the table. COMPILE: pkg-config does not know what package.ini asks for. */
FER_API FER_MUST_USE fer_status fer_package_open(const char *path, fer_package **out_package,
                                                 fer_error *error);

/* A package of one C file in memory; its path is `inline:` and a digest of the source. */
FER_API FER_MUST_USE fer_status fer_package_from_source(const char *source,
                                                        fer_package **out_package,
                                                        fer_error *error);

FER_API fer_package *fer_package_retain(const fer_package *package);
FER_API void fer_package_release(fer_package *package); /* NULL-safe */

/* The absolute path, or `inline:` and a digest. Lives as long as the package. */
FER_API const char *fer_package_path(const fer_package *package);

/* A kernel as the scan found it. Text lives as long as the package. */
typedef struct fer_kernel_info {
    const char *name;
    const char *signature; /* the whole declaration from SIGNATURE, or NULL */
    const char *file;      /* relative to the package; of a shared object, as its entry says */
    int line;              /* 0: a shared object does not say */
} fer_kernel_info;

/* The kernels, sorted by name. */
FER_API size_t fer_package_num_kernels(const fer_package *package);
FER_API fer_kernel_info fer_package_kernel(const fer_package *package, size_t index);

/* The overlay: packages in which every declaration of the process looks for its kernel after its
 * own packages, the one that was added last first. An op that is found there has that package
 * behind its own ones, as if it had been declared with it, and keeps it. Any thread may add and
 * remove, in any order. */
typedef struct fer_overlay fer_overlay;

/* Adds a package, which is retained until fer_overlay_remove ends the scope. MEMORY. */
FER_API FER_MUST_USE fer_status fer_overlay_add(const fer_package *package,
                                                fer_overlay **out_overlay, fer_error *error);
FER_API void fer_overlay_remove(fer_overlay *overlay); /* NULL-safe */

/* The folder that compiled kernels are kept in (see docs/kernels.md). IO when there is none that
 * can be used. The caller frees the text with fer_string_free. */
FER_API FER_MUST_USE fer_status fer_cache_path(char **out_path, fer_error *error);

/* What this process has done so far, and holds now. $FERRULE_LOG tells of each event as it happens
 * (see docs/kernels.md). */
typedef struct fer_counters {
    uint64_t compiles;     /* compiler processes run for kernels */
    uint64_t cache_hits;   /* specialisations found in the store or in memory */
    uint64_t cache_misses; /* specialisations that had to be compiled */
    uint64_t bindings;     /* kernels that are loaded now, at most 128 of them held by no op */
} fer_counters;
FER_API fer_counters fer_read_counters(void);

/* Called before and after each compiler run, and each wait for one of another process, on the
 * thread that needs the result; for progress messages. `what` is the kernel with its
 * specialisation, and in a wait ` (by another process)`. NULL removes it. Set it before other
 * threads declare. */
typedef void (*fer_compile_observer)(void *context, const char *what, bool is_done);
FER_API void fer_set_compile_observer(fer_compile_observer observer, void *context);

/* Asked several times a second while a compiler runs, or what helps it, or another thread or
 * process compiles the same, on the thread that waits for it; and while a model runs a loop,
 * between two turns, on the thread that runs it. True ends the wait, and with it the declaration or
 * call: COMPILE; or the run: RUNTIME. A program that this thread has started ends with all that it
 * started: it has a process group of its own where such a function is set, which a terminal's
 * Ctrl-C does not reach. The cache stays whole. NULL removes it. Set it before other threads
 * declare. */
typedef bool (*fer_interrupt)(void *context);
FER_API void fer_set_interrupt(fer_interrupt is_interrupted, void *context);

#ifdef __cplusplus
}
#endif
#endif
