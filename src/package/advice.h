/* What a compiler's words on a kernel's file most often mean. */
#ifndef FERRULE_PACKAGE_ADVICE_H
#define FERRULE_PACKAGE_ADVICE_H

#include "package/compile.h"

/* Appends `; ` and what to do about a compile that failed with this error, where that is known. The
 * error's text need not end. */
void fer_append_advice(fer_text *text, const fer_request *request, const char *error,
                       size_t length);

#endif
