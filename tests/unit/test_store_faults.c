/* The store among other users, on a full disk, and after it was moved, swapped or tampered with: a
 * right result, and nothing lost. Root may do anything, so that as root everything happens once
 * more as an ordinary user. */
#include "testing_package.h"

#include "package/store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mount.h>

#define INCLUDE "#include <ferrule/kernel.h>\n"

/* --- What the linker puts in place of the C library's (tests/CMakeLists.txt) -------------------
 */

static const char *full_folder; /* whose disk is full; NULL: none */
static size_t num_refused;

ssize_t __real_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size)
{
    char link[64];
    char path[4096];
    if (full_folder != NULL) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t length = readlink(link, path, sizeof path);
        size_t prefix = strlen(full_folder);
        if (length > (ssize_t)prefix && memcmp(path, full_folder, prefix) == 0) {
            num_refused++;
            errno = ENOSPC;
            return -1;
        }
    }
    return __real_write(file, data, size);
}

static unsigned long more_capabilities; /* of another processor */

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type)
{
    return __real_getauxval(type) ^ (type == AT_HWCAP ? more_capabilities : 0);
}

/* --- Processes -------------------------------------------------------------------------------- */

/* The result of `work` in a process of its own, which has nothing loaded. */
static int result_of(int (*work)(void))
{
    int result = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static int value_in(const char *package, const char *signature)
{
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    int value = 0;
    if (fer_declare(&(fer_declaration){.signature = signature, .packages = {at(package)}}, &op,
                    &error) == FER_OK &&
        fer_tensor_zeros(FER_I32, 0, NULL, host, &x, &error) == FER_OK &&
        fer_call(op, &x, 1, &y, 1, &error) == FER_OK)
        value = *(const int32_t *)fer_tensor_const_data(y);
    else
        fprintf(stderr, "%s\n", error.message);
    RELEASE(x, y);
    fer_op_release(op);
    return value;
}

/* 0 when the value is 1, and so many kernels were compiled. */
static int compare(uint64_t compiles)
{
    int value = value_in("p", DECLARATION);
    return value != 1 ? 1 : fer_read_counters().compiles == compiles ? 0 : 2;
}

static int is_found(void)
{
    return compare(0);
}

static int is_compiled(void)
{
    return compare(1);
}

static int is_right(void)
{
    return value_in("p", DECLARATION) == 1 ? 0 : 1;
}

static int is_other_right(void)
{
    return value_in("q", DECLARATION) == 2 ? 0 : 1;
}

#define ASSERT_HOLDS(work) assert_int_equal(result_of(work), 0)

static void write_packages(void)
{
    use_remembering_compiler("");
    write_file("p/value.c", VALUE_KERNEL);
    write_file("q/value.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return x + 2; }\n");
    write_file("tmp/x", "");
    setenv("TMPDIR", at("tmp"), 1);
}

/* --- The files of the store ------------------------------------------------------------------- */

typedef struct names {
    char items[8][64];
    size_t count;
} names;

static names names_in(const char *name)
{
    names found = {.count = 0};
    DIR *entries = opendir(at(name));
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && found.count < 8)
            snprintf(found.items[found.count++], sizeof found.items[0], "%.60s", entry->d_name);
    if (entries != NULL)
        closedir(entries);
    return found;
}

static const char *kept_path(const char *kind, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "cache/%s/%s", kind, name);
    return at(path);
}

static void assert_content(const char *name, const char *expected)
{
    char *data = NULL;
    size_t size;
    ASSERT_OK(&error, fer_file_read(at(name), &data, &size, &error));
    assert_string_equal(data, expected);
    free(data);
}

/* --- Swapped ---------------------------------------------------------------------------------- */

static const char WRAPPED_KERNEL[] =
    INCLUDE "#define WRAPPED(name) MAP(name, i32, IN(i32, x)) { return x + by; }\n"
            "PARAM(int, by, 1);\n"
            "WRAPPED(value)\n";

static int are_swapped_right(void)
{
    use_remembering_compiler("");
    if (value_in("p", "value<by: int = 3>(x: i32[]) -> i32[]") != 3)
        return 1;
    if (value_in("p", "value<by: int = 5>(x: i32[]) -> i32[]") != 5)
        return 2;
    unsetenv("FERRULE_CC");
    return value_in("p", "value<by: int = 5>(x: i32[]) -> i32[]") == 5 ? 0 : 3;
}

/* Each file has the place of another one of its kind, which is whole as well. */
static void test_swapped_files(void **state)
{
    (void)state;
    static const char *const KINDS[] = {"entries", "manifests", "described", "compilers"};
    write_file("p/value.c", WRAPPED_KERNEL);
    ASSERT_HOLDS(are_swapped_right);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "cache/%s", KINDS[i]);
        names found = names_in(kind);
        assert_int_equal(found.count, 2);
        assert_int_equal(rename(kept_path(KINDS[i], found.items[0]), at("kept")), 0);
        assert_int_equal(
            rename(kept_path(KINDS[i], found.items[1]), kept_path(KINDS[i], found.items[0])), 0);
        assert_int_equal(rename(at("kept"), kept_path(KINDS[i], found.items[1])), 0);
        ASSERT_HOLDS(are_swapped_right);
    }
}

/* --- Planted ---------------------------------------------------------------------------------- */

/* Nothing goes through a link inside the cache, be it to a folder or to a file. */
static void test_planted_links(void **state)
{
    (void)state;
    static const char *const KINDS[] = {"entries", "manifests", "compilers", "build"};
    write_packages();
    ASSERT_HOLDS(is_compiled);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        assert_int_equal(mkdir(at("elsewhere"), 0700), 0);
        assert_int_equal(rename(kept_path(KINDS[i], ""), at("kept")), 0);
        char name[64];
        snprintf(name, sizeof name, "cache/%s", KINDS[i]);
        assert_int_equal(symlink(at("elsewhere"), at(name)), 0);
        ASSERT_HOLDS(is_right);
        ASSERT_HOLDS(is_other_right);
        assert_int_equal(rmdir(at("elsewhere")), 0); /* it is empty */
        assert_int_equal(unlink(at(name)), 0);
        assert_int_equal(rename(at("kept"), at(name)), 0);
        ASSERT_HOLDS(is_found);
    }
    static const char *const FILES[] = {"entries", "manifests"};
    write_file("mine", "mine");
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "cache/%s", FILES[i]);
        names found = names_in(name);
        for (size_t j = 0; j < found.count; j++) {
            assert_int_equal(unlink(kept_path(FILES[i], found.items[j])), 0);
            assert_int_equal(symlink(at("mine"), kept_path(FILES[i], found.items[j])), 0);
        }
        ASSERT_HOLDS(is_compiled);
        ASSERT_HOLDS(is_found);
        assert_content("mine", "mine");
    }
}

static void make_link(const char *path)
{
    assert_int_equal(symlink(at("mine"), path), 0);
}

static void make_fifo(const char *path)
{
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

/* What stands in the place of the file of the locks stops nobody. */
static void test_planted_lock(void **state)
{
    (void)state;
    static void (*const PLANTS[])(const char *path) = {make_link, make_fifo, make_folder};
    write_packages();
    write_file("mine", "mine");
    for (size_t i = 0; i < sizeof PLANTS / sizeof *PLANTS; i++) {
        fer_folder_remove(at("cache"));
        make_folder(at("cache"));
        PLANTS[i](at("cache/lock"));
        ASSERT_HOLDS(is_compiled);
        ASSERT_HOLDS(is_found);
        assert_content("mine", "mine");
    }
}

/* --- Of others -------------------------------------------------------------------------------- */

static void test_folders_that_everybody_may_write(void **state)
{
    (void)state;
    static const char *const OPEN[] = {"cache", "cache/entries", "cache/manifests"};
    write_packages();
    ASSERT_HOLDS(is_compiled);
    for (size_t i = 0; i < sizeof OPEN / sizeof *OPEN; i++) {
        assert_int_equal(chmod(at(OPEN[i]), 0777), 0);
        ASSERT_HOLDS(is_compiled);
        assert_int_equal(chmod(at(OPEN[i]), 0700), 0);
        ASSERT_HOLDS(is_found);
    }
    assert_int_equal(chmod(at("cache/compilers"), 0777), 0);
    assert_int_equal(chmod(at("cache/build"), 0777), 0);
    ASSERT_HOLDS(is_found);
    ASSERT_HOLDS(is_other_right);
}

/* Root's are foreign to an ordinary user, and nobody's to root. */
static void test_folders_of_others(void **state)
{
    (void)state;
    write_packages();
    ASSERT_HOLDS(is_compiled);
    if (geteuid() == 0) {
        static const char *const FOREIGN[] = {"cache/manifests", "cache/entries", "cache"};
        for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++) {
            assert_int_equal(chown(at(FOREIGN[i]), NOBODY, NOBODY), 0);
            ASSERT_HOLDS(is_compiled);
            assert_int_equal(chown(at(FOREIGN[i]), 0, 0), 0);
            ASSERT_HOLDS(is_found);
        }
    }
    static const char *const ROOTS[] = {"/", "/usr", "/proc/1", "/dev/null"};
    for (size_t i = 0; geteuid() != 0 && i < sizeof ROOTS / sizeof *ROOTS; i++) {
        setenv("FERRULE_CACHE_DIR", ROOTS[i], 1);
        ASSERT_HOLDS(is_compiled);
    }
}

static void test_homes_that_cannot_be_written(void **state)
{
    (void)state;
    write_packages();
    unsetenv("FERRULE_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    assert_int_equal(mkdir(at("home"), 0500), 0);
    setenv("HOME", at("home"), 1);
    ASSERT_HOLDS(is_compiled);
    assert_int_equal(result_of(is_compiled), geteuid() == 0 ? 2 : 0); /* root may write there */
    assert_int_equal(chmod(at("home"), 0700), 0);
    setenv("HOME", at("no/such/home"), 1); /* is made */
    ASSERT_HOLDS(is_compiled);
    ASSERT_HOLDS(is_found);
    unsetenv("HOME");
    ASSERT_HOLDS(is_compiled);
    ASSERT_HOLDS(is_compiled);
}

/* --- A full disk ------------------------------------------------------------------------------ */

static int is_refused_on_full_disks(void)
{
    full_folder = folder;
    fer_op *op = NULL;
    fer_declaration declaration = {.signature = DECLARATION, .packages = {at("p")}};
    if (fer_declare(&declaration, &op, &error) != FER_IO_ERROR)
        return 1;
    return strncmp(error.message, "value: ", 7) == 0 && strstr(error.message, "No space left") ? 0
                                                                                               : 2;
}

static int is_compiled_on_full_disk(void)
{
    full_folder = at("cache");
    int result = compare(1);
    return result == 0 && num_refused == 0 ? 3 : result;
}

static int is_found_on_full_disk(void)
{
    full_folder = at("cache");
    return compare(0);
}

/* Every write to the cache fails; the compiler, another process, does not notice. */
static void test_writes_that_fail(void **state)
{
    (void)state;
    write_packages();
    ASSERT_HOLDS(is_refused_on_full_disks);
    ASSERT_HOLDS(is_compiled_on_full_disk);
    ASSERT_HOLDS(is_compiled);
    ASSERT_HOLDS(is_found_on_full_disk);
}

static bool write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return is_written;
}

/* A view of the file systems that is this process's; an ordinary user gets it as the root of a
 * space of users of its own. */
static bool own_mounts(void)
{
    char users[64];
    char groups[64];
    snprintf(users, sizeof users, "%d %d 1", (int)geteuid(), (int)geteuid());
    snprintf(groups, sizeof groups, "%d %d 1", (int)getegid(), (int)getegid());
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        return true;
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/gid_map", groups);
}

static void fill_disk(const char *name)
{
    static const char ZEROS[4096];
    int file = open(at(name), O_WRONLY | O_CREAT, 0600);
    while (file >= 0 && write(file, ZEROS, sizeof ZEROS) > 0)
        continue;
    close(file);
}

static const char *disk; /* how the one of the cache is made */

enum { NO_MOUNT = 50 };

static int use_small_disk(void)
{
    if (!own_mounts() || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("cache", at("cache"), "tmpfs", 0, disk) != 0)
        return NO_MOUNT;
    return result_of(is_compiled) == 0 && result_of(is_right) == 0 ? 0 : 1;
}

static int fill_small_disk(void)
{
    int result = use_small_disk();
    if (result != 0)
        return result;
    fill_disk("cache/filling");
    bool is_well =
        result_of(is_found) == 0 && result_of(is_other_right) == 0 && result_of(is_found) == 0;
    return is_well ? 0 : 2;
}

/* The disk ends at every stage: with no file, in the midst of the sources, of the binary. */
static void test_disks_that_are_full(void **state)
{
    (void)state;
    static const char *const DISKS[] = {"mode=0700,size=4k",     "mode=0700,size=60k",
                                        "mode=0700,size=12m",    "mode=0700,nr_inodes=2",
                                        "mode=0700,nr_inodes=5", "mode=0700,nr_inodes=9",
                                        "mode=0700,size=80k",    "mode=0700,size=90k"};
    write_packages();
    make_folder(at("cache"));
    disk = "mode=0700,size=1m";
    int result = result_of(fill_small_disk);
    assert_true(result == 0 || result == NO_MOUNT);
    if (result == NO_MOUNT) {
        print_message("a file system of our own may not be mounted here: a full disk is only one "
                      "where our writes fail\n");
        return;
    }
    for (size_t i = 0; i < sizeof DISKS / sizeof *DISKS; i++) {
        disk = DISKS[i];
        ASSERT_HOLDS(use_small_disk);
    }
}

/* --- Moved, and elsewhere --------------------------------------------------------------------- */

static int is_compiled_elsewhere(void)
{
    more_capabilities = 1ul << 40;
    return compare(1);
}

static int is_found_elsewhere(void)
{
    more_capabilities = 1ul << 40;
    return compare(0);
}

/* Another processor or compiler, or other flags, is a miss; what was there is found again. */
static void test_other_machines(void **state)
{
    (void)state;
    write_packages();
    ASSERT_HOLDS(is_compiled);
    ASSERT_HOLDS(is_compiled_elsewhere);
    ASSERT_HOLDS(is_found_elsewhere);
    ASSERT_HOLDS(is_found);
    static const char *const FLAGS[] = {" -DUNUSED", " -DUNUSED -DMORE"};
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        use_remembering_compiler(FLAGS[i]);
        ASSERT_HOLDS(is_compiled);
        ASSERT_HOLDS(is_found);
    }
    unsetenv("FERRULE_CC");
    ASSERT_HOLDS(is_compiled);
    use_remembering_compiler("");
    ASSERT_HOLDS(is_found);
}

static void run_shell(const char *format, const char *a, const char *b)
{
    char command[2048];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

/* A copy serves as well, with its times or without; one that belongs to somebody else does not. */
static void test_copied_caches(void **state)
{
    (void)state;
    write_packages();
    ASSERT_HOLDS(is_compiled);
    run_shell("cp -R '%s' '%s'", at("cache"), at("copy"));
    run_shell("cp -R '%s' '%s'", at("p"), at("moved"));
    fer_folder_remove(at("cache"));
    setenv("FERRULE_CACHE_DIR", at("copy"), 1);
    ASSERT_HOLDS(is_found);
    fer_folder_remove(at("p"));
    assert_int_equal(rename(at("moved"), at("p")), 0);
    ASSERT_HOLDS(is_found);
    if (geteuid() == 0) {
        run_shell("chown -R %s '%s'", "65534", at("copy"));
        ASSERT_HOLDS(is_compiled);
    }
}

static int run_what_only_root_can(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_folders_of_others),
        TEST(test_disks_that_are_full),
        TEST(test_copied_caches),
    };
    return cmocka_run_group_tests(tests, set_up_remembering, tear_down_remembering);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_swapped_files),     TEST(test_planted_links),
        TEST(test_planted_lock),      TEST(test_folders_that_everybody_may_write),
        TEST(test_folders_of_others), TEST(test_homes_that_cannot_be_written),
        TEST(test_writes_that_fail),  TEST(test_disks_that_are_full),
        TEST(test_other_machines),    TEST(test_copied_caches),
    };
    return cmocka_run_group_tests(tests, set_up_remembering, tear_down_remembering);
}

int main(void)
{
    if (geteuid() != 0)
        return run_all();
    int num_failed = run_what_only_root_can();
    return num_failed + run_as_ordinary_user(run_all);
}
