/* A module as the text of a program, which parses back to an equal module. */
#include "graph/text.h"
#include "base/path.h"
#include "graph/element.h"
#include "package/package.h"

#include <stdlib.h>
#include <string.h>

/* An op that the text declares. */
typedef struct entry {
    const char *name;
    char *made_name; /* what `name` is when the module does not say */
    const fer_op *op;
} entry;

typedef struct printer {
    const fer_print_style *style;
    fer_error *error;
    fer_status status; /* what appending failed with, but for memory of the text */
    char *own_packages[FER_NUM_OWN_PACKAGES]; /* their folders; NULL: nowhere */
    fer_text text;
    entry *entries;
    size_t num_entries;
    size_t capacity;
    fer_names names;    /* of the entries, so that a new one is none of them */
    fer_names by_token; /* to the name that calls use */
    bool *is_printed;   /* of each graph */
    bool has_uses;      /* all ops have the same packages, which stand at the top */
} printer;

/* --- Names ------------------------------------------------------------------------------------ */

bool fer_is_reserved_name(const char *name)
{
    static const char *const RESERVED[] = {"true", "false", "inf", "nan", "return", "yield"};
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (strcmp(name, RESERVED[i]) == 0)
            return true;
    return false;
}

static void append_name(fer_text *text, const char *name)
{
    if (fer_is_name(name) && !fer_is_reserved_name(name))
        fer_text_append(text, name);
    else
        fer_text_append_quoted(text, name, strlen(name));
}

/* A value without a name is `v` and its index: one of its own, whatever names the graph has, by as
 * many underscores as that takes. */
static void append_value(fer_text *text, const fer_value *value)
{
    if (value->name != NULL) {
        append_name(text, value->name);
        return;
    }
    fer_text name = FER_TEXT_INIT;
    fer_text_printf(&name, "v%zu", value->index);
    while (!name.has_failed &&
           fer_names_find(&value->graph->value_names, fer_text_string(&name)) != NULL)
        fer_text_append_char(&name, '_');
    text->has_failed |= name.has_failed;
    fer_text_append(text, fer_text_string(&name));
    fer_text_free(&name);
}

static void append_values(fer_text *text, fer_value *const *values, size_t num_values)
{
    for (size_t i = 0; i < num_values; i++) {
        fer_text_append(text, i == 0 ? "" : ", ");
        append_value(text, values[i]);
    }
}

void fer_input_append(fer_text *text, const fer_value *input)
{
    append_value(text, input);
    fer_text_append(text, ": ");
    fer_text_append(text, fer_type_text(input->type));
}

/* --- Ops -------------------------------------------------------------------------------------- */

/* Where the packages are that a program calls by their names. One that is nowhere is no op's. */
static fer_status find_own_packages(printer *p, fer_error *error)
{
    for (size_t i = 0; i < FER_NUM_OWN_PACKAGES; i++)
        if (p->own_packages[i] == NULL &&
            fer_own_package(fer_own_packages[i], &p->own_packages[i], NULL) == FER_MEMORY_ERROR)
            return fer_fail_memory(error);
    return FER_OK;
}

static fer_status add_entry(printer *p, const fer_op *op, const char *name, char *made_name,
                            fer_error *error)
{
    fer_status status = op->num_packages == 0 ? FER_OK : find_own_packages(p, error);
    if (status == FER_OK)
        status =
            fer_reserve(&p->entries, p->num_entries + 1, &p->capacity, sizeof *p->entries, error);
    if (status == FER_OK)
        status = fer_names_add(&p->names, name, op, error);
    if (status != FER_OK) {
        free(made_name);
        return status;
    }
    p->entries[p->num_entries++] = (entry){.name = name, .made_name = made_name, .op = op};
    if (fer_names_find(&p->by_token, op->token) != NULL)
        return FER_OK;
    return fer_names_add(&p->by_token, op->token, name, error);
}

/* Gives an op of a graph a name, unless it has one: the kernel's, or that and a number. */
static fer_status add_staged_op(printer *p, const fer_op *op, fer_error *error)
{
    if (fer_names_find(&p->by_token, op->token) != NULL)
        return FER_OK;
    char *name = NULL;
    FER_TRY(fer_copy_string(op->name, &name, error));
    for (size_t i = 2; fer_names_find(&p->names, name) != NULL; i++) {
        free(name);
        fer_text next = FER_TEXT_INIT;
        fer_text_printf(&next, "%s_%zu", op->name, i);
        FER_TRY(fer_text_take(&next, &name, error));
    }
    return add_entry(p, op, name, name, error);
}

static fer_status collect_staged_ops(printer *p, const fer_block *block, fer_error *error)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        if (node->kind == FER_NODE_OP)
            FER_TRY(add_staged_op(p, node->op, error));
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++)
            FER_TRY(collect_staged_ops(p, node->blocks[j], error));
    }
    return FER_OK;
}

static fer_status collect_ops(printer *p, const fer_module *module, fer_error *error)
{
    for (size_t i = 0; i < module->num_ops; i++)
        FER_TRY(add_entry(p, module->ops[i].op, module->ops[i].name, NULL, error));
    for (size_t i = 0; i < module->num_graphs; i++)
        FER_TRY(collect_staged_ops(p, &module->graphs[i]->body, error));
    return FER_OK;
}

/* The C text of a package in memory; NULL for a folder. */
static const char *source_of(const fer_op *op, size_t index)
{
    return fer_package_source(op->packages[index]);
}

static bool same_folders(const fer_op *a, const fer_op *b)
{
    if (a->num_packages != b->num_packages)
        return false;
    for (size_t i = 0; i < a->num_packages; i++)
        if (source_of(a, i) != NULL || strcmp(fer_op_extension(a, i), fer_op_extension(b, i)) != 0)
            return false;
    return true;
}

/* A package as a program calls it. */
static void append_package(printer *p, const char *path)
{
    for (size_t i = 0; i < FER_NUM_OWN_PACKAGES; i++)
        if (p->own_packages[i] != NULL && strcmp(path, p->own_packages[i]) == 0) {
            fer_text_append_quoted(&p->text, fer_own_packages[i], strlen(fer_own_packages[i]));
            return;
        }
    char *shorter = NULL;
    if (p->style->folder != NULL && p->status == FER_OK)
        p->status = fer_path_shorten(p->style->folder, path, &shorter, p->error);
    if (shorter != NULL)
        path = shorter;
    fer_text written = FER_TEXT_INIT;
    fer_text_printf(&written, fer_is_own_package(path) ? "./%s" : "%s", path);
    p->text.has_failed |= written.has_failed;
    fer_text_append_quoted(&p->text, fer_text_string(&written), written.length);
    fer_text_free(&written);
    free(shorter);
}

static void append_uses(printer *p)
{
    p->has_uses = p->num_entries > 0 && p->entries[0].op->num_packages > 0;
    for (size_t i = 0; i < p->num_entries; i++)
        p->has_uses = p->has_uses && same_folders(p->entries[0].op, p->entries[i].op);
    for (size_t i = 0; p->has_uses && i < p->entries[0].op->num_packages; i++) {
        fer_text_append(&p->text, "use ");
        append_package(p, fer_op_extension(p->entries[0].op, i));
        fer_text_append_char(&p->text, '\n');
    }
}

static void append_packages(printer *p, const fer_op *op)
{
    fer_text *text = &p->text;
    size_t num_folders = 0;
    for (size_t i = 0; i < op->num_packages; i++) {
        if (source_of(op, i) != NULL)
            continue;
        fer_text_append(text, num_folders++ == 0 ? " from " : ", ");
        append_package(p, fer_op_extension(op, i));
    }
    for (size_t i = 0; i < op->num_packages; i++) {
        const char *source = source_of(op, i);
        if (source == NULL)
            continue;
        fer_text_append(text, " source ");
        fer_text_append_quoted(text, source, strlen(source));
    }
}

static void append_ops(printer *p)
{
    for (size_t i = 0; i < p->num_entries; i++) {
        const entry *e = &p->entries[i];
        fer_text_append(&p->text, "op ");
        if (strcmp(e->name, e->op->name) != 0)
            fer_text_printf(&p->text, "%s = ", e->name);
        fer_text_append(&p->text, fer_op_text(e->op));
        if (!p->has_uses)
            append_packages(p, e->op);
        fer_text_append_char(&p->text, '\n');
    }
}

/* --- Graphs ----------------------------------------------------------------------------------- */

static void append_dims(fer_text *text, const fer_type *type)
{
    fer_text_append_char(text, '[');
    for (size_t axis = 0; axis < fer_type_rank(type); axis++)
        fer_text_printf(text, "%s%s", axis == 0 ? "" : ", ",
                        fer_dim_text(fer_type_dim(type, axis)));
    fer_text_append_char(text, ']');
}

static void append_result_comment(fer_text *text, const fer_node *node)
{
    for (size_t i = 0; i < node->num_results; i++) {
        fer_text_append(text, i == 0 ? "  # " : ", ");
        fer_text_append(text, fer_type_text(node->results[i]->type));
    }
}

static void append_block(printer *p, const fer_block *block);

static void append_indent(fer_text *text, const fer_block *block)
{
    for (size_t depth = 0; depth <= block->depth; depth++)
        fer_text_append(text, "  ");
}

static void append_block_end(printer *p, const fer_node *node)
{
    append_indent(&p->text, node->block);
    fer_text_append_char(&p->text, '}');
}

/* The word and its values, unless it has none and may be left out. */
static void append_yield(fer_text *text, const fer_block *block)
{
    if (block->num_results == 0)
        return;
    append_indent(text, block);
    fer_text_append(text, "yield ");
    append_values(text, block->results, block->num_results);
    fer_text_append_char(text, '\n');
}

static void append_if(printer *p, const fer_node *node)
{
    fer_text_append(&p->text, "if ");
    append_value(&p->text, node->operands[0]);
    fer_text_append(&p->text, " {\n");
    append_block(p, node->blocks[0]);
    append_block_end(p, node);
    if (node->blocks[1]->num_nodes == 0 && node->num_results == 0)
        return;
    fer_text_append(&p->text, " else {\n");
    append_block(p, node->blocks[1]);
    append_block_end(p, node);
    append_result_comment(&p->text, node);
}

static void append_while(printer *p, const fer_node *node)
{
    fer_text_append(&p->text, "while ");
    for (size_t i = 0; i < node->num_operands; i++) {
        fer_text_append(&p->text, i == 0 ? "" : ", ");
        append_value(&p->text, node->blocks[0]->arguments[i]);
        fer_text_append(&p->text, " = ");
        append_value(&p->text, node->operands[i]);
    }
    fer_text_append(&p->text, node->num_operands == 0 ? "{\n" : " {\n");
    append_block(p, node->blocks[0]);
    append_block_end(p, node);
    fer_text_append(&p->text, " do {\n");
    append_block(p, node->blocks[1]);
    append_block_end(p, node);
    append_result_comment(&p->text, node);
}

static void append_call(fer_text *text, const fer_node *node)
{
    fer_text_append(text, "call ");
    append_name(text, node->callee->name);
    fer_text_append_char(text, '(');
    append_values(text, node->operands, node->num_operands);
    fer_text_append_char(text, ')');
    append_result_comment(text, node);
}

static void append_constant(printer *p, const fer_node *node)
{
    const fer_print_style *style = p->style;
    fer_text_append(&p->text, "constant ");
    fer_text_append(&p->text, fer_type_text(node->results[0]->type));
    size_t length = p->text.length;
    if (style->append_file != NULL && p->status == FER_OK)
        p->status = style->append_file(style->context, node, &p->text, p->error);
    if (p->text.length > length || p->status != FER_OK)
        return;
    fer_text_append_char(&p->text, ' ');
    fer_elements_append(&p->text, node->constant);
}

static void append_node(printer *p, const fer_node *node)
{
    fer_text *text = &p->text;
    append_indent(text, node->block);
    append_values(text, node->results, node->num_results);
    fer_text_append(text, node->num_results == 0 ? "" : " = ");
    switch (node->kind) {
    case FER_NODE_OP:
        fer_text_printf(text, "%s(", (char *)fer_names_find(&p->by_token, node->op->token));
        append_values(text, node->operands, node->num_operands);
        fer_text_append(text, ") {token: ");
        fer_text_append_quoted(text, node->token, strlen(node->token));
        fer_text_append_char(text, '}');
        append_result_comment(text, node);
        break;
    case FER_NODE_CONSTANT:
        append_constant(p, node);
        break;
    case FER_NODE_REBIND:
    case FER_NODE_RESHAPE:
        fer_text_append(text, node->kind == FER_NODE_REBIND ? "rebind " : "reshape ");
        append_values(text, node->operands, 1);
        fer_text_append_char(text, ' ');
        append_dims(text, node->results[0]->type);
        break;
    case FER_NODE_TRANSFER:
        fer_text_append(text, "transfer ");
        append_values(text, node->operands, 1);
        fer_text_printf(text, " @ %d", (int)fer_type_device(node->results[0]->type).id);
        append_result_comment(text, node);
        break;
    case FER_NODE_IF:
        append_if(p, node);
        break;
    case FER_NODE_WHILE:
        append_while(p, node);
        break;
    case FER_NODE_CALL:
        append_call(text, node);
        break;
    }
    fer_text_append_char(text, '\n');
}

static void append_block(printer *p, const fer_block *block)
{
    for (size_t i = 0; i < block->num_nodes; i++)
        append_node(p, block->nodes[i]);
    append_yield(&p->text, block);
}

static void append_graph(printer *p, const fer_graph *graph)
{
    fer_text *text = &p->text;
    fer_text_append(text, text->length == 0 ? "graph " : "\ngraph ");
    append_name(text, graph->name);
    fer_text_append_char(text, '(');
    for (size_t i = 0; i < graph->num_inputs; i++) {
        fer_text_append(text, i == 0 ? "" : ", ");
        fer_text_append(text, fer_value_is_inout(graph->values[i]) ? "inout " : "");
        fer_input_append(text, graph->values[i]);
    }
    fer_text_append(text, graph->num_outputs == 1 ? ") -> " : ") -> (");
    for (size_t i = 0; i < graph->num_outputs; i++) {
        fer_text_append(text, i == 0 ? "" : ", ");
        fer_text_append(text, fer_type_text(graph->outputs[i]->type));
    }
    fer_text_append(text, graph->num_outputs == 1 ? " {\n" : ") {\n");
    append_block(p, &graph->body);
    fer_text_append(text, graph->num_outputs == 0 ? "  return" : "  return ");
    append_values(text, graph->outputs, graph->num_outputs);
    fer_text_append(text, "\n}\n");
}

/* The graphs that are called in a block, and then... */
static void append_callees(printer *p, const fer_block *block);

/* ...the graph, once, so that it stands behind all that it calls. */
static void append_graph_in_order(printer *p, const fer_graph *graph)
{
    if (p->is_printed[graph->index])
        return;
    p->is_printed[graph->index] = true;
    append_callees(p, &graph->body);
    append_graph(p, graph);
}

static void append_callees(printer *p, const fer_block *block)
{
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        if (node->kind == FER_NODE_CALL)
            append_graph_in_order(p, node->callee);
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++)
            append_callees(p, node->blocks[j]);
    }
}

static fer_status require_finished(const fer_module *module, fer_error *error)
{
    for (size_t i = 0; i < module->num_graphs; i++)
        FER_TRY(fer_graph_require_finished(module->graphs[i], ", so it cannot be printed", error));
    return FER_OK;
}

fer_status fer_module_print_as(const fer_module *module, const fer_print_style *style,
                               char **out_text, fer_error *error)
{
    *out_text = NULL;
    FER_TRY(require_finished(module, error));
    printer p = {.style = style, .error = error, .status = FER_OK, .text = FER_TEXT_INIT};
    fer_status status = FER_OK;
    p.is_printed = calloc(module->num_graphs + 1, sizeof *p.is_printed);
    if (p.is_printed == NULL)
        return fer_fail_memory(error);
    FER_TRY_DONE(collect_ops(&p, module, error));
    append_uses(&p);
    append_ops(&p);
    for (size_t i = 0; i < module->num_graphs; i++)
        append_graph_in_order(&p, module->graphs[i]);
    FER_TRY_DONE(p.status);
    status = fer_text_take(&p.text, out_text, error);

done:
    for (size_t i = 0; i < p.num_entries; i++)
        free(p.entries[i].made_name);
    for (size_t i = 0; i < FER_NUM_OWN_PACKAGES; i++)
        free(p.own_packages[i]);
    free(p.entries);
    free(p.is_printed);
    fer_names_clear(&p.names);
    fer_names_clear(&p.by_token);
    fer_text_free(&p.text);
    return status;
}

fer_status fer_module_print(const fer_module *module, char **out_text, fer_error *error)
{
    return fer_module_print_as(module, &(fer_print_style){.folder = NULL}, out_text, error);
}
