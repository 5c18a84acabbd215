/* The binary interface between Ferrule and compiled kernels: plain structs and one function type.
 *
 * ferrule/kernel.h writes these tables for kernels in C; a package in another language can export
 * one itself. The layout is fixed for FER_ABI_VERSION 1: structs only ever grow at their end, and
 * each one that can grow begins with its own size. This header stands alone.
 */
#ifndef FERRULE_ABI_H
#define FERRULE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FER_ABI_VERSION 1
#define FER_ABI_MAX_TENSORS 16 /* results and operands of one kernel */
#define FER_ABI_MAX_RANK 8
#define FER_ABI_ANY_RANK (-1)

/* DLPack's layout of a tensor, member for member (DLDataType, DLDevice, DLTensor). */
typedef struct fer_dl_dtype {
    uint8_t code; /* 0 int, 1 unsigned, 2 float, 4 bfloat, 6 bool, 10 f8e4m3fn, 12 f8e5m2 */
    uint8_t bits;
    uint16_t lanes;
} fer_dl_dtype;

typedef struct fer_dl_device {
    int32_t device_type; /* 1 is the host */
    int32_t device_id;
} fer_dl_device;

typedef struct fer_dl_tensor {
    void *data; /* may be NULL when there are no elements */
    fer_dl_device device;
    int32_t ndim;
    fer_dl_dtype dtype;
    int64_t *shape;   /* [ndim]; may be NULL when ndim is 0 */
    int64_t *strides; /* NULL: compact row-major. Kernels are only ever given compact tensors */
    uint64_t byte_offset;
} fer_dl_tensor;

/* What one call offers to the kernel. Owned by the caller, valid during the call only. */
typedef struct fer_context fer_context;
struct fer_context {
    uint32_t struct_bytes;
    uint32_t num_threads; /* how many threads the kernel may use; 1 in a forked child */
    void *runtime;        /* private to the caller of the kernel */
    /* Records a failure for the caller and returns the non-zero value for the kernel to return. */
    int (*fail)(fer_context *context, const char *file, int line, const char *format, ...);
    /* Uninitialised memory, 64-byte aligned, freed after the call. NULL when there is none. */
    void *(*scratch)(fer_context *context, uint64_t num_bytes);
    /* Where a SHAPE function stores the extent of the data-dependent dim of that name; never NULL
     * (a name that the declaration does not have is recorded as a failure). */
    int64_t *(*extent)(fer_context *context, const char *name);
};

/* Runs a kernel: results first, then operands, in the declaration's order, all compact row-major
 * and of the dtypes and ranks that the entry states. Tensors do not overlap. A result's elements
 * are uninitialised. Returns 0, or what `fail` returned. A shape function gets only the operands.
 */
typedef int (*fer_kernel_function)(fer_context *context, const fer_dl_tensor *const *tensors);

enum { FER_ABI_RESULT = 0, FER_ABI_OPERAND = 1, FER_ABI_INOUT = 2 };
enum { FER_ABI_KERNEL = 0, FER_ABI_MAP = 1, FER_ABI_SHAPE = 2 };
enum { FER_ABI_INT = 0, FER_ABI_FLOAT = 1, FER_ABI_BOOL = 2, FER_ABI_STR = 3, FER_ABI_DTYPE = 4 };

typedef struct fer_abi_tensor {
    const char *name;
    int32_t role; /* FER_ABI_RESULT, FER_ABI_OPERAND or FER_ABI_INOUT */
    int32_t rank; /* FER_ABI_ANY_RANK: any */
    fer_dl_dtype dtype;
    uint32_t reserved; /* 0 */
} fer_abi_tensor;

/* The value of a parameter, or the dtype of a dtype variable, that an entry was built for. */
typedef struct fer_abi_param {
    const char *name;
    int32_t kind;       /* FER_ABI_INT .. FER_ABI_DTYPE */
    uint32_t num_bytes; /* of as_str */
    union {
        int64_t as_int; /* also a bool: 0 or 1 */
        double as_float;
        const char *as_str;
        fer_dl_dtype as_dtype;
    } value;
} fer_abi_param;

/* One compiled entry: a kernel for one set of parameters and dtypes, or its shape function. */
typedef struct fer_abi_entry {
    uint32_t struct_bytes;
    int32_t kind; /* FER_ABI_KERNEL, FER_ABI_MAP or FER_ABI_SHAPE */
    const char *name;
    fer_kernel_function run;
    const fer_abi_tensor *tensors; /* results first; a shape function has only operands */
    uint32_t num_tensors;
    uint32_t num_params; /* 0: the entry serves every value (a C source is compiled per value) */
    const fer_abi_param *params;
    const char *file; /* where it is written, or NULL */
    int32_t line;
    int32_t reserved;      /* 0 */
    const char *signature; /* the declaration's text, or NULL */
} fer_abi_entry;

typedef struct fer_abi_table {
    uint32_t abi_version; /* FER_ABI_VERSION */
    uint32_t struct_bytes;
    const fer_abi_entry *const *begin; /* NULL pointers between begin and end are skipped */
    const fer_abi_entry *const *end;
} fer_abi_table;

/* What a package's shared object exports under the name FER_ABI_TABLE_SYMBOL. The result lives as
 * long as the object is loaded. */
typedef const fer_abi_table *(*fer_abi_table_function)(void);
#define FER_ABI_TABLE_SYMBOL "ferrule_package_table"

#ifdef __cplusplus
}
#endif
#endif
