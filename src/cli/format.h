/* The one layout of program text. */
#ifndef FERRULE_CLI_FORMAT_H
#define FERRULE_CLI_FORMAT_H

#include "base/text.h"

/* Appends the program in its layout: the same words and comments in the same order, two blanks for
 * each block and four for a line that goes on, every step on a line of its own. The author's other
 * line breaks stay, and of several empty lines one. Formatting it again changes nothing. The text
 * is not parsed: VALUE at its place for what is no word of the language, and for brackets that do
 * not match. */
fer_status fer_format_program(const char *text, const char *source_name, fer_text *out,
                              fer_error *error);

#endif
