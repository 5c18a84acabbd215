/* Memory for small tensors: kept by the thread that releases it, bounded, given back at its end.
 * The blocks themselves, so that it is tested with sanitizers too, where tensors do not use them.
 */
#include "tensor/small.h"
#include "testing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *take(void)
{
    void *block = fer_small_allocate();
    assert_non_null(block);
    memset(block, 0x5a, FER_SMALL_BYTES);
    return block;
}

static unsigned num_kept(void)
{
    unsigned count = 0;
    for (const fer_small_block *block = fer_small_kept.first; block != NULL; block = block->next)
        count++;
    return count;
}

static void in_a_thread(void *(*work)(void *), void *context)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- Tests ------------------------------------------------------------------------------------ */

static void *reuse(void *context)
{
    (void)context;
    void *first = take();
    void *second = take();
    assert_ptr_not_equal(first, second);
    assert_int_equal(num_kept(), 0);
    fer_small_release(first);
    fer_small_release(second);
    assert_int_equal(num_kept(), 2);
    assert_ptr_equal(take(), second); /* the newest first: it is in the cache */
    assert_ptr_equal(take(), first);
    assert_int_equal(num_kept(), 0);
    fer_small_release(first);
    fer_small_release(second);
    return NULL;
}

static void test_a_thread_finds_its_blocks_again(void **state)
{
    (void)state;
    in_a_thread(reuse, NULL);
}

static void *release_many(void *context)
{
    (void)context;
    void *blocks[2 * FER_SMALL_MAX_KEPT];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            blocks[i] = take();
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
            fer_small_release(blocks[i]);
            assert_int_equal(num_kept(), i < FER_SMALL_MAX_KEPT ? i + 1 : FER_SMALL_MAX_KEPT);
        }
    }
    return NULL;
}

static void test_what_a_thread_keeps_is_bounded(void **state)
{
    (void)state;
    in_a_thread(release_many, NULL);
}

static void *release_one(void *block)
{
    fer_small_release(block);
    assert_int_equal(num_kept(), 1);
    return NULL;
}

static void test_a_block_may_be_released_by_another_thread(void **state)
{
    (void)state;
    unsigned before = num_kept();
    void *block = take();
    in_a_thread(release_one,
                block); /* which gives it back at its end: LeakSanitizer sees it if not */
    assert_true(num_kept() <= before);
}

/* A key of this test's own, whose destructor may run after the blocks' own. */
static pthread_key_t late_key;

static void *release_late(void *block)
{
    fer_small_release(take());
    assert_int_equal(pthread_setspecific(late_key, block), 0);
    return NULL;
}

static void test_a_release_at_the_very_end_of_a_thread(void **state)
{
    (void)state;
    in_a_thread(reuse, NULL); /* the blocks' key is there, and so the older one */
    assert_int_equal(pthread_key_create(&late_key, fer_small_release_more), 0);
    in_a_thread(release_late, take());
    assert_int_equal(pthread_key_delete(late_key), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_finds_its_blocks_again),
        cmocka_unit_test(test_what_a_thread_keeps_is_bounded),
        cmocka_unit_test(test_a_block_may_be_released_by_another_thread),
        cmocka_unit_test(test_a_release_at_the_very_end_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
