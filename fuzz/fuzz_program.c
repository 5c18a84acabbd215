/* Any text: parsing it as a program gives an error or a module; a module prints, and what it prints
 * parses to an equal module with the same text; each graph is copied or refused, goes through the
 * passes, and is scheduled or refused. Ops are their signatures alone, so no kernel is compiled,
 * and no file is read: what a constant's file is called is the type of its zeros. */
#include "graph/passes.h"
#include "graph/text.h"
#include "model/schedule.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fer_status no_package(void *context, const char *path, fer_package **out_package,
                             fer_error *error)
{
    (void)context;
    (void)path;
    (void)error;
    *out_package = NULL;
    return FER_OK;
}

static fer_status signature_alone(void *context, const fer_declaration *declaration,
                                  fer_op **out_op, fer_error *error)
{
    (void)context;
    return fer_op_from_signature(declaration->parsed, out_op, error);
}

#define MAX_ELEMENTS 4096

static fer_status zeros_of(const char *type_text, fer_tensor **out_tensor, fer_error *error)
{
    fer_type *type = NULL;
    int64_t extents[FER_MAX_RANK];
    int64_t num_elements = 1;
    FER_TRY(fer_type_parse(type_text, &type, error));
    size_t rank = fer_type_rank(type);
    fer_status status = FER_OK;
    for (size_t axis = 0; status == FER_OK && axis < rank; axis++) {
        status = fer_dim_value(fer_type_dim(type, axis), &extents[axis], error);
        if (status == FER_OK && extents[axis] > MAX_ELEMENTS / num_elements)
            status = fer_fail(error, FER_IO_ERROR, "the file is too large");
        else if (status == FER_OK && extents[axis] > 0)
            num_elements *= extents[axis];
    }
    if (status == FER_OK)
        status = fer_tensor_zeros(fer_type_dtype(type), rank, extents, (fer_device){0}, out_tensor,
                                  error);
    fer_type_release(type);
    return status;
}

static fer_status map_zeros(void *context, const char *path, fer_tensor **out_tensor,
                            fer_error *error)
{
    (void)context;
    *out_tensor = NULL;
    return zeros_of(strrchr(path, '/') + 1, out_tensor, error);
}

static fer_module *parse(const char *text, fer_error *error)
{
    fer_program_host host = {.open = no_package, .declare = signature_alone, .map = map_zeros};
    fer_module *module = NULL;
    fer_status status = fer_module_parse_with(&host, text, "fuzz", "/", &module, error);
    if ((status == FER_OK) != (module != NULL) || status != error->kind)
        abort();
    return module;
}

/* With its files, too. */
static void check_text_as_read(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    if (fer_module_print_as_read(module, "/", &text, &error) != FER_OK)
        abort();
    fer_module *reread = parse(text, &error);
    if (reread == NULL || !fer_module_equal(module, reread))
        abort();
    fer_module_release(reread);
    fer_string_free(text);
}

static void check_round_trip(const fer_module *module)
{
    fer_error error = FER_ERROR_INIT;
    char *text = NULL;
    char *again = NULL;
    if (fer_module_print(module, &text, &error) != FER_OK)
        abort();
    fer_module *reread = parse(text, &error);
    if (reread == NULL || !fer_module_equal(module, reread))
        abort();
    if (fer_module_print(reread, &again, &error) != FER_OK || strcmp(text, again) != 0)
        abort();
    fer_module_release(reread);
    fer_string_free(text);
    fer_string_free(again);
}

/* A copy is the same graph under another name, so it prints, and it is equal to what that gives. */
static void check_copies(fer_module *module)
{
    size_t num_graphs = fer_module_num_graphs(module);
    for (size_t i = 0; i < num_graphs; i++) {
        fer_error error = FER_ERROR_INIT;
        fer_graph *graph = fer_module_graph_at(module, i);
        fer_graph *copy = NULL;
        char name[32];
        snprintf(name, sizeof name, "copy %zu", i);
        if ((fer_graph_copy(module, graph, name, &copy, &error) == FER_OK) != (copy != NULL))
            abort();
        if (copy != NULL && fer_graph_verify(copy, &error) != FER_OK)
            abort();
        fer_error_clear(&error);
    }
    if (fer_module_num_graphs(module) > num_graphs)
        check_round_trip(module);
}

static void check_schedules(const fer_module *module)
{
    for (size_t i = 0; i < fer_module_num_graphs(module); i++) {
        fer_error error = FER_ERROR_INIT;
        fer_schedule schedule;
        const fer_graph *after = NULL;
        if (fer_graph_optimise(fer_module_graph_at(module, i), &after, &error) != FER_OK)
            abort();
        if (fer_schedule_create(after, &schedule, &error) == FER_OK)
            fer_schedule_clear(&schedule);
        fer_module_release(after->module);
        fer_error_clear(&error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fer_error error = FER_ERROR_INIT;
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    fer_module *module = parse(text, &error);
    if (module != NULL) {
        check_round_trip(module);
        check_text_as_read(module);
        check_copies(module);
        check_schedules(module);
    }
    fer_module_release(module);
    fer_error_clear(&error);
    free(text);
    return 0;
}
