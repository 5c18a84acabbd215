/* Tokens of the text languages: dims, types, signatures and programs share one lexer, so that a
 * place in a text is named the same way everywhere. */
#ifndef FERRULE_BASE_LEXER_H
#define FERRULE_BASE_LEXER_H

#include "base/text.h"

typedef enum fer_token_kind {
    FER_TOKEN_END = 0,
    FER_TOKEN_NAME,        /* [A-Za-z_][A-Za-z0-9_]* */
    FER_TOKEN_INTEGER,     /* decimal digits, no sign */
    FER_TOKEN_FLOAT,       /* a decimal or C hex float, no sign; `inf` and `nan` are names */
    FER_TOKEN_STRING,      /* in double quotes, with the quotes */
    FER_TOKEN_PUNCTUATION, /* `->`, `//`, `**`, `==`, `!=`, `<=`, `>=`, or one character */
    FER_TOKEN_BAD          /* what can start no token, or an unfinished string */
} fer_token_kind;

typedef struct fer_token {
    fer_token_kind kind;
    const char *start;
    size_t length;
    size_t line;   /* from 1 */
    size_t column; /* from 1, in bytes */
} fer_token;

typedef struct fer_lexer {
    const char *cursor;
    const char *line_start;
    size_t line;
    bool has_lines;          /* more than one */
    bool has_comments;       /* `#` starts a comment up to the line's end */
    const char *source_name; /* NULL: errors say `column N`, where there are several lines
                                `line L, column N`; else `name:line:column` */
    fer_token token;         /* the one that comes next */
} fer_lexer;

/* Starts at the first token of a terminated text, which the lexer borrows. */
void fer_lexer_start(fer_lexer *lexer, const char *text, const char *source_name,
                     bool has_comments);
void fer_lexer_advance(fer_lexer *lexer);

/* Whether the next token is this punctuation, or this name. */
bool fer_lexer_at(const fer_lexer *lexer, const char *text);
/* The same, and steps over it when it is. */
bool fer_lexer_accept(fer_lexer *lexer, const char *text);
/* Steps over it, or VALUE: `column 9: expected ')' after the dims, found '->'`. `where` may be "".
 */
fer_status fer_lexer_expect(fer_lexer *lexer, const char *text, const char *where,
                            fer_error *error);
/* Steps over a name and copies it, for the caller to free; VALUE `expected WHAT` else. */
fer_status fer_lexer_expect_name(fer_lexer *lexer, const char *what, char **out_name,
                                 fer_error *error);
/* Steps over a string and gives its bytes, JSON's escapes read (as UTF-8; \u0000 is a byte 0), with
 * a terminator after them. The caller frees them. VALUE for a bad escape. */
fer_status fer_lexer_expect_string(fer_lexer *lexer, const char *what, char **out_bytes,
                                   size_t *out_length, fer_error *error);

bool fer_token_is(const fer_token *token, const char *text);

/* VALUE (or another kind) at a token: the place, then the message. */
__attribute__((format(printf, 5, 6))) fer_status fer_lexer_fail(const fer_lexer *lexer,
                                                                const fer_token *token,
                                                                fer_status kind, fer_error *error,
                                                                const char *format, ...);
/* `name:5:10`, `line 5, column 10` or `column 10`. */
void fer_lexer_append_place(const fer_lexer *lexer, const fer_token *token, fer_text *text);
/* Puts the token's place before the message of an error that is there already, keeping the rest,
 * and its line into it. FER_OK stays. */
fer_status fer_lexer_locate(const fer_lexer *lexer, const fer_token *token, fer_status status,
                            fer_error *error);
/* `expected WHAT, found 'token'` at the next token. */
fer_status fer_lexer_unexpected(const fer_lexer *lexer, const char *expected, fer_error *error);

/* Whether a text is one name. */
bool fer_is_name(const char *text);

#endif
