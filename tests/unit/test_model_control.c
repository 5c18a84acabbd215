/* Running control flow and calls: values, what happens in place, and failures midway. */
#include "testing_graph.h"

/* Runs a model of a vector and one more input; takes both. */
static void run_two(fer_model *model, fer_tensor *x, fer_tensor *second, fer_tensor **outputs,
                    size_t num_outputs)
{
    fer_tensor *inputs[] = {x, second};
    run(model, inputs, 2, outputs, num_outputs);
    fer_tensor_release(x);
    fer_tensor_release(second);
}

/* --- if --------------------------------------------------------------------------------------- */

static void an_if_runs_one_arm(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(c: bool[], counter: i64[]) -> f32[] {\n"
                                  "  y = if c { one = constant f32[] [1] yield one }\n"
                                  "      else { two = count_call(counter) yield two }\n"
                                  "  return y }");
    long count = 0;
    for (int turn = 0; turn < 4; turn++) {
        fer_tensor *inputs[] = {make_bool(turn % 2 == 0), make_int((int64_t)(intptr_t)&count)};
        fer_tensor *y = NULL;
        run(model, inputs, 2, &y, 1);
        assert_true(*(const float *)fer_tensor_const_data(y) == (turn % 2 == 0 ? 1.0f : 0.0f));
        assert_int_equal(count, (turn + 1) / 2);
        fer_tensor_release(y);
        fer_tensor_release(inputs[0]);
        fer_tensor_release(inputs[1]);
    }
    fer_model_release(model);
}

/* What the other arm would have refused is no fault; what the arm itself refuses is. */
static void an_arm_is_checked_when_it_is_reached(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph g(x: f32[n], c: bool[]) -> f32[n] {\n"
                                  "  y = if c { p = pairs(x) big = add(x, x) yield big }\n"
                                  "      else { yield x }\n"
                                  "  z = if c { p = pairs(x) r = rebind p [m] yield r }\n"
                                  "      else { r = rebind x [m] yield r }\n"
                                  "  s = twice(z)\n"
                                  "  t = rebind s [2]\n"
                                  "  return y }");
    fer_tensor *y = NULL;
    run_two(model, FLOATS(1, 2, 3, 4), make_bool(true), &y, 1);
    ASSERT_FLOATS(y, 2, 4, 6, 8);
    fer_tensor_release(y);
    run_two(model, FLOATS(5, 6), make_bool(false), &y, 1);
    ASSERT_FLOATS(y, 5, 6);
    fer_tensor_release(y);
    fer_tensor *inputs[] = {FLOATS(1, 2, 3), make_bool(true)};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, &y, 1, &error),
                 "graph 'g': pairs:", "n % 2 == 0");
    fer_tensor_release(inputs[0]);
    inputs[0] = FLOATS(1, 2);
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, inputs, 2, &y, 1, &error),
                 "rebind to f32[2]: axis 0 is 1");
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[1]);
    fer_model_release(model);
}

static void a_size_leaves_an_if_by_a_common_name(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n], c: bool[]) {\n"
                                  "  y = if c { k = positive(x) r = rebind k [m] yield r }\n"
                                  "      else { e = every(x) r = rebind e [m] yield r }\n"
                                  "  z = twice(y)\n"
                                  "  both = add(z, y)\n"
                                  "  return both, y, y }");
    fer_tensor *outputs[3];
    for (int turn = 0; turn < 2; turn++) {
        run_two(model, FLOATS(1, -2, 3, 4), make_bool(true), outputs, 3);
        ASSERT_FLOATS(outputs[0], 3, 9, 12);
        ASSERT_FLOATS(outputs[2], 1, 3, 4);
        for (size_t i = 0; i < 3; i++)
            fer_tensor_release(outputs[i]);
        run_two(model, FLOATS(1, -2, 3, 4), make_bool(false), outputs, 3);
        ASSERT_FLOATS(outputs[0], 3, 9);
        ASSERT_FLOATS(outputs[1], 1, 3);
        for (size_t i = 0; i < 3; i++)
            fer_tensor_release(outputs[i]);
    }
    fer_model_release(model);
}

/* The last graph finds how many elements of y are above 0, and that is to be y's size, whatever the
 * block before called m. */
static void assert_binds_anew(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model(text);
    fer_tensor *inputs[] = {make_bool(true), FLOATS(1, -1, 2, 3), FLOATS(1, 2)};
    fer_tensor *y = NULL;
    for (int turn = 0; turn < 2; turn++) {
        run(model, inputs, 3, &y, 1);
        ASSERT_FLOATS(y, 1, 2);
        fer_tensor_release(y);
    }
    fer_tensor_release(inputs[2]);
    inputs[2] = FLOATS(1, 2, 3, -4);
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, inputs, 3, &y, 1, &error),
                 "rebind to f32[m]: axis 0 is 3, but m is 4");
    for (size_t i = 0; i < 3; i++)
        fer_tensor_release(inputs[i]);
    fer_model_release(model);
}

static void a_name_of_a_block_is_bound_anew_behind_it(void **state)
{
    (void)state;
#define INPUTS "(c: bool[], x: f32[n], y: f32[k])"
#define BIND_ANEW "q = rebind y [m] d = positive(y) e = rebind d [m] return e }"
    assert_binds_anew("graph g" INPUTS "{ if c { p = positive(x) r = rebind p [m] }" BIND_ANEW);
    assert_binds_anew("graph g" INPUTS "{ no = constant bool[] [false]\n"
                      "z = while go = c { p = positive(x) r = rebind p [m] yield go }\n"
                      "do { yield no }" BIND_ANEW);
    assert_binds_anew("graph f" INPUTS "{ if c { p = positive(x) r = rebind p [m] }" BIND_ANEW
                      "graph g" INPUTS "{ z = call f(c, x, y) return z }");
}

/* --- while ------------------------------------------------------------------------------------ */

#define COUNT_DOWN(body)                                                                           \
    "graph g(x: f32[n], k: i64[]) {\n"                                                             \
    "  s, t, i = while s = x, t = x, j = k { go = is_positive(j) yield go }\n"                     \
    "  do { next = count_down(j)\n" body "}\n"                                                     \
    "  return s, t, i, x }"

static void a_loop_runs_as_often_as_its_condition_says(void **state)
{
    (void)state;
    fer_model *model = make_model(COUNT_DOWN("a = twice(s) yield a, t, next"));
    for (int64_t turns = 0; turns < 4; turns++) {
        fer_tensor *outputs[4];
        run_two(model, FLOATS(1, -2), make_int(turns), outputs, 4);
        ASSERT_FLOATS(outputs[0], (float)(1 << turns), (float)(-2 * (1 << turns)));
        ASSERT_FLOATS(outputs[1], 1, -2);
        assert_int_equal(*(const int64_t *)fer_tensor_const_data(outputs[2]), 0);
        ASSERT_FLOATS(outputs[3], 1, -2);
        for (size_t i = 0; i < 4; i++)
            fer_tensor_release(outputs[i]);
    }
    fer_model_release(model);
}

/* All carried values change at once. */
static void carried_values_can_change_places(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n], k: i64[]) {\n"
                                  "  y = twice(x) z = twice(y)\n"
                                  "  a, b, c, i = while a = x, b = y, c = z, j = k {\n"
                                  "    go = is_positive(j) yield go\n"
                                  "  } do { next = count_down(j) yield b, c, a, next }\n"
                                  "  return a, b, c }");
    static const float EXPECTED[4][3] = {{1, 2, 4}, {2, 4, 1}, {4, 1, 2}, {1, 2, 4}};
    for (int64_t turns = 0; turns < 4; turns++) {
        fer_tensor *outputs[3];
        run_two(model, FLOATS(1), make_int(turns), outputs, 3);
        for (size_t i = 0; i < 3; i++) {
            ASSERT_FLOATS(outputs[i], EXPECTED[turns][i]);
            fer_tensor_release(outputs[i]);
        }
    }
    fer_model_release(model);
}

/* The buffers of a loop's body are used again in the next turn; what is older must not be. */
static void a_turn_overwrites_nothing_that_a_later_one_reads(void **state)
{
    (void)state;
    fer_model *model =
        make_model("graph g(x: f32[n], k: i64[]) {\n"
                   "  old = twice(x)\n"
                   "  s, i = while s = x, j = k { go = is_positive(j) yield go }\n"
                   "  do {\n"
                   "    next = count_down(j)\n"
                   "    a = add(s, old)\n"
                   "    b = twice(a)\n"
                   "    c = twice(b)\n"
                   "    d = add(c, a)\n"
                   "    s2, i2 = while u = d, l = k { go2 = is_positive(l) yield go2 }\n"
                   "    do { m = count_down(l) v = add(u, a) w = add(v, old) yield w, m }\n"
                   "    yield s2, next\n"
                   "  }\n"
                   "  last = twice(s)\n"
                   "  return last }");
    for (int64_t turns = 0; turns < 4; turns++) {
        float s = 1;
        for (int64_t i = 0; i < turns; i++) {
            float a = s + 2, u = 5 * a;
            for (int64_t j = 0; j < turns; j++)
                u += a + 2;
            s = u;
        }
        fer_tensor *y = NULL;
        run_two(model, FLOATS(1), make_int(turns), &y, 1);
        ASSERT_FLOATS(y, 2 * s);
        fer_tensor_release(y);
    }
    fer_model_release(model);
}

static void sizes_in_a_loop_follow_the_data_in_each_turn(void **state)
{
    (void)state;
    fer_model *model = make_model("graph g(x: f32[n], k: i64[]) {\n"
                                  "  one = constant f32[1] [1]\n"
                                  "  seen = constant f32[1] [0]\n"
                                  "  s, i = while s = x, j = k { go = is_positive(j) yield go }\n"
                                  "  do {\n"
                                  "    next = count_down(j)\n"
                                  "    kept = positive(s)\n"
                                  "    big = largest(kept)\n"
                                  "    neg = scale(one, big)\n"
                                  "    accumulate(seen, neg)\n"
                                  "    low, high = halves(s)\n"
                                  "    more = positive(high)\n"
                                  "    other = largest(more)\n"
                                  "    u = scale(s, other)\n"
                                  "    flipped = choose(u, true)\n"
                                  "    yield flipped, next\n"
                                  "  }\n"
                                  "  return s, seen }");
    fer_tensor *outputs[2];
    /* 1 2 3 -> times 3, flipped: -3 -6 -9 -> nothing positive: 0 */
    for (int turn = 0; turn < 2; turn++) {
        run_two(model, FLOATS(1, 2, 3), make_int(1), outputs, 2);
        ASSERT_FLOATS(outputs[0], -3, -6, -9);
        ASSERT_FLOATS(outputs[1], 3);
        fer_tensor_release(outputs[0]);
        fer_tensor_release(outputs[1]);
        run_two(model, FLOATS(1, -2, 3), make_int(3), outputs, 2);
        /* -3 6 -9, then times 6: 18 -36 54, then times 54; the largest were 3, 6 and 54 */
        ASSERT_FLOATS(outputs[0], -972, 1944, -2916);
        ASSERT_FLOATS(outputs[1], 63);
        fer_tensor_release(outputs[0]);
        fer_tensor_release(outputs[1]);
    }
    fer_model_release(model);
}

/* --- In place --------------------------------------------------------------------------------- */

static void a_loop_changes_its_own_memory_and_not_the_initial_value(void **state)
{
    (void)state;
    fer_model *model = make_model(COUNT_DOWN("accumulate(s, t) yield s, t, next"));
    fer_tensor *outputs[4];
    run_two(model, FLOATS(1, 2), make_int(3), outputs, 4);
    ASSERT_FLOATS(outputs[0], 4, 8);
    ASSERT_FLOATS(outputs[1], 1, 2);
    ASSERT_FLOATS(outputs[3], 1, 2);
    for (size_t i = 0; i < 4; i++)
        fer_tensor_release(outputs[i]);
    fer_model_release(model);
}

static void arms_and_bodies_change_what_is_around_them(void **state)
{
    (void)state;
    fer_model *model = make_model("graph add_to(inout total: f32[k], x: f32[k]) {\n"
                                  "  before = twice(total)\n"
                                  "  accumulate(total, x)\n"
                                  "  return before, total }\n"
                                  "graph g(inout total: f32[n], x: f32[n], c: bool[], k: i64[]) {\n"
                                  "  before = twice(total)\n"
                                  "  alias = rebind total [n]\n"
                                  "  if c { accumulate(alias, x) }\n"
                                  "  i = while j = k { go = is_positive(j) yield go }\n"
                                  "  do { accumulate(total, x) next = count_down(j) yield next }\n"
                                  "  was, is = call add_to(alias, x)\n"
                                  "  accumulate(is, x)\n"
                                  "  return before, was, is, alias }");
    fer_tensor *inputs[] = {FLOATS(1, 2), FLOATS(10, 20), make_bool(true), make_int(2)};
    fer_tensor *outputs[4];
    run(model, inputs, 4, outputs, 4);
    ASSERT_FLOATS(inputs[0], 41, 82);
    ASSERT_FLOATS(inputs[1], 10, 20);
    ASSERT_FLOATS(outputs[0], 2, 4);
    ASSERT_FLOATS(outputs[1], 62, 124);
    ASSERT_FLOATS(outputs[2], 51, 102);
    ASSERT_FLOATS(outputs[3], 41, 82);
    for (size_t i = 0; i < 4; i++) {
        fer_tensor_release(inputs[i]);
        fer_tensor_release(outputs[i]);
    }
    fer_model_release(model);
}

/* A constant that is changed in a body is new in each turn. */
static void a_constant_in_a_body_starts_anew_in_each_turn(void **state)
{
    (void)state;
    fer_model *model = make_model(COUNT_DOWN("c = constant f32[1] [100]\n"
                                             "  r = rebind s [1]\n"
                                             "  accumulate(c, r)\n"
                                             "  y = rebind c [n]\n"
                                             "  yield y, t, next"));
    fer_tensor *outputs[4];
    for (int64_t turns = 1; turns < 4; turns++) {
        run_two(model, FLOATS(1), make_int(turns), outputs, 4);
        ASSERT_FLOATS(outputs[0], (float)(100 * turns + 1));
        for (size_t i = 0; i < 4; i++)
            fer_tensor_release(outputs[i]);
    }
    fer_model_release(model);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static void what_a_call_gives_is_its_own(void **state)
{
    (void)state;
    fer_model *model = make_model("graph f(x: f32[m]) {\n"
                                  "  c = constant f32[2] [8, 9]\n"
                                  "  y = twice(x)\n"
                                  "  r = rebind y [m]\n"
                                  "  return x, c, y, y, r }\n"
                                  "graph g(x: f32[2]) {\n"
                                  "  a, b, c, d, e = call f(x)\n"
                                  "  a2, b2, c2, d2, e2 = call f(x)\n"
                                  "  accumulate(a, x) accumulate(b, x) accumulate(c, x)\n"
                                  "  return a, b, c, d, e, a2, b2, c2, x }");
    fer_tensor *x = FLOATS(1, 2);
    fer_tensor *outputs[9];
    for (int turn = 0; turn < 2; turn++) {
        run(model, &x, 1, outputs, 9);
        ASSERT_FLOATS(outputs[0], 2, 4);
        ASSERT_FLOATS(outputs[1], 9, 11);
        ASSERT_FLOATS(outputs[2], 3, 6);
        ASSERT_FLOATS(outputs[3], 2, 4);
        ASSERT_FLOATS(outputs[4], 2, 4);
        ASSERT_FLOATS(outputs[5], 1, 2);
        ASSERT_FLOATS(outputs[6], 8, 9);
        ASSERT_FLOATS(outputs[7], 2, 4);
        ASSERT_FLOATS(outputs[8], 1, 2);
        for (size_t i = 0; i < 9; i++)
            fer_tensor_release(outputs[i]);
    }
    fer_tensor_release(x);
    fer_model_release(model);
}

static void sizes_that_a_call_finds_are_the_callers(void **state)
{
    (void)state;
    fer_model *model = make_model("graph f(x: f32[m]) {\n"
                                  "  kept = positive(x)\n"
                                  "  r = rebind kept [q]\n"
                                  "  e = every(r)\n"
                                  "  return e }\n"
                                  "graph g(x: f32[n], y: f32[n]) {\n"
                                  "  a = call f(x)\n"
                                  "  b = call f(y)\n"
                                  "  a2 = twice(a)\n"
                                  "  b2 = add(b, b)\n"
                                  "  return a2, b2 }");
    fer_tensor *outputs[2];
    run_two(model, FLOATS(1, -1, 2, 3, 4), FLOATS(-1, -1, 6, 7, -1), outputs, 2);
    ASSERT_FLOATS(outputs[0], 2, 6);
    ASSERT_FLOATS(outputs[1], 12);
    fer_tensor_release(outputs[0]);
    fer_tensor_release(outputs[1]);
    fer_model_release(model);
}

/* A pure call whose results nothing uses does not run; one with an effect does, once. */
static void calls_run_for_their_results_or_effects(void **state)
{
    (void)state;
    fer_model *model = make_model("graph pure(c: i64[]) { y = silent_count(c) return y }\n"
                                  "graph loud(c: i64[]) { y = count_call(c) return y }\n"
                                  "graph g(a: i64[], b: i64[]) {\n"
                                  "  u = call pure(a) v = call loud(b)\n"
                                  "  w = call pure(a)\n"
                                  "  return w }");
    long counts[2] = {0, 0};
    fer_tensor *inputs[2], *y = NULL;
    for (size_t i = 0; i < 2; i++)
        inputs[i] = make_int((int64_t)(intptr_t)&counts[i]);
    run(model, inputs, 2, &y, 1);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 1);
    fer_tensor_release(y);
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[1]);
    fer_model_release(model);
}

/* --- Effects ---------------------------------------------------------------------------------- */

static void effects_run_once_in_each_execution_of_their_block(void **state)
{
    (void)state;
    fer_model *model =
        make_model("graph g(c: i64[], k: i64[]) -> () {\n"
                   "  i = while j = k { a = count_call(c) go = is_positive(j) yield go }\n"
                   "  do { next = count_down(j) if go { b = count_call(c) s = silent_count(c) }\n"
                   "       yield next }\n"
                   "  return }");
    for (int64_t turns = 0; turns < 3; turns++) {
        long count = 0;
        fer_tensor *inputs[] = {make_int((int64_t)(intptr_t)&count), make_int(turns)};
        run(model, inputs, 2, NULL, 0);
        assert_int_equal(count, 2 * turns + 1);
        fer_tensor_release(inputs[0]);
        fer_tensor_release(inputs[1]);
    }
    fer_model_release(model);
}

/* --- Failures --------------------------------------------------------------------------------- */

static void a_failure_midway_says_where_and_keeps_what_was_done(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model("graph check(x: f32[m], c: i64[]) {\n"
                                  "  n = count_call(c)\n"
                                  "  y = refuse_negative(x)\n"
                                  "  return y }\n"
                                  "graph g(x: f32[2], inout total: f32[2], c: i64[], k: i64[]) {\n"
                                  "  minus = constant f32[2] [-1, 0]\n"
                                  "  s, i = while s = x, j = k { go = is_positive(j) yield go }\n"
                                  "  do {\n"
                                  "    accumulate(total, s)\n"
                                  "    ok = call check(s, c)\n"
                                  "    t = add(ok, minus) next = count_down(j)\n"
                                  "    yield t, next }\n"
                                  "  return s, total }");
    long count = 0;
    fer_tensor *inputs[] = {FLOATS(1.5, 7), FLOATS(100, 100), make_int((int64_t)(intptr_t)&count),
                            make_int(10)};
    fer_tensor *outputs[2];
    for (int turn = 0; turn < 2; turn++) {
        ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, inputs, 4, outputs, 2, &error),
                     "t.fer:4:",
                     "graph 'g': iteration 3 of while: call of 'check': refuse_negative: element 0 "
                     "is -0.5, below 0");
        assert_null(outputs[0]);
        assert_null(outputs[1]);
        assert_int_equal(count, 3 * (turn + 1));
        ASSERT_FLOATS(inputs[0], 1.5, 7);
        ASSERT_FLOATS(inputs[1], 101.5f + 1.5f * (float)turn, 121 + 21 * (float)turn);
    }
    for (size_t i = 0; i < 4; i++)
        fer_tensor_release(inputs[i]);
    fer_model_release(model);
}

static void what_is_refused_has_run_nothing(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    long count = 0;
    fer_model *model = make_model("graph f(x: f32[m]) { y = pairs(x) return y }\n"
                                  "graph g(x: f32[n], c: i64[]) {\n"
                                  "  a = count_call(c)\n"
                                  "  y = call f(x)\n"
                                  "  return y }");
    fer_tensor *inputs[] = {FLOATS(1, 2, 3), make_int((int64_t)(intptr_t)&count)};
    fer_tensor *y = NULL;
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_model_run(model, inputs, 2, &y, 1, &error),
                 "graph 'g': call of 'f': pairs:", "n % 2 == 0");
    assert_int_equal(count, 0);
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[1]);
    fer_model_release(model);
}

/* --- Interruption ----------------------------------------------------------------------------- */

static bool says_yes_at_last(void *context)
{
    int *num_left = context;
    return --*num_left == 0;
}

#define ENDLESS                                                                                    \
    "graph f(inout total: f32[n], x: f32[n], go: bool[]) {\n"                                      \
    "  while { yield go } do { accumulate(total, x) } return }\n"                                  \
    "graph g(inout total: f32[n], inout x: f32[n], go: bool[]) -> f32[n] {\n"                      \
    "  accumulate(x, total) call f(total, x, go) y = twice(x) return y }"

/* It is asked several times a second, however many turns there are. */
static void a_loop_without_end_is_interrupted(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_model *model = make_model(ENDLESS);
    fer_tensor *inputs[] = {FLOATS(0, 0), FLOATS(1, 2), make_bool(true)};
    fer_tensor *y = inputs[0];
    int num_left = 3;
    fer_set_interrupt(says_yes_at_last, &num_left);
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, inputs, 3, &y, 1, &error),
                 "t.fer:3:3: graph 'g': call of 'f': iteration ", " of while: interrupted");
    assert_null(y);
    assert_int_equal(num_left, 0);
    /* Whole turns: both elements were added as often. */
    const float *total = fer_tensor_const_data(inputs[0]);
    assert_true(total[0] > 1 && total[1] == 2 * total[0]);
    ASSERT_FLOATS(inputs[1], 1, 2);
    /* The model is as good as before. */
    num_left = 1;
    fer_tensor_release(inputs[2]);
    inputs[2] = make_bool(false);
    run(model, inputs, 3, &y, 1);
    assert_int_equal(num_left, 1);
    fer_set_interrupt(NULL, NULL);
    for (int i = 0; i < 3; i++)
        fer_tensor_release(inputs[i]);
    fer_tensor_release(y);
    fer_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_if_runs_one_arm),
        cmocka_unit_test(an_arm_is_checked_when_it_is_reached),
        cmocka_unit_test(a_size_leaves_an_if_by_a_common_name),
        cmocka_unit_test(a_name_of_a_block_is_bound_anew_behind_it),
        cmocka_unit_test(a_loop_runs_as_often_as_its_condition_says),
        cmocka_unit_test(carried_values_can_change_places),
        cmocka_unit_test(a_turn_overwrites_nothing_that_a_later_one_reads),
        cmocka_unit_test(sizes_in_a_loop_follow_the_data_in_each_turn),
        cmocka_unit_test(a_loop_changes_its_own_memory_and_not_the_initial_value),
        cmocka_unit_test(arms_and_bodies_change_what_is_around_them),
        cmocka_unit_test(a_constant_in_a_body_starts_anew_in_each_turn),
        cmocka_unit_test(what_a_call_gives_is_its_own),
        cmocka_unit_test(sizes_that_a_call_finds_are_the_callers),
        cmocka_unit_test(calls_run_for_their_results_or_effects),
        cmocka_unit_test(effects_run_once_in_each_execution_of_their_block),
        cmocka_unit_test(a_failure_midway_says_where_and_keeps_what_was_done),
        cmocka_unit_test(what_is_refused_has_run_nothing),
        cmocka_unit_test(a_loop_without_end_is_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
