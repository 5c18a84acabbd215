/* Reshape: a value's elements, in row-major order, under other dims of as many elements. */
#include "graph/graph.h"
#include "types/size.h"

#include <string.h>

#define NO_AXIS SIZE_MAX

typedef struct reshape {
    const fer_graph *graph;
    const fer_type *from;
    const fer_dim *dims[FER_MAX_RANK]; /* as they are given, later with the one that was inferred */
    size_t num_dims;
    size_t inferred_axis; /* or NO_AXIS */
    fer_text given;       /* the dims as they are given, for messages */
} reshape;

static bool has_value(const fer_dim *dim, int64_t wanted)
{
    int64_t value;
    return fer_dim_value(dim, &value, NULL) == FER_OK && value == wanted;
}

/* The product of dims, but for the one of an axis. OVERFLOW: it has no canonical form. Beside a 0
 * it is 0, however large the others are. */
static fer_status multiply(const fer_dim *const *dims, size_t num_dims, size_t without,
                           fer_dim **out_product, fer_error *error)
{
    for (size_t axis = 0; axis < num_dims; axis++)
        if (axis != without && has_value(dims[axis], 0))
            return fer_dim_constant(0, out_product, error);
    FER_TRY(fer_dim_constant(1, out_product, error));
    for (size_t axis = 0; axis < num_dims; axis++) {
        if (axis == without)
            continue;
        fer_dim *product;
        fer_status status = fer_dim_multiply(*out_product, dims[axis], &product, error);
        fer_dim_release(*out_product);
        *out_product = product;
        FER_TRY(status);
    }
    return FER_OK;
}

static fer_status count_elements(const fer_type *type, fer_dim **out_count, fer_error *error)
{
    const fer_dim *dims[FER_MAX_RANK];
    for (size_t axis = 0; axis < fer_type_rank(type); axis++)
        dims[axis] = fer_type_dim(type, axis);
    return multiply(dims, fer_type_rank(type), NO_AXIS, out_count, error);
}

/* --- What is given ---------------------------------------------------------------------------- */

static fer_status fail(const reshape *r, fer_status kind, fer_error *error, const char *why)
{
    if (r->given.has_failed)
        return fer_fail_memory(error);
    return fer_fail(error, kind, "graph '%s': reshape of %s to [%s]: %s", r->graph->name,
                    fer_type_text(r->from), fer_text_string(&r->given), why);
}

static fer_status take_dims(reshape *r, const fer_dim *const *dims, size_t num_dims,
                            fer_error *error)
{
    if (num_dims > FER_MAX_RANK)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s': reshape to %zu dims: a value has at most %d", r->graph->name,
                        num_dims, FER_MAX_RANK);
    r->num_dims = num_dims;
    r->inferred_axis = NO_AXIS;
    for (size_t axis = 0; axis < num_dims; axis++) {
        r->dims[axis] = dims[axis];
        if (dims[axis] == NULL)
            return fer_fail(error, FER_TYPE_ERROR, "graph '%s': reshape axis %zu has no dim",
                            r->graph->name, axis);
        fer_text_printf(&r->given, "%s%s", axis == 0 ? "" : ", ", fer_dim_text(dims[axis]));
    }
    for (size_t axis = 0; axis < num_dims; axis++) {
        if (!has_value(dims[axis], -1))
            continue;
        if (r->inferred_axis != NO_AXIS)
            return fail(r, FER_VALUE_ERROR, error, "only one dim can be inferred");
        r->inferred_axis = axis;
    }
    return FER_OK;
}

/* The elements divided by the other dims, for the caller to release. */
static fer_status infer_dim(const reshape *r, fer_dim **out_dim, fer_error *error)
{
    fer_dim *count = NULL;
    fer_dim *others = NULL;
    fer_status status = FER_OK;
    FER_TRY_DONE(count_elements(r->from, &count, error));
    FER_TRY_DONE(multiply(r->dims, r->num_dims, r->inferred_axis, &others, error));
    if (has_value(others, 0))
        status = fail(r, FER_VALUE_ERROR, error, "beside a dim of 0 none can be inferred");
    else
        status = fer_dim_floor_divide(count, others, out_dim, error);

done:
    fer_dim_release(count);
    fer_dim_release(others);
    return status;
}

static fer_status make_type(reshape *r, fer_type **out_type, fer_error *error)
{
    fer_dim *inferred = NULL;
    fer_status status = FER_OK;
    if (r->inferred_axis != NO_AXIS) {
        FER_TRY(infer_dim(r, &inferred, error));
        r->dims[r->inferred_axis] = inferred;
    }
    status = fer_type_create(fer_type_dtype(r->from), r->num_dims, r->dims,
                             fer_type_device(r->from), out_type, error);
    fer_dim_release(inferred);
    return status;
}

/* --- What comes of it ------------------------------------------------------------------------- */

/* Of the elements that there are and those of the result's type. */
typedef struct counts {
    fer_dim *from; /* NULL: it has no canonical form, so nothing is known of it */
    fer_dim *to;
} counts;

static counts count_both(const fer_type *from, const fer_type *to)
{
    counts c = {NULL, NULL};
    if (count_elements(from, &c.from, NULL) != FER_OK ||
        count_elements(to, &c.to, NULL) != FER_OK) {
        fer_dim_release(c.from);
        fer_dim_release(c.to);
        c = (counts){NULL, NULL};
    }
    return c;
}

static void counts_clear(counts *c)
{
    fer_dim_release(c->from);
    fer_dim_release(c->to);
}

bool fer_reshape_always_holds(const fer_type *from, const fer_type *to)
{
    counts c = count_both(from, to);
    bool holds = c.from != NULL && fer_dim_equal(c.from, c.to);
    for (size_t axis = 0; holds && axis < fer_type_rank(to); axis++)
        holds = fer_dim_is_size(fer_type_dim(to, axis));
    counts_clear(&c);
    return holds;
}

static bool never_hold(const counts *c)
{
    return c->from != NULL && fer_dims_never_agree(c->from, c->to);
}

bool fer_reshape_never_holds(const fer_type *from, const fer_type *to)
{
    counts c = count_both(from, to);
    bool never_holds = never_hold(&c);
    counts_clear(&c);
    return never_holds;
}

static fer_status fail_counts(const reshape *r, const counts *c, fer_error *error)
{
    fer_text why = FER_TEXT_INIT;
    fer_text_printf(&why, "there are %s elements, ", fer_dim_text(c->from));
    if (r->inferred_axis == NO_AXIS)
        fer_text_printf(&why, "never %s", fer_dim_text(c->to));
    else
        fer_text_append(&why, "which the other dims never divide");
    fer_status status = why.has_failed ? fer_fail_memory(error)
                                       : fail(r, FER_VALUE_ERROR, error, fer_text_string(&why));
    fer_text_free(&why);
    return status;
}

static fer_status check_counts(const reshape *r, const fer_type *type, fer_error *error)
{
    counts c = count_both(r->from, type);
    fer_status status = FER_OK;
    if (never_hold(&c))
        status = fail_counts(r, &c, error);
    counts_clear(&c);
    return status;
}

/* Nothing is bound here: one count cannot say what a name is. */
static fer_status check_type(const reshape *r, const fer_type *type, fer_error *error)
{
    size_t axis;
    const char *name = fer_graph_unknown_name(r->graph, type, NULL, 0, &axis);
    if (name != NULL)
        return fer_fail_at(
            error, FER_VALUE_ERROR, &(fer_place){.has_axis = true, .axis = (int)axis},
            "graph '%s': reshape axis %zu is %s, but nothing in the graph says what %s is",
            r->graph->name, axis, fer_dim_text(fer_type_dim(type, axis)), name);
    return check_counts(r, type, error);
}

fer_status fer_graph_reshape(fer_graph *graph, fer_value *value, const fer_dim *const *dims,
                             size_t num_dims, fer_value **out_value, fer_error *error)
{
    *out_value = NULL;
    FER_TRY(fer_graph_require_open(graph, error));
    FER_TRY(fer_graph_require_value(graph, value, "reshape's operand", error));
    reshape r = {.graph = graph, .from = value->type, .given = FER_TEXT_INIT};
    fer_type *type = NULL;
    fer_status status = FER_OK;
    FER_TRY_DONE(take_dims(&r, dims, num_dims, error));
    FER_TRY_DONE(make_type(&r, &type, error));
    FER_TRY_DONE(check_type(&r, type, error));
    status = fer_graph_share(graph, FER_NODE_RESHAPE, value, type, out_value, error);

done:
    fer_text_free(&r.given);
    fer_type_release(type);
    return status;
}
