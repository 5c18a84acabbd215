#include "package/arguments.h"

#include <stdlib.h>
#include <string.h>

static void add(fer_arguments *arguments, fer_text *text)
{
    if (arguments->count + 1 >= arguments->capacity) {
        size_t capacity = arguments->capacity == 0 ? 32 : 2 * arguments->capacity;
        char **larger = realloc(arguments->items, capacity * sizeof *larger);
        if (larger == NULL) {
            arguments->has_failed = true;
            fer_text_free(text);
            return;
        }
        arguments->items = larger;
        arguments->capacity = capacity;
    }
    char *item;
    if (fer_text_take(text, &item, NULL) != FER_OK) {
        arguments->has_failed = true;
        return;
    }
    arguments->items[arguments->count++] = item;
    arguments->items[arguments->count] = NULL;
}

void fer_arguments_add(fer_arguments *arguments, const char *format, ...)
{
    fer_text text = FER_TEXT_INIT;
    va_list values;
    va_start(values, format);
    fer_text_vprintf(&text, format, values);
    va_end(values);
    add(arguments, &text);
}

void fer_arguments_add_words(fer_arguments *arguments, const char *words)
{
    for (;;) {
        words += strspn(words, " ");
        size_t length = strcspn(words, " ");
        if (length == 0)
            return;
        fer_arguments_add(arguments, "%.*s", (int)length, words);
        words += length;
    }
}

void fer_arguments_clear(fer_arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        free(arguments->items[i]);
    free(arguments->items);
    *arguments = (fer_arguments){0};
}

static bool is_plain(const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+.,/:@%";
    return *word != '\0' && word[strspn(word, PLAIN)] == '\0';
}

void fer_arguments_print(const fer_arguments *arguments, fer_text *text)
{
    for (size_t i = 0; i < arguments->count; i++) {
        const char *word = arguments->items[i];
        if (i > 0)
            fer_text_append_char(text, ' ');
        if (is_plain(word)) {
            fer_text_append(text, word);
            continue;
        }
        fer_text_append_char(text, '\'');
        for (; *word != '\0'; word++)
            if (*word == '\'')
                fer_text_append(text, "'\\''");
            else
                fer_text_append_char(text, *word);
        fer_text_append_char(text, '\'');
    }
}
