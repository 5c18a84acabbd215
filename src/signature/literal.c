#include "signature/literal.h"

#include "types/dtype.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const KIND_NAMES[] = {
    [FER_PARAM_INT] = "int", [FER_PARAM_FLOAT] = "float", [FER_PARAM_BOOL] = "bool",
    [FER_PARAM_STR] = "str", [FER_PARAM_DTYPE] = "dtype",
};

const char *fer_param_kind_name(fer_param_kind kind)
{
    size_t index = (size_t)kind;
    return index < sizeof KIND_NAMES / sizeof *KIND_NAMES ? KIND_NAMES[index] : NULL;
}

/* Numbers are read and written in the C locale, whatever the program around us has set: a comma for
 * the point would be another text. The object for "C" is static in the C library and never fails.
 */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_c_locale(locale_t previous)
{
    freelocale(uselocale(previous));
}

static fer_status parse_integer(fer_lexer *lexer, bool is_negative, fer_param *out_value,
                                fer_error *error)
{
    int64_t value = 0;
    bool has_overflowed = false;
    for (size_t i = 0; i < lexer->token.length; i++) {
        int digit = lexer->token.start[i] - '0';
        has_overflowed |= __builtin_mul_overflow(value, 10, &value);
        has_overflowed |= is_negative ? __builtin_sub_overflow(value, digit, &value)
                                      : __builtin_add_overflow(value, digit, &value);
    }
    if (has_overflowed)
        return fer_lexer_fail(lexer, &lexer->token, FER_OVERFLOW_ERROR, error,
                              "%s%.*s is outside int64", is_negative ? "-" : "",
                              lexer->token.length > 60 ? 60 : (int)lexer->token.length,
                              lexer->token.start);
    *out_value = (fer_param){.kind = FER_PARAM_INT, .has_value = true, .value.as_int = value};
    fer_lexer_advance(lexer);
    return FER_OK;
}

static fer_status parse_float(fer_lexer *lexer, bool is_negative, fer_param *out_value,
                              fer_error *error)
{
    locale_t previous = enter_c_locale();
    double value = strtod(lexer->token.start, NULL);
    leave_c_locale(previous);
    if (isinf(value))
        return fer_lexer_fail(lexer, &lexer->token, FER_OVERFLOW_ERROR, error,
                              "%.*s is too large for a float; write inf if infinity is meant",
                              lexer->token.length > 60 ? 60 : (int)lexer->token.length,
                              lexer->token.start);
    *out_value = (fer_param){
        .kind = FER_PARAM_FLOAT, .has_value = true, .value.as_float = is_negative ? -value : value};
    fer_lexer_advance(lexer);
    return FER_OK;
}

static bool accept_named_float(fer_lexer *lexer, bool is_negative, fer_param *out_value)
{
    double value;
    if (fer_lexer_accept(lexer, "inf"))
        value = INFINITY;
    else if (fer_lexer_accept(lexer, "nan"))
        value = NAN;
    else
        return false;
    *out_value = (fer_param){
        .kind = FER_PARAM_FLOAT, .has_value = true, .value.as_float = is_negative ? -value : value};
    return true;
}

static fer_status parse_string(fer_lexer *lexer, fer_pool *pool, fer_param *out_value,
                               fer_error *error)
{
    char *bytes;
    size_t length;
    FER_TRY(fer_lexer_expect_string(lexer, "a string", &bytes, &length, error));
    const char *kept = fer_pool_bytes(pool, bytes, length);
    free(bytes);
    if (kept == NULL)
        return fer_fail_memory(error);
    *out_value =
        (fer_param){.kind = FER_PARAM_STR, .has_value = true, .value.as_str = {kept, length}};
    return FER_OK;
}

/* A name that is no number: true, false or a dtype. */
static fer_status parse_named(fer_lexer *lexer, fer_param *out_value, fer_error *error)
{
    const fer_token *token = &lexer->token;
    if (fer_lexer_at(lexer, "true") || fer_lexer_at(lexer, "false")) {
        *out_value = (fer_param){.kind = FER_PARAM_BOOL,
                                 .has_value = true,
                                 .value.as_bool = fer_lexer_at(lexer, "true")};
        fer_lexer_advance(lexer);
        return FER_OK;
    }
    if (fer_lexer_at(lexer, "True") || fer_lexer_at(lexer, "False"))
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error, "write '%s'",
                              fer_lexer_at(lexer, "True") ? "true" : "false");
    if (fer_lexer_at(lexer, "None"))
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error,
                              "a parameter without a value has no '='; leave '= None' out");
    fer_dtype dtype;
    fer_status status = fer_dtype_parse(token->start, token->length, &dtype, NULL);
    const char *near = fer_dtype_near(token->start, token->length);
    if (status == FER_TYPE_ERROR)
        return fer_lexer_fail(lexer, token, FER_TYPE_ERROR, error,
                              "'%.*s' is no dtype%s%s%s and no other literal; strings stand in "
                              "double quotes",
                              token->length > 60 ? 60 : (int)token->length, token->start,
                              near == NULL ? "" : " (did you mean '", near == NULL ? "" : near,
                              near == NULL ? "" : "'?)");
    if (status != FER_OK)
        return fer_fail_memory(error);
    *out_value = (fer_param){.kind = FER_PARAM_DTYPE, .has_value = true, .value.as_dtype = dtype};
    fer_lexer_advance(lexer);
    return FER_OK;
}

fer_status fer_literal_parse(fer_lexer *lexer, fer_pool *pool, fer_param *out_value,
                             fer_error *error)
{
    bool is_negative = fer_lexer_accept(lexer, "-");
    const fer_token *token = &lexer->token;
    if (token->kind == FER_TOKEN_INTEGER)
        return parse_integer(lexer, is_negative, out_value, error);
    if (token->kind == FER_TOKEN_FLOAT)
        return parse_float(lexer, is_negative, out_value, error);
    if (accept_named_float(lexer, is_negative, out_value))
        return FER_OK;
    if (is_negative)
        return fer_lexer_unexpected(lexer, "a number after '-'", error);
    if (token->kind == FER_TOKEN_STRING)
        return parse_string(lexer, pool, out_value, error);
    if (token->kind == FER_TOKEN_NAME)
        return parse_named(lexer, out_value, error);
    if (token->kind == FER_TOKEN_BAD && *token->start == '\'')
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error,
                              "strings stand in double quotes");
    if (token->kind == FER_TOKEN_BAD && *token->start == '0')
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error,
                              "an integer is written in decimal, and a hex float has an exponent "
                              "(0x1p-3)");
    return fer_lexer_unexpected(lexer, "a value (a number, true, false, a string or a dtype)",
                                error);
}

/* The shortest decimal that reads back to the same bits. */
static void append_float(fer_text *text, double value)
{
    if (isnan(value)) {
        fer_text_append(text, "nan");
        return;
    }
    if (isinf(value)) {
        fer_text_append(text, value < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    locale_t previous = enter_c_locale();
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    leave_c_locale(previous);
    fer_text_append(text, digits);
    if (strpbrk(digits, ".e") == NULL) /* so that it stays a float when it is read */
        fer_text_append(text, ".0");
}

void fer_literal_append(fer_text *text, const fer_param *param)
{
    switch (param->kind) {
    case FER_PARAM_INT:
        fer_text_printf(text, "%lld", (long long)param->value.as_int);
        break;
    case FER_PARAM_FLOAT:
        append_float(text, param->value.as_float);
        break;
    case FER_PARAM_BOOL:
        fer_text_append(text, param->value.as_bool ? "true" : "false");
        break;
    case FER_PARAM_STR:
        fer_text_append_quoted(text, param->value.as_str.data, param->value.as_str.num_bytes);
        break;
    case FER_PARAM_DTYPE:
        fer_text_append(text, fer_dtype_name(param->value.as_dtype));
        break;
    }
}

/* Whether a double holds the integer exactly. 2^63 itself is no int64, so the way back is safe
 * below it. */
static bool is_exact_float(int64_t value)
{
    double rounded = (double)value;
    return rounded < 0x1p63 && (int64_t)rounded == value;
}

static fer_status fail_assign(const char *op, const fer_param *param, const fer_param *value,
                              fer_error *error)
{
    if (error == NULL)
        return FER_TYPE_ERROR;
    const char *expected = fer_param_kind_name(param->kind);
    const char *actual = fer_param_kind_name(value->kind);
    bool is_inexact = param->kind == FER_PARAM_FLOAT && value->kind == FER_PARAM_INT;
    fer_text literal = FER_TEXT_INIT;
    fer_literal_append(&literal, value);
    fer_place place = {.op = op, .expected = expected, .actual = actual};
    fer_status status =
        literal.has_failed
            ? fer_fail_memory(error)
            : fer_fail_at(error, FER_TYPE_ERROR, &place,
                          "%s%sparameter '%s' is of kind %s, but the value %s is of kind %s%s",
                          op == NULL ? "" : op, op == NULL ? "" : ": ", param->name, expected,
                          fer_text_string(&literal), actual,
                          is_inexact ? ", which a float cannot hold exactly" : "");
    fer_text_free(&literal);
    return status;
}

fer_status fer_param_assign(const char *op, fer_param *param, const fer_param *value,
                            fer_error *error)
{
    if (param->kind == value->kind) {
        param->has_value = true;
        param->value = value->value;
        return FER_OK;
    }
    if (param->kind != FER_PARAM_FLOAT || value->kind != FER_PARAM_INT ||
        !is_exact_float(value->value.as_int))
        return fail_assign(op, param, value, error);
    param->has_value = true;
    param->value.as_float = (double)value->value.as_int;
    return FER_OK;
}
