/* The floats that C has no type for: f16, bf16, f8e4m3fn and f8e5m2, as their bits.
 *
 * Formats: IEEE 754 binary16; bfloat16; the two of "FP8 Formats for Deep Learning" (Micikevicius et
 * al., 2022). f8e4m3fn has no infinity and one NaN of each sign.
 */
#ifndef FERRULE_TENSOR_SMALLFLOAT_H
#define FERRULE_TENSOR_SMALLFLOAT_H

#include <ferrule/dtype.h>

bool fer_dtype_is_small_float(fer_dtype dtype);

/* The nearest element, ties to even, rounded once and in every rounding mode. What is too large
 * becomes infinity, in f8e4m3fn NaN. The bits of a one-byte format are the low byte. */
uint16_t fer_small_float_encode(fer_dtype dtype, double value);

/* Exact. */
double fer_small_float_decode(fer_dtype dtype, uint16_t bits);

#endif
