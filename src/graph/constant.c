#include "graph/constant.h"

#include "tensor/npy.h"

#include <string.h>

void fer_constant_digest(const fer_type *type, const fer_tensor *tensor,
                         char out_hex[FER_DIGEST_HEX])
{
    fer_hasher hasher;
    const char *text = fer_type_text(type);
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_field(&hasher, text, strcspn(text, "]") + 1); /* before the device */
    fer_hasher_field(&hasher, fer_tensor_const_data(tensor), fer_tensor_num_bytes(tensor));
    fer_hasher_finish_hex(&hasher, out_hex);
}

static bool has_type(const fer_tensor *file, const fer_type *type)
{
    if (fer_tensor_dtype(file) != fer_npy_stored(fer_type_dtype(type)) ||
        fer_tensor_rank(file) != fer_type_rank(type))
        return false;
    for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
        int64_t extent;
        if (fer_dim_value(fer_type_dim(type, axis), &extent, NULL) != FER_OK ||
            extent != fer_tensor_shape(file)[axis])
            return false;
    }
    return true;
}

static fer_status fail_type(const fer_tensor *file, const fer_type *type, fer_error *error)
{
    fer_type *found = NULL;
    FER_TRY(fer_tensor_type(file, &found, error));
    fer_dtype dtype = fer_type_dtype(type);
    fer_dtype stored = fer_npy_stored(dtype);
    fer_place place = {.expected = fer_type_text(type), .actual = fer_type_text(found)};
    fer_status status =
        stored == dtype
            ? fer_fail_at(error, FER_VALUE_ERROR, &place,
                          "the file holds %s, but the constant is %s", place.actual, place.expected)
            : fer_fail_at(error, FER_VALUE_ERROR, &place,
                          "the file holds %s, but the constant is %s, whose bits a .npy file holds "
                          "as %s",
                          place.actual, place.expected, fer_dtype_name(stored));
    fer_type_release(found);
    return status;
}

static void release_file(void *context)
{
    fer_tensor_release(context);
}

fer_status fer_constant_from_file(const fer_tensor *file, const fer_type *type,
                                  fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    if (!has_type(file, type))
        return fail_type(file, type, error);
    fer_tensor *kept = fer_tensor_retain(file);
    fer_status status = fer_tensor_borrow(
        fer_type_dtype(type), fer_tensor_rank(file), fer_tensor_shape(file), fer_tensor_data(kept),
        true, fer_type_device(type), release_file, kept, out_tensor, error);
    if (status != FER_OK)
        fer_tensor_release(kept);
    return status;
}

fer_status fer_constant_to_file(const fer_tensor *tensor, fer_tensor **out_file, fer_error *error)
{
    return fer_tensor_borrow(fer_npy_stored(fer_tensor_dtype(tensor)), fer_tensor_rank(tensor),
                             fer_tensor_shape(tensor), (void *)fer_tensor_const_data(tensor), true,
                             (fer_device){0}, NULL, NULL, out_file, error);
}

void fer_constant_append_file(fer_text *text, const char *path, const char *digest)
{
    fer_text_append(text, " from ");
    fer_text_append_quoted(text, path, strlen(path));
    if (digest != NULL)
        fer_text_printf(text, " {digest: \"%s\"}", digest);
}
