/* Any bytes as a PNG picture: refused with a message, or read alike as u8, u16 and f32; and what is
 * read comes back from a file made of it. The bytes are tried as they are, and again with the
 * checksums of chunks put right, which chance would never get past. */
#include "cli/picture.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static uint32_t crc_of(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static uint32_t read_u32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Chunks follow the signature: length, name, data, checksum of name and data. */
static void correct_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 8; at + 12 <= size;) {
        const size_t length = read_u32(data + at);
        if (length > size - at - 12)
            return;
        const uint32_t crc = crc_of(data + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += length + 12;
    }
}

static fer_tensor *decode(const uint8_t *data, size_t size, fer_dtype dtype)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_status status = fer_picture_decode((const char *)data, size, dtype, &tensor, &error);
    require((status == FER_OK) == (tensor != NULL));
    require((status == FER_OK) == (error.message == NULL));
    fer_error_clear(&error);
    return tensor;
}

static uint32_t sample(const fer_tensor *tensor, int64_t index)
{
    const void *samples = fer_tensor_const_data(tensor);
    return fer_tensor_dtype(tensor) == FER_U16 ? ((const uint16_t *)samples)[index]
                                               : ((const uint8_t *)samples)[index];
}

static void check_samples(const fer_tensor *own, const fer_tensor *narrow, const fer_tensor *wide,
                          const fer_tensor *floats)
{
    const bool is_deep = fer_tensor_dtype(own) == FER_U16;
    const int64_t count = fer_tensor_num_elements(own);
    require(fer_tensor_num_elements(narrow) == count && fer_tensor_num_elements(wide) == count);
    require(fer_tensor_num_elements(floats) == count);
    for (int64_t i = 0; i < count && i < 65536; i++) {
        const uint32_t value = sample(own, i);
        require(sample(wide, i) == (is_deep ? value : 257 * value));
        require(sample(narrow, i) == (is_deep ? (255 * value + 32895) >> 16 : value));
        require(((const float *)fer_tensor_const_data(floats))[i] ==
                (float)value / (is_deep ? 65535.0f : 255.0f));
    }
}

static void check_returns(const fer_tensor *own)
{
    fer_text text = FER_TEXT_INIT;
    require(fer_picture_encode(own, &text, NULL) == FER_OK);
    fer_tensor *again = decode((const uint8_t *)text.data, text.length, FER_DTYPE_INVALID);
    require(again != NULL && fer_tensor_dtype(again) == fer_tensor_dtype(own));
    require(memcmp(fer_tensor_shape(again), fer_tensor_shape(own), 3 * sizeof(int64_t)) == 0);
    require(memcmp(fer_tensor_const_data(again), fer_tensor_const_data(own),
                   fer_tensor_num_bytes(own)) == 0);
    fer_tensor_release(again);
    fer_text_free(&text);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    fer_tensor *own = decode(data, size, FER_DTYPE_INVALID);
    fer_tensor *narrow = decode(data, size, FER_U8);
    fer_tensor *wide = decode(data, size, FER_U16);
    fer_tensor *floats = decode(data, size, FER_F32);
    require((own != NULL) == (narrow != NULL) && (own != NULL) == (wide != NULL));
    require((own != NULL) == (floats != NULL));
    if (own != NULL) {
        check_samples(own, narrow, wide, floats);
        check_returns(own);
    }
    fer_tensor_release(own);
    fer_tensor_release(narrow);
    fer_tensor_release(wide);
    fer_tensor_release(floats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    uint8_t *corrected = malloc(size + 1);
    require(corrected != NULL);
    memcpy(corrected, data, size);
    correct_checksums(corrected, size);
    if (memcmp(corrected, data, size) != 0)
        try_bytes(corrected, size);
    free(corrected);
    return 0;
}
