/* Declared custom ops: declare once, then call eagerly with checked operands.
 *
 * A fer_op is immutable and reference-counted; any number of threads may call one op at once.
 */
#ifndef FERRULE_OP_H
#define FERRULE_OP_H

#include <ferrule/package.h>
#include <ferrule/signature.h>
#include <ferrule/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FER_MAX_PACKAGES 8

typedef struct fer_op fer_op;

/* What to declare. Exactly one of `signature` (text), `parsed` (made before), and `kernel` (a name
 * whose SIGNATURE the package holds) is given. Kernels are looked for in `packages` in their order,
 * or in `source`, C text in memory. Unused members are zero. */
typedef struct fer_declaration {
    const char *signature;
    const fer_signature *parsed;
    const char *kernel;
    const char *packages[FER_MAX_PACKAGES]; /* paths, "std" or "blas" */
    const char *source;
    const fer_param *params; /* values in place of the declaration's own */
    size_t num_params;
} fer_declaration;

/* Checks the signature, finds the kernel, compiles it (or takes it from the cache) and checks it
 * against the kernel's own line. docs/errors.md lists every refusal with its cause; beside those of
 * fer_signature_parse and fer_signature_create they are
 * VALUE: no such kernel (lists where it looked, what it found and near names); a data-dependent dim
 * without a SHAPE function. TYPE: the KERNEL line disagrees. COMPILE: the compiler's words. IO. */
FER_API FER_MUST_USE fer_status fer_declare(const fer_declaration *declaration, fer_op **out_op,
                                            fer_error *error);

/* The op with these parameter values, declared anew from the same snapshot; equal merged values
 * give an equal op. Refusals as in fer_signature_specialise and fer_declare. */
FER_API FER_MUST_USE fer_status fer_op_specialise(const fer_op *op, const fer_param *params,
                                                  size_t num_params, fer_op **out_op,
                                                  fer_error *error);

FER_API fer_op *fer_op_retain(const fer_op *op);
FER_API void fer_op_release(fer_op *op); /* NULL-safe */

FER_API const char *fer_op_name(const fer_op *op);
FER_API const fer_signature *fer_op_signature(const fer_op *op); /* borrowed */
FER_API const char *fer_op_text(const fer_op *op); /* the declaration; lives as long as the op */
/* `name#` and 16 hex digits; the same in every process. docs/architecture.md says of what. */
FER_API const char *fer_op_token(const fer_op *op);
FER_API bool fer_op_is_complete(const fer_op *op);
FER_API bool fer_op_equal(const fer_op *a, const fer_op *b);
FER_API uint64_t fer_op_hash(const fer_op *op);

/* The packages' absolute paths as declared, or `inline:` and a digest. */
FER_API size_t fer_op_num_extensions(const fer_op *op);
FER_API const char *fer_op_extension(const fer_op *op, size_t index);

/* The compiled libraries that the op has loaded so far, one for each choice of operand dtypes; each
 * path lives as long as the op. `index` is below a count that was read before. */
FER_API size_t fer_op_num_binaries(const fer_op *op);
FER_API const char *fer_op_binary(const fer_op *op, size_t index);

/* Calls the kernel. Operands are borrowed; results are new tensors that the caller releases, one
 * for each declared result. `inout` operands are changed in place. Operands that are not compact
 * are copied, for this call. TYPE: the number of operands or of results; a NULL operand. VALUE:
 * rank, dtype, dims, `where` conditions, devices, an inout operand that is read-only, not compact
 * or overlaps another one, an incomplete op. RUNTIME: the kernel failed, with its message.
 * OVERFLOW, ZERO_DIVISION: a result dim. MEMORY. COMPILE: the first call with new dtypes. After an
 * error no result is published and every tensor holds what it held, but for inout operands of a
 * kernel that failed midway. */
FER_API FER_MUST_USE fer_status fer_call(const fer_op *op, fer_tensor *const *operands,
                                         size_t num_operands, fer_tensor **out_results,
                                         size_t num_results, fer_error *error);

/* The same into given tensors: writable, compact, of exactly the results' types, overlapping no
 * operand and not each other, else VALUE. Their elements are undefined after a kernel that failed
 * midway. A data-dependent result must have the extent that the SHAPE function finds. */
FER_API FER_MUST_USE fer_status fer_call_into(const fer_op *op, fer_tensor *const *operands,
                                              size_t num_operands, fer_tensor *const *results,
                                              size_t num_results, fer_error *error);

#define FER_MAX_THREADS 1024

/* How many threads a kernel may use, in the whole process: MAP over large tensors, and OpenMP in a
 * KERNEL. 0 is the default: $FERRULE_NUM_THREADS, else the first number of $OMP_NUM_THREADS, else
 * as many as there are processors for this process. MAP gives the same bits for every number. From
 * any thread, for the kernels that start from then on. A forked child of a process that had ops
 * runs kernels on one thread, whatever is set. VALUE: more than FER_MAX_THREADS. */
FER_API FER_MUST_USE fer_status fer_set_num_threads(uint32_t num_threads, fer_error *error);
FER_API uint32_t fer_num_threads(void);

/* Whether every call of a kernel is checked, in the whole process, eager or in a model's run: from
 * any thread, for the calls that start from then on. Gives what it was; at first that is what
 * $FERRULE_CHECK says, 1 or 0 (the default; anything else is VALUE at the first declaration). A
 * checked call runs the kernel, compiled once more so that AT and DIM hold their indices against
 * the extents, on one thread and on copies between guard zones. RUNTIME, naming the op and the
 * operand or result: the kernel wrote to an operand that is not inout, or beside an operand, a
 * result or a SCRATCH, or used AT or DIM outside, or did not write all of a result. Then every
 * tensor holds what it held. docs/verify.md says what is not seen. */
FER_API bool fer_set_checking(bool is_on);

/* From now on a crash inside a kernel (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) says on the
 * standard error which op it was and with which operands, for kernels that are loaded after this
 * call. It changes nothing else: handlers that were there before are called then, and without one
 * the process dies of the signal as it would have. Nothing is installed unless this is called; once
 * is enough. Such a kernel costs a few stores more to call. A stack that is used up is told of on
 * the thread that called this, and on others that have a sigaltstack. */
FER_API void fer_report_crashes(void);

#ifdef __cplusplus
}
#endif
#endif
