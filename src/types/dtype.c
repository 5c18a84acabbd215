#include <ferrule/dtype.h>

#include "base/error.h"
#include "base/text.h"

#include <string.h>

/* DLPack's type codes. */
enum {
    CODE_INT = 0,
    CODE_UINT = 1,
    CODE_FLOAT = 2,
    CODE_BFLOAT = 4,
    CODE_BOOL = 6,
    CODE_FLOAT8_E4M3FN = 10,
    CODE_FLOAT8_E5M2 = 12
};

typedef struct row {
    const char *name;
    const char *long_name;
    uint8_t code;
    uint8_t bits;
} row;

static const row ROWS[FER_NUM_DTYPES] = {
    [FER_BOOL] = {"bool", "bool", CODE_BOOL, 8},
    [FER_I8] = {"i8", "int8", CODE_INT, 8},
    [FER_I16] = {"i16", "int16", CODE_INT, 16},
    [FER_I32] = {"i32", "int32", CODE_INT, 32},
    [FER_I64] = {"i64", "int64", CODE_INT, 64},
    [FER_U8] = {"u8", "uint8", CODE_UINT, 8},
    [FER_U16] = {"u16", "uint16", CODE_UINT, 16},
    [FER_U32] = {"u32", "uint32", CODE_UINT, 32},
    [FER_U64] = {"u64", "uint64", CODE_UINT, 64},
    [FER_F16] = {"f16", "float16", CODE_FLOAT, 16},
    [FER_BF16] = {"bf16", "bfloat16", CODE_BFLOAT, 16},
    [FER_F32] = {"f32", "float32", CODE_FLOAT, 32},
    [FER_F64] = {"f64", "float64", CODE_FLOAT, 64},
    [FER_F8E4M3FN] = {"f8e4m3fn", "float8_e4m3fn", CODE_FLOAT8_E4M3FN, 8},
    [FER_F8E5M2] = {"f8e5m2", "float8_e5m2", CODE_FLOAT8_E5M2, 8},
};

/* What is no dtype reads like FER_DTYPE_INVALID, whose row is empty. */
static const row *row_of(fer_dtype dtype)
{
    size_t index = (size_t)dtype;
    return &ROWS[index < FER_NUM_DTYPES ? index : FER_DTYPE_INVALID];
}

static bool is_text(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static fer_status fail_unknown(const char *text, size_t length, fer_error *error)
{
    const char *names[FER_NUM_DTYPES];
    for (size_t i = FER_BOOL; i < FER_NUM_DTYPES; i++)
        names[i - FER_BOOL] = ROWS[i].name;
    char shown[64];
    size_t num_shown = length < sizeof shown ? length : sizeof shown - 1;
    memcpy(shown, text, num_shown);
    shown[num_shown] = '\0';
    const char *near = fer_near_name(shown, names, FER_NUM_DTYPES - FER_BOOL);
    if (near == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "'%s' is no dtype", shown);
    return fer_fail(error, FER_TYPE_ERROR, "'%s' is no dtype; did you mean '%s'?", shown, near);
}

const char *fer_dtype_name(fer_dtype dtype)
{
    return row_of(dtype)->name;
}

fer_status fer_dtype_parse(const char *text, size_t length, fer_dtype *out_dtype, fer_error *error)
{
    *out_dtype = FER_DTYPE_INVALID;
    for (size_t i = FER_BOOL; i < FER_NUM_DTYPES; i++) {
        if (!is_text(ROWS[i].name, text, length) && !is_text(ROWS[i].long_name, text, length))
            continue;
        *out_dtype = (fer_dtype)i;
        return FER_OK;
    }
    return fail_unknown(text, length, error);
}

size_t fer_dtype_bytes(fer_dtype dtype)
{
    return row_of(dtype)->bits / 8u;
}

uint8_t fer_dtype_dlpack_code(fer_dtype dtype)
{
    return row_of(dtype)->code;
}

uint8_t fer_dtype_dlpack_bits(fer_dtype dtype)
{
    return row_of(dtype)->bits;
}

fer_dtype fer_dtype_from_dlpack(uint8_t code, uint8_t bits, uint16_t lanes)
{
    for (size_t i = FER_BOOL; i < FER_NUM_DTYPES; i++)
        if (lanes == 1 && ROWS[i].code == code && ROWS[i].bits == bits)
            return (fer_dtype)i;
    return FER_DTYPE_INVALID;
}
