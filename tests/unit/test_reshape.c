/* Reshapes in graphs: types and refusals, text, running, blocks, passes. */
#include "testing_graph.h"

#include "graph/passes.h"

/* --- Staging ---------------------------------------------------------------------------------- */

static fer_status reshape(fer_graph *graph, fer_value *value, const char *const *texts,
                          fer_value **out_value, fer_error *error)
{
    fer_dim *dims[FER_MAX_RANK] = {NULL};
    size_t rank = 0;
    for (; texts[rank] != NULL; rank++)
        dims[rank] = make_dim(texts[rank]);
    fer_status status =
        fer_graph_reshape(graph, value, (const fer_dim *const *)dims, rank, out_value, error);
    while (rank > 0)
        fer_dim_release(dims[--rank]);
    return status;
}
#define DIMS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_DIMS ((const char *const[]){NULL})

static void a_dim_is_inferred(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *dims[5];
        const char *to;
    } CASES[] = {
        {"f32[h, w]", {"-1"}, "f32[h * w]"},
        {"f32[h, w]", {"w", "h"}, "f32[w, h]"},
        {"f32[h, w, 6]", {"h", "-1", "4"}, "f32[h, w + w // 2, 4]"},
        {"f32[h, w, 6]", {"2", "-1", "3"}, "f32[2, h * w, 3]"},
        {"f32[h, w, 6]", {"h", "-1", "w"}, "f32[h, 6, w]"},
        {"f32[n]", {"-1", "2"}, "f32[n // 2, 2]"},
        {"f32[n, m]", {"1", "n", "1", "-1"}, "f32[1, n, 1, m]"},
        {"f32[2, 3]", {"6"}, "f32[6]"},
        {"f32[2, 3]", {"3", "-1"}, "f32[3, 2]"},
        {"f32[]", {"-1"}, "f32[1]"},
        {"f32[1, 1]", {NULL}, "f32[]"},
        {"f32[0, n]", {"5", "0"}, "f32[5, 0]"},
        {"f32[0, n]", {"5", "-1"}, "f32[5, 0]"},
        {"f32[1099511627776, 1099511627776, 0]", {"-1"}, "f32[0]"},
        {"f32[n, 0]",
         {"1099511627776", "1099511627776", "0"},
         "f32[1099511627776, 1099511627776, 0]"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = make_module();
        fer_graph *graph = make_graph(module, "g", TYPES(CASES[i].from));
        fer_value *y = NULL;
        ASSERT_OK(&error, reshape(graph, fer_graph_input_at(graph, 0), CASES[i].dims, &y, &error));
        assert_type(y, CASES[i].to);
        fer_module_release(module);
    }
}

static void what_is_never_right_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *dims[10];
        const char *message;
    } CASES[] = {
        {"f32[2, 3]", {"4"}, "reshape of f32[2, 3] to [4]: there are 6 elements, never 4"},
        {"f32[n]", {"n + 1"}, "reshape of f32[n] to [n + 1]: there are n elements, never n + 1"},
        {"f32[2, 3]",
         {"4", "-1"},
         "reshape of f32[2, 3] to [4, -1]: there are 6 elements, which the other dims never "
         "divide"},
        {"f32[n]", {"-1", "-1"}, "only one dim can be inferred"},
        {"f32[0]", {"0", "-1"}, "beside a dim of 0 none can be inferred"},
        {"f32[n]", {"k"}, "reshape axis 0 is k, but nothing in the graph says what k is"},
        {"f32[n]", {"-1", "k"}, "nothing in the graph says what k is"},
        {"f32[n]", {"-2"}, "is -2"},
        {"f32[1]", {"1", "1", "1", "1", "1", "1", "1", "1", "1"}, "at most 8"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *module = make_module();
        fer_graph *graph = make_graph(module, "g", TYPES(CASES[i].from));
        fer_value *y = NULL;
        const fer_dim *dims[9];
        size_t rank = 0;
        for (; rank < 9 && CASES[i].dims[rank] != NULL; rank++)
            dims[rank] = make_dim(CASES[i].dims[rank]);
        ASSERT_FAILS(&error, FER_VALUE_ERROR,
                     fer_graph_reshape(graph, fer_graph_input_at(graph, 0), dims, rank, &y, &error),
                     CASES[i].message);
        assert_null(y);
        while (rank > 0)
            fer_dim_release((fer_dim *)(uintptr_t)dims[--rank]);
        output(graph, fer_graph_input_at(graph, 0), NULL);
        fer_module_release(module);
    }
}

static void other_misuse_is_refused(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = make_module();
    fer_graph *graph = make_graph(module, "g", TYPES("f32[n]"));
    fer_graph *other = make_graph(module, "other", TYPES("f32[n]"));
    fer_value *a = fer_graph_input_at(graph, 0);
    fer_value *y = NULL;
    ASSERT_FAILS(&error, FER_TYPE_ERROR,
                 fer_graph_reshape(graph, a, (const fer_dim *const[]){NULL}, 1, &y, &error),
                 "axis 0 has no dim");
    ASSERT_FAILS(&error, FER_TYPE_ERROR, reshape(graph, NULL, DIMS("n"), &y, &error), "NULL");
    ASSERT_FAILS(&error, FER_VALUE_ERROR, reshape(other, a, DIMS("n"), &y, &error),
                 "another graph");
    output(graph, a, NULL);
    ASSERT_FAILS(&error, FER_VALUE_ERROR, reshape(graph, a, DIMS("n"), &y, &error), "finished");
    fer_module_release(module);
}

/* --- Text ------------------------------------------------------------------------------------- */

static void the_text_has_the_dims_that_came_out(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL, *again = NULL;
    char *text = NULL, *dot = NULL;
    ASSERT_OK(&error, parse_program("graph g(x: f32[h, w], s: f32[]) {\n"
                                    "  y = reshape x [h, -1, 2]\n"
                                    "  z = reshape y [-1] t = reshape s []\n"
                                    "  return y, z, t }",
                                    &module, &error));
    ASSERT_OK(&error, fer_module_print(module, &text, &error));
    assert_string_equal(text, "graph g(x: f32[h, w], s: f32[]) -> "
                              "(f32[h, w // 2, 2], f32[2 * h * (w // 2)], f32[]) {\n"
                              "  y = reshape x [h, w // 2, 2]\n"
                              "  z = reshape y [2 * h * (w // 2)]\n"
                              "  t = reshape s []\n"
                              "  return y, z, t\n"
                              "}\n");
    ASSERT_OK(&error, parse_program(text, &again, &error));
    assert_true(fer_module_equal(module, again));
    ASSERT_OK(&error, fer_module_draw(module, &dot, &error));
    assert_non_null(strstr(dot, "reshape\\nz: f32[2 * h * (w // 2)]"));
    fer_string_free(text);
    fer_string_free(dot);
    fer_module_release(again);
    ASSERT_OK(&error, parse_program("graph g(x: f32[h, w], s: f32[]) {\n"
                                    "  y = rebind x [h, w] z = rebind y [h, w] t = rebind s []\n"
                                    "  return y, z, t }",
                                    &again, &error));
    assert_false(fer_module_equal(module, again));
    fer_module_release(module);
    fer_module_release(again);
}

static void an_op_may_be_called_reshape(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, parse_program("op reshape(x: f32[n]) -> f32[n]\n"
                                    "graph g(reshape: f32[n]) {\n"
                                    "  y = reshape(reshape) z = reshape y [1, n] return z }",
                                    &module, &error));
    assert_type(fer_graph_output_at(fer_module_graph_at(module, 0), 0), "f32[1, n]");
    fer_module_release(module);
}

/* --- Running ---------------------------------------------------------------------------------- */

static void assert_extents(const fer_tensor *tensor, size_t rank, const int64_t *extents)
{
    assert_int_equal(fer_tensor_rank(tensor), rank);
    for (size_t axis = 0; axis < rank; axis++)
        assert_int_equal(fer_tensor_shape(tensor)[axis], extents[axis]);
    assert_true(fer_tensor_is_compact(tensor));
}
#define ASSERT_EXTENTS(tensor, ...)                                                                \
    assert_extents(tensor, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                     \
                   (int64_t[]){__VA_ARGS__})

/* A model of one graph over `std`. */
static fer_model *standard_model(const char *text)
{
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program, "use \"std\"\n%s", text);
    fer_model *model = make_model(fer_text_string(&program));
    fer_text_free(&program);
    return model;
}

static void kernels_see_the_shape(void **state)
{
    (void)state;
    fer_model *model = standard_model("graph g(x: f32[n]) {\n"
                                      "  y = reshape x [2, -1]\n"
                                      "  z = transpose(y)\n"
                                      "  s = sum(y)\n"
                                      "  return z, s }");
    for (int repeat = 0; repeat < 2; repeat++) {
        fer_tensor *x = FLOATS(1, 2, 3, 4, 5, 6);
        fer_tensor *outputs[2];
        run(model, &x, 1, outputs, 2);
        ASSERT_EXTENTS(outputs[0], 3, 2);
        ASSERT_FLOATS(outputs[0], 1, 4, 2, 5, 3, 6);
        ASSERT_FLOATS(outputs[1], 6, 15);
        release_all(outputs, 2);
        fer_tensor_release(x);
        x = FLOATS(1, 2);
        run(model, &x, 1, outputs, 2);
        ASSERT_EXTENTS(outputs[0], 1, 2);
        ASSERT_FLOATS(outputs[1], 1, 2);
        release_all(outputs, 2);
        fer_tensor_release(x);
    }
    fer_model_release(model);
}

static void what_only_sizes_tell_is_asserted(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) { y = reshape x [-1, 2] return y }");
    fer_tensor *y = run_one(model, FLOATS(1, 2, 3, 4));
    ASSERT_EXTENTS(y, 2, 2);
    fer_tensor_release(y);
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, 2, 3),
                     "graph 'g': reshape of f32[n] to f32[n // 2, 2]: there are 3 elements, not 2");
    fer_model_release(model);

    model = make_model("graph g(x: f32[n]) { y = reshape x [n, n] z = twice(x) return z }");
    fer_tensor_release(run_one(model, FLOATS(1)));
    ASSERT_RUN_FAILS(FER_RUNTIME_ERROR, model, FLOATS(1, 2), "there are 2 elements, not 4");
    fer_model_release(model);

    model = make_model("graph g(x: f32[n]) { y = reshape x [3 - n, n - 3] return y }");
    ASSERT_RUN_FAILS(FER_VALUE_ERROR, model, FLOATS(1, 2, 3, 4), "reshape of f32[n]",
                     "axis 0, 3 - n, is -1, below 0");
    fer_model_release(model);

    model = make_model("graph g(x: f32[n]) { y = reshape x [n - 2, -1] return y }");
    ASSERT_RUN_FAILS(FER_ZERO_DIVISION_ERROR, model, FLOATS(1, 2), "reshape of f32[n]");
    fer_model_release(model);
}

static void outputs_never_alias(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  a = reshape x [1, n]\n"
                                  "  y = twice(x)\n"
                                  "  b = reshape y [n, 1]\n"
                                  "  c = reshape b [1, n]\n"
                                  "  k = constant f32[2] [8, 9]\n"
                                  "  d = reshape k [2, 1]\n"
                                  "  return a, x, b, y, c, d, k, d }");
    fer_tensor *x = FLOATS(1, 2);
    fer_tensor *outputs[8];
    for (int repeat = 0; repeat < 2; repeat++) {
        run(model, &x, 1, outputs, 8);
        for (size_t i = 0; i < 8; i++) {
            assert_ptr_not_equal(fer_tensor_data(outputs[i]), fer_tensor_data(x));
            for (size_t j = 0; j < i; j++)
                assert_ptr_not_equal(fer_tensor_data(outputs[i]), fer_tensor_data(outputs[j]));
        }
        ASSERT_EXTENTS(outputs[0], 1, 2);
        ASSERT_EXTENTS(outputs[1], 2);
        ASSERT_EXTENTS(outputs[2], 2, 1);
        ASSERT_EXTENTS(outputs[3], 2);
        ASSERT_EXTENTS(outputs[4], 1, 2);
        ASSERT_EXTENTS(outputs[5], 2, 1);
        ASSERT_EXTENTS(outputs[6], 2);
        ASSERT_FLOATS(outputs[0], 1, 2);
        ASSERT_FLOATS(outputs[2], 2, 4);
        ASSERT_FLOATS(outputs[3], 2, 4);
        ASSERT_FLOATS(outputs[4], 2, 4);
        ASSERT_FLOATS(outputs[5], 8, 9);
        for (size_t i = 0; i < 8; i++)
            memset(fer_tensor_data(outputs[i]), 0, fer_tensor_num_bytes(outputs[i]));
        release_all(outputs, 8);
    }
    fer_tensor_release(x);
    fer_model_release(model);
}

/* What lives on through its view alone is not overwritten. */
static void a_view_keeps_its_buffer(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  a = twice(x)\n"
                                  "  b = reshape a [1, n]\n"
                                  "  c = reshape b [n, 1]\n"
                                  "  d = twice(x)\n"
                                  "  e = twice(d)\n"
                                  "  f = twice(e)\n"
                                  "  h = reshape f [n, 1]\n"
                                  "  i = add(c, h)\n"
                                  "  return i }");
    fer_tensor *y = run_one(model, FLOATS(1, 10));
    ASSERT_FLOATS(y, 10, 100);
    fer_tensor_release(y);
    fer_model_release(model);
}

static void a_change_in_place_is_one_of_the_value(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(inout x: f32[1, 2]) {\n"
                                  "  k = constant f32[1, 2] [1, 2]\n"
                                  "  flat = reshape k [2]\n"
                                  "  more = reshape x [-1]\n"
                                  "  before = twice(k)\n"
                                  "  accumulate(flat, more)\n"
                                  "  after = twice(k)\n"
                                  "  accumulate(more, flat)\n"
                                  "  return before, after, flat }");
    for (int repeat = 0; repeat < 2; repeat++) {
        fer_error error = FER_ERROR_INIT;
        fer_tensor *x = NULL;
        fer_tensor *outputs[3];
        ASSERT_OK(&error, fer_tensor_copy_from(FER_F32, 2, (int64_t[]){1, 2}, (float[]){10, 20},
                                               (fer_device){0}, &x, &error));
        run(model, &x, 1, outputs, 3);
        ASSERT_FLOATS(outputs[0], 2, 4);
        ASSERT_FLOATS(outputs[1], 22, 44);
        ASSERT_FLOATS(outputs[2], 11, 22);
        ASSERT_FLOATS(x, 21, 42);
        release_all(outputs, 3);
        fer_tensor_release(x);
    }
    fer_model_release(model);

    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_FAILS(
        &error, FER_VALUE_ERROR,
        parse_program("op accumulate(inout total: f32[n], x: f32[n]) -> ()\n"
                      "graph g(inout x: f32[n]) { y = reshape x [n] accumulate(x, y) return x }",
                      &module, &error),
        "accumulate", "memory");
}

static void sizes_may_depend_on_data(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n]) {\n"
                                  "  kept = positive(x)\n"
                                  "  pairs = reshape kept [-1, 2]\n"
                                  "  y = twice(pairs)\n"
                                  "  z = reshape y [-1]\n"
                                  "  return y, z, pairs }");
    fer_tensor *outputs[3];
    for (int repeat = 0; repeat < 2; repeat++) {
        fer_tensor *x = FLOATS(1, -1, 2, 3, 4);
        run(model, &x, 1, outputs, 3);
        ASSERT_EXTENTS(outputs[0], 2, 2);
        ASSERT_EXTENTS(outputs[1], 4);
        ASSERT_EXTENTS(outputs[2], 2, 2);
        ASSERT_FLOATS(outputs[0], 2, 4, 6, 8);
        ASSERT_FLOATS(outputs[1], 2, 4, 6, 8);
        ASSERT_FLOATS(outputs[2], 1, 2, 3, 4);
        release_all(outputs, 3);
        fer_tensor_release(x);
    }
    fer_tensor *x = FLOATS(1, -1, 2, 3);
    fer_error error = FER_ERROR_INIT;
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, &x, 1, outputs, 3, &error),
                 "there are 3 elements, not 2");
    fer_tensor_release(x);
    fer_model_release(model);
}

/* Arms, loops and calls: a carried value that is the view of another one, and of itself. */
static void blocks_and_calls_take_views(void **state)
{
    (void)state;
    fer_model *model = standard_model(
        "graph g(x: f32[2, 3], y: f32[3, 2], n: i64[], c: bool[]) {\n"
        "  p, q, i, s = while p = x, q = y, i = n, s = x { go = is_positive(i) yield go } do {\n"
        "    a = reshape p [3, 2] b = reshape q [2, 3]\n"
        "    t = reshape s [-1] u = reshape t [2, 3]\n"
        "    left = count_down(i)\n"
        "    yield b, a, left, u }\n"
        "  r = if c { v = reshape p [6] yield v } else { v = reshape q [6] w = twice(v) yield w }\n"
        "  e = reshape r [1, 6]\n"
        "  return p, q, e, s }");
    fer_error error = FER_ERROR_INIT;
    for (int turn = 0; turn < 6; turn++) {
        fer_tensor *inputs[4], *outputs[4];
        const int64_t turns = turn / 2;
        const bool condition = turn % 2 == 0;
        ASSERT_OK(&error,
                  fer_tensor_copy_from(FER_F32, 2, (int64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6},
                                       (fer_device){0}, &inputs[0], &error));
        ASSERT_OK(&error,
                  fer_tensor_copy_from(FER_F32, 2, (int64_t[]){3, 2}, (float[]){0, 0, 0, 7, 8, 9},
                                       (fer_device){0}, &inputs[1], &error));
        ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 0, NULL, &turns, (fer_device){0},
                                               &inputs[2], &error));
        ASSERT_OK(&error, fer_tensor_copy_from(FER_BOOL, 0, NULL, &condition, (fer_device){0},
                                               &inputs[3], &error));
        run(model, inputs, 4, outputs, 4);
        ASSERT_EXTENTS(outputs[0], 2, 3);
        ASSERT_EXTENTS(outputs[1], 3, 2);
        ASSERT_EXTENTS(outputs[2], 1, 6);
        const bool is_swapped = turns % 2 == 1;
        ASSERT_FLOATS(outputs[is_swapped ? 1 : 0], 1, 2, 3, 4, 5, 6);
        ASSERT_FLOATS(outputs[is_swapped ? 0 : 1], 0, 0, 0, 7, 8, 9);
        ASSERT_FLOATS(outputs[3], 1, 2, 3, 4, 5, 6);
        if (condition != is_swapped && condition)
            ASSERT_FLOATS(outputs[2], 1, 2, 3, 4, 5, 6);
        else if (condition)
            ASSERT_FLOATS(outputs[2], 0, 0, 0, 7, 8, 9);
        else if (is_swapped)
            ASSERT_FLOATS(outputs[2], 2, 4, 6, 8, 10, 12);
        else
            ASSERT_FLOATS(outputs[2], 0, 0, 0, 14, 16, 18);
        release_all(inputs, 4);
        release_all(outputs, 4);
    }
    fer_model_release(model);
}

static void a_called_graph_gives_views(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module =
        read_program("use \"kernels/graph\"\n"
                     "graph both(x: f32[n]) { y = twice(x) a = reshape y [1, n] "
                     "b = reshape x [n, 1] return a, a, y, b }\n"
                     "graph g(x: f32[m]) { p, q, r, s = call both(x) t = reshape p [m] "
                     "accumulate(t, x) return p, q, r, s }");
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(fer_module_find(module, "g"), NULL, &model, &error));
    fer_tensor *x = FLOATS(1, 2, 3);
    fer_tensor *outputs[4];
    for (int repeat = 0; repeat < 2; repeat++) {
        run(model, &x, 1, outputs, 4);
        ASSERT_EXTENTS(outputs[0], 1, 3);
        ASSERT_EXTENTS(outputs[2], 3);
        ASSERT_EXTENTS(outputs[3], 3, 1);
        ASSERT_FLOATS(outputs[0], 3, 6, 9);
        ASSERT_FLOATS(outputs[1], 2, 4, 6);
        ASSERT_FLOATS(outputs[2], 2, 4, 6);
        ASSERT_FLOATS(outputs[3], 1, 2, 3);
        release_all(outputs, 4);
    }
    ASSERT_FLOATS(x, 1, 2, 3);
    fer_tensor_release(x);
    fer_model_release(model);
    fer_module_release(module);
}

/* --- Passes ----------------------------------------------------------------------------------- */

/* How many steps there are, and how many of them are reshapes. */
static void assert_left(const char *pass_name, const char *text, size_t num_steps,
                        size_t num_reshapes)
{
    fer_error error = FER_ERROR_INIT;
    const fer_pass *pass;
    fer_module *module = NULL;
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program, "use \"kernels/graph\"\n%s", text);
    fer_module *original = read_program(fer_text_string(&program));
    fer_text_free(&program);
    ASSERT_OK(&error, fer_pass_find(pass_name, &pass, &error));
    ASSERT_OK(&error, fer_module_after(original, pass, &module, &error));
    const fer_block *body = &fer_module_graph_at(module, 0)->body;
    size_t found = 0;
    for (size_t i = 0; i < body->num_nodes; i++)
        found += body->nodes[i]->kind == FER_NODE_RESHAPE;
    assert_int_equal(body->num_nodes, num_steps);
    assert_int_equal(found, num_reshapes);
    fer_module_release(original);
    fer_module_release(module);
}

static void passes_know_it(void **state)
{
    (void)state;
#define TWO "k = constant f32[2] [1, 2] "
    assert_left("fold", "graph g() { " TWO "r = reshape k [2, 1] a = twice(r) return a }", 3, 0);
    assert_left("dead", "graph g() { " TWO "r = reshape k [2, 1] a = twice(r) return a }", 1, 0);
    assert_left("fold",
                "graph g(x: f32[2]) { " TWO "r = reshape k [2, 1] accumulate(k, x) return r }", 3,
                1);
    assert_left("fold", "graph g(x: f32[n]) { " TWO "r = reshape k [n, -1] return r }", 2, 1);
    assert_left("dead", "graph g(x: f32[n]) { r = reshape x [1, n] return x }", 0, 0);
    assert_left("dead", "graph g(x: f32[n]) { r = reshape x [2, -1] return x }", 1, 1);
    assert_left("dead",
                "graph g(x: f32[n]) { y = differences(x) r = reshape y [1, n - 1] return x }", 2,
                1);
    assert_left("common",
                "graph g(x: f32[n]) { a = reshape x [1, n] b = reshape x [1, n] p = twice(a) "
                "q = twice(b) c = reshape x [n, 1] return p, q, c }",
                3, 2);
    assert_left("common",
                "graph g(inout x: f32[n], y: f32[n]) { a = reshape x [n] b = reshape x [n] "
                "accumulate(a, y) accumulate(b, y) return x }",
                3, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dim_is_inferred),
        cmocka_unit_test(what_is_never_right_is_refused),
        cmocka_unit_test(other_misuse_is_refused),
        cmocka_unit_test(the_text_has_the_dims_that_came_out),
        cmocka_unit_test(an_op_may_be_called_reshape),
        cmocka_unit_test(kernels_see_the_shape),
        cmocka_unit_test(what_only_sizes_tell_is_asserted),
        cmocka_unit_test(outputs_never_alias),
        cmocka_unit_test(a_view_keeps_its_buffer),
        cmocka_unit_test(a_change_in_place_is_one_of_the_value),
        cmocka_unit_test(sizes_may_depend_on_data),
        cmocka_unit_test(blocks_and_calls_take_views),
        cmocka_unit_test(a_called_graph_gives_views),
        cmocka_unit_test(passes_know_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
