/* .npy files that are mapped: the elements stay in the file where they serve as they are, and the
 * tensor is the same, and read-only, where they do not. */
#include "testing_npy.h"

#include <fcntl.h>
#include <ferrule/tensor.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const float DATA[6] = {0, 1, 2, 3, 4, 5};

/* A dict of 118 bytes puts the elements at 128, as NumPy does. */
static file_bytes make_aligned(const char *dict, const void *data, size_t size)
{
    char padded[119];
    snprintf(padded, sizeof padded, "%-117s\n", dict);
    return make_file(1, padded, data, size);
}

static const char *write_file(void **state, const file_bytes *file)
{
    fer_error error = FER_ERROR_INIT;
    const char *path = path_in(state, "mapped.npy");
    ASSERT_OK(&error, fer_file_write(path, file->data, file->size, &error));
    return path;
}

#define FLOATS "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

/* Whether a line of the process's mappings names the file. */
static bool is_mapped(const char *path)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[PATH_MAX + 128];
    bool is_found = false;
    while (fgets(line, sizeof line, maps) != NULL)
        is_found |= strstr(line, path) != NULL;
    fclose(maps);
    return is_found;
}

static void test_the_elements_stay_in_the_file(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_aligned(FLOATS, DATA, sizeof DATA);
    const char *path = write_file(state, &file);
    assert_false(is_mapped(path));
    ASSERT_OK(&error, fer_npy_map(path, &tensor, &error));
    assert_true(is_mapped(path));
    assert_int_equal(fer_tensor_dtype(tensor), FER_F32);
    assert_int_equal(fer_tensor_rank(tensor), 2);
    assert_memory_equal(fer_tensor_shape(tensor), ((int64_t[]){2, 3}), 2 * sizeof(int64_t));
    assert_int_equal(fer_tensor_num_bytes(tensor), sizeof DATA);
    assert_memory_equal(fer_tensor_const_data(tensor), DATA, sizeof DATA);
    assert_true(fer_tensor_is_read_only(tensor));
    fer_tensor *second = fer_tensor_retain(tensor);
    fer_tensor_release(tensor);
    assert_true(is_mapped(path));
    assert_memory_equal(fer_tensor_const_data(second), DATA, sizeof DATA);
    fer_tensor_release(second);
    assert_false(is_mapped(path));
}

/* As documented: what somebody writes into the file may be seen, nothing is written back, and the
 * name may go. */
static void test_the_file_may_be_removed_and_replaced(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    file_bytes file = make_aligned(FLOATS, DATA, sizeof DATA);
    const char *path = write_file(state, &file);
    ASSERT_OK(&error, fer_npy_map(path, &tensor, &error));
    fer_tensor *zeros = NULL;
    ASSERT_OK(&error, fer_tensor_zeros(FER_U8, 0, NULL, (fer_device){0}, &zeros, &error));
    ASSERT_OK(&error, fer_npy_write(path, zeros, &error));
    fer_tensor_release(zeros);
    assert_memory_equal(fer_tensor_const_data(tensor), DATA, sizeof DATA);
    assert_int_equal(unlink(path), 0);
    assert_memory_equal(fer_tensor_const_data(tensor), DATA, sizeof DATA);
    fer_tensor_release(tensor);
}

/* Reads a mapped file's last element in a child, after the file was cut; how the child ended. */
static int read_behind_the_end(const char *path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fer_tensor *tensor = NULL;
        signal(SIGBUS, SIG_DFL);
        if (fer_npy_map(path, &tensor, NULL) != FER_OK || truncate(path, 0) != 0)
            _exit(2);
        volatile const float *data = fer_tensor_const_data(tensor);
        _exit(data[5] == 5 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_a_file_cut_meanwhile(void **state)
{
    file_bytes file = make_aligned(FLOATS, DATA, sizeof DATA);
    int status = read_behind_the_end(write_file(state, &file));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

/* The same elements as fer_npy_read gives, but not from the file's own pages. */
static void check_read_instead(void **state, const file_bytes *file)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *mapped = NULL;
    fer_tensor *plain = NULL;
    const char *path = write_file(state, file);
    ASSERT_OK(&error, fer_npy_map(path, &mapped, &error));
    assert_false(is_mapped(path));
    assert_true(fer_tensor_is_read_only(mapped));
    ASSERT_OK(&error, fer_npy_read(path, &plain, &error));
    assert_false(fer_tensor_is_read_only(plain));
    assert_int_equal(fer_tensor_dtype(mapped), fer_tensor_dtype(plain));
    assert_int_equal(fer_tensor_num_bytes(mapped), fer_tensor_num_bytes(plain));
    assert_memory_equal(fer_tensor_const_data(mapped), fer_tensor_const_data(plain),
                        fer_tensor_num_bytes(plain));
    fer_tensor_release(mapped);
    fer_tensor_release(plain);
}

static void test_what_needs_conversion_is_read(void **state)
{
    file_bytes file;
    file = make_aligned("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", DATA, 24);
    check_read_instead(state, &file);
    file = make_aligned("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", DATA, 24);
    check_read_instead(state, &file);
    file = make_aligned("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", "\0\1\2\3", 4);
    check_read_instead(state, &file);
    file = make_aligned("{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }", NULL, 0);
    check_read_instead(state, &file);
}

static void test_misaligned_elements_are_read(void **state)
{
    for (size_t num_blanks = 0; num_blanks < 8; num_blanks++) {
        char dict[128];
        snprintf(dict, sizeof dict, "%s%*s\n", FLOATS, (int)num_blanks, "");
        file_bytes file = make_file(2, dict, DATA, sizeof DATA);
        if ((12 + strlen(dict)) % sizeof(float) != 0) {
            check_read_instead(state, &file);
            continue;
        }
        fer_error error = FER_ERROR_INIT;
        fer_tensor *tensor = NULL;
        const char *path = write_file(state, &file);
        ASSERT_OK(&error, fer_npy_map(path, &tensor, &error));
        assert_true(is_mapped(path));
        assert_memory_equal(fer_tensor_const_data(tensor), DATA, sizeof DATA);
        fer_tensor_release(tensor);
    }
}

static void test_a_pipe_is_read(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    file_bytes file = make_aligned(FLOATS, DATA, sizeof DATA);
    assert_int_equal(write(ends[1], file.data, file.size), file.size);
    close(ends[1]);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    ASSERT_OK(&error, fer_npy_map(path, &tensor, &error));
    assert_true(fer_tensor_is_read_only(tensor));
    assert_memory_equal(fer_tensor_const_data(tensor), DATA, sizeof DATA);
    close(ends[0]);
    fer_tensor_release(tensor);
}

/* What fer_npy_read refuses, this refuses, and leaves nothing open or mapped. */
static void test_refusals(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = (fer_tensor *)&error;
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_map(path_in(state, "no.npy"), &tensor, &error),
                 "no.npy", "No such file");
    assert_null(tensor);
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_npy_map(*state, &tensor, &error), "directory");
    file_bytes whole = make_aligned(FLOATS, DATA, sizeof DATA);
    for (size_t size = 0; size < whole.size; size++) {
        file_bytes file = whole;
        file.size = size;
        const char *path = write_file(state, &file);
        ASSERT_FAILS(&error, size < 6 ? FER_VALUE_ERROR : FER_IO_ERROR,
                     fer_npy_map(path, &tensor, &error), size < 6 ? "not a .npy file" : "cut short",
                     path);
        assert_false(is_mapped(path));
    }
    int lowest_free = open("/dev/null", O_RDONLY);
    close(lowest_free);
    const char *path = write_file(state, &whole);
    ASSERT_OK(&error, fer_npy_map(path, &tensor, &error));
    int still_free = open("/dev/null", O_RDONLY); /* a mapping needs no open file */
    close(still_free);
    assert_int_equal(still_free, lowest_free);
    fer_tensor_release(tensor);
}

/* Every dtype that a file can hold, written here and mapped again. */
static void test_round_trips(void **state)
{
    fer_error error = FER_ERROR_INIT;
    const char *path = path_in(state, "trip.npy");
    for (fer_dtype dtype = FER_I8; dtype <= FER_F64; dtype++) {
        if (dtype == FER_BF16)
            continue;
        fer_tensor *tensor = NULL;
        fer_tensor *again = NULL;
        ASSERT_OK(&error,
                  fer_tensor_ones(dtype, 2, (int64_t[]){3, 5}, (fer_device){0}, &tensor, &error));
        ASSERT_OK(&error, fer_npy_write(path, tensor, &error));
        ASSERT_OK(&error, fer_npy_map(path, &again, &error));
        assert_true(is_mapped(path));
        assert_int_equal(fer_tensor_dtype(again), dtype);
        assert_int_equal((uintptr_t)fer_tensor_const_data(again) % 64, 0);
        assert_memory_equal(fer_tensor_const_data(again), fer_tensor_const_data(tensor),
                            fer_tensor_num_bytes(tensor));
        fer_tensor_release(again);
        fer_tensor_release(tensor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_the_elements_stay_in_the_file),
        IN_FOLDER(test_the_file_may_be_removed_and_replaced),
        IN_FOLDER(test_a_file_cut_meanwhile),
        IN_FOLDER(test_what_needs_conversion_is_read),
        IN_FOLDER(test_misaligned_elements_are_read),
        cmocka_unit_test(test_a_pipe_is_read),
        IN_FOLDER(test_refusals),
        IN_FOLDER(test_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
