/* A module's graphs in Graphviz's language: a frame for each graph, and in it one for each block.
 * An edge that stands in a frame's braces would draw both its ends into the frame, so a graph's
 * nodes come first, in their frames, and then its edges. */
#include "graph/element.h"
#include "graph/graph.h"
#include "signature/literal.h"

#include <stdio.h>

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

/* What gives the value: a step, or the input or the carried value itself. */
static void append_source_id(fer_text *dot, size_t graph, const fer_value *value)
{
    if (value->node != NULL)
        fer_text_printf(dot, "g%zu_step%zu", graph, value->node->index);
    else
        fer_text_printf(dot, "g%zu_v%zu", graph, value->index);
}

static void append_step_text(fer_text *label, const fer_node *node)
{
    switch (node->kind) {
    case FER_NODE_CONSTANT:
        fer_text_append(label, "constant");
        if (fer_tensor_num_elements(node->constant) <= MAX_SHOWN_ELEMENTS) {
            fer_text_append_char(label, ' ');
            fer_elements_append(label, node->constant);
        }
        return;
    case FER_NODE_REBIND:
        fer_text_append(label, "rebind");
        return;
    case FER_NODE_RESHAPE:
        fer_text_append(label, "reshape");
        return;
    case FER_NODE_TRANSFER:
        fer_text_printf(label, "transfer @ %d", (int)fer_type_device(node->results[0]->type).id);
        return;
    case FER_NODE_IF:
        fer_text_append(label, "if");
        return;
    case FER_NODE_WHILE:
        fer_text_append(label, "while");
        return;
    case FER_NODE_CALL:
        fer_text_printf(label, "call %s", node->callee->name);
        return;
    case FER_NODE_OP:
        break;
    }
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(node->op));
    fer_text_append(label, spec->name);
    for (size_t i = 0; i < spec->num_params; i++) {
        fer_text_printf(label, "\n%s = ", spec->params[i].name);
        fer_literal_append(label, &spec->params[i]);
    }
}

/* Where an edge ends. */
typedef struct target {
    const char *id;
    const char *role; /* of the value there, or NULL */
    bool is_changed;  /* in its place */
} target;

/* Which of several results the edge comes from, and what it is where it goes to. */
static void append_edge(fer_text *dot, size_t graph, const fer_value *value, const target *to)
{
    const fer_node *from = value->node;
    fer_text label = FER_TEXT_INIT;
    fer_text_append(dot, "    ");
    append_source_id(dot, graph, value);
    fer_text_printf(dot, " -> %s", to->id);
    if (from != NULL && from->num_results > 1)
        append_value(&label, value);
    if (to->role != NULL)
        fer_text_printf(&label, "%sas %s", label.length > 0 ? "\n" : "", to->role);
    fer_text_append(dot, to->is_changed ? " [dir=both, " : " [");
    append_label(dot, &label);
    fer_text_append(dot, "]\n");
}

/* What the operand of a step is to it; NULL: that is plain. */
static const char *role_of(const fer_node *node, size_t operand)
{
    if (node->kind == FER_NODE_OP && node->num_operands > 1)
        return fer_signature_folded(fer_op_signature(node->op))->operands[operand].name;
    if (node->kind == FER_NODE_CALL && node->num_operands > 1)
        return node->callee->values[operand]->name;
    return NULL;
}

static bool changes(const fer_node *node, size_t operand)
{
    if (node->kind == FER_NODE_CALL)
        return fer_value_is_inout(node->callee->values[operand]);
    return node->kind == FER_NODE_OP &&
           fer_signature_folded(fer_op_signature(node->op))->operands[operand].is_inout;
}

static void append_block_id(fer_text *dot, size_t graph, const fer_node *node, size_t which)
{
    fer_text_printf(dot, "g%zu_step%zu_block%zu", graph, node->index, which);
}

/* --- Nodes ------------------------------------------------------------------------------------ */

/* An input or a carried value. */
static void append_argument(fer_text *dot, size_t graph, const fer_value *value)
{
    fer_text label = FER_TEXT_INIT;
    fer_text_append(&label, fer_value_is_inout(value) ? "inout " : "");
    append_value(&label, value);
    fer_text_printf(dot, "    g%zu_v%zu [shape=ellipse, ", graph, value->index);
    append_label(dot, &label);
    fer_text_append(dot, "]\n");
}

static void append_nodes(fer_text *dot, size_t graph, const fer_block *block);

/* An arm, a condition or a body, in a frame of its own, with a point for what it yields. */
static void append_frame(fer_text *dot, size_t graph, const fer_node *node, size_t which)
{
    const fer_block *block = node->blocks[which];
    fer_text label = FER_TEXT_INIT;
    fer_text_append(&label, fer_block_role(block));
    fer_text_printf(dot, "    subgraph cluster_%zu_%zu_%zu {\n    style=dashed\n    ", graph,
                    node->index, which);
    append_label(dot, &label);
    fer_text_append_char(dot, '\n');
    for (size_t i = 0; i < block->num_arguments; i++)
        append_argument(dot, graph, block->arguments[i]);
    append_nodes(dot, graph, block);
    fer_text_append(dot, "    ");
    append_block_id(dot, graph, node, which);
    fer_text_append(dot, " [shape=point, label=\"\"]\n    }\n");
}

static void append_step(fer_text *dot, size_t graph, const fer_node *node)
{
    bool has_blocks = node->blocks[0] != NULL;
    fer_text label = FER_TEXT_INIT;
    append_step_text(&label, node);
    for (size_t i = 0; i < node->num_results; i++) {
        fer_text_append_char(&label, '\n');
        append_value(&label, node->results[i]);
    }
    fer_text_printf(dot, "    g%zu_step%zu [%s", graph, node->index,
                    node->kind == FER_NODE_CONSTANT ? "style=dashed, "
                    : has_blocks                    ? "shape=hexagon, "
                                                    : "");
    append_label(dot, &label);
    fer_text_append(dot, "]\n");
    for (size_t i = 0; has_blocks && i < 2; i++)
        append_frame(dot, graph, node, i);
}

static void append_nodes(fer_text *dot, size_t graph, const fer_block *block)
{
    for (size_t i = 0; i < block->num_nodes; i++)
        append_step(dot, graph, block->nodes[i]);
}

/* --- Edges ------------------------------------------------------------------------------------ */

static void append_edges(fer_text *dot, size_t graph, const fer_block *block);

/* What a loop's body yields is what the carried values are next; NULL: of no other block. */
static const char *yielded_role(const fer_node *node, size_t which, size_t index)
{
    bool is_body = node->kind == FER_NODE_WHILE && which == 1;
    return is_body && node->num_operands > 1 ? node->blocks[0]->arguments[index]->name : NULL;
}

/* What a block yields goes to its point, and from there to its step. */
static void append_frame_edges(fer_text *dot, size_t graph, const fer_node *node, size_t which)
{
    const fer_block *block = node->blocks[which];
    fer_text id = FER_TEXT_INIT;
    append_edges(dot, graph, block);
    append_block_id(&id, graph, node, which);
    for (size_t i = 0; i < block->num_results; i++) {
        target to = {.id = fer_text_string(&id), .role = yielded_role(node, which, i)};
        append_edge(dot, graph, block->results[i], &to);
    }
    fer_text_printf(dot, "    %s -> g%zu_step%zu [style=dashed]\n", fer_text_string(&id), graph,
                    node->index);
    dot->has_failed |= id.has_failed;
    fer_text_free(&id);
}

/* The initial values of a loop are what its carried values are at first. */
static void append_operands(fer_text *dot, size_t graph, const fer_node *node)
{
    for (size_t i = 0; i < node->num_operands; i++) {
        char id[64];
        snprintf(id, sizeof id, "g%zu_step%zu", graph, node->index);
        if (node->kind == FER_NODE_WHILE)
            snprintf(id, sizeof id, "g%zu_v%zu", graph, node->blocks[0]->arguments[i]->index);
        target to = {.id = id, .role = role_of(node, i), .is_changed = changes(node, i)};
        append_edge(dot, graph, node->operands[i], &to);
    }
}

/* Steps that do more than give results run in their order: dotted edges. */
static void append_order(fer_text *dot, size_t graph, const fer_block *block)
{
    const fer_node *last = NULL;
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        if (!fer_node_has_effect(node))
            continue;
        if (last != NULL)
            fer_text_printf(dot, "    g%zu_step%zu -> g%zu_step%zu [style=dotted]\n", graph,
                            last->index, graph, node->index);
        last = node;
    }
}

static void append_edges(fer_text *dot, size_t graph, const fer_block *block)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        append_operands(dot, graph, node);
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++)
            append_frame_edges(dot, graph, node, j);
    }
    append_order(dot, graph, block);
}

/* --- Graphs ----------------------------------------------------------------------------------- */

static void append_output(fer_text *dot, size_t index, const fer_graph *graph, size_t output)
{
    fer_text label = FER_TEXT_INIT;
    char id[64];
    snprintf(id, sizeof id, "g%zu_output%zu", index, output);
    fer_text_append(&label, "output");
    if (graph->num_outputs > 1)
        fer_text_printf(&label, " %zu", output + 1);
    fer_text_printf(dot, "    %s [shape=ellipse, ", id);
    append_label(dot, &label);
    fer_text_append(dot, "]\n");
    append_edge(dot, index, graph->outputs[output], &(target){.id = id});
}

static void append_graph(fer_text *dot, size_t index, const fer_graph *graph)
{
    fer_text label = FER_TEXT_INIT;
    fer_text_append(&label, graph->name);
    fer_text_printf(dot, "  subgraph cluster_%zu {\n    ", index);
    append_label(dot, &label);
    fer_text_append_char(dot, '\n');
    for (size_t i = 0; i < graph->num_inputs; i++)
        append_argument(dot, index, graph->values[i]);
    append_nodes(dot, index, &graph->body);
    append_edges(dot, index, &graph->body);
    for (size_t i = 0; i < graph->num_outputs; i++)
        append_output(dot, index, graph, i);
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
