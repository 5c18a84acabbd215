/* Pictures: samples come and go unchanged, whatever the file's layout; damage is an error. The
 * files are put together here, byte by byte, so that libpng does not judge itself. */
#include "base/path.h"
#include "cli/picture.h"
#include "testing.h"

#include <limits.h>
#include <math.h>
#include <unistd.h>

static const fer_device HOST = {0};

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/ferrule-picture-XXXXXX");
    *state = folder;
    return folder != NULL && mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    fer_folder_remove(*state);
    free(*state);
    return 0;
}

static const char *path_in(void **state, const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", (const char *)*state, name);
    return path;
}

typedef struct png_bytes {
    uint8_t data[1024];
    size_t size;
} png_bytes;

static void append(png_bytes *file, const void *data, size_t size)
{
    assert_true(size <= sizeof file->data - file->size);
    if (size > 0)
        memcpy(file->data + file->size, data, size);
    file->size += size;
}

static void append_u32(png_bytes *file, uint32_t value)
{
    append(file, (uint8_t[]){value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255}, 4);
}

/* The checksums of PNG and of zlib, as their specifications give them. */
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

static uint32_t adler_of(const uint8_t *data, size_t size)
{
    uint32_t a = 1;
    uint32_t b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void append_chunk(png_bytes *file, const char *name, const void *data, size_t size)
{
    append_u32(file, (uint32_t)size);
    size_t start = file->size;
    append(file, name, 4);
    append(file, data, size);
    append_u32(file, crc_of(file->data + start, file->size - start));
}

typedef struct png_chunk {
    const char *name; /* NULL: none */
    const void *data;
    size_t size;
} png_chunk;

typedef struct png_layout {
    uint32_t width, height;
    uint8_t depth, color, interlace;
    png_chunk chunks[2]; /* before the samples */
} png_layout;

static png_layout plain(uint32_t width, uint32_t height, uint8_t depth, uint8_t color)
{
    return (png_layout){.width = width, .height = height, .depth = depth, .color = color};
}

static png_layout with_chunk(png_layout layout, const char *name, const void *data, size_t size)
{
    layout.chunks[layout.chunks[0].name != NULL] = (png_chunk){name, data, size};
    return layout;
}

/* `rows` is what the file's rows hold, each after its filter byte; it goes in uncompressed. */
static png_bytes make_png(png_layout layout, const void *rows, size_t size)
{
    png_bytes file = {.size = 0};
    append(&file, "\x89PNG\r\n\x1a\n", 8);
    png_bytes header = {.size = 0};
    append_u32(&header, layout.width);
    append_u32(&header, layout.height);
    append(&header, (uint8_t[]){layout.depth, layout.color, 0, 0, layout.interlace}, 5);
    append_chunk(&file, "IHDR", header.data, header.size);
    for (size_t i = 0; i < 2 && layout.chunks[i].name != NULL; i++)
        append_chunk(&file, layout.chunks[i].name, layout.chunks[i].data, layout.chunks[i].size);
    png_bytes stream = {.size = 0};
    append(&stream, "\x78\x01\x01", 3);
    append(&stream,
           (uint8_t[]){size & 255, size >> 8 & 255, ~size & 255, (uint8_t)(~size >> 8 & 255)}, 4);
    append(&stream, rows, size);
    append_u32(&stream, adler_of(rows, size));
    append_chunk(&file, "IDAT", stream.data, stream.size);
    append_chunk(&file, "IEND", NULL, 0);
    return file;
}

static const char *write_png(void **state, const png_bytes *file)
{
    fer_error error = FER_ERROR_INIT;
    const char *path = path_in(state, "in.png");
    ASSERT_OK(&error, fer_file_write(path, file->data, file->size, &error));
    return path;
}

static void check_samples(void **state, png_layout layout, const void *rows, size_t size,
                          int64_t channels, const uint8_t *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    png_bytes file = make_png(layout, rows, size);
    const char *path = write_png(state, &file);
    ASSERT_OK(&error, fer_picture_read(path, FER_U8, &tensor, &error));
    assert_int_equal(fer_tensor_dtype(tensor), FER_U8);
    assert_int_equal(fer_tensor_rank(tensor), 3);
    assert_int_equal(fer_tensor_shape(tensor)[0], layout.height);
    assert_int_equal(fer_tensor_shape(tensor)[1], layout.width);
    assert_int_equal(fer_tensor_shape(tensor)[2], channels);
    assert_memory_equal(fer_tensor_data(tensor), expected, fer_tensor_num_bytes(tensor));
    fer_tensor_release(tensor);
}

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

static void test_eight_bit_samples_are_the_files(void **state)
{
    check_samples(state, plain(3, 2, 8, GREY), (uint8_t[]){0, 1, 2, 3, 0, 253, 254, 255}, 8, 1,
                  (uint8_t[]){1, 2, 3, 253, 254, 255});
    check_samples(state, plain(2, 1, 8, GREY_ALPHA), (uint8_t[]){0, 10, 0, 200, 128}, 5, 2,
                  (uint8_t[]){10, 0, 200, 128});
    check_samples(state, plain(2, 1, 8, RGB), (uint8_t[]){0, 1, 2, 3, 4, 5, 6}, 7, 3,
                  (uint8_t[]){1, 2, 3, 4, 5, 6});
    /* Alpha 0 keeps its colours. */
    check_samples(state, plain(1, 2, 8, RGBA), (uint8_t[]){0, 9, 8, 7, 0, 0, 6, 5, 4, 255}, 10, 4,
                  (uint8_t[]){9, 8, 7, 0, 6, 5, 4, 255});
}

static void test_gamma_changes_nothing(void **state)
{
    static const uint8_t gammas[][4] = {
        {0, 1, 0x86, 0xa0}, /* 1.0, linear */
        {0, 0, 0xb1, 0x8f}, /* 1 / 2.2 */
        {0, 0, 0x4e, 0x20}, /* 0.2 */
    };
    uint8_t rows[257] = {0};
    for (int i = 0; i < 256; i++)
        rows[1 + i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof gammas / sizeof *gammas; i++) {
        png_layout layout = with_chunk(plain(256, 1, 8, GREY), "gAMA", gammas[i], 4);
        check_samples(state, layout, rows, sizeof rows, 1, rows + 1);
    }
    png_layout layout = with_chunk(plain(256, 1, 8, GREY), "sRGB", "", 1);
    check_samples(state, layout, rows, sizeof rows, 1, rows + 1);
}

static void test_sixteen_bits_round_to_eight(void **state)
{
    check_samples(state, plain(5, 1, 16, GREY),
                  (uint8_t[]){0, 0, 0, 0, 128, 0, 129, 0x7f, 0xff, 0xff, 0xff}, 11, 1,
                  (uint8_t[]){0, 0, 1, 127, 255});
    check_samples(state, plain(1, 1, 16, RGBA), (uint8_t[]){0, 1, 1, 2, 2, 3, 3, 0xff, 0xff}, 9, 4,
                  (uint8_t[]){1, 2, 3, 255});
}

/* Read as `dtype`, which FER_DTYPE_INVALID leaves to the file: u16 elements. */
static void check_deep(void **state, png_layout layout, const void *rows, size_t size,
                       fer_dtype dtype, int64_t channels, const uint16_t *expected)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    png_bytes file = make_png(layout, rows, size);
    ASSERT_OK(&error, fer_picture_read(write_png(state, &file), dtype, &tensor, &error));
    assert_int_equal(fer_tensor_dtype(tensor), FER_U16);
    assert_int_equal(fer_tensor_shape(tensor)[2], channels);
    assert_memory_equal(fer_tensor_data(tensor), expected, fer_tensor_num_bytes(tensor));
    fer_tensor_release(tensor);
}

static void test_sixteen_bits(void **state)
{
    static const uint8_t grey[] = {0, 0, 0, 0, 1, 1, 0, 0xff, 0xff};
    check_deep(state, plain(4, 1, 16, GREY), grey, sizeof grey, FER_DTYPE_INVALID, 1,
               (uint16_t[]){0, 1, 256, 65535});
    check_deep(state, plain(1, 2, 16, RGB),
               (uint8_t[]){0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12}, 14, FER_U16, 3,
               (uint16_t[]){0x102, 0x304, 0x506, 0x708, 0x90a, 0xb0c});
    check_deep(state, plain(1, 1, 16, GREY_ALPHA), (uint8_t[]){0, 1, 2, 3, 4}, 5, FER_U16, 2,
               (uint16_t[]){0x102, 0x304});
    check_deep(state, with_chunk(plain(2, 1, 16, GREY), "tRNS", "\1\2", 2),
               (uint8_t[]){0, 1, 2, 1, 3}, 5, FER_DTYPE_INVALID, 2,
               (uint16_t[]){0x102, 0, 0x103, 65535});
    png_layout interlaced = plain(2, 1, 16, GREY);
    interlaced.interlace = 1;
    check_deep(state, interlaced, (uint8_t[]){0, 1, 2, 0, 3, 4}, 6, FER_U16, 1,
               (uint16_t[]){0x102, 0x304});
    /* The file's own are 8 bits, but 16 are asked for. */
    check_deep(state, plain(3, 1, 8, GREY), (uint8_t[]){0, 0, 1, 255}, 4, FER_U16, 1,
               (uint16_t[]){0, 257, 65535});
    check_deep(state, plain(2, 1, 1, GREY), (uint8_t[]){0, 0x40}, 2, FER_U16, 1,
               (uint16_t[]){0, 65535});

    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    png_bytes file = make_png(plain(4, 1, 16, GREY), grey, sizeof grey);
    ASSERT_OK(&error, fer_picture_read(write_png(state, &file), FER_F32, &tensor, &error));
    const float *floats = fer_tensor_const_data(tensor);
    assert_true(floats[1] == 1.0f / 65535 && floats[2] == 256.0f / 65535 && floats[3] == 1.0f);
    fer_tensor_release(tensor);
    ASSERT_OK(&error, fer_picture_read(path_in(state, "in.png"), FER_U8, &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), ((uint8_t[]){0, 0, 1, 255}), 4);
    fer_tensor_release(tensor);
}

static void test_deep_samples_come_back(void **state)
{
    fer_error error = FER_ERROR_INIT;
    uint16_t samples[5 * 7 * 4];
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        samples[i] = (uint16_t)(i * 4099);
    for (int64_t channels = 1; channels <= 4; channels++) {
        fer_tensor *tensor = NULL;
        fer_tensor *again = NULL;
        int64_t shape[] = {5, 7, channels};
        const char *path = path_in(state, "out.png");
        ASSERT_OK(&error, fer_tensor_copy_from(FER_U16, 3, shape, samples, HOST, &tensor, &error));
        ASSERT_OK(&error, fer_picture_write(path, tensor, &error));
        ASSERT_OK(&error, fer_picture_read(path, FER_DTYPE_INVALID, &again, &error));
        assert_int_equal(fer_tensor_dtype(again), FER_U16);
        assert_memory_equal(fer_tensor_shape(again), shape, sizeof shape);
        assert_memory_equal(fer_tensor_data(again), samples, fer_tensor_num_bytes(tensor));
        fer_tensor_release(again);
        fer_tensor_release(tensor);
    }
}

static void test_few_bits_are_spread(void **state)
{
    check_samples(state, plain(8, 1, 1, GREY), (uint8_t[]){0, 0xa5}, 2, 1,
                  (uint8_t[]){255, 0, 255, 0, 0, 255, 0, 255});
    check_samples(state, plain(4, 1, 2, GREY), (uint8_t[]){0, 0x1b}, 2, 1,
                  (uint8_t[]){0, 85, 170, 255});
    check_samples(state, plain(2, 1, 4, GREY), (uint8_t[]){0, 0x3f}, 2, 1, (uint8_t[]){51, 255});
}

static void test_palettes_are_expanded(void **state)
{
    static const uint8_t palette[] = {255, 0, 0, 0, 255, 0, 1, 2, 3};
    check_samples(state, with_chunk(plain(4, 1, 2, PALETTE), "PLTE", palette, 9),
                  (uint8_t[]){0, 0x24}, 2, 3,
                  (uint8_t[]){255, 0, 0, 1, 2, 3, 0, 255, 0, 255, 0, 0});
    /* With transparency there is alpha; entries without one are opaque. */
    check_samples(
        state,
        with_chunk(with_chunk(plain(3, 1, 8, PALETTE), "PLTE", palette, 9), "tRNS", "\x40", 1),
        (uint8_t[]){0, 0, 1, 2}, 4, 4, (uint8_t[]){255, 0, 0, 64, 0, 255, 0, 255, 1, 2, 3, 255});
    check_samples(state, with_chunk(plain(2, 1, 8, GREY), "tRNS", "\0\7", 2), (uint8_t[]){0, 7, 8},
                  3, 2, (uint8_t[]){7, 0, 8, 255});
}

/* Adam7: of 2 x 2 pixels the first pass has one, the sixth one, the seventh two. */
static void test_interlaced(void **state)
{
    png_layout layout = plain(2, 2, 8, GREY);
    layout.interlace = 1;
    check_samples(state, layout, (uint8_t[]){0, 11, 0, 22, 0, 33, 44}, 7, 1,
                  (uint8_t[]){11, 22, 33, 44});
}

static void test_floats_are_samples_over_255(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    uint8_t rows[257] = {0};
    for (int i = 0; i < 256; i++)
        rows[1 + i] = (uint8_t)i;
    png_bytes file = make_png(plain(256, 1, 8, GREY), rows, sizeof rows);
    ASSERT_OK(&error, fer_picture_read(write_png(state, &file), FER_F32, &tensor, &error));
    assert_int_equal(fer_tensor_dtype(tensor), FER_F32);
    const float *samples = fer_tensor_const_data(tensor);
    for (int i = 0; i < 256; i++)
        assert_true(samples[i] == (float)i / 255.0f);
    /* And back to the same samples. */
    fer_tensor *again = NULL;
    ASSERT_OK(&error, fer_picture_write(path_in(state, "out.png"), tensor, &error));
    ASSERT_OK(&error, fer_picture_read(path_in(state, "out.png"), FER_U8, &again, &error));
    assert_memory_equal(fer_tensor_data(again), rows + 1, 256);
    fer_tensor_release(again);
    fer_tensor_release(tensor);
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_picture_read(path_in(state, "out.png"), FER_F64, &tensor, &error),
                 "u16 or f32", "out.png");
    assert_null(tensor);
}

static void test_written_samples_come_back(void **state)
{
    fer_error error = FER_ERROR_INIT;
    uint8_t samples[5 * 7 * 4];
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i * 37 + i / 9);
    for (int64_t channels = 1; channels <= 4; channels++) {
        fer_tensor *tensor = NULL;
        fer_tensor *again = NULL;
        int64_t shape[] = {5, 7, channels};
        ASSERT_OK(&error, fer_tensor_copy_from(FER_U8, 3, shape, samples, HOST, &tensor, &error));
        ASSERT_OK(&error, fer_picture_write(path_in(state, "out.png"), tensor, &error));
        ASSERT_OK(&error, fer_picture_read(path_in(state, "out.png"), FER_U8, &again, &error));
        assert_memory_equal(fer_tensor_shape(again), shape, sizeof shape);
        assert_memory_equal(fer_tensor_data(again), samples, fer_tensor_num_bytes(tensor));
        fer_tensor_release(again);
        fer_tensor_release(tensor);
    }
}

static void test_floats_clip_and_round(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_tensor *again = NULL;
    static const float values[] = {-INFINITY, -0.1f, -0.0f, 0,        0.4999f / 255, 0.5001f / 255,
                                   0.5f,      1,     1.5f,  INFINITY, NAN,           254.49f / 255};
    static const uint8_t expected[] = {0, 0, 0, 0, 0, 1, 128, 255, 255, 255, 0, 254};
    int64_t shape[] = {1, 12, 1};
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 3, shape, values, HOST, &tensor, &error));
    ASSERT_OK(&error, fer_picture_write(path_in(state, "out.png"), tensor, &error));
    ASSERT_OK(&error, fer_picture_read(path_in(state, "out.png"), FER_U8, &again, &error));
    assert_memory_equal(fer_tensor_data(again), expected, sizeof expected);
    fer_tensor_release(again);
    fer_tensor_release(tensor);
}

static void check_not_written(void **state, fer_dtype dtype, size_t rank, const int64_t *shape,
                              fer_status kind, const char *words)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    const char *path = path_in(state, "bad.png");
    ASSERT_OK(&error, fer_tensor_zeros(dtype, rank, shape, HOST, &tensor, &error));
    ASSERT_FAILS(&error, kind, fer_picture_write(path, tensor, &error), words, path);
    assert_int_equal(access(path, F_OK), -1);
    fer_tensor_release(tensor);
}

static void test_what_is_no_picture_is_not_written(void **state)
{
    check_not_written(state, FER_I16, 3, (int64_t[]){1, 1, 1}, FER_TYPE_ERROR, "not i16");
    check_not_written(state, FER_F64, 3, (int64_t[]){1, 1, 1}, FER_TYPE_ERROR, "not f64");
    check_not_written(state, FER_BOOL, 3, (int64_t[]){1, 1, 1}, FER_TYPE_ERROR, "not bool");
    check_not_written(state, FER_U8, 2, (int64_t[]){4, 4}, FER_VALUE_ERROR, "not rank 2");
    check_not_written(state, FER_U8, 0, NULL, FER_VALUE_ERROR, "not rank 0");
    check_not_written(state, FER_F32, 3, (int64_t[]){4, 4, 5}, FER_VALUE_ERROR, "not 5");
    check_not_written(state, FER_F32, 3, (int64_t[]){4, 4, 0}, FER_VALUE_ERROR, "not 0");
    check_not_written(state, FER_U8, 3, (int64_t[]){0, 4, 3}, FER_VALUE_ERROR, "one pixel");
    check_not_written(state, FER_U8, 3, (int64_t[]){4, 0, 3}, FER_VALUE_ERROR, "one pixel");
    check_not_written(state, FER_U8, 3, (int64_t[]){1, 1000001, 1}, FER_VALUE_ERROR, "at most");
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_zeros(FER_U8, 3, (int64_t[]){1, 1, 1}, HOST, &tensor, &error));
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_picture_write(path_in(state, "no/folder.png"), tensor, &error), "folder.png");
    fer_tensor_release(tensor);
}

static void test_files_that_are_none(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_picture_read(path_in(state, "no.png"), FER_U8, &tensor, &error), "no.png",
                 "No such file");
    const char *path = path_in(state, "text.png");
    ASSERT_OK(&error, fer_file_write(path, "a text, no picture", 18, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_picture_read(path, FER_U8, &tensor, &error), path,
                 "not a PNG");
    ASSERT_OK(&error, fer_file_write(path, "", 0, &error));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_picture_read(path, FER_U8, &tensor, &error),
                 "not a PNG");
    assert_null(tensor);
}

/* Cut at any length, or with any one byte changed: an error, or (a byte that is not looked at) a
 * picture; never more. */
static void test_damaged_files(void **state)
{
    static const uint8_t rows[] = {0, 1, 2, 3, 0, 4, 5, 6};
    png_bytes whole =
        make_png(with_chunk(plain(3, 2, 8, GREY), "gAMA", "\0\1\x86\xa0", 4), rows, sizeof rows);
    for (size_t size = 0; size < whole.size; size++) {
        fer_error error = FER_ERROR_INIT;
        fer_tensor *tensor = NULL;
        png_bytes file = whole;
        file.size = size;
        const char *path = write_png(state, &file);
        ASSERT_FAILS(&error, size < 8 ? FER_VALUE_ERROR : FER_IO_ERROR,
                     fer_picture_read(path, FER_U8, &tensor, &error), path);
        assert_null(tensor);
    }
    size_t num_refused = 0;
    for (size_t i = 0; i < whole.size; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_tensor *tensor = NULL;
        png_bytes file = whole;
        file.data[i] ^= 0x5a;
        const char *path = write_png(state, &file);
        if (fer_picture_read(path, FER_F32, &tensor, &error) != FER_OK) {
            assert_non_null(strstr(error.message, path));
            assert_null(tensor);
            num_refused++;
        }
        fer_tensor_release(tensor);
        fer_error_clear(&error);
    }
    assert_true(num_refused > whole.size / 2);
}

static void test_claimed_sizes_are_bounded(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    png_bytes file = make_png(plain(900000, 900000, 8, RGBA), "\0\1", 2);
    ASSERT_FAILS(&error, FER_UNSUPPORTED_ERROR,
                 fer_picture_read(write_png(state, &file), FER_U8, &tensor, &error),
                 "900000 x 900000");
    file = make_png(plain(2000000, 1, 8, GREY), "\0\1", 2);
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_picture_read(write_png(state, &file), FER_U8, &tensor, &error), "in.png");
    file = make_png(plain(4, 4, 8, GREY), "\0\1\2\3\4", 5);
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_picture_read(write_png(state, &file), FER_U8, &tensor, &error), "in.png");
    assert_null(tensor);
}

static void check_refused(void **state, png_bytes file, const char *words)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_picture_read(write_png(state, &file), FER_DTYPE_INVALID, &tensor, &error),
                 "in.png", "cannot be read", words);
    assert_null(tensor);
}

static void test_hostile_files(void **state)
{
    static const uint8_t palette[] = {1, 2, 3};
    /* A gigabyte is claimed and never allocated: so few bytes cannot hold it. */
    check_refused(state, make_png(plain(16384, 16384, 16, RGBA), "\0\1", 2), "cut short");
    check_refused(state, make_png(plain(0, 1, 8, GREY), "\0", 1), "width");
    check_refused(state, make_png(plain(1, 0, 8, GREY), "\0", 1), "height");
    check_refused(state, make_png(plain(1, 0x80000000, 8, GREY), "\0", 1), "out of range");
    check_refused(state, make_png(plain(1, 1, 3, GREY), "\0\0", 2), "IHDR");
    check_refused(state, make_png(plain(1, 1, 16, PALETTE), "\0\0", 2), "color type");
    check_refused(state, make_png(plain(1, 1, 8, 5), "\0\0", 2), "IHDR");
    check_refused(state, make_png(plain(1, 1, 8, PALETTE), "\0\0", 2), "PLTE");
    check_refused(state,
                  make_png(with_chunk(plain(1, 1, 8, PALETTE), "PLTE", palette, 2), "\0\0", 2),
                  "PLTE");
    check_refused(state, make_png(with_chunk(plain(1, 1, 8, GREY), "ABCD", "", 0), "\0\0", 2),
                  "ABCD");
    check_refused(state, make_png(with_chunk(plain(1, 1, 8, GREY), "IEND", "", 0), "\0\0", 2),
                  "IEND");
    check_refused(state, make_png(with_chunk(plain(1, 1, 8, GREY), "A\1CD", "", 0), "\0\0", 2), "");
    check_refused(state, make_png(plain(1, 1, 8, GREY), "\7\0", 2), "filter");
    /* A text of a gigabyte: its length stands after the signature and IHDR. */
    png_bytes long_text = make_png(with_chunk(plain(1, 1, 8, GREY), "tEXt", "a\0b", 3), "\0\0", 2);
    long_text.data[33] = 0x40;
    check_refused(state, long_text, "cut short");
    png_layout unknown = plain(1, 1, 8, GREY);
    unknown.interlace = 9;
    check_refused(state, make_png(unknown, "\0\0", 2), "IHDR");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_eight_bit_samples_are_the_files),
        IN_FOLDER(test_gamma_changes_nothing),
        IN_FOLDER(test_sixteen_bits_round_to_eight),
        IN_FOLDER(test_sixteen_bits),
        IN_FOLDER(test_deep_samples_come_back),
        IN_FOLDER(test_hostile_files),
        IN_FOLDER(test_few_bits_are_spread),
        IN_FOLDER(test_palettes_are_expanded),
        IN_FOLDER(test_interlaced),
        IN_FOLDER(test_floats_are_samples_over_255),
        IN_FOLDER(test_written_samples_come_back),
        IN_FOLDER(test_floats_clip_and_round),
        IN_FOLDER(test_what_is_no_picture_is_not_written),
        IN_FOLDER(test_files_that_are_none),
        IN_FOLDER(test_damaged_files),
        IN_FOLDER(test_claimed_sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
