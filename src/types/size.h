/* What is sure of a dim whose symbols are sizes: 0 or more. */
#ifndef FERRULE_TYPES_SIZE_H
#define FERRULE_TYPES_SIZE_H

#include <ferrule/dim.h>

/* Whether the dim surely has a value that is not negative. False: it is not known. */
bool fer_dim_is_size(const fer_dim *dim);
/* Whether two dims surely have different values, whatever the sizes. False: it is not known. */
bool fer_dims_never_agree(const fer_dim *a, const fer_dim *b);

#endif
