/* A module's graphs in Graphviz's language. */
#include "graph/element.h"
#include "graph/graph.h"
#include "signature/literal.h"

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

fer_status fer_module_draw(const fer_module *module, char **out_dot, fer_error *error)
{
    *out_dot = NULL;
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
