/* Plain numbers as elements. */
#ifndef FERRULE_TENSOR_NUMBER_H
#define FERRULE_TENSOR_NUMBER_H

#include "base/error.h"
#include <ferrule/tensor.h>

/* Writes one element of `dtype`, by the rules of fer_tensor_full. The message has no place; the
 * caller puts one before it. */
fer_status fer_number_store(fer_number number, fer_dtype dtype, void *out_element,
                            fer_error *error);

#endif
