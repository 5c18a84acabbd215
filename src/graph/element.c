#include "graph/element.h"

#include "base/arithmetic.h"
#include "tensor/number.h"
#include "tensor/smallfloat.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENT_BYTES 8

/* Numbers are written in the C locale, whatever the program around us has set. The object
 * for "C" is static in the C library and never fails. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_c_locale(locale_t previous)
{
    freelocale(uselocale(previous));
}

/* The element's bytes as one number; elements are at most eight bytes, little endian. */
static uint64_t bits_of(const void *element, fer_dtype dtype)
{
    uint64_t bits = 0;
    memcpy(&bits, element, fer_dtype_bytes(dtype));
    return bits;
}

static double float_of(uint64_t bits, fer_dtype dtype)
{
    if (dtype == FER_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (dtype == FER_F32) {
        float value;
        uint32_t low = (uint32_t)bits;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    return fer_small_float_decode(dtype, (uint16_t)bits);
}

static bool stores_as(double value, fer_dtype dtype, uint64_t bits)
{
    unsigned char element[MAX_ELEMENT_BYTES];
    fer_number number = {.kind = FER_NUMBER_FLOAT, .value.as_float = value};
    return fer_number_store(number, dtype, element, NULL) == FER_OK &&
           bits_of(element, dtype) == bits;
}

/* --- Printing --------------------------------------------------------------------------------- */

static void append_nan(fer_text *text, fer_dtype dtype, uint64_t bits)
{
    if (stores_as((double)NAN, dtype, bits))
        fer_text_append(text, "nan");
    else if (stores_as(-(double)NAN, dtype, bits))
        fer_text_append(text, "-nan");
    else
        fer_text_printf(text, "nan(\"%0*" PRIx64 "\")", 2 * (int)fer_dtype_bytes(dtype), bits);
}

/* The shortest decimal, but for so many digits that every dtype can do with, that gives the bits.
 */
static void append_float(fer_text *text, fer_dtype dtype, uint64_t bits)
{
    double value = float_of(bits, dtype);
    if (isnan(value)) {
        append_nan(text, dtype, bits);
        return;
    }
    if (isinf(value)) {
        fer_text_append(text, value < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    for (int precision = dtype == FER_F64 ? 15 : 5; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (stores_as(strtod(digits, NULL), dtype, bits))
            break;
    }
    fer_text_append(text, digits);
    if (strpbrk(digits, ".e") == NULL) /* so that it stays a float when it is read */
        fer_text_append(text, ".0");
}

static void append_element(fer_text *text, fer_dtype dtype, const void *element)
{
    uint64_t bits = bits_of(element, dtype);
    unsigned unused = 64 - 8 * (unsigned)fer_dtype_bytes(dtype);
    if (dtype == FER_BOOL)
        fer_text_append(text, bits != 0 ? "true" : "false");
    else if (FER_DTYPE_BIT(dtype) & FER_ANY_UNSIGNED)
        fer_text_printf(text, "%" PRIu64, bits);
    else if (FER_DTYPE_BIT(dtype) & FER_ANY_SIGNED)
        fer_text_printf(text, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        append_float(text, dtype, bits);
}

void fer_elements_append(fer_text *text, const fer_tensor *tensor)
{
    const unsigned char *data = tensor->dl.data;
    fer_dtype dtype = (fer_dtype)tensor->dtype;
    locale_t previous = enter_c_locale();
    fer_text_append_char(text, '[');
    for (int64_t i = 0; i < tensor->num_elements; i++) {
        if (i > 0)
            fer_text_append(text, ", ");
        append_element(text, dtype, data + (size_t)i * fer_dtype_bytes(dtype));
    }
    fer_text_append_char(text, ']');
    leave_c_locale(previous);
}

/* --- Parsing ---------------------------------------------------------------------------------- */

/* Elements that were read, without knowing yet whether they are as many as they should be. */
typedef struct elements {
    fer_dtype dtype;
    size_t element_bytes;
    unsigned char *data;
    size_t count;
    size_t capacity;
} elements;

/* `nan("ffc00001")`: the bits of a NaN that no other text gives. */
static fer_status parse_nan_bits(fer_lexer *lexer, fer_dtype dtype, void *out_element,
                                 fer_error *error)
{
    fer_lexer_advance(lexer);
    fer_token token = lexer->token;
    size_t num_digits = 2 * fer_dtype_bytes(dtype);
    uint64_t bits = 0;
    bool is_good = token.kind == FER_TOKEN_STRING && token.length == num_digits + 2;
    for (size_t i = 0; is_good && i < num_digits; i++) {
        static const char DIGITS[] = "0123456789abcdef";
        const char *digit = strchr(DIGITS, token.start[1 + i]);
        is_good = digit != NULL && *digit != '\0';
        bits = bits * 16 + (is_good ? (uint64_t)(digit - DIGITS) : 0);
    }
    if (!is_good || !isnan(float_of(bits, dtype)))
        return fer_lexer_fail(lexer, &token, FER_VALUE_ERROR, error,
                              "expected the bits of a %s NaN, %zu hex digits in quotes",
                              fer_dtype_name(dtype), num_digits);
    fer_lexer_advance(lexer);
    memcpy(out_element, &bits, fer_dtype_bytes(dtype));
    return fer_lexer_expect(lexer, ")", "after the bits of a NaN", error);
}

static bool is_float_dtype(fer_dtype dtype)
{
    return dtype != FER_BOOL && (FER_DTYPE_BIT(dtype) & FER_ANY_INT) == 0;
}

static fer_status parse_element(fer_lexer *lexer, fer_dtype dtype, void *out_element,
                                fer_error *error)
{
    fer_token first = lexer->token;
    bool is_nan = fer_lexer_at(lexer, "nan");
    fer_number number;
    fer_status status = fer_number_parse(lexer, &number, error);
    if (status == FER_OVERFLOW_ERROR) {
        const char *end = lexer->token.start + lexer->token.length;
        return fer_lexer_fail(lexer, &first, FER_VALUE_ERROR, error, "%.*s does not fit %s",
                              end - first.start > 60 ? 60 : (int)(end - first.start), first.start,
                              fer_dtype_name(dtype));
    }
    FER_TRY(status);
    if (is_nan && is_float_dtype(dtype) && fer_lexer_at(lexer, "("))
        return parse_nan_bits(lexer, dtype, out_element, error);
    status = fer_number_store(number, dtype, out_element, error);
    return fer_lexer_locate(lexer, &first, status, error);
}

static fer_status parse_one_more(fer_lexer *lexer, elements *read, fer_error *error)
{
    if (read->count == read->capacity) {
        size_t capacity = read->capacity == 0 ? 16 : 2 * read->capacity;
        void *data = reallocarray(read->data, capacity, read->element_bytes);
        if (data == NULL)
            return fer_fail_memory(error);
        read->data = data;
        read->capacity = capacity;
    }
    FER_TRY(
        parse_element(lexer, read->dtype, read->data + read->count * read->element_bytes, error));
    read->count++;
    return FER_OK;
}

static fer_status parse_list(fer_lexer *lexer, const fer_type *type, int64_t num_wanted,
                             elements *read, fer_error *error)
{
    fer_token start = lexer->token;
    FER_TRY(fer_lexer_expect(lexer, "[", "before a constant's elements", error));
    while (!fer_lexer_at(lexer, "]") && (int64_t)read->count <= num_wanted) {
        if (read->count > 0)
            FER_TRY(fer_lexer_expect(lexer, ",", "between a constant's elements", error));
        FER_TRY(parse_one_more(lexer, read, error));
    }
    if ((int64_t)read->count != num_wanted)
        return fer_lexer_fail(lexer, &start, FER_VALUE_ERROR, error,
                              "%s has %lld element%s, but %s%zu %s given", fer_type_text(type),
                              (long long)num_wanted, num_wanted == 1 ? "" : "s",
                              (int64_t)read->count > num_wanted ? "at least " : "", read->count,
                              read->count == 1 ? "is" : "are");
    return fer_lexer_expect(lexer, "]", "after a constant's elements", error);
}

fer_status fer_elements_count(const fer_lexer *lexer, const fer_type *type,
                              int64_t out_extents[FER_MAX_RANK], int64_t *out_num_elements,
                              fer_error *error)
{
    size_t rank = fer_type_rank(type);
    for (size_t axis = 0; axis < rank; axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        if (dim == NULL || fer_dim_value(dim, &out_extents[axis], NULL) != FER_OK)
            return fer_lexer_fail(lexer, &lexer->token, FER_TYPE_ERROR, error,
                                  "the dims of a constant are numbers, but its type is %s",
                                  fer_type_text(type));
    }
    if (!fer_count_elements(out_extents, rank, out_num_elements))
        return fer_lexer_fail(lexer, &lexer->token, FER_OVERFLOW_ERROR, error,
                              "%s has too many elements", fer_type_text(type));
    return FER_OK;
}

fer_status fer_elements_parse(fer_lexer *lexer, const fer_type *type, fer_tensor **out_tensor,
                              fer_error *error)
{
    *out_tensor = NULL;
    int64_t extents[FER_MAX_RANK];
    int64_t num_elements = 0;
    FER_TRY(fer_elements_count(lexer, type, extents, &num_elements, error));
    elements read = {.dtype = fer_type_dtype(type),
                     .element_bytes = fer_dtype_bytes(fer_type_dtype(type))};
    fer_status status = parse_list(lexer, type, num_elements, &read, error);
    if (status == FER_OK)
        status = fer_tensor_copy_from(read.dtype, fer_type_rank(type), extents, read.data,
                                      fer_type_device(type), out_tensor, error);
    free(read.data);
    return status;
}
