#include "base/lexer.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not <ctype.h>: the languages are the same in every locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

/* What a terminal would obey rather than show. */
static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

bool fer_is_name(const char *text)
{
    if (!is_name_start(*text))
        return false;
    while (is_name_part(*text))
        text++;
    return *text == '\0';
}

static const char *skip_exponent(const char *p, char lower, bool *out_found)
{
    if (*p != lower && *p != lower - 'a' + 'A')
        return p;
    const char *q = p + 1;
    if (*q == '+' || *q == '-')
        q++;
    if (!is_digit(*q))
        return p;
    while (is_digit(*q))
        q++;
    *out_found = true;
    return q;
}

/* The end of a number, and which kind of number it is. */
static const char *scan_number(const char *p, fer_token_kind *out_kind)
{
    bool is_float = false;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X') &&
        (is_hex_digit(p[2]) || (p[2] == '.' && is_hex_digit(p[3])))) {
        p += 2;
        while (is_hex_digit(*p))
            p++;
        if (*p == '.') {
            p++;
            while (is_hex_digit(*p))
                p++;
        }
        p = skip_exponent(p, 'p', &is_float);
        *out_kind = is_float ? FER_TOKEN_FLOAT : FER_TOKEN_BAD; /* C wants the exponent */
        return p;
    }
    while (is_digit(*p))
        p++;
    if (*p == '.') {
        is_float = true;
        p++;
        while (is_digit(*p))
            p++;
    }
    p = skip_exponent(p, 'e', &is_float);
    *out_kind = is_float ? FER_TOKEN_FLOAT : FER_TOKEN_INTEGER;
    return p;
}

static const char *scan_string(const char *p, fer_token_kind *out_kind)
{
    for (p++; *p != '"'; p++) {
        if (*p == '\\' && p[1] != '\0' && p[1] != '\n')
            p++;
        else if (*p == '\0' || *p == '\n') {
            *out_kind = FER_TOKEN_BAD;
            return p;
        }
    }
    *out_kind = FER_TOKEN_STRING;
    return p + 1;
}

static size_t punctuation_length(const char *p)
{
    static const char *const PAIRS[] = {"->", "//", "**", "==", "!=", "<=", ">="};
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        if (strncmp(p, PAIRS[i], 2) == 0)
            return 2;
    return 1;
}

static void skip_blanks(fer_lexer *lexer)
{
    const char *p = lexer->cursor;
    for (;;) {
        if (*p == '\n') {
            lexer->line++;
            lexer->line_start = ++p;
        } else if (*p == ' ' || *p == '\t' || *p == '\r') {
            p++;
        } else if (*p == '#' && lexer->has_comments) {
            while (*p != '\0' && *p != '\n')
                p++;
        } else {
            break;
        }
    }
    lexer->cursor = p;
}

void fer_lexer_advance(fer_lexer *lexer)
{
    skip_blanks(lexer);
    const char *start = lexer->cursor;
    const char *end = start;
    fer_token_kind kind = FER_TOKEN_PUNCTUATION;
    if (*start == '\0') {
        kind = FER_TOKEN_END;
    } else if (is_name_start(*start)) {
        kind = FER_TOKEN_NAME;
        while (is_name_part(*end))
            end++;
    } else if (is_digit(*start) || (*start == '.' && is_digit(start[1]))) {
        end = scan_number(start, &kind);
    } else if (*start == '"') {
        end = scan_string(start, &kind);
    } else if (strchr("()[]{}<>=!+-*/%,:|.?@#", *start) != NULL) {
        end = start + punctuation_length(start);
    } else {
        kind = FER_TOKEN_BAD;
        do /* whole UTF-8 characters, so that messages stay text */
            end++;
        while (((unsigned char)*end & 0xc0) == 0x80);
    }
    lexer->token = (fer_token){
        .kind = kind,
        .start = start,
        .length = (size_t)(end - start),
        .line = lexer->line,
        .column = (size_t)(start - lexer->line_start) + 1,
    };
    lexer->cursor = end;
}

void fer_lexer_start(fer_lexer *lexer, const char *text, const char *source_name, bool has_comments)
{
    *lexer = (fer_lexer){
        .cursor = text,
        .line_start = text,
        .line = 1,
        .has_lines = strchr(text, '\n') != NULL,
        .has_comments = has_comments,
        .source_name = source_name,
    };
    fer_lexer_advance(lexer);
}

bool fer_token_is(const fer_token *token, const char *text)
{
    return (token->kind == FER_TOKEN_NAME || token->kind == FER_TOKEN_PUNCTUATION) &&
           strlen(text) == token->length && memcmp(token->start, text, token->length) == 0;
}

bool fer_lexer_at(const fer_lexer *lexer, const char *text)
{
    return fer_token_is(&lexer->token, text);
}

bool fer_lexer_accept(fer_lexer *lexer, const char *text)
{
    if (!fer_lexer_at(lexer, text))
        return false;
    fer_lexer_advance(lexer);
    return true;
}

void fer_lexer_append_place(const fer_lexer *lexer, const fer_token *token, fer_text *text)
{
    if (lexer->source_name != NULL)
        fer_text_printf(text, "%s:%zu:%zu", lexer->source_name, token->line, token->column);
    else if (lexer->has_lines)
        fer_text_printf(text, "line %zu, column %zu", token->line, token->column);
    else
        fer_text_printf(text, "column %zu", token->column);
}

fer_status fer_lexer_locate(const fer_lexer *lexer, const fer_token *token, fer_status status,
                            fer_error *error)
{
    if (status == FER_OK || error == NULL)
        return status;
    fer_text place = FER_TEXT_INIT;
    fer_lexer_append_place(lexer, token, &place);
    fer_error_mark(error, token->start - (token->column - 1), token->column);
    status = place.has_failed ? fer_fail_memory(error)
                              : fer_error_prepend(error, status, "%s: ", fer_text_string(&place));
    fer_text_free(&place);
    return status;
}

fer_status fer_lexer_fail(const fer_lexer *lexer, const fer_token *token, fer_status kind,
                          fer_error *error, const char *format, ...)
{
    if (error == NULL)
        return kind;
    fer_text message = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&message, format, arguments);
    va_end(arguments);
    if (message.has_failed)
        kind = fer_fail_memory(error);
    else
        kind = fer_fail(error, kind, "%s", fer_text_string(&message));
    fer_text_free(&message);
    return fer_lexer_locate(lexer, token, kind, error);
}

fer_status fer_lexer_unexpected(const fer_lexer *lexer, const char *expected, fer_error *error)
{
    const fer_token *token = &lexer->token;
    if (token->kind == FER_TOKEN_END)
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error,
                              "expected %s, found the end of the text", expected);
    if (token->kind == FER_TOKEN_BAD && *token->start == '"')
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error,
                              "a string without its closing quote");
    if (is_control(*token->start))
        return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error,
                              "expected %s, found the control character 0x%02x", expected,
                              (unsigned)*token->start);
    char found[61];
    size_t length = token->length < sizeof found ? token->length : sizeof found - 1;
    for (size_t i = 0; i < length; i++)
        found[i] = is_control(token->start[i]) ? '?' : token->start[i];
    found[length] = '\0';
    return fer_lexer_fail(lexer, token, FER_VALUE_ERROR, error, "expected %s, found '%s'", expected,
                          found);
}

fer_status fer_lexer_expect(fer_lexer *lexer, const char *text, const char *where, fer_error *error)
{
    if (fer_lexer_accept(lexer, text))
        return FER_OK;
    char expected[96];
    snprintf(expected, sizeof expected, "'%s'%s%s", text, *where == '\0' ? "" : " ", where);
    return fer_lexer_unexpected(lexer, expected, error);
}

fer_status fer_lexer_expect_name(fer_lexer *lexer, const char *what, char **out_name,
                                 fer_error *error)
{
    *out_name = NULL;
    if (lexer->token.kind != FER_TOKEN_NAME)
        return fer_lexer_unexpected(lexer, what, error);
    *out_name = strndup(lexer->token.start, lexer->token.length);
    if (*out_name == NULL)
        return fer_fail_memory(error);
    fer_lexer_advance(lexer);
    return FER_OK;
}

static bool read_hex4(const char *p, unsigned *out_value)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        if (!is_hex_digit(p[i]))
            return false;
        unsigned digit =
            is_digit(p[i]) ? (unsigned)(p[i] - '0') : ((unsigned)p[i] | 32u) - 'a' + 10;
        value = value * 16 + digit;
    }
    *out_value = value;
    return true;
}

/* At most four bytes; returns how many. */
static size_t encode_utf8(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | (code >> 12));
        out[1] = (char)(0x80 | ((code >> 6) & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | (code >> 18));
    out[1] = (char)(0x80 | ((code >> 12) & 0x3f));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Reads the escape at `*p` (the backslash) into `out`, at most four bytes, and steps over it.
 * Returns how many bytes; 0 for a bad escape. An escape never writes more bytes than it takes in
 * the text. */
static size_t read_escape(const char **p, char *out)
{
    static const char FROM[] = "\"\\/bfnrt";
    static const char TO[] = "\"\\/\b\f\n\r\t";
    char kind = (*p)[1];
    const char *simple = kind == '\0' ? NULL : strchr(FROM, kind);
    if (simple != NULL) {
        *out = TO[simple - FROM];
        *p += 2;
        return 1;
    }
    unsigned code;
    if (kind != 'u' || !read_hex4(*p + 2, &code))
        return 0;
    *p += 6;
    if (code >= 0xdc00 && code < 0xe000)
        return 0;
    if (code >= 0xd800 && code < 0xdc00) {
        unsigned low;
        if ((*p)[0] != '\\' || (*p)[1] != 'u' || !read_hex4(*p + 2, &low) || low < 0xdc00 ||
            low >= 0xe000)
            return 0;
        *p += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return encode_utf8(code, out);
}

fer_status fer_lexer_expect_string(fer_lexer *lexer, const char *what, char **out_bytes,
                                   size_t *out_length, fer_error *error)
{
    *out_bytes = NULL;
    *out_length = 0;
    if (lexer->token.kind != FER_TOKEN_STRING)
        return fer_lexer_unexpected(lexer, what, error);
    const char *p = lexer->token.start + 1;
    const char *end = lexer->token.start + lexer->token.length - 1;
    char *bytes = malloc((size_t)(end - p) + 1);
    if (bytes == NULL)
        return fer_fail_memory(error);
    size_t length = 0;
    while (p < end) {
        if (*p != '\\') {
            bytes[length++] = *p++;
            continue;
        }
        size_t written = read_escape(&p, bytes + length);
        if (written == 0) {
            free(bytes);
            return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                                  "a string with an escape that JSON does not have");
        }
        length += written;
    }
    bytes[length] = '\0';
    *out_bytes = bytes;
    *out_length = length;
    fer_lexer_advance(lexer);
    return FER_OK;
}
