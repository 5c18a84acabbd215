/* The store on disk: where it is, what damage it takes, and who may use it. */
#include "testing_package.h"

#include "package/manifest.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#define INCLUDE "#include <ferrule/kernel.h>\n"

/* Runs `work` in a process of its own, which has nothing loaded. */
static void assert_in_child(int (*work)(void))
{
    int result = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static int try_value(const char *package, fer_error *own)
{
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    int value = -1;
    if (fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at(package)}}, &op,
                    own) == FER_OK &&
        fer_tensor_zeros(FER_I32, 0, NULL, host, &x, own) == FER_OK &&
        fer_call(op, &x, 1, &y, 1, own) == FER_OK)
        value = *(const int32_t *)fer_tensor_const_data(y);
    RELEASE(x, y);
    fer_op_release(op);
    return value;
}

/* Calls `change` on each file of a folder of the cache. */
static size_t for_each_kept(const char *kind, void (*change)(const char *path))
{
    char path[1024];
    snprintf(path, sizeof path, "%s/cache/%s", folder, kind);
    DIR *entries = opendir(path);
    if (entries == NULL)
        return 0;
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/cache/%s/%s", folder, kind, entry->d_name);
        if (change != NULL)
            change(path);
        count++;
    }
    closedir(entries);
    return count;
}

/* --- Damage ----------------------------------------------------------------------------------- */

static void make_empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void make_longer(const char *path)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputs("more", file);
    fclose(file);
}

static void make_rubbish(const char *path)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    for (int i = 0; i < 5000; i++)
        fputc(i * 37 % 256, file);
    fclose(file);
}

static void make_half(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, about.st_size / 2), 0);
}

static void change_byte(const char *path, off_t place)
{
    int file = open(path, O_RDWR);
    char byte = 0;
    assert_int_equal(pread(file, &byte, 1, place), 1);
    byte ^= 4;
    assert_int_equal(pwrite(file, &byte, 1, place), 1);
    close(file);
}

static void change_first(const char *path)
{
    change_byte(path, 0);
}

static void change_middle(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    change_byte(path, about.st_size / 2);
}

static void make_folder(const char *path)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link_to_nowhere(const char *path)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/no/such/file", path), 0);
}

static void make_unreadable(const char *path)
{
    assert_int_equal(chmod(path, 0), 0);
}

static void (*const DAMAGES[])(const char *path) = {
    make_empty,  make_longer,          make_half,      make_rubbish, change_first, change_middle,
    make_folder, make_link_to_nowhere, make_unreadable};

static int declare_77(void)
{
    return try_value("p", NULL) == 77 ? 0 : 1;
}

/* Whatever happens to what is kept, the result is right, and the next process finds it whole. */
static void test_damage_is_repaired(void **state)
{
    (void)state;
    static const char *const KINDS[] = {"entries", "manifests", "described", "compilers"};
    use_remembering_compiler("");
    write_file("p/value.c", INCLUDE "#define ADD(name, n) MAP(name, i32, IN(i32, x)) "
                                    "{ return x + n; }\nADD(value, 77)\n");
    assert_in_child(declare_77);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        for (size_t j = 0; j < sizeof DAMAGES / sizeof *DAMAGES; j++) {
            assert_int_equal(for_each_kept(KINDS[i], NULL), 1);
            for_each_kept(KINDS[i], DAMAGES[j]);
            assert_in_child(declare_77);
            if (DAMAGES[j] == make_folder) /* which a file cannot replace */
                fer_folder_remove(at("cache"));
            assert_in_child(declare_77);
            for_each_kept(KINDS[i], make_unreadable);
            assert_in_child(declare_77);
        }
}

static void change_last_byte(const char *path)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -2, SEEK_END), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -2, SEEK_END), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

/* What is kept of the compiler says which one it is: one byte of it would make it another. */
static void test_a_changed_word_of_the_compiler_is_noticed(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return x + 77; }\n");
    assert_int_equal(declared_value("p"), 77);
    uint64_t cold = fer_read_counters().compiles;
    assert_int_equal(for_each_kept("compilers", change_last_byte), 1);
    assert_int_equal(declared_value("p"), 77);
    assert_int_equal(fer_read_counters().compiles, cold);
    assert_int_equal(for_each_kept("compilers", NULL), 1);
}

/* Cuts and changes a manifest in all sorts of places; a record that does not hold is built again.
 */
static void test_manifests_of_every_kind(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"value.h\"\n#include \"../beside.h\"\n"
                                    "MAP(value, i32, IN(i32, x)) { return x + VALUE + BESIDE; }\n");
    write_file("p/value.h", "#define VALUE 70\n");
    write_file("beside.h", "#define BESIDE 7\n");
    assert_int_equal(declared_value("p"), 77);
    fer_store store;
    ASSERT_OK(&error, fer_store_open(&store, &error));
    char key[64] = "";
    DIR *manifests = opendir(at("cache/manifests"));
    assert_non_null(manifests);
    for (struct dirent *entry; (entry = readdir(manifests)) != NULL;)
        if (entry->d_name[0] != '.')
            snprintf(key, sizeof key, "%.40s", entry->d_name);
    closedir(manifests);
    char *whole = NULL;
    size_t size = 0;
    ASSERT_OK(&error, fer_store_read(&store, "manifests", key, &whole, &size, &error));
    assert_non_null(whole);
    fer_compiler compiler;
    ASSERT_OK(&error, fer_compiler_find(&store, &compiler, &error));
    char *changed = malloc(size + 1);
    assert_non_null(changed);
    unsigned random = 12345;
    size_t num_found = 0;
    for (int i = 0; i < 1500; i++) {
        size_t length = size;
        memcpy(changed, whole, size);
        random = random * 1103515245 + 12345;
        size_t place = (random >> 8) % size;
        size_t gap = place % 7 < size - place ? place % 7 : 0;
        if (i % 3 == 0)
            length = place;
        else if (i % 3 == 1)
            changed[place] = (char)random;
        else
            memmove(changed + place, changed + place + gap, size - place - gap);
        assert_true(fer_store_write(&store, "manifests", key, changed, length));
        fer_package *package = NULL;
        char digest[FER_DIGEST_HEX] = "";
        ASSERT_OK(&error, fer_package_open(at("p"), &package, &error));
        bool is_found;
        ASSERT_OK(&error, fer_manifest_find(&store, key, i % 2 == 0 ? &compiler : NULL, package,
                                            digest, &is_found, &error));
        if (is_found)
            assert_int_equal(strlen(digest), FER_DIGEST_HEX - 1);
        num_found += is_found;
        fer_package_release(package);
    }
    assert_in_range(num_found, 1, 1499);
    assert_true(fer_store_write(&store, "manifests", key, changed, size / 2));
    assert_int_equal(declared_value("p"), 77);
    fer_compiler_clear(&compiler);
    fer_store_close(&store);
    free(whole);
    free(changed);
}

/* The newest of several records counts first, and there is a bound on how many stay. */
static void test_records_of_several_contents(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDE "#include \"value.h\"\n"
                                    "MAP(value, i32, IN(i32, x)) { return x + VALUE; }\n");
    char text[64];
    for (int i = 0; i < 12; i++) {
        snprintf(text, sizeof text, "#define VALUE %d\n", i);
        write_file("p/value.h", text);
        assert_int_equal(declared_value("p"), i);
    }
    uint64_t compiles = fer_read_counters().compiles;
    for (int i = 11; i >= 5; i--) {
        snprintf(text, sizeof text, "#define VALUE %d\n", i);
        write_file("p/value.h", text);
        assert_int_equal(declared_value("p"), i);
    }
    assert_int_equal(fer_read_counters().compiles, compiles);
    write_file("p/value.h", "#define VALUE 0\n");
    assert_int_equal(declared_value("p"), 0);
    assert_int_equal(fer_read_counters().compiles, compiles + 1);
}

static void test_nothing_is_left_of_a_build(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    write_file("q/value.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return missing; }\n");
    assert_int_equal(declared_value("p"), 1);
    ASSERT_PACKAGE_REFUSED(FER_COMPILE_ERROR, DECLARATION, "q", "missing");
    assert_int_equal(for_each_kept("build", NULL), 0);
    assert_int_equal(for_each_kept("entries", NULL), 1);
    assert_int_equal(for_each_kept("manifests", NULL), 1);
}

/* --- Where it is ------------------------------------------------------------------------------ */

static void assert_cache_path(const char *expected)
{
    char *path = NULL;
    ASSERT_OK(&error, fer_cache_path(&path, &error));
    assert_string_equal(path, expected);
    fer_string_free(path);
}

static void assert_private_cache(void)
{
    char *path = NULL;
    ASSERT_OK(&error, fer_cache_path(&path, &error));
    struct stat about;
    assert_int_equal(strncmp(path, at("tmp/ferrule."), strlen(at("tmp/ferrule."))), 0);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    fer_string_free(path);
}

/* In a child: the environment and the private folder are the process's. */
static int find_places(void)
{
    write_file("tmp/x", "");
    setenv("TMPDIR", at("tmp"), 1);
    setenv("HOME", at("home"), 1);
    setenv("XDG_CACHE_HOME", at("xdg"), 1);
    setenv("FERRULE_CACHE_DIR", at("given/deeper/.."), 1);
    assert_cache_path(at("given"));
    assert_int_equal(chdir(folder), 0);
    setenv("FERRULE_CACHE_DIR", "relative", 1);
    assert_cache_path(at("relative"));
    setenv("FERRULE_CACHE_DIR", "", 1);
    assert_cache_path(at("xdg/ferrule"));
    unsetenv("FERRULE_CACHE_DIR");
    assert_cache_path(at("xdg/ferrule"));
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    assert_cache_path(at("home/.cache/ferrule"));
    unsetenv("XDG_CACHE_HOME");
    assert_cache_path(at("home/.cache/ferrule"));
    unsetenv("HOME");
    assert_private_cache();
    setenv("HOME", "", 1);
    assert_private_cache();
    setenv("HOME", "/dev/null", 1);
    assert_private_cache();
    assert_int_equal(mkdir(at("open"), 0700), 0);
    assert_int_equal(chmod(at("open"), 0777), 0);
    setenv("FERRULE_CACHE_DIR", at("open"), 1);
    assert_private_cache();
    assert_int_equal(symlink("given", at("link")), 0);
    setenv("FERRULE_CACHE_DIR", at("link"), 1);
    assert_cache_path(at("link"));
    write_file("p/value.c", VALUE_KERNEL);
    unsetenv("FERRULE_CACHE_DIR");
    unsetenv("HOME");
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles + 1);
    return 0;
}

static void test_where_the_store_is(void **state)
{
    (void)state;
    assert_in_child(find_places);
}

/* --- Who may use it --------------------------------------------------------------------------- */

/* The rest of this process is somebody without rights, as it is already without root. */
static bool become_nobody(void)
{
    return geteuid() != 0 || (chown(folder, NOBODY, NOBODY) == 0 && give_up_rights());
}

static int read_what_may_not_be_read(void)
{
    if (!become_nobody())
        return 1;
    fer_error own = FER_ERROR_INIT;
    if (try_value("file", &own) != -1 || own.kind != FER_IO_ERROR ||
        strstr(own.message, at("file/value.c")) == NULL ||
        strstr(own.message, "Permission denied") == NULL)
        return 2;
    if (try_value("folder", &own) != -1 || own.kind != FER_IO_ERROR ||
        strstr(own.message, at("folder")) == NULL ||
        strstr(own.message, "Permission denied") == NULL)
        return 3;
    /* A header that only some kernels include is the compiler's to judge. */
    if (try_value("header", &own) != -1 || own.kind != FER_COMPILE_ERROR ||
        strstr(own.message, "Permission denied") == NULL)
        return 4;
    fer_error_clear(&own);
    return 0;
}

static void test_files_that_may_not_be_read(void **state)
{
    (void)state;
    write_file("file/value.c", VALUE_KERNEL);
    write_file("folder/value.c", VALUE_KERNEL);
    write_file("header/value.c", "#include \"sub/value.h\"\n");
    char text[512];
    snprintf(text, sizeof text, "#include \"sub/value.h\"\n%s", VALUE_KERNEL);
    write_file("header/value.c", text);
    write_file("header/sub/value.h", "\n");
    static const char *const OPEN[] = {"file", "header", "header/sub"};
    for (size_t i = 0; i < sizeof OPEN / sizeof *OPEN; i++)
        assert_int_equal(chmod(at(OPEN[i]), 0755), 0);
    assert_int_equal(chmod(at("file/value.c"), 0), 0);
    assert_int_equal(chmod(at("folder"), 0), 0);
    assert_int_equal(chmod(at("header/sub/value.h"), 0), 0);
    assert_in_child(read_what_may_not_be_read);
    assert_int_equal(chmod(at("folder"), 0700), 0);
}

/* Of somebody else: not used. Own, and not writable: what it has serves, and the rest is built. */
static int use_caches_of_all_kinds(void)
{
    bool is_roots = geteuid() == 0;
    if (!become_nobody())
        return 1;
    setenv("TMPDIR", at("tmp"), 1);
    uint64_t compiles = fer_read_counters().compiles + (is_roots ? 1 : 0);
    if (try_value("p", NULL) != 1 || fer_read_counters().compiles != compiles)
        return 2; /* root's, so with a private one */
    if (try_value("p", NULL) != 1 || fer_read_counters().compiles != compiles)
        return 3;
    setenv("FERRULE_CACHE_DIR", at("own"), 1);
    if (try_value("p", NULL) != 1 || fer_read_counters().compiles != compiles + 1)
        return 4;
    static const char *const PARTS[] = {"own/entries", "own/manifests", "own/compilers",
                                        "own/build", "own"};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (chmod(at(PARTS[i]), 0500) != 0)
            return 5;
    if (try_value("p", NULL) != 1 || fer_read_counters().compiles != compiles + 1)
        return 6;
    if (try_value("q", NULL) != 2 || fer_read_counters().compiles != compiles + 2)
        return 7;
    if (try_value("q", NULL) != 2) /* not kept, so built again */
        return 8;
    for (size_t i = sizeof PARTS / sizeof *PARTS; i > 0; i--)
        if (chmod(at(PARTS[i - 1]), 0700) != 0)
            return 9;
    return 0;
}

static void test_caches_that_may_not_be_written(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    write_file("q/value.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return x + 2; }\n");
    assert_int_equal(chmod(at("p"), 0755), 0);
    assert_int_equal(chmod(at("q"), 0755), 0);
    write_file("tmp/x", "");
    if (geteuid() == 0)
        assert_int_equal(chown(at("tmp"), NOBODY, NOBODY), 0);
    assert_int_equal(declared_value("p"), 1); /* makes root's cache, or this user's */
    assert_in_child(use_caches_of_all_kinds);
    struct stat about;
    assert_int_equal(stat(at("cache"), &about), 0);
    assert_int_equal(about.st_uid, geteuid());
}

/* --- Several at once -------------------------------------------------------------------------- */

static void test_processes_that_ask_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    write_file("p/value.c", INCLUDE "MAP(value, i32, IN(i32, x)) { return x + 77; }\n");
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(declare_77());
    }
    for (int i = 0; i < PROCESSES; i++) {
        int result = -1;
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 77);
    assert_int_equal(fer_read_counters().compiles, compiles);
    assert_int_equal(for_each_kept("build", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_damage_is_repaired),         TEST(test_a_changed_word_of_the_compiler_is_noticed),
        TEST(test_manifests_of_every_kind),    TEST(test_records_of_several_contents),
        TEST(test_nothing_is_left_of_a_build), TEST(test_where_the_store_is),
        TEST(test_files_that_may_not_be_read), TEST(test_caches_that_may_not_be_written),
        TEST(test_processes_that_ask_at_once),
    };
    return cmocka_run_group_tests(tests, set_up_remembering, tear_down_remembering);
}
