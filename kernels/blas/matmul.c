#include <ferrule/kernel.h>

#include "calls.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

SIGNATURE(matmul, "<T: f32|f64>(a: T[*b, m, k], b: T[*b, k, n]) -> T[*b, m, n]");
DTYPE_VAR(T, f32);

/* OpenBLAS's own threads would share a product out by their number, and so add up in other orders.
 * Here each matrix is cut into tiles, by its shape alone, each tile is a call that has no threads,
 * and OpenMP's threads share out the calls: the bits do not depend on how many there are. */
enum { TILE_ROWS = 256, TILE_COLUMNS = 512 };

/* Multiplications that are worth another thread. */
enum { MIN_WORK = 1 << 19 };

#define GEMM _Generic((T)0, f32 : cblas_sgemm, f64 : cblas_dgemm)
#define GEMV _Generic((T)0, f32 : cblas_sgemv, f64 : cblas_dgemv)

typedef struct product {
    T *y;
    const T *a;
    const T *b;
    index_t m;
    index_t k;
    index_t n;
} product;

static index_t smaller(index_t a, index_t b)
{
    return a < b ? a : b;
}

static index_t tiles_down(const product *p)
{
    return (p->m - 1) / TILE_ROWS + 1;
}

static index_t tiles_across(const product *p)
{
    return (p->n - 1) / TILE_COLUMNS + 1;
}

static void multiply_tile(const product *p, index_t tile)
{
    const index_t matrix = tile / (tiles_down(p) * tiles_across(p));
    const index_t row = tile / tiles_across(p) % tiles_down(p) * TILE_ROWS;
    const index_t column = tile % tiles_across(p) * TILE_COLUMNS;
    const T *a = p->a + (matrix * p->m + row) * p->k;
    const T *b = p->b + matrix * p->k * p->n + column;
    T *y = p->y + (matrix * p->m + row) * p->n + column;
    const blasint height = (blasint)smaller(TILE_ROWS, p->m - row);
    const blasint width = (blasint)smaller(TILE_COLUMNS, p->n - column);
    const blasint k = (blasint)p->k;
    const blasint n = (blasint)p->n;
    for (index_t i = 0; i < height; i++)
        memset(y + i * p->n, 0, (size_t)width * sizeof(T));
    if (k == 0)
        return;
    /* For a single row or column gemm lays out more than it computes. */
    if (height == 1)
        GEMV(CblasRowMajor, CblasTrans, k, width, 1, b, n, a, 1, 1, y, 1);
    else if (width == 1)
        GEMV(CblasRowMajor, CblasNoTrans, height, k, 1, a, k, b, n, 1, y, n);
    else
        GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, height, width, k, 1, a, k, b, n, 1, y, n);
}

static void multiply_tiles(const product *p, index_t first, index_t end)
{
    begin_calls();
    for (index_t tile = first; tile < end; tile++)
        multiply_tile(p, tile);
    end_calls();
}

KERNEL(matmul, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    const product p = {
        DATA(y), DATA(a), DATA(b), DIM(a, RANK(a) - 2), DIM(a, RANK(a) - 1), DIM(b, RANK(b) - 1)};
    if (SIZE(y) == 0) /* the others may be anything then */
        return OK;
    CHECK(
        openblas_get_parallel() == OPENBLAS_THREAD,
        "this OpenBLAS is not the one with POSIX threads, whose calls alone may run side by side: "
        "on Debian apt install libopenblas-pthread-dev");
    CHECK(openblas_get_num_threads() == 1,
          "OpenBLAS has threads of its own, which would change the bits of results: set "
          "OPENBLAS_NUM_THREADS=1, the kernel shares out the work itself");
    CHECK(p.k <= INT_MAX && p.n <= INT_MAX,
          "b is %lld times %lld; OpenBLAS counts rows and columns to %d", (long long)p.k,
          (long long)p.n, INT_MAX);
    const index_t num_tiles = SIZE(y) / (p.m * p.n) * tiles_down(&p) * tiles_across(&p);
    const index_t work = smaller(TILE_ROWS, p.m) * smaller(TILE_COLUMNS, p.n) * p.k;
    const index_t step = 1 + MIN_WORK / (1 + work);
    if (num_tiles <= step) {
        multiply_tiles(&p, 0, num_tiles);
        return OK;
    }
#pragma omp parallel for schedule(dynamic)
    for (index_t first = 0; first < num_tiles; first += step)
        multiply_tiles(&p, first, smaller(first + step, num_tiles));
    return OK;
}
