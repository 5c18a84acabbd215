/* What the tests of graphs, programs and models share: short ways to make things, which fail the
 * test when they cannot. */
#ifndef FERRULE_TESTING_GRAPH_H
#define FERRULE_TESTING_GRAPH_H

#include "testing.h"

#include "base/text.h"
#include "graph/graph.h"
#include "signature/parse.h"
#include <ferrule/ferrule.h>

#define GRAPH_KERNELS FERRULE_TEST_DATA "/kernels/graph"

/* An op without a kernel, which can be staged and not run. */
static inline fer_op *make_op(const char *signature_text)
{
    fer_error error = FER_ERROR_INIT;
    fer_signature *signature = NULL;
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_signature_parse(signature_text, &signature, &error));
    ASSERT_OK(&error, fer_op_from_signature(signature, &op, &error));
    fer_signature_release(signature);
    return op;
}

/* An op of the tests' own package. */
static inline fer_op *declare_op(const char *signature_text)
{
    fer_error error = FER_ERROR_INIT;
    fer_op *op = NULL;
    fer_declaration declaration = {.signature = signature_text, .packages = {GRAPH_KERNELS}};
    ASSERT_OK(&error, fer_declare(&declaration, &op, &error));
    return op;
}

static inline fer_type *make_type(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_type *type = NULL;
    ASSERT_OK(&error, fer_type_parse(text, &type, &error));
    return type;
}

static inline fer_dim *make_dim(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = NULL;
    ASSERT_OK(&error, fer_dim_parse(text, &dim, &error));
    return dim;
}

static inline fer_module *make_module(void)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, fer_module_create(&module, &error));
    return module;
}

/* A graph whose inputs are called a, b, c... and have these types, `inout f32[n]` that of a buffer,
 * up to a NULL. */
static inline fer_graph *make_graph(fer_module *module, const char *name, const char *const *types)
{
    static const char *const NAMES[] = {"a", "b", "c", "d"};
    fer_error error = FER_ERROR_INIT;
    fer_graph_input inputs[4] = {{NULL, NULL, false}};
    size_t num_inputs = 0;
    for (; types[num_inputs] != NULL; num_inputs++) {
        const char *type = types[num_inputs];
        bool is_inout = strncmp(type, "inout ", strlen("inout ")) == 0;
        inputs[num_inputs] =
            (fer_graph_input){.name = NAMES[num_inputs],
                              .type = make_type(is_inout ? type + strlen("inout ") : type),
                              .is_inout = is_inout};
    }
    fer_graph *graph = NULL;
    ASSERT_OK(&error, fer_graph_create(module, name, inputs, num_inputs, &graph, &error));
    for (size_t i = 0; i < num_inputs; i++)
        fer_type_release((fer_type *)inputs[i].type);
    return graph;
}
#define TYPES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Stages an op with one result. */
static inline fer_value *stage_one(fer_graph *graph, const fer_op *op, fer_value *first,
                                   fer_value *second)
{
    fer_error error = FER_ERROR_INIT;
    fer_value *operands[] = {first, second};
    fer_value *result = NULL;
    ASSERT_OK(&error,
              fer_graph_stage(graph, op, operands, second == NULL ? 1 : 2, &result, 1, &error));
    return result;
}

static inline void output(fer_graph *graph, fer_value *first, fer_value *second)
{
    fer_error error = FER_ERROR_INIT;
    fer_value *values[] = {first, second};
    ASSERT_OK(&error, fer_graph_output(graph, values, second == NULL ? 1 : 2, &error));
}

static inline void assert_type(const fer_value *value, const char *text)
{
    assert_string_equal(fer_type_text(fer_value_type(value)), text);
}

static inline fer_status host_open(void *context, const char *path, fer_package **out_package,
                                   fer_error *error)
{
    (void)context;
    (void)path;
    (void)error;
    *out_package = NULL;
    return FER_OK;
}

static inline fer_status host_declare(void *context, const fer_declaration *declaration,
                                      fer_op **out_op, fer_error *error)
{
    (void)context;
    return fer_op_from_signature(declaration->parsed, out_op, error);
}

static inline fer_status host_map(void *context, const char *path, fer_tensor **out_tensor,
                                  fer_error *error)
{
    (void)context;
    (void)out_tensor;
    return fer_fail(error, FER_IO_ERROR, "%s: there are no files here", path);
}

/* Reads a program whose ops need no kernels, and whose constants no files. */
static inline fer_status parse_program(const char *text, fer_module **out_module, fer_error *error)
{
    fer_program_host host = {.open = host_open, .declare = host_declare, .map = host_map};
    return fer_module_parse_with(&host, text, "t.fer", NULL, out_module, error);
}

/* A vector of floats. */
static inline fer_tensor *make_floats(size_t count, const float *values)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    int64_t extent = (int64_t)count;
    ASSERT_OK(&error,
              fer_tensor_copy_from(FER_F32, 1, &extent, values, (fer_device){0}, &tensor, &error));
    return tensor;
}
#define FLOATS(...)                                                                                \
    make_floats(sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__})

static inline fer_tensor *make_element(fer_dtype dtype, const void *element)
{
    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error,
              fer_tensor_copy_from(dtype, 0, NULL, element, (fer_device){0}, &tensor, &error));
    return tensor;
}

static inline fer_tensor *make_int(int64_t value)
{
    return make_element(FER_I64, &value);
}

static inline fer_tensor *make_bool(bool value)
{
    return make_element(FER_BOOL, &value);
}

static inline void release_all(fer_tensor **tensors, size_t num_tensors)
{
    for (size_t i = 0; i < num_tensors; i++)
        fer_tensor_release(tensors[i]);
}

static inline void assert_floats_equal(const fer_tensor *tensor, size_t count, const float *values)
{
    assert_int_equal(fer_tensor_dtype(tensor), FER_F32);
    assert_int_equal(fer_tensor_num_elements(tensor), count);
    const float *data = fer_tensor_const_data(tensor);
    for (size_t i = 0; i < count; i++)
        if (data[i] != values[i])
            fail_msg("element %zu is %g, not %g", i, (double)data[i], (double)values[i]);
}
#define ASSERT_FLOATS(tensor, ...)                                                                 \
    assert_floats_equal(tensor, sizeof((float[]){__VA_ARGS__}) / sizeof(float),                    \
                        (float[]){__VA_ARGS__})

/* --- Running, with the package of the tests --------------------------------------------------- */

static inline fer_module *read_program(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    ASSERT_OK(&error, fer_module_parse(text, "t.fer", FERRULE_TEST_DATA, &module, &error));
    return module;
}

static inline const fer_graph *last_graph(const fer_module *module)
{
    return fer_module_graph_at(module, fer_module_num_graphs(module) - 1);
}

/* The model of a program's last graph. The package of the tests is used already. */
static inline fer_model *make_model(const char *text)
{
    fer_error error = FER_ERROR_INIT;
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program, "use \"kernels/graph\"\n%s", text);
    fer_module *module = read_program(fer_text_string(&program));
    fer_text_free(&program);
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(last_graph(module), NULL, &model, &error));
    fer_module_release(module);
    return model;
}

static inline void run(fer_model *model, fer_tensor *const *inputs, size_t num_inputs,
                       fer_tensor **outputs, size_t num_outputs)
{
    fer_error error = FER_ERROR_INIT;
    ASSERT_OK(&error, fer_model_run(model, inputs, num_inputs, outputs, num_outputs, &error));
}

/* Runs a model of one input and one output; takes the input. */
static inline fer_tensor *run_one(fer_model *model, fer_tensor *input)
{
    fer_tensor *result = NULL;
    run(model, &input, 1, &result, 1);
    fer_tensor_release(input);
    return result;
}

#define ASSERT_RUN_FAILS(kind, model, input, ...)                                                  \
    do {                                                                                           \
        fer_error refusal = FER_ERROR_INIT;                                                        \
        fer_tensor *refused = NULL;                                                                \
        fer_tensor *given = (input);                                                               \
        ASSERT_FAILS(&refusal, kind, fer_model_run(model, &given, 1, &refused, 1, &refusal),       \
                     __VA_ARGS__);                                                                 \
        assert_null(refused);                                                                      \
        fer_tensor_release(given);                                                                 \
    } while (0)

#endif
