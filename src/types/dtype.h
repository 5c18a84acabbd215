/* Names of dtypes, for messages. */
#ifndef FERRULE_TYPES_DTYPE_H
#define FERRULE_TYPES_DTYPE_H

#include "base/text.h"
#include <ferrule/dtype.h>

/* The dtype that was probably meant by a name that is none: `f32` for `F32`, `float` and
 * `float_32`. NULL when nothing is near. */
const char *fer_dtype_near(const char *text, size_t length);
/* `bool, i8, i16, ... and f8e5m2`. */
void fer_dtypes_append(fer_text *text);

fer_status fer_dtype_fail(fer_dtype dtype, fer_error *error);

/* TYPE for what is no dtype. */
static inline fer_status fer_dtype_check(fer_dtype dtype, fer_error *error)
{
    size_t number = (size_t)dtype;
    return number > FER_DTYPE_INVALID && number < FER_NUM_DTYPES ? FER_OK
                                                                 : fer_dtype_fail(dtype, error);
}

#endif
