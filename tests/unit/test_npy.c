/* .npy: what NumPy writes is read, what is written NumPy reads, and nothing that a file says is
 * believed. */
#include "tensor/npy.h"
#include "tensor/tensor.h"
#include "testing_npy.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const fer_device HOST = {0};

static fer_status decode(const file_bytes *file, fer_tensor **out_tensor, fer_error *error)
{
    /* Exactly as large as the file, so that the sanitizer sees a read behind it. */
    unsigned char *bytes = malloc(file->size + 1);
    assert_non_null(bytes);
    memcpy(bytes + 1, file->data, file->size);
    fer_status status = fer_npy_decode(bytes + 1, file->size, out_tensor, error);
    free(bytes);
    return status;
}

static void check_read(int version, const char *dict, const void *data, size_t size,
                       fer_dtype dtype, size_t rank, const int64_t *shape)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_file(version, dict, data, size);
    ASSERT_OK(&error, decode(&file, &tensor, &error));
    assert_int_equal(fer_tensor_dtype(tensor), dtype);
    assert_int_equal(fer_tensor_rank(tensor), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(fer_tensor_shape(tensor)[i], shape[i]);
    assert_int_equal(fer_tensor_num_bytes(tensor), size);
    if (size > 0)
        assert_memory_equal(fer_tensor_data(tensor), data, size);
    fer_tensor_release(tensor);
}

static void check_refused(const char *dict, fer_status kind, const char *words)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    static const char data[256];
    file_bytes file = make_file(1, dict, data, sizeof data);
    ASSERT_FAILS(&error, kind, decode(&file, &tensor, &error), words);
    assert_null(tensor);
}

/* What numpy.save writes for arange(6, dtype float32) of shape (2, 3). */
#define NUMPY_HEADER                                                                               \
    "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"         \
    "                                                          \n"
static const float NUMPY_DATA[] = {0, 1, 2, 3, 4, 5};

static void test_every_version_is_read(void **state)
{
    (void)state;
    const char *dict = DICT("<f4", "False", "(2, 3)");
    for (int version = 1; version <= 3; version++)
        check_read(version, dict, NUMPY_DATA, sizeof NUMPY_DATA, FER_F32, 2, (int64_t[]){2, 3});
}

static void test_every_dtype_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        fer_dtype dtype;
    } known[] = {
        {"|b1", FER_BOOL}, {"|i1", FER_I8},   {"<i2", FER_I16}, {"<i4", FER_I32}, {"<i8", FER_I64},
        {"|u1", FER_U8},   {"<u2", FER_U16},  {"<u4", FER_U32}, {"<u8", FER_U64}, {"<f2", FER_F16},
        {"<f4", FER_F32},  {"<f8", FER_F64},  {"=f4", FER_F32}, {"|f8", FER_F64}, {"i4", FER_I32},
        {">u1", FER_U8},   {"<b1", FER_BOOL},
    };
    static const unsigned char data[16] = {1, 0, 1, 1, 0, 0, 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char dict[128];
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n",
                 known[i].descr);
        check_read(1, dict, data, 2 * fer_dtype_bytes(known[i].dtype), known[i].dtype, 1,
                   (int64_t[]){2});
    }
}

static void test_what_python_would_read_too(void **state)
{
    (void)state;
    static const char data[12] = "abcdefghijkl";
    int64_t shape[] = {3, 4};
    check_read(1, "{\"shape\":(3,4,),\"fortran_order\":False,\"descr\":\"|u1\"}", data, 12, FER_U8,
               2, shape);
    check_read(2, " {'descr' : '|u1' ,\n'shape' : ( 3 , 4 ) , 'fortran_order' : False }\t \r\n",
               data, 12, FER_U8, 2, shape);
    check_read(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3L, 4L), }", data, 12, FER_U8,
               2, shape);
    check_read(1, DICT("|u1", "False", "()"), data, 1, FER_U8, 0, NULL);
    check_read(1, DICT("<f8", "False", "(2, 0, 99999999999)"), NULL, 0, FER_F64, 3,
               (int64_t[]){2, 0, 99999999999});
    check_read(1, DICT("|u1", "False", "(1, 1, 1, 1, 1, 1, 1, 1)"), data, 1, FER_U8, 8,
               (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1});
}

/* A file whose elements differ from the tensor's: decoded, and read from disk. */
static void check_converted(void **state, const char *dict, const void *data, fer_dtype dtype,
                            const void *elements, size_t size)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_file(1, dict, data, size);
    ASSERT_OK(&error, decode(&file, &tensor, &error));
    assert_int_equal(fer_tensor_dtype(tensor), dtype);
    assert_int_equal(fer_tensor_num_bytes(tensor), size);
    assert_memory_equal(fer_tensor_data(tensor), elements, size);
    fer_tensor_release(tensor);
    const char *path = path_in(state, "converted.npy");
    ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
    ASSERT_OK(&error, fer_npy_read(path, &tensor, &error));
    assert_false(fer_tensor_is_read_only(tensor));
    assert_memory_equal(fer_tensor_data(tensor), elements, size);
    fer_tensor_release(tensor);
}

/* Fortran order is C order where there is nothing to swap. */
static void test_fortran_order(void **state)
{
    check_read(1, DICT("<i2", "True", "(3,)"), "abcdef", 6, FER_I16, 1, (int64_t[]){3});
    check_read(1, DICT("<i2", "True", "()"), "ab", 2, FER_I16, 0, NULL);
    check_read(1, DICT("<i2", "True", "(4, 0, 5)"), NULL, 0, FER_I16, 3, (int64_t[]){4, 0, 5});
    check_read(1, DICT("<i2", "True", "(1, 3)"), "abcdef", 6, FER_I16, 2, (int64_t[]){1, 3});
    check_converted(state, DICT("<i2", "True", "(2, 3)"), "aabbccddeeff", FER_I16, "aacceebbddff",
                    12);
    check_converted(state, DICT("|u1", "True", "(2, 3, 2)"), "abcdefghijkl", FER_U8, "agciekbhdjfl",
                    12);
    check_converted(state, DICT("|b1", "True", "(2, 2)"), "\0\1\7\0", FER_BOOL, "\0\1\1\0", 4);
}

static void test_big_endian(void **state)
{
    check_converted(state, DICT(">u2", "False", "(2,)"), "abcd", FER_U16, "badc", 4);
    check_converted(state, DICT(">i4", "False", "(2,)"), "abcdefgh", FER_I32, "dcbahgfe", 8);
    check_converted(state, DICT(">f8", "False", "()"), "\x3f\xf0\0\0\0\0\0\0", FER_F64,
                    &(double){1}, 8);
    check_converted(state, DICT(">f2", "False", "()"), "\x3c\0", FER_F16, "\0\x3c", 2);
    check_converted(state, DICT(">i2", "True", "(2, 2)"), "abcdefgh", FER_I16, "bafedchg", 8);
    check_read(1, DICT(">i8", "False", "(0, 2)"), NULL, 0, FER_I64, 2, (int64_t[]){0, 2});
}

static void test_what_is_not_supported_is_named(void **state)
{
    (void)state;
    fer_status kind = FER_UNSUPPORTED_ERROR;
    check_refused(DICT(">c8", "False", "(2,)"), kind, "dtype '>c8'");
    check_refused(DICT("|O", "False", "(2,)"), kind, "Python objects ('|O')");
    check_refused(DICT("<c8", "False", "(2,)"), kind, "dtype '<c8'");
    check_refused(DICT("<U5", "False", "(2,)"), kind, "dtype '<U5'");
    check_refused(DICT("|V2", "False", "(2,)"), kind, "dtype '|V2'");
    check_refused(DICT("<M8[ns]", "False", "(2,)"), kind, "dtype '<M8[ns]'");
    check_refused(DICT("", "False", "(2,)"), kind, "dtype ''");
    check_refused("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", kind,
                  "structured");
    check_refused(DICT("|u1", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), kind, "rank 9");
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_file(4, DICT("|u1", "False", "()"), "a", 1);
    ASSERT_FAILS(&error, kind, decode(&file, &tensor, &error), "version 4.0");
    file = make_file(1, DICT("|u1", "False", "()"), "a", 1);
    file.data[7] = 1;
    ASSERT_FAILS(&error, kind, decode(&file, &tensor, &error), "version 1.1");
    file = make_file(2, DICT("|u1", "False", "()"), "a", 1);
    file.data[11] = 0x7f;
    ASSERT_FAILS(&error, kind, decode(&file, &tensor, &error), "header of");
}

static void test_malformed_headers(void **state)
{
    (void)state;
    static const char *const dicts[] = {
        "",
        "{",
        "[]",
        "{}",
        "{'descr'",
        "{'descr': ",
        "{'descr': '<f4",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': 4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4\n', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4',, 'fortran_order': False, 'shape': (2,)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} 1",
    };
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_tensor *tensor = NULL;
        file_bytes file = make_file(1, dicts[i], NULL, 0);
        while (file.size < 12)
            append(&file, "", 1);
        ASSERT_FAILS(&error, FER_VALUE_ERROR, decode(&file, &tensor, &error),
                     "header is malformed");
    }
    check_refused(DICT("<f4", "False", "(99999999999999999999,)"), FER_OVERFLOW_ERROR, "64 bits");
    check_refused(DICT("<f8", "False", "(4611686018427387904, 2)"), FER_OVERFLOW_ERROR, "64 bits");
    check_refused(DICT("<f8", "False", "(2305843009213693952,)"), FER_OVERFLOW_ERROR, "64 bits");
}

/* Of every length but the whole one: IO, or VALUE while not even the magic string is there. */
static void test_files_cut_short(void **state)
{
    file_bytes whole = make_file(1, DICT("<f4", "False", "(2, 3)"), NUMPY_DATA, sizeof NUMPY_DATA);
    for (size_t size = 0; size < whole.size; size++) {
        fer_error error = FER_ERROR_INIT;
        fer_tensor *tensor = NULL;
        file_bytes file = whole;
        file.size = size;
        fer_status kind = size < 6 ? FER_VALUE_ERROR : FER_IO_ERROR;
        const char *words = size < 6 ? "not a .npy file" : "cut short";
        ASSERT_FAILS(&error, kind, decode(&file, &tensor, &error), words);
        const char *path = path_in(state, "short.npy");
        ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
        ASSERT_FAILS(&error, kind, fer_npy_read(path, &tensor, &error), words, path);
        assert_null(tensor);
    }
}

/* A small file that claims a large tensor costs nothing. */
static void test_claims_are_checked_against_the_length(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_file(1, DICT("<f8", "False", "(1000000, 1000000)"), "abc", 3);
    const char *path = path_in(state, "claim.npy");
    ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_read(path, &tensor, &error), "cut short",
                 "needs 8000000000000");
    ASSERT_FAILS(&error, FER_IO_ERROR, decode(&file, &tensor, &error), "cut short");
    file = make_file(1, DICT(">f8", "True", "(1000000, 1000000)"), "abc", 3);
    ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_read(path, &tensor, &error), "cut short");
    ASSERT_FAILS(&error, FER_IO_ERROR, decode(&file, &tensor, &error), "cut short");
    file = make_file(1, DICT("|u1", "False", "()"), "a", 1);
    file.data[9] = 0xff;
    ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_read(path, &tensor, &error), "in its header");
}

static void test_what_follows_the_elements_is_ignored(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_file(1, DICT("|u1", "False", "(3,)"), "abcdef", 6);
    const char *path = path_in(state, "more.npy");
    ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
    ASSERT_OK(&error, fer_npy_read(path, &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), "abc", 3);
    assert_int_equal(fer_tensor_num_bytes(tensor), 3);
    fer_tensor_release(tensor);
}

static void test_bools_become_0_or_1(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_file(1, DICT("|b1", "False", "(4,)"), "\0\1\2\xff", 4);
    const char *path = path_in(state, "bool.npy");
    ASSERT_OK(&error, fer_file_write(path, file.data, file.size, &error));
    ASSERT_OK(&error, fer_npy_read(path, &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), "\0\1\1\1", 4);
    fer_tensor_release(tensor);
}

static void test_written_bytes_are_numpys(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    char *bytes = NULL;
    size_t size = 0;
    const char *path = path_in(state, "out.npy");
    ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 2, (int64_t[]){2, 3}, NUMPY_DATA, HOST, &tensor,
                                           &error));
    ASSERT_OK(&error, fer_npy_write(path, tensor, &error));
    fer_tensor_release(tensor);
    ASSERT_OK(&error, fer_file_read(path, &bytes, &size, &error));
    assert_int_equal(size, 128 + sizeof NUMPY_DATA);
    assert_memory_equal(bytes, NUMPY_HEADER, 128);
    assert_memory_equal(bytes + 128, NUMPY_DATA, sizeof NUMPY_DATA);
    free(bytes);
}

static void check_round_trip(const char *path, fer_dtype dtype, size_t rank, const int64_t *shape)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    fer_tensor *again = NULL;
    ASSERT_OK(&error, fer_tensor_ones(dtype, rank, shape, HOST, &tensor, &error));
    ASSERT_OK(&error, fer_npy_write(path, tensor, &error));
    ASSERT_OK(&error, fer_npy_read(path, &again, &error));
    assert_int_equal(fer_tensor_dtype(again), dtype);
    assert_int_equal(fer_tensor_rank(again), rank);
    if (rank > 0)
        assert_memory_equal(fer_tensor_shape(again), shape, rank * sizeof *shape);
    assert_int_equal(fer_tensor_num_bytes(again), fer_tensor_num_bytes(tensor));
    assert_memory_equal(fer_tensor_data(again), fer_tensor_data(tensor),
                        fer_tensor_num_bytes(tensor));
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal((about.st_size - (off_t)fer_tensor_num_bytes(tensor)) % 64, 0);
    fer_tensor_release(again);
    fer_tensor_release(tensor);
}

static void test_round_trips(void **state)
{
    const char *path = path_in(state, "trip.npy");
    int64_t shape[] = {3, 1, 2, 1, 2, 1, 1, 5};
    for (fer_dtype dtype = FER_BOOL; dtype <= FER_F64; dtype++) {
        if (dtype == FER_BF16)
            continue;
        for (size_t rank = 0; rank <= 8; rank++)
            check_round_trip(path, dtype, rank, shape);
    }
    check_round_trip(path, FER_F32, 2, (int64_t[]){0, 7});
    check_round_trip(path, FER_F32, 3, (int64_t[]){INT64_MAX, 0, INT64_MAX});
}

static void test_what_has_no_npy_form(void **state)
{
    fer_error error = FER_ERROR_INIT;
    static const fer_dtype none[] = {FER_BF16, FER_F8E4M3FN, FER_F8E5M2};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        fer_tensor *tensor = NULL;
        ASSERT_OK(&error, fer_tensor_zeros(none[i], 0, NULL, HOST, &tensor, &error));
        ASSERT_FAILS(&error, FER_UNSUPPORTED_ERROR,
                     fer_npy_write(path_in(state, "none.npy"), tensor, &error),
                     fer_dtype_name(none[i]), "none.npy");
        assert_int_equal(access(path_in(state, "none.npy"), F_OK), -1);
        fer_tensor_release(tensor);
    }
}

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count;
}

static void test_files_that_cannot_be(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_read(path_in(state, "no.npy"), &tensor, &error),
                 "no.npy", "No such file");
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_read(*state, &tensor, &error), "directory");
    ASSERT_OK(&error, fer_tensor_zeros(FER_U8, 0, NULL, HOST, &tensor, &error));
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_npy_write(path_in(state, "no/such/folder.npy"), tensor, &error), "folder.npy");
    /* The rename fails onto a folder, and nothing is left behind. */
    size_t count = count_entries(*state);
    assert_int_equal(mkdir(path_in(state, "taken"), 0700), 0);
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_write(path_in(state, "taken"), tensor, &error),
                 "taken");
    assert_int_equal(count_entries(*state), count + 1);
    fer_tensor_release(tensor);
}

/* A pipe has no length to check against. */
static void test_a_pipe_is_read(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    file_bytes file = make_file(1, DICT("<i2", "False", "(2,)"), "abcd", 4);
    assert_int_equal(write(ends[1], file.data, file.size), file.size);
    close(ends[1]);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    ASSERT_OK(&error, fer_npy_read(path, &tensor, &error));
    assert_memory_equal(fer_tensor_data(tensor), "abcd", 4);
    close(ends[0]);
    fer_tensor_release(tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_version_is_read),
        cmocka_unit_test(test_every_dtype_is_read),
        cmocka_unit_test(test_what_python_would_read_too),
        IN_FOLDER(test_fortran_order),
        IN_FOLDER(test_big_endian),
        cmocka_unit_test(test_what_is_not_supported_is_named),
        cmocka_unit_test(test_malformed_headers),
        IN_FOLDER(test_files_cut_short),
        IN_FOLDER(test_claims_are_checked_against_the_length),
        IN_FOLDER(test_what_follows_the_elements_is_ignored),
        IN_FOLDER(test_bools_become_0_or_1),
        IN_FOLDER(test_written_bytes_are_numpys),
        IN_FOLDER(test_round_trips),
        IN_FOLDER(test_what_has_no_npy_form),
        IN_FOLDER(test_files_that_cannot_be),
        cmocka_unit_test(test_a_pipe_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
