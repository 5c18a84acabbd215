/* Ranges of numbers: integers are exact, floats are start + i * step in double. */
#include "tensor/number.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>

/* The numbers as written, all integers or all floats. */
typedef struct progression {
    bool is_float;
    fer_int128 start, stop, step; /* each of int64 or of uint64 */
    double float_start, float_stop, float_step;
    int64_t count;
} progression;

/* One of the three numbers, as the integer and the double that it is. */
static fer_status read_bound(fer_number number, const char *what, bool is_float,
                             fer_int128 *out_integer, double *out_float, fer_error *error)
{
    if (number.kind == FER_NUMBER_BOOL)
        return fer_fail(error, FER_TYPE_ERROR, "arange: the %s is a bool, not a number", what);
    if (number.kind == FER_NUMBER_FLOAT) {
        *out_float = number.value.as_float;
        if (!isfinite(*out_float))
            return fer_fail(error, FER_VALUE_ERROR, "arange: the %s is not finite", what);
        return FER_OK;
    }
    *out_integer = fer_number_integer(number);
    *out_float = (double)*out_integer;
    char text[FER_NUMBER_TEXT];
    if (is_float && (fer_int128)*out_float != *out_integer)
        return fer_fail(error, FER_VALUE_ERROR,
                        "arange: the %s %s has no exact float to go with the other floats", what,
                        fer_number_text(number, text));
    return FER_OK;
}

static fer_status fail_count(fer_error *error)
{
    return fer_fail(error, FER_OVERFLOW_ERROR, "arange: more elements than 64 bits count");
}

/* ceil((stop - start) / step), and 0 where that is negative. */
static fer_status count_ints(progression *range, fer_error *error)
{
    fer_int128 span = range->stop - range->start;
    fer_int128 step = range->step;
    if (step < 0) {
        span = -span;
        step = -step;
    }
    fer_int128 count = span <= 0 ? 0 : (span + step - 1) / step;
    if (count > INT64_MAX)
        return fail_count(error);
    range->count = (int64_t)count;
    return FER_OK;
}

static fer_status count_floats(progression *range, fer_error *error)
{
    double count = ceil((range->float_stop - range->float_start) / range->float_step);
    if (!(count < 0x1p63))
        return fail_count(error);
    range->count = count <= 0 ? 0 : (int64_t)count;
    return FER_OK;
}

static fer_status read_progression(fer_number start, fer_number stop, fer_number step,
                                   progression *out_range, fer_error *error)
{
    progression range = {0};
    range.is_float = start.kind == FER_NUMBER_FLOAT || stop.kind == FER_NUMBER_FLOAT ||
                     step.kind == FER_NUMBER_FLOAT;
    FER_TRY(read_bound(start, "start", range.is_float, &range.start, &range.float_start, error));
    FER_TRY(read_bound(stop, "stop", range.is_float, &range.stop, &range.float_stop, error));
    FER_TRY(read_bound(step, "step", range.is_float, &range.step, &range.float_step, error));
    if (range.float_step == 0)
        return fer_fail(error, FER_VALUE_ERROR, "arange: the step is 0");
    FER_TRY(range.is_float ? count_floats(&range, error) : count_ints(&range, error));
    *out_range = range;
    return FER_OK;
}

static fer_status store_at(const progression *range, int64_t index, fer_dtype dtype,
                           void *out_element, fer_error *error)
{
    fer_number number = {.kind = FER_NUMBER_FLOAT};
    if (range->is_float) {
        double offset = (double)index * range->float_step;
        number.value.as_float = range->float_start + offset;
    } else {
        number = fer_number_of_integer(range->start + index * range->step);
    }
    fer_status status = fer_number_store(number, dtype, out_element, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "arange: element %" PRId64 ": ", index);
    return FER_OK;
}

fer_status fer_tensor_arange(fer_dtype dtype, fer_number start, fer_number stop, fer_number step,
                             fer_device device, fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    if (dtype == FER_BOOL)
        return fer_fail(error, FER_TYPE_ERROR, "arange: there is no range of bool");
    progression range;
    FER_TRY(read_progression(start, stop, step, &range, error));
    /* The last element first: a range that leaves the dtype must not cost its memory. */
    size_t element_bytes = fer_dtype_bytes(dtype);
    unsigned char last[8];
    if (element_bytes > 0 && range.count > 0)
        FER_TRY(store_at(&range, range.count - 1, dtype, last, error));
    fer_tensor *tensor = NULL;
    FER_TRY(fer_tensor_empty(dtype, 1, &range.count, device, &tensor, error));
    char *data = tensor->dl.data;
    fer_status status = FER_OK;
    for (int64_t i = 0; i < range.count && status == FER_OK; i++)
        status = store_at(&range, i, dtype, data + (size_t)i * element_bytes, error);
    if (status != FER_OK) {
        fer_tensor_release(tensor);
        return status;
    }
    *out_tensor = tensor;
    return FER_OK;
}
