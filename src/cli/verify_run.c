/* Calling a kernel that is not trusted: each case three times, with other memory, other bytes in it
 * and another number of threads, and what the runs made is compared. */
#include "cli/verify.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* One run of a case. */
typedef struct run_state {
    fer_context context; /* first: kernels are given its address */
    fer_held held;
    bool overruns_scratch;
    int64_t open[FER_MAX_SLOTS]; /* extents that SHAPE stores */
    int64_t unknown;
    bool is_unusable; /* no memory, or extents that no result can have */
    bool has_failed;
    char message[256];
} run_state;

/* --- What a kernel may ask of its caller ------------------------------------------------------ */

static run_state *state_of(fer_context *context)
{
    return (run_state *)context;
}

static int fail(fer_context *context, const char *file, int line, const char *format, ...)
{
    run_state *run = state_of(context);
    (void)file;
    (void)line;
    if (!run->has_failed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(run->message, sizeof run->message, format, arguments);
        va_end(arguments);
    }
    run->has_failed = true;
    return 1;
}

static void *take_scratch(fer_context *context, uint64_t num_bytes)
{
    return fer_held_take_scratch(&state_of(context)->held, num_bytes);
}

static int64_t *find_extent(fer_context *context, const char *name)
{
    run_state *run = state_of(context);
    const fer_signature *signature = fer_op_signature(fer_watched.a_case->op);
    for (size_t i = 0; i < fer_signature_num_open(signature); i++)
        if (strcmp(fer_signature_open_at(signature, i), name) == 0)
            return &run->open[i];
    fer_findings_add(fer_watched.findings, fer_watched.a_case, FER_WRONG_EXTENT, NULL, 0,
                     "EXTENT(%s) names no data-dependent dim of the declaration", name);
    return &run->unknown;
}

/* --- Runs ------------------------------------------------------------------------------------- */

static void close_scratch(run_state *run)
{
    int64_t offset;
    for (size_t i = 0; i < run->held.num_scratch; i++)
        run->overruns_scratch |= fer_guarded_is_overrun(&run->held.scratch[i], &offset);
    fer_held_close_scratch(&run->held);
}

static bool open_operands(run_state *run, const fer_case *a_case, size_t num_results)
{
    const fer_plan *plan = &a_case->choice->specialisation->plan;
    for (size_t i = 0; i < plan->num_operands; i++) {
        const size_t place = num_results + i;
        if (fer_held_open(&run->held, place, a_case->choice->dtypes[i], a_case->shapes[i].rank,
                          a_case->shapes[i].extents, NULL) != FER_OK)
            return false;
        fer_case_fill(a_case, i, run->held.memory[place].data,
                      (size_t)fer_tensor_num_elements(run->held.tensors[place]));
        if (!plan->operands[i].is_inout)
            fer_guarded_seal(&run->held.memory[place]);
    }
    return true;
}

static void call(run_state *run, fer_kernel_function function, size_t first)
{
    const fer_dl_tensor *tensors[FER_ABI_MAX_TENSORS];
    for (size_t i = first; i < run->held.num_tensors; i++)
        tensors[i - first] = &run->held.tensors[i]->dl;
    int code = function(&run->context, tensors);
    if (code != 0 && !run->has_failed)
        fail(&run->context, NULL, 0, "the kernel returned %d", code);
    close_scratch(run);
}

#define NOT_STORED INT64_MIN

/* Lets SHAPE say how large the results are. */
static void measure(run_state *run, const fer_case *a_case, fer_bound *bound)
{
    const fer_specialisation *specialisation = a_case->choice->specialisation;
    const fer_plan *plan = &specialisation->plan;
    const fer_signature *signature = fer_op_signature(a_case->op);
    for (size_t i = 0; i < plan->num_open; i++)
        run->open[i] = NOT_STORED;
    call(run, specialisation->unwatched_shape, plan->num_results);
    for (size_t i = 0; i < plan->num_open && !run->has_failed; i++) {
        const char *name = fer_signature_open_at(signature, i);
        const fer_abi_entry *shape = fer_library_shape(specialisation->library);
        if (run->open[i] == NOT_STORED)
            fer_findings_add(fer_watched.findings, a_case, FER_WRONG_EXTENT, shape->file,
                             shape->line, "SHAPE does not store EXTENT(%s)", name);
        else if (run->open[i] < 0)
            fer_findings_add(fer_watched.findings, a_case, FER_WRONG_EXTENT, shape->file,
                             shape->line, "SHAPE stores %lld as EXTENT(%s)",
                             (long long)run->open[i], name);
        run->is_unusable |= run->open[i] < 0 || run->open[i] > 1 << 24;
    }
    const fer_dl_tensor *tensors[FER_ABI_MAX_TENSORS] = {NULL};
    for (size_t i = plan->num_results; i < run->held.num_tensors; i++)
        tensors[i] = &run->held.tensors[i]->dl;
    run->is_unusable |=
        !run->has_failed && !run->is_unusable && !fer_plan_results(plan, tensors, run->open, bound);
}

/* Makes the operands, and calls the kernel on them. The run is for the caller to close. */
static void make_run(run_state *run, const fer_case *a_case, fer_guard_side side, uint8_t filler,
                     unsigned num_threads)
{
    const fer_specialisation *specialisation = a_case->choice->specialisation;
    const fer_plan *plan = &specialisation->plan;
    fer_bound bound;
    fer_error error = FER_ERROR_INIT;
    *run = (run_state){.context = {.struct_bytes = sizeof run->context,
                                   .num_threads = num_threads,
                                   .runtime = (void *)specialisation,
                                   .fail = fail,
                                   .scratch = take_scratch,
                                   .extent = find_extent},
                       .held = {.side = side, .filler = filler}};
    fer_watched.held = &run->held;
    const fer_specialisation *bound_one;
    if (!open_operands(run, a_case, plan->num_results)) {
        run->is_unusable = true;
        return;
    }
    if (fer_op_bind(a_case->op, &run->held.tensors[plan->num_results], plan->num_operands,
                    &bound_one, &bound, &error) != FER_OK) {
        fail(&run->context, NULL, 0, "%s", error.message);
        fer_error_clear(&error);
        return;
    }
    if (plan->num_open > 0)
        measure(run, a_case, &bound);
    if (run->has_failed || run->is_unusable)
        return;
    const size_t num_tensors = run->held.num_tensors;
    for (size_t i = 0; i < plan->num_results; i++)
        run->is_unusable |=
            fer_held_open(&run->held, i, (fer_dtype)plan->results[i].dtype, bound.results[i].rank,
                          bound.results[i].extents, NULL) != FER_OK;
    run->held.num_tensors = num_tensors;
    if (!run->is_unusable)
        call(run, specialisation->unlogged, 0);
}

/* --- Cases ------------------------------------------------------------------------------------ */

static void compare_tensor(const fer_case *a_case, const run_state *a, const run_state *b, size_t i,
                           const char *what)
{
    const fer_comparison_of_runs found =
        fer_guarded_compare(&a->held.memory[i], &b->held.memory[i],
                            fer_dtype_bytes(fer_tensor_dtype(a->held.tensors[i])));
    const char *name = fer_watched.entry->tensors[i].name;
    char place[FER_HELD_TEXT];
    char others[FER_HELD_TEXT];
    if (found.num_unwritten > 0)
        fer_findings_add(fer_watched.findings, a_case, FER_NOT_WRITTEN, NULL, 0,
                         "element %s of '%s'%s, of %lld",
                         fer_element_text(a->held.tensors[i], found.first_unwritten, place), name,
                         fer_others_text(found.num_unwritten, others),
                         (long long)fer_tensor_num_elements(a->held.tensors[i]));
    if (found.num_different > 0)
        fer_findings_add(fer_watched.findings, a_case, FER_DIFFERENT_BITS, NULL, 0,
                         "%s do not agree on element %s of '%s'%s", what,
                         fer_element_text(a->held.tensors[i], found.first_different, place), name,
                         fer_others_text(found.num_different, others));
}

static void compare(const fer_case *a_case, const run_state *a, const run_state *b,
                    const char *what)
{
    const fer_plan *plan = &a_case->choice->specialisation->plan;
    if (fer_signature_folded(fer_op_signature(a_case->op))->has_effect || a->is_unusable ||
        b->is_unusable)
        return;
    if (a->has_failed != b->has_failed) {
        fer_findings_add(fer_watched.findings, a_case, FER_DIFFERENT_BITS, NULL, 0,
                         "of %s only one fails: %s", what, a->has_failed ? a->message : b->message);
        return;
    }
    for (size_t i = 0; i < plan->num_open; i++)
        if (a->open[i] != b->open[i]) {
            fer_findings_add(fer_watched.findings, a_case, FER_DIFFERENT_BITS, NULL, 0,
                             "%s do not agree on EXTENT(%s)", what,
                             fer_signature_open_at(fer_op_signature(a_case->op), i));
            return;
        }
    for (size_t i = 0; i < a->held.num_tensors && !a->has_failed; i++)
        compare_tensor(a_case, a, b, i, what);
}

/* Writes that no guard caught: into the few bytes between the memory and a guard. */
static void judge_rest(const fer_case *a_case, const run_state *run)
{
    int64_t offset;
    for (size_t i = 0; i < run->held.num_tensors; i++)
        if (run->held.memory[i].pages != NULL &&
            fer_guarded_is_overrun(&run->held.memory[i], &offset))
            fer_findings_add(fer_watched.findings, a_case, FER_OUT_OF_BOUNDS, NULL, 0,
                             "writes beside '%s'", fer_watched.entry->tensors[i].name);
    if (run->overruns_scratch)
        fer_findings_add(fer_watched.findings, a_case, FER_OUT_OF_BOUNDS, NULL, 0,
                         "writes beside a SCRATCH");
}

static void note_refusal(const run_state *run)
{
    fer_findings *findings = fer_watched.findings;
    if (findings->num_refused++ == 0)
        snprintf(findings->refusal, sizeof findings->refusal, "%s", run->message);
}

static void run_case(const fer_case *a_case)
{
    run_state runs[3];
    char threads[64];
    snprintf(threads, sizeof threads, "1 and %d threads", FER_VERIFY_THREADS);
    make_run(&runs[0], a_case, FER_GUARD_BEHIND, 0xa5, 1);
    make_run(&runs[1], a_case, FER_GUARD_BEFORE, 0x5a, 1);
    make_run(&runs[2], a_case, FER_GUARD_BEHIND, 0x5a, FER_VERIFY_THREADS);
    compare(a_case, &runs[0], &runs[1], "two runs");
    compare(a_case, &runs[0], &runs[2], threads);
    for (int i = 0; i < 3; i++)
        judge_rest(a_case, &runs[i]);
    if (runs[0].has_failed)
        note_refusal(&runs[0]);
    fer_watched.held = NULL;
    for (int i = 0; i < 3; i++)
        fer_held_close(&runs[i].held);
}

/* Of work, whatever else the machine does; and for one that waits, ten times as much of time. */
static void set_timers(unsigned seconds)
{
    const struct itimerval work = {.it_value = {.tv_sec = (time_t)seconds}};
    const struct itimerval time = {.it_value = {.tv_sec = 10 * (time_t)seconds}};
    setitimer(ITIMER_PROF, &work, NULL);
    setitimer(ITIMER_REAL, &time, NULL);
}

/* A kernel that prints without end fills no memory, and one that dies leaves no file. */
static void limit_files(void)
{
    enum { MAX_FILE_BYTES = 64 << 20 };
    signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){MAX_FILE_BYTES, MAX_FILE_BYTES});
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

void fer_verify_run(const fer_cases *cases, size_t first, size_t last, unsigned timeout, int output,
                    fer_findings *findings)
{
    fer_watched.findings = findings;
    fer_watched.output = output;
    fer_watched.timeout = timeout;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    limit_files();
    fer_watch_signals();
    for (size_t i = first; i <= last && findings->num_faults < FER_MAX_FAULTS; i++) {
        const fer_case a_case = fer_cases_at(cases, i);
        if (a_case.choice->specialisation == NULL)
            continue;
        findings->current = i;
        findings->num_reports = 0;
        findings->num_cases++;
        fer_watched.a_case = &a_case;
        fer_watched.entry = fer_library_kernel(a_case.choice->specialisation->library);
        set_timers(timeout);
        run_case(&a_case);
        set_timers(0);
        fer_findings_read_output(findings, &a_case, output);
    }
    findings->is_done = true;
    _exit(0);
}
