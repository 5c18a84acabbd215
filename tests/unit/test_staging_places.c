/* The same few ops in every place where ops stage: what a graph gives and changes is what eager
 * calls give and change, bit for bit. */
#include "testing_graph.h"

/* --- The ops ---------------------------------------------------------------------------------- */

/* Calls an op of the tests' package that gives `y`, the last of its results. */
static fer_status call(const char *signature, fer_tensor **operands, size_t num_operands,
                       size_t num_results, fer_tensor **out_y, fer_error *error)
{
    fer_op *op = declare_op(signature);
    fer_tensor *results[2] = {NULL, NULL};
    fer_status status = fer_call(op, operands, num_operands, results, num_results, error);
    if (status == FER_OK && num_results > 0)
        *out_y = results[num_results - 1];
    if (num_results == 2)
        fer_tensor_release(results[0]);
    fer_op_release(op);
    return status;
}

/* What an op does to x and t, eagerly and as the steps of a program, which name what it gives y. */
typedef struct op_case {
    const char *steps;
    fer_status (*call)(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error);
    bool has_dynamic_dims;
} op_case;

static fer_status elementwise(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    (void)t;
    return call("twice(x: f32[*s]) -> f32[*s]", &x, 1, 1, out_y, error);
}

static fer_status shape_changing(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    (void)t;
    return call("differences(x: f32[n]) -> f32[n - 1]", &x, 1, 1, out_y, error);
}

static fer_status parametrised(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    (void)t;
    return call("every<g: int = 3>(x: f32[n]) -> f32[n // g]", &x, 1, 1, out_y, error);
}

static fer_status data_dependent(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    (void)t;
    return call("positive(x: f32[n]) -> f32[kept]", &x, 1, 1, out_y, error);
}

static fer_status two_results(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    (void)t;
    return call("halves(x: f32[n]) -> (low: f32[n // 2], high: f32[n - n // 2])", &x, 1, 2, out_y,
                error);
}

static fer_status in_place(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    fer_tensor *operands[] = {t, x};
    FER_TRY(call("accumulate(inout total: f32[n], x: f32[n]) -> ()", operands, 2, 0, NULL, error));
    return elementwise(t, NULL, out_y, error);
}

static fer_status failing(fer_tensor *x, fer_tensor *t, fer_tensor **out_y, fer_error *error)
{
    FER_TRY(in_place(x, t, out_y, error));
    fer_tensor_release(*out_y);
    *out_y = NULL;
    return call("refuse_negative(x: f32[n]) -> f32[n]", &x, 1, 1, out_y, error);
}

static const op_case OPS[] = {
    {"y = twice(x)", elementwise, false},
    {"y = differences(x)", shape_changing, false},
    {"y = every<g = 3>(x)", parametrised, false},
    {"y = positive(x)", data_dependent, true},
    {"low, y = halves(x)", two_results, false},
    {"accumulate(t, x) y = twice(t)", in_place, false},
    {"accumulate(t, x) y = refuse_negative(x)", failing, false},
};

/* --- The places ------------------------------------------------------------------------------- */

#define GRAPH "graph g(x: f32[n], inout t: f32[n], yes: bool[], one: i64[]) {\n"
/* As large as y, to add it to or to put in its place. */
#define ZEROS "  zero = constant f32[#] [%]\n"
#define ONCE "while j = one { go = is_positive(j) yield go } do {\n"
#define LEAVE "    left = count_down(j)\n"

/* Programs whose last graph takes x, t, true and 1, and gives y. `@` are the op's steps, `#` is how
 * large y is, and `%` are so many zeros: what leaves a block is rebound to its size. */
static const char *const PLACES[] = {
    /* a graph, and another graph of its module */
    "graph before(x: f32[k], inout t: f32[k]) { @ return y }\n" GRAPH "  @ return y }",
    /* after a rebind */
    "graph g(a: f32[n], inout b: f32[n], yes: bool[], one: i64[]) {\n"
    "  x = rebind a [m] t = rebind b [m] @ return y }",
    /* a called graph, and a graph that that calls */
    "graph f(x: f32[k], inout t: f32[k]) { @ return y }\n"
    "graph h(x: f32[j], inout t: f32[j]) { z = call f(x, t) return z }\n" GRAPH
    "  other = constant f32[4] [1, 2, 3, 4] mine = constant f32[4] [0, 0, 0, 0]\n"
    "  first = call f(other, mine)\n"
    "  z = call h(x, t) return z }",
    /* the first arm */
    GRAPH ZEROS "  z = if yes { @ r = rebind y [#] yield r } else { yield zero } return z }",
    /* the else arm, with a size of the arm's own */
    GRAPH "  nought = count_down(one) no = is_positive(nought)\n"
          "  z = if no { r = rebind x [m] yield r } else { @ r = rebind y [m] yield r } return z }",
    /* the condition of a loop whose body does not run */
    GRAPH ZEROS
    "  nought = count_down(one)\n"
    "  while { @ r = rebind y [#] accumulate(zero, r) no = is_positive(nought) yield no }\n"
    "  do { } return zero }",
    /* the body, and what it carries */
    GRAPH ZEROS "  z, i = while s = zero, j = one { go = is_positive(j) yield go } do {\n" LEAVE
                "    @ r = rebind y [#] yield r, left } return z }",
    /* a call in an arm in a body in a body */
    "graph f(x: f32[k], inout t: f32[k]) { @ return y }\n" GRAPH ZEROS "  i = " ONCE LEAVE
    "    i2 = while k = one { go2 = is_positive(k) yield go2 } do {\n"
    "      left2 = count_down(k)\n"
    "      if go2 { y = call f(x, t) r = rebind y [#] accumulate(zero, r) }\n"
    "      yield left2 }\n"
    "    yield left }\n"
    "  return zero }",
    /* on the caller's buffers, between steps that write them, into a buffer of the graph's own */
    "graph g(inout x: f32[n], inout t: f32[n], yes: bool[], one: i64[]) {\n" ZEROS
    "  was_x = load(x) was_t = load(t) accumulate(x, t) store(t, x) store(x, was_x)\n"
    "  store(t, was_t) @ accumulate(was_x, was_t) r = rebind y [#] store(zero, r) return zero }",
    /* on buffers in place, which a called graph and a loop around it pass on */
    "graph f(inout x: f32[k], inout t: f32[k], inout z: f32[#]) {\n"
    "  @ r = rebind y [#] accumulate(z, r) return y }\n"
    "graph g(inout x: f32[n], inout t: f32[n], yes: bool[], one: i64[]) {\n" ZEROS
    "  i = " ONCE LEAVE "    same = rebind x [n] if yes { u = call f(same, t, zero) }\n"
    "    yield left }\n"
    "  y2 = load(zero) return y2 }",
};

static char *write_program(const char *place, const char *steps, int64_t size)
{
    fer_error error = FER_ERROR_INIT;
    fer_text text = FER_TEXT_INIT;
    char *program = NULL;
    fer_text_append(&text, "use \"kernels/graph\" use \"std\"\n");
    for (; *place != '\0'; place++) {
        if (*place == '@')
            fer_text_append(&text, steps);
        else if (*place == '#')
            fer_text_printf(&text, "%d", (int)size);
        else if (*place == '%')
            for (int64_t i = 0; i < size; i++)
                fer_text_append(&text, i == 0 ? "0" : ", 0");
        else
            fer_text_append_char(&text, *place);
    }
    ASSERT_OK(&error, fer_text_take(&text, &program, &error));
    return program;
}

/* --- The comparison --------------------------------------------------------------------------- */

/* What a call of the op, or a graph with it, has done. */
typedef struct outcome {
    fer_status status;
    char *message;
    fer_tensor *y;
    fer_tensor *t;
} outcome;

static fer_tensor *make_x(void)
{
    return FLOATS(1.5f, -2, 3.25f, 0.1f, -1e-3f, 7);
}

static fer_tensor *make_t(void)
{
    return FLOATS(10, 20, 30, 40, 50, 60);
}

static outcome call_eagerly(const op_case *op)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *x = make_x();
    outcome done = {.t = make_t()};
    done.status = op->call(x, done.t, &done.y, &error);
    done.message = error.message == NULL ? NULL : strdup(error.message);
    fer_error_clear(&error);
    fer_tensor_release(x);
    return done;
}

static outcome run_graph(const fer_graph *graph)
{
    fer_error error = FER_ERROR_INIT;
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(graph, "interpret", &model, &error));
    fer_tensor *inputs[] = {make_x(), make_t(), NULL, NULL};
    ASSERT_OK(&error, fer_tensor_copy_from(FER_BOOL, 0, NULL, &(bool){true}, (fer_device){0},
                                           &inputs[2], &error));
    ASSERT_OK(&error, fer_tensor_copy_from(FER_I64, 0, NULL, &(int64_t){1}, (fer_device){0},
                                           &inputs[3], &error));
    outcome done = {.t = inputs[1]};
    done.status = fer_model_run(model, inputs, 4, &done.y, 1, &error);
    done.message = error.message == NULL ? NULL : strdup(error.message);
    fer_error_clear(&error);
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[2]);
    fer_tensor_release(inputs[3]);
    fer_model_release(model);
    return done;
}

static void clear_outcome(outcome *done)
{
    free(done->message);
    fer_tensor_release(done->y);
    fer_tensor_release(done->t);
}

static void assert_same_bits(const fer_tensor *a, const fer_tensor *b)
{
    assert_int_equal(fer_tensor_num_elements(a), fer_tensor_num_elements(b));
    assert_memory_equal(fer_tensor_const_data(a), fer_tensor_const_data(b),
                        fer_tensor_num_bytes(a));
}

static void assert_same_outcome(const outcome *eager, const outcome *staged)
{
    assert_int_equal(staged->status, eager->status);
    assert_same_bits(staged->t, eager->t);
    if (eager->status == FER_OK)
        assert_same_bits(staged->y, eager->y);
    else
        assert_non_null(strstr(staged->message, eager->message)); /* behind where it was */
    assert_true((staged->y == NULL) == (eager->y == NULL));
}

/* The graph, and its copy, which one with data-dependent dims refuses. */
static void compare(const op_case *op, const char *place)
{
    fer_error error = FER_ERROR_INIT;
    outcome eager = call_eagerly(op);
    int64_t size = eager.y == NULL ? 6 : fer_tensor_num_elements(eager.y);
    char *program = write_program(place, op->steps, size);
    fer_module *module = read_program(program);
    const fer_graph *graph = fer_module_find(module, "g");
    fer_graph *copy = NULL;
    fer_status status = fer_graph_copy(module, graph, "copy", &copy, &error);
    assert_int_equal(status, op->has_dynamic_dims ? FER_VALUE_ERROR : FER_OK);
    fer_error_clear(&error);
    const fer_graph *graphs[] = {graph, copy};
    for (size_t i = 0; i < 2 && graphs[i] != NULL; i++) {
        outcome staged = run_graph(graphs[i]);
        assert_same_outcome(&eager, &staged);
        clear_outcome(&staged);
    }
    clear_outcome(&eager);
    fer_module_release(module);
    free(program);
}

static void an_op_is_the_same_wherever_it_is_staged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
        for (size_t j = 0; j < sizeof PLACES / sizeof *PLACES; j++) {
            print_message("%s, place %zu\n", OPS[i].steps, j);
            compare(&OPS[i], PLACES[j]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_is_the_same_wherever_it_is_staged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
