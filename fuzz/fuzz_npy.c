/* A .npy file in memory: nothing in it may crash, and what is read is written and read back equal.
 */
#include "tensor/npy.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_header_returns(const fer_tensor *tensor)
{
    char *bytes = NULL;
    size_t size = 0;
    fer_npy_header header;
    if (fer_npy_format(tensor, &bytes, &size, NULL) != FER_OK ||
        fer_npy_parse((const unsigned char *)bytes, size, &header, NULL) != FER_OK ||
        header.dtype != fer_tensor_dtype(tensor) || header.rank != fer_tensor_rank(tensor) ||
        memcmp(header.shape, fer_tensor_shape(tensor), header.rank * sizeof *header.shape) != 0)
        abort();
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    if (fer_npy_decode(data, size, &tensor, &error) == FER_OK)
        check_header_returns(tensor);
    else if (error.message == NULL || tensor != NULL)
        abort();
    fer_tensor_release(tensor);
    fer_error_clear(&error);
    return 0;
}
