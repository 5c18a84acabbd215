/* Element types and logical devices. Values, not objects: nothing to own, safe from any thread. */
#ifndef FERRULE_DTYPE_H
#define FERRULE_DTYPE_H

#include <ferrule/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fer_dtype {
    FER_DTYPE_INVALID = 0,
    FER_BOOL,
    FER_I8,
    FER_I16,
    FER_I32,
    FER_I64,
    FER_U8,
    FER_U16,
    FER_U32,
    FER_U64,
    FER_F16,
    FER_BF16,
    FER_F32,
    FER_F64,
    FER_F8E4M3FN,
    FER_F8E5M2
} fer_dtype;

#define FER_NUM_DTYPES 16 /* FER_DTYPE_INVALID included: dtypes index tables of this length */

/* The four classes a dtype variable can be constrained to; sets of dtypes as bits. */
#define FER_DTYPE_BIT(dtype) (1u << (unsigned)(dtype))
#define FER_ANY_SIGNED                                                                             \
    (FER_DTYPE_BIT(FER_I8) | FER_DTYPE_BIT(FER_I16) | FER_DTYPE_BIT(FER_I32) |                     \
     FER_DTYPE_BIT(FER_I64))
#define FER_ANY_UNSIGNED                                                                           \
    (FER_DTYPE_BIT(FER_U8) | FER_DTYPE_BIT(FER_U16) | FER_DTYPE_BIT(FER_U32) |                     \
     FER_DTYPE_BIT(FER_U64))
#define FER_ANY_INT (FER_ANY_SIGNED | FER_ANY_UNSIGNED)
#define FER_ANY_FLOAT                                                                              \
    (FER_DTYPE_BIT(FER_F16) | FER_DTYPE_BIT(FER_BF16) | FER_DTYPE_BIT(FER_F32) |                   \
     FER_DTYPE_BIT(FER_F64))

/* The short name ("f32", "f8e4m3fn"), as everything prints it; NULL for what is no dtype. */
FER_API const char *fer_dtype_name(fer_dtype dtype);
/* The long one ("float32", "float8_e4m3fn"), as NumPy and ml_dtypes say it. */
FER_API const char *fer_dtype_long_name(fer_dtype dtype);

/* Reads a short or a long name ("f32", "float32", "bfloat16"). TYPE, naming the text, when it is
 * neither. `text` needs no terminator; `length` counts bytes. */
FER_API FER_MUST_USE fer_status fer_dtype_parse(const char *text, size_t length,
                                                fer_dtype *out_dtype, fer_error *error);

/* Bytes of one element; 0 for what is no dtype. */
FER_API size_t fer_dtype_bytes(fer_dtype dtype);

/* DLPack's type code and bits (lanes are always 1), and back; FER_DTYPE_INVALID where there is no
 * dtype with that code and those bits. */
FER_API uint8_t fer_dtype_dlpack_code(fer_dtype dtype);
FER_API uint8_t fer_dtype_dlpack_bits(fer_dtype dtype);
FER_API fer_dtype fer_dtype_from_dlpack(uint8_t code, uint8_t bits, uint16_t lanes);

/* A logical host device. There is one, id 0, unless FERRULE_HOST_DEVICES says how many (1 to 16);
 * the variable is read at the first use in a process, and what is no such number counts as unset
 * (the command refuses it). */
typedef struct fer_device {
    int32_t id;
} fer_device;

FER_API int fer_device_count(void);

#ifdef __cplusplus
}
#endif
#endif
