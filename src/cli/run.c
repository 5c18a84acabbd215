/* ferrule run: runs a graph of a program. */
#include "base/text.h"
#include "cli/exchange.h"
#include "cli/profile.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {{"check", no_argument, NULL, 'c'},
                                        {"graph", required_argument, NULL, 'g'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"profile", no_argument, NULL, 'P'},
                                        {"report", no_argument, NULL, 'r'},
                                        {"stats", no_argument, NULL, 's'},
                                        {"trace", required_argument, NULL, 'T'},
                                        FER_HELP_OPTION,
                                        {0}};

const fer_subcommand fer_command_run = {
    .name = "run",
    .arguments = "[--graph NAME] [--check] [--report] [--stats] [--profile] [--trace FILE] "
                 "[-o [NAME=]OUTPUT]... [--] PROGRAM.fer NAME=INPUT...",
    .summary = "run a program's graph",
    .help =
        "\nINPUT is a .npy or .png file, or a number for an input of rank 0. A picture is read as\n"
        "f32 in 0..1 where the input is f32, as u16 where it is u16, else as u8. Each -o writes "
        "the\n"
        "output of that name, or the next one, as .npy or .png; inout inputs come after the\n"
        "outputs. What has no -o is printed.\n"
        "--graph is needed where the program has several and none is called main.\n"
        "--check runs each kernel on copies, and tells of one that writes or indexes outside, "
        "writes\n"
        "to an operand that is not inout, or leaves a result unwritten.\n"
        "--report says on stderr what compiled, which shapes went in and came out, and how long\n"
        "it took; --stats how much was compiled, found in the cache and allocated for larger\n"
        "tensors. --profile prints on stderr the time that each op took in the run, the longest\n"
        "first; --trace writes each call of a kernel to a file that Chrome's and Perfetto's trace\n"
        "viewers read.\n",
    .letters = ":hcg:o:rs",
    .options = OPTIONS,
    .run = run,
};

/* What the command line says. */
typedef struct arguments {
    const char *program;
    const char *graph; /* NULL: none was named */
    bool has_report;
    bool has_stats;
    bool has_profile;
    const char *trace; /* NULL: none */
    fer_given_output *outputs;
    size_t num_outputs;
    char **pairs; /* NAME=INPUT */
    size_t num_pairs;
} arguments;

/* What a run makes on the way, all owned but `graph`. */
typedef struct work {
    fer_module *module;
    const fer_graph *graph;
    char *subject; /* how messages name the graph */
    fer_model *model;
    fer_tensor **inputs;
    fer_tensor **outputs; /* of the graph, then the inout inputs as they are after the run */
    size_t num_outputs;
    const char **names; /* of the outputs; borrowed, NULL where there is none */
    const char **paths;
    fer_profile profile;
} work;

enum { MAX_KNOWN = 64 }; /* names that are compared with one that is not there */

static fer_status fail_graph(const arguments *arguments, const fer_module *module, fer_error *error)
{
    size_t num_graphs = fer_module_num_graphs(module);
    if (num_graphs == 0)
        return fer_fail(error, FER_VALUE_ERROR, "%s: has no graph", arguments->program);
    const char *known[MAX_KNOWN];
    fer_text list = FER_TEXT_INIT;
    for (size_t i = 0; i < num_graphs; i++) {
        const char *name = fer_graph_name(fer_module_graph_at(module, i));
        fer_text_printf(&list, "%s'%s'", i == 0 ? "" : ", ", name);
        if (i < MAX_KNOWN)
            known[i] = name;
    }
    size_t num_known = num_graphs < MAX_KNOWN ? num_graphs : MAX_KNOWN;
    fer_hint hint;
    fer_status status = FER_OK;
    if (list.has_failed)
        status = fer_fail_memory(error);
    else if (arguments->graph == NULL)
        status = fer_fail(error, FER_VALUE_ERROR,
                          "%s: has several graphs, choose one with --graph, or call one 'main': %s",
                          arguments->program, fer_text_string(&list));
    else
        status =
            fer_fail(error, FER_VALUE_ERROR, "%s: has no graph '%s', but %s%s", arguments->program,
                     arguments->graph, fer_text_string(&list),
                     fer_did_you_mean(fer_near_name(arguments->graph, known, num_known), &hint));
    fer_text_free(&list);
    return status;
}

/* What --graph says, else the only graph, else the one called main. */
static fer_status choose_graph(const arguments *arguments, work *work, fer_error *error)
{
    const fer_module *module = work->module;
    if (arguments->graph == NULL && fer_module_num_graphs(module) == 1)
        work->graph = fer_module_graph_at(module, 0);
    else
        work->graph = fer_module_find(module, arguments->graph == NULL ? "main" : arguments->graph);
    return work->graph != NULL ? FER_OK : fail_graph(arguments, module, error);
}

static fer_status fail_unknown(const char *name, const char *const *known, size_t num_known,
                               fer_error *error)
{
    const char *near = fer_near_name(name, known, num_known);
    if (near != NULL)
        return fer_fail(error, FER_TYPE_ERROR, "there is no input '%s'; did you mean '%s'?", name,
                        near);
    fer_text list = FER_TEXT_INIT;
    for (size_t i = 0; i < num_known; i++)
        fer_text_printf(&list, "%s'%s'", i == 0 ? "" : ", ", known[i]);
    fer_status status = fer_fail(error, FER_TYPE_ERROR, "there is no input '%s'; %s%s", name,
                                 num_known == 0 ? "the graph takes none" : "the inputs are ",
                                 fer_text_string(&list));
    fer_text_free(&list);
    return status;
}

static fer_status find_input(const fer_graph *graph, const char *name, size_t *out_index,
                             fer_error *error)
{
    const char *known[MAX_KNOWN];
    size_t num_inputs = fer_graph_num_inputs(graph);
    for (size_t i = 0; i < num_inputs; i++) {
        const char *input = fer_graph_input_at(graph, i)->name;
        if (strcmp(input, name) == 0) {
            *out_index = i;
            return FER_OK;
        }
        if (i < MAX_KNOWN)
            known[i] = input;
    }
    size_t num_known = num_inputs < MAX_KNOWN ? num_inputs : MAX_KNOWN;
    return fail_unknown(name, known, num_known, error);
}

/* What was read is on the first device; takes it. */
static fer_status move_to(fer_device device, fer_tensor *tensor, fer_tensor **out_tensor,
                          fer_error *error)
{
    if (device.id == fer_tensor_device(tensor).id) {
        *out_tensor = tensor;
        return FER_OK;
    }
    fer_status status = fer_tensor_clone(tensor, device, out_tensor, error);
    fer_tensor_release(tensor);
    return status;
}

/* On the device where the graph takes it. */
static fer_status read_input(const fer_graph *graph, size_t index, const char *text,
                             fer_tensor **out_tensor, fer_error *error)
{
    const fer_value *value = fer_graph_input_at(graph, index);
    fer_dtype dtype = fer_type_dtype(value->type);
    fer_given_input input = {0};
    FER_TRY(fer_input_read(value->name, text, fer_picture_dtype(dtype), &input, error));
    if (input.tensor != NULL)
        return move_to(fer_type_device(value->type), input.tensor, out_tensor, error);
    if (fer_type_rank(value->type) != 0)
        return fer_fail_at(error, FER_TYPE_ERROR,
                           &(fer_place){.operand = value->name,
                                        .expected = fer_type_text(value->type),
                                        .actual = text},
                           "input '%s' is a number, but the graph takes rank %zu, %s; give a .npy "
                           "or .png file",
                           value->name, fer_type_rank(value->type), fer_type_text(value->type));
    fer_status status =
        fer_tensor_scalar(dtype, fer_type_device(value->type), input.number, out_tensor, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "input '%s': ", value->name);
    return FER_OK;
}

/* Its messages say nothing of the graph. */
static fer_status read_inputs(const arguments *arguments, work *work, fer_error *error)
{
    size_t num_inputs = fer_graph_num_inputs(work->graph);
    for (size_t i = 0; i < arguments->num_pairs; i++) {
        const char *name = NULL;
        const char *text = NULL;
        size_t index = 0;
        fer_split_pair(arguments->pairs[i], &name, &text);
        FER_TRY(find_input(work->graph, name, &index, error));
        if (work->inputs[index] != NULL)
            return fer_fail(error, FER_TYPE_ERROR, "input '%s' is given twice", name);
        FER_TRY(read_input(work->graph, index, text, &work->inputs[index], error));
    }
    for (size_t i = 0; i < num_inputs; i++)
        if (work->inputs[i] == NULL)
            return fer_fail(error, FER_TYPE_ERROR, "input '%s' is missing",
                            fer_graph_input_at(work->graph, i)->name);
    return FER_OK;
}

/* The outputs' names, then those of the inout inputs, which are outputs too. */
static void list_outputs(work *work)
{
    for (size_t i = 0; i < fer_graph_num_outputs(work->graph); i++)
        work->names[work->num_outputs++] = fer_graph_output_at(work->graph, i)->name;
    for (size_t i = 0; i < fer_graph_num_inputs(work->graph); i++)
        if (fer_value_is_inout(fer_graph_input_at(work->graph, i)))
            work->names[work->num_outputs++] = fer_graph_input_at(work->graph, i)->name;
}

static void take_inout_inputs(work *work)
{
    size_t num_outputs = fer_graph_num_outputs(work->graph);
    for (size_t i = 0; i < fer_graph_num_inputs(work->graph); i++)
        if (fer_value_is_inout(fer_graph_input_at(work->graph, i)))
            work->outputs[num_outputs++] = fer_tensor_retain(work->inputs[i]);
}

static fer_status allocate(work *work, fer_error *error)
{
    size_t num_inputs = fer_graph_num_inputs(work->graph);
    size_t most = fer_graph_num_outputs(work->graph) + num_inputs + 1;
    work->inputs = calloc(num_inputs + 1, sizeof *work->inputs);
    work->outputs = calloc(most, sizeof *work->outputs);
    work->names = calloc(most, sizeof *work->names);
    work->paths = calloc(most, sizeof *work->paths);
    if (work->inputs == NULL || work->outputs == NULL || work->names == NULL || work->paths == NULL)
        return fer_fail_memory(error);
    list_outputs(work);
    fer_text subject = FER_TEXT_INIT;
    fer_text_printf(&subject, "graph '%s'", fer_graph_name(work->graph));
    return fer_text_take(&subject, &work->subject, error);
}

static double now_in_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static fer_status report_tensor(const char *name, const fer_tensor *tensor, fer_error *error)
{
    fer_type *type = NULL;
    FER_TRY(fer_tensor_type(tensor, &type, error));
    fprintf(stderr, "%-10s %s\n", name == NULL ? "-" : name, fer_type_text(type));
    fer_type_release(type);
    return FER_OK;
}

static fer_status report(const work *work, double ready_ms, double run_ms, fer_error *error)
{
    fer_counters counters = fer_read_counters();
    for (size_t i = 0; i < fer_graph_num_inputs(work->graph); i++)
        FER_TRY(report_tensor(fer_graph_input_at(work->graph, i)->name, work->inputs[i], error));
    for (size_t i = 0; i < work->num_outputs; i++)
        FER_TRY(report_tensor(work->names[i], work->outputs[i], error));
    fprintf(stderr, "%-10s %.2f ms: %llu kernels compiled, %llu found in the cache\n", "ready in",
            ready_ms, (unsigned long long)counters.compiles,
            (unsigned long long)counters.cache_hits);
    fprintf(stderr, "%-10s %.2f ms: %zu ops\n", "run in", run_ms, fer_graph_num_ops(work->graph));
    return FER_OK;
}

static fer_status perform(const arguments *arguments, work *work, fer_error *error)
{
    double start = now_in_ms();
    FER_TRY(fer_module_read(arguments->program, &work->module, error));
    FER_TRY(choose_graph(arguments, work, error));
    FER_TRY(allocate(work, error));
    FER_TRY(fer_outputs_assign(work->subject, arguments->outputs, arguments->num_outputs,
                               work->names, work->num_outputs, work->paths, error));
    FER_TRY(fer_model_create(work->graph, NULL, &work->model, error));
    double ready_ms = now_in_ms() - start;
    fer_status status = read_inputs(arguments, work, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "%s: ", work->subject);
    FER_TRY(fer_profile_start(&work->profile, error));
    start = now_in_ms();
    status = fer_model_run(work->model, work->inputs, fer_graph_num_inputs(work->graph),
                           work->outputs, fer_graph_num_outputs(work->graph), error);
    double run_ms = now_in_ms() - start;
    FER_TRY(fer_profile_finish(&work->profile, status, error));
    take_inout_inputs(work);
    FER_TRY(fer_outputs_publish(work->names, work->outputs, work->paths, work->num_outputs, error));
    return arguments->has_report ? report(work, ready_ms, run_ms, error) : FER_OK;
}

static void release_all(fer_tensor **tensors, size_t num_tensors)
{
    for (size_t i = 0; tensors != NULL && i < num_tensors; i++)
        fer_tensor_release(tensors[i]);
    free(tensors);
}

static void work_clear(work *work)
{
    if (work->graph != NULL) {
        release_all(work->inputs, fer_graph_num_inputs(work->graph));
        release_all(work->outputs, work->num_outputs);
    }
    free(work->subject);
    free(work->names);
    free(work->paths);
    fer_profile_clear(&work->profile);
    fer_model_release(work->model);
    fer_module_release(work->module);
}

/* Fills `arguments`; false, with the code to leave with, when the command was used wrongly. */
static bool read_arguments(int argc, char **argv, arguments *arguments, int *out_exit)
{
    const fer_subcommand *command = &fer_command_run;
    int option = 0;
    *out_exit = FER_EXIT_MISUSE;
    while ((option = fer_next_option(command, argc, argv)) > 0) {
        if (option == 'g')
            arguments->graph = optarg;
        else if (option == 'c')
            fer_set_checking(true);
        else if (option == 'r')
            arguments->has_report = true;
        else if (option == 's')
            arguments->has_stats = true;
        else if (option == 'P')
            arguments->has_profile = true;
        else if (option == 'T')
            arguments->trace = optarg;
        else
            arguments->outputs[arguments->num_outputs++] = fer_output_split(optarg);
    }
    if (option != FER_OPTIONS_END) {
        *out_exit = fer_options_exit(option);
        return false;
    }
    if (optind == argc) {
        fer_misuse(command, "PROGRAM.fer is missing");
        return false;
    }
    arguments->program = argv[optind];
    arguments->pairs = argv + optind + 1;
    arguments->num_pairs = (size_t)(argc - optind - 1);
    for (size_t i = 0; i < arguments->num_pairs; i++) {
        if (!fer_is_pair(arguments->pairs[i])) {
            fer_misuse(command, "'%s' is not of the form NAME=INPUT", arguments->pairs[i]);
            return false;
        }
    }
    return true;
}

static int run(int argc, char **argv)
{
    fer_error error = FER_ERROR_INIT;
    arguments arguments = {.outputs = calloc((size_t)argc + 1, sizeof *arguments.outputs)};
    int code = 0;
    if (arguments.outputs == NULL) {
        code = fer_finish(fer_fail_memory(&error), &error);
    } else if (read_arguments(argc, argv, &arguments, &code)) {
        work work = {
            .profile = {.has_table = arguments.has_profile, .trace_path = arguments.trace}};
        fer_progress_start();
        fer_profile_prepare(&work.profile);
        code = fer_finish(perform(&arguments, &work, &error), &error);
        if (arguments.has_stats)
            fer_print_counters();
        work_clear(&work);
    }
    free(arguments.outputs);
    return code;
}
