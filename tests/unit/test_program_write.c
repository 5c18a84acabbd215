/* Programs as files: the large constants beside them, and paths that hold where they are. */
#include "testing_graph.h"
#include "testing_npy.h"

#include "base/process.h"
#include "graph/text.h"
#include "tensor/tensor.h"
#include <dirent.h>
#include <sys/stat.h>

#define MOST_INLINE 1024 /* f32 in 4096 bytes */

#define THRICE                                                                                     \
    "#include <ferrule/kernel.h>\n"                                                                \
    "MAP(thrice, f32, IN(f32, x)) { return 3 * x; }\n"

static fer_tensor *make_pattern(fer_dtype dtype, int64_t count, int step)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_empty(dtype, 1, &count, (fer_device){0}, &tensor, &error));
    unsigned char *bytes = fer_tensor_data(tensor);
    for (size_t i = 0; i < fer_tensor_num_bytes(tensor); i++)
        bytes[i] = (unsigned char)(dtype == FER_BOOL ? i & 1 : i * (size_t)step + i / 256);
    return tensor;
}

/* A graph that gives constants back; takes them. */
static fer_module *make_constants(fer_tensor *first, fer_tensor *second)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES(NULL));
    fer_tensor *tensors[] = {first, second};
    fer_value *values[2] = {NULL};
    for (size_t i = 0; i < 2 && tensors[i] != NULL; i++) {
        ASSERT_OK(&error, fer_graph_constant(graph, tensors[i], &values[i], &error));
        fer_tensor_release(tensors[i]);
    }
    output(graph, values[0], values[1]);
    return module;
}

static void write_at(void **state, const fer_module *module, const char *name)
{
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, fer_module_write(module, path_in(state, name), &error));
}

static fer_module *read_at(void **state, const char *name)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, fer_module_read(path_in(state, name), &module, &error));
    return module;
}

static char *text_at(void **state, const char *name)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    size_t size;
    ASSERT_OK(&error, fer_file_read(path_in(state, name), &text, &size, &error));
    return text;
}

static void make_folder_at(void **state, const char *name)
{
    assert_int_equal(mkdir(path_in(state, name), 0700), 0);
}

static void move(void **state, const char *from, const char *to)
{
    char source[PATH_MAX];
    snprintf(source, sizeof source, "%s", path_in(state, from));
    assert_int_equal(rename(source, path_in(state, to)), 0);
}

/* How many files a folder has; `out_name` is one of them. */
static size_t count_files(void **state, const char *name, char out_name[NAME_MAX + 1])
{
    DIR *folder = opendir(path_in(state, name));
    assert_non_null(folder);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(out_name, NAME_MAX + 1, "%s", entry->d_name);
            count++;
        }
    closedir(folder);
    return count;
}

static void assert_same(const fer_module *a, const fer_module *b)
{
    if (fer_module_equal(a, b))
        return;
    char *text = NULL;
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, fer_module_print(b, &text, &error));
    fail_msg("not the same module:\n%s", text);
}

static void every_dtype_comes_back_bit_for_bit(void **state)
{
    for (unsigned dtype = FER_BOOL; dtype < FER_NUM_DTYPES; dtype++) {
        fer_module *module = make_constants(make_pattern((fer_dtype)dtype, 65537, 7), NULL);
        write_at(state, module, "g.fer");
        char *text = text_at(state, "g.fer");
        assert_true(strlen(text) < 1000);
        free(text);
        make_folder_at(state, "moved");
        move(state, "g.fer", "moved/g.fer");
        move(state, "g.data", "moved/g.data");
        fer_module *again = read_at(state, "moved/g.fer");
        assert_same(module, again);
        const fer_tensor *constant = fer_module_graph_at(again, 0)->body.nodes[0]->constant;
        fer_tensor *expected = make_pattern((fer_dtype)dtype, 65537, 7);
        assert_int_equal(fer_tensor_dtype(constant), dtype);
        assert_memory_equal(fer_tensor_const_data(constant), fer_tensor_const_data(expected),
                            fer_tensor_num_bytes(expected));
        fer_tensor_release(expected);
        fer_module_release(module);
        fer_module_release(again);
        fer_folder_remove(path_in(state, "moved"));
    }
}

static void small_constants_stay_in_the_text(void **state)
{
    char name[NAME_MAX + 1];
    fer_module *module = make_constants(make_pattern(FER_F32, MOST_INLINE, 3), NULL);
    write_at(state, module, "small.fer");
    assert_int_equal(access(path_in(state, "small.data"), F_OK), -1);
    fer_module *again = read_at(state, "small.fer");
    assert_same(module, again);
    fer_module_release(again);
    fer_module_release(module);

    module = make_constants(make_pattern(FER_F32, MOST_INLINE + 1, 3), FLOATS(1, 2));
    write_at(state, module, "large.fer");
    char *text = text_at(state, "large.fer");
    assert_int_equal(count_files(state, "large.data", name), 1);
    char expected[512];
    snprintf(expected, sizeof expected,
             "graph g() -> (f32[1025], f32[2]) {\n"
             "  v0 = constant f32[1025] from \"large.data/%s\" {digest: \"%.32s\"}\n"
             "  v1 = constant f32[2] [1.0, 2.0]\n"
             "  return v0, v1\n"
             "}\n",
             name, name);
    assert_string_equal(text, expected);
    assert_int_equal(strlen(name), 32 + strlen(".npy"));
    again = read_at(state, "large.fer");
    assert_same(module, again);
    fer_module_release(again);
    fer_module_release(module);
    free(text);
}

static void one_content_is_one_file(void **state)
{
    char name[NAME_MAX + 1], path[NAME_MAX + 16];
    struct stat first, second, third;
    fer_module *module =
        make_constants(make_pattern(FER_F32, 2000, 3), make_pattern(FER_F32, 2000, 3));
    write_at(state, module, "p");
    assert_int_equal(count_files(state, "p.data", name), 1);
    snprintf(path, sizeof path, "p.data/%s", name);
    assert_int_equal(stat(path_in(state, path), &first), 0);
    write_at(state, module, "p");
    assert_int_equal(stat(path_in(state, path), &second), 0);
    assert_true(first.st_ino == second.st_ino && first.st_mtim.tv_nsec == second.st_mtim.tv_nsec);

    /* What somebody changed is told when it is read, and is not left when it is written. A module
     * that has the good file mapped keeps it. */
    fer_module *mapped = read_at(state, "p");
    fer_error error = FER_ERROR_INIT;
    fer_module *again = NULL;
    char *data = text_at(state, path);
    data[4000] ^= 1;
    ASSERT_OK(&error, fer_file_write(path_in(state, path), data, 128 + 8000, &error));
    free(data);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_module_read(path_in(state, "p"), &again, &error),
                 "holds another constant");
    write_at(state, mapped, "p");
    assert_int_equal(stat(path_in(state, path), &third), 0);
    assert_true(third.st_ino != second.st_ino);
    again = read_at(state, "p");
    assert_same(module, again);
    assert_same(mapped, again);
    fer_module_release(again);
    fer_module_release(mapped);
    fer_module_release(module);
}

/* bf16 and u16 of the same bits are two constants. */
static void a_digest_is_of_the_type_too(void **state)
{
    char name[NAME_MAX + 1];
    fer_module *module =
        make_constants(make_pattern(FER_BF16, 4000, 3), make_pattern(FER_U16, 4000, 3));
    write_at(state, module, "p.fer");
    assert_int_equal(count_files(state, "p.data", name), 2);
    fer_module_release(module);
}

static void files_have_the_usual_permissions(void **state)
{
    char name[NAME_MAX + 1], path[NAME_MAX + 16];
    struct stat about;
    fer_module *module = make_constants(make_pattern(FER_F32, 2000, 3), NULL);
    mode_t mask = umask(027);
    write_at(state, module, "p.fer");
    umask(mask);
    count_files(state, "p.data", name);
    snprintf(path, sizeof path, "p.data/%s", name);
    assert_int_equal(stat(path_in(state, "p.fer"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(stat(path_in(state, path), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(stat(path_in(state, "p.data"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0750);
    fer_module_release(module);
}

static void what_cannot_be_written_leaves_the_old_program(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_constants(make_pattern(FER_F32, 2000, 3), NULL);
    ASSERT_OK(&error, fer_file_write(path_in(state, "p.fer"), "old", 3, &error));
    ASSERT_OK(&error, fer_file_write(path_in(state, "p.data"), "a file", 6, &error));
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_module_write(module, path_in(state, "p.fer"), &error),
                 "/p.data/", "cannot write");
    char *text = text_at(state, "p.fer");
    assert_string_equal(text, "old");
    free(text);
    ASSERT_FAILS(&error, FER_IO_ERROR,
                 fer_module_write(module, path_in(state, "none/p.fer"), &error), "/none/p.data",
                 "cannot make the folder");
    make_folder_at(state, "folder");
    ASSERT_FAILS(&error, FER_IO_ERROR, fer_module_write(module, path_in(state, "folder"), &error),
                 "/folder: cannot write");

    make_graph(module, "unfinished", TYPES(NULL));
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_module_write(module, path_in(state, "q.fer"), &error),
                 "'unfinished'");
    assert_int_equal(access(path_in(state, "q.data"), F_OK), -1);
    assert_int_equal(access(path_in(state, "q.fer"), F_OK), -1);
    fer_module_release(module);
}

/* --- Packages --------------------------------------------------------------------------------- */

static void write_package(void **state, const char *name)
{
    fer_error error = FER_ERROR_INIT;
    char path[NAME_MAX];
    make_folder_at(state, name);
    snprintf(path, sizeof path, "%s/thrice.c", name);
    ASSERT_OK(&error, fer_file_write(path_in(state, path), THRICE, strlen(THRICE), &error));
}

static fer_module *parse_in(void **state, const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, fer_module_parse(text, "t.fer", *state, &module, &error));
    return module;
}

#define OP "op thrice(x: f32[*s]) -> f32[*s]"
#define GRAPH "graph g(x: f32[n]) -> f32[n] { y = thrice(x) return y }\n"

static void assert_thrice(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error));
    fer_tensor *y = run_one(model, FLOATS(1, 2));
    ASSERT_FLOATS(y, 3, 6);
    fer_tensor_release(y);
    fer_model_release(model);
}

static void paths_start_at_the_programs_folder(void **state)
{
    make_folder_at(state, "a");
    write_package(state, "a/kernels");
    write_package(state, "a/std");
    write_package(state, "beside");
    fer_module *module = parse_in(state, OP " from \"a/kernels\", \"a/std\", \"beside\"\n" GRAPH);
    write_at(state, module, "a/p.fer");
    char *text = text_at(state, "a/p.fer");
    assert_non_null(strstr(text, "use \"kernels\"\nuse \"./std\"\nuse \"../beside\"\n" OP "\n"));
    free(text);
    fer_module *again = read_at(state, "a/p.fer");
    assert_same(module, again);
    fer_module_release(again);
    fer_module_release(module);

    /* Program and packages may be moved together. */
    make_folder_at(state, "new");
    move(state, "a", "new/b");
    move(state, "beside", "new/beside");
    again = read_at(state, "new/b/p.fer");
    assert_thrice(again);
    fer_module_release(again);
}

static void packages_of_their_own_too(void **state)
{
    write_package(state, "one");
    fer_module *module = parse_in(state, OP " from \"one\"\n"
                                            "op add = add<T: f32|f64>(a: T[*s], b: T[*s]) -> T[*s] "
                                            "from \"std\", \"one\"\n" GRAPH);
    write_at(state, module, "p.fer");
    char *text = text_at(state, "p.fer");
    assert_non_null(strstr(text, OP " from \"one\"\n"));
    assert_non_null(strstr(text, " from \"std\", \"one\"\n"));
    free(text);
    fer_module_release(module);
}

static void the_standard_package_is_std(void **state)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    fer_module *module =
        parse_in(state, "use \"std\" graph g(x: f32[n]) { y = add(x, x) return y }\n");
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_memory_equal(text, "use \"std\"\nop add<", 17);
    fer_string_free(text);
    fer_module_release(module);
}

static void paths_are_shortened(void **state)
{
    (void)state;
    static const struct {
        const char *folder;
        const char *path;
        const char *expected;
    } CASES[] = {
        {"/srv/me", "/srv/me/kernels", "kernels"},
        {"/srv/me", "/srv/me/a/b", "a/b"},
        {"/srv/me", "/srv/me", "."},
        {"/srv/me", "/srv/mean", "../mean"},
        {"/srv/me", "/srv", ".."},
        {"/srv/me/a", "/srv/me/b", "../b"},
        {"/srv/me/a/b", "/srv/me", "../.."},
        {"/srv/me", "/usr/kernels", "/usr/kernels"},
        {"/srv/me", "/a", "/a"},
        {"/a", "/b/c", "/b/c"},
        {"/", "/kernels", "kernels"},
        {"/", "/", "/"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        char *path = NULL;
        ASSERT_OK(&error, fer_path_shorten(CASES[i].folder, CASES[i].path, &path, &error));
        assert_string_equal(path, CASES[i].expected);
        free(path);
    }
}

/* --- What an embedding program does ----------------------------------------------------------- */

/* y = thrice(x) + bias, from calls alone. */
static fer_module *make_embedded(void)
{
    fer_error error = FER_ERROR_INIT;
    fer_op *thrice = NULL;
    fer_op *add = NULL;
    fer_value *bias = NULL;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "main", TYPES("f32[5000]"));
    fer_declaration own = {.signature = "thrice(x: f32[*s]) -> f32[*s]", .source = THRICE};
    fer_declaration standard = {.kernel = "add", .packages = {"std"}};
    ASSERT_OK(&error, fer_declare(&own, &thrice, &error));
    ASSERT_OK(&error, fer_declare(&standard, &add, &error));
    float elements[5000];
    for (int i = 0; i < 5000; i++)
        elements[i] = (float)i / 4;
    fer_tensor *tensor = make_floats(5000, elements);
    ASSERT_OK(&error, fer_graph_constant(graph, tensor, &bias, &error));
    fer_tensor_release(tensor);
    fer_value *scaled = stage_one(graph, thrice, fer_graph_input_at(graph, 0), NULL);
    output(graph, stage_one(graph, add, scaled, bias), NULL);
    fer_op_release(thrice);
    fer_op_release(add);
    return module;
}

static void the_command_runs_it_where_it_was_moved_to(void **state)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_embedded();
    make_folder_at(state, "old");
    make_folder_at(state, "new");
    write_at(state, module, "old/model.fer");
    fer_module_release(module);
    move(state, "old/model.fer", "new/renamed.fer");
    move(state, "old/model.data", "new/model.data");
    assert_int_equal(rmdir(path_in(state, "old")), 0);

    float elements[5000];
    for (int i = 0; i < 5000; i++)
        elements[i] = (float)(i % 17);
    fer_tensor *tensor = make_floats(5000, elements);
    ASSERT_OK(&error, fer_npy_write(path_in(state, "a.npy"), tensor, &error));
    fer_tensor_release(tensor);
    fer_process_result result;
    const char *const command[] = {FERRULE_COMMAND, "run", "new/renamed.fer", "a=a.npy", "-o",
                                   "y.npy",         NULL};
    ASSERT_OK(&error, fer_process_run(command, *state, &result, NULL, &error));
    assert_string_equal(result.output, "");
    assert_int_equal(result.exit_code, 0);
    free(result.output);
    ASSERT_OK(&error, fer_npy_read(path_in(state, "y.npy"), &tensor, &error));
    for (int i = 0; i < 5000; i++)
        elements[i] = 3 * (float)(i % 17) + (float)i / 4;
    assert_floats_equal(tensor, 5000, elements);
    fer_tensor_release(tensor);
}

static void null_is_refused(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_module_write(module, NULL, &error),
                 "the path to write the program to is NULL");
    fer_module_release(module);
    ASSERT_FAILS(&error, FER_TYPE_ERROR, fer_module_parse(NULL, NULL, NULL, &module, &error),
                 "the program's text is NULL");
    assert_null(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_refused),
        IN_FOLDER(every_dtype_comes_back_bit_for_bit),
        IN_FOLDER(small_constants_stay_in_the_text),
        IN_FOLDER(one_content_is_one_file),
        IN_FOLDER(a_digest_is_of_the_type_too),
        IN_FOLDER(files_have_the_usual_permissions),
        IN_FOLDER(what_cannot_be_written_leaves_the_old_program),
        IN_FOLDER(paths_start_at_the_programs_folder),
        IN_FOLDER(packages_of_their_own_too),
        IN_FOLDER(the_standard_package_is_std),
        cmocka_unit_test(paths_are_shortened),
        IN_FOLDER(the_command_runs_it_where_it_was_moved_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
