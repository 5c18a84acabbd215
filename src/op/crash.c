/* What is said of a crash inside a kernel before the process dies of it. Everything from `handle`
 * down to the formatting is safe in a signal handler. */
#include "op/op.h"
#include "tensor/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct told_operand {
    const char *name; /* the op's */
    fer_dtype dtype;
    int32_t rank;
    int64_t extents[FER_MAX_RANK];
} told_operand;

/* What a thread runs. A crash on a thread that a kernel has started itself finds nothing of its
 * own, so the handler must find everybody's: slots stay for ever and are used again.
 * A kernel that crashes has often written where it should not: what is told was copied before, to
 * memory between pages that cannot be touched. */
typedef struct slot {
    struct slot *next;
    atomic_bool is_taken;
    atomic_bool is_running;
    bool is_shape;
    const char *op;
    const char *file; /* NULL: not known */
    int64_t line;
    size_t num_operands;
    told_operand operands[FER_MAX_OPERANDS];
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

/* Names may be written over, too: of rubbish not much is shown, and nothing that a terminal obeys.
 */
static void append(message *m, const char *text)
{
    enum { MAX_TEXT = 256 };
    for (size_t i = 0; text[i] != '\0' && i < MAX_TEXT && m->length < sizeof m->data; i++)
        m->data[m->length++] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
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

static void append_operand(message *m, const told_operand *operand)
{
    append(m, operand->name);
    append(m, ": ");
    append(m, fer_dtype_name(operand->dtype));
    append(m, "[");
    for (int32_t axis = 0; axis < operand->rank; axis++) {
        append(m, axis == 0 ? "" : ", ");
        append_number(m, operand->extents[axis]);
    }
    append(m, "]");
}

/* `scale: the KERNEL (scale.c:7) crashed with x: f32[2, 3], by: f32[]`. */
static void append_running(message *m, const slot *at, bool is_own)
{
    append(m, at->op);
    append(m, at->is_shape ? ": the SHAPE" : ": the kernel");
    if (at->file != NULL) {
        append(m, " (");
        append(m, at->file);
        append(m, ":");
        append_number(m, at->line);
        append(m, ")");
    }
    append(m, is_own ? " crashed with " : " was running when a thread crashed, with ");
    for (size_t i = 0; i < at->num_operands; i++) {
        append(m, i == 0 ? "" : ", ");
        append_operand(m, &at->operands[i]);
    }
    append(m, at->num_operands == 0 ? "no operands" : "");
}

static void tell(const char *signal_name, const slot *at, bool is_own)
{
    message m = {.length = 0};
    if (!atomic_load(&at->is_running))
        return;
    append(&m, "ferrule: ");
    append(&m, signal_name);
    append(&m, ": ");
    append_running(&m, at, is_own);
    m.length -= m.length == sizeof m.data;
    m.data[m.length++] = '\n';
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
    bool is_running = own != NULL && atomic_load(&own->is_running);
    if (is_running) {
        tell(SIGNALS[index].name, own, true);
        atomic_store(&own->is_running, false); /* a host's handler may jump out of the kernel */
    } else {
        for (const slot *at = atomic_load(&slots); at != NULL; at = at->next)
            tell(SIGNALS[index].name, at, false);
    }
    errno = saved;
    go_on(index, number, info, context);
    if (is_running)
        atomic_store(&own->is_running, true);
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
            atomic_store(&at->is_running, false);
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

static slot *make_slot(void)
{
    fer_guarded memory;
    if (fer_guarded_open(sizeof(slot), _Alignof(slot), FER_GUARD_BEHIND, 0, &memory, NULL) !=
        FER_OK)
        return NULL;
    slot *made = (slot *)memory.data;
    atomic_init(&made->is_taken, true);
    return made;
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
        taken = make_slot();
        if (taken == NULL)
            return NULL;
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

static void note(slot *self, const fer_specialisation *running, bool is_shape,
                 const fer_dl_tensor *const *operands)
{
    const fer_abi_entry *entry =
        is_shape ? fer_library_shape(running->library) : fer_library_kernel(running->library);
    const fer_operand *declared = fer_signature_folded(running->op->signature)->operands;
    self->is_shape = is_shape;
    self->op = running->op->name;
    self->file = entry->file;
    self->line = entry->line;
    self->num_operands = running->plan.num_operands;
    for (size_t i = 0; i < self->num_operands; i++) {
        told_operand *told = &self->operands[i];
        told->name = declared[i].name;
        told->dtype = (fer_dtype)running->plan.operands[i].dtype;
        told->rank = operands[i]->ndim;
        for (int32_t axis = 0; axis < told->rank; axis++)
            told->extents[axis] = operands[i]->shape[axis];
    }
}

static int run_watched(fer_kernel_function function, bool is_shape, fer_context *context,
                       const fer_dl_tensor *const *tensors)
{
    slot *self = own_slot != NULL ? own_slot : take_slot();
    if (self == NULL)
        return function(context, tensors);
    const fer_specialisation *running = fer_context_specialisation(context);
    note(self, running, is_shape, tensors + (is_shape ? 0 : running->plan.num_results));
    atomic_store_explicit(&self->is_running, true, memory_order_release);
    int code = function(context, tensors);
    atomic_store_explicit(&self->is_running, false, memory_order_release);
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
