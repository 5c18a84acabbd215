/* The package `blas`: products against a slow reference, the same bits for any number of threads,
 * forks. Exit code 77 says that there is no OpenBLAS. */
#include "testing_std.h"

#include <ferrule/graph.h>
#include <ferrule/package.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const fer_dtype DTYPES[] = {FER_F32, FER_F64};

static fer_op *blas_matmul(void)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.kernel = "matmul", .packages = {"blas"}}, &op,
                                  &error));
    return op;
}

/* Sizes are num_matrices, m, k, n. */
typedef struct product {
    fer_tensor *a;
    fer_tensor *b;
    fer_tensor *y;
} product;

/* Random operands, and a result that holds NaN. */
static product make_product(fer_dtype dtype, const int64_t sizes[4])
{
    product p = {.a = random_tensor(dtype, 3, (int64_t[]){sizes[0], sizes[1], sizes[2]}),
                 .b = random_tensor(dtype, 3, (int64_t[]){sizes[0], sizes[2], sizes[3]}),
                 .y = empty_tensor(dtype, 3, (int64_t[]){sizes[0], sizes[1], sizes[3]})};
    memset(fer_tensor_data(p.y), 0xff, fer_tensor_num_bytes(p.y));
    return p;
}

static void multiply(const fer_op *op, const product *p)
{
    fer_tensor *operands[] = {p->a, p->b};
    fer_tensor *results[] = {p->y};
    ASSERT_OK(&error, fer_call_into(op, operands, 2, results, 1, &error));
}

/* The element of row-major place `place`, added up in the order of k. */
static void check_element(const product *p, const int64_t sizes[4], int64_t place)
{
    const fer_dtype dtype = fer_tensor_dtype(p->y);
    const int64_t k = sizes[2];
    const int64_t n = sizes[3];
    const int64_t row = place / n;
    double sum = 0;
    double magnitude = 0;
    for (int64_t l = 0; l < k; l++) {
        const int64_t b_row = row / sizes[1] * k + l;
        const double term =
            read_element(p->a, row * k + l).f * read_element(p->b, b_row * n + place % n).f;
        sum += term;
        magnitude += fabs(term);
    }
    assert_near(dtype, read_element(p->y, place).f, sum, magnitude);
}

/* All elements of a small result, some of a large one. */
static void check_product(const fer_op *op, fer_dtype dtype, const int64_t sizes[4])
{
    product p = make_product(dtype, sizes);
    multiply(op, &p);
    const int64_t count = fer_tensor_num_elements(p.y);
    const int64_t step = 1 + count / 5000;
    for (int64_t place = 0; place < count; place += step)
        check_element(&p, sizes, place);
    release_3(p.a, p.b, p.y);
}

static void test_small_products(void **state)
{
    (void)state;
    fer_op *op = blas_matmul();
    for (int round = 0; round < 4 * ROUNDS; round++)
        check_product(
            op, DTYPES[round % 2],
            (int64_t[]){random_extent(), random_extent(), random_extent(), random_extent()});
    fer_op_release(op);
}

/* Beyond the tiles that a matrix is cut into, and just off their edges. */
static const int64_t LARGE[][4] = {{1, 256, 64, 512}, {2, 257, 65, 513}, {1, 300, 7, 1100},
                                   {1, 1, 900, 1030}, {1, 700, 800, 1},  {1, 513, 1, 514},
                                   {3, 255, 33, 511}, {40, 31, 33, 35},  {3000, 2, 2, 2}};

static void test_large_products(void **state)
{
    (void)state;
    fer_op *op = blas_matmul();
    for (size_t i = 0; i < COUNT(LARGE); i++)
        for (size_t d = 0; d < COUNT(DTYPES); d++)
            check_product(op, DTYPES[d], LARGE[i]);
    fer_op_release(op);
}

/* A result of no sums is 0, and other extents of no result may be anything. */
static void test_nothing(void **state)
{
    (void)state;
    const int64_t huge = (int64_t)1 << 40;
    static const int64_t SIZES[] = {2, 300, 0, 600};
    fer_op *op = blas_matmul();
    product p = make_product(FER_F32, SIZES);
    multiply(op, &p);
    for (int64_t i = 0; i < fer_tensor_num_elements(p.y); i++)
        assert_true(read_element(p.y, i).f == 0);
    release_3(p.a, p.b, p.y);
    fer_tensor *a = empty_tensor(FER_F64, 3, (int64_t[]){0, huge, huge});
    fer_tensor *y = call(op, a, a);
    assert_shape(y, 3, (int64_t[]){0, huge, huge});
    release_3(a, NULL, y);
    fer_op_release(op);
}

/* One NaN and one infinity reach all of their rows, and nothing else, in each way to multiply. */
static void test_nan_and_infinity(void **state)
{
    (void)state;
    static const int64_t SIZES[][4] = {{1, 3, 4, 5}, {1, 3, 4, 1}, {1, 40, 50, 60}};
    fer_op *op = blas_matmul();
    for (size_t i = 0; i < COUNT(SIZES); i++)
        for (size_t d = 0; d < COUNT(DTYPES); d++) {
            const int64_t k = SIZES[i][2];
            const int64_t n = SIZES[i][3];
            product p = make_product(DTYPES[d], SIZES[i]);
            for (int64_t j = 0; j < k * n; j++)
                write_element(p.b, j, (wide){.f = 1 + (double)(j % 3)});
            write_element(p.a, 1, (wide){.f = NAN});
            write_element(p.a, k + 1, (wide){.f = INFINITY});
            multiply(op, &p);
            for (int64_t j = 0; j < n; j++) {
                assert_true(isnan(read_element(p.y, j).f));
                assert_true(read_element(p.y, n + j).f == INFINITY);
                assert_true(isfinite(read_element(p.y, 2 * n + j).f));
            }
            release_3(p.a, p.b, p.y);
        }
    fer_op_release(op);
}

/* Neither memory is there for them, nor is any touched. */
static void test_extents_that_openblas_cannot_count(void **state)
{
    (void)state;
    const int64_t huge = (int64_t)1 << 31;
    const size_t num_bytes = (size_t)huge * sizeof(float);
    char *memory =
        mmap(NULL, 3 * num_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    fer_op *op = blas_matmul();
    for (int round = 0; round < 2; round++) {
        const int64_t k = round == 0 ? huge : 1;
        const int64_t n = huge / k;
        const int64_t shapes[][2] = {{1, k}, {k, n}, {1, n}};
        fer_tensor *tensors[3];
        for (size_t i = 0; i < 3; i++)
            ASSERT_OK(&error, fer_tensor_borrow(FER_F32, 2, shapes[i], memory + i * num_bytes,
                                                i < 2, host, NULL, NULL, &tensors[i], &error));
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR,
                     fer_call_into(op, tensors, 2, &tensors[2], 1, &error), "matmul: b is ",
                     "2147483648", "OpenBLAS counts rows and columns to 2147483647");
        release_3(tensors[0], tensors[1], tensors[2]);
    }
    munmap(memory, 3 * num_bytes);
    fer_op_release(op);
}

/* --- Threads and forks ------------------------------------------------------------------------ */

static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    fer_op *op = blas_matmul();
    for (size_t i = 0; i < COUNT(LARGE); i++)
        for (size_t d = 0; d < COUNT(DTYPES); d++) {
            product p = make_product(DTYPES[d], LARGE[i]);
            fer_tensor *alone = NULL;
            ASSERT_OK(&error, fer_set_num_threads(1, &error));
            multiply(op, &p);
            ASSERT_OK(&error, fer_tensor_clone(p.y, host, &alone, &error));
            for (uint32_t num_threads = 2; num_threads < 9; num_threads += 3) {
                memset(fer_tensor_data(p.y), 0xff, fer_tensor_num_bytes(p.y));
                ASSERT_OK(&error, fer_set_num_threads(num_threads, &error));
                multiply(op, &p);
                assert_memory_equal(fer_tensor_data(p.y), fer_tensor_data(alone),
                                    fer_tensor_num_bytes(p.y));
            }
            fer_tensor_release(alone);
            release_3(p.a, p.b, p.y);
        }
    fer_op_release(op);
}

/* Many short calls of OpenBLAS, so that a fork often comes in the middle of one. */
static const int64_t MANY[] = {500, 2, 2, 2};

typedef struct worker {
    const fer_op *op;
    product product;
    pthread_t thread;
    atomic_bool is_to_end;
    bool has_failed;
} worker;

static void *keep_multiplying(void *argument)
{
    worker *w = argument;
    fer_error own = FER_ERROR_INIT;
    fer_tensor *operands[] = {w->product.a, w->product.b};
    fer_tensor *results[] = {w->product.y};
    while (!atomic_load(&w->is_to_end))
        w->has_failed |= fer_call_into(w->op, operands, 2, results, 1, &own) != FER_OK;
    fer_error_clear(&own);
    return NULL;
}

static void check_child(const fer_op *op, const product *p, const fer_tensor *expected)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60); /* else it would wait for ever */
        multiply(op, p);
        _exit(memcmp(fer_tensor_data(p->y), fer_tensor_const_data(expected),
                     fer_tensor_num_bytes(expected)));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_forks_while_others_multiply(void **state)
{
    (void)state;
    enum { NUM_FORKS = 100 };
    fer_op *op = blas_matmul();
    product p = make_product(FER_F32, MANY);
    fer_tensor *expected = NULL;
    multiply(op, &p);
    ASSERT_OK(&error, fer_tensor_clone(p.y, host, &expected, &error));
    worker workers[2];
    for (size_t i = 0; i < COUNT(workers); i++) {
        workers[i] = (worker){.op = op, .product = make_product(DTYPES[i], MANY)};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, keep_multiplying, &workers[i]),
                         0);
    }
    for (int i = 0; i < NUM_FORKS; i++)
        check_child(op, &p, expected);
    for (size_t i = 0; i < COUNT(workers); i++) {
        atomic_store(&workers[i].is_to_end, true);
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_false(workers[i].has_failed);
        release_3(workers[i].product.a, workers[i].product.b, workers[i].product.y);
    }
    release_3(p.a, p.b, p.y);
    fer_tensor_release(expected);
    fer_op_release(op);
}

/* --- The overlay ------------------------------------------------------------------------------ */

static fer_overlay *added(const char *name)
{
    fer_package *package = NULL;
    fer_overlay *overlay = NULL;
    ASSERT_OK(&error, fer_package_open(name, &package, &error));
    ASSERT_OK(&error, fer_overlay_add(package, &overlay, &error));
    fer_package_release(package);
    return overlay;
}

/* A program that names no package takes its matmul from there, and all else from the other one. */
static void test_over_the_standard_package(void **state)
{
    (void)state;
    static const char PROGRAM[] =
        "graph g(a: f32[m, k], b: f32[k, n]) { c = matmul(a, b) y = relu(c) return y }";
    fer_overlay *standard_package = added("std");
    fer_overlay *blas = added("blas");
    fer_module *module = NULL;
    char *text = NULL;
    ASSERT_OK(&error, fer_module_parse(PROGRAM, "p", NULL, &module, &error));
    fer_overlay_remove(blas);
    fer_overlay_remove(standard_package);
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_non_null(strstr(text, "op matmul<T: f32|f64>("));
    assert_non_null(strstr(text, "from \"blas\"\n"));
    assert_non_null(strstr(text, "op relu<"));
    fer_string_free(text);
    fer_module_release(module);
}

int main(void)
{
    if (system("pkg-config --variable=libdir openblas 2>&1 | grep -q pthread") != 0) {
        print_message("skipped: OpenBLAS with POSIX threads is not installed (on Debian "
                      "libopenblas-pthread-dev)\n");
        return 77;
    }
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_products),
        cmocka_unit_test(test_large_products),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_nan_and_infinity),
        cmocka_unit_test(test_extents_that_openblas_cannot_count),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_forks_while_others_multiply),
        cmocka_unit_test(test_over_the_standard_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
