/* PNG pictures as tensors, always [height, width, channels]. */
#ifndef FERRULE_CLI_PICTURE_H
#define FERRULE_CLI_PICTURE_H

#include "base/text.h"
#include <ferrule/tensor.h>

#define FER_PICTURE_MAX_SIDE 1000000
#define FER_PICTURE_MAX_PIXELS ((int64_t)1 << 28)

/* Channels are the file's: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; a palette is expanded, a colour
 * that is named transparent becomes alpha, and sample values are as stored, whatever the gamma.
 * `dtype` is FER_U8 (16 bits are rounded to 8), FER_U16 (of 8 bits v is 257 v), FER_F32 (samples
 * over the largest one), or FER_DTYPE_INVALID: u16 for a file of 16 bits, else u8. TYPE else.
 * VALUE: no PNG. IO: it is cut short or damaged. UNSUPPORTED: above FER_PICTURE_MAX_SIDE or
 * FER_PICTURE_MAX_PIXELS. MEMORY. */
fer_status fer_picture_decode(const char *bytes, size_t size, fer_dtype dtype,
                              fer_tensor **out_tensor, fer_error *error);
/* The same of a file. IO: it cannot be read. */
fer_status fer_picture_read(const char *path, fer_dtype dtype, fer_tensor **out_tensor,
                            fer_error *error);

/* The file for u8, u16 (16 bits), or f32 in 0..1: what is outside clips, NaN is 0, and the nearest
 * of 8 bits is taken. `text` is an empty one, which the caller frees. TYPE: another dtype. VALUE: a
 * rank other than 3, channels other than 1 to 4, no pixel, or more than can be read back. MEMORY.
 */
fer_status fer_picture_encode(const fer_tensor *tensor, fer_text *text, fer_error *error);
/* Writes it, whole or not at all. IO. */
fer_status fer_picture_write(const char *path, const fer_tensor *tensor, fer_error *error);

#endif
