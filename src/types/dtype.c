#include "types/dtype.h"

#include <string.h>
#include <strings.h>

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

/* What C and Python call their types, where it is not spelled much like a dtype. */
static const struct foreign {
    const char *name;
    fer_dtype dtype;
} FOREIGN[] = {
    {"bool_", FER_BOOL},      {"boolean", FER_BOOL}, {"_Bool", FER_BOOL},   {"char", FER_I8},
    {"short", FER_I16},       {"int", FER_I64},      {"long", FER_I64},     {"byte", FER_U8},
    {"uchar", FER_U8},        {"ushort", FER_U16},   {"unsigned", FER_U32}, {"uint", FER_U64},
    {"ulong", FER_U64},       {"size_t", FER_U64},   {"half", FER_F16},     {"float", FER_F32},
    {"single", FER_F32},      {"double", FER_F64},   {"f8", FER_F8E4M3FN},  {"fp8", FER_F8E4M3FN},
    {"float8", FER_F8E4M3FN},
};

/* The text, as far as it can be a name. */
typedef struct name {
    char text[64];
} name;

static name name_of(const char *text, size_t length)
{
    name made = {{0}};
    memcpy(made.text, text, length < sizeof made.text ? length : sizeof made.text - 1);
    return made;
}

static fer_status fail_unknown(const char *text, size_t length, fer_error *error)
{
    name shown = name_of(text, length);
    const char *near = fer_dtype_near(text, length);
    fer_place place = {.expected = near == NULL ? "a dtype" : near, .actual = shown.text};
    if (near != NULL)
        return fer_fail_at(error, FER_TYPE_ERROR, &place, "unknown dtype '%s'; did you mean '%s'?",
                           shown.text, near);
    fer_text dtypes = FER_TEXT_INIT;
    fer_dtypes_append(&dtypes);
    fer_status status = dtypes.has_failed ? fer_fail_memory(error)
                                          : fer_fail_at(error, FER_TYPE_ERROR, &place,
                                                        "unknown dtype '%s'; the dtypes are %s",
                                                        shown.text, fer_text_string(&dtypes));
    fer_text_free(&dtypes);
    return status;
}

const char *fer_dtype_near(const char *text, size_t length)
{
    enum { NUM_NAMES = FER_NUM_DTYPES - FER_BOOL };
    name wanted = name_of(text, length);
    for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++)
        if (strcasecmp(FOREIGN[i].name, wanted.text) == 0)
            return ROWS[FOREIGN[i].dtype].name;
    const char *names[2 * NUM_NAMES];
    for (size_t i = 0; i < NUM_NAMES; i++) {
        names[i] = ROWS[FER_BOOL + i].name;
        names[NUM_NAMES + i] = ROWS[FER_BOOL + i].long_name;
    }
    const char *near = fer_near_name(wanted.text, names, 2 * NUM_NAMES);
    for (size_t i = 0; near != NULL && i < NUM_NAMES; i++)
        if (near == names[NUM_NAMES + i])
            return names[i];
    return near;
}

void fer_dtypes_append(fer_text *text)
{
    for (size_t i = FER_BOOL; i < FER_NUM_DTYPES; i++)
        fer_text_printf(text, "%s%s",
                        i == FER_BOOL             ? ""
                        : i + 1 == FER_NUM_DTYPES ? " and "
                                                  : ", ",
                        ROWS[i].name);
}

fer_status fer_dtype_fail(fer_dtype dtype, fer_error *error)
{
    return fer_fail(error, FER_TYPE_ERROR, "the number %d is no dtype", (int)dtype);
}

const char *fer_dtype_name(fer_dtype dtype)
{
    return row_of(dtype)->name;
}

const char *fer_dtype_long_name(fer_dtype dtype)
{
    return row_of(dtype)->long_name;
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
