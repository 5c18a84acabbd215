#include "cli/profile.h"

#include "base/log.h"
#include "graph/graph.h"
#include "op/op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- The table -------------------------------------------------------------------------------- */

/* The row of an op, or NULL without memory. */
static fer_profile_row *find_row(fer_profile *profile, const char *op)
{
    for (size_t i = 0; i < profile->num_rows; i++)
        if (strcmp(profile->rows[i].op, op) == 0)
            return &profile->rows[i];
    char *name = NULL;
    if (fer_reserve(&profile->rows, profile->num_rows + 1, &profile->rows_capacity,
                    sizeof *profile->rows, NULL) != FER_OK ||
        fer_copy_string(op, &name, NULL) != FER_OK)
        return NULL;
    fer_profile_row *row = &profile->rows[profile->num_rows++];
    *row = (fer_profile_row){.op = name};
    return row;
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

static void append_types(fer_text *text, const char *key, const fer_kernel_event *event,
                         size_t first, const fer_plan *plan, size_t count)
{
    fer_text_printf(text, "\"%s\": [", key);
    for (size_t i = first; i < first + count; i++) {
        const fer_dl_tensor *tensor = event->tensors[i];
        uint8_t dtype = i < plan->num_results ? plan->results[i].dtype
                                              : plan->operands[i - plan->num_results].dtype;
        fer_text_append(text, i == first ? "\"" : ", \"");
        fer_append_extents(text, (fer_dtype)dtype, (size_t)tensor->ndim, tensor->shape);
        fer_text_append_char(text, '"');
    }
    fer_text_append_char(text, ']');
}

/* One complete event of the format that Chrome's and Perfetto's viewers read, in microseconds. The
 * name of an op needs no escapes. */
static void write_event(fer_profile *profile, const fer_kernel_event *event)
{
    const fer_plan *plan = &event->specialisation->plan;
    fer_text text = FER_TEXT_INIT;
    fer_text_printf(&text,
                    "%s\n{\"name\": \"%s\", \"cat\": \"kernel\", \"ph\": \"X\", \"ts\": %.3f, "
                    "\"dur\": %.3f, \"pid\": %ld, \"tid\": %ld, \"args\": {",
                    profile->num_events == 0 ? "" : ",", event->specialisation->op->name,
                    (event->start - profile->start) * 1e3, event->took * 1e3, (long)getpid(),
                    (long)syscall(SYS_gettid));
    append_types(&text, "operands", event, plan->num_results, plan, plan->num_operands);
    fer_text_append(&text, ", ");
    append_types(&text, "results", event, 0, plan, plan->num_results);
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
    if (profile->has_table) {
        fer_profile_row *row = find_row(profile, event->specialisation->op->name);
        profile->has_failed |= row == NULL;
        if (row != NULL) {
            row->num_calls++;
            row->total_ms += event->took;
        }
    }
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
