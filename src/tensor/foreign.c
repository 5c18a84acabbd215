/* Strided copies run over planes of two axes: the last one, along which the copy is written, and
 * the one along which the source is closest together. A plane whose rows are whole in the source is
 * copied by rows; any other one by tiles that stay in the cache both ways. */
#include "tensor/foreign.h"

#include "tensor/tensor.h"

#include <string.h>

#define TILE 32

/* Distances in bytes. */
typedef struct axis {
    int64_t extent;
    int64_t to;
    int64_t from;
} axis;

typedef struct layout {
    size_t element_bytes;
    size_t num_outer;
    axis outer[FER_MAX_RANK];
    axis row;
    axis column;
} layout;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t distance(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* The axes in bytes without those of length 1, neighbours joined where one continues the other. */
static size_t join_axes(const fer_strided *view, axis axes[FER_MAX_RANK])
{
    size_t num_axes = 0;
    int64_t bytes = (int64_t)view->element_bytes;
    int64_t to = bytes;
    for (size_t i = view->rank; i-- > 0;) {
        if (view->shape[i] == 1)
            continue;
        axis next = {view->shape[i], to, view->strides[i] * bytes};
        to *= view->shape[i];
        axis *last = num_axes > 0 ? &axes[num_axes - 1] : NULL;
        int64_t end;
        if (last != NULL && !__builtin_mul_overflow(last->from, last->extent, &end) &&
            next.from == end)
            last->extent *= next.extent;
        else
            axes[num_axes++] = next;
    }
    return num_axes; /* the last axis first */
}

static layout plan_copy(const fer_strided *view)
{
    axis axes[FER_MAX_RANK];
    size_t num_axes = join_axes(view, axes);
    int64_t bytes = (int64_t)view->element_bytes;
    layout plan = {.element_bytes = view->element_bytes, .row = {1, 0, 0}, .column = {1, bytes, 0}};
    if (num_axes > 0)
        plan.column = axes[0];
    size_t row = 1;
    for (size_t i = 2; i < num_axes && plan.column.from != bytes; i++)
        if (distance(axes[i].from) < distance(axes[row].from))
            row = i;
    if (num_axes > 1)
        plan.row = axes[row];
    for (size_t i = 1; i < num_axes; i++)
        if (i != row)
            plan.outer[plan.num_outer++] = axes[i];
    return plan;
}

/* Inlined with the element's size a constant, so that a copy of one element is one move. */
static inline __attribute__((always_inline)) void
copy_tiles(char *to, const char *from, const layout *plan, size_t element_bytes)
{
    const axis row = plan->row, column = plan->column;
    for (int64_t i = 0; i < row.extent; i += TILE)
        for (int64_t j = 0; j < column.extent; j += TILE)
            for (int64_t k = i; k < smaller(i + TILE, row.extent); k++)
                for (int64_t l = j; l < smaller(j + TILE, column.extent); l++)
                    memcpy(to + k * row.to + l * (int64_t)element_bytes,
                           from + k * row.from + l * column.from, element_bytes);
}

static void copy_rows(char *to, const char *from, const layout *plan)
{
    size_t row_bytes = (size_t)plan->column.extent * plan->element_bytes;
    for (int64_t i = 0; i < plan->row.extent; i++)
        memcpy(to + i * plan->row.to, from + i * plan->row.from, row_bytes);
}

static void copy_plane(char *to, const char *from, const layout *plan)
{
    if (plan->column.from == (int64_t)plan->element_bytes) {
        copy_rows(to, from, plan);
        return;
    }
    switch (plan->element_bytes) {
    case 1:
        copy_tiles(to, from, plan, 1);
        break;
    case 2:
        copy_tiles(to, from, plan, 2);
        break;
    case 4:
        copy_tiles(to, from, plan, 4);
        break;
    default:
        copy_tiles(to, from, plan, 8);
        break;
    }
}

/* Steps to the next plane; false after the last one. */
static bool advance(const layout *plan, int64_t index[FER_MAX_RANK], char **to, const char **from)
{
    for (size_t i = 0; i < plan->num_outer; i++) {
        const axis *outer = &plan->outer[i];
        if (++index[i] < outer->extent) {
            *to += outer->to;
            *from += outer->from;
            return true;
        }
        index[i] = 0;
        *to -= (outer->extent - 1) * outer->to;
        *from -= (outer->extent - 1) * outer->from;
    }
    return false;
}

static bool is_empty(const fer_strided *view)
{
    for (size_t i = 0; i < view->rank; i++)
        if (view->shape[i] == 0)
            return true;
    return false;
}

fer_strided fer_strided_of(const fer_tensor *tensor)
{
    fer_strided view = {.data = tensor->dl.data,
                        .element_bytes = fer_dtype_bytes((fer_dtype)tensor->dtype),
                        .rank = tensor->rank};
    for (size_t i = 0; i < view.rank; i++)
        view.shape[i] = tensor->extents[i];
    fer_strided_fill(&view);
    for (size_t i = 0; i < view.rank && tensor->dl.strides != NULL; i++)
        view.strides[i] = tensor->dl.strides[i];
    return view;
}

void fer_strided_fill(fer_strided *view)
{
    int64_t stride = 1;
    bool has_elements = !is_empty(view);
    for (size_t i = view->rank; i-- > 0;) {
        view->strides[i] = stride;
        if (has_elements)
            stride *= view->shape[i];
    }
}

bool fer_strided_is_compact(const fer_strided *view)
{
    if (is_empty(view))
        return true;
    int64_t stride = 1;
    for (size_t i = view->rank; i-- > 0;) {
        if (view->shape[i] == 1)
            continue;
        if (view->strides[i] != stride)
            return false;
        stride *= view->shape[i];
    }
    return true;
}

bool fer_strided_reach(const fer_strided *view, int64_t *out_below, int64_t *out_above)
{
    int64_t bytes = (int64_t)view->element_bytes;
    *out_below = 0;
    *out_above = bytes;
    for (size_t i = 0; i < view->rank; i++) {
        if (view->shape[i] == 1)
            continue;
        int64_t reach;
        if (__builtin_mul_overflow(view->strides[i], view->shape[i] - 1, &reach) ||
            __builtin_mul_overflow(reach, bytes, &reach))
            return false;
        int64_t *side = reach < 0 ? out_below : out_above;
        if (__builtin_add_overflow(*side, reach, side))
            return false;
    }
    return true;
}

int64_t fer_strided_distance(const fer_strided *view, int64_t index)
{
    int64_t place = 0;
    for (size_t i = view->rank; i-- > 0;) {
        place += index % view->shape[i] * view->strides[i];
        index /= view->shape[i];
    }
    return place * (int64_t)view->element_bytes;
}

void fer_strided_copy(void *to, const fer_strided *from)
{
    if (is_empty(from))
        return;
    layout plan = plan_copy(from);
    int64_t index[FER_MAX_RANK] = {0};
    char *to_plane = to;
    const char *from_plane = from->data;
    do
        copy_plane(to_plane, from_plane, &plan);
    while (advance(&plan, index, &to_plane, &from_plane));
}

/* From the lowest byte to behind the highest one; nothing of an empty tensor. */
static void find_ends(const fer_tensor *tensor, uintptr_t *out_begin, uintptr_t *out_end)
{
    fer_strided view = fer_strided_of(tensor);
    int64_t below = 0, above = 0;
    if (tensor->num_elements > 0)
        (void)fer_strided_reach(&view, &below, &above); /* it was checked when it was made */
    *out_begin = (uintptr_t)view.data + (uintptr_t)below;
    *out_end = (uintptr_t)view.data + (uintptr_t)above;
}

bool fer_tensors_overlap(const fer_tensor *a, const fer_tensor *b)
{
    uintptr_t x, x_end, y, y_end;
    if (a->dl.strides == NULL && b->dl.strides == NULL)
        return fer_compact_tensors_overlap(a, b);
    find_ends(a, &x, &x_end);
    find_ends(b, &y, &y_end);
    return x < y_end && y < x_end && x < x_end && y < y_end;
}

void fer_swap_bytes(void *data, size_t num_elements, size_t element_bytes)
{
    unsigned char *element = data;
    for (size_t i = 0; i < num_elements; i++, element += element_bytes)
        for (size_t j = 0; j < element_bytes / 2; j++) {
            unsigned char byte = element[j];
            element[j] = element[element_bytes - 1 - j];
            element[element_bytes - 1 - j] = byte;
        }
}

void fer_tensor_normalise_bools(fer_tensor *tensor)
{
    unsigned char *bytes = tensor->dl.data;
    for (size_t i = 0; tensor->dtype == FER_BOOL && i < tensor->num_bytes; i++)
        bytes[i] = bytes[i] != 0;
}
