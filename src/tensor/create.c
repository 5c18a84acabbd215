/* Making tensors: every path checks its layout here, once, before anything is allocated. */
#include "base/arithmetic.h"
#include "tensor/foreign.h"
#include "tensor/number.h"
#include "tensor/tensor.h"
#include "types/device.h"
#include "types/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a tensor will be; good for fer_tensor_allocate once check_layout has passed it. */
typedef struct layout {
    fer_dtype dtype;
    size_t rank;
    const int64_t *shape;
    fer_device device;
    int64_t num_elements;
    size_t num_bytes;
} layout;

static fer_status fail_extent(size_t axis, int64_t extent, fer_error *error)
{
    char actual[24];
    snprintf(actual, sizeof actual, "%" PRId64, extent);
    fer_place place = {
        .has_axis = true, .axis = (int)axis, .expected = "0 or more", .actual = actual};
    return fer_fail_at(error, FER_VALUE_ERROR, &place,
                       "axis %zu is %s; a dim of a tensor is not negative", axis, actual);
}

/* Of a dtype that is one: a power of two. */
static inline size_t element_bytes_of(fer_dtype dtype)
{
    return fer_dl_dtype_of(dtype).bits / 8u;
}

static fer_status check_extents(layout *made, fer_error *error)
{
    if (made->rank > FER_MAX_RANK)
        return fer_fail(error, FER_VALUE_ERROR, "a tensor of rank %zu: the highest rank is %d",
                        made->rank, FER_MAX_RANK);
    if (made->rank > 0 && made->shape == NULL)
        return fer_fail(error, FER_VALUE_ERROR, "a tensor of rank %zu needs a shape", made->rank);
    for (size_t i = 0; i < made->rank; i++) {
        if (made->shape[i] < 0)
            return fail_extent(i, made->shape[i], error);
    }
    int64_t num_bytes;
    if (!fer_count_elements(made->shape, made->rank, &made->num_elements) ||
        __builtin_mul_overflow(made->num_elements, (int64_t)element_bytes_of(made->dtype),
                               &num_bytes))
        return fer_fail(error, FER_OVERFLOW_ERROR,
                        "a tensor of that shape has more bytes than 64 bits count");
    made->num_bytes = (size_t)num_bytes;
    return FER_OK;
}

static fer_status check_layout(layout *made, fer_error *error)
{
    FER_TRY(fer_dtype_check(made->dtype, error));
    FER_TRY(check_extents(made, error));
    return fer_device_check(made->device, error);
}

static fer_status allocate(const layout *made, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = fer_tensor_allocate(made->dtype, made->rank, made->shape, made->device.id,
                                      made->num_elements, made->num_bytes);
    return *out_tensor == NULL ? fer_fail_memory(error) : FER_OK;
}

static fer_status allocate_zeroed(const layout *made, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = fer_tensor_allocate_zeroed(made->dtype, made->rank, made->shape, made->device.id,
                                             made->num_elements, made->num_bytes);
    return *out_tensor == NULL ? fer_fail_memory(error) : FER_OK;
}

#define FILL_BYTES 4096 /* a multiple of every element, and small enough to stay in the cache */

/* Repeats one element over the data, by copying what is there already. */
static void fill(char *data, size_t num_bytes, const void *element, size_t element_bytes)
{
    if (num_bytes == 0)
        return;
    memcpy(data, element, element_bytes);
    for (size_t done = element_bytes; done < num_bytes;) {
        size_t count = done < FILL_BYTES ? done : FILL_BYTES;
        if (count > num_bytes - done)
            count = num_bytes - done;
        memcpy(data + done, data, count);
        done += count;
    }
}

static fer_status check_data(const layout *made, const void *data, fer_error *error)
{
    if (data == NULL && made->num_elements > 0)
        return fer_fail(error, FER_VALUE_ERROR, "no data is given for %" PRId64 " element%s",
                        made->num_elements, made->num_elements == 1 ? "" : "s");
    return FER_OK;
}

fer_status fer_tensor_empty(fer_dtype dtype, size_t rank, const int64_t *shape, fer_device device,
                            fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    layout made = {.dtype = dtype, .rank = rank, .shape = shape, .device = device};
    FER_TRY(check_layout(&made, error));
    return allocate(&made, out_tensor, error);
}

fer_status fer_tensor_zeros(fer_dtype dtype, size_t rank, const int64_t *shape, fer_device device,
                            fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    layout made = {.dtype = dtype, .rank = rank, .shape = shape, .device = device};
    FER_TRY(check_layout(&made, error));
    return allocate_zeroed(&made, out_tensor, error);
}

fer_status fer_tensor_ones(fer_dtype dtype, size_t rank, const int64_t *shape, fer_device device,
                           fer_tensor **out_tensor, fer_error *error)
{
    fer_number one = {.kind = FER_NUMBER_INT, .value.as_int = 1};
    if (dtype == FER_BOOL)
        one = (fer_number){.kind = FER_NUMBER_BOOL, .value.as_bool = true};
    return fer_tensor_full(dtype, rank, shape, device, one, out_tensor, error);
}

fer_status fer_tensor_full(fer_dtype dtype, size_t rank, const int64_t *shape, fer_device device,
                           fer_number number, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    layout made = {.dtype = dtype, .rank = rank, .shape = shape, .device = device};
    FER_TRY(check_layout(&made, error));
    static const unsigned char zero[8];
    unsigned char element[8];
    size_t element_bytes = fer_dtype_bytes(dtype);
    FER_TRY(fer_number_store(number, dtype, element, error));
    if (memcmp(element, zero, element_bytes) == 0)
        return allocate_zeroed(&made, out_tensor, error);
    FER_TRY(allocate(&made, out_tensor, error));
    fill((*out_tensor)->dl.data, made.num_bytes, element, element_bytes);
    return FER_OK;
}

fer_status fer_tensor_scalar(fer_dtype dtype, fer_device device, fer_number number,
                             fer_tensor **out_tensor, fer_error *error)
{
    return fer_tensor_full(dtype, 0, NULL, device, number, out_tensor, error);
}

fer_status fer_tensor_copy_from(fer_dtype dtype, size_t rank, const int64_t *shape,
                                const void *data, fer_device device, fer_tensor **out_tensor,
                                fer_error *error)
{
    *out_tensor = NULL;
    layout made = {.dtype = dtype, .rank = rank, .shape = shape, .device = device};
    FER_TRY(check_layout(&made, error));
    FER_TRY(check_data(&made, data, error));
    FER_TRY(allocate(&made, out_tensor, error));
    if (made.num_bytes > 0)
        memcpy((*out_tensor)->dl.data, data, made.num_bytes);
    fer_tensor_normalise_bools(*out_tensor);
    return FER_OK;
}

static fer_status borrow(layout *made, const int64_t *strides, void *data, bool is_read_only,
                         void (*deleter)(void *context), void *context, fer_tensor **out_tensor,
                         fer_error *error)
{
    FER_TRY(check_layout(made, error));
    FER_TRY(check_data(made, data, error));
    size_t strides_bytes = strides == NULL ? 0 : made->rank * sizeof *strides;
    fer_tensor *tensor = fer_tensor_allocate(made->dtype, made->rank, made->shape, made->device.id,
                                             made->num_elements, strides_bytes);
    if (tensor == NULL)
        return fer_fail_memory(error);
    if (strides != NULL) {
        tensor->dl.strides = tensor->dl.data; /* where the elements of its own would be */
        memcpy(tensor->dl.strides, strides, strides_bytes);
        tensor->call_dtype = FER_DTYPE_INVALID;
    }
    tensor->dl.data = data;
    tensor->num_bytes = made->num_bytes;
    tensor->is_read_only = is_read_only;
    tensor->deleter = deleter;
    tensor->context = context;
    *out_tensor = tensor;
    return FER_OK;
}

fer_status fer_tensor_borrow_strided(fer_dtype dtype, size_t rank, const int64_t *shape,
                                     const int64_t *strides, void *data, bool is_read_only,
                                     fer_device device, void (*deleter)(void *context),
                                     void *context, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    layout made = {.dtype = dtype, .rank = rank, .shape = shape, .device = device};
    return borrow(&made, strides, data, is_read_only, deleter, context, out_tensor, error);
}

fer_status fer_tensor_borrow(fer_dtype dtype, size_t rank, const int64_t *shape, void *data,
                             bool is_read_only, fer_device device, void (*deleter)(void *context),
                             void *context, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    layout made = {.dtype = dtype, .rank = rank, .shape = shape, .device = device};
    FER_TRY(fer_dtype_check(dtype, error));
    if (((uintptr_t)data & (element_bytes_of(dtype) - 1)) != 0)
        return fer_fail(error, FER_VALUE_ERROR,
                        "the data is not aligned for %s, whose elements have %zu bytes; copy it "
                        "instead",
                        fer_dtype_name(dtype), element_bytes_of(dtype));
    return borrow(&made, NULL, data, is_read_only, deleter, context, out_tensor, error);
}

fer_status fer_tensor_clone(const fer_tensor *tensor, fer_device device, fer_tensor **out_tensor,
                            fer_error *error)
{
    *out_tensor = NULL;
    fer_tensor *made;
    FER_TRY(fer_tensor_empty((fer_dtype)tensor->dtype, tensor->rank, tensor->extents, device, &made,
                             error));
    fer_strided view = fer_strided_of(tensor);
    fer_strided_copy(made->dl.data, &view);
    fer_tensor_normalise_bools(made);
    *out_tensor = made;
    return FER_OK;
}

fer_status fer_tensor_compact(const fer_tensor *tensor, fer_tensor **out_tensor, fer_error *error)
{
    if (!fer_tensor_is_compact(tensor))
        return fer_tensor_clone(tensor, fer_tensor_device(tensor), out_tensor, error);
    *out_tensor = fer_tensor_retain(tensor);
    return FER_OK;
}
