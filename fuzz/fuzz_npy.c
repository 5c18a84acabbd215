/* A .npy file, in memory, read from disk and mapped: nothing in it may crash, the three agree, each
 * element is the file's, and what is read has a header that is read back equal. */
#include "tensor/npy.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_header_returns(const fer_tensor *tensor)
{
    char *bytes = NULL;
    size_t size = 0;
    fer_npy_header header;
    require(fer_npy_format(tensor, &bytes, &size, NULL) == FER_OK);
    require(fer_npy_parse((const unsigned char *)bytes, size, &header, NULL) == FER_OK);
    require(header.dtype == fer_tensor_dtype(tensor));
    require(header.rank == fer_tensor_rank(tensor));
    require(memcmp(header.shape, fer_tensor_shape(tensor), header.rank * sizeof *header.shape) ==
            0);
    require(!header.is_fortran && !header.is_big_endian);
    free(bytes);
}

/* Where the file has the element with this number in C's order, counted in elements. */
static int64_t place_in_file(const fer_npy_header *header, int64_t number)
{
    if (!header->is_fortran)
        return number;
    int64_t index[FER_MAX_RANK];
    for (size_t i = header->rank; i-- > 0;) {
        index[i] = number % header->shape[i];
        number /= header->shape[i];
    }
    int64_t place = 0;
    for (size_t i = header->rank; i-- > 0;)
        place = place * header->shape[i] + index[i];
    return place;
}

static void check_elements(const fer_tensor *tensor, const uint8_t *data, size_t size)
{
    size_t header_bytes;
    fer_npy_header header;
    require(fer_npy_measure(data, size, &header_bytes, NULL) == FER_OK);
    require(fer_npy_parse(data, header_bytes, &header, NULL) == FER_OK);
    const uint8_t *elements = fer_tensor_const_data(tensor);
    size_t element_bytes = fer_dtype_bytes(header.dtype);
    for (int64_t i = 0; i < header.num_elements && i < 4096; i++) {
        const uint8_t *given =
            data + header_bytes + (size_t)place_in_file(&header, i) * element_bytes;
        for (size_t k = 0; k < element_bytes; k++) {
            uint8_t byte = given[header.is_big_endian ? element_bytes - 1 - k : k];
            uint8_t expected = header.dtype == FER_BOOL ? byte != 0 : byte;
            require(elements[(size_t)i * element_bytes + k] == expected);
        }
    }
}

/* The path of a file with these bytes. */
static const char *write_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[32];
    if (file < 0) {
        file = memfd_create("npy", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/dev/fd/%d", file);
    }
    require(ftruncate(file, 0) == 0);
    require(pwrite(file, data, size, 0) == (ssize_t)size);
    return path;
}

static void check_agrees(fer_status expected, const fer_tensor *tensor, fer_status status,
                         fer_tensor *again)
{
    require(status == expected);
    require((again != NULL) == (status == FER_OK));
    if (again != NULL && fer_tensor_num_bytes(tensor) > 0)
        require(memcmp(fer_tensor_const_data(again), fer_tensor_const_data(tensor),
                       fer_tensor_num_bytes(tensor)) == 0);
    fer_tensor_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_tensor *again = NULL;
    fer_status status = fer_npy_decode(data, size, &tensor, &error);
    if (status == FER_OK) {
        check_header_returns(tensor);
        check_elements(tensor, data, size);
    } else {
        require(error.message != NULL && tensor == NULL);
    }
    const char *path = write_file(data, size);
    check_agrees(status, tensor, fer_npy_read(path, &again, NULL), again);
    fer_status mapped = fer_npy_map(path, &again, NULL);
    require(again == NULL || fer_tensor_is_read_only(again));
    check_agrees(status, tensor, mapped, again);
    fer_tensor_release(tensor);
    fer_error_clear(&error);
    return 0;
}
