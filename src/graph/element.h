/* Elements of constants as text that reads back to the same bytes. */
#ifndef FERRULE_GRAPH_ELEMENT_H
#define FERRULE_GRAPH_ELEMENT_H

#include "base/lexer.h"
#include "base/text.h"
#include "tensor/tensor.h"

/* `[1, 2.5, inf, nan("ffc00001")]`, row-major. */
void fer_elements_append(fer_text *text, const fer_tensor *tensor);

/* The extents of a constant's type. TYPE: one that is not static, OVERFLOW: too many elements; both
 * at the next token. */
fer_status fer_elements_count(const fer_lexer *lexer, const fer_type *type,
                              int64_t out_extents[FER_MAX_RANK], int64_t *out_num_elements,
                              fer_error *error);

/* Reads as many elements as a static type has. VALUE: more or fewer, or one that the dtype cannot
 * hold. TYPE: a type that is not static. */
fer_status fer_elements_parse(fer_lexer *lexer, const fer_type *type, fer_tensor **out_tensor,
                              fer_error *error);

#endif
