/* Allocations that are counted, and refused on demand: the functions below stand in place of those
 * that allocate (tests/CMakeLists.txt tells the linker), for the library and the test alike. */
#ifndef FERRULE_TESTING_ALLOCATIONS_H
#define FERRULE_TESTING_ALLOCATIONS_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t num_asked;     /* since it began */
static size_t first_refused; /* counting from 1; 0: none */
static bool are_all_refused; /* that follow */
static bool is_paused;       /* nothing counts as asked for, nothing is refused */
static int64_t num_living;   /* blocks that were not released */

static bool is_refused(void)
{
    if (is_paused)
        return false;
    num_asked++;
    return first_refused > 0 &&
           (num_asked == first_refused || (are_all_refused && num_asked > first_refused));
}

static void *note(void *block)
{
    num_living += block != NULL;
    return block;
}

#define REPLACE(type, name, parameters, arguments)                                                 \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return is_refused() ? NULL : note(__real_##name arguments);                                \
    }

REPLACE(void *, malloc, (size_t size), (size))
REPLACE(void *, calloc, (size_t count, size_t size), (count, size))
REPLACE(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
REPLACE(char *, strdup, (const char *text), (text))
REPLACE(char *, strndup, (const char *text, size_t length), (text, length))

/* Into a given buffer it allocates nothing. */
char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
    if (resolved != NULL)
        return __real_realpath(path, resolved);
    return is_refused() ? NULL : note(__real_realpath(path, NULL));
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
    num_living -= block != NULL;
    __real_free(block);
}

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
    if (is_refused())
        return NULL;
    void *larger = __real_realloc(block, size);
    num_living += block == NULL && larger != NULL;
    return larger;
}

void *__real_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
    if (is_refused())
        return NULL;
    void *larger = __real_reallocarray(block, count, size);
    num_living += block == NULL && larger != NULL;
    return larger;
}

/* Those of the C library that allocate for themselves. */
char *__real_getcwd(char *path, size_t size);
char *__wrap_getcwd(char *path, size_t size);
char *__wrap_getcwd(char *path, size_t size)
{
    errno = ENOMEM;
    return is_refused() ? NULL : note(__real_getcwd(path, size));
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    errno = ENOMEM;
    return is_refused() ? NULL : __real_opendir(path);
}

DIR *__real_fdopendir(int file);
DIR *__wrap_fdopendir(int file);
DIR *__wrap_fdopendir(int file)
{
    errno = ENOMEM;
    return is_refused() ? NULL : __real_fdopendir(file);
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    errno = ENOMEM;
    return is_refused() ? MAP_FAILED : __real_mmap(address, size, protection, flags, file, offset);
}

#endif
