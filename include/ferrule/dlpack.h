/* DLPack: tensors from and to other libraries, without a copy where that is possible.
 *
 * https://dmlc.github.io/dlpack/latest/. Its structs stand here under names of our own and with its
 * layout, member for member, so that a pointer from its own header (DLManagedTensor *,
 * DLManagedTensorVersioned *) is cast to the one here and back. Both generations are read and
 * written; the versioned one can say that memory is read-only and that it is a copy.
 *
 * Every function here may be called from any thread.
 */
#ifndef FERRULE_DLPACK_H
#define FERRULE_DLPACK_H

#include <ferrule/abi.h>
#include <ferrule/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that exports state. Imports take every minor version of this major one. */
#define FER_DL_VERSION_MAJOR 1
#define FER_DL_VERSION_MINOR 1

#define FER_DL_READ_ONLY ((uint64_t)1 << 0) /* flags: the memory must not be written */
#define FER_DL_IS_COPIED ((uint64_t)1 << 1) /* flags: the producer made a copy for the consumer */

/* DLManagedTensor. Whoever holds it calls `deleter`, unless it is NULL, once, when it no longer
 * needs the memory; the deleter frees the struct too. */
typedef struct fer_dl_managed_tensor fer_dl_managed_tensor;
struct fer_dl_managed_tensor {
    fer_dl_tensor dl_tensor;
    void *manager_ctx; /* the producer's */
    void (*deleter)(fer_dl_managed_tensor *self);
};

typedef struct fer_dl_version {
    uint32_t major;
    uint32_t minor;
} fer_dl_version;

/* DLManagedTensorVersioned. Of another major version only `version`, `manager_ctx` and `deleter`
 * are where they are here. */
typedef struct fer_dl_managed_tensor_versioned fer_dl_managed_tensor_versioned;
struct fer_dl_managed_tensor_versioned {
    fer_dl_version version;
    void *manager_ctx;
    void (*deleter)(fer_dl_managed_tensor_versioned *self);
    uint64_t flags;
    fer_dl_tensor dl_tensor;
};

/* Who copies, and when. Kernels are given memory in place when it is compact row-major (length-1
 * axes and empty tensors may have any strides) and aligned for its dtype. */
typedef enum fer_dl_copy {
    FER_DL_COPY_IF_NEEDED = 0, /* else each call copies, for its kernel and as the elements are
                                  then: the import is in place in any case */
    FER_DL_COPY_NEVER,         /* else VALUE */
    FER_DL_COPY_ALWAYS         /* the import: a compact writable copy of the tensor's own, even of
                                  read-only memory */
} fer_dl_copy;

/* Makes a tensor of a producer's. On success it takes `managed`: the deleter is called exactly
 * once, after a copy at once, else when the last reference to the tensor goes, on the thread that
 * drops it. On failure it takes nothing: the caller still holds `managed` and calls its deleter.
 *
 * The producer answers for the memory: that it is there, that it stays, and that a bool's byte is 0
 * or 1 (a copy makes it so). A read-only tensor, and one that is not compact, is refused as inout
 * operand and as given result.
 *
 * UNSUPPORTED: another device than the host, by name; a dtype that is none of FER_BOOL to
 * FER_F8E5M2, by its code and bits; lanes that are not 1; rank above FER_MAX_RANK; another major
 * version. VALUE: a negative rank or extent, no shape, no data for elements, a device id that does
 * not exist, what FER_DL_COPY_NEVER forbids. OVERFLOW: counts outside int64, strides or a
 * byte_offset that leave the address space. MEMORY. */
FER_API FER_MUST_USE fer_status fer_tensor_from_dlpack(fer_dl_managed_tensor *managed,
                                                       fer_dl_copy copy, fer_tensor **out_tensor,
                                                       fer_error *error);
FER_API FER_MUST_USE fer_status
fer_tensor_from_dlpack_versioned(fer_dl_managed_tensor_versioned *managed, fer_dl_copy copy,
                                 fer_tensor **out_tensor, fer_error *error);

/* Offers a tensor to a consumer: shares its memory, or with `as_copy` a fresh copy of it, which is
 * writable. The caller creates *out_managed and hands it on; its deleter, called once and from any
 * thread, drops what it refers to, and the tensor itself may be released before. Strides are always
 * given, those of an import that is not compact as they came; data is NULL when there are no
 * elements. A copy is compact.
 *
 * The old generation cannot say that memory is read-only, so there a read-only tensor is VALUE
 * unless `as_copy`. MEMORY. */
FER_API FER_MUST_USE fer_status fer_tensor_to_dlpack(fer_tensor *tensor, bool as_copy,
                                                     fer_dl_managed_tensor **out_managed,
                                                     fer_error *error);
FER_API FER_MUST_USE fer_status
fer_tensor_to_dlpack_versioned(fer_tensor *tensor, bool as_copy,
                               fer_dl_managed_tensor_versioned **out_managed, fer_error *error);

#ifdef __cplusplus
}
#endif
#endif
