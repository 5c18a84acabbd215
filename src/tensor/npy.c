/* Files of .npy. A file's own length bounds what is allocated for it: elements are read straight
 * into the tensor, and written straight out of it. */
#include "tensor/npy.h"

#include "base/path.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fer_status fail_short(fer_error *error, size_t expected, size_t actual)
{
    return fer_fail(error, FER_IO_ERROR,
                    "the .npy file is cut short: %zu bytes of elements, but its shape needs %zu",
                    actual, expected);
}

/* C's bool has to be 0 or 1, and a file may hold any byte. */
static void normalise_bools(fer_tensor *tensor)
{
    unsigned char *bytes = tensor->dl.data;
    for (size_t i = 0; tensor->dtype == FER_BOOL && i < tensor->num_bytes; i++)
        bytes[i] = bytes[i] != 0;
}

fer_status fer_npy_decode(const unsigned char *bytes, size_t size, fer_tensor **out_tensor,
                          fer_error *error)
{
    *out_tensor = NULL;
    size_t header_bytes;
    fer_npy_header header;
    FER_TRY(fer_npy_measure(bytes, size, &header_bytes, error));
    if (header_bytes > size)
        return fer_fail(error, FER_IO_ERROR, "the .npy file is cut short in its header");
    FER_TRY(fer_npy_parse(bytes, header_bytes, &header, error));
    if (header.num_bytes > size - header_bytes)
        return fail_short(error, header.num_bytes, size - header_bytes);
    return fer_tensor_copy_from(header.dtype, header.rank, header.shape, bytes + header_bytes,
                                (fer_device){0}, out_tensor, error);
}

/* Reads all that was asked for; fewer bytes at the file's end. */
static fer_status read_fully(int file, void *data, size_t size, size_t *out_count, fer_error *error)
{
    size_t count = 0;
    *out_count = 0;
    while (count < size) {
        ssize_t step = read(file, (char *)data + count, size - count);
        if (step < 0 && errno == EINTR)
            continue;
        if (step < 0)
            return fer_fail(error, FER_IO_ERROR, "cannot read: %s", strerror(errno));
        if (step == 0)
            break;
        count += (size_t)step;
    }
    *out_count = count;
    return FER_OK;
}

static fer_status read_header(int file, size_t file_bytes, fer_npy_header *out_header,
                              size_t *out_header_bytes, fer_error *error)
{
    unsigned char prefix[FER_NPY_PREFIX];
    size_t count;
    FER_TRY(read_fully(file, prefix, sizeof prefix, &count, error));
    FER_TRY(fer_npy_measure(prefix, count, out_header_bytes, error));
    size_t size = *out_header_bytes;
    if (size > file_bytes)
        return fer_fail(error, FER_IO_ERROR, "the .npy file is cut short in its header");
    /* A header shorter than the prefix is malformed, and its parser says so. */
    unsigned char *bytes = malloc(size > sizeof prefix ? size : sizeof prefix);
    if (bytes == NULL)
        return fer_fail_memory(error);
    memcpy(bytes, prefix, sizeof prefix);
    size_t rest = size > sizeof prefix ? size - sizeof prefix : 0;
    fer_status status = read_fully(file, bytes + sizeof prefix, rest, &count, error);
    if (status == FER_OK && count < rest)
        status = fer_fail(error, FER_IO_ERROR, "the .npy file is cut short in its header");
    if (status == FER_OK)
        status = fer_npy_parse(bytes, size, out_header, error);
    free(bytes);
    return status;
}

static fer_status read_regular(int file, size_t file_bytes, fer_tensor **out_tensor,
                               fer_error *error)
{
    fer_npy_header header;
    size_t header_bytes;
    FER_TRY(read_header(file, file_bytes, &header, &header_bytes, error));
    if (header.num_bytes > file_bytes - header_bytes)
        return fail_short(error, header.num_bytes, file_bytes - header_bytes);
    fer_tensor *tensor = NULL;
    FER_TRY(
        fer_tensor_empty(header.dtype, header.rank, header.shape, (fer_device){0}, &tensor, error));
    size_t count;
    fer_status status = read_fully(file, tensor->dl.data, header.num_bytes, &count, error);
    if (status == FER_OK && count < header.num_bytes) /* it shrank meanwhile */
        status = fail_short(error, header.num_bytes, count);
    if (status != FER_OK) {
        fer_tensor_release(tensor);
        return status;
    }
    normalise_bools(tensor);
    *out_tensor = tensor;
    return FER_OK;
}

/* A pipe has no length to bound the elements by, so it is read whole before the header is
 * believed. */
static fer_status read_stream(const char *path, fer_tensor **out_tensor, fer_error *error)
{
    char *bytes;
    size_t size;
    FER_TRY(fer_file_read(path, &bytes, &size, error));
    fer_status status = fer_npy_decode((const unsigned char *)bytes, size, out_tensor, error);
    free(bytes);
    return status == FER_OK ? FER_OK : fer_error_prepend(error, status, "%s: ", path);
}

fer_status fer_npy_read(const char *path, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return read_stream(path, out_tensor, error);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fer_fail(error, FER_IO_ERROR, "%s: cannot open: %s", path, strerror(errno));
    fer_status status = fstat(file, &about) == 0
                            ? read_regular(file, (size_t)about.st_size, out_tensor, error)
                            : fer_fail(error, FER_IO_ERROR, "cannot read: %s", strerror(errno));
    close(file);
    return status == FER_OK ? FER_OK : fer_error_prepend(error, status, "%s: ", path);
}

fer_status fer_npy_write(const char *path, const fer_tensor *tensor, fer_error *error)
{
    char *header;
    size_t header_bytes;
    fer_status status = fer_npy_format(tensor, &header, &header_bytes, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "%s: ", path);
    fer_bytes parts[] = {{header, header_bytes}, {tensor->dl.data, tensor->num_bytes}};
    status = fer_file_write_parts(path, parts, 2, error);
    free(header);
    return status;
}
