/* Guarded memory: where it lies, what may be touched, what became of it. */
#include "testing.h"

#include "tensor/guard.h"
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static fer_error error = FER_ERROR_INIT;

/* Whether another process may read, or write, that byte. */
static bool may_touch(char *address, bool is_write)
{
    fflush(NULL);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would print it */
        volatile char *place = address;
        if (is_write)
            *place = 1;
        else
            (void)*place;
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGSEGV);
    return WIFEXITED(status);
}

static void test_the_guard_is_where_it_is_asked_for(void **state)
{
    (void)state;
    static const size_t SIZES[] = {1, 12, 4096, 4100};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        fer_guarded behind;
        fer_guarded before;
        ASSERT_OK(&error, fer_guarded_open(SIZES[i], 1, FER_GUARD_BEHIND, 0xa5, &behind, &error));
        ASSERT_OK(&error, fer_guarded_open(SIZES[i], 64, FER_GUARD_BEFORE, 0xa5, &before, &error));
        assert_true(may_touch(behind.data, true));
        assert_true(may_touch(behind.data + SIZES[i] - 1, true));
        assert_false(may_touch(behind.data + SIZES[i], false));
        assert_false(may_touch(behind.data + SIZES[i] + FER_GUARD_BYTES - 1, false));
        assert_true(may_touch(before.data, true));
        assert_false(may_touch(before.data - 1, false));
        assert_false(may_touch(before.data - FER_GUARD_BYTES, true));
        for (size_t j = 0; j < SIZES[i]; j++)
            assert_int_equal((uint8_t)behind.data[j], 0xa5);
        assert_true(fer_guarded_holds(&behind, behind.data + SIZES[i]));
        assert_true(fer_guarded_holds(&before, before.data - 1));
        assert_false(fer_guarded_holds(&before, &behind));
        fer_guarded_close(&behind);
        fer_guarded_close(&before);
        fer_guarded_close(&before);
        assert_false(fer_guarded_holds(&before, NULL));
    }
}

static void test_alignment(void **state)
{
    (void)state;
    fer_guarded made;
    ASSERT_OK(&error, fer_guarded_open(12, 64, FER_GUARD_BEHIND, 0, &made, &error));
    assert_int_equal((uintptr_t)made.data % 64, 0);
    assert_true(made.data + 64 == made.pages + made.page_bytes);
    fer_guarded_close(&made);
    ASSERT_OK(&error, fer_guarded_open(12, 4, FER_GUARD_BEHIND, 0, &made, &error));
    assert_true(made.data + 12 == made.pages + made.page_bytes);
    fer_guarded_close(&made);
}

static void test_nothing_of_empty_memory_may_be_touched(void **state)
{
    (void)state;
    fer_guarded made;
    ASSERT_OK(&error, fer_guarded_open(0, 8, FER_GUARD_BEHIND, 0, &made, &error));
    assert_non_null(made.data);
    assert_false(may_touch(made.data, false));
    assert_true(fer_guarded_holds(&made, made.data));
    assert_false(fer_guarded_is_overrun(&made, &(int64_t){0}));
    fer_guarded_seal(&made);
    fer_guarded_close(&made);
}

static void test_sealed_memory_is_only_read(void **state)
{
    (void)state;
    fer_guarded made;
    ASSERT_OK(&error, fer_guarded_open(8, 8, FER_GUARD_BEHIND, 0, &made, &error));
    fer_guarded_seal(&made);
    assert_true(may_touch(made.data, false));
    assert_false(may_touch(made.data, true));
    fer_guarded_close(&made);
}

static void assert_overrun(const fer_guarded *made, int64_t expected)
{
    int64_t offset = 0;
    assert_true(fer_guarded_is_overrun(made, &offset));
    assert_int_equal(offset, expected);
}

static void test_bytes_beside_it_are_watched(void **state)
{
    (void)state;
    fer_guarded made;
    ASSERT_OK(&error, fer_guarded_open(8, 8, FER_GUARD_BEHIND, 0x5a, &made, &error));
    made.data[0] = 1;
    made.data[7] = 1;
    assert_false(fer_guarded_is_overrun(&made, &(int64_t){0}));
    made.data[-2] = 1;
    assert_overrun(&made, -2);
    fer_guarded_close(&made);
    ASSERT_OK(&error, fer_guarded_open(8, 8, FER_GUARD_BEFORE, 0x5a, &made, &error));
    made.data[8] = 1;
    assert_overrun(&made, 8);
    fer_guarded_close(&made);
}

/* On both sides, as far as the memory is long, and at least a page. */
static void test_zones_are_watched(void **state)
{
    (void)state;
    static const size_t SIZES[] = {0, 1, 12, 5000, 3 << 20};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        const int64_t size = (int64_t)SIZES[i];
        const int64_t far = size < 4096 ? 4096 : size > 1 << 20 ? 1 << 20 : size;
        fer_guarded made;
        ASSERT_OK(&error, fer_guarded_open(SIZES[i], 8, FER_GUARD_ZONES, 0xa5, &made, &error));
        assert_int_equal((uintptr_t)made.data % 64, 0);
        for (int64_t j = 0; j < size; j++)
            assert_int_equal((uint8_t)made.data[j], 0xa5);
        memset(made.data, 1, SIZES[i]);
        assert_false(fer_guarded_is_overrun(&made, &(int64_t){0}));
        made.data[-far] = 1;
        assert_overrun(&made, -far);
        made.data[-1] = 1;
        assert_overrun(&made, -1);
        made.data[size + far - 1] = 1; /* goes before what is in front */
        assert_overrun(&made, size + far - 1);
        made.data[size + 3] = 1;
        assert_overrun(&made, size + 3);
        fer_guarded_close(&made);
        fer_guarded_close(&made);
    }
}

static void test_elements_that_hold_the_filler(void **state)
{
    (void)state;
    fer_guarded made;
    ASSERT_OK(&error, fer_guarded_open(12, 4, FER_GUARD_ZONES, 0xa5, &made, &error));
    assert_true(fer_guarded_has_filler(&made, 4));
    made.data[3] = made.data[4] = made.data[10] = 1;
    assert_false(fer_guarded_has_filler(&made, 4));
    assert_true(fer_guarded_has_filler(&made, 2));
    made.data[4] = (char)0xa5;
    assert_true(fer_guarded_has_filler(&made, 4));
    fer_guarded_close(&made);
    ASSERT_OK(&error, fer_guarded_open(0, 4, FER_GUARD_ZONES, 0xa5, &made, &error));
    assert_false(fer_guarded_has_filler(&made, 4));
    fer_guarded_close(&made);
}

static void test_too_much_is_no_memory(void **state)
{
    (void)state;
    fer_guarded made;
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_guarded_open(SIZE_MAX - 8, 8, FER_GUARD_BEHIND, 0, &made, &error), "memory");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_guarded_open((size_t)1 << 60, 8, FER_GUARD_BEHIND, 0, &made, &error),
                 "memory");
    ASSERT_FAILS(&error, FER_MEMORY_ERROR,
                 fer_guarded_open(SIZE_MAX - 8, 8, FER_GUARD_ZONES, 0, &made, &error), "memory");
    assert_null(made.data);
}

static void test_what_two_runs_made(void **state)
{
    (void)state;
    fer_guarded a;
    fer_guarded b;
    ASSERT_OK(&error, fer_guarded_open(24, 4, FER_GUARD_BEHIND, 0xa5, &a, &error));
    ASSERT_OK(&error, fer_guarded_open(24, 4, FER_GUARD_BEFORE, 0x5a, &b, &error));
    fer_comparison_of_runs found = fer_guarded_compare(&a, &b, 4);
    assert_int_equal(found.num_unwritten, 6);
    assert_int_equal(found.num_different, 0);
    /* Elements 0 and 5 are written alike, 1 in one run only, 2 with other bits, 3 by a byte. What
     * is written may be what was there. */
    memset(a.data, 0x5a, 4);
    memset(b.data + 20, 0xa5, 4);
    memset(a.data + 4, 7, 4);
    memset(a.data + 8, 1, 4);
    memset(b.data + 8, 2, 4);
    a.data[12] = b.data[12] = 3;
    found = fer_guarded_compare(&a, &b, 4);
    assert_int_equal(found.num_unwritten, 1);
    assert_int_equal(found.first_unwritten, 4);
    assert_int_equal(found.num_different, 3);
    assert_int_equal(found.first_different, 1);
    memset(a.data, 9, 24);
    memset(b.data, 9, 24);
    found = fer_guarded_compare(&a, &b, 8);
    assert_int_equal(found.num_unwritten + found.num_different, 0);
    fer_guarded_close(&a);
    fer_guarded_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_guard_is_where_it_is_asked_for),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_nothing_of_empty_memory_may_be_touched),
        cmocka_unit_test(test_sealed_memory_is_only_read),
        cmocka_unit_test(test_bytes_beside_it_are_watched),
        cmocka_unit_test(test_zones_are_watched),
        cmocka_unit_test(test_elements_that_hold_the_filler),
        cmocka_unit_test(test_too_much_is_no_memory),
        cmocka_unit_test(test_what_two_runs_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
