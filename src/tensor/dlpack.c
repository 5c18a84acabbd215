/* DLPack in both directions. A struct that comes in was written by somebody else: each number in it
 * is checked before it is used, and only what lies behind its pointers is taken on trust. */
#include <ferrule/dlpack.h>

#include "base/arithmetic.h"
#include "tensor/foreign.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <stdlib.h>

#define HOST_DEVICE 1

_Static_assert(sizeof(void *) == 8 && sizeof(fer_dl_tensor) == 48 &&
                   sizeof(fer_dl_managed_tensor) == 64 &&
                   sizeof(fer_dl_managed_tensor_versioned) == 80 &&
                   offsetof(fer_dl_managed_tensor_versioned, dl_tensor) == 32,
               "DLPack's layout, member for member");

/* What both generations say, and how their struct is given back. */
typedef struct source {
    const fer_dl_tensor *dl;
    bool is_read_only;
    void (*give_back)(void *managed);
    void *managed;
} source;

static const char *const DEVICE_NAMES[] = {
    [2] = "cuda",    [3] = "cuda_host", [4] = "opencl",     [7] = "vulkan",   [8] = "metal",
    [9] = "vpi",     [10] = "rocm",     [11] = "rocm_host", [12] = "ext_dev", [13] = "cuda_managed",
    [14] = "oneapi", [15] = "webgpu",   [16] = "hexagon",   [17] = "maia",    [18] = "trn",
};
#define NUM_DEVICE_NAMES (sizeof DEVICE_NAMES / sizeof *DEVICE_NAMES)

static fer_status check_device(fer_dl_device device, fer_error *error)
{
    if (device.device_type == HOST_DEVICE)
        return FER_OK;
    size_t index = (size_t)device.device_type; /* a negative one is beyond every name */
    if (index < NUM_DEVICE_NAMES && DEVICE_NAMES[index] != NULL)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "the DLPack tensor is on %s device %" PRId32
                        ", and only host memory is taken; insert an explicit transfer",
                        DEVICE_NAMES[index], device.device_id);
    return fer_fail(error, FER_UNSUPPORTED_ERROR,
                    "the DLPack tensor is on a device of the unknown type %" PRId32
                    ", and only host memory is taken",
                    device.device_type);
}

static fer_status read_dtype(fer_dl_dtype given, fer_dtype *out_dtype, fer_error *error)
{
    *out_dtype = fer_dtype_from_dlpack(given.code, given.bits, 1);
    if (*out_dtype == FER_DTYPE_INVALID)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a DLPack tensor with elements of type code %u and %u bits is not "
                        "supported",
                        given.code, given.bits);
    if (given.lanes != 1)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a DLPack tensor with elements of %u lanes is not supported, only 1; make "
                        "the lanes a last axis",
                        given.lanes);
    return FER_OK;
}

static fer_status read_shape(const fer_dl_tensor *dl, fer_strided *view, fer_error *error)
{
    if (dl->ndim < 0)
        return fer_fail(error, FER_VALUE_ERROR, "the DLPack tensor has rank %" PRId32, dl->ndim);
    if (dl->ndim > FER_MAX_RANK)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a DLPack tensor of rank %" PRId32 " is not supported, only up to %d",
                        dl->ndim, FER_MAX_RANK);
    if (dl->ndim > 0 && dl->shape == NULL)
        return fer_fail(error, FER_VALUE_ERROR,
                        "the DLPack tensor of rank %" PRId32 " has no shape", dl->ndim);
    view->rank = (size_t)dl->ndim;
    for (size_t i = 0; i < view->rank; i++) {
        view->shape[i] = dl->shape[i];
        if (dl->shape[i] < 0)
            return fer_fail_at(
                error, FER_VALUE_ERROR, &(fer_place){.has_axis = true, .axis = (int)i},
                "the DLPack tensor's axis %zu is %" PRId64 ", and an extent is never negative", i,
                dl->shape[i]);
    }
    return FER_OK;
}

/* Finds the first element; none of them may lie outside the address space. */
static fer_status locate(const fer_dl_tensor *dl, fer_strided *view, fer_error *error)
{
    if (dl->data == NULL)
        return fer_fail(error, FER_VALUE_ERROR, "the DLPack tensor has elements, but no data");
    uintptr_t first, end;
    int64_t below, above;
    if (__builtin_add_overflow((uintptr_t)dl->data, dl->byte_offset, &first) ||
        !fer_strided_reach(view, &below, &above) || first < 0 - (uint64_t)below ||
        __builtin_add_overflow(first, (uint64_t)above, &end))
        return fer_fail(error, FER_OVERFLOW_ERROR,
                        "the DLPack tensor's shape, strides and byte_offset lead outside the "
                        "address space");
    view->data = (const char *)dl->data + dl->byte_offset;
    return FER_OK;
}

static fer_status read_view(const fer_dl_tensor *dl, fer_strided *view, fer_error *error)
{
    FER_TRY(read_shape(dl, view, error));
    int64_t num_elements;
    if (!fer_count_elements(view->shape, view->rank, &num_elements))
        return fer_fail(error, FER_OVERFLOW_ERROR,
                        "the DLPack tensor's shape has more elements than 64 bits count");
    fer_strided_fill(view);
    if (num_elements == 0)
        return FER_OK; /* whatever its data and strides are: nothing is behind them */
    for (size_t i = 0; i < view->rank && dl->strides != NULL; i++)
        if (view->shape[i] != 1) /* else whatever it is: nobody steps by it */
            view->strides[i] = dl->strides[i];
    return locate(dl, view, error);
}

/* Most tensors: their elements can be used as they lie, and one look over the axes shows it. False:
 * read_view judges. */
static bool is_plain(const fer_dl_tensor *dl, size_t element_bytes)
{
    int64_t stride = 1;
    if (dl->data == NULL || dl->byte_offset != 0 ||
        ((uintptr_t)dl->data & (element_bytes - 1)) != 0 || dl->ndim < 0 ||
        dl->ndim > FER_MAX_RANK || (dl->ndim > 0 && dl->shape == NULL))
        return false;
    for (int i = dl->ndim; i-- > 0;) {
        int64_t extent = dl->shape[i];
        if (extent <= 0 || (dl->strides != NULL && dl->strides[i] != stride && extent != 1) ||
            __builtin_mul_overflow(stride, extent, &stride))
            return false;
    }
    uintptr_t num_bytes, end;
    return !__builtin_mul_overflow(element_bytes, stride, &num_bytes) &&
           !__builtin_add_overflow((uintptr_t)dl->data, num_bytes, &end);
}

static fer_status import_copy(const source *from, const fer_strided *view, fer_dtype dtype,
                              fer_tensor **out_tensor, fer_error *error)
{
    fer_tensor *tensor;
    FER_TRY(fer_tensor_empty(dtype, view->rank, view->shape,
                             (fer_device){.id = from->dl->device.device_id}, &tensor, error));
    fer_strided_copy(tensor->dl.data, view);
    fer_tensor_normalise_bools(tensor);
    from->give_back(from->managed);
    *out_tensor = tensor;
    return FER_OK;
}

static fer_status import(const source *from, fer_dl_copy copy, fer_tensor **out_tensor,
                         fer_error *error)
{
    fer_dtype dtype;
    FER_TRY(check_device(from->dl->device, error));
    FER_TRY(read_dtype(from->dl->dtype, &dtype, error));
    size_t element_bytes = fer_dtype_bytes(dtype);
    fer_device device = {.id = from->dl->device.device_id};
    if ((copy == FER_DL_COPY_IF_NEEDED || copy == FER_DL_COPY_NEVER) &&
        is_plain(from->dl, element_bytes))
        return fer_tensor_borrow(dtype, (size_t)from->dl->ndim, from->dl->shape, from->dl->data,
                                 from->is_read_only, device, from->give_back, from->managed,
                                 out_tensor, error);
    fer_strided view = {.element_bytes = element_bytes};
    FER_TRY(read_view(from->dl, &view, error));

    bool is_compact = fer_strided_is_compact(&view);
    bool is_as_kernels_need = is_compact && (uintptr_t)view.data % view.element_bytes == 0;
    switch (copy) {
    case FER_DL_COPY_ALWAYS:
        return import_copy(from, &view, dtype, out_tensor, error);
    case FER_DL_COPY_IF_NEEDED:
        break;
    case FER_DL_COPY_NEVER:
        if (!is_as_kernels_need)
            return fer_fail(error, FER_VALUE_ERROR,
                            "the DLPack tensor is not %s and cannot be used in place; allow a copy",
                            is_compact ? "aligned for its dtype" : "compact row-major");
        break;
    default:
        return fer_fail(error, FER_VALUE_ERROR, "the number %d says nothing about copies",
                        (int)copy);
    }
    return fer_tensor_borrow_strided(dtype, view.rank, view.shape,
                                     is_as_kernels_need ? NULL : view.strides,
                                     (void *)(uintptr_t)view.data, from->is_read_only, device,
                                     from->give_back, from->managed, out_tensor, error);
}

static void delete_managed(void *managed)
{
    fer_dl_managed_tensor *self = managed;
    if (self->deleter != NULL)
        self->deleter(self);
}

static void delete_versioned(void *managed)
{
    fer_dl_managed_tensor_versioned *self = managed;
    if (self->deleter != NULL)
        self->deleter(self);
}

fer_status fer_tensor_from_dlpack(fer_dl_managed_tensor *managed, fer_dl_copy copy,
                                  fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    source from = {.dl = &managed->dl_tensor, .give_back = delete_managed, .managed = managed};
    return import(&from, copy, out_tensor, error);
}

fer_status fer_tensor_from_dlpack_versioned(fer_dl_managed_tensor_versioned *managed,
                                            fer_dl_copy copy, fer_tensor **out_tensor,
                                            fer_error *error)
{
    *out_tensor = NULL;
    if (managed->version.major != FER_DL_VERSION_MAJOR)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a DLPack tensor of version %" PRIu32 ".%" PRIu32
                        " is not supported, only versions %d.x",
                        managed->version.major, managed->version.minor, FER_DL_VERSION_MAJOR);
    source from = {.dl = &managed->dl_tensor,
                   .is_read_only = (managed->flags & FER_DL_READ_ONLY) != 0,
                   .give_back = delete_versioned,
                   .managed = managed};
    return import(&from, copy, out_tensor, error);
}

/* What an exported struct lies in; it holds one reference to its tensor. */
typedef struct offer {
    union {
        fer_dl_managed_tensor old;
        fer_dl_managed_tensor_versioned versioned;
    } managed;
    fer_tensor *tensor;
    int64_t shape[FER_MAX_RANK]; /* the consumer's own, should it change it */
    int64_t strides[FER_MAX_RANK];
} offer;

static void delete_offer(offer *made)
{
    fer_tensor_release(made->tensor);
    free(made);
}

static void delete_old_offer(fer_dl_managed_tensor *self)
{
    delete_offer(self->manager_ctx);
}

static void delete_versioned_offer(fer_dl_managed_tensor_versioned *self)
{
    delete_offer(self->manager_ctx);
}

static fer_status make_offer(fer_tensor *tensor, bool as_copy, offer **out_offer, fer_error *error)
{
    fer_tensor *held;
    if (as_copy)
        FER_TRY(fer_tensor_clone(tensor, fer_tensor_device(tensor), &held, error));
    else
        held = fer_tensor_retain(tensor);
    offer *made = calloc(1, sizeof *made);
    if (made == NULL) {
        fer_tensor_release(held);
        return fer_fail_memory(error);
    }
    made->tensor = held;
    *out_offer = made;
    return FER_OK;
}

/* The tensor as the consumer sees it; what it points to lives as long as the offer. */
static fer_dl_tensor describe(offer *made)
{
    const fer_tensor *tensor = made->tensor;
    for (size_t i = 0; i < tensor->rank; i++)
        made->shape[i] = tensor->extents[i];
    fer_tensor_strides(tensor, made->strides);
    fer_dl_tensor dl = tensor->dl;
    dl.shape = made->shape;
    dl.strides = made->strides;
    if (tensor->num_elements == 0)
        dl.data = NULL;
    return dl;
}

fer_status fer_tensor_to_dlpack(fer_tensor *tensor, bool as_copy,
                                fer_dl_managed_tensor **out_managed, fer_error *error)
{
    *out_managed = NULL;
    if (tensor->is_read_only && !as_copy)
        return fer_fail(error, FER_VALUE_ERROR,
                        "the tensor is read-only, and DLPack before its version 1 cannot say so; "
                        "export it versioned, or as a copy");
    offer *made = NULL;
    FER_TRY(make_offer(tensor, as_copy, &made, error));
    made->managed.old = (fer_dl_managed_tensor){
        .dl_tensor = describe(made), .manager_ctx = made, .deleter = delete_old_offer};
    *out_managed = &made->managed.old;
    return FER_OK;
}

fer_status fer_tensor_to_dlpack_versioned(fer_tensor *tensor, bool as_copy,
                                          fer_dl_managed_tensor_versioned **out_managed,
                                          fer_error *error)
{
    *out_managed = NULL;
    offer *made = NULL;
    FER_TRY(make_offer(tensor, as_copy, &made, error));
    made->managed.versioned = (fer_dl_managed_tensor_versioned){
        .version = {FER_DL_VERSION_MAJOR, FER_DL_VERSION_MINOR},
        .manager_ctx = made,
        .deleter = delete_versioned_offer,
        .flags =
            (made->tensor->is_read_only ? FER_DL_READ_ONLY : 0) | (as_copy ? FER_DL_IS_COPIED : 0),
        .dl_tensor = describe(made),
    };
    *out_managed = &made->managed.versioned;
    return FER_OK;
}
