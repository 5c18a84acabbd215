#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `extra` bytes and a terminator. */
static bool reserve(fer_text *text, size_t extra)
{
    if (text->has_failed)
        return false;
    size_t needed;
    if (__builtin_add_overflow(text->length, extra, &needed) ||
        __builtin_add_overflow(needed, 1, &needed)) {
        text->has_failed = true;
        return false;
    }
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity;
    while (capacity < needed && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    if (capacity < needed)
        capacity = needed;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->has_failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void fer_text_append_bytes(fer_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void fer_text_append(fer_text *text, const char *string)
{
    fer_text_append_bytes(text, string, strlen(string));
}

void fer_text_append_char(fer_text *text, char character)
{
    fer_text_append_bytes(text, &character, 1);
}

void fer_text_append_quoted(fer_text *text, const char *bytes, size_t length)
{
    fer_text_append_char(text, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            fer_text_printf(text, "\\%c", c);
        else if (c == '\n')
            fer_text_append(text, "\\n");
        else if (c == '\t')
            fer_text_append(text, "\\t");
        else if (c == '\r')
            fer_text_append(text, "\\r");
        else if (c < 0x20 || c == 0x7f)
            fer_text_printf(text, "\\u%04x", c);
        else
            fer_text_append_char(text, (char)c);
    }
    fer_text_append_char(text, '"');
}

static bool is_continuation_byte(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* of UTF-8 */
}

void fer_text_append_excerpt(fer_text *text, const char *line, size_t column)
{
    enum { WIDTH = 76, BEFORE = 48 };
    static const char CUT[] = "...";
    size_t length = strcspn(line, "\r\n");
    size_t place = column - 1 < length ? column - 1 : length;
    size_t first = length > WIDTH && place > BEFORE ? place - BEFORE : 0;
    while (first > 0 && is_continuation_byte(line[first]))
        first--;
    size_t end = first + WIDTH < length ? first + WIDTH : length;
    while (end < length && is_continuation_byte(line[end]))
        end++;
    fer_text_append(text, first > 0 ? CUT : "");
    for (size_t i = first; i < end; i++) {
        bool is_control = (unsigned char)line[i] < 0x20 || line[i] == 0x7f;
        fer_text_append_char(text, is_control && line[i] != '\t' ? '?' : line[i]);
    }
    fer_text_printf(text, "%s\n%s", end < length ? CUT : "", first > 0 ? "   " : "");
    for (size_t i = first; i < place; i++)
        if (!is_continuation_byte(line[i]))
            fer_text_append_char(text, line[i] == '\t' ? '\t' : ' ');
    fer_text_append_char(text, '^');
}

void fer_text_vprintf(fer_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        text->has_failed = true;
    else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void fer_text_printf(fer_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(text, format, arguments);
    va_end(arguments);
}

const char *fer_text_string(const fer_text *text)
{
    return text->data == NULL ? "" : text->data;
}

fer_status fer_text_take(fer_text *text, char **out_string, fer_error *error)
{
    *out_string = NULL;
    if (text->data == NULL)
        fer_text_append_bytes(text, "", 0);
    if (text->has_failed) {
        fer_text_free(text);
        return fer_fail_memory(error);
    }
    *out_string = text->data;
    *text = (fer_text)FER_TEXT_INIT;
    return FER_OK;
}

void fer_text_free(fer_text *text)
{
    free(text->data);
    *text = (fer_text)FER_TEXT_INIT;
}

fer_status fer_copy_string(const char *string, char **out_copy, fer_error *error)
{
    *out_copy = strdup(string);
    return *out_copy == NULL ? fer_fail_memory(error) : FER_OK;
}

#define MAX_NEAR_LENGTH 64

/* Not <ctype.h>: names are the same in every locale. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Damerau's distance without edits of what was swapped. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][MAX_NEAR_LENGTH + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        const size_t *before = rows[(i + 1) % 3];
        const size_t *above = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            char x = lower(a[i - 1]);
            char y = lower(b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *fer_near_name(const char *name, const char *const *candidates, size_t num_candidates)
{
    size_t length = strlen(name);
    if (length > MAX_NEAR_LENGTH)
        return NULL;
    size_t limit = length / 3 < 1 ? 1 : length / 3;
    if (length == 1) /* else every other letter would be near */
        limit = 0;
    const char *nearest = NULL;
    for (size_t i = 0; i < num_candidates; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > MAX_NEAR_LENGTH)
            continue;
        size_t distance = edit_distance(name, length, candidates[i], candidate_length);
        if (distance <= limit) {
            limit = distance == 0 ? 0 : distance - 1;
            nearest = candidates[i];
            if (distance == 0)
                break;
        }
    }
    return nearest;
}

const char *fer_did_you_mean(const char *near, fer_hint *hint)
{
    hint->text[0] = '\0';
    if (near != NULL)
        snprintf(hint->text, sizeof hint->text, "; did you mean '%.64s'?", near);
    return hint->text;
}
