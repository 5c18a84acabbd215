/* What is said of a crash inside a kernel before the process dies of it. Everything from `handle`
 * down to the formatting is safe in a signal handler. */
#include "op/op.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a thread runs. A crash on a thread that a kernel has started itself finds nothing of its
 * own, so the handler must find everybody's: slots stay for ever and are used again. */
typedef struct slot {
    struct slot *next;
    atomic_bool is_taken;
    _Atomic(const fer_specialisation *) running; /* NULL: no kernel */
    const fer_dl_tensor *const *tensors;
    bool is_shape;
} slot;

static atomic_bool is_on;
static _Atomic(slot *) slots;
static pthread_key_t slot_key;
/* A handler must not be what first touches a thread's variables of a shared library. */
static _Thread_local slot *own_slot __attribute__((tls_model("initial-exec")));

static const struct {
    int number;
    const char *name;
} SIGNALS[] = {{SIGSEGV, "SIGSEGV"},
               {SIGBUS, "SIGBUS"},
               {SIGILL, "SIGILL"},
               {SIGFPE, "SIGFPE"},
               {SIGABRT, "SIGABRT"}};
enum { NUM_SIGNALS = sizeof SIGNALS / sizeof *SIGNALS };

static struct sigaction previous[NUM_SIGNALS];

/* --- The message ------------------------------------------------------------------------------ */

typedef struct message {
    char data[2048];
    size_t length;
} message;

static void append(message *m, const char *text)
{
    while (*text != '\0' && m->length < sizeof m->data)
        m->data[m->length++] = *text++;
}

static void append_number(message *m, int64_t value)
{
    char digits[24];
    size_t first = sizeof digits - 1;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    digits[first] = '\0';
    do
        digits[--first] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    append(m, value < 0 ? "-" : "");
    append(m, digits + first);
}

static void append_type(message *m, fer_dtype dtype, const fer_dl_tensor *tensor)
{
    append(m, fer_dtype_name(dtype));
    append(m, "[");
    for (int32_t axis = 0; axis < tensor->ndim && axis < FER_MAX_RANK; axis++) {
        append(m, axis == 0 ? "" : ", ");
        append_number(m, tensor->shape[axis]);
    }
    append(m, "]");
}

/* `scale: the KERNEL (scale.c:7) crashed with x: f32[2, 3], by: f32[]`. */
static void append_running(message *m, const slot *at, const fer_specialisation *running,
                           bool is_own)
{
    const fer_abi_entry *entry =
        at->is_shape ? fer_library_shape(running->library) : fer_library_kernel(running->library);
    const fer_plan *plan = &running->plan;
    const fer_dl_tensor *const *operands = at->tensors + (at->is_shape ? 0 : plan->num_results);
    append(m, running->op->name);
    append(m, at->is_shape ? ": the SHAPE" : ": the kernel");
    if (entry->file != NULL) {
        append(m, " (");
        append(m, entry->file);
        append(m, ":");
        append_number(m, entry->line);
        append(m, ")");
    }
    append(m, is_own ? " crashed with " : " was running when a thread crashed, with ");
    for (size_t i = 0; i < plan->num_operands; i++) {
        append(m, i == 0 ? "" : ", ");
        append(m, fer_signature_folded(running->op->signature)->operands[i].name);
        append(m, ": ");
        append_type(m, (fer_dtype)plan->operands[i].dtype, operands[i]);
    }
    append(m, plan->num_operands == 0 ? "no operands" : "");
}

static void tell(const char *signal_name, const slot *at, bool is_own)
{
    const fer_specialisation *running = atomic_load(&at->running);
    message m = {.length = 0};
    if (running == NULL)
        return;
    append(&m, "ferrule: ");
    append(&m, signal_name);
    append(&m, ": ");
    append_running(&m, at, running, is_own);
    m.length -= m.length == sizeof m.data;
    append(&m, "\n");
    ssize_t written = write(STDERR_FILENO, m.data, m.length);
    (void)written; /* there is nobody to tell */
}

/* --- Signals ---------------------------------------------------------------------------------- */

/* What would have happened without us. */
static void go_on(size_t index, int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = &previous[index];
    if ((before->sa_flags & SA_SIGINFO) != 0) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
    } else {
        sigaction(number, before, NULL);
        if (info->si_code <= 0)
            raise(number); /* it was sent; a fault comes again by itself */
    }
}

static void handle(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    size_t index = 0;
    while (index + 1 < NUM_SIGNALS && SIGNALS[index].number != number)
        index++;
    slot *own = own_slot;
    const fer_specialisation *running = own == NULL ? NULL : atomic_load(&own->running);
    if (running != NULL) {
        tell(SIGNALS[index].name, own, true);
        atomic_store(&own->running, NULL); /* a host's handler may jump out of the kernel */
    } else {
        for (const slot *at = atomic_load(&slots); at != NULL; at = at->next)
            tell(SIGNALS[index].name, at, false);
    }
    errno = saved;
    go_on(index, number, info, context);
    if (running != NULL)
        atomic_store(&own->running, running);
}

/* A stack that is used up leaves no room to say so: the thread that asks gets another one to crash
 * on, unless it has one. */
static void give_stack(void)
{
    enum { STACK_BYTES = 1 << 16 };
    static char memory[STACK_BYTES];
    stack_t stack;
    if (sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0)
        return;
    stack = (stack_t){.ss_sp = memory, .ss_size = sizeof memory};
    (void)sigaltstack(&stack, NULL);
}

static void give_back(void *taken)
{
    atomic_store(&((slot *)taken)->is_taken, false);
}

/* The kernels that other threads were running go on in the parent only. */
static void enter_child(void)
{
    for (slot *at = atomic_load(&slots); at != NULL; at = at->next)
        if (at != own_slot) {
            atomic_store(&at->running, NULL);
            give_back(at);
        }
}

static void install(void)
{
    if (pthread_key_create(&slot_key, give_back) != 0)
        return;
    (void)pthread_atfork(NULL, NULL, enter_child);
    give_stack();
    atomic_store(&is_on, true);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < NUM_SIGNALS; i++)
        if (sigaction(SIGNALS[i].number, NULL, &previous[i]) == 0)
            (void)sigaction(SIGNALS[i].number, &action, NULL);
}

void fer_report_crashes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

/* --- Running ---------------------------------------------------------------------------------- */

bool fer_crashes_are_reported(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

/* NULL where there is no memory: then nothing is told. */
static __attribute__((noinline)) slot *take_slot(void)
{
    slot *taken = atomic_load(&slots);
    bool none = false;
    while (taken != NULL && !atomic_compare_exchange_strong(&taken->is_taken, &none, true)) {
        taken = taken->next;
        none = false;
    }
    if (taken == NULL) {
        taken = calloc(1, sizeof *taken);
        if (taken == NULL)
            return NULL;
        atomic_init(&taken->is_taken, true);
        taken->next = atomic_load(&slots);
        while (!atomic_compare_exchange_weak(&slots, &taken->next, taken))
            ;
    }
    if (pthread_setspecific(slot_key, taken) != 0) {
        give_back(taken);
        return NULL;
    }
    own_slot = taken;
    return taken;
}

static int run_watched(fer_kernel_function function, bool is_shape, fer_context *context,
                       const fer_dl_tensor *const *tensors)
{
    slot *self = own_slot != NULL ? own_slot : take_slot();
    if (self == NULL)
        return function(context, tensors);
    self->tensors = tensors;
    self->is_shape = is_shape;
    atomic_store_explicit(&self->running, fer_context_specialisation(context),
                          memory_order_release);
    int code = function(context, tensors);
    atomic_store_explicit(&self->running, NULL, memory_order_release);
    return code;
}

int fer_run_watched(fer_context *context, const fer_dl_tensor *const *tensors)
{
    return run_watched(fer_context_specialisation(context)->unwatched, false, context, tensors);
}

int fer_shape_watched(fer_context *context, const fer_dl_tensor *const *tensors)
{
    return run_watched(fer_context_specialisation(context)->unwatched_shape, true, context,
                       tensors);
}
