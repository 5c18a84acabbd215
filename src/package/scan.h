/* Reading C text for what Ferrule's macros declare in it, without a compiler. */
#ifndef FERRULE_PACKAGE_SCAN_H
#define FERRULE_PACKAGE_SCAN_H

#include "base/text.h"
#include <ferrule/abi.h>

typedef enum fer_found_kind {
    FER_FOUND_KERNEL, /* KERNEL and MAP */
    FER_FOUND_SHAPE,
    FER_FOUND_SIGNATURE,
    FER_FOUND_PARAM, /* `text` is its kind */
    FER_FOUND_DTYPE_VAR,
    FER_FOUND_INCLUDE, /* #include or __has_include; `name` is as spelled */
    FER_FOUND_DEFINE   /* a macro */
} fer_found_kind;

/* A result or operand as a kernel's line has it. */
typedef struct fer_written {
    int32_t role; /* FER_ABI_RESULT, FER_ABI_OPERAND or FER_ABI_INOUT */
    int32_t rank; /* or FER_ABI_ANY_RANK */
    char *dtype;  /* the word; what it means is not known here */
    char *name;
} fer_written;

typedef struct fer_found {
    fer_found_kind kind;
    char *name;
    char *text; /* of a signature: what follows the name; of a parameter: its kind; else NULL */
    int line;
    bool is_quoted;      /* of an include: "name", not <name> */
    bool is_conditional; /* under some #if */
    /* Of a kernel or shape function whose line says by plain words what it takes, result first in a
     * MAP; else none. Macros may still stand for the words. */
    int32_t entry; /* FER_ABI_KERNEL, FER_ABI_MAP or FER_ABI_SHAPE */
    fer_written *written;
    size_t num_written;
} fer_found;

typedef struct fer_scan {
    fer_found *items;
    size_t num_items;
    size_t capacity;
    /* Only the preprocessor can tell what is declared: the macros stand in a #define or under a
     * condition. */
    bool needs_preprocessor;
    /* Dtype variables may be declared that were not found: by a macro, or in an include by one. */
    bool hides_dtype_vars;
} fer_scan;

/* Scans terminated text. Comments, strings and what stands under `#if 0` do not count. */
fer_status fer_scan_source(const char *text, fer_scan *out_scan, fer_error *error);
/* Scans what `cc -E -DFER_DESCRIBE=1` printed: the FER_FOUND marks of kernel.h, with the lines of
 * the file that was preprocessed. */
fer_status fer_scan_preprocessed(const char *text, fer_scan *out_scan, fer_error *error);
/* Appends the marks that would be read as this, without the rest of what is printed. */
void fer_scan_print(const fer_scan *scan, fer_text *text);
void fer_scan_clear(fer_scan *scan);

#endif
