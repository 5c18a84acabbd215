#include "op/threads.h"

#include "base/error.h"
#include "op/op.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

atomic_uint fer_run_mode;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_child; /* of a process that had ops: it has none of its parent's threads */

static void allow_threads(uint32_t count)
{
    uint32_t mode = atomic_load(&fer_run_mode);
    while (!atomic_compare_exchange_weak(&fer_run_mode, &mode, (mode & FER_MODE_CHECKS) | count))
        ;
}

static void enter_child(void)
{
    is_child = true;
    allow_threads(1);
}

/* NULL: not set. */
static const char *read_environment(void)
{
    const char *text = getenv("FERRULE_NUM_THREADS");
    return text == NULL || *text == '\0' ? NULL : text;
}

/* The number of threads that the text says, up to `end`; 0 when it says none. */
static uint32_t parse_count(const char *text, const char *end)
{
    if (text == NULL || *text < '0' || *text > '9')
        return 0;
    char *rest;
    unsigned long count = strtoul(text, &rest, 10);
    return (*rest == '\0' || *rest == *end) && count <= FER_MAX_THREADS ? (uint32_t)count : 0;
}

/* The processors that this process may run on. */
static uint32_t count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > FER_MAX_THREADS ? FER_MAX_THREADS : (uint32_t)count;
}

static uint32_t default_count(void)
{
    uint32_t count = parse_count(read_environment(), "");
    if (count == 0)
        count = parse_count(getenv("OMP_NUM_THREADS"), ","); /* one for each level of nesting */
    return count == 0 ? count_processors() : count;
}

/* NULL: not set. */
static const char *read_check(void)
{
    const char *text = getenv("FERRULE_CHECK");
    return text == NULL || *text == '\0' ? NULL : text;
}

static void prepare(void)
{
    const char *check = read_check();
    const bool checks = check != NULL && strcmp(check, "1") == 0;
    atomic_store(&fer_run_mode, default_count() | (checks ? FER_MODE_CHECKS : 0));
    (void)pthread_atfork(NULL, NULL, enter_child);
}

void fer_run_mode_prepare(void)
{
    pthread_once(&once, prepare);
}

fer_status fer_check_environment(fer_error *error)
{
    const char *text = read_check();
    if (text == NULL || strcmp(text, "0") == 0 || strcmp(text, "1") == 0)
        return FER_OK;
    const fer_place place = {.expected = "'0', '1'", .actual = text};
    return fer_fail_at(error, FER_VALUE_ERROR, &place, "FERRULE_CHECK is '%s'; the choices are %s",
                       text, place.expected);
}

bool fer_set_checking(bool is_on)
{
    fer_run_mode_prepare();
    const uint32_t before = is_on ? atomic_fetch_or(&fer_run_mode, FER_MODE_CHECKS)
                                  : atomic_fetch_and(&fer_run_mode, ~FER_MODE_CHECKS);
    return (before & FER_MODE_CHECKS) != 0;
}

fer_status fer_threads_check_environment(fer_error *error)
{
    const char *text = read_environment();
    if (text == NULL || parse_count(text, "") > 0)
        return FER_OK;
    char expected[32];
    snprintf(expected, sizeof expected, "1 to %d", FER_MAX_THREADS);
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.expected = expected, .actual = text},
                       "FERRULE_NUM_THREADS is '%s', but it is a number of threads, %s", text,
                       expected);
}

uint32_t fer_num_threads(void)
{
    fer_run_mode_prepare();
    return fer_run_mode_now() & ~FER_MODE_CHECKS;
}

fer_status fer_set_num_threads(uint32_t num_threads, fer_error *error)
{
    fer_run_mode_prepare();
    if (num_threads > FER_MAX_THREADS)
        return fer_fail(error, FER_VALUE_ERROR,
                        "%u threads are too many: at most %d, or 0 for "
                        "the default",
                        num_threads, FER_MAX_THREADS);
    if (!is_child)
        allow_threads(num_threads == 0 ? default_count() : num_threads);
    return FER_OK;
}

/* --- Kernels that use OpenMP ------------------------------------------------------------------ */

static int limit(const fer_abi_entry *entry, fer_context *context,
                 const fer_dl_tensor *const *tensors)
{
    const fer_openmp *openmp = fer_library_openmp(fer_context_specialisation(context)->library);
    fer_openmp_limits before = fer_openmp_limit(openmp, (int)context->num_threads);
    int code = entry->run(context, tensors);
    fer_openmp_restore(openmp, before);
    return code;
}

int fer_run_limited(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const fer_library *library = fer_context_specialisation(context)->library;
    return limit(fer_library_kernel(library), context, tensors);
}

int fer_measure_limited(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const fer_library *library = fer_context_specialisation(context)->library;
    return limit(fer_library_shape(library), context, tensors);
}
