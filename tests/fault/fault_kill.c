/* Processes that are killed while they declare, and many that declare at once.
 *
 *   fault_kill [KILLS [SEED]]
 *
 * A cold declaration is ended by SIGKILL at a random instant of its time, as a rule with the
 * compiler that it runs. The next process has the right result, waits for nobody, and what is left
 * behind is collected. As root, half of the kills and all the rest happen as an ordinary user. */
#include "testing_package.h"

#include "base/process.h"
#include "package/lock.h"
#include "package/prune.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

static size_t num_kills = 100;
static uint64_t random_state = 88172645463325252;

static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % bound;
}

/* What is compiled says which it was. A little optimisation only: there are many. */
static void write_kernel(int value)
{
    char text[256];
    snprintf(text, sizeof text,
             "#include <ferrule/kernel.h>\n"
             "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x)) { AT(y) = AT(x) + %d; return OK; }\n",
             value);
    write_file("p/value.c", text);
}

static void use_compiler(const char *script)
{
    write_program("compiler", script);
    setenv("FERRULE_CC", at("compiler"), 1);
}

static bool has_waited;

static void note_wait(void *context, const char *what, bool is_done)
{
    (void)context;
    (void)is_done;
    has_waited |= strstr(what, "another process") != NULL;
}

/* The value that the package's kernel gives, without a word of cmocka: for processes of their own.
 */
static int try_value(void)
{
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    int value = -1;
    if (fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}}, &op,
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

/* --- Kills ------------------------------------------------------------------------------------ */

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* In a group of its own, with the compiler that it runs. */
static pid_t start_declaring(int expected)
{
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        _exit(try_value() == expected ? 0 : 1);
    }
    assert_true(child > 0);
    setpgid(child, child);
    return child;
}

/* False: it was killed. */
static bool has_ended(pid_t child)
{
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    if (WIFSIGNALED(result))
        return false;
    assert_int_equal(result, 0);
    return true;
}

/* When nothing of its group is left. */
static void collect_group(pid_t group)
{
    while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
        continue;
    assert_int_equal(errno, ECHILD);
}

/* A compiler that is left may be in the moment before it is one, and have the turn for that long.
 */
static void assert_next_process(int expected, bool may_wait)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        fer_set_compile_observer(note_wait, NULL);
        _exit(try_value() != expected ? 1 : has_waited && !may_wait ? 2 : 0);
    }
    assert_true(has_ended(child));
}

static size_t count_files(const char *kind, bool make_old)
{
    char name[256];
    snprintf(name, sizeof name, "cache/%s", kind);
    DIR *entries = opendir(at(name));
    size_t count = 0;
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        struct timespec then = {.tv_sec = time(NULL) - 25 * 60 * 60};
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (make_old)
            utimensat(dirfd(entries), entry->d_name, (struct timespec[2]){then, then}, 0);
    }
    if (entries != NULL)
        closedir(entries);
    return count;
}

static void assert_all_is_whole(const fer_store *store)
{
    fer_stored_list list;
    ASSERT_OK(&error, fer_stored_read(store, &list, &error));
    for (size_t i = 0; i < list.count; i++)
        assert_true(fer_stored_is_whole(store, &list.items[i]));
    fer_stored_clear(&list);
}

/* A day later nothing is left but what is whole. */
static void assert_leftovers_go(void)
{
    static const char *const KINDS[] = {"entries", "manifests", "compilers", "build"};
    fer_store store;
    fer_pruning pruning;
    size_t num_builds = count_files("build", false);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        count_files(KINDS[i], true);
    ASSERT_OK(&error, fer_store_open(&store, &error));
    ASSERT_OK(&error, fer_store_prune(&store, UINT64_MAX, &pruning, &error));
    size_t num_files = 0;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        num_files += count_files(KINDS[i], false);
    assert_int_equal(count_files("build", false), 0);
    assert_int_equal(num_files, pruning.num_kept);
    assert_all_is_whole(&store);
    print_message("left behind and collected: %zu builds, %zu files\n", num_builds,
                  pruning.num_removed);
    fer_store_close(&store);
}

static void test_kills_at_random_instants(void **state)
{
    (void)state;
    size_t num_killed = 0;
    size_t num_kept = 0;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1),
                     0); /* compilers of dead processes are ours */
    use_compiler("#!/bin/sh\nexec cc \"$@\" -O0\n");
    write_kernel(-1);
    assert_true(has_ended(start_declaring(-1)));
    int64_t whole = 0; /* how long a declaration takes, as busy as the machine is */
    for (size_t i = 0; i < num_kills; i++) {
        write_kernel((int)i);
        size_t before = count_files("manifests", false);
        int64_t delay = (int64_t)random_below((uint64_t)(whole + whole / 4) + 1);
        pid_t child = start_declaring((int)i);
        nanosleep(&(struct timespec){delay / 1000000000, delay % 1000000000}, NULL);
        bool is_compiler_left = i % 4 == 3;
        kill(is_compiler_left ? child : -child, SIGKILL);
        num_killed += !has_ended(child);
        if (!is_compiler_left)
            collect_group(child);
        bool is_kept = count_files("manifests", false) > before;
        num_kept += is_kept;
        int64_t start = nanoseconds();
        assert_next_process((int)i, is_compiler_left);
        if (!is_kept)
            whole = whole == 0 ? nanoseconds() - start : (3 * whole + nanoseconds() - start) / 4;
    }
    print_message("%zu of %zu were killed before their end; %zu had kept the kernel\n", num_killed,
                  num_kills, num_kept);
    assert_true(num_killed > num_kills / 4);
    assert_leftovers_go();
    assert_next_process((int)num_kills - 1, false);
}

/* --- Many at once ----------------------------------------------------------------------------- */

static size_t count_lines(const char *name, const char *word)
{
    char *text = NULL;
    size_t size;
    size_t count = 0;
    ASSERT_OK(&error, fer_file_read(at(name), &text, &size, &error));
    for (const char *p = text; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *found = strstr(p, word);
        count += found != NULL && found < p + strcspn(p, "\n");
    }
    free(text);
    return count;
}

/* Sixteen start together. The one that compiles goes on when all others wait. */
static void declare_at_once(const char *kernel)
{
    enum { PROCESSES = 16 };
    char script[1024];
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "[ \"$1\" != --version ] || exec cc --version\n"
             "echo \"$*\" >> '%s'\n"
             "n=0\n"
             "until [ \"$(grep -c 'waits for' '%s')\" = %d ] || [ $n = 2000 ]; do\n"
             "    sleep 0.02; n=$((n + 1))\n"
             "done\n"
             "exec cc \"$@\"\n",
             at("commands"), at("log"), PROCESSES - 1);
    use_compiler(script);
    write_file("p/value.c", kernel);
    write_file("commands", "");
    write_file("log", "");
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        setenv("FERRULE_LOG", "compile", 1);
        dup2(open(at("log"), O_WRONLY | O_APPEND), STDERR_FILENO);
        close(gate[1]);
        char byte;
        (void)!read(gate[0], &byte, 1);
        _exit(try_value() == 7 ? 0 : 1);
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++)
        assert_true(has_ended(children[i]));
    assert_int_equal(count_lines("commands", "-shared"), 1);
    assert_int_equal(count_lines("log", "compiled in"), 1);
    assert_int_equal(count_lines("log", "value: waits for another process that compiles it"),
                     PROCESSES - 1);
    assert_int_equal(count_lines("log", "value: waited "), PROCESSES - 1);
    assert_int_equal(count_files("build", false), 0);
    unsetenv("FERRULE_CC");
}

static void test_sixteen_at_once_compile_once(void **state)
{
    (void)state;
    declare_at_once("#include <ferrule/kernel.h>\n"
                    "MAP(value, i32, IN(i32, x)) { return x + 7; }\n");
}

/* --- Turns ------------------------------------------------------------------------------------ */

#define KEY "0123456789abcdef0123456789abcdef"
#define OTHER_KEY "1123456789abcdef0123456789abcdef"

/* A process that has the turn, with a child of its own that does not, until it is killed. */
static pid_t start_owner(const fer_store *store)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t owner = fork();
    if (owner == 0) {
        fer_turn turn;
        setpgid(0, 0);
        if (!fer_turn_take(store, KEY, &turn))
            _exit(1);
        if (fork() != 0)
            (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return owner;
}

static bool says_yes(void *context)
{
    (void)context;
    return true;
}

static void test_turns_end_with_their_process(void **state)
{
    (void)state;
    fer_store store;
    fer_turn turn;
    fer_turn other;
    ASSERT_OK(&error, fer_store_open(&store, &error));
    pid_t owner = start_owner(&store);
    assert_false(fer_turn_take(&store, KEY, &turn));
    assert_true(fer_turn_take(&store, OTHER_KEY, &other));
    fer_turn_end(&other);
    assert_int_equal(kill(owner, SIGSTOP), 0);
    bool has_turn;
    ASSERT_OK(&error, fer_turn_wait(&store, KEY, 0.03, &turn, &has_turn, &error));
    assert_false(has_turn); /* and no longer */
    fer_process_set_interrupt(says_yes, NULL);
    ASSERT_FAILS(&error, FER_COMPILE_ERROR,
                 fer_turn_wait(&store, KEY, 600, &turn, &has_turn, &error),
                 "interrupted while another process compiles the same");
    fer_process_set_interrupt(NULL, NULL);
    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_false(has_ended(owner));
    assert_true(fer_turn_take(&store, KEY, &turn)); /* its child lives */
    assert_false(fer_turn_take(&store, KEY, &other));
    fer_turn_end(&turn);
    assert_true(fer_turn_take(&store, KEY, &other));
    fer_turn_end(&other);
    fer_turn_end(&other);
    kill(-owner, SIGKILL);
    fer_store_close(&store);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sixteen_at_once_compile_once),
        TEST(test_turns_end_with_their_process),
        TEST(test_kills_at_random_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_kills(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kills_at_random_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        num_kills = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        random_state = strtoull(argv[2], NULL, 10);
    if (geteuid() != 0)
        return run_all();
    num_kills -= num_kills / 2;
    int num_failed = run_kills();
    return num_failed + run_as_ordinary_user(run_all);
}
