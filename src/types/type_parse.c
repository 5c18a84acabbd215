/* Types from text. */
#include "types/device.h"
#include "types/expression.h"

#include <stdlib.h>

static fer_status parse_dtype(fer_lexer *lexer, fer_dtype *out_dtype, fer_error *error)
{
    if (lexer->token.kind != FER_TOKEN_NAME)
        return fer_lexer_unexpected(lexer, "a dtype", error);
    const fer_token token = lexer->token;
    fer_status status = fer_dtype_parse(token.start, token.length, out_dtype, error);
    fer_lexer_advance(lexer);
    return fer_lexer_locate(lexer, &token, status, error);
}

static fer_status parse_dim(fer_lexer *lexer, size_t rank, fer_dim **out_dim, fer_error *error)
{
    if (rank == FER_MAX_RANK)
        return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                              "a type has at most %d dims", FER_MAX_RANK);
    if (fer_lexer_at(lexer, "*"))
        return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                              "a run of dims (*name) stands in signatures only; write the dims");
    return fer_expression_parse(lexer, NULL, NULL, out_dim, error);
}

/* The dims up to the closing bracket, which it steps over. `dims` has room for FER_MAX_RANK; what
 * was read is the caller's to release, also after a failure. */
static fer_status parse_dims(fer_lexer *lexer, fer_dim **dims, size_t *rank, fer_error *error)
{
    FER_TRY(fer_lexer_expect(lexer, "[", "after the dtype", error));
    if (fer_lexer_accept(lexer, "]"))
        return FER_OK;
    do {
        FER_TRY(parse_dim(lexer, *rank, &dims[*rank], error));
        ++*rank;
    } while (fer_lexer_accept(lexer, ","));
    return fer_lexer_expect(lexer, "]", "or ',' after a dim", error);
}

fer_status fer_device_parse_tokens(fer_lexer *lexer, fer_device *out_device, fer_error *error)
{
    const fer_token number = lexer->token;
    if (number.kind != FER_TOKEN_INTEGER || number.length > 9)
        return fer_lexer_unexpected(lexer, "the number of a device", error);
    fer_device device = {.id = (int32_t)strtol(number.start, NULL, 10)};
    FER_TRY(fer_lexer_locate(lexer, &number, fer_device_check(device, error), error));
    fer_lexer_advance(lexer);
    *out_device = device;
    return FER_OK;
}

fer_status fer_type_parse_tokens(fer_lexer *lexer, fer_type **out_type, fer_error *error)
{
    *out_type = NULL;
    const fer_token start = lexer->token;
    fer_dim *dims[FER_MAX_RANK + 1];
    size_t rank = 0;
    fer_dtype dtype;
    fer_device device = {0};
    fer_status status;
    FER_TRY_DONE(parse_dtype(lexer, &dtype, error));
    FER_TRY_DONE(parse_dims(lexer, dims, &rank, error));
    if (fer_lexer_accept(lexer, "@"))
        FER_TRY_DONE(fer_device_parse_tokens(lexer, &device, error));
    status = fer_type_create(dtype, rank, (const fer_dim *const *)dims, device, out_type, error);
    status = fer_lexer_locate(lexer, &start, status, error);

done:
    for (size_t i = 0; i < rank; i++)
        fer_dim_release(dims[i]);
    return status;
}

fer_status fer_type_parse(const char *text, fer_type **out_type, fer_error *error)
{
    *out_type = NULL;
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    fer_type *type;
    FER_TRY(fer_type_parse_tokens(&lexer, &type, error));
    if (lexer.token.kind == FER_TOKEN_END) {
        *out_type = type;
        return FER_OK;
    }
    fer_type_release(type);
    return fer_lexer_unexpected(&lexer, "the end after the type", error);
}
