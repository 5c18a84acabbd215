/* Plain numbers: from text, and as elements. */
#ifndef FERRULE_TENSOR_NUMBER_H
#define FERRULE_TENSOR_NUMBER_H

#include "base/arithmetic.h"
#include "base/lexer.h"
#include <ferrule/tensor.h>

/* Reads `-3`, `2.5`, `0x1p-3`, `inf`, `nan`, `true` or `false`. VALUE: a fault of syntax. OVERFLOW:
 * an integer outside 64 bits, a float outside f64; then the digits are the next token still. */
fer_status fer_number_parse(fer_lexer *lexer, fer_number *out_number, fer_error *error);

/* The number of an integer, which is one of int64 or of uint64. */
fer_number fer_number_of_integer(fer_int128 value);
/* Whether it is an integer, signed or not; and which. */
bool fer_number_is_integer(fer_number number);
fer_int128 fer_number_integer(fer_number number);

/* Digits that read back as the same number, and no more than that takes; in `text`, or static. */
#define FER_NUMBER_TEXT 40
const char *fer_number_text(fer_number number, char text[FER_NUMBER_TEXT]);

/* Writes one element of `dtype`, by the rules of fer_tensor_full. The message has no place; the
 * caller puts one before it. */
fer_status fer_number_store(fer_number number, fer_dtype dtype, void *out_element,
                            fer_error *error);

#endif
