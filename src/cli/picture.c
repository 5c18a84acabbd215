/* Pictures through libpng, from and to memory: a file is read whole before it is decoded, and
 * written only when all of it is encoded.
 *
 * libpng reports an error by a long jump to the setjmp in decode() or encode(). All that these two
 * change lies in a struct of their caller, never in their own variables, so that nothing is lost on
 * the way. */
#include "cli/picture.h"

#include "base/path.h"

#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE_BYTES 8
#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) /* PNG is not */

/* What libpng said, kept until its caller can report it. */
typedef struct complaint {
    char message[128];
    char warning[128]; /* the last one: often what is wrong, where the message says in what */
} complaint;

static void keep_error(png_structp png, png_const_charp message)
{
    complaint *kept = png_get_error_ptr(png);
    strncpy(kept->message, message, sizeof kept->message - 1);
    png_longjmp(png, 1);
}

static void keep_warning(png_structp png, png_const_charp message)
{
    complaint *kept = png_get_error_ptr(png);
    strncpy(kept->warning, message, sizeof kept->warning - 1);
}

static fer_status fail_as_told(const complaint *told, const char *what, fer_error *error)
{
    bool has_warning = told->warning[0] != '\0';
    return fer_fail(error, FER_IO_ERROR, "the PNG picture cannot be %s: %s%s%s%s", what,
                    told->message, has_warning ? " (" : "", told->warning, has_warning ? ")" : "");
}

typedef struct decoding {
    png_structp png;
    png_infop info;
    const char *bytes;
    size_t size;
    size_t position;
    fer_dtype dtype; /* what to read as; FER_DTYPE_INVALID: as the file is */
    complaint complaint;
    fer_tensor *pixels;
    fer_status status; /* of what is no fault of the file's bytes */
    fer_error *error;
} decoding;

static void take_bytes(png_structp png, png_bytep data, size_t length)
{
    decoding *decoder = png_get_io_ptr(png);
    if (length > decoder->size - decoder->position)
        png_error(png, "it is cut short");
    memcpy(data, decoder->bytes + decoder->position, length);
    decoder->position += length;
}

/* What compressed bytes hold at most: deflate's shortest code stands for 258 bytes in 2 bits. */
enum { MAX_EXPANSION = 1032 };

/* Before anything is allocated for it. `row_bytes` are the file's. */
static fer_status check_size(decoding *decoder, int64_t height, int64_t width, size_t row_bytes)
{
    if (width * height > FER_PICTURE_MAX_PIXELS)
        return fer_fail(decoder->error, FER_UNSUPPORTED_ERROR,
                        "a picture of %" PRId64 " x %" PRId64 " pixels is not supported, only up "
                        "to %" PRId64 " pixels",
                        width, height, FER_PICTURE_MAX_PIXELS);
    if (row_bytes * (size_t)height / MAX_EXPANSION > decoder->size)
        png_error(decoder->png, "it is cut short");
    return FER_OK;
}

/* One sample for each channel, of 8 or 16 bits, and nothing else done to them. Returns the number
 * of passes. */
static int choose_samples(decoding *decoder)
{
    bool is_deep = png_get_bit_depth(decoder->png, decoder->info) == 16;
    if (decoder->dtype == FER_DTYPE_INVALID)
        decoder->dtype = is_deep ? FER_U16 : FER_U8;
    png_set_expand(decoder->png);
    if (decoder->dtype == FER_U8) {
        png_set_scale_16(decoder->png);
    } else {
        png_set_expand_16(decoder->png);
        if (IS_LITTLE_ENDIAN)
            png_set_swap(decoder->png);
    }
    int num_passes = png_set_interlace_handling(decoder->png);
    png_read_update_info(decoder->png, decoder->info);
    return num_passes;
}

static void read_rows(decoding *decoder, int num_passes)
{
    size_t row_bytes = png_get_rowbytes(decoder->png, decoder->info);
    const int64_t *shape = fer_tensor_shape(decoder->pixels);
    if (row_bytes != (size_t)(shape[1] * shape[2]) * fer_dtype_bytes(decoder->dtype))
        png_error(decoder->png, "its samples do not have 8 or 16 bits");
    for (int pass = 0; pass < num_passes; pass++) {
        png_bytep row = fer_tensor_data(decoder->pixels);
        for (int64_t i = 0; i < shape[0]; i++, row += row_bytes)
            png_read_row(decoder->png, row, NULL);
    }
    png_read_end(decoder->png, NULL);
}

static fer_status decode_pixels(decoding *decoder)
{
    png_read_info(decoder->png, decoder->info);
    int64_t width = png_get_image_width(decoder->png, decoder->info);
    int64_t height = png_get_image_height(decoder->png, decoder->info);
    FER_TRY(check_size(decoder, height, width, png_get_rowbytes(decoder->png, decoder->info)));
    int num_passes = choose_samples(decoder);
    int64_t shape[] = {height, width, png_get_channels(decoder->png, decoder->info)};
    FER_TRY(fer_tensor_empty(decoder->dtype, 3, shape, (fer_device){0}, &decoder->pixels,
                             decoder->error));
    read_rows(decoder, num_passes);
    return FER_OK;
}

/* False: decoder->status says what happened, or the complaint does. */
static bool decode(decoding *decoder)
{
    if (setjmp(png_jmpbuf(decoder->png)) != 0)
        return false;
    png_set_read_fn(decoder->png, decoder, take_bytes);
    png_set_user_limits(decoder->png, FER_PICTURE_MAX_SIDE, FER_PICTURE_MAX_SIDE);
    /* What has no part in the samples is skipped, unread: texts and profiles claim any size. */
    png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    decoder->status = decode_pixels(decoder);
    return decoder->status == FER_OK;
}

/* As u8, u16 or, with FER_DTYPE_INVALID, the one of these that the file has. */
static fer_status decode_bytes(const char *bytes, size_t size, fer_dtype dtype,
                               fer_tensor **out_pixels, fer_error *error)
{
    if (size < SIGNATURE_BYTES || png_sig_cmp((png_const_bytep)bytes, 0, SIGNATURE_BYTES) != 0)
        return fer_fail(error, FER_VALUE_ERROR, "not a PNG picture");
    decoding decoder = {.bytes = bytes, .size = size, .dtype = dtype, .error = error};
    decoder.png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder.complaint, keep_error, keep_warning);
    decoder.info = decoder.png == NULL ? NULL : png_create_info_struct(decoder.png);
    fer_status status = FER_OK;
    if (decoder.info == NULL)
        status = fer_fail_memory(error);
    else if (!decode(&decoder))
        status = decoder.status != FER_OK ? decoder.status
                                          : fail_as_told(&decoder.complaint, "read", error);
    png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
    if (status != FER_OK) {
        fer_tensor_release(decoder.pixels);
        return status;
    }
    *out_pixels = decoder.pixels;
    return FER_OK;
}

/* Takes the tensor of u8 or u16, and gives one of f32 in 0..1. */
static fer_status to_floats(fer_tensor *pixels, fer_tensor **out_floats, fer_error *error)
{
    fer_status status =
        fer_tensor_empty(FER_F32, 3, fer_tensor_shape(pixels), (fer_device){0}, out_floats, error);
    if (status == FER_OK) {
        const void *from = fer_tensor_const_data(pixels);
        bool is_deep = fer_tensor_dtype(pixels) == FER_U16;
        float *to = fer_tensor_data(*out_floats);
        int64_t count = fer_tensor_num_elements(pixels);
        for (int64_t i = 0; i < count; i++)
            to[i] = is_deep ? (float)((const uint16_t *)from)[i] / 65535.0f
                            : (float)((const uint8_t *)from)[i] / 255.0f;
    }
    fer_tensor_release(pixels);
    return status;
}

fer_status fer_picture_decode(const char *bytes, size_t size, fer_dtype dtype,
                              fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    if (dtype != FER_U8 && dtype != FER_U16 && dtype != FER_F32 && dtype != FER_DTYPE_INVALID)
        return fer_fail(error, FER_TYPE_ERROR, "a picture is read as u8, u16 or f32 only, not %s",
                        fer_dtype_name(dtype));
    fer_tensor *pixels = NULL;
    fer_dtype own = dtype == FER_F32 ? FER_DTYPE_INVALID : dtype;
    FER_TRY(decode_bytes(bytes, size, own, &pixels, error));
    if (dtype == FER_F32)
        return to_floats(pixels, out_tensor, error);
    *out_tensor = pixels;
    return FER_OK;
}

fer_status fer_picture_read(const char *path, fer_dtype dtype, fer_tensor **out_tensor,
                            fer_error *error)
{
    *out_tensor = NULL;
    char *bytes;
    size_t size;
    FER_TRY(fer_file_read(path, &bytes, &size, error));
    fer_status status = fer_picture_decode(bytes, size, dtype, out_tensor, error);
    free(bytes);
    return status == FER_OK ? FER_OK : fer_error_prepend(error, status, "%s: ", path);
}

typedef struct encoding {
    png_structp png;
    png_infop info;
    const fer_tensor *tensor;
    png_bytep row; /* of converted samples */
    fer_text encoded;
    complaint complaint;
} encoding;

static void give_bytes(png_structp png, png_bytep data, size_t length)
{
    encoding *encoder = png_get_io_ptr(png);
    fer_text_append_bytes(&encoder->encoded, (const char *)data, length);
    if (encoder->encoded.has_failed)
        png_error(png, "out of memory");
}

static void ignore_flush(png_structp png)
{
    (void)png;
}

static uint8_t sample_of(float value)
{
    if (!(value > 0.0f)) /* NaN too */
        return 0;
    if (value >= 1.0f)
        return 255;
    return (uint8_t)((double)value * 255.0 + 0.5);
}

static png_const_bytep row_samples(encoding *encoder, int64_t index, int64_t num_samples)
{
    fer_dtype dtype = fer_tensor_dtype(encoder->tensor);
    if (dtype != FER_F32)
        return (png_const_bytep)fer_tensor_const_data(encoder->tensor) +
               (size_t)(index * num_samples) * fer_dtype_bytes(dtype);
    const float *from = (const float *)fer_tensor_const_data(encoder->tensor) + index * num_samples;
    for (int64_t i = 0; i < num_samples; i++)
        encoder->row[i] = sample_of(from[i]);
    return encoder->row;
}

static bool encode(encoding *encoder)
{
    static const int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                      PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const int64_t *shape = fer_tensor_shape(encoder->tensor);
    if (setjmp(png_jmpbuf(encoder->png)) != 0)
        return false;
    bool is_deep = fer_tensor_dtype(encoder->tensor) == FER_U16;
    png_set_write_fn(encoder->png, encoder, give_bytes, ignore_flush);
    png_set_IHDR(encoder->png, encoder->info, (png_uint_32)shape[1], (png_uint_32)shape[0],
                 is_deep ? 16 : 8, color_types[shape[2] - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(encoder->png, encoder->info);
    if (is_deep && IS_LITTLE_ENDIAN)
        png_set_swap(encoder->png);
    for (int64_t i = 0; i < shape[0]; i++)
        png_write_row(encoder->png, row_samples(encoder, i, shape[1] * shape[2]));
    png_write_end(encoder->png, NULL);
    return true;
}

static fer_status encode_tensor(encoding *encoder, fer_error *error)
{
    const int64_t *shape = fer_tensor_shape(encoder->tensor);
    encoder->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder->complaint, keep_error,
                                           keep_warning);
    encoder->info = encoder->png == NULL ? NULL : png_create_info_struct(encoder->png);
    encoder->row = malloc((size_t)(shape[1] * shape[2]));
    fer_status status = FER_OK;
    if (encoder->info == NULL || encoder->row == NULL)
        status = fer_fail_memory(error);
    else if (!encode(encoder))
        status = encoder->encoded.has_failed ? fer_fail_memory(error)
                                             : fail_as_told(&encoder->complaint, "made", error);
    png_destroy_write_struct(&encoder->png, &encoder->info);
    free(encoder->row);
    return status;
}

static fer_status check_picture(const fer_tensor *tensor, fer_error *error)
{
    fer_dtype dtype = fer_tensor_dtype(tensor);
    const int64_t *shape = fer_tensor_shape(tensor);
    if (dtype != FER_U8 && dtype != FER_U16 && dtype != FER_F32)
        return fer_fail(error, FER_TYPE_ERROR, "a picture holds u8, u16 or f32 elements, not %s",
                        fer_dtype_name(dtype));
    if (fer_tensor_rank(tensor) != 3)
        return fer_fail(error, FER_VALUE_ERROR,
                        "a picture has rank 3, [height, width, channels], not rank %zu",
                        fer_tensor_rank(tensor));
    if (shape[2] < 1 || shape[2] > 4)
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.has_axis = true, .axis = 2},
                           "a picture has 1 to 4 channels (axis 2), not %" PRId64, shape[2]);
    if (shape[0] == 0 || shape[1] == 0)
        return fer_fail(error, FER_VALUE_ERROR,
                        "a picture has at least one pixel, not %" PRId64 " x %" PRId64, shape[1],
                        shape[0]);
    if (shape[0] > FER_PICTURE_MAX_SIDE || shape[1] > FER_PICTURE_MAX_SIDE ||
        shape[0] * shape[1] > FER_PICTURE_MAX_PIXELS)
        return fer_fail(error, FER_VALUE_ERROR,
                        "a picture has at most %d pixels on a side and %" PRId64
                        " in all, not %" PRId64 " x %" PRId64,
                        FER_PICTURE_MAX_SIDE, FER_PICTURE_MAX_PIXELS, shape[1], shape[0]);
    return FER_OK;
}

fer_status fer_picture_encode(const fer_tensor *tensor, fer_text *text, fer_error *error)
{
    encoding encoder = {.tensor = tensor, .encoded = FER_TEXT_INIT};
    fer_status status = check_picture(tensor, error);
    if (status == FER_OK)
        status = encode_tensor(&encoder, error);
    if (status == FER_OK)
        *text = encoder.encoded;
    else
        fer_text_free(&encoder.encoded);
    return status;
}

fer_status fer_picture_write(const char *path, const fer_tensor *tensor, fer_error *error)
{
    fer_text encoded = FER_TEXT_INIT;
    fer_status status = fer_picture_encode(tensor, &encoded, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "%s: ", path);
    status = fer_file_write(path, encoded.data, encoded.length, error);
    fer_text_free(&encoded);
    return status;
}
