/* Programs as files: the text, and beside it the large constants, one file for each content. */
#include "base/path.h"
#include "graph/constant.h"
#include "graph/text.h"
#include "tensor/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A larger constant gets a file: in the text it would be some thousand words on one line. */
#define MAX_INLINE_BYTES 4096

#define PROGRAM_ENDING ".fer"

/* The folder of a program's constants. */
typedef struct data_folder {
    char *path;
    const char *name; /* as the program has it: the last part of the path */
} data_folder;

/* `x/thumbnail.data` for `x/thumbnail.fer`. */
static fer_status name_data_folder(const char *program, data_folder *out, fer_error *error)
{
    const char *slash = strrchr(program, '/');
    size_t folder_length = slash == NULL ? 0 : (size_t)(slash + 1 - program);
    size_t length = strlen(program);
    size_t ending = strlen(PROGRAM_ENDING);
    if (length > folder_length + ending && strcmp(program + length - ending, PROGRAM_ENDING) == 0)
        length -= ending;
    fer_text path = FER_TEXT_INIT;
    fer_text_append_bytes(&path, program, length);
    fer_text_append(&path, ".data");
    FER_TRY(fer_text_take(&path, &out->path, error));
    out->name = out->path + folder_length;
    return FER_OK;
}

/* With the permissions that the umask leaves, as the files in it have them. */
static fer_status make_folder(const char *path, fer_error *error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return FER_OK;
    return fer_fail(error, FER_IO_ERROR, "%s: cannot make the folder: %s", path, strerror(errno));
}

/* Whether a file has the constant already. */
static bool has_constant(const char *path, const fer_type *type, const fer_tensor *constant)
{
    fer_tensor *file = NULL;
    fer_tensor *found = NULL;
    bool has = fer_npy_map_regular(path, &file, NULL) == FER_OK &&
               fer_constant_from_file(file, type, &found, NULL) == FER_OK &&
               memcmp(fer_tensor_const_data(found), fer_tensor_const_data(constant),
                      fer_tensor_num_bytes(constant)) == 0;
    fer_tensor_release(found);
    fer_tensor_release(file);
    return has;
}

static fer_status write_constant(const char *path, const fer_type *type, const fer_tensor *constant,
                                 fer_error *error)
{
    if (has_constant(path, type, constant))
        return FER_OK;
    fer_tensor *file = NULL;
    FER_TRY(fer_constant_to_file(constant, &file, error));
    fer_status status = fer_npy_write(path, file, error);
    fer_tensor_release(file);
    return status;
}

/* Writes a large constant's file, so that the text never names one that is not there. */
static fer_status append_written(void *context, const fer_node *node, fer_text *text,
                                 fer_error *error)
{
    const data_folder *data = context;
    const fer_type *type = node->results[0]->type;
    if (fer_tensor_num_bytes(node->constant) <= MAX_INLINE_BYTES)
        return FER_OK;
    char digest[FER_DIGEST_HEX];
    fer_constant_digest(type, node->constant, digest);
    char *path = NULL;
    fer_text name = FER_TEXT_INIT;
    fer_text_printf(&name, "%s/%s.npy", data->path, digest);
    FER_TRY(fer_text_take(&name, &path, error));
    fer_status status = make_folder(data->path, error);
    if (status == FER_OK)
        status = write_constant(path, type, node->constant, error);
    if (status == FER_OK)
        fer_constant_append_file(text, path + (data->name - data->path), digest);
    free(path);
    return status;
}

fer_status fer_module_write(const fer_module *module, const char *path, fer_error *error)
{
    data_folder data = {NULL, NULL};
    char *folder = NULL;
    char *absolute = NULL;
    char *text = NULL;
    fer_status status = FER_OK;
    if (path == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "the path to write the program to is NULL");
    FER_TRY_DONE(name_data_folder(path, &data, error));
    FER_TRY_DONE(fer_path_folder(path, &folder, error));
    FER_TRY_DONE(fer_path_absolute(folder, &absolute, error));
    fer_print_style style = {.folder = absolute, .append_file = append_written, .context = &data};
    FER_TRY_DONE(fer_module_print_as(module, &style, &text, error));
    status = fer_file_write(path, text, strlen(text), error);

done:
    free(text);
    free(absolute);
    free(folder);
    free(data.path);
    return status;
}

/* --- As it was read --------------------------------------------------------------------------- */

static fer_status append_read(void *context, const fer_node *node, fer_text *text, fer_error *error)
{
    if (node->file == NULL)
        return FER_OK;
    char *path = NULL;
    FER_TRY(fer_path_shorten(context, node->file, &path, error));
    fer_constant_append_file(text, path, node->digest);
    free(path);
    return FER_OK;
}

fer_status fer_module_print_as_read(const fer_module *module, const char *folder, char **out_text,
                                    fer_error *error)
{
    fer_print_style style = {
        .folder = folder, .append_file = append_read, .context = (void *)folder};
    return fer_module_print_as(module, &style, out_text, error);
}
