/* Files of .npy put together by hand, and a folder for them. */
#ifndef FERRULE_TESTING_NPY_H
#define FERRULE_TESTING_NPY_H

#include "testing.h"

#include "base/path.h"
#include <limits.h>
#include <unistd.h>

/* A folder for the files of one test, gone at its end. */
static inline int make_folder(void **state)
{
    char *folder = strdup("/tmp/ferrule-npy-XXXXXX");
    *state = folder;
    return folder != NULL && mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    fer_folder_remove(*state);
    free(*state);
    return 0;
}

static inline const char *path_in(void **state, const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", (const char *)*state, name);
    return path;
}

/* The bytes of a file; grows as parts are put together. */
typedef struct file_bytes {
    unsigned char data[1024];
    size_t size;
} file_bytes;

static inline void append(file_bytes *file, const void *data, size_t size)
{
    assert_true(size <= sizeof file->data - file->size);
    if (size > 0)
        memcpy(file->data + file->size, data, size);
    file->size += size;
}

static inline file_bytes make_file(int version, const char *dict, const void *data, size_t size)
{
    file_bytes file = {.size = 0};
    size_t length = strlen(dict);
    unsigned char little[4] = {(unsigned char)length, (unsigned char)(length >> 8)};
    append(&file, "\x93NUMPY", 6);
    append(&file, (char[]){(char)version, 0}, 2);
    append(&file, little, version == 1 ? 2 : 4);
    append(&file, dict, length);
    append(&file, data, size);
    return file;
}

#define DICT(descr, order, shape)                                                                  \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }  \n"

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

#endif
