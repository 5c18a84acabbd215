/* ferrule call: declares an op, calls it once, and writes or prints its results. */
#include "cli/exchange.h"
#include "signature/literal.h"
#include "signature/parse.h"
#include "signature/signature.h"

#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {{"check", no_argument, NULL, 'c'},
                                        {"package", required_argument, NULL, 'p'},
                                        {"param", required_argument, NULL, 'P'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"stats", no_argument, NULL, 's'},
                                        FER_HELP_OPTION,
                                        {0}};

const fer_subcommand fer_command_call = {
    .name = "call",
    .arguments =
        "--package DIR [--param NAME=VALUE]... [--check] [--stats] [-o [NAME=]FILE]... [--] "
        "DECLARATION NAME=INPUT...",
    .summary = "declare an op and call it once",
    .help =
        "\nDECLARATION may be the name of a kernel that the package declares; `std` is a package.\n"
        "INPUT is a .npy or .png file, or a number for an operand of rank 0. A picture is read as\n"
        "f32 in 0..1 where the operand is f32, as u16 where it is that or may be and the file has\n"
        "16 bits, else as u8. Each -o writes the result of that name, or the next one, as .npy or\n"
        ".png; inout operands come after the results. What has no -o is printed. --check runs the\n"
        "kernel on copies, and tells of one that writes or indexes outside, writes to an operand\n"
        "that is not inout, or leaves a result unwritten. --stats says on stderr how much was\n"
        "compiled, found in the cache and allocated for larger tensors.\n",
    .letters = ":hcp:P:o:s",
    .options = OPTIONS,
    .run = run,
};

/* What the command line says. The arrays have room for argc elements. */
typedef struct arguments {
    fer_given_declaration given;
    fer_param *params; /* name, and the text of the value as a string, until read_params */
    size_t num_params;
    fer_given_output *outputs;
    size_t num_outputs;
    char **pairs; /* NAME=INPUT */
    size_t num_pairs;
    bool has_stats;
} arguments;

/* What a call makes on the way, all owned. */
typedef struct work {
    fer_pool pool;
    fer_op *op;
    fer_given_input *inputs;
    size_t num_inputs;
    fer_argument *call_arguments;
    fer_argument *results;
    size_t num_results;
} work;

static const fer_param *find_param(const fer_param *params, size_t num_params, const char *name)
{
    for (size_t i = 0; i < num_params; i++)
        if (strcmp(params[i].name, name) == 0)
            return &params[i];
    return NULL;
}

/* Reads the text of a value. A string may stand without its quotes. */
static fer_status read_param(const fer_param *declared, fer_pool *pool, fer_param *param,
                             fer_error *error)
{
    fer_param value = {0};
    const char *text = param->value.as_str.data;
    if (declared->kind == FER_PARAM_STR && *text != '"')
        return FER_OK;
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    FER_TRY(fer_literal_parse(&lexer, pool, &value, error));
    if (lexer.token.kind != FER_TOKEN_END)
        return fer_lexer_unexpected(&lexer, "the end of the value", error);
    value.name = param->name;
    *param = value;
    return FER_OK;
}

/* A value is read as its kind, which the declaration says; so that comes first, without its dims,
 * which may need the values. A name that the declaration does not have keeps its text: declaring
 * refuses it by its name, as it does a declaration that cannot be read. */
static fer_status read_params(const arguments *arguments, work *work, fer_error *error)
{
    const char *declaration = NULL;
    const char *op = NULL;
    fer_param declared[FER_MAX_GENERICS];
    size_t num_declared = 0;
    FER_TRY(fer_given_text(&arguments->given, &work->pool, &declaration, error));
    if (declaration == NULL || fer_signature_parse_head(declaration, &work->pool, &op, declared,
                                                        &num_declared, NULL) != FER_OK)
        return FER_OK;
    for (size_t i = 0; i < arguments->num_params; i++) {
        fer_param *param = &arguments->params[i];
        const fer_param *kind = find_param(declared, num_declared, param->name);
        fer_status status = kind == NULL ? FER_OK : read_param(kind, &work->pool, param, error);
        if (status != FER_OK)
            return fer_error_prepend(error, status, "%s: parameter '%s': ", op, param->name);
    }
    return FER_OK;
}

static uint32_t allowed_dtypes(const fer_signature_spec *spec, const fer_template *type)
{
    if (type->dtype_var == NULL)
        return FER_DTYPE_BIT(type->dtype);
    for (size_t i = 0; i < spec->num_dtype_vars; i++)
        if (strcmp(spec->dtype_vars[i].name, type->dtype_var) == 0)
            return spec->dtype_vars[i].allowed;
    return 0;
}

/* As the picture's file has it, u8 or u16, where the operand takes these or anything; else what it
 * takes of them and f32. */
static fer_dtype picture_dtype(const fer_signature_spec *spec, const char *operand)
{
    static const fer_dtype CHOICES[] = {FER_U8, FER_U16, FER_F32};
    const uint32_t own = FER_DTYPE_BIT(FER_U8) | FER_DTYPE_BIT(FER_U16);
    uint32_t allowed = 0;
    for (size_t i = 0; i < spec->num_operands; i++)
        if (strcmp(spec->operands[i].name, operand) == 0)
            allowed = allowed_dtypes(spec, &spec->operands[i].type);
    if (allowed == 0 || (allowed & own) == own)
        return FER_DTYPE_INVALID;
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++)
        if ((allowed & FER_DTYPE_BIT(CHOICES[i])) != 0)
            return CHOICES[i];
    return FER_DTYPE_INVALID;
}

static fer_status read_inputs(const arguments *arguments, work *work, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(work->op));
    size_t room = arguments->num_pairs + 1;
    work->inputs = calloc(room, sizeof *work->inputs);
    work->call_arguments = calloc(room, sizeof *work->call_arguments);
    if (work->inputs == NULL || work->call_arguments == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < arguments->num_pairs; i++) {
        const char *name = NULL;
        const char *text = NULL;
        fer_split_pair(arguments->pairs[i], &name, &text);
        fer_given_input *input = &work->inputs[work->num_inputs];
        fer_status status = fer_input_read(name, text, picture_dtype(spec, name), input, error);
        if (status != FER_OK)
            return fer_error_prepend(error, status, "%s: ", spec->name);
        fer_argument *argument = &work->call_arguments[work->num_inputs++];
        argument->keyword = name;
        argument->kind = input->tensor == NULL ? FER_ARGUMENT_NUMBER : FER_ARGUMENT_TENSOR;
        if (input->tensor == NULL)
            argument->as.number = input->number;
        else
            argument->as.tensor = input->tensor;
    }
    return FER_OK;
}

/* The results' names, then those of the inout operands, which are results too. */
static size_t list_outputs(const fer_signature_spec *spec, const char **names)
{
    size_t num_outputs = 0;
    for (size_t i = 0; i < spec->num_results; i++)
        names[num_outputs++] = spec->results[i].name;
    for (size_t i = 0; i < spec->num_operands; i++)
        if (spec->operands[i].is_inout)
            names[num_outputs++] = spec->operands[i].name;
    return num_outputs;
}

static fer_tensor *find_input(const work *work, const char *name)
{
    for (size_t i = 0; i < work->num_inputs; i++)
        if (strcmp(work->inputs[i].name, name) == 0)
            return work->inputs[i].tensor;
    return NULL;
}

static fer_status call_and_publish(const arguments *arguments, work *work, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(work->op));
    const char *names[FER_MAX_OPERANDS];
    const char *paths[FER_MAX_OPERANDS];
    fer_tensor *tensors[FER_MAX_OPERANDS];
    size_t num_outputs = list_outputs(spec, names);
    FER_TRY(fer_outputs_assign(spec->name, arguments->outputs, arguments->num_outputs, names,
                               num_outputs, paths, error));
    work->results = calloc(spec->num_results + 1, sizeof *work->results);
    if (work->results == NULL)
        return fer_fail_memory(error);
    FER_TRY(fer_apply(work->op, work->call_arguments, work->num_inputs, work->results,
                      spec->num_results, error));
    work->num_results = spec->num_results;
    for (size_t i = 0; i < num_outputs; i++)
        tensors[i] =
            i < spec->num_results ? work->results[i].as.tensor : find_input(work, names[i]);
    return fer_outputs_publish(names, tensors, paths, num_outputs, error);
}

static fer_status perform(const arguments *arguments, work *work, fer_error *error)
{
    FER_TRY(read_params(arguments, work, error));
    FER_TRY(fer_given_declare(&arguments->given, arguments->params, arguments->num_params,
                              &work->op, error));
    FER_TRY(read_inputs(arguments, work, error));
    return call_and_publish(arguments, work, error);
}

static void work_clear(work *work)
{
    for (size_t i = 0; i < work->num_results; i++)
        fer_tensor_release(work->results[i].as.tensor);
    free(work->results);
    free(work->call_arguments);
    fer_inputs_clear(work->inputs, work->num_inputs);
    fer_op_release(work->op);
    fer_pool_clear(&work->pool);
}

/* Fills `arguments`; false, with the code to leave with, when the command was used wrongly. */
static bool read_arguments(int argc, char **argv, arguments *arguments, int *out_exit)
{
    const fer_subcommand *command = &fer_command_call;
    int option = 0;
    *out_exit = FER_EXIT_MISUSE;
    while ((option = fer_next_option(command, argc, argv)) > 0) {
        if (option == 'o') {
            arguments->outputs[arguments->num_outputs++] = fer_output_split(optarg);
        } else if (option == 'c') {
            fer_set_checking(true);
        } else if (option == 's') {
            arguments->has_stats = true;
        } else if (option == 'p' && !fer_given_add_package(&arguments->given, optarg)) {
            fer_misuse(command, "more than %d packages", FER_MAX_PACKAGES);
            return false;
        } else if (option == 'P') {
            if (!fer_is_pair(optarg)) {
                fer_misuse(command, "--param '%s' is not of the form NAME=VALUE", optarg);
                return false;
            }
            fer_param *param = &arguments->params[arguments->num_params++];
            *param = (fer_param){.kind = FER_PARAM_STR, .has_value = true};
            fer_split_pair(optarg, &param->name, &param->value.as_str.data);
            param->value.as_str.num_bytes = strlen(param->value.as_str.data);
        }
    }
    if (option != FER_OPTIONS_END) {
        *out_exit = fer_options_exit(option);
        return false;
    }
    if (optind == argc || arguments->given.num_packages == 0) {
        fer_misuse(command, optind == argc ? "DECLARATION is missing" : "--package is missing");
        return false;
    }
    arguments->given.text = argv[optind];
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
    arguments arguments = {
        .params = calloc((size_t)argc + 1, sizeof *arguments.params),
        .outputs = calloc((size_t)argc + 1, sizeof *arguments.outputs),
    };
    int code = 0;
    if (arguments.params == NULL || arguments.outputs == NULL) {
        code = fer_finish(fer_fail_memory(&error), &error);
    } else if (read_arguments(argc, argv, &arguments, &code)) {
        work work = {0};
        fer_progress_start();
        code = fer_finish(perform(&arguments, &work, &error), &error);
        if (arguments.has_stats)
            fer_print_counters();
        work_clear(&work);
    }
    free(arguments.params);
    free(arguments.outputs);
    return code;
}
