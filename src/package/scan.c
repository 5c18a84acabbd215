#include "package/scan.h"

#include "base/text.h"

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
            step(r);
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
        if (!is_block && r->p[0] == '\\' && r->p[1] == '\n')
            step(r);
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
        else if (r->p[0] == '\\' && r->p[1] == '\n')
            r->p++; /* the newline is a blank */
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
        {"SIGNATURE", FER_FOUND_SIGNATURE},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (word_is(word, length, WORDS[i].word)) {
            *out_kind = WORDS[i].kind;
            return true;
        }
    return false;
}

/* --- String literals -------------------------------------------------------------------------- */

static char simple_escape(char c)
{
    static const char FROM[] = "abfnrtv";
    static const char TO[] = "\a\b\f\n\r\t\v";
    const char *found = strchr(FROM, c);
    return found == NULL ? c : TO[found - FROM];
}

/* Reads one C literal into `text`. */
static void read_literal(reader *r, fer_text *text)
{
    for (step(r); *r->p != '\0' && *r->p != '"' && *r->p != '\n'; step(r)) {
        if (*r->p != '\\' || r->p[1] == '\0') {
            fer_text_append_char(text, *r->p);
            continue;
        }
        step(r);
        if (*r->p != '\n')
            fer_text_append_char(text, simple_escape(*r->p));
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
    if (*r->p != '"' && *r->p != '<')
        return FER_OK;
    const char *name = r->p + 1;
    size_t length = 0;
    while (name[length] != '\0' && name[length] != '\n' && name[length] != end)
        length++;
    if (name[length] != end)
        return FER_OK;
    r->p = name + length + 1;
    return add(r, FER_FOUND_INCLUDE, name, length, NULL, r->line, end == '"');
}

static bool is_zero_condition(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p[0] == '0' && !is_name_part(p[1]) && p[1] != '.';
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
        if (r->p[0] == '\\' && r->p[1] == '\n') {
            step(r);
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
        if (is_define && length > 0 && find_kind(r->p, length, &kind) && kind != FER_FOUND_PARAM)
            r->scan->needs_preprocessor = true;
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

/* `(NAME`, or for a parameter `(kind, NAME`; out_length is 0 when something else is here. */
static const char *read_name(reader *r, bool is_param, size_t *out_length)
{
    *out_length = 0;
    skip_blanks(r);
    if (*r->p != '(')
        return NULL;
    step(r);
    skip_blanks(r);
    if (is_param) {
        r->p += name_length(r->p);
        skip_blanks(r);
        if (*r->p != ',')
            return NULL;
        step(r);
        skip_blanks(r);
    }
    const char *name = r->p;
    size_t length = name_length(name);
    r->p += length;
    skip_blanks(r);
    if (*r->p == ',')
        *out_length = length;
    return name;
}

static fer_status read_declaration(reader *r, fer_found_kind kind)
{
    int line = r->line;
    size_t length;
    const char *name = read_name(r, kind == FER_FOUND_PARAM, &length);
    if (length == 0)
        return FER_OK;
    char *text = NULL;
    if (kind == FER_FOUND_SIGNATURE) {
        step(r);
        skip_blanks(r);
        FER_TRY(read_literals(r, &text));
        if (text == NULL) { /* a macro stands for the text */
            r->scan->needs_preprocessor = true;
            return FER_OK;
        }
    }
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
    reader r = {.p = text, .line = 1, .scan = &scan, .error = error};
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
