#include "std.h"

SIGNATURE(topk, "<T: i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64, k: int>"
                "(x: T[*s, n]) -> (values: T[*s, k], indices: i64[*s, k]) where k <= n");
DTYPE_VAR(T, f32);
PARAM(int, k, 1);

/* Whether element `a` of a row comes before `b`: the larger, of equal ones the first. NaN counts as
 * larger than any number. */
static bool is_before(const T *row, index_t a, index_t b)
{
    const COMPUTE(T) x = WIDEN(row[a]);
    const COMPUTE(T) y = WIDEN(row[b]);
    const bool x_is_nan = x != x;
    const bool y_is_nan = y != y;
    if (x_is_nan || y_is_nan)
        return x_is_nan && y_is_nan ? a < b : x_is_nan;
    return x == y ? a < b : x > y;
}

/* A heap of indices whose root comes last: puts `index` in at the root and lets it sink. */
static void sink(const T *row, i64 *heap, index_t size, index_t index)
{
    index_t place = 0;
    for (index_t child = 1; child < size; child = 2 * place + 1) {
        if (child + 1 < size && is_before(row, heap[child], heap[child + 1]))
            child++;
        if (is_before(row, heap[child], index))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = index;
}

static void rise(const T *row, i64 *heap, index_t place, index_t index)
{
    for (; place > 0; place = (place - 1) / 2) {
        const index_t parent = heap[(place - 1) / 2];
        if (is_before(row, index, parent))
            break;
        heap[place] = parent;
    }
    heap[place] = index;
}

/* The first k indices of a row, in order. */
static void select(const T *row, index_t n, i64 *best)
{
    for (index_t i = 0; i < n; i++) {
        if (i < k)
            rise(row, best, i, i);
        else if (is_before(row, i, best[0]))
            sink(row, best, k, i);
    }
    for (index_t size = k - 1; size > 0; size--) {
        const index_t last = best[0];
        sink(row, best, size, best[size]);
        best[size] = last;
    }
}

KERNEL(topk, OUT(T, ANY, values), OUT(i64, ANY, indices), IN(T, ANY, x))
{
    const index_t n = ROW_LENGTH(x);
    for (index_t row = 0; row < NUM_ROWS(values); row++) {
        const T *from = DATA(x) + row * n;
        i64 *best = DATA(indices) + row * k;
        select(from, n, best);
        for (index_t i = 0; i < k; i++)
            DATA(values)[row * k + i] = from[best[i]];
    }
    return OK;
}
