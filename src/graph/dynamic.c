/* Names of data-dependent dims: an extent that only a kernel knows gets a name of the graph's own,
 * the same in every process. */
#include "base/hash.h"
#include "graph/graph.h"
#include "signature/unify.h"

#include <stdio.h>
#include <stdlib.h>

#define DIGEST_BYTES 8

static void append_word(fer_text *text, const char *name)
{
    for (; *name != '\0'; name++) {
        char c = *name;
        bool is_word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        fer_text_append_char(text, is_word ? c : '_');
    }
}

fer_status fer_dynamic_dim_name(const char *graph, const char *kernel, size_t ordinal,
                                const char *symbol, char **out_name, fer_error *error)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", ordinal);
    fer_hasher hasher;
    fer_hasher_start(&hasher, DIGEST_BYTES);
    fer_hasher_string(&hasher, graph);
    fer_hasher_string(&hasher, kernel);
    fer_hasher_string(&hasher, number);
    fer_hasher_string(&hasher, symbol);
    char digest[2 * DIGEST_BYTES + 1];
    fer_hasher_finish_hex(&hasher, digest);

    fer_text name = FER_TEXT_INIT;
    fer_text_append(&name, "__dyn_");
    append_word(&name, graph);
    fer_text_append_char(&name, '_');
    append_word(&name, kernel);
    fer_text_printf(&name, "_%s_%s_%s", number, symbol, digest);
    return fer_text_take(&name, out_name, error);
}

/* The symbols of a result's open axes, in the order of the axes. An open dim stands bare, so the
 * n-th open axis of the type is the n-th of the template, whatever a run before it took. */
static const char *next_symbol(const fer_signature *signature, size_t result, size_t *template_axis)
{
    const fer_template *template = &fer_signature_folded(signature)->results[result].type;
    while (*template_axis < template->num_axes) {
        const char *symbol = fer_signature_open_symbol(signature, result, (*template_axis)++);
        if (symbol != NULL)
            return symbol;
    }
    return NULL;
}

static fer_status name_dim(const fer_graph *graph, const fer_op *op, size_t ordinal,
                           const char *symbol, fer_dim **out_dim, fer_error *error)
{
    char *name = NULL;
    FER_TRY(fer_dynamic_dim_name(graph->name, op->name, ordinal, symbol, &name, error));
    fer_status status = fer_dim_symbol(FER_NAMESPACE_CALLER, name, out_dim, error);
    free(name);
    return status;
}

fer_status fer_name_open_dims(const fer_graph *graph, const fer_op *op, size_t ordinal,
                              size_t result, const fer_type *open, fer_type **out_type,
                              fer_error *error)
{
    *out_type = NULL;
    fer_status status = FER_OK;
    size_t rank = fer_type_rank(open);
    const fer_dim *dims[FER_MAX_RANK];
    fer_dim *made[FER_MAX_RANK];
    size_t num_made = 0;
    size_t template_axis = 0;
    for (size_t axis = 0; axis < rank; axis++) {
        dims[axis] = fer_type_dim(open, axis);
        if (dims[axis] != NULL)
            continue;
        const char *symbol = next_symbol(op->signature, result, &template_axis);
        FER_TRY_DONE(name_dim(graph, op, ordinal, symbol, &made[num_made], error));
        dims[axis] = made[num_made++];
    }
    status =
        fer_type_create(fer_type_dtype(open), rank, dims, fer_type_device(open), out_type, error);

done:
    while (num_made > 0)
        fer_dim_release(made[--num_made]);
    return status;
}
