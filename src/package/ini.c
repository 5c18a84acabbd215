#include "package/ini.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SECTION "build"

const char *const FER_INI_KEYS[FER_INI_NUM_KEYS] = {[FER_INI_CFLAGS] = "cflags",
                                                    [FER_INI_LIBS] = "libs",
                                                    [FER_INI_PKG_CONFIG] = "pkg-config",
                                                    [FER_INI_INSTALL] = "install"};

typedef struct reader {
    const char *name;
    int line;
    bool is_in_section;
    fer_ini_value *value; /* that an indented line goes on with */
    fer_ini *ini;
    fer_error *error;
} reader;

__attribute__((format(printf, 2, 3))) static fer_status refuse(const reader *r, const char *format,
                                                               ...)
{
    fer_text text = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&text, format, arguments);
    va_end(arguments);
    fer_status status =
        fer_fail(r->error, FER_VALUE_ERROR, "%s:%d: %s", r->name, r->line, fer_text_string(&text));
    fer_text_free(&text);
    return status;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static const char *skip_blanks(const char *p)
{
    while (is_blank(*p))
        p++;
    return p;
}

static bool is_end(char c)
{
    return c == '\0' || c == '\n';
}

static bool is_comment(char c)
{
    return c == '#' || c == ';';
}

/* --- Words ------------------------------------------------------------------------------------ */

static fer_status add_word(reader *r, fer_ini_value *value, fer_text *word)
{
    if (value->count == value->capacity) {
        size_t capacity = value->capacity == 0 ? 8 : 2 * value->capacity;
        fer_ini_word *larger = realloc(value->words, capacity * sizeof *larger);
        if (larger == NULL)
            return fer_fail_memory(r->error);
        value->words = larger;
        value->capacity = capacity;
    }
    fer_ini_word added = {.line = r->line};
    FER_TRY(fer_text_take(word, &added.text, r->error));
    value->words[value->count++] = added;
    return FER_OK;
}

/* What stands in quotes, up to the second one. In double quotes a backslash takes a quote or a
 * backslash as it is. */
static fer_status read_quoted(reader *r, const char **p, fer_text *word)
{
    char quote = *(*p)++;
    for (; **p != quote; (*p)++) {
        if (is_end(**p))
            return refuse(r, "a quote (%c) does not end", quote);
        if (quote == '"' && **p == '\\' && ((*p)[1] == '"' || (*p)[1] == '\\'))
            (*p)++;
        fer_text_append_char(word, **p);
    }
    (*p)++;
    return FER_OK;
}

static fer_status read_word(reader *r, const char **p, fer_text *word)
{
    while (!is_end(**p) && !is_blank(**p)) {
        if (**p == '"' || **p == '\'') {
            FER_TRY(read_quoted(r, p, word));
            continue;
        }
        if (**p == '\\' && is_end(*skip_blanks(*p + 1)))
            return refuse(r, "nothing stands behind the backslash; a value goes on in a line that "
                             "is indented");
        *p += **p == '\\';
        fer_text_append_char(word, *(*p)++);
    }
    return FER_OK;
}

/* Reads words up to the line's end, or a comment, and goes there. */
static fer_status read_words(reader *r, const char **p, fer_ini_value *value)
{
    for (;;) {
        *p = skip_blanks(*p);
        if (is_end(**p) || is_comment(**p))
            break;
        fer_text word = FER_TEXT_INIT;
        fer_status status = read_word(r, p, &word);
        if (status == FER_OK)
            status = add_word(r, value, &word);
        fer_text_free(&word);
        FER_TRY(status);
    }
    *p += strcspn(*p, "\n");
    return FER_OK;
}

fer_status fer_ini_split(const char *text, const char *name, int line, fer_ini_value *value,
                         fer_error *error)
{
    reader r = {.name = name, .line = line, .error = error};
    while (*text != '\0') {
        FER_TRY(read_words(&r, &text, value));
        text += *text == '\n';
    }
    return FER_OK;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* The length without the blanks at the end. */
static int trimmed(const char *p, size_t length)
{
    while (length > 0 && is_blank(p[length - 1]))
        length--;
    return length > 200 ? 200 : (int)length;
}

static fer_status read_section(reader *r, const char **p)
{
    const char *name = skip_blanks(*p + 1);
    size_t length = strcspn(name, "]\n");
    if (name[length] != ']')
        return refuse(r, "expected ']' behind the section's name");
    int name_length = trimmed(name, length);
    *p = skip_blanks(name + length + 1);
    if (!is_end(**p) && !is_comment(**p))
        return refuse(r, "expected nothing behind the section's ']'");
    if (name_length != (int)strlen(SECTION) || memcmp(name, SECTION, strlen(SECTION)) != 0)
        return refuse(r, "unknown section '%.*s'; the one there is is [" SECTION "]", name_length,
                      name);
    *p += strcspn(*p, "\n");
    r->is_in_section = true;
    r->value = NULL;
    return FER_OK;
}

static fer_status find_key(reader *r, const char *key, int length, size_t *out_index)
{
    for (size_t i = 0; i < FER_INI_NUM_KEYS; i++)
        if ((int)strlen(FER_INI_KEYS[i]) == length &&
            memcmp(FER_INI_KEYS[i], key, (size_t)length) == 0) {
            *out_index = i;
            return FER_OK;
        }
    char *copy = strndup(key, (size_t)length);
    if (copy == NULL)
        return fer_fail_memory(r->error);
    const char *near = fer_near_name(copy, FER_INI_KEYS, FER_INI_NUM_KEYS);
    fer_status status =
        near != NULL
            ? refuse(r, "unknown key '%s'; did you mean '%s'?", copy, near)
            : refuse(r, "unknown key '%s'; the keys are cflags, libs, pkg-config and install",
                     copy);
    free(copy);
    return status;
}

static fer_status read_key(reader *r, const char **p)
{
    size_t length = strcspn(*p, "=\n");
    int key_length = trimmed(*p, length);
    size_t index = 0;
    if ((*p)[length] != '=')
        return refuse(r, "expected 'key = words', found '%.*s'", key_length, *p);
    if (!r->is_in_section)
        return refuse(r, "'%.*s' stands in no section; write [" SECTION "] above it", key_length,
                      *p);
    FER_TRY(find_key(r, *p, key_length, &index));
    r->value = &r->ini->values[index];
    if (r->value->line != 0)
        return refuse(r,
                      "'%s' is there already, in line %d; a value goes on in lines that are "
                      "indented",
                      FER_INI_KEYS[index], r->value->line);
    r->value->line = r->line;
    *p += length + 1;
    return read_words(r, p, r->value);
}

static fer_status read_line(reader *r, const char **p)
{
    const char *start = *p;
    *p = skip_blanks(*p);
    if (is_end(**p) || is_comment(**p)) {
        *p += strcspn(*p, "\n");
        return FER_OK;
    }
    if (**p == '[' && *p == start)
        return read_section(r, p);
    if (*p == start)
        return read_key(r, p);
    if (r->value == NULL)
        return refuse(r, "an indented line goes on with the value above it, and there is none");
    return read_words(r, p, r->value);
}

fer_status fer_ini_parse(const char *text, const char *name, fer_ini *out_ini, fer_error *error)
{
    static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";
    fer_ini ini = {0};
    *out_ini = ini;
    reader r = {.name = name, .line = 1, .ini = &ini, .error = error};
    if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        text += strlen(BYTE_ORDER_MARK);
    fer_status status = FER_OK;
    while (status == FER_OK && *text != '\0') {
        status = read_line(&r, &text);
        if (status == FER_OK && *text == '\n') {
            text++;
            r.line++;
        }
    }
    if (status == FER_OK)
        *out_ini = ini;
    else
        fer_ini_clear(&ini);
    return status;
}

void fer_ini_value_clear(fer_ini_value *value)
{
    for (size_t i = 0; i < value->count; i++)
        free(value->words[i].text);
    free(value->words);
    *value = (fer_ini_value){0};
}

void fer_ini_clear(fer_ini *ini)
{
    for (size_t i = 0; i < FER_INI_NUM_KEYS; i++)
        fer_ini_value_clear(&ini->values[i]);
}
