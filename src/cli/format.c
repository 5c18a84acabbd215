#include "cli/format.h"

#include "base/lexer.h"

#include <string.h>

enum { MAX_OPEN = 256, BLOCK_INDENT = 2, CONTINUATION_INDENT = 4 };

typedef enum bracket {
    BRACKET_ROUND,
    BRACKET_SQUARE,
    BRACKET_ANGLE,     /* of dtype variables and parameters, not a comparison */
    BRACKET_ATTRIBUTE, /* `{token: "..."}` */
    BRACKET_BLOCK      /* `{` of a graph, an arm, a loop's part */
} bracket;

typedef struct formatter {
    fer_lexer lexer;
    fer_text *out;
    fer_token previous;     /* FER_TOKEN_END before the first */
    fer_token before;       /* the one before that */
    bool is_previous_tight; /* a sign or star of what follows, or an opening bracket */
    bracket open[MAX_OPEN];
    fer_token opened_by[MAX_OPEN];
    size_t num_open;
    size_t num_blocks;
    bool is_in_conditions; /* behind a declaration's `where`: `<` compares */
} formatter;

/* --- What a token is ---------------------------------------------------------------------------
 */

static bool is_one_of(const fer_token *token, const char *const *texts, size_t num_texts)
{
    for (size_t i = 0; i < num_texts; i++)
        if (fer_token_is(token, texts[i]))
            return true;
    return false;
}
#define IS_ONE_OF(token, ...)                                                                      \
    is_one_of(token, (const char *const[]){__VA_ARGS__},                                           \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static bool is_word(const fer_token *token)
{
    return token->kind == FER_TOKEN_NAME || token->kind == FER_TOKEN_STRING;
}

static bool is_number(const fer_token *token)
{
    return token->kind == FER_TOKEN_INTEGER || token->kind == FER_TOKEN_FLOAT;
}

static bool is_in(const formatter *f, bracket kind)
{
    return f->num_open > 0 && f->open[f->num_open - 1] == kind;
}

/* Whether a value, a type or a name ends with it, so that an operator may follow. */
static bool ends_something(const fer_token *token)
{
    return is_word(token) || is_number(token) || IS_ONE_OF(token, ")", "]", "}", "?");
}

/* `-` of a number, `*` of a run of dims. */
static bool is_prefix(const formatter *f, const fer_token *token)
{
    return IS_ONE_OF(token, "-", "*") && !ends_something(&f->previous);
}

/* Whether a `<` begins the parameters of the name before it. */
static bool opens_angle(const formatter *f)
{
    return f->previous.kind == FER_TOKEN_NAME && !f->is_in_conditions &&
           (f->num_open == 0 || is_in(f, BRACKET_BLOCK));
}

/* A line of the file's outermost level that begins with one of its words, where an item can begin:
 * an op may be called `graph`. */
static bool starts_item(const formatter *f, const fer_token *token)
{
    return f->num_open == 0 && IS_ONE_OF(token, "use", "op", "graph") &&
           (f->previous.kind == FER_TOKEN_END || fer_token_is(&f->previous, "}") ||
            (token->line > f->previous.line && ends_something(&f->previous) &&
             !IS_ONE_OF(&f->previous, "op", "graph", "use", "where", "from", "source")));
}

/* The second part of an `if` or `while`: it stands behind the first one's bracket. */
static bool joins_block(const formatter *f, const fer_token *token)
{
    return fer_token_is(&f->previous, "}") && IS_ONE_OF(token, "else", "do");
}

/* `from` and a path, behind a constant's type. */
static bool starts_path(const formatter *f, const fer_token *token)
{
    fer_lexer ahead = f->lexer;
    fer_lexer_advance(&ahead);
    return fer_token_is(token, "from") && ahead.token.kind == FER_TOKEN_STRING;
}

static bool ends_path(const formatter *f)
{
    return f->previous.kind == FER_TOKEN_STRING && fer_token_is(&f->before, "from");
}

/* In a block: a call, a type, a path or a block ended, and another word follows. */
static bool starts_step(const formatter *f, const fer_token *token)
{
    if (!is_in(f, BRACKET_BLOCK))
        return false;
    if (f->previous.start == f->opened_by[f->num_open - 1].start)
        return true;
    return is_word(token) && (IS_ONE_OF(&f->previous, ")", "]", "}") || ends_path(f)) &&
           !IS_ONE_OF(token, "else", "do") && !starts_path(f, token);
}

static bool ends_block(const formatter *f, const fer_token *token)
{
    return is_in(f, BRACKET_BLOCK) && fer_token_is(token, "}");
}

/* --- Blanks and lines --------------------------------------------------------------------------
 */

static bool needs_blank(const formatter *f, const fer_token *token)
{
    const fer_token *previous = &f->previous;
    if (IS_ONE_OF(token, ",", ":", ")", "]", "|") || fer_token_is(previous, "|"))
        return false;
    if (f->is_previous_tight) /* a sign and another one could be one word: `->`, `**` */
        return IS_ONE_OF(previous, "-", "*") && !ends_something(token) && !fer_token_is(token, "(");
    if (fer_token_is(token, "}"))
        return !is_in(f, BRACKET_ATTRIBUTE);
    if (fer_token_is(token, ">"))
        return !is_in(f, BRACKET_ANGLE);
    if (fer_token_is(token, "<"))
        return !opens_angle(f);
    if (fer_token_is(token, "("))
        /* A call, or a word of the language with its own blank. */
        return !(is_word(previous) || fer_token_is(previous, ">")) ||
               (IS_ONE_OF(previous, "while", "and") &&
                token->start > previous->start + previous->length);
    if (fer_token_is(token, "["))
        return !is_word(previous) || IS_ONE_OF(&f->before, "rebind", "reshape");
    return true;
}

static void start_line(formatter *f, size_t indent)
{
    fer_text_append_char(f->out, '\n');
    for (size_t i = 0; i < indent; i++)
        fer_text_append_char(f->out, ' ');
}

static size_t block_indent(const formatter *f, const fer_token *token)
{
    return BLOCK_INDENT * (f->num_blocks - ends_block(f, token));
}

/* The comments between two tokens, each where it stood: behind the line, or on one of its own.
 * Gives whether the last one leaves a line that must end, and how many line breaks followed. */
static bool append_comments(formatter *f, const char *gap, const char *end, size_t indent,
                            size_t *out_num_breaks)
{
    size_t num_breaks = 0;
    bool has_comment = false;
    for (const char *p = gap; p < end;) {
        if (*p != '#') {
            num_breaks += *p++ == '\n';
            continue;
        }
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop == NULL ? end : stop;
        const char *last = stop;
        while (last > p && strchr(" \t\r", last[-1]) != NULL)
            last--;
        bool is_first = f->out->length == 0;
        if (num_breaks == 0 && !is_first) {
            fer_text_append(f->out, "  ");
        } else if (!is_first) {
            if (num_breaks > 1 && !fer_token_is(&f->previous, "{"))
                fer_text_append_char(f->out, '\n');
            start_line(f, indent);
        }
        fer_text_append_bytes(f->out, p, (size_t)(last - p));
        has_comment = true;
        num_breaks = 0;
        p = stop;
    }
    *out_num_breaks = num_breaks;
    return has_comment;
}

/* What stands between the token before and this one. */
static void separate(formatter *f, const char *gap, const fer_token *token)
{
    bool is_end = token->kind == FER_TOKEN_END;
    bool is_start =
        is_end || starts_item(f, token) || starts_step(f, token) || ends_block(f, token);
    size_t indent = block_indent(f, token) + (is_start ? 0 : CONTINUATION_INDENT);
    size_t num_breaks;
    /* A comment before a closing bracket belongs to what is inside. */
    size_t comment_indent = ends_block(f, token) ? indent + BLOCK_INDENT : indent;
    bool has_comment = append_comments(f, gap, token->start, comment_indent, &num_breaks);
    if (is_end || f->out->length == 0)
        return;
    bool is_behind_graph = starts_item(f, token) && fer_token_is(&f->previous, "}") && !has_comment;
    if (is_start || has_comment || (num_breaks > 0 && !joins_block(f, token))) {
        bool is_inside_edge =
            ends_block(f, token) || (fer_token_is(&f->previous, "{") && !has_comment);
        if (is_behind_graph || (num_breaks > 1 && is_start && !is_inside_edge))
            fer_text_append_char(f->out, '\n');
        start_line(f, indent);
    } else if (needs_blank(f, token)) {
        fer_text_append_char(f->out, ' ');
    }
}

/* --- Brackets ----------------------------------------------------------------------------------
 */

static bool is_attribute(const formatter *f)
{
    fer_lexer ahead = f->lexer;
    fer_lexer_advance(&ahead);
    if (!fer_lexer_accept(&ahead, "token") && !fer_lexer_accept(&ahead, "digest"))
        return false;
    return fer_lexer_at(&ahead, ":");
}

static fer_status open_bracket(formatter *f, bracket kind, fer_error *error)
{
    if (f->num_open == MAX_OPEN)
        return fer_lexer_fail(&f->lexer, &f->lexer.token, FER_VALUE_ERROR, error,
                              "brackets nest more than %d deep", MAX_OPEN);
    f->opened_by[f->num_open] = f->lexer.token;
    f->open[f->num_open++] = kind;
    f->num_blocks += kind == BRACKET_BLOCK;
    return FER_OK;
}

static fer_status close_bracket(formatter *f, bool is_right, fer_error *error)
{
    if (!is_right)
        return fer_lexer_fail(&f->lexer, &f->lexer.token, FER_VALUE_ERROR, error,
                              "'%.*s' closes nothing", (int)f->lexer.token.length,
                              f->lexer.token.start);
    f->num_open--;
    f->num_blocks -= f->open[f->num_open] == BRACKET_BLOCK;
    return FER_OK;
}

static fer_status follow_brackets(formatter *f, fer_error *error)
{
    const fer_token *token = &f->lexer.token;
    if (fer_token_is(token, "("))
        return open_bracket(f, BRACKET_ROUND, error);
    if (fer_token_is(token, "["))
        return open_bracket(f, BRACKET_SQUARE, error);
    if (fer_token_is(token, "{"))
        return open_bracket(f, is_attribute(f) ? BRACKET_ATTRIBUTE : BRACKET_BLOCK, error);
    if (fer_token_is(token, "<") && opens_angle(f))
        return open_bracket(f, BRACKET_ANGLE, error);
    if (fer_token_is(token, ")"))
        return close_bracket(f, is_in(f, BRACKET_ROUND), error);
    if (fer_token_is(token, "]"))
        return close_bracket(f, is_in(f, BRACKET_SQUARE), error);
    if (fer_token_is(token, "}"))
        return close_bracket(f, is_in(f, BRACKET_ATTRIBUTE) || is_in(f, BRACKET_BLOCK), error);
    if (fer_token_is(token, ">") && is_in(f, BRACKET_ANGLE))
        return close_bracket(f, true, error);
    return FER_OK;
}

/* --- The walk ----------------------------------------------------------------------------------
 */

static fer_status step(formatter *f, const char *gap, fer_error *error)
{
    fer_token token = f->lexer.token;
    if (token.kind == FER_TOKEN_BAD)
        return fer_lexer_unexpected(&f->lexer, "a word of a program", error);
    separate(f, gap, &token);
    if (starts_item(f, &token))
        f->is_in_conditions = false;
    else if (f->num_open == 0 && fer_token_is(&token, "where") &&
             IS_ONE_OF(&f->previous, "]", ")", "effect"))
        f->is_in_conditions = true;
    bool is_angle = fer_token_is(&token, "<") && opens_angle(f);
    bool is_tight = is_prefix(f, &token) || IS_ONE_OF(&token, "(", "[") || is_angle;
    FER_TRY(follow_brackets(f, error));
    f->is_previous_tight = is_tight || (fer_token_is(&token, "{") && is_in(f, BRACKET_ATTRIBUTE));
    fer_text_append_bytes(f->out, token.start, token.length);
    f->before = f->previous;
    f->previous = token;
    return FER_OK;
}

fer_status fer_format_program(const char *text, const char *source_name, fer_text *out,
                              fer_error *error)
{
    formatter f = {.out = out};
    const char *gap = text;
    for (fer_lexer_start(&f.lexer, text, source_name, true); f.lexer.token.kind != FER_TOKEN_END;
         fer_lexer_advance(&f.lexer)) {
        FER_TRY(step(&f, gap, error));
        gap = f.previous.start + f.previous.length;
    }
    if (f.num_open > 0)
        return fer_lexer_fail(&f.lexer, &f.opened_by[f.num_open - 1], FER_VALUE_ERROR, error,
                              "this bracket is not closed");
    separate(&f, gap, &f.lexer.token);
    if (out->length > 0)
        fer_text_append_char(out, '\n');
    return out->has_failed ? fer_fail_memory(error) : FER_OK;
}
