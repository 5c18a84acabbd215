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
    r->line += *r->p == '\n' && r->line < INT_MAX; /* `# 2147483646 "x.c"` */
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

static void clear_found(fer_found *found)
{
    for (size_t i = 0; i < found->num_written; i++) {
        free(found->written[i].dtype);
        free(found->written[i].name);
    }
    free(found->written);
    free(found->name);
    free(found->text);
    *found = (fer_found){0};
}

/* Takes what `found` holds, also when it fails; its name is copied from here. */
static fer_status add(reader *r, fer_found *found, const char *name, size_t length)
{
    fer_scan *scan = r->scan;
    if (scan->num_items == scan->capacity) {
        size_t capacity = scan->capacity == 0 ? 16 : 2 * scan->capacity;
        fer_found *larger = realloc(scan->items, capacity * sizeof *larger);
        if (larger == NULL)
            goto no_memory;
        scan->items = larger;
        scan->capacity = capacity;
    }
    found->name = strndup(name, length);
    if (found->name == NULL)
        goto no_memory;
    found->is_conditional = r->depth > 0;
    scan->items[scan->num_items++] = *found;
    return FER_OK;

no_memory:
    clear_found(found);
    return fer_fail_memory(r->error);
}

/* The words that declare; what they are goes to `out_found`. */
static bool find_word(const char *word, size_t length, fer_found *out_found)
{
    static const struct {
        const char *word;
        fer_found_kind kind;
        int32_t entry;
    } WORDS[] = {
        {"KERNEL", FER_FOUND_KERNEL, FER_ABI_KERNEL}, {"MAP", FER_FOUND_KERNEL, FER_ABI_MAP},
        {"SHAPE", FER_FOUND_SHAPE, FER_ABI_SHAPE},    {"PARAM", FER_FOUND_PARAM, 0},
        {"SIGNATURE", FER_FOUND_SIGNATURE, 0},        {"DTYPE_VAR", FER_FOUND_DTYPE_VAR, 0},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (word_is(word, length, WORDS[i].word)) {
            *out_found = (fer_found){.kind = WORDS[i].kind, .entry = WORDS[i].entry};
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
    fer_found found = {.kind = FER_FOUND_INCLUDE, .line = r->line, .is_quoted = end == '"'};
    return add(r, &found, name, length);
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
        fer_found found;
        if (is_define && length > 0 && find_word(r->p, length, &found)) {
            r->scan->hides_dtype_vars |= found.kind == FER_FOUND_DTYPE_VAR;
            r->scan->needs_preprocessor |=
                found.kind != FER_FOUND_DTYPE_VAR && found.kind != FER_FOUND_PARAM;
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

/* Notes the macro, and stays before it: its name may be a word that matters. */
static fer_status read_macro_name(reader *r)
{
    reader ahead = *r;
    skip_blanks(&ahead);
    fer_found found = {.kind = FER_FOUND_DEFINE, .line = r->line};
    size_t length = name_length(ahead.p);
    return length == 0 ? FER_OK : add(r, &found, ahead.p, length);
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
    bool is_define = r->skipped_from == 0 && word_is(word, length, "define");
    if (r->skipped_from == 0 && word_is(word, length, "include"))
        FER_TRY(read_include(r));
    if (is_define)
        FER_TRY(read_macro_name(r));
    return read_directive_rest(r, is_define);
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

/* A name or a number, as far as both are one token. */
static char *take_word(reader *r)
{
    skip_blanks(r);
    const char *start = r->p;
    while (is_name_part(*r->p))
        r->p++;
    return r->p == start ? NULL : strndup(start, (size_t)(r->p - start));
}

static bool take_mark(reader *r, char mark)
{
    skip_blanks(r);
    if (*r->p != mark)
        return false;
    step(r);
    return true;
}

static bool read_rank(const char *word, int32_t *out_rank)
{
    bool is_any = word != NULL && strcmp(word, "ANY") == 0;
    bool is_digit = word != NULL && *word >= '0' && *word <= '0' + FER_ABI_MAX_RANK;
    *out_rank = is_any ? FER_ABI_ANY_RANK : is_digit ? *word - '0' : 0;
    return is_any || (is_digit && word[1] == '\0');
}

/* `OUT(f32, 3, y)`, in a MAP `IN(f32, x)`. */
static bool read_written(reader *r, int32_t entry, fer_written *out)
{
    char *role = take_word(r);
    bool is_in = role != NULL && strcmp(role, "IN") == 0;
    bool is_inout = role != NULL && strcmp(role, "INOUT") == 0;
    bool is_out = role != NULL && strcmp(role, "OUT") == 0;
    free(role);
    out->role = is_out ? FER_ABI_RESULT : is_inout ? FER_ABI_INOUT : FER_ABI_OPERAND;
    out->rank = FER_ABI_ANY_RANK;
    if (!is_in && !is_inout && !is_out)
        return false;
    if (!take_mark(r, '(') || (out->dtype = take_word(r)) == NULL || !take_mark(r, ','))
        return false;
    if (entry != FER_ABI_MAP) {
        char *rank = take_word(r);
        bool is_rank = read_rank(rank, &out->rank);
        free(rank);
        if (!is_rank || !take_mark(r, ','))
            return false;
    }
    return (out->name = take_word(r)) != NULL && take_mark(r, ')');
}

/* What a kernel's line takes, up to its `)`. Anything but the plain words is left to the compiler:
 * then nothing was read. */
static void read_line(reader *r, fer_found *found)
{
    reader ahead = *r;
    fer_found line = {.written = calloc(FER_ABI_MAX_TENSORS, sizeof *line.written)};
    bool is_read = line.written != NULL;
    if (is_read && found->entry == FER_ABI_MAP) {
        line.num_written = 1;
        line.written[0] = (fer_written){.role = FER_ABI_RESULT, .rank = FER_ABI_ANY_RANK};
        line.written[0].dtype = take_word(&ahead);
        line.written[0].name = strdup("result");
        is_read =
            line.written[0].dtype != NULL && line.written[0].name != NULL && take_mark(&ahead, ',');
    }
    while (is_read) {
        is_read = line.num_written < FER_ABI_MAX_TENSORS &&
                  read_written(&ahead, found->entry, &line.written[line.num_written++]);
        if (is_read && !take_mark(&ahead, ',')) {
            is_read = take_mark(&ahead, ')');
            break;
        }
    }
    if (!is_read) {
        clear_found(&line);
        return;
    }
    found->written = line.written;
    found->num_written = line.num_written;
    r->p = ahead.p;
    r->line = ahead.line;
}

/* Reads the literals of a SIGNATURE, up to one of the `ends`; where something else has a part in
 * the text there are none. */
static fer_status read_signature(reader *r, const char *ends, char **out_text)
{
    skip_blanks(r);
    FER_TRY(read_literals(r, out_text));
    if (*out_text != NULL && *r->p != '\0' && strchr(ends, *r->p) == NULL) {
        free(*out_text);
        *out_text = NULL;
    }
    return FER_OK;
}

/* `(NAME,`, `(NAME, "text")` for a signature, `(kind, NAME,` for a parameter. */
static fer_status read_declaration(reader *r, fer_found *found)
{
    size_t length;
    size_t kind_length = 0;
    const char *kind_word = NULL;
    found->line = r->line;
    if (!take_mark(r, '('))
        return FER_OK;
    if (found->kind == FER_FOUND_PARAM && (kind_word = read_name(r, &kind_length)) == NULL)
        return FER_OK;
    const char *name = read_name(r, &length);
    if (name == NULL)
        return FER_OK;
    if (found->kind == FER_FOUND_SIGNATURE) {
        FER_TRY(read_signature(r, ")", &found->text));
        if (found->text == NULL) {
            r->scan->needs_preprocessor = true;
            return FER_OK;
        }
    }
    if (found->kind == FER_FOUND_KERNEL || found->kind == FER_FOUND_SHAPE)
        read_line(r, found);
    if (kind_word != NULL && (found->text = strndup(kind_word, kind_length)) == NULL)
        return fer_fail_memory(r->error);
    if (r->depth > 0)
        r->scan->needs_preprocessor = true;
    return add(r, found, name, length);
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
    fer_found found;
    bool is_declaration = r->skipped_from == 0 && find_word(r->p, length, &found);
    r->p += length;
    if (!is_declaration)
        return FER_OK;
    reader after = *r;
    size_t num_items = r->scan->num_items;
    FER_TRY(read_declaration(r, &found));
    if (r->scan->num_items == num_items) { /* it is none: what follows may be a directive */
        r->p = after.p;
        r->line = after.line;
    }
    return FER_OK;
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
    if (line > 0 && line <= INT_MAX)
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
    fer_found found = {.kind = kind, .line = line};
    if (kind == FER_FOUND_SIGNATURE) {
        FER_TRY(read_signature(r, ";#", &found.text));
        if (found.text == NULL)
            return FER_OK; /* not a text that can be read without compiling it */
    }
    return add(r, &found, name, length);
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

void fer_scan_print(const fer_scan *scan, fer_text *text)
{
    static const char *const WORDS[] = {[FER_FOUND_KERNEL] = "kernel",
                                        [FER_FOUND_SHAPE] = "shape",
                                        [FER_FOUND_SIGNATURE] = "signature"};
    for (size_t i = 0; i < scan->num_items; i++) {
        const fer_found *found = &scan->items[i];
        fer_text_printf(text, "# %d \"\"\nFER_FOUND %s %s", found->line, WORDS[found->kind],
                        found->name);
        if (found->text != NULL) {
            fer_text_append_char(text, ' ');
            fer_text_append_quoted(text, found->text, strlen(found->text));
        }
        fer_text_append_char(text, '\n');
    }
}

void fer_scan_clear(fer_scan *scan)
{
    for (size_t i = 0; i < scan->num_items; i++)
        clear_found(&scan->items[i]);
    free(scan->items);
    *scan = (fer_scan){0};
}
