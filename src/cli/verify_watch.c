/* What is found out about a kernel while it runs: by the checks that are compiled into it, by the
 * sanitizer's reports, and by the signal that an access to a guard, a trap or a crash is. A signal
 * ends the process; its handler notes what it was and where.
 */
#include "cli/verify.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

fer_watch fer_watched;

/* --- Findings --------------------------------------------------------------------------------- */

/* Where a new fault goes, or NULL: it is known. What goes on after a report of undefined behaviour
 * may end the process at the same line. A write beside something, whose place nobody saw, is
 * forgotten for an access whose place somebody did. */
static fer_fault *find_room(fer_findings *findings, const fer_fault *found)
{
    for (size_t i = 0; i < findings->num_faults; i++) {
        fer_fault *other = &findings->faults[i];
        const bool is_same_line =
            other->line == found->line && strcmp(other->file, found->file) == 0;
        if (is_same_line && (other->kind == found->kind ||
                             (other->kind == FER_UNDEFINED_BEHAVIOUR &&
                              (found->kind == FER_CRASH || found->kind == FER_ENDLESS))))
            return NULL;
        if (other->kind != FER_OUT_OF_BOUNDS || found->kind != FER_OUT_OF_BOUNDS)
            continue;
        if (found->is_vague)
            return NULL;
        if (other->is_vague)
            return other;
    }
    return findings->num_faults < FER_MAX_FAULTS ? &findings->faults[findings->num_faults++] : NULL;
}

void fer_findings_add(fer_findings *findings, const fer_case *a_case, fer_fault_kind kind,
                      const char *file, int line, const char *format, ...)
{
    const fer_abi_entry *entry =
        a_case == NULL ? NULL : fer_library_kernel(a_case->choice->specialisation->library);
    fer_fault found = {.kind = kind, .line = line, .is_vague = file == NULL};
    if (file == NULL && entry != NULL) {
        file = entry->file;
        found.line = entry->line;
    }
    if (a_case != NULL) {
        found.has_case = true;
        found.case_index = a_case->index;
    }
    snprintf(found.file, sizeof found.file, "%s", file == NULL ? "" : file);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found.what, sizeof found.what, format, arguments);
    va_end(arguments);
    fer_fault *room = find_room(findings, &found);
    if (room != NULL)
        *room = found;
}

/* `file:line:column: runtime error: what`; our own headers are not the author's concern. */
static void read_report(fer_findings *findings, const fer_case *a_case, char *line)
{
    static const char MARK[] = ": runtime error: ";
    char *mark = strstr(line, MARK);
    if (mark == NULL)
        return;
    *mark = '\0';
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return;
    *colon = '\0';
    const char *file = strncmp(line, "./", 2) == 0 ? line + 2 : line;
    if (strstr(file, "include/ferrule/") != NULL)
        file = NULL;
    findings->num_reports++;
    fer_findings_add(findings, a_case, FER_UNDEFINED_BEHAVIOUR, file, atoi(colon + 1), "%s",
                     mark + strlen(MARK));
}

void fer_findings_read_output(fer_findings *findings, const fer_case *a_case, int output)
{
    char text[4096];
    for (;;) {
        ssize_t count = pread(output, text, sizeof text - 1, (off_t)findings->output_read);
        if (count <= 0)
            return;
        text[count] = '\0';
        char *end = memchr(text, '\n', (size_t)count);
        if (end == NULL && count < (ssize_t)sizeof text - 1)
            return;
        if (end != NULL)
            *end = '\0';
        findings->output_read += end == NULL ? (size_t)count : (size_t)(end - text) + 1;
        read_report(findings, a_case, text);
    }
}

/* --- Checks ------------------------------------------------------------------------------------
 */

/* What fer_verify_kernels is given. */
static int64_t tell_outside(const char *file, int line, const char *view, int axis, int64_t index,
                            int64_t bound)
{
    char what[FER_HELD_TEXT];
    if (fer_watched.findings != NULL)
        fer_findings_add(fer_watched.findings, fer_watched.a_case, FER_OUT_OF_BOUNDS, file, line,
                         "%s", fer_outside_text(view, axis, index, bound, what));
    return index;
}

void fer_verify_prepare(void)
{
    fer_verify_kernels(tell_outside);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static const void *fault_address(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static const char *access_verb(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "writes" : "reads";
#else
    (void)context;
    return "touches";
#endif
}

/* The undefined behaviour that clang's trap at this instruction stands for (`ud1 N(%eax), %eax`),
 * by the order of its list of checks; NULL: none. */
static const char *trap_name(const unsigned char *code)
{
    static const char *const NAMES[] = {
        [0] = "an addition overflows",
        [1] = "a place that must not be reached",
        [3] = "a division by zero, or one that overflows",
        [5] = "a float outside the integer type it is converted to",
        [10] = "a bool or an enum that holds no such value",
        [11] = "a function ends without the value it returns",
        [12] = "a multiplication overflows",
        [13] = "a negation overflows",
        [18] = "an index outside an array",
        [19] = "a pointer moves out of its range",
        [20] = "a shift by too much, or of a negative number",
        [21] = "a subtraction overflows",
        [22] = "a pointer that is null, misaligned or to too few bytes",
        [24] = "an array of no length",
    };
#if defined(__x86_64__)
    if (code == NULL || code[0] != 0x67 || code[1] != 0x0f || code[2] != 0xb9 ||
        (code[3] != 0x40 && code[3] != 0x00))
        return NULL;
    const size_t kind = code[3] == 0x00 ? 0 : code[4]; /* a 0 is left out */
    const char *name = kind < sizeof NAMES / sizeof *NAMES ? NAMES[kind] : NULL;
    return name == NULL ? "a check of the compiler's" : name;
#else
    (void)NAMES;
    (void)code;
    return NULL;
#endif
}

/* What ends the process. Its line is found later. */
__attribute__((format(printf, 2, 3))) static void note_death(fer_fault_kind kind,
                                                             const char *format, ...)
{
    fer_findings *findings = fer_watched.findings;
    findings->has_died = true;
    findings->death.kind = kind;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(findings->death.what, sizeof findings->death.what, format, arguments);
    va_end(arguments);
}

static void note_access(const void *address, const char *verb)
{
    static const fer_held NOTHING = {0};
    const fer_held *held = fer_watched.held == NULL ? &NOTHING : fer_watched.held;
    for (size_t i = 0; i < held->num_tensors; i++) {
        const fer_guarded *memory = &held->memory[i];
        const fer_tensor *tensor = held->tensors[i];
        if (!fer_guarded_holds(memory, address))
            continue;
        const char *name = fer_watched.entry->tensors[i].name;
        const int64_t element = fer_element_at(tensor, (const char *)address - memory->data);
        const int64_t count = fer_tensor_num_elements(tensor);
        if (element >= 0 && element < count)
            note_death(FER_OPERAND_WRITTEN, "%s element %lld of '%s', which is not INOUT", verb,
                       (long long)element, name);
        else
            note_death(FER_OUT_OF_BOUNDS, "%s element %lld of '%s', which has %lld", verb,
                       (long long)element, name, (long long)count);
        return;
    }
    for (size_t i = 0; i < held->num_scratch; i++)
        if (fer_guarded_holds(&held->scratch[i], address)) {
            note_death(FER_OUT_OF_BOUNDS, "%s byte %lld of a SCRATCH of %zu bytes", verb,
                       (long long)((const char *)address - held->scratch[i].data),
                       held->scratch[i].num_bytes);
            return;
        }
    if (address == NULL)
        note_death(FER_CRASH, "SIGSEGV: a null pointer, or an address that is misaligned");
    else
        note_death(FER_CRASH, "SIGSEGV: %s address %p", verb, address);
}

static void note_signal(int signal, const siginfo_t *info, const ucontext_t *context)
{
    const char *trap = signal == SIGILL ? trap_name(fault_address(context)) : NULL;
    if (signal == SIGSEGV || signal == SIGBUS)
        note_access(info->si_addr, access_verb(context));
    else if (signal == SIGPROF || signal == SIGALRM)
        note_death(FER_ENDLESS, "it has not ended after %u s of %s",
                   signal == SIGPROF ? fer_watched.timeout : 10 * fer_watched.timeout,
                   signal == SIGPROF ? "work" : "waiting");
    else if (trap != NULL)
        note_death(FER_UNDEFINED_BEHAVIOUR, "%s", trap);
    else if (signal == SIGFPE)
        note_death(FER_CRASH, "SIGFPE: a division by zero, or one that overflows");
    else
        note_death(FER_CRASH, "SIG%s (%s)", sigabbrev_np(signal), sigdescr_np(signal));
}

/* The innermost place in the kernel's own code. */
static void note_place(const ucontext_t *context)
{
    void *frames[64];
    Dl_info kernel;
    Dl_info found;
    const void *start = fault_address(context);
    if (dladdr((const void *)fer_watched.entry, &kernel) == 0)
        return;
    const int count = backtrace(frames, sizeof frames / sizeof *frames);
    for (int i = 0; i < count; i++) {
        if (dladdr(frames[i], &found) == 0 || found.dli_fbase != kernel.dli_fbase)
            continue;
        const bool is_call = frames[i] != start; /* then it is the place behind the call */
        fer_watched.findings->address = (uintptr_t)frames[i] - (uintptr_t)found.dli_fbase - is_call;
        return;
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t has_begun;
    if (has_begun)
        _exit(1);
    has_begun = 1;
    /* The kernel may have died inside of what is called here, holding its lock. */
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigaction(SIGPROF, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigaction(SIGALRM, &by_default, NULL);
    alarm(5);
    note_place(context);
    fer_findings_read_output(fer_watched.findings, fer_watched.a_case, fer_watched.output);
    note_signal(signal, info, context);
    _exit(1);
}

void fer_watch_signals(void)
{
    static const int SIGNALS[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                  SIGTRAP, SIGABRT, SIGPROF, SIGALRM};
    enum { STACK_BYTES = 1 << 17 };
    stack_t stack = {.ss_size = STACK_BYTES};
    stack.ss_sp =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp != MAP_FAILED)
        sigaltstack(&stack, NULL);
    void *frames[1];
    (void)backtrace(frames, 1); /* loads what it needs */
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) {
        struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
        action.sa_sigaction = on_signal;
        sigemptyset(&action.sa_mask);
        sigaction(SIGNALS[i], &action, NULL);
    }
}
