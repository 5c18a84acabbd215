#include "package/scan.h"

#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *p;
    int line;
    fer_scan *scan;
    fer_error *error;
    int depth;        /* of conditionals that are open */
    int skipped_from; /* the depth of the `#if 0` that hides what follows; 0: none */
} reader;

static bool is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The length of a backslash with the line's end behind it, which C takes for nothing; else 0. */
static size_t continuation(const char *p)
{
    if (p[0] != '\\')
        return 0;
    return p[1] == '\n' ? 2 : p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

static void step(reader *r)
{
    r->line += *r->p == '\n';
    r->p++;
}

/* Over a string or a character constant; one that does not end stops at the line's end. */
static void skip_quoted(reader *r)
{
    char quote = *r->p;
    for (step(r); *r->p != '\0' && *r->p != '\n'; step(r)) {
        if (*r->p == quote) {
            step(r);
            return;
        }
        if (*r->p == '\\' && r->p[1] != '\0')
            r->p += continuation(r->p) > 0 ? continuation(r->p) - 1 : 1;
    }
}

static bool skip_comment(reader *r)
{
    if (r->p[0] != '/' || (r->p[1] != '/' && r->p[1] != '*'))
        return false;
    bool is_block = r->p[1] == '*';
    r->p += 2;
    while (*r->p != '\0') {
        if (is_block && r->p[0] == '*' && r->p[1] == '/') {
            r->p += 2;
            return true;
        }
        if (!is_block && *r->p == '\n')
            return true;
        if (!is_block && continuation(r->p) > 0)
            r->p += continuation(r->p) - 1;
        step(r);
    }
    return true;
}

static void skip_blanks(reader *r)
{
    for (;;) {
        if (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n' || *r->p == '\f' ||
            *r->p == '\v')
            step(r);
        else if (continuation(r->p) > 0)
            r->p++; /* the line's end is a blank */
        else if (!skip_comment(r))
            return;
    }
}

static size_t name_length(const char *p)
{
    size_t length = 0;
    if (*p >= '0' && *p <= '9')
        return 0;
    while (is_name_part(p[length]))
        length++;
    return length;
}

static bool word_is(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

/* Takes `text`, also when it fails. */
static fer_status add(reader *r, fer_found_kind kind, const char *name, size_t length, char *text,
                      int line, bool is_quoted)
{
    fer_scan *scan = r->scan;
    if (scan->num_items == scan->capacity) {
        size_t capacity = scan->capacity == 0 ? 16 : 2 * scan->capacity;
        fer_found *larger = realloc(scan->items, capacity * sizeof *larger);
        if (larger == NULL) {
            free(text);
            return fer_fail_memory(r->error);
        }
        scan->items = larger;
        scan->capacity = capacity;
    }
    char *copy = strndup(name, length);
    if (copy == NULL) {
        free(text);
        return fer_fail_memory(r->error);
    }
    scan->items[scan->num_items++] =
        (fer_found){.kind = kind, .name = copy, .text = text, .line = line, .is_quoted = is_quoted};
    return FER_OK;
}

static bool find_kind(const char *word, size_t length, fer_found_kind *out_kind)
{
    static const struct {
        const char *word;
        fer_found_kind kind;
    } WORDS[] = {
        {"KERNEL", FER_FOUND_KERNEL},       {"MAP", FER_FOUND_KERNEL},
        {"SHAPE", FER_FOUND_SHAPE},         {"PARAM", FER_FOUND_PARAM},
        {"SIGNATURE", FER_FOUND_SIGNATURE}, {"DTYPE_VAR", FER_FOUND_DTYPE_VAR},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (word_is(word, length, WORDS[i].word)) {
            *out_kind = WORDS[i].kind;
            return true;
        }
    return false;
}

/* --- String literals -------------------------------------------------------------------------- */

static int digit_value(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : 16;
}

/* Steps to the last of up to `max` digits, which begin here. */
static unsigned read_digits(reader *r, int base, int max)
{
    unsigned value = 0;
    for (int i = 0; i < max && digit_value(*r->p) < base; i++)
        value = value * (unsigned)base + (unsigned)digit_value(*r->p++);
    r->p--;
    return value;
}

static void append_utf8(fer_text *text, unsigned code)
{
    if (code >= 0x800)
        fer_text_append_char(text, (char)(0xe0 | code >> 12));
    if (code >= 0x800)
        fer_text_append_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
    else if (code >= 0x80)
        fer_text_append_char(text, (char)(0xc0 | code >> 6));
    fer_text_append_char(text, (char)(code < 0x80 ? code : 0x80 | (code & 0x3f)));
}

/* What stands behind a backslash, up to its last character. */
static void read_escape(reader *r, fer_text *text)
{
    static const char FROM[] = "abfnrtv";
    static const char TO[] = "\a\b\f\n\r\t\v";
    const char *found = strchr(FROM, *r->p);
    if (found != NULL) {
        fer_text_append_char(text, TO[found - FROM]);
    } else if (digit_value(*r->p) < 8) {
        fer_text_append_char(text, (char)read_digits(r, 8, 3));
    } else if (*r->p == 'x' && digit_value(r->p[1]) < 16) {
        r->p++;
        fer_text_append_char(text, (char)read_digits(r, 16, INT_MAX));
    } else if (*r->p == 'u' && digit_value(r->p[1]) < 16) {
        r->p++;
        append_utf8(text, read_digits(r, 16, 4));
    } else {
        fer_text_append_char(text, *r->p);
    }
}

/* Reads one C literal into `text`. */
static void read_literal(reader *r, fer_text *text)
{
    for (step(r); *r->p != '\0' && *r->p != '"' && *r->p != '\n'; step(r)) {
        if (*r->p != '\\' || r->p[1] == '\0') {
            fer_text_append_char(text, *r->p);
            continue;
        }
        if (continuation(r->p) > 0) {
            r->p += continuation(r->p) - 1;
            continue;
        }
        r->p++;
        read_escape(r, text);
    }
    if (*r->p == '"')
        step(r);
}

/* Adjacent literals, joined; NULL when there is none here. */
static fer_status read_literals(reader *r, char **out_text)
{
    *out_text = NULL;
    if (*r->p != '"')
        return FER_OK;
    fer_text text = FER_TEXT_INIT;
    while (*r->p == '"') {
        read_literal(r, &text);
        skip_blanks(r);
    }
    return fer_text_take(&text, out_text, r->error);
}

/* --- Directives ------------------------------------------------------------------------------- */

/* The include's operand, when it is spelled out. */
static fer_status read_include(reader *r)
{
    while (*r->p == ' ' || *r->p == '\t')
        r->p++;
    char end = *r->p == '"' ? '"' : '>';
    if (*r->p != '"' && *r->p != '<') {
        r->scan->hides_dtype_vars = true;
        return FER_OK;
    }
    const char *name = r->p + 1;
    size_t length = 0;
    while (name[length] != '\0' && name[length] != '\n' && name[length] != end)
        length++;
    if (name[length] != end)
        return FER_OK;
    r->p = name + length + 1;
    return add(r, FER_FOUND_INCLUDE, name, length, NULL, r->line, end == '"');
}

/* `#if 0`, with nothing behind it but a comment: `#if 0 || X` is the preprocessor's to judge. */
static bool is_zero_condition(const char *p)
{
    p += strspn(p, " \t");
    if (*p++ != '0')
        return false;
    p += strspn(p, " \t\r");
    return *p == '\0' || *p == '\n' || (p[0] == '/' && (p[1] == '/' || p[1] == '*'));
}

static void follow_condition(reader *r, const char *word, size_t length)
{
    if (length >= 2 && memcmp(word, "if", 2) == 0) { /* if, ifdef, ifndef */
        r->depth++;
        if (r->skipped_from == 0 && word_is(word, length, "if") && is_zero_condition(r->p))
            r->skipped_from = r->depth;
    } else if (word_is(word, length, "endif")) {
        if (r->skipped_from == r->depth)
            r->skipped_from = 0;
        r->depth -= r->depth > 0;
    } else if (length >= 4 && memcmp(word, "el", 2) == 0) { /* else, elif, elifdef */
        if (r->skipped_from == r->depth)
            r->skipped_from = 0;
    }
}

/* The rest of a directive, with its continued lines: only what asks for the preprocessor matters.
 */
static fer_status read_directive_rest(reader *r, bool is_define)
{
    while (*r->p != '\0' && *r->p != '\n') {
        if (continuation(r->p) > 0) {
            r->p += continuation(r->p) - 1;
            step(r);
            continue;
        }
        if (*r->p == '"' || *r->p == '\'') {
            skip_quoted(r);
            continue;
        }
        if (skip_comment(r))
            continue;
        size_t length = name_length(r->p);
        fer_found_kind kind;
        if (is_define && length > 0 && find_kind(r->p, length, &kind)) {
            r->scan->hides_dtype_vars |= kind == FER_FOUND_DTYPE_VAR;
            r->scan->needs_preprocessor |= kind != FER_FOUND_DTYPE_VAR && kind != FER_FOUND_PARAM;
        }
        bool is_probe = word_is(r->p, length, "__has_include");
        r->p += length > 0 ? length : 1;
        if (!is_probe)
            continue;
        while (*r->p == ' ' || *r->p == '\t' || *r->p == '(')
            r->p++;
        FER_TRY(read_include(r));
    }
    return FER_OK;
}

static fer_status read_directive(reader *r)
{
    step(r);
    while (*r->p == ' ' || *r->p == '\t')
        r->p++;
    const char *word = r->p;
    size_t length = name_length(word);
    r->p += length;
    follow_condition(r, word, length);
    if (r->skipped_from == 0 && word_is(word, length, "include"))
        FER_TRY(read_include(r));
    return read_directive_rest(r, r->skipped_from == 0 && word_is(word, length, "define"));
}

/* --- Declarations ----------------------------------------------------------------------------- */

/* A name with a comma behind it, which is stepped over; NULL when something else is here. */
static const char *read_name(reader *r, size_t *out_length)
{
    skip_blanks(r);
    const char *name = r->p;
    *out_length = name_length(name);
    r->p += *out_length;
    skip_blanks(r);
    if (*out_length == 0 || *r->p != ',')
        return NULL;
    step(r);
    return name;
}

/* `(NAME,`, `(NAME, "text"` for a signature, `(kind, NAME,` for a parameter. */
static fer_status read_declaration(reader *r, fer_found_kind kind)
{
    int line = r->line;
    size_t length;
    size_t kind_length = 0;
    const char *kind_word = NULL;
    char *text = NULL;
    skip_blanks(r);
    if (*r->p != '(')
        return FER_OK;
    step(r);
    if (kind == FER_FOUND_PARAM && (kind_word = read_name(r, &kind_length)) == NULL)
        return FER_OK;
    const char *name = read_name(r, &length);
    if (name == NULL)
        return FER_OK;
    if (kind == FER_FOUND_SIGNATURE) {
        skip_blanks(r);
        FER_TRY(read_literals(r, &text));
        if (text == NULL) { /* a macro stands for the text */
            r->scan->needs_preprocessor = true;
            return FER_OK;
        }
    }
    if (kind_word != NULL && (text = strndup(kind_word, kind_length)) == NULL)
        return fer_fail_memory(r->error);
    if (r->depth > 0)
        r->scan->needs_preprocessor = true;
    return add(r, kind, name, length, text, line, false);
}

/* Steps over one token; at a declaration, reads it. */
static fer_status read_token(reader *r)
{
    if (*r->p == '"' || *r->p == '\'') {
        skip_quoted(r);
        return FER_OK;
    }
    size_t length = name_length(r->p);
    if (length == 0) {
        if (is_name_part(*r->p)) /* a number, with its suffix */
            while (is_name_part(*r->p))
                r->p++;
        else
            step(r);
        return FER_OK;
    }
    fer_found_kind kind;
    bool is_declaration = r->skipped_from == 0 && find_kind(r->p, length, &kind);
    r->p += length;
    return is_declaration ? read_declaration(r, kind) : FER_OK;
}

fer_status fer_scan_source(const char *text, fer_scan *out_scan, fer_error *error)
{
    fer_scan scan = {0};
    *out_scan = scan;
    static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";
    reader r = {.p = text, .line = 1, .scan = &scan, .error = error};
    if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        r.p += strlen(BYTE_ORDER_MARK);
    fer_status status = FER_OK;
    bool is_line_start = true;
    while (status == FER_OK) {
        int line = r.line;
        skip_blanks(&r);
        is_line_start |= r.line != line;
        if (*r.p == '\0')
            break;
        status = *r.p == '#' && is_line_start ? read_directive(&r) : read_token(&r);
        is_line_start = false;
    }
    if (status == FER_OK)
        *out_scan = scan;
    else
        fer_scan_clear(&scan);
    return status;
}

/* --- What the preprocessor printed ------------------------------------------------------------ */

/* `# 12 "file.c" flags`: the next line is line 12. */
static void follow_line_mark(reader *r)
{
    long line = strtol(r->p + 1, NULL, 10);
    while (*r->p != '\0' && *r->p != '\n')
        r->p++;
    if (line > 0 && line < INT32_MAX)
        r->line = (int)line - 1; /* the newline counts it up */
}

static fer_status read_mark(reader *r)
{
    skip_blanks(r);
    size_t word_length = name_length(r->p);
    fer_found_kind kind = word_is(r->p, word_length, "signature") ? FER_FOUND_SIGNATURE
                          : word_is(r->p, word_length, "shape")   ? FER_FOUND_SHAPE
                                                                  : FER_FOUND_KERNEL;
    r->p += word_length;
    skip_blanks(r);
    const char *name = r->p;
    size_t length = name_length(name);
    int line = r->line;
    if (length == 0)
        return FER_OK;
    r->p += length;
    char *text = NULL;
    if (kind == FER_FOUND_SIGNATURE) {
        skip_blanks(r);
        FER_TRY(read_literals(r, &text));
    }
    return add(r, kind, name, length, text, line, false);
}

fer_status fer_scan_preprocessed(const char *text, fer_scan *out_scan, fer_error *error)
{
    fer_scan scan = {0};
    *out_scan = scan;
    reader r = {.p = text, .line = 1, .scan = &scan, .error = error};
    fer_status status = FER_OK;
    while (status == FER_OK && *r.p != '\0') {
        size_t length = name_length(r.p);
        if (*r.p == '#' && (r.p == text || r.p[-1] == '\n')) {
            follow_line_mark(&r);
        } else if (*r.p == '"' || *r.p == '\'') {
            skip_quoted(&r);
        } else if (length > 0) {
            bool is_mark = word_is(r.p, length, "FER_FOUND");
            r.p += length;
            if (is_mark)
                status = read_mark(&r);
        } else {
            step(&r);
        }
    }
    if (status == FER_OK)
        *out_scan = scan;
    else
        fer_scan_clear(&scan);
    return status;
}

void fer_scan_clear(fer_scan *scan)
{
    for (size_t i = 0; i < scan->num_items; i++) {
        free(scan->items[i].name);
        free(scan->items[i].text);
    }
    free(scan->items);
    *scan = (fer_scan){0};
}
