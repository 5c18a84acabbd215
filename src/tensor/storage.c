/* The life of a tensor: one block for header and data, one count of references. */
#include "tensor/foreign.h"
#include "tensor/pool.h"
#include "tensor/small.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

#define DATA_ALIGNMENT 64

const fer_dl_dtype fer_dl_dtypes[FER_NUM_DTYPES] = {
    [FER_BOOL] = {6, 8, 1}, [FER_I8] = {0, 8, 1},        [FER_I16] = {0, 16, 1},
    [FER_I32] = {0, 32, 1}, [FER_I64] = {0, 64, 1},      [FER_U8] = {1, 8, 1},
    [FER_U16] = {1, 16, 1}, [FER_U32] = {1, 32, 1},      [FER_U64] = {1, 64, 1},
    [FER_F16] = {2, 16, 1}, [FER_BF16] = {4, 16, 1},     [FER_F32] = {2, 32, 1},
    [FER_F64] = {2, 64, 1}, [FER_F8E4M3FN] = {10, 8, 1}, [FER_F8E5M2] = {12, 8, 1},
};

#define HEADER_BYTES (sizeof(fer_tensor) + DATA_ALIGNMENT - 1)

_Static_assert(HEADER_BYTES <= FER_POOL_SLACK_BYTES, "elements of a round size stay in its class");

/* A block for the header and `num_bytes` of elements, or NULL. It says itself where it came from.
 */
static inline fer_tensor *take_block(size_t num_bytes, bool is_zeroed)
{
    size_t size;
    if (__builtin_add_overflow(num_bytes, HEADER_BYTES, &size))
        return NULL;
    fer_tensor *tensor;
    fer_block_origin origin = FER_BLOCK_MALLOC;
    if (fer_small_takes(size)) {
        origin = FER_BLOCK_SMALL;
        tensor = fer_small_allocate();
        if (tensor != NULL && is_zeroed)
            memset(tensor, 0, size);
    } else if (fer_pool_takes(size)) {
        origin = FER_BLOCK_POOL;
        tensor = fer_pool_allocate(size, is_zeroed);
    } else {
        tensor = is_zeroed ? calloc(1, size) : malloc(size);
    }
    if (tensor != NULL)
        tensor->origin = (uint8_t)origin;
    return tensor;
}

static inline void give_block(fer_tensor *tensor)
{
    if (tensor->origin == FER_BLOCK_SMALL)
        fer_small_release(tensor);
    else if (tensor->origin == FER_BLOCK_POOL)
        fer_pool_release(tensor, tensor->num_bytes + HEADER_BYTES);
    else
        free(tensor);
}

/* The first boundary behind the header; HEADER_BYTES left room for it. */
static void *data_behind(fer_tensor *tensor)
{
    uintptr_t end = (uintptr_t)(tensor + 1);
    return (char *)(tensor + 1) + (-end & (DATA_ALIGNMENT - 1));
}

/* Every member that is read is written, but the origin, and extents only up to the rank: this is on
 * the path of every call. */
static void start_header(fer_tensor *tensor, fer_dtype dtype, size_t rank, const int64_t *extents,
                         int32_t device, int64_t num_elements, size_t num_bytes)
{
    atomic_init(&tensor->references, 1);
    tensor->dtype = (uint8_t)dtype;
    tensor->rank = (uint8_t)rank;
    tensor->is_read_only = false;
    tensor->call_dtype = (uint8_t)dtype;
    tensor->dl = (fer_dl_tensor){
        .data = data_behind(tensor),
        .device = {.device_type = 1, .device_id = device},
        .ndim = (int32_t)rank,
        .dtype = fer_dl_dtype_of(dtype),
        .shape = tensor->extents,
    };
    for (size_t i = 0; i < rank; i++)
        tensor->extents[i] = extents[i];
    tensor->num_elements = num_elements;
    tensor->num_bytes = num_bytes;
    tensor->deleter = NULL;
}

fer_tensor *fer_tensor_allocate(fer_dtype dtype, size_t rank, const int64_t *extents,
                                int32_t device, int64_t num_elements, size_t num_bytes)
{
    fer_tensor *tensor = take_block(num_bytes, false);
    if (tensor != NULL)
        start_header(tensor, dtype, rank, extents, device, num_elements, num_bytes);
    return tensor;
}

fer_tensor *fer_tensor_allocate_zeroed(fer_dtype dtype, size_t rank, const int64_t *extents,
                                       int32_t device, int64_t num_elements, size_t num_bytes)
{
    fer_tensor *tensor = take_block(num_bytes, true);
    if (tensor != NULL)
        start_header(tensor, dtype, rank, extents, device, num_elements, num_bytes);
    return tensor;
}

fer_tensor *fer_tensor_retain(const fer_tensor *tensor)
{
    fer_tensor *shared = (fer_tensor *)(uintptr_t)tensor;
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    return shared;
}

static void destroy(fer_tensor *tensor)
{
    if (tensor->deleter != NULL)
        tensor->deleter(tensor->context);
    give_block(tensor);
}

void fer_tensor_release(fer_tensor *tensor)
{
    if (tensor == NULL)
        return;
    /* Who holds the only reference needs no atomic subtraction: nobody else can make another. */
    if (atomic_load_explicit(&tensor->references, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) == 1)
        destroy(tensor);
}

fer_dtype fer_tensor_dtype(const fer_tensor *tensor)
{
    return (fer_dtype)tensor->dtype;
}

size_t fer_tensor_rank(const fer_tensor *tensor)
{
    return tensor->rank;
}

const int64_t *fer_tensor_shape(const fer_tensor *tensor)
{
    return tensor->extents;
}

int64_t fer_tensor_num_elements(const fer_tensor *tensor)
{
    return tensor->num_elements;
}

size_t fer_tensor_num_bytes(const fer_tensor *tensor)
{
    return tensor->num_bytes;
}

fer_device fer_tensor_device(const fer_tensor *tensor)
{
    return (fer_device){.id = tensor->dl.device.device_id};
}

bool fer_tensor_is_read_only(const fer_tensor *tensor)
{
    return tensor->is_read_only;
}

bool fer_tensor_is_compact(const fer_tensor *tensor)
{
    return tensor->dl.strides == NULL;
}

void fer_tensor_strides(const fer_tensor *tensor, int64_t *out_strides)
{
    fer_strided view = fer_strided_of(tensor);
    for (size_t i = 0; i < view.rank; i++)
        out_strides[i] = view.strides[i];
}

void *fer_tensor_data(fer_tensor *tensor)
{
    return tensor->dl.data;
}

const void *fer_tensor_const_data(const fer_tensor *tensor)
{
    return tensor->dl.data;
}

fer_status fer_tensor_type(const fer_tensor *tensor, fer_type **out_type, fer_error *error)
{
    *out_type = NULL;
    fer_status status = FER_OK;
    fer_dim *dims[FER_MAX_RANK] = {NULL};
    for (size_t i = 0; i < tensor->rank; i++)
        FER_TRY_DONE(fer_dim_constant(tensor->extents[i], &dims[i], error));
    status = fer_type_create((fer_dtype)tensor->dtype, tensor->rank, (const fer_dim *const *)dims,
                             fer_tensor_device(tensor), out_type, error);

done:
    for (size_t i = 0; i < tensor->rank; i++)
        fer_dim_release(dims[i]);
    return status;
}
