/* A growing string. Appending never fails at the place: an allocation that failed is remembered in
 * `has_failed` and judged once, by fer_text_take or by the reader. */
#ifndef FERRULE_BASE_TEXT_H
#define FERRULE_BASE_TEXT_H

#include "base/error.h"

typedef struct fer_text {
    char *data;
    size_t length; /* without the terminator that is always there once data is */
    size_t capacity;
    bool has_failed;
} fer_text;

#define FER_TEXT_INIT                                                                              \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void fer_text_append_bytes(fer_text *text, const char *bytes, size_t length);
void fer_text_append(fer_text *text, const char *string);
void fer_text_append_char(fer_text *text, char character);
/* The string in double quotes with JSON's escapes; bytes from 128 up go through as they are. */
void fer_text_append_quoted(fer_text *text, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void fer_text_printf(fer_text *text, const char *format, ...);
void fer_text_vprintf(fer_text *text, const char *format, va_list arguments);

/* A line, which ends at its newline, a newline, and a `^` under the column (from 1, in bytes). What
 * a terminal would take for a command shows as `?`; a long line is cut on both sides. */
void fer_text_append_excerpt(fer_text *text, const char *line, size_t column);

/* The terminated contents, "" when there are none; lives until the next append. */
const char *fer_text_string(const fer_text *text);
/* Hands the contents to the caller, who frees them; the text is empty again. */
fer_status fer_text_take(fer_text *text, char **out_string, fer_error *error);
void fer_text_free(fer_text *text);

/* A copy, for the caller to free. */
fer_status fer_copy_string(const char *string, char **out_copy, fer_error *error);

/* The candidate nearest to `name` by edit distance (two neighbours that changed places are one
 * edit), upper and lower case alike, or NULL when none is near enough to be what was meant: a third
 * of its length, at least 1, but nothing for one letter. */
const char *fer_near_name(const char *name, const char *const *candidates, size_t num_candidates);

/* The end of a message: `; did you mean 'near'?`, or "" for NULL. Lives as long as `hint`. */
typedef struct fer_hint {
    char text[96];
} fer_hint;
const char *fer_did_you_mean(const char *near, fer_hint *hint);

#endif
