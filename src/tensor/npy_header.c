/* The header of a .npy file: a magic string, a version, a length, and a Python dict in text. It may
 * come from anybody, so it is read strictly, and nothing in it is believed before it is checked. */
#include "base/arithmetic.h"
#include "base/text.h"
#include "tensor/npy.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define ALIGNMENT 64      /* of the elements in a file that is written */
#define EXTENT_COLUMNS 21 /* NumPy's room for the first extent to grow in place */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are read and written in memory's order, which .npy files state");

fer_status fer_npy_measure(const unsigned char *bytes, size_t size, size_t *out_header_bytes,
                           fer_error *error)
{
    *out_header_bytes = 0;
    if (size < MAGIC_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        return fer_fail(error, FER_VALUE_ERROR, "not a .npy file");
    if (size < FER_NPY_PREFIX)
        return fer_fail(error, FER_IO_ERROR, "the .npy file is cut short in its header");
    unsigned major = bytes[6];
    unsigned minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        ".npy version %u.%u is not supported, only 1.0, 2.0 and 3.0", major, minor);
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    size_t prefix = 10;
    if (major > 1) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        prefix = 12;
    }
    if (length > FER_NPY_MAX_HEADER)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a .npy header of %zu bytes is not supported, only up to %u", length,
                        FER_NPY_MAX_HEADER);
    *out_header_bytes = prefix + length;
    return FER_OK;
}

/* The dict's text: never read at or behind `end`. */
typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static void skip_space(cursor *text)
{
    while (text->at < text->end && strchr(" \t\r\n", *text->at) != NULL && *text->at != '\0')
        text->at++;
}

/* Steps over the character, and space before it, when it comes next. */
static bool accept(cursor *text, char character)
{
    skip_space(text);
    if (text->at == text->end || *text->at != character)
        return false;
    text->at++;
    return true;
}

static bool accept_word(cursor *text, const char *word)
{
    skip_space(text);
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static fer_status fail_header(fer_error *error, const char *what)
{
    return fer_fail(error, FER_VALUE_ERROR, "the .npy header is malformed: %s", what);
}

#define MAX_STRING 64

/* A Python string of plain characters, which is all that keys and dtypes need. */
static bool read_string(cursor *text, char out_string[MAX_STRING])
{
    char quote = accept(text, '\'') ? '\'' : accept(text, '"') ? '"' : '\0';
    if (quote == '\0')
        return false;
    for (size_t length = 0; text->at < text->end && length < MAX_STRING; length++) {
        char character = *text->at++;
        if (character == quote) {
            out_string[length] = '\0';
            return true;
        }
        if (character < ' ' || character > '~' || character == '\\')
            return false;
        out_string[length] = character;
    }
    return false;
}

/* What NumPy calls each dtype, without the byte order. */
static const char *const CODES[FER_NUM_DTYPES] = {
    [FER_BOOL] = "b1", [FER_I8] = "i1",  [FER_I16] = "i2", [FER_I32] = "i4",
    [FER_I64] = "i8",  [FER_U8] = "u1",  [FER_U16] = "u2", [FER_U32] = "u4",
    [FER_U64] = "u8",  [FER_F16] = "f2", [FER_F32] = "f4", [FER_F64] = "f8",
};

fer_dtype fer_npy_stored(fer_dtype dtype)
{
    if (CODES[dtype] != NULL)
        return dtype;
    return fer_dtype_bytes(dtype) == 1 ? FER_U8 : FER_U16;
}

static fer_dtype dtype_of_code(const char *code)
{
    for (unsigned i = 0; i < FER_NUM_DTYPES; i++) {
        if (CODES[i] != NULL && strcmp(CODES[i], code) == 0)
            return (fer_dtype)i;
    }
    return FER_DTYPE_INVALID;
}

static fer_status read_descr(cursor *text, fer_npy_header *header, fer_error *error)
{
    skip_space(text);
    if (text->at < text->end && (*text->at == '[' || *text->at == '('))
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a .npy file of structured elements is not supported");
    char descr[MAX_STRING];
    if (!read_string(text, descr))
        return fail_header(error, "'descr' is no dtype");
    const char *code = strchr("<>=|", descr[0]) != NULL && descr[0] != '\0' ? descr + 1 : descr;
    fer_dtype dtype = dtype_of_code(code);
    if (strchr(code, 'O') != NULL)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a .npy file of Python objects ('%s') is not supported", descr);
    if (dtype == FER_DTYPE_INVALID)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a .npy file with elements of dtype '%s' is not supported", descr);
    header->dtype = dtype;
    header->is_big_endian = descr[0] == '>' && fer_dtype_bytes(dtype) > 1;
    return FER_OK;
}

static bool is_digit(const cursor *text)
{
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

static fer_status read_extent(cursor *text, int64_t *out_extent, fer_error *error)
{
    skip_space(text);
    if (!is_digit(text))
        return fail_header(error, "'shape' holds what is no extent");
    int64_t extent = 0;
    for (; is_digit(text); text->at++) {
        if (__builtin_mul_overflow(extent, 10, &extent) ||
            __builtin_add_overflow(extent, *text->at - '0', &extent))
            return fer_fail(error, FER_OVERFLOW_ERROR,
                            "the .npy header has an extent above 64 bits");
    }
    if (text->at < text->end && *text->at == 'L')
        text->at++; /* NumPy on Python 2 wrote its long integers so */
    *out_extent = extent;
    return FER_OK;
}

/* A tuple: `()`, `(3,)`, `(3, 4)`; `(3)` is none. */
static fer_status read_shape(cursor *text, fer_npy_header *header, fer_error *error)
{
    if (!accept(text, '('))
        return fail_header(error, "'shape' is no tuple");
    size_t rank = 0;
    bool has_comma = true;
    while (!accept(text, ')')) {
        if (!has_comma)
            return fail_header(error, "'shape' misses a comma");
        int64_t extent = 0;
        FER_TRY(read_extent(text, &extent, error));
        if (rank < FER_MAX_RANK)
            header->shape[rank] = extent;
        rank++;
        has_comma = accept(text, ',');
    }
    if (rank == 1 && !has_comma)
        return fail_header(error, "'shape' is no tuple");
    if (rank > FER_MAX_RANK)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "a .npy file of rank %zu is not supported, only up to %d", rank,
                        FER_MAX_RANK);
    header->rank = rank;
    return FER_OK;
}

static fer_status read_order(cursor *text, bool *out_is_fortran, fer_error *error)
{
    *out_is_fortran = accept_word(text, "True");
    if (!*out_is_fortran && !accept_word(text, "False"))
        return fail_header(error, "'fortran_order' is neither True nor False");
    return FER_OK;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* One `key: value`; `seen` gains the key. */
static fer_status read_entry(cursor *text, fer_npy_header *header, int *seen, fer_error *error)
{
    char name[MAX_STRING];
    if (!read_string(text, name))
        return fail_header(error, "a key is no plain string");
    int key = strcmp(name, "descr") == 0           ? HAS_DESCR
              : strcmp(name, "fortran_order") == 0 ? HAS_ORDER
              : strcmp(name, "shape") == 0         ? HAS_SHAPE
                                                   : 0;
    if (key == 0 || (*seen & key) != 0)
        return fer_fail(error, FER_VALUE_ERROR, "the .npy header is malformed: %s key '%s'",
                        key == 0 ? "unknown" : "repeated", name);
    *seen |= key;
    if (!accept(text, ':'))
        return fail_header(error, "a key without a value");
    if (key == HAS_DESCR)
        return read_descr(text, header, error);
    if (key == HAS_ORDER)
        return read_order(text, &header->is_fortran, error);
    return read_shape(text, header, error);
}

static fer_status read_dict(cursor *text, fer_npy_header *header, fer_error *error)
{
    if (!accept(text, '{'))
        return fail_header(error, "it is no dict");
    int seen = 0;
    bool has_comma = true;
    while (!accept(text, '}')) {
        if (!has_comma)
            return fail_header(error, "a comma is missing");
        FER_TRY(read_entry(text, header, &seen, error));
        has_comma = accept(text, ',');
    }
    if (seen != HAS_ALL)
        return fail_header(error, "it needs 'descr', 'fortran_order' and 'shape'");
    skip_space(text);
    if (text->at != text->end)
        return fail_header(error, "text follows the dict");
    return FER_OK;
}

/* C's and Fortran's order differ only where two axes have something to swap. */
static bool is_order_seen(const fer_npy_header *header)
{
    size_t num_long = 0;
    for (size_t i = 0; i < header->rank; i++)
        num_long += header->shape[i] > 1;
    return num_long > 1 && header->num_elements > 0;
}

fer_status fer_npy_parse(const unsigned char *bytes, size_t header_bytes,
                         fer_npy_header *out_header, fer_error *error)
{
    *out_header = (fer_npy_header){0};
    fer_npy_header header = {0};
    size_t prefix = bytes[6] == 1 ? 10 : 12;
    cursor text = {(const char *)bytes + prefix, (const char *)bytes + header_bytes};
    FER_TRY(read_dict(&text, &header, error));
    int64_t num_bytes;
    if (!fer_count_elements(header.shape, header.rank, &header.num_elements) ||
        __builtin_mul_overflow(header.num_elements, (int64_t)fer_dtype_bytes(header.dtype),
                               &num_bytes))
        return fer_fail(error, FER_OVERFLOW_ERROR,
                        "the .npy header's shape has more bytes than 64 bits count");
    header.num_bytes = (size_t)num_bytes;
    header.is_fortran &= is_order_seen(&header);
    *out_header = header;
    return FER_OK;
}

/* The length of the dict's text with the padding that puts the elements on a boundary. */
static size_t padded_length(size_t text_length)
{
    size_t end = 10 + text_length + 1;
    return text_length + 1 + (ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
}

fer_status fer_npy_format(const fer_tensor *tensor, char **out_bytes, size_t *out_size,
                          fer_error *error)
{
    *out_bytes = NULL;
    *out_size = 0;
    fer_dtype dtype = fer_tensor_dtype(tensor);
    if (CODES[dtype] == NULL)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "%s has no .npy form, as NumPy has no such dtype; cast it first",
                        fer_dtype_name(dtype));
    size_t rank = fer_tensor_rank(tensor);
    const int64_t *shape = fer_tensor_shape(tensor);
    fer_text dict = FER_TEXT_INIT;
    fer_text_printf(&dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                    fer_dtype_bytes(dtype) == 1 ? '|' : '<', CODES[dtype]);
    size_t first_extent = dict.length;
    for (size_t i = 0; i < rank; i++) {
        fer_text_printf(&dict, i == 0 ? "%" PRId64 : ", %" PRId64, shape[i]);
        if (i == 0)
            first_extent = dict.length - first_extent;
    }
    fer_text_append(&dict, rank == 1 ? ",), }" : "), }");
    if (rank > 0)
        fer_text_printf(&dict, "%*s", EXTENT_COLUMNS - (int)first_extent, "");
    size_t length = padded_length(dict.length);
    fer_text header = FER_TEXT_INIT;
    fer_text_append_bytes(&header, MAGIC "\x01", 8); /* version 1.0 */
    fer_text_append_char(&header, (char)(length & 0xff));
    fer_text_append_char(&header, (char)(length >> 8));
    fer_text_printf(&header, "%-*s\n", (int)length - 1, fer_text_string(&dict));
    header.has_failed |= dict.has_failed;
    fer_text_free(&dict);
    size_t size = header.length;
    FER_TRY(fer_text_take(&header, out_bytes, error));
    *out_size = size;
    return FER_OK;
}
