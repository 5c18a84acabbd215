/* Any text as a package.ini: it is refused with its line, or read, and what was read and is written
 * again is read the same. */
#include "package/ini.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void append_word(fer_text *text, const char *word)
{
    fer_text_append(text, " \"");
    for (; *word != '\0'; word++) {
        if (*word == '"' || *word == '\\')
            fer_text_append_char(text, '\\');
        fer_text_append_char(text, *word);
    }
    fer_text_append_char(text, '"');
}

static void check_again(const fer_ini *ini)
{
    fer_text text = FER_TEXT_INIT;
    fer_ini again;
    fer_text_append(&text, "[build]\n");
    for (size_t i = 0; i < FER_INI_NUM_KEYS; i++) {
        if (ini->values[i].line == 0)
            continue;
        fer_text_printf(&text, "%s =", FER_INI_KEYS[i]);
        for (size_t j = 0; j < ini->values[i].count; j++)
            append_word(&text, ini->values[i].words[j].text);
        fer_text_append_char(&text, '\n');
    }
    require(fer_ini_parse(fer_text_string(&text), "again", &again, NULL) == FER_OK);
    for (size_t i = 0; i < FER_INI_NUM_KEYS; i++) {
        const fer_ini_value *a = &ini->values[i];
        const fer_ini_value *b = &again.values[i];
        require((a->line == 0) == (b->line == 0) && a->count == b->count);
        for (size_t j = 0; j < a->count; j++)
            require(strcmp(a->words[j].text, b->words[j].text) == 0);
    }
    fer_ini_clear(&again);
    fer_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    fer_ini ini;
    fer_error error = FER_ERROR_INIT;
    int num_lines = 1;
    for (const char *p = text; *p != '\0'; p++)
        num_lines += *p == '\n';
    if (fer_ini_parse(text, "ini", &ini, &error) == FER_OK) {
        for (size_t i = 0; i < FER_INI_NUM_KEYS; i++)
            for (size_t j = 0; j < ini.values[i].count; j++)
                require(ini.values[i].words[j].line >= ini.values[i].line &&
                        ini.values[i].words[j].line <= num_lines);
        check_again(&ini);
        fer_ini_clear(&ini);
    } else {
        require(error.kind == FER_VALUE_ERROR && strncmp(error.message, "ini:", 4) == 0);
        int line = atoi(error.message + 4);
        require(line >= 1 && line <= num_lines);
    }
    fer_error_clear(&error);
    free(text);
    return 0;
}
