/* `package.ini`: what a package asks of its compiler, as it is written. */
#ifndef FERRULE_PACKAGE_INI_H
#define FERRULE_PACKAGE_INI_H

#include "base/error.h"

#define FER_INI_FILE "package.ini"

typedef struct fer_ini_word {
    char *text;
    int line;
} fer_ini_word;

typedef struct fer_ini_value {
    fer_ini_word *words;
    size_t count;
    size_t capacity;
    int line; /* of its key; 0: it is not there */
} fer_ini_value;

enum { FER_INI_CFLAGS, FER_INI_LIBS, FER_INI_PKG_CONFIG, FER_INI_INSTALL, FER_INI_NUM_KEYS };
extern const char *const FER_INI_KEYS[FER_INI_NUM_KEYS];

typedef struct fer_ini {
    fer_ini_value values[FER_INI_NUM_KEYS];
} fer_ini;

/* Reads terminated text. VALUE, beginning `NAME:LINE: `, for what is no such file. */
fer_status fer_ini_parse(const char *text, const char *name, fer_ini *out_ini, fer_error *error);
void fer_ini_clear(fer_ini *ini);

/* Adds the words of a text, quoted as for a shell, up to a comment; `line` is theirs. VALUE: a
 * quote does not end, or nothing stands behind a backslash. */
fer_status fer_ini_split(const char *text, const char *name, int line, fer_ini_value *value,
                         fer_error *error);
void fer_ini_value_clear(fer_ini_value *value);

#endif
