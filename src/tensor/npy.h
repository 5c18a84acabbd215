/* The .npy format apart from files: https://numpy.org/doc/stable/reference/generated/
 * numpy.lib.format.html */
#ifndef FERRULE_TENSOR_NPY_H
#define FERRULE_TENSOR_NPY_H

#include "base/error.h"
#include <ferrule/tensor.h>

#define FER_NPY_PREFIX 12             /* bytes that fer_npy_measure needs */
#define FER_NPY_MAX_HEADER (1u << 20) /* no header of ours is near; a longer one is refused */

typedef struct fer_npy_header {
    fer_dtype dtype;
    bool is_big_endian;
    bool is_fortran; /* only where that order differs from C's */
    size_t rank;
    int64_t shape[FER_MAX_RANK];
    int64_t num_elements;
    size_t num_bytes; /* of the elements */
} fer_npy_header;

/* The bytes before the elements, from the first `size` bytes of a file, FER_NPY_PREFIX at least
 * unless the file ends there. VALUE: no .npy file. UNSUPPORTED: another version, or a header above
 * FER_NPY_MAX_HEADER. IO: cut short. */
fer_status fer_npy_measure(const unsigned char *bytes, size_t size, size_t *out_header_bytes,
                           fer_error *error);

/* Reads the header, `header_bytes` long by fer_npy_measure. VALUE: malformed. UNSUPPORTED: what
 * fer_npy_read does not take, named. OVERFLOW: a byte count outside int64. */
fer_status fer_npy_parse(const unsigned char *bytes, size_t header_bytes,
                         fer_npy_header *out_header, fer_error *error);

/* The dtype of a file's elements that are of this one: itself, or, as NumPy has no name for bf16
 * and f8, the unsigned integer of its width for its bits. */
fer_dtype fer_npy_stored(fer_dtype dtype);

/* fer_npy_map of a regular file alone, so that no pipe is waited for. IO: what is none. */
fer_status fer_npy_map_regular(const char *path, fer_tensor **out_tensor, fer_error *error);

/* A whole file in memory. */
fer_status fer_npy_decode(const unsigned char *bytes, size_t size, fer_tensor **out_tensor,
                          fer_error *error);

/* The bytes before the elements, as NumPy writes them, for the caller to free. UNSUPPORTED: a dtype
 * that NumPy does not have. */
fer_status fer_npy_format(const fer_tensor *tensor, char **out_bytes, size_t *out_size,
                          fer_error *error);

#endif
