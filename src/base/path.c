#include "base/path.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fer_status fer_path_join(const char *folder, const char *name, char **out_path, fer_error *error)
{
    if (name[0] == '/')
        return fer_copy_string(name, out_path, error);
    fer_text path = FER_TEXT_INIT;
    fer_text_append(&path, folder);
    if (path.length == 0 || path.data[path.length - 1] != '/')
        fer_text_append_char(&path, '/');
    fer_text_append(&path, name);
    return fer_text_take(&path, out_path, error);
}

/* Appends each component of `path`, resolving `.` and `..` against what is there. */
static void append_components(fer_text *absolute, const char *path)
{
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && memcmp(path, "..", 2) == 0) {
            while (absolute->length > 0 && absolute->data[absolute->length - 1] != '/')
                absolute->length--;
            if (absolute->length > 0)
                absolute->length--;
        } else if (length > 0 && !(length == 1 && *path == '.')) {
            fer_text_append_char(absolute, '/');
            fer_text_append_bytes(absolute, path, length);
        }
        path += length;
        path += *path == '/';
    }
}

fer_status fer_path_absolute(const char *path, char **out_path, fer_error *error)
{
    *out_path = NULL;
    fer_text absolute = FER_TEXT_INIT;
    if (path[0] != '/') {
        char *working = getcwd(NULL, 0);
        if (working == NULL)
            return errno == ENOMEM
                       ? fer_fail_memory(error)
                       : fer_fail(error, FER_IO_ERROR, "the working directory cannot be read: %s",
                                  strerror(errno));
        append_components(&absolute, working);
        free(working);
    }
    append_components(&absolute, path);
    if (absolute.length == 0)
        fer_text_append_char(&absolute, '/');
    else
        absolute.data[absolute.length] = '\0';
    return fer_text_take(&absolute, out_path, error);
}

/* How many bytes of two absolute paths are the same, up to where a name ends in both. */
static size_t shared_length(const char *a, const char *b)
{
    size_t shared = 0;
    for (size_t i = 0;; i++) {
        bool is_end = (a[i] == '/' || a[i] == '\0') && (b[i] == '/' || b[i] == '\0');
        if (is_end)
            shared = i;
        if (a[i] != b[i] || a[i] == '\0')
            return shared;
    }
}

fer_status fer_path_shorten(const char *folder, const char *path, char **out_path, fer_error *error)
{
    *out_path = NULL;
    size_t shared = shared_length(folder, path);
    fer_text relative = FER_TEXT_INIT;
    for (const char *p = folder + shared; *p != '\0'; p++)
        if (p[0] == '/' && p[1] != '\0')
            fer_text_append(&relative, relative.length == 0 ? ".." : "/..");
    const char *rest = path + shared + (path[shared] == '/');
    if (*rest != '\0')
        fer_text_printf(&relative, relative.length == 0 ? "%s" : "/%s", rest);
    else if (relative.length == 0)
        fer_text_append_char(&relative, '.');
    if (!relative.has_failed && relative.length < strlen(path))
        return fer_text_take(&relative, out_path, error);
    bool has_failed = relative.has_failed;
    fer_text_free(&relative);
    return has_failed ? fer_fail_memory(error) : fer_copy_string(path, out_path, error);
}

fer_status fer_path_folder(const char *path, char **out_folder, fer_error *error)
{
    const char *slash = strrchr(path, '/');
    fer_text folder = FER_TEXT_INIT;
    if (slash == NULL)
        fer_text_append_char(&folder, '.');
    else
        fer_text_append_bytes(&folder, path, slash == path ? 1 : (size_t)(slash - path));
    return fer_text_take(&folder, out_folder, error);
}

static fer_status fail_io(fer_error *error, const char *path, const char *what)
{
    if (errno == ENOMEM)
        return fer_fail_memory(error);
    return fer_fail(error, FER_IO_ERROR, "%s: cannot %s: %s", path, what, strerror(errno));
}

fer_status fer_file_read(const char *path, char **out_data, size_t *out_size, fer_error *error)
{
    *out_data = NULL;
    *out_size = 0;
    fer_status status = FER_OK;
    char *data = NULL;
    size_t size = 0;
    size_t capacity = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        status = fail_io(error, path, "open");
        goto done;
    }
    /* One byte more than the size, so that a file that does not grow is read in two calls. Not
     * trusted: what is no regular file has no size. */
    capacity = about.st_size > 0 ? (size_t)about.st_size + 2 : 4096;
    for (;;) {
        char *larger = data == NULL || size + 1 == capacity
                           ? realloc(data, data == NULL ? capacity : (capacity *= 2))
                           : data;
        if (larger == NULL) {
            status = fer_fail_memory(error);
            goto done;
        }
        data = larger;
        ssize_t count = read(file, data + size, capacity - size - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            status = fail_io(error, path, "read");
            goto done;
        }
        if (count == 0)
            break;
        size += (size_t)count;
    }
    data[size] = '\0';
    *out_data = data;
    *out_size = size;
    data = NULL;

done:
    if (file >= 0)
        close(file);
    free(data);
    return status;
}

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t count = write(file, data, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        data += count;
        size -= (size_t)count;
    }
    return true;
}

fer_status fer_file_write(const char *path, const void *data, size_t size, fer_error *error)
{
    return fer_file_write_parts(path, &(fer_bytes){data, size}, 1, error);
}

fer_status fer_file_write_parts(const char *path, const fer_bytes *parts, size_t num_parts,
                                fer_error *error)
{
    fer_status status = FER_OK;
    int file = -1;
    char *temporary = NULL;
    fer_text name = FER_TEXT_INIT;
    fer_text_printf(&name, "%s.XXXXXX", path);
    FER_TRY_DONE(fer_text_take(&name, &temporary, error));
    file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        status = fail_io(error, path, "write");
        goto done;
    }
    mode_t mask = umask(0);
    umask(mask);
    bool is_written = fchmod(file, 0666 & ~mask) == 0;
    for (size_t i = 0; i < num_parts && is_written; i++)
        is_written = write_all(file, parts[i].data, parts[i].size);
    is_written = close(file) == 0 && is_written;
    if (!is_written || rename(temporary, path) != 0) {
        status = fail_io(error, path, "write");
        unlink(temporary);
    }

done:
    free(temporary);
    return status;
}

fer_status fer_folder_make(const char *path, fer_error *error)
{
    char *copy = NULL;
    FER_TRY(fer_copy_string(path, &copy, error));
    fer_status status = FER_OK;
    for (char *p = copy + 1; status == FER_OK; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char kept = *p;
        *p = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            status = fail_io(error, copy, "make the folder");
        *p = kept;
        if (kept == '\0')
            break;
    }
    free(copy);
    return status;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *position)
{
    (void)about;
    (void)kind;
    (void)position;
    (void)!remove(path); /* a leftover is harmless, and the rest still goes */
    return 0;
}

void fer_folder_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
