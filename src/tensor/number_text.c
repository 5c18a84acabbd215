/* Plain numbers from text and as text. */
#include "tensor/number.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Numbers are read and written in the C locale, whatever the program around us has set. The object
 * for "C" is static in the C library and never fails. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_c_locale(locale_t previous)
{
    freelocale(uselocale(previous));
}

static fer_status fail_range(const fer_lexer *lexer, bool is_negative, const char *why,
                             fer_error *error)
{
    const fer_token *token = &lexer->token;
    return fer_lexer_fail(lexer, token, FER_OVERFLOW_ERROR, error, "%s%.*s%s is %s",
                          is_negative ? "-" : "", token->length > 60 ? 60 : (int)token->length,
                          token->start, token->length > 60 ? "..." : "", why);
}

static fer_status parse_integer(fer_lexer *lexer, bool is_negative, fer_number *out_number,
                                fer_error *error)
{
    uint64_t magnitude = 0;
    bool has_overflowed = false;
    for (size_t i = 0; i < lexer->token.length; i++) {
        has_overflowed |= __builtin_mul_overflow(magnitude, 10u, &magnitude);
        has_overflowed |=
            __builtin_add_overflow(magnitude, (uint64_t)(lexer->token.start[i] - '0'), &magnitude);
    }
    fer_int128 value = is_negative ? -(fer_int128)magnitude : (fer_int128)magnitude;
    if (has_overflowed || value < INT64_MIN)
        return fail_range(lexer, is_negative, "outside 64 bits", error);
    *out_number = fer_number_of_integer(value);
    return FER_OK;
}

static fer_status parse_float(fer_lexer *lexer, bool is_negative, fer_number *out_number,
                              fer_error *error)
{
    double value = 0;
    if (lexer->token.kind == FER_TOKEN_FLOAT) {
        locale_t previous = enter_c_locale();
        value = strtod(lexer->token.start, NULL);
        leave_c_locale(previous);
        if (isinf(value))
            return fail_range(lexer, is_negative,
                              "too large for a float; write inf if infinity is meant", error);
    } else if (fer_lexer_at(lexer, "inf")) {
        value = INFINITY;
    } else if (fer_lexer_at(lexer, "nan")) {
        value = NAN;
    } else {
        return fer_lexer_unexpected(
            lexer, is_negative ? "a number after '-'" : "a number, true or false", error);
    }
    *out_number =
        (fer_number){.kind = FER_NUMBER_FLOAT, .value.as_float = is_negative ? -value : value};
    return FER_OK;
}

fer_status fer_number_parse(fer_lexer *lexer, fer_number *out_number, fer_error *error)
{
    bool is_negative = fer_lexer_accept(lexer, "-");
    bool is_true = fer_lexer_at(lexer, "true");
    if (!is_negative && (is_true || fer_lexer_at(lexer, "false")))
        *out_number = (fer_number){.kind = FER_NUMBER_BOOL, .value.as_bool = is_true};
    else if (lexer->token.kind == FER_TOKEN_INTEGER)
        FER_TRY(parse_integer(lexer, is_negative, out_number, error));
    else
        FER_TRY(parse_float(lexer, is_negative, out_number, error));
    fer_lexer_advance(lexer);
    return FER_OK;
}

fer_number fer_number_of_integer(fer_int128 value)
{
    if (value > INT64_MAX)
        return (fer_number){.kind = FER_NUMBER_UINT, .value.as_uint = (uint64_t)value};
    return (fer_number){.kind = FER_NUMBER_INT, .value.as_int = (int64_t)value};
}

bool fer_number_is_integer(fer_number number)
{
    return number.kind == FER_NUMBER_INT || number.kind == FER_NUMBER_UINT;
}

fer_int128 fer_number_integer(fer_number number)
{
    return number.kind == FER_NUMBER_UINT ? (fer_int128)number.value.as_uint : number.value.as_int;
}

const char *fer_number_text(fer_number number, char text[FER_NUMBER_TEXT])
{
    double value = number.value.as_float;
    switch (number.kind) {
    case FER_NUMBER_BOOL:
        return number.value.as_bool ? "true" : "false";
    case FER_NUMBER_INT:
        snprintf(text, FER_NUMBER_TEXT, "%" PRId64, number.value.as_int);
        return text;
    case FER_NUMBER_UINT:
        snprintf(text, FER_NUMBER_TEXT, "%" PRIu64, number.value.as_uint);
        return text;
    case FER_NUMBER_FLOAT:
        break;
    }
    if (isnan(value))
        return "nan";
    locale_t previous = enter_c_locale();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, FER_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    leave_c_locale(previous);
    return text;
}
