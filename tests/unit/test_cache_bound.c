/* What the store keeps: its bound, what goes first, what never goes, and what is damaged. */
#include "testing_package.h"

#include "package/lock.h"
#include "package/prune.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define KEY_A "0123456789abcdef0123456789abcdef"
#define KEY_B "1123456789abcdef0123456789abcdef"
#define KEY_C "2123456789abcdef0123456789abcdef"

static fer_store open_store(void)
{
    fer_store store;
    ASSERT_OK(&error, fer_store_open(&store, &error));
    return store;
}

static const char *kept_path(const char *kind, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "cache/%s/%s", kind, name);
    return at(path);
}

static bool is_kept(const char *kind, const char *name)
{
    return access(kept_path(kind, name), F_OK) == 0;
}

static time_t used(const char *path)
{
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    return about.st_mtim.tv_sec;
}

static void set_age(const char *path, long hours)
{
    struct timespec then = {.tv_sec = time(NULL) - hours * 3600};
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){then, then}, 0), 0);
}

/* 100 bytes, last used that long ago. */
static void put(const fer_store *store, const char *kind, const char *name, long hours)
{
    char data[100] = {0};
    assert_true(fer_store_write_plain(store, kind, name, data, sizeof data));
    set_age(kept_path(kind, name), hours);
}

static fer_pruning pruned(const fer_store *store, uint64_t bound)
{
    fer_pruning pruning;
    ASSERT_OK(&error, fer_store_prune(store, bound, &pruning, &error));
    return pruning;
}

/* --- The bound -------------------------------------------------------------------------------- */

static void test_the_bound_is_read_from_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } GOOD[] = {{"0", 0},
                {"1", 1},
                {"3K", 3072},
                {"512M", 536870912},
                {"2G", 2147483648},
                {"18446744073709551615", UINT64_MAX},
                {"", FER_STORE_DEFAULT_BYTES}};
    static const char *const BAD[] = {"-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "M",
                                      "1k",
                                      "1MB",
                                      "0x10",
                                      "1.5",
                                      "18446744073709551616",
                                      "e",
                                      "1KK",
                                      "18014398509481985K",
                                      "17179869184G"};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        setenv("FERRULE_CACHE_BYTES", GOOD[i].text, 1);
        assert_true(fer_store_bound() == GOOD[i].bytes);
        ASSERT_OK(&error, fer_store_check_environment(&error));
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        setenv("FERRULE_CACHE_BYTES", BAD[i], 1);
        assert_true(fer_store_bound() == FER_STORE_DEFAULT_BYTES);
        ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_store_check_environment(&error),
                     "FERRULE_CACHE_BYTES", BAD[i]);
    }
    unsetenv("FERRULE_CACHE_BYTES");
    assert_true(fer_store_bound() == FER_STORE_DEFAULT_BYTES);
}

static void test_the_least_recently_used_goes_first(void **state)
{
    (void)state;
    fer_store store = open_store();
    put(&store, "entries", KEY_A ".so", 3);
    put(&store, "manifests", KEY_B, 9);
    put(&store, "described", KEY_C "-12", 5);
    fer_pruning pruning = pruned(&store, 300);
    assert_int_equal(pruning.num_removed, 0);
    assert_int_equal(pruning.num_kept, 3);
    pruning = pruned(&store, 299);
    assert_int_equal(pruning.num_removed, 1);
    assert_int_equal(pruning.bytes_removed, 100);
    assert_int_equal(pruning.bytes_kept, 200);
    assert_false(is_kept("manifests", KEY_B));
    pruned(&store, 100);
    assert_false(is_kept("described", KEY_C "-12"));
    assert_true(is_kept("entries", KEY_A ".so"));
    assert_int_equal(pruned(&store, 0).num_kept, 0);
    fer_store_close(&store);
}

static void test_use_is_noted_to_the_hour(void **state)
{
    (void)state;
    fer_store store = open_store();
    static const long AGES[] = {-2, 0, 2};
    for (size_t i = 0; i < 3; i++) {
        char *data;
        size_t size;
        const char *path = kept_path("manifests", KEY_A);
        assert_true(fer_store_write(&store, "manifests", KEY_A, (char[100]){0}, 100));
        set_age(path, AGES[i]);
        time_t before = used(path);
        ASSERT_OK(&error, fer_store_read(&store, "manifests", KEY_A, &data, &size, &error));
        assert_int_equal(size, 100);
        free(data);
        time_t now = time(NULL);
        if (AGES[i] == 0)
            assert_int_equal(used(path), before);
        else
            assert_in_range(used(path), now - 2, now + 1);
    }
    fer_store_close(&store);
}

static void test_what_is_not_the_stores_stays(void **state)
{
    (void)state;
    fer_store store = open_store();
    static const char *const FOREIGN[] = {"notes.txt",
                                          "lock",
                                          "entries/readme",
                                          "entries/" KEY_A, /* a binary ends in .so */
                                          "entries/" KEY_A ".o",
                                          "entries/" KEY_A ".so.bak",
                                          "manifests/" KEY_A "0",
                                          "manifests/0123456789ABCDEF0123456789ABCDEF",
                                          "described/" KEY_A,
                                          "described/" KEY_A "-",
                                          "described/" KEY_A "-1x",
                                          "others/" KEY_A ".so",
                                          "build/notes"};
    for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++) {
        char name[256];
        snprintf(name, sizeof name, "cache/%s", FOREIGN[i]);
        write_file(name, "mine");
        set_age(at(name), 1000);
    }
    write_file("elsewhere", "mine");
    write_file("folder/" KEY_B, "mine");
    assert_int_equal(symlink(at("elsewhere"), at("cache/manifests/" KEY_C)), 0);
    assert_int_equal(symlink(at("folder"), at("cache/compilers")), 0);
    assert_int_equal(mkdir(at("cache/entries/" KEY_B ".so"), 0700), 0);
    fer_pruning pruning = pruned(&store, 0);
    assert_int_equal(pruning.num_removed, 0);
    assert_int_equal(pruning.num_kept, 0);
    for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++) {
        char name[256];
        snprintf(name, sizeof name, "cache/%s", FOREIGN[i]);
        assert_int_equal(access(at(name), F_OK), 0);
    }
    assert_int_equal(access(at("elsewhere"), F_OK), 0);
    assert_int_equal(access(at("folder/" KEY_B), F_OK), 0);
    struct stat about;
    assert_int_equal(lstat(at("cache/manifests/" KEY_C), &about), 0);
    fer_store_close(&store);
}

static void test_leftovers_go_after_a_day(void **state)
{
    (void)state;
    fer_store store = open_store();
    put(&store, "entries", KEY_A ".so.x0Yz9Q", 23);
    put(&store, "entries", KEY_B ".so.x0Yz9Q", 25);
    put(&store, "manifests", KEY_C ".abcdef", 25);
    write_file("cache/build/ferrule.abcdef/tree/kernel.c", "");
    write_file("cache/build/ferrule.ghijkl/tree/kernel.c", "");
    set_age(at("cache/build/ferrule.abcdef"), 25);
    fer_pruning pruning = pruned(&store, UINT64_MAX);
    assert_int_equal(pruning.num_removed, 2);
    assert_true(is_kept("entries", KEY_A ".so.x0Yz9Q"));
    assert_false(is_kept("entries", KEY_B ".so.x0Yz9Q"));
    assert_false(is_kept("manifests", KEY_C ".abcdef"));
    assert_false(is_kept("build", "ferrule.abcdef"));
    assert_true(is_kept("build", "ferrule.ghijkl/tree/kernel.c"));
    fer_store_close(&store);
}

/* --- Use -------------------------------------------------------------------------------------- */

static void test_what_is_held_stays(void **state)
{
    (void)state;
    fer_store store = open_store();
    put(&store, "entries", KEY_A ".so", 90);
    put(&store, "entries", KEY_B ".so", 1);
    fer_store_hold(&store, KEY_A);
    fer_store_hold(&store, KEY_A);
    fer_pruning pruning = pruned(&store, 0);
    assert_int_equal(pruning.num_removed, 1);
    assert_true(is_kept("entries", KEY_A ".so"));
    fer_stored_list list;
    ASSERT_OK(&error, fer_stored_read(&store, &list, &error));
    assert_int_equal(list.count, 1);
    assert_true(list.items[0].is_held);
    fer_stored_clear(&list);
    fer_store_close(&store);
}

/* What another process holds stays until it ends, be it by a signal. */
static void test_holding_ends_with_the_process(void **state)
{
    (void)state;
    fer_store store = open_store();
    put(&store, "entries", KEY_A ".so", 90);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        fer_store_hold(&store, KEY_A);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    pruned(&store, 0);
    assert_true(is_kept("entries", KEY_A ".so"));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    pruned(&store, 0);
    assert_false(is_kept("entries", KEY_A ".so"));
    close(ready[0]);
    close(ready[1]);
    fer_store_close(&store);
}

static size_t num_binaries(const fer_store *store, bool *out_all_held)
{
    fer_stored_list list;
    size_t count = 0;
    *out_all_held = true;
    ASSERT_OK(&error, fer_stored_read(store, &list, &error));
    for (size_t i = 0; i < list.count; i++)
        if (fer_stored_is_binary(&list.items[i])) {
            count++;
            *out_all_held = *out_all_held && list.items[i].is_held;
        }
    fer_stored_clear(&list);
    return count;
}

/* A compile prunes; with a bound of nothing, what this process uses is all that stays. */
static void test_a_compile_prunes_and_loaded_kernels_stay(void **state)
{
    (void)state;
    fer_store store = open_store();
    bool are_held;
    put(&store, "entries", KEY_A ".so", 2);
    setenv("FERRULE_CACHE_BYTES", "0", 1);
    write_file("first/value.c", VALUE_KERNEL);
    fer_op *op = declared(DECLARATION, "first");
    assert_false(is_kept("entries", KEY_A ".so"));
    assert_int_equal(num_binaries(&store, &are_held), 1);
    assert_true(are_held);
    write_file("second/value.c",
               "#include <ferrule/kernel.h>\n"
               "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x)) { AT(y) = AT(x) + 7; return OK; }\n");
    assert_int_equal(declared_value("second"), 7);
    assert_int_equal(num_binaries(&store, &are_held), 2);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("first"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles);
    assert_int_equal(access(fer_op_binary(op, 0), F_OK), 0);
    assert_int_equal(value_of(op), 1);
    fer_op_release(op);
    unsetenv("FERRULE_CACHE_BYTES");
    fer_store_close(&store);
}

/* --- Damage ----------------------------------------------------------------------------------- */

static size_t num_damaged(const fer_store *store)
{
    fer_stored_list list;
    size_t count = 0;
    ASSERT_OK(&error, fer_stored_read(store, &list, &error));
    for (size_t i = 0; i < list.count; i++)
        count += !fer_stored_is_whole(store, &list.items[i]);
    fer_stored_clear(&list);
    return count;
}

static const char WRAPPED_KERNEL[] =
    "#include <ferrule/kernel.h>\n"
    "#define WRAPPED(name) KERNEL(name, OUT(i32, 0, y), IN(i32, 0, x)) { AT(y) = AT(x); return OK; "
    "}\n"
    "WRAPPED(value)\n";

/* One byte changed, whichever it is, or some of them gone, in a file of each kind. */
static void assert_damage_noticed(const fer_store *store, const fer_stored *file)
{
    char name[256];
    char *data = NULL;
    size_t size;
    snprintf(name, sizeof name, "cache/%s/%s", file->kind, file->name);
    ASSERT_OK(&error, fer_file_read(at(name), &data, &size, &error));
    assert_true(size > 40);
    for (size_t i = 0; i < size; i += 1 + size / 199) {
        data[i] ^= 0x40;
        write_bytes(name, data, size);
        assert_false(fer_stored_is_whole(store, file));
        data[i] ^= 0x40;
        write_bytes(name, data, i);
        assert_false(fer_stored_is_whole(store, file));
    }
    write_bytes(name, data, size);
    assert_true(fer_stored_is_whole(store, file));
    free(data);
}

static void test_damage_is_noticed(void **state)
{
    (void)state;
    fer_store store = open_store();
    write_file("p/value.c", WRAPPED_KERNEL);
    assert_int_equal(declared_value("p"), 0);
    fer_stored_list list;
    ASSERT_OK(&error, fer_stored_read(&store, &list, &error));
    assert_int_equal(num_damaged(&store), 0);
    assert_int_equal(list.count, 4); /* one of each kind */
    for (size_t i = 0; i < list.count; i++) {
        assert_damage_noticed(&store, &list.items[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(list.items[i].kind, list.items[j].kind);
    }
    assert_int_equal(num_damaged(&store), 0);
    fer_stored_clear(&list);
    fer_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_bound_is_read_from_the_environment),
        TEST(test_the_least_recently_used_goes_first),
        TEST(test_use_is_noted_to_the_hour),
        TEST(test_what_is_not_the_stores_stays),
        TEST(test_leftovers_go_after_a_day),
        TEST(test_what_is_held_stays),
        TEST(test_holding_ends_with_the_process),
        TEST(test_a_compile_prunes_and_loaded_kernels_stay),
        TEST(test_damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
