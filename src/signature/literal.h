/* Values of parameters: as text, and between kinds. */
#ifndef FERRULE_SIGNATURE_LITERAL_H
#define FERRULE_SIGNATURE_LITERAL_H

#include "base/lexer.h"
#include "base/text.h"
#include "signature/pool.h"
#include <ferrule/signature.h>

/* `int`, `float`, `bool`, `str`, `dtype`; NULL for what is no kind. */
const char *fer_param_kind_name(fer_param_kind kind);

/* Parses a literal: `-3`, `1e-5`, `0x1p-3`, `inf`, `true`, `"same"`, `bf16`. `out_value` has the
 * kind that the literal is written in and a value, but no name; the pool owns its string. VALUE for
 * a fault of syntax, TYPE for an unknown dtype, OVERFLOW for a number that its kind cannot hold. */
fer_status fer_literal_parse(fer_lexer *lexer, fer_pool *pool, fer_param *out_value,
                             fer_error *error);

/* The literal that parses back to the same value. */
void fer_literal_append(fer_text *text, const fer_param *param);

/* Gives `value`'s value to a parameter of `op` (NULL: the message does not begin with it), by the
 * rule that a value has the parameter's kind, and an int that a float holds exactly serves for a
 * float. TYPE else. Strings stay borrowed. */
fer_status fer_param_assign(const char *op, fer_param *param, const fer_param *value,
                            fer_error *error);

#endif
