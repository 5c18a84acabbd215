#include "cli/profile.h"

#include "base/log.h"
#include "graph/graph.h"
#include "op/op.h"
#include "tensor/tensor.h"
#include "types/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- The table -------------------------------------------------------------------------------- */

static fer_profile_row *find_row(fer_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->num_rows; i++)
        if (strcmp(profile->rows[i].op, name) == 0)
            return &profile->rows[i];
    char *copy = NULL;
    if (fer_reserve(&profile->rows, profile->num_rows + 1, &profile->rows_capacity,
                    sizeof *profile->rows, NULL) != FER_OK ||
        fer_copy_string(name, &copy, NULL) != FER_OK)
        return NULL;
    fer_profile_row *row = &profile->rows[profile->num_rows++];
    *row = (fer_profile_row){.op = copy};
    return row;
}

/* An op has a row for each device that it runs on, a transfer for each that it copies to. False:
 * there is no memory. */
static bool add_to_table(fer_profile *profile, const fer_kernel_event *event)
{
    fer_text name = FER_TEXT_INIT;
    fer_text_append(&name, event->name);
    fer_append_device(&name, event->tensors[0]->device.device_id);
    fer_profile_row *row = name.has_failed ? NULL : find_row(profile, fer_text_string(&name));
    fer_text_free(&name);
    if (row == NULL)
        return false;
    row->num_calls++;
    row->total_ms += event->took;
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const fer_profile_row *x = a;
    const fer_profile_row *y = b;
    if (x->total_ms != y->total_ms)
        return x->total_ms < y->total_ms ? 1 : -1;
    return strcmp(x->op, y->op);
}

/* What is not in kernels, control flow and copies, has the last line. */
static void print_table(fer_profile *profile, double run_ms)
{
    static const char REST[] = "(rest)";
    int width = (int)sizeof REST - 1;
    double rest_ms = run_ms;
    if (profile->num_rows > 0)
        qsort(profile->rows, profile->num_rows, sizeof *profile->rows, compare_rows);
    for (size_t i = 0; i < profile->num_rows; i++) {
        int length = (int)strlen(profile->rows[i].op);
        width = length > width ? length : width;
        rest_ms -= profile->rows[i].total_ms;
    }
    rest_ms = rest_ms < 0 ? 0 : rest_ms;
    double percent = run_ms > 0 ? 100 / run_ms : 0;
    fprintf(stderr, "%-*s %10s %13s %8s\n", width, "op", "calls", "total", "share");
    for (size_t i = 0; i < profile->num_rows; i++) {
        const fer_profile_row *row = &profile->rows[i];
        fprintf(stderr, "%-*s %10zu %10.3f ms %6.1f %%\n", width, row->op, row->num_calls,
                row->total_ms, row->total_ms * percent);
    }
    fprintf(stderr, "%-*s %10s %10.3f ms %6.1f %%\n", width, REST, "", rest_ms, rest_ms * percent);
}

/* --- The trace -------------------------------------------------------------------------------- */

static fer_dtype dtype_of(const fer_dl_tensor *tensor)
{
    fer_dtype dtype = 0;
    while (memcmp(&fer_dl_dtypes[dtype], &tensor->dtype, sizeof tensor->dtype) != 0)
        dtype++;
    return dtype;
}

/* `"operands": ["f32[2]", "f32[2] @ 1"]` */
static void append_types(fer_text *text, const char *key, const fer_dl_tensor *const *tensors,
                         size_t count)
{
    fer_text_printf(text, "\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        fer_text_append(text, i == 0 ? "\"" : ", \"");
        fer_append_extents(text, dtype_of(tensors[i]), (size_t)tensors[i]->ndim, tensors[i]->shape);
        fer_append_device(text, tensors[i]->device.device_id);
        fer_text_append_char(text, '"');
    }
    fer_text_append_char(text, ']');
}

/* One complete event of the format that Chrome's and Perfetto's viewers read, in microseconds. The
 * name of an op needs no escapes. */
static void write_event(fer_profile *profile, const fer_kernel_event *event)
{
    fer_text text = FER_TEXT_INIT;
    fer_text_printf(&text,
                    "%s\n{\"name\": \"%s\", \"cat\": \"kernel\", \"ph\": \"X\", \"ts\": %.3f, "
                    "\"dur\": %.3f, \"pid\": %ld, \"tid\": %ld, \"args\": {",
                    profile->num_events == 0 ? "" : ",", event->name,
                    (event->start - profile->start) * 1e3, event->took * 1e3, (long)getpid(),
                    (long)syscall(SYS_gettid));
    append_types(&text, "operands", event->tensors + event->num_results, event->num_operands);
    fer_text_append(&text, ", ");
    append_types(&text, "results", event->tensors, event->num_results);
    fer_text_append(&text, "}}");
    profile->has_failed |= text.has_failed;
    if (!text.has_failed)
        fputs(fer_text_string(&text), profile->trace);
    profile->num_events++;
    fer_text_free(&text);
}

static fer_status fail_trace(const fer_profile *profile, fer_error *error)
{
    return fer_fail(error, FER_IO_ERROR, "%s: the trace cannot be written: %s", profile->trace_path,
                    strerror(errno));
}

/* Ends the file, which is whole also when the run failed. */
static fer_status close_trace(fer_profile *profile, fer_error *error)
{
    fputs("\n]}\n", profile->trace);
    bool is_bad = ferror(profile->trace) != 0;
    is_bad |= fclose(profile->trace) != 0;
    profile->trace = NULL;
    return is_bad ? fail_trace(profile, error) : FER_OK;
}

/* --- The run ---------------------------------------------------------------------------------- */

/* One run at a time calls its kernels from one thread. */
static void observe(void *context, const fer_kernel_event *event)
{
    fer_profile *profile = context;
    if (!profile->is_running)
        return;
    if (profile->has_table)
        profile->has_failed |= !add_to_table(profile, event);
    if (profile->trace != NULL)
        write_event(profile, event);
}

void fer_profile_prepare(fer_profile *profile)
{
    if (profile->has_table || profile->trace_path != NULL)
        fer_observe_kernels(observe, profile);
}

fer_status fer_profile_start(fer_profile *profile, fer_error *error)
{
    if (profile->trace_path != NULL) {
        profile->trace = fopen(profile->trace_path, "we");
        if (profile->trace == NULL)
            return fail_trace(profile, error);
        fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", profile->trace);
    }
    profile->start = fer_log_clock();
    profile->is_running = true;
    return FER_OK;
}

fer_status fer_profile_finish(fer_profile *profile, fer_status status, fer_error *error)
{
    double run_ms = fer_log_clock() - profile->start;
    profile->is_running = false;
    if (profile->trace != NULL) {
        fer_status closed = close_trace(profile, status == FER_OK ? error : NULL);
        status = status == FER_OK ? closed : status;
    }
    if (profile->has_table)
        print_table(profile, run_ms);
    return status == FER_OK && profile->has_failed ? fer_fail_memory(error) : status;
}

void fer_profile_clear(fer_profile *profile)
{
    for (size_t i = 0; i < profile->num_rows; i++)
        free(profile->rows[i].op);
    free(profile->rows);
}
