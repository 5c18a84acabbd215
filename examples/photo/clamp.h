/* Plain C that kernels of this package share. */
#ifndef PHOTO_CLAMP_H
#define PHOTO_CLAMP_H

#include <ferrule/kernel.h>

/* The nearest index inside an axis of this extent. */
static inline index_t clamp(index_t index, index_t extent)
{
    if (index < 0)
        return 0;
    return index < extent ? index : extent - 1;
}

#endif
