#include "cli/exchange.h"

#include "base/text.h"
#include "cli/picture.h"
#include "tensor/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_extension(const char *path, const char *extension)
{
    size_t length = strlen(path);
    size_t extension_length = strlen(extension);
    return length > extension_length &&
           strcasecmp(path + length - extension_length, extension) == 0;
}

static fer_status read_number(const char *name, const char *text, fer_number *out_number,
                              fer_error *error)
{
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    fer_status status = fer_number_parse(&lexer, out_number, NULL);
    if (status == FER_OVERFLOW_ERROR)
        return fer_fail(error, status, "input '%s' is %s, which is %s", name, text,
                        lexer.token.kind == FER_TOKEN_INTEGER ? "outside 64 bits"
                                                              : "too large for a float");
    if (status == FER_OK && lexer.token.kind == FER_TOKEN_END)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR,
                    "input '%s' is '%s', which is neither a .npy or .png file nor a number", name,
                    text);
}

fer_status fer_input_read(const char *name, const char *text, fer_dtype picture_dtype,
                          fer_given_input *out_input, fer_error *error)
{
    *out_input = (fer_given_input){.name = name};
    fer_status status = FER_OK;
    if (has_extension(text, ".npy"))
        status = fer_npy_read(text, &out_input->tensor, error);
    else if (has_extension(text, ".png"))
        status = fer_picture_read(text, picture_dtype, &out_input->tensor, error);
    else
        return read_number(name, text, &out_input->number, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "input '%s': ", name);
    return FER_OK;
}

void fer_inputs_clear(fer_given_input *inputs, size_t num_inputs)
{
    for (size_t i = 0; inputs != NULL && i < num_inputs; i++)
        fer_tensor_release(inputs[i].tensor);
    free(inputs);
}

fer_dtype fer_picture_dtype(fer_dtype dtype)
{
    return dtype == FER_F32 || dtype == FER_U16 ? dtype : FER_U8;
}

fer_given_output fer_output_split(char *text)
{
    fer_given_output output = {.path = text};
    if (fer_is_pair(text))
        fer_split_pair(text, &output.name, &output.path);
    return output;
}

static fer_status fail_result_name(const char *subject, const char *name, const char *const *known,
                                   size_t num_known, fer_error *error)
{
    if (num_known == 0)
        return fer_fail(error, FER_VALUE_ERROR,
                        "%s: no result is called '%s'; the results have no names, so -o FILE takes "
                        "the next one",
                        subject, name);
    fer_text list = FER_TEXT_INIT;
    for (size_t i = 0; i < num_known; i++)
        fer_text_printf(&list, "%s'%s'", i == 0 ? "" : ", ", known[i]);
    const char *near = fer_near_name(name, known, num_known);
    fer_status status =
        list.has_failed ? fer_fail_memory(error)
                        : fer_fail(error, FER_VALUE_ERROR,
                                   "%s: no result is called '%s', but %s%s%s%s", subject, name,
                                   fer_text_string(&list), near == NULL ? "" : "; did you mean '",
                                   near == NULL ? "" : near, near == NULL ? "" : "'?");
    fer_text_free(&list);
    return status;
}

static fer_status find_result(const char *subject, const char *name, const char *const *names,
                              size_t num_results, size_t *out_index, fer_error *error)
{
    const char *known[2 * FER_MAX_OPERANDS];
    size_t num_known = 0;
    for (size_t i = 0; i < num_results; i++) {
        if (names[i] == NULL)
            continue;
        if (strcmp(names[i], name) == 0) {
            *out_index = i;
            return FER_OK;
        }
        if (num_known < sizeof known / sizeof *known)
            known[num_known++] = names[i];
    }
    return fail_result_name(subject, name, known, num_known, error);
}

static size_t next_free(const char *const *paths, size_t num_results)
{
    size_t index = 0;
    while (index < num_results && paths[index] != NULL)
        index++;
    return index;
}

static fer_status check_path(const fer_given_output *outputs, size_t index, fer_error *error)
{
    const char *path = outputs[index].path;
    if (!has_extension(path, ".npy") && !has_extension(path, ".png"))
        return fer_fail(error, FER_VALUE_ERROR,
                        "output '%s': files are written as .npy or .png, by their extension", path);
    for (size_t i = 0; i < index; i++)
        if (strcmp(outputs[i].path, path) == 0)
            return fer_fail(error, FER_VALUE_ERROR, "two outputs are for the file '%s'", path);
    return FER_OK;
}

fer_status fer_outputs_assign(const char *subject, const fer_given_output *outputs,
                              size_t num_outputs, const char *const *names, size_t num_results,
                              const char **out_paths, fer_error *error)
{
    for (size_t i = 0; i < num_results; i++)
        out_paths[i] = NULL;
    for (size_t i = 0; i < num_outputs; i++) {
        size_t index = 0;
        FER_TRY(check_path(outputs, i, error));
        if (outputs[i].name == NULL)
            continue;
        FER_TRY(find_result(subject, outputs[i].name, names, num_results, &index, error));
        if (out_paths[index] != NULL)
            return fer_fail(error, FER_VALUE_ERROR, "%s: two outputs are for the result '%s'",
                            subject, outputs[i].name);
        out_paths[index] = outputs[i].path;
    }
    for (size_t i = 0; i < num_outputs; i++) {
        if (outputs[i].name != NULL)
            continue;
        size_t index = next_free(out_paths, num_results);
        if (index == num_results)
            return fer_fail(error, FER_VALUE_ERROR, "%s gives %zu result%s, but %zu output%s came",
                            subject, num_results, num_results == 1 ? "" : "s", num_outputs,
                            num_outputs == 1 ? "" : "s");
        out_paths[index] = outputs[i].path;
    }
    return FER_OK;
}

static fer_status print_result(const char *name, const fer_tensor *tensor, fer_error *error)
{
    char *text = NULL;
    FER_TRY(fer_tensor_print(tensor, &text, error));
    if (name != NULL)
        printf("%s: ", name);
    puts(text);
    fer_string_free(text);
    return FER_OK;
}

fer_status fer_outputs_publish(const char *const *names, fer_tensor *const *tensors,
                               const char *const *paths, size_t num_results, fer_error *error)
{
    for (size_t i = 0; i < num_results; i++) {
        if (paths[i] == NULL)
            FER_TRY(print_result(names[i], tensors[i], error));
        else if (has_extension(paths[i], ".npy"))
            FER_TRY(fer_npy_write(paths[i], tensors[i], error));
        else
            FER_TRY(fer_picture_write(paths[i], tensors[i], error));
    }
    return FER_OK;
}
