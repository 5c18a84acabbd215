/* Tensors: arrays in host memory, compact row-major unless they come from DLPack.
 *
 * A fer_tensor is reference-counted and may be shared between threads; its type, shape and address
 * never change. Its elements may: who writes them while another thread reads has to order the two.
 * Data is 64-byte aligned, unless it is borrowed.
 */
#ifndef FERRULE_TENSOR_H
#define FERRULE_TENSOR_H

#include <ferrule/abi.h>
#include <ferrule/type.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fer_tensor fer_tensor;

/* Every creator: `shape` holds `rank` extents (elements, not bytes) and may be NULL for rank 0;
 * zero-size and rank-0 tensors are legal. TYPE: what is no dtype. VALUE: rank above FER_MAX_RANK, a
 * negative extent, a device that does not exist. OVERFLOW: element or byte count outside int64.
 * MEMORY. */

/* Uninitialised elements. */
FER_API FER_MUST_USE fer_status fer_tensor_empty(fer_dtype dtype, size_t rank, const int64_t *shape,
                                                 fer_device device, fer_tensor **out_tensor,
                                                 fer_error *error);
FER_API FER_MUST_USE fer_status fer_tensor_zeros(fer_dtype dtype, size_t rank, const int64_t *shape,
                                                 fer_device device, fer_tensor **out_tensor,
                                                 fer_error *error);
FER_API FER_MUST_USE fer_status fer_tensor_ones(fer_dtype dtype, size_t rank, const int64_t *shape,
                                                fer_device device, fer_tensor **out_tensor,
                                                fer_error *error);

/* A plain number, as a caller wrote it. Signed and unsigned integers are the same numbers, by the
 * same rules. */
typedef enum fer_number_kind {
    FER_NUMBER_INT = 0,
    FER_NUMBER_FLOAT,
    FER_NUMBER_BOOL,
    FER_NUMBER_UINT
} fer_number_kind;
typedef struct fer_number {
    fer_number_kind kind;
    union {
        int64_t as_int;
        double as_float;
        bool as_bool;
        uint64_t as_uint;
    } value;
} fer_number;

/* Every element is `number`. A float to a float dtype rounds to nearest even (a finite number that
 * becomes infinite: VALUE); an integer to a float dtype, and anything to an integer dtype, must be
 * exact, else VALUE; a bool goes only to bool, and bool takes only a bool, else VALUE. */
FER_API FER_MUST_USE fer_status fer_tensor_full(fer_dtype dtype, size_t rank, const int64_t *shape,
                                                fer_device device, fer_number number,
                                                fer_tensor **out_tensor, fer_error *error);

/* A rank-0 tensor, by the rules of fer_tensor_full. */
FER_API FER_MUST_USE fer_status fer_tensor_scalar(fer_dtype dtype, fer_device device,
                                                  fer_number number, fer_tensor **out_tensor,
                                                  fer_error *error);

/* start, start + step, ... up to and without `stop`, rank 1. VALUE: a step of 0, and an element
 * that the dtype cannot hold by the rules of fer_tensor_full. TYPE: bool. */
FER_API FER_MUST_USE fer_status fer_tensor_arange(fer_dtype dtype, fer_number start,
                                                  fer_number stop, fer_number step,
                                                  fer_device device, fer_tensor **out_tensor,
                                                  fer_error *error);

/* A copy of compact row-major memory. `data` may be NULL when there are no elements. A bool's byte
 * becomes 0 or 1. */
FER_API FER_MUST_USE fer_status fer_tensor_copy_from(fer_dtype dtype, size_t rank,
                                                     const int64_t *shape, const void *data,
                                                     fer_device device, fer_tensor **out_tensor,
                                                     fer_error *error);

/* Borrows compact row-major memory, aligned for its dtype (else VALUE). `deleter`, unless NULL, is
 * called exactly once with `context`, when the last reference goes, on the thread that drops it;
 * when this call fails it is not called. A read-only tensor is refused as inout operand and as
 * given result. */
FER_API FER_MUST_USE fer_status fer_tensor_borrow(fer_dtype dtype, size_t rank,
                                                  const int64_t *shape, void *data,
                                                  bool is_read_only, fer_device device,
                                                  void (*deleter)(void *context), void *context,
                                                  fer_tensor **out_tensor, fer_error *error);

FER_API fer_tensor *fer_tensor_retain(const fer_tensor *tensor);
FER_API void fer_tensor_release(fer_tensor *tensor); /* NULL-safe */

FER_API fer_dtype fer_tensor_dtype(const fer_tensor *tensor);
FER_API size_t fer_tensor_rank(const fer_tensor *tensor);
FER_API const int64_t *fer_tensor_shape(const fer_tensor *tensor); /* [rank], borrowed */
FER_API int64_t fer_tensor_num_elements(const fer_tensor *tensor);
FER_API size_t fer_tensor_num_bytes(const fer_tensor *tensor);
FER_API fer_device fer_tensor_device(const fer_tensor *tensor);
FER_API bool fer_tensor_is_read_only(const fer_tensor *tensor);

/* Whether the elements lie one behind the other in row-major order, aligned for the dtype: as
 * kernels need them, and as every tensor has them but one from ferrule/dlpack.h. */
FER_API bool fer_tensor_is_compact(const fer_tensor *tensor);
/* How many elements (not bytes) apart neighbours on each axis lie: 0 where an axis repeats,
 * negative where it runs backwards. `out_strides` has room for [rank]. */
FER_API void fer_tensor_strides(const fer_tensor *tensor, int64_t *out_strides);

/* The first element: the one at index 0 of every axis. fer_tensor_num_bytes of memory follow when
 * the tensor is compact; else the others lie where the strides say, before or behind it. Borrowed;
 * may be NULL when empty. */
FER_API void *fer_tensor_data(fer_tensor *tensor);
FER_API const void *fer_tensor_const_data(const fer_tensor *tensor);

/* The type with static dims. */
FER_API FER_MUST_USE fer_status fer_tensor_type(const fer_tensor *tensor, fer_type **out_type,
                                                fer_error *error);

/* A copy on the same or another device, compact and writable. MEMORY. VALUE: a device that does not
 * exist. */
FER_API FER_MUST_USE fer_status fer_tensor_clone(const fer_tensor *tensor, fer_device device,
                                                 fer_tensor **out_tensor, fer_error *error);

/* The tensor itself, retained, when it is compact, else a compact copy of what it holds now. The
 * caller releases either. MEMORY. */
FER_API FER_MUST_USE fer_status fer_tensor_compact(const fer_tensor *tensor,
                                                   fer_tensor **out_tensor, fer_error *error);

/* The same elements, in row-major order, under another shape of as many. One extent may be -1: it
 * is inferred. A compact tensor's memory is shared and stays as long as the result does; what is
 * read-only stays so. What is not compact is copied. VALUE: another number of elements, a second -1
 * or one beside an extent of 0, a rank above FER_MAX_RANK. MEMORY. */
FER_API FER_MUST_USE fer_status fer_tensor_reshape(const fer_tensor *tensor, size_t rank,
                                                   const int64_t *shape, fer_tensor **out_tensor,
                                                   fer_error *error);

/* One element, counted in row-major order, as the number that it stands for: a bool, an integer, or
 * for every float dtype a float, exactly. `index` is below fer_tensor_num_elements. */
FER_API fer_number fer_tensor_element(const fer_tensor *tensor, int64_t index);

/* For people: the type, then the elements in nested brackets, long axes shortened with `...`. The
 * caller frees the text with fer_string_free. */
FER_API FER_MUST_USE fer_status fer_tensor_print(const fer_tensor *tensor, char **out_text,
                                                 fer_error *error);

/* NumPy's .npy. Reading takes versions 1 to 3, either byte order, C and Fortran order (the tensor
 * always has C order), of the dtypes that NumPy has (f16 among them); anything else is UNSUPPORTED
 * and named. IO: a file that cannot be read or is cut short. VALUE: not a .npy file, or a malformed
 * header. OVERFLOW: a byte count outside int64. What follows the elements is ignored. Writing is
 * whole or absent (a temporary file, then a rename); bf16 and f8 are UNSUPPORTED. */
FER_API FER_MUST_USE fer_status fer_npy_read(const char *path, fer_tensor **out_tensor,
                                             fer_error *error);
FER_API FER_MUST_USE fer_status fer_npy_write(const char *path, const fer_tensor *tensor,
                                              fer_error *error);

/* The same as fer_npy_read without reading: the elements stay in the file, mapped privately until
 * the last reference to the tensor goes, and are fetched as they are touched. The tensor is
 * read-only. What is not as kernels need it (Fortran order, big endian, a bool's bytes, misaligned
 * elements) and what cannot be mapped (a pipe) is read instead, and is read-only too.
 *
 * The file may be renamed or removed meanwhile. Who writes into it may change what is seen here,
 * and who shortens it kills this process with SIGBUS at the next access behind its end, as with any
 * mapped file: replace files by a rename, as fer_npy_write does, and read those of strangers with
 * fer_npy_read. */
FER_API FER_MUST_USE fer_status fer_npy_map(const char *path, fer_tensor **out_tensor,
                                            fer_error *error);

/* Memory of the tensors that this library makes. What tensors of about 32 KiB and more leave behind
 * is kept for the next ones of about the same size, which then cost no page faults; from 2 MiB on
 * it lies in huge pages where the system has them. Smaller tensors are malloc's and not counted
 * here. Each call is for the whole process, from any thread. In a build with a sanitizer all is
 * malloc's.
 */
typedef struct fer_memory_figures {
    uint64_t bytes_in_use; /* by tensors, rounded up to the sizes that are kept */
    uint64_t bytes_idle;   /* kept for tensors to come */
    uint64_t bytes_bound;  /* the most that is kept */
    uint64_t num_reused;   /* tensors that found their memory here */
    uint64_t num_fresh;    /* tensors whose memory was asked of the system */
} fer_memory_figures;
FER_API fer_memory_figures fer_memory_read(void);

/* Gives everything idle back to the system, and says how much it was. It also happens by itself
 * before a tensor fails for lack of memory. */
FER_API uint64_t fer_memory_trim(void);

/* The most that is kept idle; beyond it goes first what has been idle longest. 0 keeps nothing. The
 * default is $FERRULE_IDLE_BYTES, else an eighth of the machine's memory and at most 1 GiB. */
FER_API void fer_memory_set_bound(uint64_t num_bytes);

#ifdef __cplusplus
}
#endif
#endif
