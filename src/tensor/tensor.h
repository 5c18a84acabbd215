/* The tensor's layout, for the call path. */
#ifndef FERRULE_TENSOR_TENSOR_H
#define FERRULE_TENSOR_TENSOR_H

#include "base/error.h"
#include <ferrule/tensor.h>
#include <stdatomic.h>
#include <stddef.h>

typedef enum fer_block_origin {
    FER_BLOCK_MALLOC = 0,
    FER_BLOCK_SMALL, /* tensor/small.h */
    FER_BLOCK_POOL   /* tensor/pool.h */
} fer_block_origin;

/* Header and data of an owned tensor are one block: the data starts at the first 64-byte boundary
 * after the header. */
struct fer_tensor {
    atomic_uint references;
    uint8_t call_dtype; /* `dtype`, but FER_DTYPE_INVALID when not compact: no plan takes it */
    uint8_t rank;       /* beside it: a call compares the two at once */
    bool is_read_only;
    uint8_t origin;   /* fer_block_origin */
    fer_dl_tensor dl; /* shape points to `extents`; byte_offset 0; strides NULL when compact */
    int64_t extents[FER_MAX_RANK];
    int64_t num_elements;
    size_t num_bytes;
    void (*deleter)(void *context); /* of borrowed data, or NULL */
    void *context;                  /* good when there is a deleter */
    uint8_t dtype;                  /* fer_dtype */
};

/* The tensor whose DLPack part this is. */
static inline const fer_tensor *fer_tensor_of(const fer_dl_tensor *dl)
{
    return (const fer_tensor *)((const char *)dl - offsetof(fer_tensor, dl));
}

/* A new tensor of a type that was checked before: rank, extents and byte count are good. The
 * elements are uninitialised. NULL when there is no memory. */
fer_tensor *fer_tensor_allocate(fer_dtype dtype, size_t rank, const int64_t *extents,
                                int32_t device, int64_t num_elements, size_t num_bytes);
/* The same with every byte 0; a large fresh block touches no page before it is used.
 */
fer_tensor *fer_tensor_allocate_zeroed(fer_dtype dtype, size_t rank, const int64_t *extents,
                                       int32_t device, int64_t num_elements, size_t num_bytes);

/* Gives a compact tensor that nobody else has yet another shape of as many elements. */
void fer_tensor_set_shape(fer_tensor *tensor, size_t rank, const int64_t *extents);

/* fer_tensor_borrow of memory that lies in any way: `strides`, in elements, have been checked to
 * stay in the address space; `data` is the element at index 0 of every axis, of any alignment. */
fer_status fer_tensor_borrow_strided(fer_dtype dtype, size_t rank, const int64_t *shape,
                                     const int64_t *strides, void *data, bool is_read_only,
                                     fer_device device, void (*deleter)(void *context),
                                     void *context, fer_tensor **out_tensor, fer_error *error);

/* Whether there is a byte of both compact tensors. An empty tensor has none, wherever it lies. */
static inline bool fer_compact_tensors_overlap(const fer_tensor *a, const fer_tensor *b)
{
    uintptr_t x = (uintptr_t)a->dl.data;
    uintptr_t y = (uintptr_t)b->dl.data;
    uintptr_t x_end = x + a->num_bytes;
    uintptr_t y_end = y + b->num_bytes;
    return x < y_end && y < x_end && x < x_end && y < y_end;
}

/* The same of any tensors; one that is not compact counts for everything from its lowest to its
 * highest byte. */
bool fer_tensors_overlap(const fer_tensor *a, const fer_tensor *b);

/* DLPack's form of each dtype, as fer_dtype_dlpack_code and fer_dtype_dlpack_bits give it, without
 * their two calls. */
extern const fer_dl_dtype fer_dl_dtypes[FER_NUM_DTYPES];

static inline fer_dl_dtype fer_dl_dtype_of(fer_dtype dtype)
{
    return fer_dl_dtypes[dtype];
}

#endif
