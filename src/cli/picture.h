/* PNG pictures as tensors, always [height, width, channels]. */
#ifndef FERRULE_CLI_PICTURE_H
#define FERRULE_CLI_PICTURE_H

#include <ferrule/tensor.h>

#define FER_PICTURE_MAX_SIDE 1000000
#define FER_PICTURE_MAX_PIXELS ((int64_t)1 << 28)

/* Channels are the file's: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; a palette is expanded, 16 bits
 * are rounded to 8, and sample values are as stored, whatever the gamma. `dtype` is FER_U8, or
 * FER_F32 for samples / 255; TYPE else. VALUE: no PNG. IO: a file that cannot be read, is cut short
 * or damaged. UNSUPPORTED: above FER_PICTURE_MAX_SIDE or FER_PICTURE_MAX_PIXELS. MEMORY. */
fer_status fer_picture_read(const char *path, fer_dtype dtype, fer_tensor **out_tensor,
                            fer_error *error);

/* Writes u8, or f32 in 0..1: what is outside clips, NaN is 0, and the nearest sample is taken.
 * Whole or absent. TYPE: another dtype. VALUE: a rank other than 3, channels other than 1 to 4, no
 * pixel, or more than can be read back. IO, MEMORY. */
fer_status fer_picture_write(const char *path, const fer_tensor *tensor, fer_error *error);

#endif
