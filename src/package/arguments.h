/* A growing list of strings that it owns: the arguments of a program. */
#ifndef FERRULE_PACKAGE_ARGUMENTS_H
#define FERRULE_PACKAGE_ARGUMENTS_H

#include "base/text.h"

typedef struct fer_arguments {
    char **items; /* NULL after the last */
    size_t count;
    size_t capacity;
    bool has_failed; /* an allocation: judged once, before the list is used */
} fer_arguments;

__attribute__((format(printf, 2, 3))) void fer_arguments_add(fer_arguments *arguments,
                                                             const char *format, ...);
void fer_arguments_add_words(fer_arguments *arguments, const char *words); /* cut at blanks */
void fer_arguments_clear(fer_arguments *arguments);
/* As a shell would take them. */
void fer_arguments_print(const fer_arguments *arguments, fer_text *text);

#endif
