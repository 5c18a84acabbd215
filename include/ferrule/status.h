/* Status and errors.
 *
 * Every fallible call returns a fer_status and takes a `fer_error *` that the caller owns. The
 * pointer may be NULL: then only the status says what happened. There is no thread-local state; one
 * fer_error belongs to one thread at a time.
 *
 * A fer_error starts as FER_ERROR_INIT (all zero). A failing call replaces what it holds; a
 * succeeding call leaves it alone. fer_error_clear releases the text.
 */
#ifndef FERRULE_STATUS_H
#define FERRULE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FER_API __attribute__((visibility("default")))
#define FER_MUST_USE __attribute__((warn_unused_result))
#else
#define FER_API
#define FER_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What kind of thing went wrong. Each kind is one exception in Python. */
typedef enum fer_status {
    FER_OK = 0,
    FER_TYPE_ERROR,          /* TypeError: the wrong kind of thing */
    FER_VALUE_ERROR,         /* ValueError: the right kind, a wrong value */
    FER_ZERO_DIVISION_ERROR, /* ZeroDivisionError */
    FER_OVERFLOW_ERROR,      /* OverflowError: a number outside its range */
    FER_IO_ERROR,            /* OSError: a file could not be read or written */
    FER_COMPILE_ERROR,       /* the compiler refused a kernel, or there is none */
    FER_RUNTIME_ERROR,       /* a kernel failed while it ran */
    FER_MEMORY_ERROR,        /* MemoryError */
    FER_UNSUPPORTED_ERROR    /* NotImplementedError */
} fer_status;

/* One failure. `message` is the whole sentence, never truncated. `op`, `operand`, `expected` and
 * `actual` are NULL and `axis` is -1 where they do not apply. All text belongs to the error and
 * lives until fer_error_clear or the next failure that is stored in it. */
typedef struct fer_error {
    fer_status kind;
    const char *message;
    const char *op;
    const char *operand;
    int axis;
    const char *expected;
    const char *actual;
    void *storage; /* private */
} fer_error;

#ifdef __cplusplus
#define FER_ERROR_INIT                                                                             \
    fer_error                                                                                      \
    {                                                                                              \
    }
#else
#define FER_ERROR_INIT                                                                             \
    {                                                                                              \
        .kind = FER_OK                                                                             \
    }
#endif

/* Releases the text and makes the error FER_OK again. NULL-safe, may be repeated. */
FER_API void fer_error_clear(fer_error *error);

/* Where an error is about a place in a text (a declaration, a dim, a type, a program): the line
 * with the place, a newline, and blanks up to a `^` under it, without a newline at the end; long
 * lines are cut. NULL elsewhere. Lives as long as the error's text. */
FER_API const char *fer_error_excerpt(const fer_error *error);

/* The kind in capitals, as messages and the command print it: "TYPE", "ZERO_DIVISION", "OK".
 * A number that is no status gives "UNKNOWN". Never NULL; static storage. */
FER_API const char *fer_status_name(fer_status status);

/* The library's version, "MAJOR.MINOR.PATCH". Static storage. */
FER_API const char *fer_version(void);

/* Frees a string that a call of this library gave to the caller. NULL-safe. */
FER_API void fer_string_free(char *string);

#ifdef __cplusplus
}
#endif
#endif
