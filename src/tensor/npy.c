/* Files of .npy. A file's own length bounds what is allocated for it: elements that are as kernels
 * need them are read straight into the tensor, or stay in the file; others are converted once. */
#include "tensor/npy.h"

#include "base/path.h"
#include "tensor/foreign.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static fer_status fail_short(fer_error *error, size_t expected, size_t actual)
{
    return fer_fail(error, FER_IO_ERROR,
                    "the .npy file is cut short: %zu bytes of elements, but its shape needs %zu",
                    actual, expected);
}

/* Fortran's order is C's of the axes turned round: the first one is closest together. */
static void copy_fortran(fer_tensor *tensor, const void *data)
{
    fer_strided view = {.data = data,
                        .element_bytes = fer_dtype_bytes((fer_dtype)tensor->dtype),
                        .rank = tensor->rank};
    int64_t stride = 1;
    for (size_t i = 0; i < view.rank; i++) {
        view.shape[i] = tensor->extents[i];
        view.strides[i] = stride;
        stride *= tensor->extents[i];
    }
    fer_strided_copy(tensor->dl.data, &view);
}

/* The elements are in C's order; each one becomes what C reads. */
static void convert_elements(fer_tensor *tensor, const fer_npy_header *header)
{
    if (header->is_big_endian)
        fer_swap_bytes(tensor->dl.data, (size_t)header->num_elements,
                       fer_dtype_bytes(header->dtype));
    fer_tensor_normalise_bools(tensor);
}

static fer_status make_tensor(const fer_npy_header *header, fer_tensor **out_tensor,
                              fer_error *error)
{
    return fer_tensor_empty(header->dtype, header->rank, header->shape, (fer_device){0}, out_tensor,
                            error);
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
    fer_tensor *tensor;
    FER_TRY(make_tensor(&header, &tensor, error));
    if (header.is_fortran)
        copy_fortran(tensor, bytes + header_bytes);
    else if (header.num_bytes > 0)
        memcpy(tensor->dl.data, bytes + header_bytes, header.num_bytes);
    convert_elements(tensor, &header);
    *out_tensor = tensor;
    return FER_OK;
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

static fer_status read_data(int file, void *data, size_t num_bytes, fer_error *error)
{
    size_t count;
    FER_TRY(read_fully(file, data, num_bytes, &count, error));
    return count < num_bytes ? fail_short(error, num_bytes, count) : FER_OK; /* it shrank */
}

static fer_status read_fortran(int file, fer_tensor *tensor, fer_error *error)
{
    void *data = malloc(tensor->num_bytes);
    if (data == NULL)
        return fer_fail_memory(error);
    fer_status status = read_data(file, data, tensor->num_bytes, error);
    if (status == FER_OK)
        copy_fortran(tensor, data);
    free(data);
    return status;
}

static fer_status read_elements(int file, const fer_npy_header *header, fer_tensor **out_tensor,
                                fer_error *error)
{
    fer_tensor *tensor;
    FER_TRY(make_tensor(header, &tensor, error));
    fer_status status = header->is_fortran
                            ? read_fortran(file, tensor, error)
                            : read_data(file, tensor->dl.data, header->num_bytes, error);
    if (status != FER_OK) {
        fer_tensor_release(tensor);
        return status;
    }
    convert_elements(tensor, header);
    *out_tensor = tensor;
    return FER_OK;
}

/* A mapped file from its first byte to its last element. */
typedef struct mapping {
    void *start;
    size_t size;
} mapping;

static void unmap(void *context)
{
    mapping *mapped = context;
    munmap(mapped->start, mapped->size);
    free(mapped);
}

/* Whether the file's bytes serve as they are. A bool's do not: any byte may be in the file. */
static bool can_map(const fer_npy_header *header, size_t header_bytes)
{
    return header->num_bytes > 0 && !header->is_fortran && !header->is_big_endian &&
           header->dtype != FER_BOOL && header_bytes % fer_dtype_bytes(header->dtype) == 0;
}

/* NULL in *out_tensor and no error: this file system cannot map. */
static fer_status map_elements(int file, const fer_npy_header *header, size_t header_bytes,
                               fer_tensor **out_tensor, fer_error *error)
{
    mapping *mapped = malloc(sizeof *mapped);
    if (mapped == NULL)
        return fer_fail_memory(error);
    mapped->size = header_bytes + header->num_bytes; /* within the file's length */
    mapped->start = mmap(NULL, mapped->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped->start == MAP_FAILED) {
        free(mapped);
        return FER_OK;
    }
    fer_status status = fer_tensor_borrow(header->dtype, header->rank, header->shape,
                                          (char *)mapped->start + header_bytes, true,
                                          (fer_device){0}, unmap, mapped, out_tensor, error);
    if (status != FER_OK)
        unmap(mapped);
    return status;
}

static fer_status load_regular(int file, size_t file_bytes, bool may_map, fer_tensor **out_tensor,
                               fer_error *error)
{
    fer_npy_header header;
    size_t header_bytes;
    FER_TRY(read_header(file, file_bytes, &header, &header_bytes, error));
    if (header.num_bytes > file_bytes - header_bytes)
        return fail_short(error, header.num_bytes, file_bytes - header_bytes);
    if (may_map && can_map(&header, header_bytes))
        FER_TRY(map_elements(file, &header, header_bytes, out_tensor, error));
    return *out_tensor != NULL ? FER_OK : read_elements(file, &header, out_tensor, error);
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

/* Not waiting makes no difference to a regular file, and lets a pipe be told from one. */
static fer_status load_file(const char *path, bool may_map, fer_tensor **out_tensor,
                            fer_error *error)
{
    *out_tensor = NULL;
    struct stat about;
    fer_status status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return fer_fail(error, FER_IO_ERROR, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(file, &about) != 0)
        status = fer_fail(error, FER_IO_ERROR, "cannot read: %s", strerror(errno));
    else if (!S_ISREG(about.st_mode))
        status = fer_fail(error, FER_IO_ERROR, "cannot read: not a regular file");
    else
        status = load_regular(file, (size_t)about.st_size, may_map, out_tensor, error);
    close(file);
    return status == FER_OK ? FER_OK : fer_error_prepend(error, status, "%s: ", path);
}

static fer_status load(const char *path, bool may_map, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return read_stream(path, out_tensor, error);
    return load_file(path, may_map, out_tensor, error);
}

fer_status fer_npy_read(const char *path, fer_tensor **out_tensor, fer_error *error)
{
    return load(path, false, out_tensor, error);
}

fer_status fer_npy_map(const char *path, fer_tensor **out_tensor, fer_error *error)
{
    fer_status status = load(path, true, out_tensor, error);
    if (status == FER_OK)
        (*out_tensor)->is_read_only = true;
    return status;
}

fer_status fer_npy_map_regular(const char *path, fer_tensor **out_tensor, fer_error *error)
{
    fer_status status = load_file(path, true, out_tensor, error);
    if (status == FER_OK)
        (*out_tensor)->is_read_only = true;
    return status;
}

fer_status fer_npy_write(const char *path, const fer_tensor *tensor, fer_error *error)
{
    char *header;
    size_t header_bytes;
    fer_status status = fer_npy_format(tensor, &header, &header_bytes, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "%s: ", path);
    fer_tensor *compact = NULL;
    FER_TRY_DONE(fer_tensor_compact(tensor, &compact, error));
    fer_bytes parts[] = {{header, header_bytes}, {compact->dl.data, compact->num_bytes}};
    status = fer_file_write_parts(path, parts, 2, error);

done:
    fer_tensor_release(compact);
    free(header);
    return status;
}
