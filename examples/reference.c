/* The whole way in one page: declare an op, call it eagerly, stage it in a graph, run the graph.
 *
 *   reference [KERNELS]     the folder that holds downsample.c; `kernels` unless given
 */
#include <ferrule/ferrule.h>
#include <inttypes.h>

static fer_error error = FER_ERROR_INIT;

/* Eager: ones of [2, 8, 3] give [2, 4, 3]. */
static fer_status call_eagerly(const fer_op *downsample)
{
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    fer_status status =
        fer_tensor_ones(FER_F32, 3, (int64_t[]){2, 8, 3}, (fer_device){0}, &x, &error);
    if (status == FER_OK)
        status = fer_call(downsample, &x, 1, &y, 1, &error);
    if (status == FER_OK) {
        const int64_t *shape = fer_tensor_shape(y);
        printf("eager:  f32[%" PRId64 ", %" PRId64 ", %" PRId64 "]\n", shape[0], shape[1],
               shape[2]);
    }
    fer_tensor_release(y);
    fer_tensor_release(x);
    return status;
}

/* Staged on f32[n, 8, c], the type of the result is f32[n, 4, c]; then run for n = 5, c = 2. */
static fer_status stage_and_run(const fer_op *downsample)
{
    fer_module *module = NULL;
    fer_graph *graph = NULL;
    fer_type *type = NULL;
    fer_value *half = NULL;
    fer_model *model = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    char *text = NULL;
    fer_status status = fer_type_parse("f32[n, 8, c]", &type, &error);
    if (status == FER_OK)
        status = fer_module_create(&module, &error);
    if (status == FER_OK)
        status = fer_graph_create(module, "g", &(fer_graph_input){.name = "x", .type = type}, 1,
                                  &graph, &error);
    if (status == FER_OK) {
        fer_value *input = fer_graph_input_at(graph, 0);
        status = fer_graph_stage(graph, downsample, &input, 1, &half, 1, &error);
    }
    if (status == FER_OK)
        status = fer_graph_output(graph, &half, 1, &error);
    if (status == FER_OK)
        status = fer_module_print(module, &text, &error);
    if (status == FER_OK) {
        printf("staged: %s\n\n%s\n", fer_type_text(fer_value_type(half)), text);
        status = fer_model_create(graph, NULL, &model, &error);
    }
    if (status == FER_OK)
        status = fer_tensor_ones(FER_F32, 3, (int64_t[]){5, 8, 2}, (fer_device){0}, &x, &error);
    if (status == FER_OK)
        status = fer_model_run(model, &x, 1, &y, 1, &error);
    if (status == FER_OK) {
        const int64_t *shape = fer_tensor_shape(y);
        printf("run:    f32[%" PRId64 ", %" PRId64 ", %" PRId64 "]\n", shape[0], shape[1],
               shape[2]);
    }
    fer_tensor_release(y);
    fer_tensor_release(x);
    fer_model_release(model);
    fer_string_free(text);
    fer_module_release(module);
    fer_type_release(type);
    return status;
}

int main(int argc, char **argv)
{
    const char *kernels = argc > 1 ? argv[1] : "kernels";
    fer_op *downsample = NULL;
    fer_status status = fer_declare(
        &(fer_declaration){
            .signature = "downsample(x: f32[n, w, c]) -> f32[n, w // 2, c]",
            .packages = {kernels},
        },
        &downsample, &error);
    if (status == FER_OK)
        status = call_eagerly(downsample);
    if (status == FER_OK)
        status = stage_and_run(downsample);
    if (status != FER_OK)
        fprintf(stderr, "%s: %s\n", fer_status_name(status), error.message);
    fer_op_release(downsample);
    fer_error_clear(&error);
    return status == FER_OK ? 0 : 1;
}
