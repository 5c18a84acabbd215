/* Passes change nothing that can be seen: random graphs give the same bits, the same errors, the
 * same inputs changed in their place and the same number of effects, before them and after each.
 *
 *   property_passes [CASES [SEED]]    tries a graph for each hundred cases
 */
#include "base/text.h"
#include "graph/passes.h"
#include "model/interpret.h"

#include <ferrule/ferrule.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXTENT 3
#define MAX_VISIBLE 64
#define NUM_INPUTS 6

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % bound;
}

/* --- Random programs -------------------------------------------------------------------------- */

/* Values of type f32[3] are v0, v1...: those that can be seen here. */
typedef struct writer {
    fer_text text;
    size_t visible[MAX_VISIBLE];
    size_t num_visible;
    size_t num_values;
    bool can_call; /* there is a graph `inner` */
} writer;

static size_t any(const writer *w)
{
    return w->visible[random_below(w->num_visible)];
}

static size_t define(writer *w)
{
    w->visible[w->num_visible++] = w->num_values;
    return w->num_values++;
}

static void write_steps(writer *w, size_t num_steps, int depth);

/* Steps of a block and what it yields; what it defines is not seen behind it. */
static void write_block(writer *w, int depth, const char *more)
{
    size_t num_visible = w->num_visible;
    write_steps(w, 1 + random_below(4), depth - 1);
    fer_text_printf(&w->text, " yield v%zu%s }", any(w), more);
    w->num_visible = num_visible;
}

/* Where the predicate is a constant, the if folds. */
static void write_if(writer *w, int depth)
{
    size_t result = w->num_values++;
    if (random_below(2) == 0)
        fer_text_printf(&w->text, "\nv%zu = if c {", result);
    else
        fer_text_printf(&w->text, "\nb%zu = constant bool[] [%s]\nv%zu = if b%zu {", result,
                        random_below(2) == 0 ? "true" : "false", result, result);
    write_block(w, depth, "");
    fer_text_append(&w->text, " else {");
    write_block(w, depth, "");
    w->visible[w->num_visible++] = result;
}

static void write_while(writer *w, int depth)
{
    size_t result = w->num_values++;
    size_t initial = any(w);
    size_t num_visible = w->num_visible;
    size_t carried = define(w);
    fer_text_printf(&w->text, "\nv%zu, i%zu = while v%zu = v%zu, i%zu = k {", result, result,
                    carried, initial, carried);
    write_steps(w, random_below(3), depth - 1);
    if (random_below(4) == 0)
        fer_text_printf(&w->text, " go%zu = constant bool[] [false]", result);
    else
        fer_text_printf(&w->text, " go%zu = is_positive(i%zu)", result, carried);
    fer_text_printf(&w->text, " yield go%zu }\ndo { next%zu = count_down(i%zu)", result, result,
                    carried);
    char more[32];
    snprintf(more, sizeof more, ", next%zu", result);
    write_block(w, depth, more);
    w->num_visible = num_visible;
    w->visible[w->num_visible++] = result;
}

/* A call of the inner graph, if there is one, else what it might have been. */
static void write_call(writer *w, size_t a, size_t b)
{
    if (w->can_call) {
        fer_text_printf(&w->text, "\nx%zu, y%zu, v%zu = call inner(v%zu, v%zu, c, k, at)",
                        w->num_values, w->num_values, w->num_values, a, b);
        define(w);
    } else {
        fer_text_printf(&w->text, "\nv%zu = load(v%zu)", define(w), a);
    }
}

static void write_step(writer *w, int depth)
{
    size_t a = any(w);
    size_t b = any(w);
    switch (random_below(depth > 0 ? 17 : 14)) {
    case 0:
    case 1:
    case 2:
        fer_text_printf(&w->text, "\nv%zu = add(v%zu, v%zu)", define(w), a, b);
        break;
    case 3:
        fer_text_printf(&w->text, "\nv%zu = twice(v%zu)", define(w), a);
        break;
    case 4:
    case 5:
        fer_text_printf(&w->text, "\nv%zu = constant f32[3] [%d, 1, 2]", define(w),
                        (int)random_below(3) - 1);
        break;
    case 6:
        fer_text_printf(&w->text, "\nv%zu = refuse_negative(v%zu)", define(w), a);
        break;
    case 7:
        fer_text_printf(&w->text, "\np%zu = positive(v%zu) l%zu = largest(p%zu)", w->num_values, a,
                        w->num_values, w->num_values);
        fer_text_printf(&w->text, " v%zu = scale(v%zu, l%zu)", w->num_values, b, w->num_values);
        define(w);
        break;
    case 8:
        fer_text_printf(&w->text, "\naccumulate(v%zu, v%zu)", a, b);
        break;
    case 9:
        fer_text_printf(&w->text,
                        random_below(2) == 0 ? "\nv%zu = rebind v%zu [3]"
                                             : "\nv%zu = choose(v%zu, c)",
                        define(w), a);
        fer_text_printf(&w->text, " n%zu = count_call(at)", w->num_values);
        break;
    case 10:
        fer_text_printf(&w->text, "\nr%zu = reshape v%zu [3, -1] t%zu = twice(r%zu)", w->num_values,
                        a, w->num_values, w->num_values);
        fer_text_printf(&w->text, " v%zu = reshape %c%zu [3]", w->num_values,
                        random_below(2) == 0 ? 'r' : 't', w->num_values);
        define(w);
        break;
    case 11:
        fer_text_printf(&w->text, "\nv%zu = transfer v%zu @ 0", define(w), a);
        break;
    case 12:
        fer_text_printf(&w->text, "\ns%zu = constant i64[1] [%d]\nt%zu = constant i64[1] [-1]",
                        w->num_values, (int)random_below(4) - 1, w->num_values);
        fer_text_printf(&w->text, " store_slice(v%zu, v%zu, s%zu, t%zu)", a, b, w->num_values,
                        w->num_values);
        w->num_values++;
        break;
    case 13:
        write_call(w, a, b);
        break;
    case 14:
    case 15:
        write_if(w, depth);
        break;
    default:
        write_while(w, depth);
    }
}

static void write_steps(writer *w, size_t num_steps, int depth)
{
    for (size_t i = 0; i < num_steps && w->num_visible + 2 < MAX_VISIBLE; i++)
        write_step(w, depth);
}

static void write_graph(writer *w, const char *name, size_t num_buffers, size_t num_steps)
{
    w->num_visible = 0;
    fer_text_printf(&w->text, "graph %s(", name);
    for (size_t i = 0; i < num_buffers; i++)
        fer_text_printf(&w->text, "%sv%zu: f32[3], ", random_below(8) > 0 ? "inout " : "",
                        define(w));
    fer_text_append(&w->text, "c: bool[], k: i64[], at: i64[]) {");
    write_steps(w, num_steps, 2);
    fer_text_printf(&w->text, "\nreturn v%zu, v%zu, v%zu }\n", any(w), any(w), any(w));
}

static char *write_program(void)
{
    fer_error error = FER_ERROR_INIT;
    writer w = {.text = FER_TEXT_INIT};
    char *text = NULL;
    fer_text_append(&w.text, "use \"kernels/graph\" use \"std\"\n");
    if (random_below(2) == 0) {
        write_graph(&w, "inner", 2, 1 + random_below(4));
        w.can_call = true;
    }
    write_graph(&w, "g", 3, 3 + random_below(10));
    if (fer_text_take(&w.text, &text, &error) != FER_OK)
        abort();
    return text;
}

/* --- What can be seen of a run ---------------------------------------------------------------- */

typedef struct observation {
    fer_status status;
    char *message;
    float outputs[3][EXTENT];
    float inputs[3][EXTENT]; /* afterwards */
    int64_t num_effects;
} observation;

static fer_tensor *make(fer_dtype dtype, size_t rank, const void *data)
{
    static const int64_t SHAPE[] = {EXTENT};
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    if (fer_tensor_copy_from(dtype, rank, SHAPE, data, (fer_device){0}, &tensor, &error) != FER_OK)
        abort();
    return tensor;
}

static void make_inputs(bool choice, int64_t *num_effects, fer_tensor **inputs)
{
    static const float VALUES[3][EXTENT] = {{1, 2, -3}, {0.5f, 4, 1}, {-0.0f, 7, 1e-3f}};
    int64_t turns = 2;
    int64_t address = (int64_t)(intptr_t)num_effects;
    for (size_t i = 0; i < 3; i++)
        inputs[i] = make(FER_F32, 1, VALUES[i]);
    inputs[3] = make(FER_BOOL, 0, &choice);
    inputs[4] = make(FER_I64, 0, &turns);
    inputs[5] = make(FER_I64, 0, &address);
}

static fer_status interpret(const fer_graph *graph, fer_tensor **inputs, fer_tensor **outputs,
                            fer_error *error)
{
    fer_schedule schedule;
    fer_run_state *state = NULL;
    FER_TRY(fer_schedule_create(graph, &schedule, error));
    fer_status status = fer_run_state_create(&schedule, &state, error);
    if (status == FER_OK)
        status = fer_interpret(state, inputs, NUM_INPUTS, outputs, 3, error);
    fer_run_state_destroy(state);
    fer_schedule_clear(&schedule);
    return status;
}

/* Runs the graph as it is, without passes. */
static observation observe(const fer_graph *graph, bool choice)
{
    observation seen;
    memset(&seen, 0, sizeof seen);
    fer_error error = FER_ERROR_INIT;
    fer_tensor *inputs[NUM_INPUTS];
    fer_tensor *outputs[3] = {NULL};
    make_inputs(choice, &seen.num_effects, inputs);
    seen.status = interpret(graph, inputs, outputs, &error);
    if (seen.status != FER_OK)
        seen.message = strdup(error.message);
    fer_error_clear(&error);
    for (size_t i = 0; i < 3; i++) {
        memcpy(seen.inputs[i], fer_tensor_const_data(inputs[i]), sizeof seen.inputs[i]);
        if (seen.status == FER_OK)
            memcpy(seen.outputs[i], fer_tensor_const_data(outputs[i]), sizeof seen.outputs[i]);
        fer_tensor_release(outputs[i]);
    }
    for (size_t i = 0; i < NUM_INPUTS; i++)
        fer_tensor_release(inputs[i]);
    return seen;
}

static bool is_same(const observation *a, const observation *b)
{
    bool has_same_message = a->message == NULL
                                ? b->message == NULL
                                : b->message != NULL && strcmp(a->message, b->message) == 0;
    return a->status == b->status && has_same_message && a->num_effects == b->num_effects &&
           memcmp(a->inputs, b->inputs, sizeof a->inputs) == 0 &&
           memcmp(a->outputs, b->outputs, sizeof a->outputs) == 0;
}

/* --- The property ----------------------------------------------------------------------------- */

typedef struct tally {
    size_t refused; /* to be built: an op would change a value that another operand shares */
    size_t failed;  /* in a run */
    size_t succeeded;
    size_t shorter; /* after all passes */
} tally;

static fer_graph *without_dead(const fer_graph *graph, fer_module *module,
                               fer_graph *const *callees)
{
    fer_error error = FER_ERROR_INIT;
    fer_rewrite rewrite;
    fer_graph *rewritten = NULL;
    if (fer_rewrite_start(graph, &rewrite, &error) != FER_OK ||
        fer_pass_dead.decide(&rewrite, &error) != FER_OK ||
        fer_graph_rewrite(&rewrite, module, graph->name, callees, &rewritten, &error) != FER_OK ||
        fer_module_take_graph(module, rewritten, &error) != FER_OK)
        abort();
    fer_rewrite_clear(&rewrite);
    return rewritten;
}

/* What is seen of a graph and of what it calls without their dead code, where an op might fail that
 * need not run. */
static observation observe_needed(const fer_graph *graph, bool choice)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    fer_graph *callees[] = {NULL, NULL};
    if (fer_module_create(&module, &error) != FER_OK)
        abort();
    for (size_t i = 0; i < graph->index; i++)
        callees[i] = without_dead(fer_module_graph_at(graph->module, i), module, callees);
    observation seen = observe(without_dead(graph, module, callees), choice);
    fer_module_release(module);
    return seen;
}

/* Folding an if takes the last use of what the other arm used, so nothing is left out around it. */
static observation observe_around(const fer_pass *pass, const fer_module *module, bool choice)
{
    const fer_graph *graph = fer_module_find(module, "g");
    return pass == &fer_pass_fold ? observe(graph, choice) : observe_needed(graph, choice);
}

static bool check_pass(const fer_pass *pass, const fer_module *before, const fer_module *after,
                       bool choice)
{
    observation expected = observe_around(pass, before, choice);
    observation seen = observe_around(pass, after, choice);
    bool is_equal = is_same(&expected, &seen);
    if (!is_equal)
        printf("after '%s': status %d, %s; was %d, %s; %" PRId64 " effects, were %" PRId64 "\n",
               pass->name, (int)seen.status, seen.message == NULL ? "" : seen.message,
               (int)expected.status, expected.message == NULL ? "" : expected.message,
               seen.num_effects, expected.num_effects);
    free(expected.message);
    free(seen.message);
    return is_equal;
}

/* Each pass is compared with the one before it. */
static bool check_passes(fer_module *module, bool choice, size_t *out_num_nodes)
{
    fer_module *before = fer_module_retain(module);
    bool are_equal = true;
    for (size_t i = 0; FER_PASSES[i] != NULL && are_equal; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_module *after = NULL;
        if (fer_module_after(module, FER_PASSES[i], &after, &error) != FER_OK)
            abort();
        are_equal = check_pass(FER_PASSES[i], before, after, choice);
        fer_module_release(before);
        before = after;
    }
    *out_num_nodes = fer_module_find(before, "g")->num_nodes;
    fer_module_release(before);
    return are_equal;
}

static bool check_module(fer_module *module, tally *counts)
{
    bool choice = random_below(2) == 0;
    const fer_graph *graph = fer_module_find(module, "g");
    observation whole = observe(graph, choice);
    observation needed = observe_needed(graph, choice);
    counts->succeeded += needed.status == FER_OK;
    counts->failed += needed.status != FER_OK;
    size_t num_nodes = 0;
    bool are_equal = whole.status != FER_OK || is_same(&whole, &needed);
    if (!are_equal)
        printf("without dead code: %s\n", needed.message == NULL ? "" : needed.message);
    are_equal = are_equal && check_passes(module, choice, &num_nodes);
    counts->shorter += num_nodes < graph->num_nodes;
    free(whole.message);
    free(needed.message);
    return are_equal;
}

static bool check_one(tally *counts)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    char *text = write_program();
    bool are_equal = true;
    if (fer_module_parse(text, "t.fer", FERRULE_TEST_DATA, &module, &error) == FER_OK) {
        are_equal = check_module(module, counts);
    } else {
        counts->refused++;
        are_equal = strstr(error.message, "shares its memory") != NULL ||
                    strstr(error.message, "is not declared so") != NULL;
        if (!are_equal)
            printf("%s\n", error.message);
    }
    if (!are_equal)
        printf("%s", text);
    fer_error_clear(&error);
    fer_module_release(module);
    free(text);
    return are_equal;
}

int main(int argc, char **argv)
{
    size_t num_graphs = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100000) / 100;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252;
    tally counts = {0};
    bool are_equal = true;
    for (size_t i = 0; i < num_graphs && are_equal; i++)
        are_equal = check_one(&counts);
    printf("%zu graphs: %zu refused, %zu ran, %zu failed, %zu shorter after the passes\n",
           num_graphs, counts.refused, counts.succeeded, counts.failed, counts.shorter);
    if (are_equal && (counts.succeeded < num_graphs / 10 || counts.failed < num_graphs / 20 ||
                      counts.shorter < num_graphs / 4)) {
        printf("too few of one kind to mean anything\n");
        are_equal = false;
    }
    return are_equal ? 0 : 1;
}
