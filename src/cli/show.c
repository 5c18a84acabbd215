/* ferrule show: a program as canonical text, or drawn by Graphviz. */
#include "base/path.h"
#include "base/process.h"
#include "cli/cli.h"
#include "graph/element.h"
#include "graph/graph.h"
#include "signature/literal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {{"dot", no_argument, NULL, 'd'},
                                        {"svg", no_argument, NULL, 's'},
                                        {"output", required_argument, NULL, 'o'},
                                        FER_HELP_OPTION,
                                        {0}};

const fer_subcommand fer_command_show = {
    .name = "show",
    .arguments = "[--dot | --svg] [-o FILE] [--] PROGRAM.fer",
    .summary = "print a program in canonical form, or draw it",
    .help =
        "\nThe text has the types of all results and the tokens of the ops; it is a program\n"
        "again. --dot prints the graphs in Graphviz's language, --svg runs Graphviz's `dot` on\n"
        "it. -o writes to a file.\n",
    .letters = ":hdso:",
    .options = OPTIONS,
    .run = run,
};

/* --- Drawing ---------------------------------------------------------------------------------- */

#define MAX_SHOWN_ELEMENTS 8

/* Puts `label`, which it frees, into the text as a label. A backslash would start an escape of
 * Graphviz. */
static void append_label(fer_text *dot, fer_text *label)
{
    fer_text_append(dot, "label=\"");
    for (const char *at = fer_text_string(label); *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fer_text_append_char(dot, '\\');
        if (*at == '\n')
            fer_text_append(dot, "\\n");
        else
            fer_text_append_char(dot, *at);
    }
    fer_text_append_char(dot, '"');
    dot->has_failed |= label->has_failed;
    fer_text_free(label);
}

/* `half: f32[n, 4]` */
static void append_value(fer_text *label, const fer_value *value)
{
    if (value->name != NULL)
        fer_text_printf(label, "%s: ", value->name);
    fer_text_append(label, fer_type_text(value->type));
}

/* A step is named by its first result; one without results by its place. */
static void append_step_id(fer_text *dot, size_t graph, const fer_node *node, size_t place)
{
    if (node->num_results > 0)
        fer_text_printf(dot, "g%zu_v%zu", graph, node->results[0]->index);
    else
        fer_text_printf(dot, "g%zu_step%zu", graph, place);
}

/* What gives the value: a step, or the input itself. */
static void append_source_id(fer_text *dot, size_t graph, const fer_value *value)
{
    if (value->node != NULL)
        append_step_id(dot, graph, value->node, 0);
    else
        fer_text_printf(dot, "g%zu_v%zu", graph, value->index);
}

static void append_step_text(fer_text *label, const fer_node *node)
{
    if (node->kind == FER_NODE_CONSTANT) {
        fer_text_append(label, "constant");
        if (fer_tensor_num_elements(node->constant) <= MAX_SHOWN_ELEMENTS) {
            fer_text_append_char(label, ' ');
            fer_elements_append(label, node->constant);
        }
        return;
    }
    if (node->kind == FER_NODE_REBIND) {
        fer_text_append(label, "rebind");
        return;
    }
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(node->op));
    fer_text_append(label, spec->name);
    for (size_t i = 0; i < spec->num_params; i++) {
        fer_text_printf(label, "\n%s = ", spec->params[i].name);
        fer_literal_append(label, &spec->params[i]);
    }
}

/* Which of several results the edge comes from, and which of several operands it goes to. */
static void append_edge(fer_text *dot, size_t graph, const fer_value *value, const fer_node *to,
                        size_t place, size_t operand)
{
    const fer_node *from = value->node;
    fer_text label = FER_TEXT_INIT;
    fer_text_append(dot, "    ");
    append_source_id(dot, graph, value);
    fer_text_append(dot, " -> ");
    if (to != NULL)
        append_step_id(dot, graph, to, place);
    else
        fer_text_printf(dot, "g%zu_output%zu", graph, place);
    if (from != NULL && from->num_results > 1)
        append_value(&label, value);
    bool is_changed = false;
    if (to != NULL && to->kind == FER_NODE_OP) {
        const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(to->op));
        is_changed = spec->operands[operand].is_inout;
        if (to->num_operands > 1)
            fer_text_printf(&label, "%sas %s", label.length > 0 ? "\n" : "",
                            spec->operands[operand].name);
    }
    fer_text_append(dot, is_changed ? " [dir=both, " : " [");
    append_label(dot, &label);
    fer_text_append(dot, "]\n");
}

static void append_step(fer_text *dot, size_t graph, const fer_node *node, size_t place)
{
    fer_text label = FER_TEXT_INIT;
    append_step_text(&label, node);
    for (size_t i = 0; i < node->num_results; i++) {
        fer_text_append_char(&label, '\n');
        append_value(&label, node->results[i]);
    }
    fer_text_append(dot, "    ");
    append_step_id(dot, graph, node, place);
    fer_text_append(dot, node->kind == FER_NODE_CONSTANT ? " [style=dashed, " : " [");
    append_label(dot, &label);
    fer_text_append(dot, "]\n");
    for (size_t i = 0; i < node->num_operands; i++)
        append_edge(dot, graph, node->operands[i], node, place, i);
}

/* Steps that do more than give results run in their order: dotted edges. */
static void append_order(fer_text *dot, size_t index, const fer_graph *graph)
{
    const fer_node *last = NULL;
    size_t last_place = 0;
    for (size_t i = 0; i < graph->num_nodes; i++) {
        const fer_node *node = graph->nodes[i];
        if (node->kind != FER_NODE_OP || !fer_node_has_effect(node))
            continue;
        if (last != NULL) {
            fer_text_append(dot, "    ");
            append_step_id(dot, index, last, last_place);
            fer_text_append(dot, " -> ");
            append_step_id(dot, index, node, i);
            fer_text_append(dot, " [style=dotted]\n");
        }
        last = node;
        last_place = i;
    }
}

static void append_graph(fer_text *dot, size_t index, const fer_graph *graph)
{
    fer_text label = FER_TEXT_INIT;
    fer_text_append(&label, graph->name);
    fer_text_printf(dot, "  subgraph cluster_%zu {\n    ", index);
    append_label(dot, &label);
    fer_text_append_char(dot, '\n');
    for (size_t i = 0; i < graph->num_inputs; i++) {
        append_value(&label, graph->values[i]);
        fer_text_printf(dot, "    g%zu_v%zu [shape=ellipse, ", index, graph->values[i]->index);
        append_label(dot, &label);
        fer_text_append(dot, "]\n");
    }
    for (size_t i = 0; i < graph->num_nodes; i++)
        append_step(dot, index, graph->nodes[i], i);
    append_order(dot, index, graph);
    for (size_t i = 0; i < graph->num_outputs; i++) {
        fer_text_append(&label, "output");
        if (graph->num_outputs > 1)
            fer_text_printf(&label, " %zu", i + 1);
        fer_text_printf(dot, "    g%zu_output%zu [shape=ellipse, ", index, i);
        append_label(dot, &label);
        fer_text_append(dot, "]\n");
        append_edge(dot, index, graph->outputs[i], NULL, i, 0);
    }
    fer_text_append(dot, "  }\n");
}

static fer_status draw(const fer_module *module, char **out_dot, fer_error *error)
{
    fer_text dot = FER_TEXT_INIT;
    fer_text_append(&dot, "digraph {\n"
                          "  node [shape=box, fontname=\"sans-serif\"]\n"
                          "  edge [fontname=\"sans-serif\", fontsize=10]\n"
                          "  graph [fontname=\"sans-serif\"]\n");
    for (size_t i = 0; i < module->num_graphs; i++)
        append_graph(&dot, i, module->graphs[i]);
    fer_text_append(&dot, "}\n");
    return fer_text_take(&dot, out_dot, error);
}

/* --- Graphviz --------------------------------------------------------------------------------- */

static fer_status run_dot(const char *folder, fer_error *error)
{
    static const char *const COMMAND[] = {"dot", "-Tsvg", "-o", "graph.svg", "graph.dot", NULL};
    fer_process_result result;
    int cause = 0;
    fer_status status = fer_process_run(COMMAND, folder, &result, &cause, error);
    if (cause == ENOENT)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "--svg needs Graphviz's command `dot`, which is not installed; --dot "
                        "prints what it would draw");
    if (status == FER_OK && result.exit_code != 0)
        status = fer_fail(error, FER_RUNTIME_ERROR, "`dot` failed:\n%s", result.output);
    free(result.output);
    return status;
}

static fer_status make_svg(const char *dot, char **out_svg, fer_error *error)
{
    const char *parent = getenv("TMPDIR");
    char *folder = NULL;
    char *dot_path = NULL;
    char *svg_path = NULL;
    size_t size = 0;
    bool is_made = false;
    fer_status status = fer_path_join(parent == NULL || *parent == '\0' ? "/tmp" : parent,
                                      "ferrule-show-XXXXXX", &folder, error);
    if (status != FER_OK)
        goto done;
    is_made = mkdtemp(folder) != NULL;
    if (!is_made) {
        status = fer_fail(error, FER_IO_ERROR, "%s: a temporary folder cannot be made: %s", folder,
                          strerror(errno));
        goto done;
    }
    FER_TRY_DONE(fer_path_join(folder, "graph.dot", &dot_path, error));
    FER_TRY_DONE(fer_path_join(folder, "graph.svg", &svg_path, error));
    FER_TRY_DONE(fer_file_write(dot_path, dot, strlen(dot), error));
    FER_TRY_DONE(run_dot(folder, error));
    FER_TRY_DONE(fer_file_read(svg_path, out_svg, &size, error));

done:
    if (is_made)
        fer_folder_remove(folder);
    free(svg_path);
    free(dot_path);
    free(folder);
    return status;
}

/* --- The command ------------------------------------------------------------------------------ */

static fer_status render(const fer_module *module, int form, char **out_text, fer_error *error)
{
    if (form == 0)
        return fer_module_print(module, out_text, error);
    char *dot = NULL;
    FER_TRY(draw(module, &dot, error));
    if (form == 'd') {
        *out_text = dot;
        return FER_OK;
    }
    fer_status status = make_svg(dot, out_text, error);
    free(dot);
    return status;
}

static fer_status show(const char *program, int form, const char *path, fer_error *error)
{
    fer_module *module = NULL;
    char *text = NULL;
    FER_TRY(fer_module_read(program, &module, error));
    fer_status status = render(module, form, &text, error);
    fer_module_release(module);
    if (status != FER_OK)
        return status;
    if (path == NULL)
        fputs(text, stdout);
    else
        status = fer_file_write(path, text, strlen(text), error);
    free(text);
    return status;
}

static int run(int argc, char **argv)
{
    const fer_subcommand *command = &fer_command_show;
    const char *path = NULL;
    int form = 0;
    int option = 0;
    while ((option = fer_next_option(command, argc, argv)) > 0) {
        if (option == 'o')
            path = optarg;
        else if (form != 0 && form != option)
            return fer_misuse(command, "--dot and --svg exclude each other");
        else
            form = option;
    }
    if (option != FER_OPTIONS_END)
        return fer_options_exit(option);
    if (optind == argc)
        return fer_misuse(command, "PROGRAM.fer is missing");
    if (optind + 1 < argc)
        return fer_misuse(command, "one PROGRAM.fer at a time; '%s' is too many", argv[optind + 1]);
    fer_progress_start();
    fer_error error = FER_ERROR_INIT;
    return fer_finish(show(argv[optind], form, path, &error), &error);
}
