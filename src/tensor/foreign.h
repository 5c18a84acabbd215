/* Elements as others lay them out: strided, in the other byte order, bools of any byte. What
 * kernels are given is compact row-major in memory's order; the copies are made here. */
#ifndef FERRULE_TENSOR_FOREIGN_H
#define FERRULE_TENSOR_FOREIGN_H

#include <ferrule/tensor.h>

typedef struct fer_strided {
    const void *data; /* the element at index 0 of every axis; any alignment */
    size_t element_bytes;
    size_t rank;
    int64_t shape[FER_MAX_RANK];
    int64_t strides[FER_MAX_RANK]; /* in elements, of any sign */
} fer_strided;

/* The elements of a tensor, compact or not. */
fer_strided fer_strided_of(const fer_tensor *tensor);

/* Compact row-major strides; the element count fits int64. */
void fer_strided_fill(fer_strided *view);
/* Axes of length 1 and empty views are compact whatever their strides. */
bool fer_strided_is_compact(const fer_strided *view);

/* How far the elements of a view that is not empty reach from `data`, in bytes: down to `below`,
 * which is 0 or negative, and up to `above`, where the next one would lie. False outside int64. */
bool fer_strided_reach(const fer_strided *view, int64_t *out_below, int64_t *out_above);
/* How far an element lies from `data`, in bytes; `index` counts in row-major order. */
int64_t fer_strided_distance(const fer_strided *view, int64_t index);

/* Copies to compact memory, which does not overlap the view. Every element's distance from `data`
 * in bytes fits int64. */
void fer_strided_copy(void *to, const fer_strided *from);

void fer_swap_bytes(void *data, size_t num_elements, size_t element_bytes);

/* Makes each byte of a bool tensor 0 or 1, as C's bool has to be; other tensors stay. */
void fer_tensor_normalise_bools(fer_tensor *tensor);

#endif
