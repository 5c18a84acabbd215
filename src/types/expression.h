/* Parsing dims inside a larger text: the arithmetic of dims over the shared lexer. */
#ifndef FERRULE_TYPES_EXPRESSION_H
#define FERRULE_TYPES_EXPRESSION_H

#include "base/lexer.h"
#include <ferrule/type.h>

/* Says which namespace a name in the text belongs to. */
typedef fer_namespace (*fer_name_resolver)(void *context, const char *name);

/* Parses one dim up to the first token that cannot continue it. `resolver` NULL: names are a
 * caller's. Errors that arithmetic finds (ZERO_DIVISION, OVERFLOW) name the place too. Nesting is
 * bounded, so that no text exhausts the stack. */
fer_status fer_expression_parse(fer_lexer *lexer, fer_name_resolver resolver, void *context,
                                fer_dim **out_dim, fer_error *error);

/* Parses one caller type, `f32[2, w]` or `f32[2, w] @ 1`. */
fer_status fer_type_parse_tokens(fer_lexer *lexer, fer_type **out_type, fer_error *error);
/* The number of a device, behind `@`. VALUE: no number, or there is no such device. */
fer_status fer_device_parse_tokens(fer_lexer *lexer, fer_device *out_device, fer_error *error);

#endif
