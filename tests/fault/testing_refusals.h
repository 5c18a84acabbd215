/* A use of the API again and again, each time with another allocation refused. */
#ifndef FERRULE_TESTING_REFUSALS_H
#define FERRULE_TESTING_REFUSALS_H

#include "testing.h"
#include "testing_allocations.h"

#include <ferrule/ferrule.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__has_feature)
#if defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK 1
#elif __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK 1
#endif
#endif
#ifdef HAS_LEAK_CHECK
#include <sanitizer/lsan_interface.h>
#endif

/* Uses the API, releases all that it made, and returns what failed first. A result that is wrong
 * fails the test. */
typedef fer_status scenario(fer_error *own);

static void begin(size_t refused, bool are_all)
{
    num_asked = 0;
    first_refused = refused;
    are_all_refused = are_all;
}

static void run_refusing(const char *name, scenario *run, size_t refused, bool are_all)
{
    fer_error own = FER_ERROR_INIT;
    begin(refused, are_all);
    fer_status status = run(&own);
    first_refused = 0;
    bool is_told = status == FER_OK ? own.kind == FER_OK
                                    : status == FER_MEMORY_ERROR && own.kind == FER_MEMORY_ERROR &&
                                          strcmp(own.message, "out of memory") == 0;
    if (!is_told)
        fail_msg("%s, allocation %zu%s: %s, %s: %s", name, refused, are_all ? " and on" : "",
                 fer_status_name(status), fer_status_name(own.kind),
                 own.message == NULL ? "no message" : own.message);
    fer_error_clear(&own);
}

static void assert_nothing_is_left(const char *name, int64_t before)
{
    (void)fer_memory_trim();
    if (num_living != before)
        fail_msg("%s: %lld blocks are left", name, (long long)(num_living - before));
#ifdef HAS_LEAK_CHECK
    if (__lsan_do_recoverable_leak_check() != 0)
        fail_msg("%s: a leak", name);
#endif
}

/* The allocation that fails is each in turn; or so many of them, at random places. */
static void refuse_each(const char *name, scenario *run, size_t num_samples)
{
    for (int i = 0; i < 3; i++) /* what is made once for the process is there then */
        run_refusing(name, run, 0, false);
    size_t count = num_asked;
    (void)fer_memory_trim();
    int64_t before = num_living;
    uint64_t compiles = fer_read_counters().compiles;
    size_t num_refused = num_samples == 0 || num_samples > count ? count : num_samples;
    assert_true(count > 0);
    for (size_t i = 0; i < num_refused; i++) {
        size_t refused = num_refused == count ? i + 1 : 1 + (size_t)rand() % count;
        run_refusing(name, run, refused, false);
        if (i % 4 == 0)
            run_refusing(name, run, refused, true);
    }
    run_refusing(name, run, 0, false);
    assert_nothing_is_left(name, before);
    if (num_samples == 0) /* what the store has is found, or there is no memory */
        assert_int_equal(fer_read_counters().compiles, compiles);
    print_message("%s: %zu of %zu allocations\n", name, num_refused, count);
}

#define REFUSE_EACH(run) refuse_each(#run, run, 0)

#endif
