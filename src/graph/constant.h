/* Constants whose elements are in a .npy file of their own. */
#ifndef FERRULE_GRAPH_CONSTANT_H
#define FERRULE_GRAPH_CONSTANT_H

#include "base/hash.h"
#include "base/text.h"
#include <ferrule/tensor.h>

/* A digest of a constant: of its type without the device, as text, and of its elements. */
void fer_constant_digest(const fer_type *type, const fer_tensor *tensor,
                         char out_hex[FER_DIGEST_HEX]);

/* A constant over what was read from a file; it shares the file's tensor and is read-only. VALUE:
 * the file has another dtype or shape than the static type. */
fer_status fer_constant_from_file(const fer_tensor *file, const fer_type *type,
                                  fer_tensor **out_tensor, fer_error *error);

/* The other way: the tensor that a file has for a constant, over the constant's elements, which
 * outlive it. */
fer_status fer_constant_to_file(const fer_tensor *tensor, fer_tensor **out_file, fer_error *error);

/* ` from "thumbnail.data/0123….npy" {digest: "0123…"}`; without a digest where that is NULL. */
void fer_constant_append_file(fer_text *text, const char *path, const char *digest);

#endif
