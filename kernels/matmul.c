#include "std.h"

SIGNATURE(matmul, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64>"
                  "(a: T[*b, m, k], b: T[*b, k, n]) -> T[*b, m, n]");
DTYPE_VAR(T, f32);

/* Each element adds up its products in the order of k, each product and each sum rounded, whatever
 * the sizes: all that is done here is to keep sums in registers and what they are made of in
 * caches. Tiles of ROWS times two vectors of sums run along strips of `a` and `b` that were laid
 * out, and widened, in the order in which they are read. */

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, ROWS = 12 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, ROWS = 4 };
#elif defined(__aarch64__)
enum { VECTOR_BYTES = 16, ROWS = 8 };
#else
enum { VECTOR_BYTES = 16, ROWS = 4 };
#endif

/* Or clang makes two vectors of one that is longer than it prefers. */
#if defined(__has_attribute)
#if __has_attribute(min_vector_width)
#define WHOLE_VECTORS __attribute__((min_vector_width(8 * VECTOR_BYTES)))
#endif
#endif
#ifndef WHOLE_VECTORS
#define WHOLE_VECTORS
#endif

/* Integers wrap, so they are unsigned here. */
typedef __typeof__(_Generic((COMPUTE(T))0, signed char
                            : (unsigned char)0, short
                            : (unsigned short)0, int : 0U, long : 0UL, long long : 0ULL, default
                            : (COMPUTE(T))0)) number;
typedef number vector __attribute__((vector_size(VECTOR_BYTES)));
typedef number unaligned_vector
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(number)), may_alias));

enum {
    LANES = VECTOR_BYTES / (int)sizeof(number),
    COLUMNS = 2 * LANES,
    DEPTH = 256,                           /* of strips */
    MAX_ROWS = ROWS * (96 / ROWS),         /* of `a`, for the second level's cache */
    MAX_COLUMNS = COLUMNS * (2048 / LANES) /* of `b`, for the last level's */
};

/* sums += a b for one tile; `rows` of a strip lie ROWS by ROWS, `columns` COLUMNS by COLUMNS. */
WHOLE_VECTORS static void add_tile(number *restrict sums, index_t stride,
                                   const number *restrict rows, const number *restrict columns,
                                   index_t depth)
{
    vector tile[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++)
            tile[i][j] = *(const unaligned_vector *)(sums + i * stride + j * LANES);
    for (index_t l = 0; l < depth; l++) {
        const vector left = *(const unaligned_vector *)(columns + l * COLUMNS);
        const vector right = *(const unaligned_vector *)(columns + l * COLUMNS + LANES);
        for (int i = 0; i < ROWS; i++) {
            tile[i][0] += rows[l * ROWS + i] * left;
            tile[i][1] += rows[l * ROWS + i] * right;
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++)
            *(unaligned_vector *)(sums + i * stride + j * LANES) = tile[i][j];
}

/* The same at the lower and right edges, where the tile is larger than what is left. */
static void add_edge(number *restrict sums, index_t stride, const number *restrict rows,
                     const number *restrict columns, index_t depth, index_t num_rows,
                     index_t num_columns)
{
    number tile[ROWS * COLUMNS] = {0};
    for (index_t i = 0; i < num_rows; i++)
        for (index_t j = 0; j < num_columns; j++)
            tile[i * COLUMNS + j] = sums[i * stride + j];
    add_tile(tile, COLUMNS, rows, columns, depth);
    for (index_t i = 0; i < num_rows; i++)
        for (index_t j = 0; j < num_columns; j++)
            sums[i * stride + j] = tile[i * COLUMNS + j];
}

/* Lays `count` rows or columns out in strips of `width`, zeros where there are none. Element l of
 * number i is from[i * step + l * depth_step]. */
FER_INLINE void lay_out(number *restrict to, const T *restrict from, index_t count, index_t depth,
                        index_t width, index_t step, index_t depth_step)
{
    for (index_t start = 0; start < count; start += width)
        for (index_t l = 0; l < depth; l++)
            for (index_t i = 0; i < width; i++)
                *to++ = start + i < count ? (number)WIDEN(from[(start + i) * step + l * depth_step])
                                          : (number)0;
}

static index_t smaller(index_t a, index_t b)
{
    return a < b ? a : b;
}

static void add_block(number *sums, index_t stride, const number *rows, const number *columns,
                      index_t depth, index_t num_rows, index_t num_columns)
{
    for (index_t j = 0; j < num_columns; j += COLUMNS)
        for (index_t i = 0; i < num_rows; i += ROWS) {
            number *to = sums + i * stride + j;
            const index_t height = smaller(ROWS, num_rows - i);
            const index_t width = smaller(COLUMNS, num_columns - j);
            if (height == ROWS && width == COLUMNS)
                add_tile(to, stride, rows + i * depth, columns + j * depth, depth);
            else
                add_edge(to, stride, rows + i * depth, columns + j * depth, depth, height, width);
        }
}

/* One matrix. `memory` is for what is laid out. */
static void multiply(number *sums, const T *a, const T *b, index_t m, index_t k, index_t n,
                     number *memory)
{
    number *columns = memory;
    number *rows = memory + DEPTH * smaller(MAX_COLUMNS, n + COLUMNS);
    for (index_t i = 0; i < m * n; i++)
        sums[i] = 0;
    for (index_t j = 0; j < n; j += MAX_COLUMNS)
        for (index_t l = 0; l < k; l += DEPTH) {
            const index_t depth = smaller(DEPTH, k - l);
            const index_t num_columns = smaller(MAX_COLUMNS, n - j);
            lay_out(columns, b + l * n + j, num_columns, depth, COLUMNS, 1, n);
            for (index_t i = 0; i < m; i += MAX_ROWS) {
                const index_t num_rows = smaller(MAX_ROWS, m - i);
                lay_out(rows, a + i * k + l, num_rows, depth, ROWS, k, 1);
                add_block(sums + i * n + j, n, rows, columns, depth, num_rows, num_columns);
            }
        }
}

/* Few rows or columns are not worth laying out: along the rows of `b`, as they are. */
static void multiply_few(number *restrict sums, const T *restrict a, const T *restrict b, index_t m,
                         index_t k, index_t n)
{
    for (index_t i = 0; i < m; i++, sums += n) {
        for (index_t j = 0; j < n; j++)
            sums[j] = 0;
        for (index_t l = 0; l < k; l++) {
            const number factor = (number)WIDEN(a[i * k + l]);
            for (index_t j = 0; j < n; j++)
                sums[j] = (number)(sums[j] + (number)(factor * (number)WIDEN(b[l * n + j])));
        }
    }
}

KERNEL(matmul, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    const index_t m = DIM(a, RANK(a) - 2);
    const index_t k = ROW_LENGTH(a);
    const index_t n = ROW_LENGTH(b);
    if (SIZE(y) == 0) /* k * n may be anything then */
        return OK;
    const bool are_few = m < ROWS || n < LANES;
    const index_t laid_out = DEPTH * (smaller(MAX_COLUMNS, n + COLUMNS) + MAX_ROWS);
    number *memory = SCRATCH(number, are_few ? 0 : laid_out);
    number *wide = SCRATCH(number, IS_SMALL_FLOAT(T) ? m * n : 0);
    for (index_t matrix = 0; matrix < SIZE(y) / (m * n); matrix++) {
        T *to = DATA(y) + matrix * m * n;
        const T *from_a = DATA(a) + matrix * m * k;
        const T *from_b = DATA(b) + matrix * k * n;
        number *sums = IS_SMALL_FLOAT(T) ? wide : (number *)to;
        if (are_few)
            multiply_few(sums, from_a, from_b, m, k, n);
        else
            multiply(sums, from_a, from_b, m, k, n, memory);
        for (index_t i = 0; IS_SMALL_FLOAT(T) && i < m * n; i++)
            to[i] = NARROW(T, sums[i]);
    }
    return OK;
}
