/* Memory for large tensors: found again, zeroed when asked for, bounded, given back, shared between
 * threads, whole in a forked child. */
#include "tensor/pool.h"
#include "testing.h"

#include <errno.h>
#include <ferrule/tensor.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* A request for more memory than there is must come back as NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Each test begins with nothing idle and a bound that keeps all it releases. */
static int start_empty(void **state)
{
    (void)state;
    fer_memory_set_bound(GIB);
    (void)fer_memory_trim();
    assert_int_equal(fer_memory_read().bytes_idle, 0);
    return 0;
}

static char *allocate(size_t num_bytes)
{
    char *block = fer_pool_allocate(num_bytes, false);
    assert_non_null(block);
    return block;
}

static long count_faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt;
}

/* What the bound is in a process that begins with this setting. This process must not have used the
 * pool yet: it reads the setting once. */
static uint64_t bound_with(const char *setting)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setting == NULL)
            unsetenv("FERRULE_IDLE_BYTES");
        else
            setenv("FERRULE_IDLE_BYTES", setting, 1);
        uint64_t bound = fer_memory_read().bytes_bound;
        _exit(write(ends[1], &bound, sizeof bound) == sizeof bound ? 0 : 1);
    }
    uint64_t bound = 0;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &bound, sizeof bound), sizeof bound);
    close(ends[0]);
    close(ends[1]);
    return bound;
}

/* First in the list of tests, see bound_with. */
static void test_bound_from_environment(void **state)
{
    (void)state;
    uint64_t unset = bound_with(NULL);
    uint64_t eighth = (uint64_t)sysconf(_SC_PHYS_PAGES) / 8 * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(unset, eighth < GIB ? eighth : GIB);
    assert_int_equal(bound_with("0"), 0);
    assert_int_equal(bound_with("123456789"), 123456789);
    assert_true(bound_with("99999999999999999999999") == SIZE_MAX);
    static const char *const NOT_NUMBERS[] = {"", "-1", "64M", "many", " 1", "0x10"};
    for (size_t i = 0; i < sizeof NOT_NUMBERS / sizeof *NOT_NUMBERS; i++)
        assert_int_equal(bound_with(NOT_NUMBERS[i]), unset);
}

static void test_block_is_found_again(void **state)
{
    (void)state;
    static const size_t SIZES[] = {32 * KIB, 100 * KIB, MIB, 2 * MIB, 5 * MIB + 7, 64 * MIB};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        fer_memory_figures before = fer_memory_read();
        char *block = allocate(SIZES[i]);
        memset(block, 0x5a, SIZES[i]);
        fer_memory_figures held = fer_memory_read();
        assert_int_equal(held.num_fresh, before.num_fresh + 1);
        assert_int_equal(held.num_reused, before.num_reused);
        assert_int_equal(held.bytes_idle, before.bytes_idle);
        uint64_t block_bytes = held.bytes_in_use - before.bytes_in_use;

        fer_pool_release(block, SIZES[i]);
        fer_memory_figures idle = fer_memory_read();
        assert_int_equal(idle.bytes_in_use, before.bytes_in_use);
        assert_int_equal(idle.bytes_idle, before.bytes_idle + block_bytes);

        assert_ptr_equal(allocate(SIZES[i]), block);
        fer_memory_figures again = fer_memory_read();
        assert_int_equal(again.num_fresh, held.num_fresh);
        assert_int_equal(again.num_reused, held.num_reused + 1);
        assert_int_equal(again.bytes_in_use, held.bytes_in_use);
        assert_int_equal(again.bytes_idle, before.bytes_idle);
        fer_pool_release(block, SIZES[i]);
    }
}

/* The newest of several, whose bytes are likeliest to be in a processor's cache. */
static void test_newest_is_found_first(void **state)
{
    (void)state;
    char *a = allocate(MIB);
    char *b = allocate(MIB);
    assert_ptr_not_equal(a, b);
    fer_pool_release(a, MIB);
    fer_pool_release(b, MIB);
    assert_ptr_equal(allocate(MIB), b);
    assert_ptr_equal(allocate(MIB), a);
    fer_pool_release(a, MIB);
    fer_pool_release(b, MIB);
}

static void test_sizes(void **state)
{
    (void)state;
    uint64_t last_bytes = 0;
    for (size_t size = FER_POOL_MIN_BYTES; size < 300 * MIB; size += size / 13 + 1) {
        uint64_t before = fer_memory_read().bytes_in_use;
        char *block = allocate(size);
        uint64_t num_bytes = fer_memory_read().bytes_in_use - before;
        assert_true(num_bytes >= size);
        assert_true(num_bytes <= size + size / 16 + 64 * KIB);
        assert_true(num_bytes >= last_bytes);
        last_bytes = num_bytes;
        assert_int_equal((uintptr_t)block % 16, 0);
        if (size >= 3 * MIB)
            assert_int_equal((uintptr_t)block % (2 * MIB), 0);
        block[0] = 1;
        block[size - 1] = 1;
        fer_pool_release(block, size);
        (void)fer_memory_trim();
    }
}

/* A header and elements of a round size cost no larger block than the elements alone. */
static void test_header_stays_in_the_class(void **state)
{
    (void)state;
    for (size_t size = 64 * KIB; size <= 512 * MIB; size *= 2) {
        uint64_t before = fer_memory_read().bytes_in_use;
        char *block = allocate(size + FER_POOL_SLACK_BYTES);
        uint64_t num_bytes = fer_memory_read().bytes_in_use - before;
        assert_true(num_bytes <= size + 64 * KIB);
        fer_pool_release(block, size + FER_POOL_SLACK_BYTES);
    }
}

static void test_zeroed(void **state)
{
    (void)state;
    static const size_t SIZES[] = {32 * KIB + 5, MIB, 2 * MIB + 300, 40 * MIB};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        uint64_t num_reused = fer_memory_read().num_reused;
        for (size_t turn = 0; turn < 2; turn++) {
            char *block = fer_pool_allocate(SIZES[i], true);
            assert_non_null(block);
            assert_int_equal(fer_memory_read().num_reused, num_reused + turn);
            assert_true(block[0] == 0 && memcmp(block, block + 1, SIZES[i] - 1) == 0);
            memset(block, 0xff, SIZES[i]);
            fer_pool_release(block, SIZES[i]);
        }
    }
}

static size_t count_resident_pages(char *block, size_t num_bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t num_pages = num_bytes / page_bytes;
    size_t num_resident = 0;
    unsigned char *pages = malloc(num_pages);
    assert_non_null(pages);
    assert_int_equal(mincore(block, num_bytes, pages), 0);
    for (size_t i = 0; i < num_pages; i++)
        num_resident += pages[i] & 1;
    free(pages);
    return num_resident;
}

static void test_fresh_zeros_touch_no_pages(void **state)
{
    (void)state;
    char *block = fer_pool_allocate(512 * MIB, true);
    assert_non_null(block);
    assert_int_equal(count_resident_pages(block, 512 * MIB), 0);
    assert_int_equal(block[300 * MIB], 0);
    assert_true(count_resident_pages(block, 512 * MIB) > 0);
    fer_pool_release(block, 512 * MIB);
}

/* Whether the mapping of this address is marked for huge pages. */
static bool is_marked_for_huge_pages(const char *address)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    char line[512];
    bool is_here = false;
    bool is_marked = false;
    while (fgets(line, sizeof line, maps) != NULL) {
        uintptr_t start;
        uintptr_t end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
            is_here = start <= (uintptr_t)address && (uintptr_t)address < end;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            is_marked = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return is_marked;
}

/* From its first byte to its last, and nothing of smaller ones. */
static void test_large_blocks_are_marked_for_huge_pages(void **state)
{
    (void)state;
    static const size_t SIZES[] = {2 * MIB + 300, 3 * MIB, 64 * MIB + 300};
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0) {
        print_message("the system has no huge pages\n");
        skip();
    }
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        char *block = allocate(SIZES[i]);
        assert_true(is_marked_for_huge_pages(block));
        assert_true(is_marked_for_huge_pages(block + SIZES[i] - 1));
        fer_pool_release(block, SIZES[i]);
    }
    char *small = allocate(MIB);
    assert_false(is_marked_for_huge_pages(small));
    fer_pool_release(small, MIB);
}

/* --- What stays idle -------------------------------------------------------------------------- */

static void test_oldest_goes_first(void **state)
{
    (void)state;
    static const size_t SIZES[] = {3 * MIB, 4 * MIB, 5 * MIB};
    char *blocks[3];
    for (size_t i = 0; i < 3; i++)
        blocks[i] = allocate(SIZES[i]);
    fer_memory_set_bound(10 * MIB);
    fer_pool_release(blocks[1], SIZES[1]);
    fer_pool_release(blocks[0], SIZES[0]);
    assert_ptr_equal(allocate(SIZES[1]), blocks[1]); /* used again: now 0 is older */
    fer_pool_release(blocks[1], SIZES[1]);
    fer_pool_release(blocks[2], SIZES[2]);

    fer_memory_figures figures = fer_memory_read();
    assert_int_equal(figures.bytes_bound, 10 * MIB);
    assert_true(figures.bytes_idle <= 10 * MIB);
    assert_true(figures.bytes_idle >= SIZES[1] + SIZES[2]);
    assert_ptr_equal(allocate(SIZES[2]), blocks[2]);
    assert_ptr_equal(allocate(SIZES[1]), blocks[1]);
    figures = fer_memory_read();
    assert_int_equal(figures.bytes_idle, 0);
    blocks[0] = allocate(SIZES[0]);
    assert_int_equal(fer_memory_read().num_fresh, figures.num_fresh + 1);
    for (size_t i = 0; i < 3; i++)
        fer_pool_release(blocks[i], SIZES[i]);
}

static void test_larger_than_the_bound(void **state)
{
    (void)state;
    char *small = allocate(MIB);
    char *large = allocate(20 * MIB);
    memset(large, 1, 20 * MIB);
    fer_memory_set_bound(8 * MIB);
    fer_pool_release(small, MIB);
    uint64_t num_bytes = fer_memory_read().bytes_idle;
    fer_pool_release(large, 20 * MIB);
    assert_int_equal(fer_memory_read().bytes_idle, num_bytes); /* and the small one stayed */
    assert_ptr_equal(allocate(MIB), small);
    fer_pool_release(small, MIB);
}

static void test_bound_of_0_keeps_nothing(void **state)
{
    (void)state;
    fer_memory_set_bound(0);
    for (size_t size = 32 * KIB; size <= 32 * MIB; size *= 4) {
        uint64_t num_fresh = fer_memory_read().num_fresh;
        for (size_t i = 0; i < 3; i++)
            fer_pool_release(allocate(size), size);
        assert_int_equal(fer_memory_read().num_fresh, num_fresh + 3);
        assert_int_equal(fer_memory_read().bytes_idle, 0);
    }
}

static void test_lower_bound_trims(void **state)
{
    (void)state;
    char *old = allocate(6 * MIB);
    char *new = allocate(7 * MIB);
    fer_pool_release(old, 6 * MIB);
    fer_pool_release(new, 7 * MIB);
    fer_memory_set_bound(8 * MIB);
    assert_true(fer_memory_read().bytes_idle <= 8 * MIB);
    assert_ptr_equal(allocate(7 * MIB), new);
    fer_pool_release(new, 7 * MIB);
}

static bool is_mapped(const char *address)
{
    unsigned char is_resident;
    int result = mincore((void *)(uintptr_t)address, 1, &is_resident);
    assert_true(result == 0 || errno == ENOMEM);
    return result == 0;
}

static void test_trim_unmaps(void **state)
{
    (void)state;
    char *held = allocate(16 * MIB);
    char *idle = allocate(24 * MIB);
    fer_pool_release(idle, 24 * MIB);
    uint64_t num_bytes = fer_memory_read().bytes_idle;
    assert_true(num_bytes >= 24 * MIB);
    assert_true(is_mapped(idle));
    assert_true(is_mapped(idle + 24 * MIB - 4096));
    assert_int_equal(fer_memory_trim(), num_bytes);
    assert_false(is_mapped(idle));
    assert_false(is_mapped(idle + 24 * MIB - 4096));
    assert_true(is_mapped(held));
    assert_int_equal(fer_memory_read().bytes_idle, 0);
    assert_int_equal(fer_memory_trim(), 0);
    fer_pool_release(held, 16 * MIB);
}

static void test_no_memory(void **state)
{
    (void)state;
    fer_memory_figures before = fer_memory_read();
    static const size_t SIZES[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4, (size_t)1 << 60};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        assert_null(fer_pool_allocate(SIZES[i], false));
        assert_null(fer_pool_allocate(SIZES[i], true));
    }
    fer_memory_figures after = fer_memory_read();
    assert_int_equal(after.bytes_in_use, before.bytes_in_use);
    assert_int_equal(after.num_fresh, before.num_fresh);
}

/* In a child, as the limit on its address space stays with it: there is room for the second block
 * only where the first one was. */
static void test_idle_memory_serves_before_failing(void **state)
{
    (void)state;
    if (!FER_POOL_IS_USED)
        skip(); /* a sanitizer's own mappings leave no room for a limit */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fer_pool_release(allocate(700 * MIB), 700 * MIB);
        long num_pages = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        if (statm == NULL || fscanf(statm, "%ld", &num_pages) != 1)
            _exit(2);
        rlim_t limit = (rlim_t)num_pages * (rlim_t)sysconf(_SC_PAGESIZE) + 100 * MIB;
        if (setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}) != 0)
            _exit(3);
        if (fer_pool_allocate(GIB, false) != NULL) /* never fits, but gives up what is idle */
            _exit(4);
        if (fer_memory_read().bytes_idle != 0)
            _exit(5);
        fer_pool_release(allocate(700 * MIB), 700 * MIB);
        _exit(fer_pool_allocate(400 * MIB, true) != NULL ? 0 : 6);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- Page faults ------------------------------------------------------------------------------ */

/* A working set of several blocks, which malloc would give back to the system at each turn. */
static void use_working_set(void)
{
    static const size_t SIZES[] = {40 * KIB,    MIB,           MIB,           MIB,
                                   3 * MIB / 2, 2 * MIB + 600, 64 * MIB + 300};
    char *blocks[sizeof SIZES / sizeof *SIZES];
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        blocks[i] = allocate(SIZES[i]);
        memset(blocks[i], (int)i, SIZES[i]);
    }
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        fer_pool_release(blocks[i], SIZES[i]);
}

static void test_repeated_sizes_cost_no_faults(void **state)
{
    (void)state;
    use_working_set();
    use_working_set();
    long before = count_faults();
    for (size_t i = 0; i < 20; i++)
        use_working_set();
    /* A single block that was not reused would make 10 in each turn. */
    assert_true(count_faults() - before < 20);
}

/* --- Threads and processes -------------------------------------------------------------------- */

#define NUM_THREADS 8
#define NUM_SHELVES 16
#define NUM_TURNS 3000

/* Where threads leave blocks for each other to release. */
static char *_Atomic shelves[NUM_SHELVES];

static size_t size_of_shelf(size_t index)
{
    return 32 * KIB + index % 5 * 8 * KIB + (index == NUM_SHELVES - 1 ? 2 * MIB : 0);
}

/* Marks the block, looks whether the marks are still there, and swaps it for another's. */
static void *exchange_blocks(void *argument)
{
    unsigned random = (unsigned)(uintptr_t)argument * 2654435761u + 1;
    size_t num_torn = 0;
    for (size_t turn = 0; turn < NUM_TURNS; turn++) {
        random = random * 1664525u + 1013904223u;
        size_t index = random >> 16 & (NUM_SHELVES - 1);
        size_t size = size_of_shelf(index);
        char *block = fer_pool_allocate(size, turn % 7 == 0);
        if (block == NULL)
            return (void *)1;
        uintptr_t mark = (uintptr_t)block ^ random;
        memcpy(block, &mark, sizeof mark);
        memcpy(block + size - sizeof mark, &mark, sizeof mark);
        num_torn += memcmp(block, block + size - sizeof mark, sizeof mark) != 0;
        block = atomic_exchange(&shelves[index], block);
        if (block != NULL) {
            num_torn += memcmp(block, block + size - sizeof mark, sizeof mark) != 0;
            fer_pool_release(block, size);
        }
        if (turn % 500 == 499)
            (void)fer_memory_trim();
        if (turn % 100 == 99)
            fer_memory_set_bound(turn % 200 == 99 ? 200 * KIB : 8 * MIB);
    }
    return (void *)(uintptr_t)num_torn;
}

static void clear_shelves(void)
{
    for (size_t i = 0; i < NUM_SHELVES; i++)
        if (shelves[i] != NULL)
            fer_pool_release(atomic_exchange(&shelves[i], NULL), size_of_shelf(i));
}

static void test_threads_release_each_others_blocks(void **state)
{
    (void)state;
    fer_memory_figures before = fer_memory_read();
    pthread_t threads[NUM_THREADS];
    for (size_t i = 0; i < NUM_THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, exchange_blocks, (void *)(uintptr_t)(i + 1)), 0);
    for (size_t i = 0; i < NUM_THREADS; i++) {
        void *num_torn;
        assert_int_equal(pthread_join(threads[i], &num_torn), 0);
        assert_null(num_torn);
    }
    clear_shelves();
    fer_memory_figures after = fer_memory_read();
    assert_int_equal(after.bytes_in_use, before.bytes_in_use);
    assert_int_equal(after.num_fresh + after.num_reused - before.num_fresh - before.num_reused,
                     NUM_THREADS * NUM_TURNS);
    (void)fer_memory_trim();
}

static atomic_bool has_ended;

static void *keep_busy(void *argument)
{
    while (!has_ended)
        fer_pool_release(fer_pool_allocate(64 * KIB, false), 64 * KIB);
    return argument;
}

static void use_pool_and_exit(const char *inherited)
{
    alarm(60); /* a child that hangs ends by a signal, and the test fails */
    if (inherited[0] != 7)
        _exit(1);
    char *block = fer_pool_allocate(64 * KIB, true);
    if (block == NULL || block[0] != 0)
        _exit(2);
    fer_pool_release(block, 64 * KIB);
    fer_memory_set_bound(MIB);
    _exit(fer_memory_read().bytes_idle <= MIB ? 0 : 3);
}

static void test_fork_while_others_allocate(void **state)
{
    (void)state;
    has_ended = false;
    pthread_t thread;
    char *held = allocate(MIB);
    held[0] = 7;
    assert_int_equal(pthread_create(&thread, NULL, keep_busy, NULL), 0);
    int status = 0;
    for (size_t i = 0; i < 60 && status == 0; i++) {
        pid_t child = fork();
        if (child == 0)
            use_pool_and_exit(held);
        status = child < 0 || waitpid(child, &status, 0) != child ? -1 : status;
    }
    has_ended = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, 0);
    fer_pool_release(held, MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_from_environment),
        cmocka_unit_test_setup(test_block_is_found_again, start_empty),
        cmocka_unit_test_setup(test_newest_is_found_first, start_empty),
        cmocka_unit_test_setup(test_sizes, start_empty),
        cmocka_unit_test_setup(test_header_stays_in_the_class, start_empty),
        cmocka_unit_test_setup(test_zeroed, start_empty),
        cmocka_unit_test_setup(test_fresh_zeros_touch_no_pages, start_empty),
        cmocka_unit_test_setup(test_large_blocks_are_marked_for_huge_pages, start_empty),
        cmocka_unit_test_setup(test_oldest_goes_first, start_empty),
        cmocka_unit_test_setup(test_larger_than_the_bound, start_empty),
        cmocka_unit_test_setup(test_bound_of_0_keeps_nothing, start_empty),
        cmocka_unit_test_setup(test_lower_bound_trims, start_empty),
        cmocka_unit_test_setup(test_trim_unmaps, start_empty),
        cmocka_unit_test_setup(test_no_memory, start_empty),
        cmocka_unit_test_setup(test_idle_memory_serves_before_failing, start_empty),
        cmocka_unit_test_setup(test_repeated_sizes_cost_no_faults, start_empty),
        cmocka_unit_test_setup(test_threads_release_each_others_blocks, start_empty),
        cmocka_unit_test_setup(test_fork_while_others_allocate, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
