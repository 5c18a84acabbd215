/* Programs: the lines outside of graphs, and what they declare. */
#include "signature/parse.h"
#include "base/path.h"
#include "graph/text.h"
#include "package/overlay.h"
#include "package/package.h"
#include "tensor/npy.h"
#include "types/expression.h"

#include <stdlib.h>
#include <string.h>

/* --- Places ----------------------------------------------------------------------------------- */

fer_status fer_program_locate(const fer_program_reader *reader, const fer_token *token,
                              fer_status status, fer_error *error)
{
    const char *source = reader->lexer.source_name;
    size_t length = strlen(source);
    if (status == FER_OK || error == NULL || error->message == NULL)
        return status;
    const char *rest = error->message + length;
    if (strncmp(error->message, source, length) == 0 && rest[0] == ':' && rest[1] >= '1' &&
        rest[1] <= '9')
        return status;
    return fer_lexer_locate(&reader->lexer, token, status, error);
}

fer_token fer_program_peek(const fer_program_reader *reader)
{
    fer_lexer ahead = reader->lexer;
    fer_lexer_advance(&ahead);
    return ahead.token;
}

/* --- Words ------------------------------------------------------------------------------------ */

fer_status fer_program_expect_text(fer_program_reader *reader, const char *what, char **out_text,
                                   fer_error *error)
{
    fer_token token = reader->lexer.token;
    size_t length;
    FER_TRY(fer_lexer_expect_string(&reader->lexer, what, out_text, &length, error));
    if (strlen(*out_text) == length)
        return FER_OK;
    free(*out_text);
    *out_text = NULL;
    return fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error, "%s cannot hold a byte 0",
                          what);
}

fer_status fer_program_expect_name(fer_program_reader *reader, const char *what, char **out_name,
                                   fer_error *error)
{
    *out_name = NULL;
    fer_token token = reader->lexer.token;
    if (token.kind == FER_TOKEN_STRING)
        return fer_program_expect_text(reader, what, out_name, error);
    FER_TRY(fer_lexer_expect_name(&reader->lexer, what, out_name, error));
    if (!fer_is_reserved_name(*out_name))
        return FER_OK;
    free(*out_name);
    *out_name = NULL;
    return fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                          "expected %s, found the word '%.*s'; a name like it is written in quotes",
                          what, (int)token.length, token.start);
}

fer_status fer_program_parse_type(fer_program_reader *reader, fer_type **out_type, fer_error *error)
{
    fer_token first = reader->lexer.token;
    fer_status status = fer_type_parse_tokens(&reader->lexer, out_type, error);
    return fer_program_locate(reader, &first, status, error);
}

fer_status fer_program_place_path(const fer_program_reader *reader, char *path, char **out_path,
                                  fer_error *error)
{
    *out_path = NULL;
    if (reader->folder == NULL) {
        *out_path = path;
        return FER_OK;
    }
    fer_status status = fer_path_join(reader->folder, path, out_path, error);
    free(path);
    return status;
}

/* --- Packages --------------------------------------------------------------------------------- */

static fer_status expect_path(fer_program_reader *reader, char **out_path, fer_error *error)
{
    char *path = NULL;
    FER_TRY(fer_program_expect_text(reader, "a package's path in quotes", &path, error));
    if (!fer_is_own_package(path))
        return fer_program_place_path(reader, path, out_path, error);
    *out_path = path;
    return FER_OK;
}

static fer_status parse_use(fer_program_reader *reader, fer_error *error)
{
    fer_token token = reader->lexer.token;
    if (reader->num_packages == FER_MAX_PACKAGES)
        return fer_lexer_fail(&reader->lexer, &token, FER_VALUE_ERROR, error,
                              "a program uses at most %d packages; give an op its own with `from`",
                              FER_MAX_PACKAGES);
    char *path = NULL;
    fer_package *package = NULL;
    FER_TRY(expect_path(reader, &path, error));
    fer_status status = reader->host->open(reader->host->context, path, &package, error);
    if (status != FER_OK) {
        free(path);
        return fer_program_locate(reader, &token, status, error);
    }
    reader->paths[reader->num_packages] = path;
    reader->packages[reader->num_packages++] = package;
    return FER_OK;
}

/* --- Ops -------------------------------------------------------------------------------------- */

/* Where an op line says that the kernel is. */
typedef struct origin {
    char *paths[FER_MAX_PACKAGES];
    size_t num_paths;
    char *source;
} origin;

static void clear_origin(origin *from)
{
    for (size_t i = 0; i < from->num_paths; i++)
        free(from->paths[i]);
    free(from->source);
}

static fer_status parse_origin(fer_program_reader *reader, origin *out, fer_error *error)
{
    if (fer_lexer_accept(&reader->lexer, "from"))
        do {
            if (out->num_paths == FER_MAX_PACKAGES)
                return fer_lexer_fail(&reader->lexer, &reader->lexer.token, FER_VALUE_ERROR, error,
                                      "an op takes at most %d packages", FER_MAX_PACKAGES);
            FER_TRY(expect_path(reader, &out->paths[out->num_paths], error));
            out->num_paths++;
        } while (fer_lexer_accept(&reader->lexer, ","));
    if (fer_lexer_accept(&reader->lexer, "source"))
        return fer_program_expect_text(reader, "C source in quotes", &out->source, error);
    return FER_OK;
}

static fer_status declare(fer_program_reader *reader, const fer_signature *signature,
                          const origin *from, fer_op **out_op, fer_error *error)
{
    fer_declaration declaration = {.parsed = signature, .source = from->source};
    bool has_own = from->num_paths > 0 || from->source != NULL;
    char *const *paths = has_own ? from->paths : reader->paths;
    size_t num_paths = has_own ? from->num_paths : reader->num_packages;
    for (size_t i = 0; i < num_paths; i++)
        declaration.packages[i] = paths[i];
    return reader->host->declare(reader->host->context, &declaration, out_op, error);
}

/* `op f(x: f32[n]) -> f32[n]`, or `op alias = f(...) -> ...`, and perhaps where its kernel is. */
static fer_status parse_op(fer_program_reader *reader, fer_error *error)
{
    fer_status status = FER_OK;
    char *alias = NULL;
    fer_signature *signature = NULL;
    fer_op *op = NULL;
    origin from = {.num_paths = 0};
    fer_token second = fer_program_peek(reader);
    fer_token first = reader->lexer.token;
    if (fer_token_is(&second, "=")) {
        FER_TRY_DONE(fer_lexer_expect_name(&reader->lexer, "an op's name", &alias, error));
        fer_lexer_advance(&reader->lexer);
    }
    fer_token start = reader->lexer.token;
    status = fer_signature_parse_tokens(&reader->lexer, &signature, error);
    if (status == FER_OK)
        status = parse_origin(reader, &from, error);
    if (status == FER_OK)
        status = declare(reader, signature, &from, &op, error);
    FER_TRY_DONE(fer_program_locate(reader, &start, status, error));
    status = fer_module_name_op(reader->module, alias == NULL ? op->name : alias, op, error);
    status = fer_program_locate(reader, &first, status, error);

done:
    fer_op_release(op);
    fer_signature_release(signature);
    clear_origin(&from);
    free(alias);
    return status;
}

/* The kernel nearest to a name in the packages that the program uses. */
static const char *near_kernel(const fer_program_reader *reader, const char *name)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < reader->num_packages && nearest == NULL; i++) {
        const fer_package *package = reader->packages[i];
        size_t count = package == NULL ? 0 : fer_package_num_kernels(package);
        const char **names = calloc(count + 1, sizeof *names);
        for (size_t j = 0; names != NULL && j < count; j++)
            names[j] = fer_package_kernel(package, j).name;
        if (names != NULL)
            nearest = fer_near_name(name, names, count);
        free(names);
    }
    return nearest;
}

/* Whether it would be found if the program used "std". */
static bool standard_package_has(const fer_program_reader *reader, const char *name)
{
    fer_package *package = NULL;
    if (reader->host->open(reader->host->context, "std", &package, NULL) != FER_OK)
        return false;
    bool has = package != NULL && fer_package_find(package, name, NULL);
    fer_package_release(package);
    return has;
}

static fer_status fail_unknown_op(const fer_program_reader *reader, const fer_token *at,
                                  const char *name, fer_error *error)
{
    if (fer_module_find(reader->module, name) != NULL)
        return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error,
                              "there is no op '%s', but a graph, which is called by `call %s(...)`",
                              name, name);
    const char *advice = fer_program_advice(name);
    if (advice != NULL)
        return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error, "%s", advice);
    if (standard_package_has(reader, name))
        return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error,
                              "there is no op '%s'; the standard package has it: write `use "
                              "\"std\"` at the top",
                              name);
    const char *other = fer_program_standard_name(name);
    if (other != NULL && standard_package_has(reader, other))
        return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error,
                              "there is no op '%s'; the standard package, \"std\", calls it '%s'",
                              name, other);
    const char *near = fer_names_near(&reader->module->op_names, name);
    if (near == NULL)
        near = near_kernel(reader, name);
    if (near != NULL)
        return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error,
                              "there is no op '%s'; did you mean '%s'?", name, near);
    return fer_lexer_fail(&reader->lexer, at, FER_VALUE_ERROR, error,
                          "there is no op '%s'; declare it with `op`, or `use` a package that has "
                          "a SIGNATURE for it",
                          name);
}

static bool has_kernel(const fer_program_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->num_packages; i++)
        if (reader->packages[i] != NULL && fer_package_find(reader->packages[i], name, NULL))
            return true;
    fer_package *package = fer_overlay_find(name);
    fer_package_release(package);
    return package != NULL;
}

/* Declares a kernel by its SIGNATURE. With values of its own it is declared with them at once, so
 * that nothing is compiled for those that the SIGNATURE has; without, the module keeps it by name.
 */
static fer_status declare_kernel(fer_program_reader *reader, const char *name,
                                 const fer_param *params, size_t num_params, fer_op **out_op,
                                 fer_error *error)
{
    fer_declaration declaration = {.kernel = name, .params = params, .num_params = num_params};
    for (size_t i = 0; i < reader->num_packages; i++)
        declaration.packages[i] = reader->paths[i];
    FER_TRY(reader->host->declare(reader->host->context, &declaration, out_op, error));
    if (num_params > 0)
        return FER_OK;
    fer_status status = fer_module_name_op(reader->module, name, *out_op, error);
    if (status != FER_OK) {
        fer_op_release(*out_op);
        *out_op = NULL;
    }
    return status;
}

fer_status fer_program_find_op(fer_program_reader *reader, const fer_token *at, const char *name,
                               const fer_param *params, size_t num_params, fer_op **out_op,
                               fer_error *error)
{
    *out_op = NULL;
    const fer_op *named = fer_names_find(&reader->module->op_names, name);
    fer_status status = FER_OK;
    if (named != NULL && num_params == 0)
        *out_op = fer_op_retain(named);
    else if (named != NULL)
        status = fer_op_specialise(named, params, num_params, out_op, error);
    else if (has_kernel(reader, name))
        status = declare_kernel(reader, name, params, num_params, out_op, error);
    else
        return fail_unknown_op(reader, at, name, error);
    return fer_program_locate(reader, at, status, error);
}

/* --- Programs --------------------------------------------------------------------------------- */

/* What begins no line, a word that was probably meant for one that does. */
static fer_status fail_line(const fer_lexer *lexer, fer_error *error)
{
    static const char *const WORDS[] = {"use", "op", "graph"};
    char word[16] = "";
    if (lexer->token.kind == FER_TOKEN_NAME && lexer->token.length < sizeof word)
        memcpy(word, lexer->token.start, lexer->token.length);
    const char *near = fer_near_name(word, WORDS, sizeof WORDS / sizeof *WORDS);
    if (near == NULL)
        return fer_lexer_unexpected(lexer, "'use', 'op' or 'graph'", error);
    return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error,
                          "expected 'use', 'op' or 'graph', found '%s'; did you mean '%s'?", word,
                          near);
}

static fer_status parse_line(fer_program_reader *reader, fer_error *error)
{
    fer_lexer *lexer = &reader->lexer;
    if (fer_lexer_accept(lexer, "use"))
        return parse_use(reader, error);
    if (fer_lexer_accept(lexer, "op"))
        return parse_op(reader, error);
    if (fer_lexer_accept(lexer, "graph"))
        return fer_program_parse_graph(reader, error);
    return fail_line(lexer, error);
}

fer_status fer_module_parse_with(const fer_program_host *host, const char *text,
                                 const char *source_name, const char *folder,
                                 fer_module **out_module, fer_error *error)
{
    *out_module = NULL;
    fer_program_reader reader = {.host = host, .folder = folder};
    FER_TRY(fer_module_create(&reader.module, error));
    fer_lexer_start(&reader.lexer, text, source_name == NULL ? "program" : source_name, true);
    fer_status status = FER_OK;
    while (status == FER_OK && reader.lexer.token.kind != FER_TOKEN_END)
        status = parse_line(&reader, error);
    for (size_t i = 0; i < reader.num_packages; i++) {
        free(reader.paths[i]);
        fer_package_release(reader.packages[i]);
    }
    if (status == FER_OK)
        *out_module = reader.module;
    else
        fer_module_release(reader.module);
    return status;
}

static fer_status open_package(void *context, const char *path, fer_package **out_package,
                               fer_error *error)
{
    (void)context;
    return fer_package_open(path, out_package, error);
}

static fer_status declare_op(void *context, const fer_declaration *declaration, fer_op **out_op,
                             fer_error *error)
{
    (void)context;
    return fer_declare(declaration, out_op, error);
}

static fer_status map_file(void *context, const char *path, fer_tensor **out_tensor,
                           fer_error *error)
{
    (void)context;
    return fer_npy_map_regular(path, out_tensor, error);
}

fer_status fer_module_parse(const char *text, const char *source_name, const char *folder,
                            fer_module **out_module, fer_error *error)
{
    fer_program_host host = {.open = open_package, .declare = declare_op, .map = map_file};
    if (text == NULL) {
        *out_module = NULL;
        return fer_fail(error, FER_TYPE_ERROR, "the program's text is NULL");
    }
    return fer_module_parse_with(&host, text, source_name, folder, out_module, error);
}

fer_status fer_module_read(const char *path, fer_module **out_module, fer_error *error)
{
    *out_module = NULL;
    char *text = NULL;
    char *folder = NULL;
    size_t size;
    FER_TRY(fer_file_read(path, &text, &size, error));
    fer_status status = FER_OK;
    if (strlen(text) != size)
        status = fer_fail(error, FER_VALUE_ERROR, "%s: a program is text, and this holds a byte 0",
                          path);
    if (status == FER_OK && strchr(path, '/') != NULL)
        status = fer_path_folder(path, &folder, error);
    if (status == FER_OK)
        status = fer_module_parse(text, path, folder, out_module, error);
    free(folder);
    free(text);
    return status;
}
