/* The compiler that kernels are built with, and what it builds for. */
#ifndef FERRULE_PACKAGE_TOOLCHAIN_H
#define FERRULE_PACKAGE_TOOLCHAIN_H

#include "base/hash.h"
#include "package/store.h"

typedef struct fer_compiler {
    char *words;   /* what $FERRULE_CC, $CC or `cc` says, cut at its blanks; argv points into it */
    char *program; /* the absolute path that argv[0] is */
    const char **argv; /* NULL after the last */
    size_t num_words;
    char identity[FER_DIGEST_HEX]; /* of its programs, words, version and environment */
    bool is_clang;
    const char *openmp; /* the flag for it, or NULL where it cannot be had */
} fer_compiler;

/* Finds the compiler; COMPILE, saying what to do, when there is none. Its version is asked for once
 * and then remembered in the store, by the file's place, size and times. */
fer_status fer_compiler_find(const fer_store *store, fer_compiler *out_compiler, fer_error *error);
void fer_compiler_clear(fer_compiler *compiler);

/* The flags that decide what a kernel computes; NULL after the last. */
extern const char *const FER_KERNEL_FLAGS[];
/* What a checked kernel has in addition: it computes the same. */
#define FER_CHECKED_FLAG "-DFERRULE_CHECKED=1"
/* And what one that is verified has beside that; the last `-O` counts. Undefined behaviour is told
 * of by the runtime that comes with gcc; with clang, which often comes without one, it is a trap
 * that names its kind. */
const char *const *fer_verify_flags(bool is_clang);

/* A digest of the processor's features, which -march=native builds for. */
const char *fer_target_cpu(void);

#endif
