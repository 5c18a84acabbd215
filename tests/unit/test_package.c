/* Kernel packages: what is found in them, when they compile again, what an op keeps of them. */
#include "testing_package.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>

static const char INCLUDING_KERNEL[] = "#include <ferrule/kernel.h>\n"
                                       "#include \"value.h\"\n"
                                       "DTYPE_VAR(T, i32);\n"
                                       "KERNEL(value, OUT(T, 0, y), IN(T, 0, x))\n"
                                       "{\n"
                                       "    AT(y) = AT(x) + VALUE;\n"
                                       "    return OK;\n"
                                       "}\n";
static const char GENERIC[] = "value<T>(x: T[]) -> T[]";

/* Overwrites in place and puts the old times back: only the content tells. */
static void edit_in_place(const char *name, const char *text)
{
    struct stat about;
    assert_int_equal(stat(at(name), &about), 0);
    assert_int_equal(about.st_size, strlen(text));
    FILE *file = fopen(at(name), "r+");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    struct timespec times[2] = {about.st_atim, about.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, at(name), times, 0), 0);
}

/* --- What is compiled when -------------------------------------------------------------------- */

static void test_an_unchanged_package_runs_no_compiler(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    fer_counters before = fer_read_counters();
    assert_int_equal(declared_value("p"), 1);
    fer_counters cold = fer_read_counters();
    assert_int_equal(cold.compiles, before.compiles + 1);
    assert_int_equal(cold.cache_misses, before.cache_misses + 1);
    setenv("FERRULE_CC", "/no/such/compiler", 1);
    assert_int_equal(declared_value("p"), 1);
    unsetenv("FERRULE_CC");
    assert_int_equal(declared_value("p"), 1);
    fer_counters warm = fer_read_counters();
    assert_int_equal(warm.compiles, cold.compiles);
    assert_int_equal(warm.cache_hits, cold.cache_hits + 2);
}

static void test_an_edit_that_keeps_size_and_time_is_seen(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    fer_op *op = declared(DECLARATION, "p");
    char edited[sizeof VALUE_KERNEL];
    memcpy(edited, VALUE_KERNEL, sizeof edited);
    *(strstr(edited, "+ 1") + 2) = '7';
    edit_in_place("p/value.c", edited);
    assert_int_equal(declared_value("p"), 7);
    assert_int_equal(value_of(op), 1); /* declared before: never touched */
    edit_in_place("p/value.c", VALUE_KERNEL);
    assert_int_equal(declared_value("p"), 1);
    fer_op_release(op);
}

static void test_an_edit_of_a_header_is_seen(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDING_KERNEL);
    write_file("p/value.h", "#define VALUE 3\n");
    fer_op *op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 3);
    edit_in_place("p/value.h", "#define VALUE 4\n");
    assert_int_equal(declared_value("p"), 4);
    assert_int_equal(value_of(op), 3);
    /* A later specialisation of the op from before comes from its snapshot. */
    assert_float_equal(call_with(op, FER_F64, 0), 3, 0);
    fer_op_release(op);
}

static void test_a_header_outside_the_package_is_seen(void **state)
{
    (void)state;
    write_file("p/value.c", "#include \"../shared/deep/value.h\"\n");
    char text[1024];
    snprintf(text, sizeof text, "%s%s", "#include \"../shared/deep/value.h\"\n",
             strstr(INCLUDING_KERNEL, "DTYPE_VAR"));
    char kernel[1200];
    snprintf(kernel, sizeof kernel, "#include <ferrule/kernel.h>\n%s", text);
    write_file("p/value.c", kernel);
    write_file("shared/deep/value.h", "#include \"more.h\"\n");
    write_file("shared/deep/more.h", "#define VALUE 5\n");
    fer_op *op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 5);
    assert_int_equal(declared_value("p"), 5);
    edit_in_place("shared/deep/more.h", "#define VALUE 6\n");
    assert_int_equal(declared_value("p"), 6);
    assert_float_equal(call_with(op, FER_F64, 0), 5, 0);
    fer_folder_remove(at("shared"));
    assert_float_equal(call_with(op, FER_F64, 1), 6, 0);
    fer_op_release(op);
}

static void test_a_new_header_that_shadows_another_is_seen(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDING_KERNEL);
    write_file("p/value.h", "#include \"sub/inner.h\"\n");
    write_file("p/sub/inner.h", "#include \"stdlib_like.h\"\n");
    write_file("p/sub/stdlib_like.h", "#include \"limits.h\"\n"
                                      "#ifndef VALUE\n"
                                      "#define VALUE 8\n"
                                      "#endif\n");
    fer_op *op = declared(GENERIC, "p");
    assert_int_equal(value_of(op), 8);
    write_file("p/sub/limits.h", "#define VALUE 9\n"); /* before the system's limits.h */
    assert_int_equal(declared_value("p"), 9);
    assert_int_equal(value_of(op), 8);
    assert_float_equal(call_with(op, FER_F64, 0), 8, 0);
    fer_op_release(op);
}

static void test_a_moved_package_still_hits(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDING_KERNEL);
    write_file("p/value.h", "#define VALUE 3\n");
    assert_int_equal(declared_value("p"), 3);
    uint64_t compiles = fer_read_counters().compiles;
    write_file("elsewhere/unrelated.txt", "");
    assert_int_equal(rename(at("p"), at("elsewhere/q")), 0);
    assert_int_equal(declared_value("elsewhere/q"), 3);
    assert_int_equal(fer_read_counters().compiles, compiles);
}

static void test_a_new_kernel_beside_it_compiles_nothing_again(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    assert_int_equal(declared_value("p"), 1);
    uint64_t compiles = fer_read_counters().compiles;
    write_file("p/other.c", "#include <ferrule/kernel.h>\n"
                            "MAP(other, f32, IN(f32, x)) { return x; }\n");
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles);
}

static void test_files_without_a_kernel_are_linked_in(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "int helper(int x);\n"
                            "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                            "{\n"
                            "    AT(y) = helper(AT(x));\n"
                            "    return OK;\n"
                            "}\n");
    write_file("p/helper.c", "int helper(int x);\nint helper(int x) { return x + 11; }\n");
    assert_int_equal(declared_value("p"), 11);
    write_file("p/helper.c", "int helper(int x);\nint helper(int x) { return x + 12; }\n");
    assert_int_equal(declared_value("p"), 12);
}

/* --- Snapshots -------------------------------------------------------------------------------- */

static void test_an_op_outlives_its_folder(void **state)
{
    (void)state;
    write_file("p/value.c", INCLUDING_KERNEL);
    write_file("p/value.h", "#define VALUE 3\n");
    fer_op *op = declared(GENERIC, "p");
    fer_folder_remove(at("p"));
    assert_int_equal(value_of(op), 3);
    assert_float_equal(call_with(op, FER_F64, 2), 5, 0);
    fer_op_release(op);
}

static void test_paths_of_every_kind_work(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"with space",    "quote'\"", "dollar$HOME", "semi;colon",
                                        "new\nline",     "-dash",    "caf\xc3\xa9", "back\\slash",
                                        "hash#percent%", "a:b"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s/%s.c", NAMES[i], NAMES[i]);
        write_file(name, INCLUDING_KERNEL);
        snprintf(name, sizeof name, "%s/value.h", NAMES[i]);
        char text[64];
        snprintf(text, sizeof text, "#define VALUE %zu\n", 20 + i);
        write_file(name, text);
        assert_int_equal(declared_value(NAMES[i]), 20 + (int)i);
        uint64_t compiles = fer_read_counters().compiles;
        assert_int_equal(declared_value(NAMES[i]), 20 + (int)i);
        assert_int_equal(fer_read_counters().compiles, compiles);
    }
}

static void test_a_cache_at_an_odd_path_works(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    setenv("FERRULE_CACHE_DIR", at("ca che\n$x'"), 1);
    assert_int_equal(declared_value("p"), 1);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(fer_read_counters().compiles, compiles);
}

/* --- The store -------------------------------------------------------------------------------- */

/* Calls `change` on each file in the cache's folder of binaries. */
static size_t change_entries(void (*change)(const char *path))
{
    DIR *entries = opendir(at("cache/entries"));
    assert_non_null(entries);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/cache/entries/%s", folder, entry->d_name);
        change(path);
        count++;
    }
    closedir(entries);
    return count;
}

static void truncate_half(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, about.st_size / 2), 0);
}

static void test_a_damaged_store_is_built_again(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "MAP(value, i32, IN(i32, x)) { return x + 77; }\n");
    /* Another process's store: nothing of it is loaded here. */
    pid_t child = fork();
    if (child == 0)
        _exit(declared_value("p") == 77 ? 0 : 1);
    int result = -1;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    assert_int_equal(change_entries(truncate_half), 1);
    uint64_t compiles = fer_read_counters().compiles;
    assert_int_equal(declared_value("p"), 77);
    assert_int_equal(fer_read_counters().compiles, compiles + 1);
}

static void test_the_store_is_private(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    assert_int_equal(declared_value("p"), 1);
    struct stat about;
    assert_int_equal(stat(at("cache"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    char *path = NULL;
    ASSERT_OK(&error, fer_cache_path(&path, &error));
    assert_string_equal(path, at("cache"));
    fer_string_free(path);
}

static void test_without_a_usable_store_there_is_still_a_result(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    write_file("file", "no folder");
    setenv("FERRULE_CACHE_DIR", at("file/cache"), 1);
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(mkdir(at("open"), 0777), 0);
    assert_int_equal(chmod(at("open"), 0777), 0);
    setenv("FERRULE_CACHE_DIR", at("open"), 1);
    assert_int_equal(declared_value("p"), 1);
    assert_int_equal(rmdir(at("open")), 0); /* nothing was put where everybody can write */
}

static void test_no_compiler_says_what_to_do(void **state)
{
    (void)state;
    write_file("p/value.c", VALUE_KERNEL);
    setenv("FERRULE_CC", "/no/such/compiler", 1);
    fer_op *op = NULL;
    ASSERT_FAILS(&error, FER_COMPILE_ERROR,
                 fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}},
                             &op, &error),
                 "value", "/no/such/compiler", "FERRULE_CC");
}

/* --- What is found ---------------------------------------------------------------------------- */

static fer_package *opened(const char *name)
{
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open(at(name), &package, &error));
    return package;
}

static void test_the_scan_reads_c(void **state)
{
    (void)state;
    write_file("p/a.c",
               "#include <ferrule/kernel.h>\n"
               "/* KERNEL(commented, OUT(f32, 0, y)) */\n"
               "// MAP(commented2, f32, IN(f32, x))\n"
               "static const char *text = \"KERNEL(quoted, \";\n"
               "#if 0\n"
               "KERNEL(disabled, OUT(f32, 0, y), IN(f32, 0, x)) { return OK; }\n"
               "#endif\n"
               "SIGNATURE(twice, \"(x: f32[n])\"\n"
               "                 \" -> f32[2 * n]\");\n"
               "KERNEL (twice , OUT(f32, 1, y), IN(f32, 1, x)) { (void)text; return OK; }\n"
               "MAP(a_map, f32, IN(f32, x)) { return x; }\n");
    fer_package *package = opened("p");
    assert_int_equal(fer_package_num_kernels(package), 2);
    fer_kernel_info map = fer_package_kernel(package, 0);
    fer_kernel_info twice = fer_package_kernel(package, 1);
    assert_string_equal(map.name, "a_map");
    assert_null(map.signature);
    assert_int_equal(map.line, 11);
    assert_string_equal(twice.name, "twice");
    assert_string_equal(twice.signature, "twice(x: f32[n]) -> f32[2 * n]");
    assert_string_equal(twice.file, "a.c");
    assert_int_equal(twice.line, 10);
    fer_package_release(package);
}

static void test_kernels_made_by_macros_are_found(void **state)
{
    (void)state;
    write_file("p/a.c", "#include <ferrule/kernel.h>\n"
                        "#define ADD(name, value) \\\n"
                        "    SIGNATURE(name, \"(x: i32[]) -> i32[]\"); \\\n"
                        "    MAP(name, i32, IN(i32, x)) { return x + value; }\n"
                        "ADD(value, 2)\n"
                        "#ifdef NEVER\n"
                        "MAP(never, i32, IN(i32, x)) { return x; }\n"
                        "#else\n"
                        "MAP(always, i32, IN(i32, x)) { return x; }\n"
                        "#endif\n");
    fer_package *package = opened("p");
    assert_int_equal(fer_package_num_kernels(package), 2);
    assert_string_equal(fer_package_kernel(package, 0).name, "always");
    assert_int_equal(fer_package_kernel(package, 0).line, 9);
    assert_string_equal(fer_package_kernel(package, 1).signature, "value(x: i32[]) -> i32[]");
    fer_package_release(package);
    assert_int_equal(declared_value("p"), 2);
}

static void test_a_kernel_defined_twice_is_refused(void **state)
{
    (void)state;
    write_file("p/a.c", VALUE_KERNEL);
    write_file("p/b.c", VALUE_KERNEL);
    fer_package *package = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_package_open(at("p"), &package, &error), "value",
                 "a.c:2", "b.c:2");
    assert_null(package);
    /* Where only one of them is compiled there is one. */
    write_file("p/b.c", "#include <ferrule/kernel.h>\n"
                        "#ifdef NEVER\n"
                        "MAP(value, i32, IN(i32, x)) { return x; }\n"
                        "#endif\n");
    assert_int_equal(declared_value("p"), 1);
}

static void test_a_parameter_that_is_not_declared_is_refused(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "PARAM(int, step, 3);\n"
                            "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                            "{\n"
                            "    AT(y) = AT(x) + (i32)step;\n"
                            "    return OK;\n"
                            "}\n");
    fer_op *op = NULL;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}},
                             &op, &error),
                 "value", "'step'");
    op = declared("value<step: int = 30>(x: i32[]) -> i32[]", "p");
    assert_int_equal(value_of(op), 30);
    fer_op_release(op);
}

static void test_a_compile_error_has_everything(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                            "{\n"
                            "    AT(y) = AT(x) + missing;\n"
                            "    return OK;\n"
                            "}\n");
    fer_op *op = NULL;
    ASSERT_FAILS(&error, FER_COMPILE_ERROR,
                 fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {at("p")}},
                             &op, &error),
                 at("p/value.c:4"), "missing", "the command was: ", "-ffp-contract=off");
}

static void test_parameters_arrive_exactly(void **state)
{
    (void)state;
    write_file("p/value.c",
               "#include <ferrule/kernel.h>\n"
               "#include <math.h>\n"
               "#include <string.h>\n"
               "PARAM(int, lowest, 0);\n"
               "PARAM(float, tenth, 0);\n"
               "PARAM(float, smallest, 0);\n"
               "PARAM(float, largest, 0);\n"
               "PARAM(float, endless, 0);\n"
               "PARAM(float, none, 0);\n"
               "PARAM(float, negative_zero, 0);\n"
               "PARAM(bool, yes, false);\n"
               "PARAM(str, text, \"\");\n"
               "DTYPE_VAR(chosen, f32);\n"
               "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
               "{\n"
               "    CHECK(lowest == INT64_MIN, \"lowest\");\n"
               "    CHECK(tenth == 0.1, \"tenth\");\n"
               "    CHECK(smallest == 0x1p-1074 && smallest > 0, \"smallest\");\n"
               "    CHECK(largest == -0x1.fffffffffffffp1023, \"largest\");\n"
               "    CHECK(isinf(endless) && endless < 0, \"endless\");\n"
               "    CHECK(isnan(none), \"none\");\n"
               "    CHECK(negative_zero == 0 && signbit(negative_zero), \"negative_zero\");\n"
               "    CHECK(yes, \"yes\");\n"
               "    CHECK(strcmp(text, \"a\\\"b\\\\?\\?/\\n$%s\\xff\") == 0, \"text\");\n"
               "    CHECK(sizeof(chosen) == 8 && (chosen)0.5 == 0.5, \"chosen\");\n"
               "    AT(y) = AT(x) + 1;\n"
               "    return OK;\n"
               "}\n");
    fer_op *op = declared("value<lowest: int = -9223372036854775808, tenth: float = 0.1, "
                          "smallest: float = 0x1p-1074, largest: float = -0x1.fffffffffffffp1023, "
                          "endless: float = -inf, none: float = nan, negative_zero: float = -0.0, "
                          "yes: bool = true, text: str = \"a\\\"b\\\\?"
                          "?/\\n$%s\xff\", "
                          "chosen: dtype = f64>(x: i32[]) -> i32[]",
                          "p");
    assert_int_equal(value_of(op), 1);
    fer_op_release(op);
}

static void test_every_byte_of_a_string_arrives(void **state)
{
    (void)state;
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "PARAM(str, text, \"\");\n"
                            "KERNEL(value, OUT(i32, 0, y), IN(i32, 0, x))\n"
                            "{\n"
                            "    for (int i = 0; i < 256; i++)\n"
                            "        CHECK((u8)text[i] == i, \"byte %d\", i);\n"
                            "    CHECK(text[256] == 0, \"the end\");\n"
                            "    AT(y) = AT(x) + 1;\n"
                            "    return OK;\n"
                            "}\n");
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    const fer_param text = {.name = "text",
                            .kind = FER_PARAM_STR,
                            .has_value = true,
                            .value.as_str = {.data = bytes, .num_bytes = sizeof bytes}};
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = "value<text: str>(x: i32[]) -> "
                                                                  "i32[]",
                                                     .packages = {at("p")},
                                                     .params = &text,
                                                     .num_params = 1},
                                  &op, &error));
    assert_int_equal(value_of(op), 1);
    fer_op_release(op);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static void *declare_once(void *path)
{
    fer_error own = FER_ERROR_INIT;
    fer_op *op = NULL;
    bool is_declared = fer_declare(&(fer_declaration){.signature = DECLARATION, .packages = {path}},
                                   &op, &own) == FER_OK;
    fer_op_release(op);
    fer_error_clear(&own);
    return is_declared ? NULL : path;
}

static void test_threads_that_ask_at_once_compile_once(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    write_file("p/value.c", VALUE_KERNEL);
    uint64_t compiles = fer_read_counters().compiles;
    pthread_t threads[THREADS];
    char path[512];
    snprintf(path, sizeof path, "%s", at("p"));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, declare_once, path), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(fer_read_counters().compiles, compiles + 1);
}

/* How many libraries of the cache are loaded. */
static int count_loaded(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(int *)count += strstr(info->dlpi_name, "/entries/") != NULL;
    return 0;
}

static int num_loaded(void)
{
    int count = 0;
    dl_iterate_phdr(count_loaded, &count);
    return count;
}

/* A compiler that is quick: what it built once, with other bytes behind it. */
static void use_copying_compiler(void)
{
    char text[1024];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "case \" $* \" in *' --version '*) exec cc --version ;; esac\n"
             "cd ../..\n"
             "if [ ! -e '%s' ]; then (cd tree/p && cc \"$@\") && cp kernel.so '%s'; fi\n"
             "cp '%s' kernel.so && echo \"$*\" >> kernel.so && : > read0.d\n",
             at("built"), at("built"), at("built"));
    write_program("copying-cc", text);
    setenv("FERRULE_CC", at("copying-cc"), 1);
}

/* What nobody holds stays loaded up to 128, the least recently used goes first; what an op holds
 * stays in any case. */
static void test_idle_libraries_are_bounded(void **state)
{
    (void)state;
    enum { MAX_IDLE = 128, MORE = 20 };
    write_file("p/value.c", "#include <ferrule/kernel.h>\n"
                            "MAP(value, i32, IN(i32, x)) { return x + 1; }\n");
    use_copying_compiler();
    fer_op *held = declared("value<step: int = -1>(x: i32[]) -> i32[]", "p");
    char signature[64];
    for (int step = 0; step < MAX_IDLE + MORE; step++) {
        snprintf(signature, sizeof signature, "value<step: int = %d>(x: i32[]) -> i32[]", step);
        fer_op *op = declared(signature, "p");
        assert_int_equal(value_of(op), 1);
        fer_op_release(op);
        fer_op_release(declared("value<step: int = 0>(x: i32[]) -> i32[]", "p")); /* used again */
    }
    assert_int_equal(num_loaded(), MAX_IDLE + 1);
    assert_int_equal(fer_read_counters().bindings, MAX_IDLE + 1);
    /* Each of these was loaded after the last one that went. */
    uint64_t compiles = fer_read_counters().compiles;
    fer_op *recent = declared("value<step: int = 0>(x: i32[]) -> i32[]", "p");
    assert_int_equal(num_loaded(), MAX_IDLE + 1);
    fer_op *gone = declared("value<step: int = 1>(x: i32[]) -> i32[]", "p"); /* comes back */
    assert_int_equal(num_loaded(), MAX_IDLE + 2);
    assert_int_equal(fer_read_counters().compiles, compiles);
    assert_int_equal(value_of(gone), 1);
    assert_int_equal(value_of(held), 1);
    fer_op_release(recent);
    fer_op_release(gone);
    fer_op_release(held);
    assert_int_equal(num_loaded(), MAX_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_unchanged_package_runs_no_compiler),
        TEST(test_an_edit_that_keeps_size_and_time_is_seen),
        TEST(test_an_edit_of_a_header_is_seen),
        TEST(test_a_header_outside_the_package_is_seen),
        TEST(test_a_new_header_that_shadows_another_is_seen),
        TEST(test_a_moved_package_still_hits),
        TEST(test_a_new_kernel_beside_it_compiles_nothing_again),
        TEST(test_files_without_a_kernel_are_linked_in),
        TEST(test_an_op_outlives_its_folder),
        TEST(test_paths_of_every_kind_work),
        TEST(test_a_cache_at_an_odd_path_works),
        TEST(test_a_damaged_store_is_built_again),
        TEST(test_the_store_is_private),
        TEST(test_without_a_usable_store_there_is_still_a_result),
        TEST(test_no_compiler_says_what_to_do),
        TEST(test_the_scan_reads_c),
        TEST(test_kernels_made_by_macros_are_found),
        TEST(test_a_kernel_defined_twice_is_refused),
        TEST(test_a_parameter_that_is_not_declared_is_refused),
        TEST(test_a_compile_error_has_everything),
        TEST(test_parameters_arrive_exactly),
        TEST(test_every_byte_of_a_string_arrives),
        TEST(test_threads_that_ask_at_once_compile_once),
        TEST(test_idle_libraries_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
