/* Programs: constants, whose elements are in the text or in a .npy file. */
#include "base/path.h"
#include "graph/constant.h"
#include "graph/element.h"
#include "graph/text.h"

#include <stdlib.h>
#include <string.h>

/* What `from "weights.npy" {digest: "0123…"}` says. */
typedef struct origin {
    fer_token path_token;
    fer_token digest_token;
    char *path;   /* as the host opens it */
    char *file;   /* the same, absolute */
    char *digest; /* or NULL */
} origin;

static void clear_origin(origin *from)
{
    free(from->path);
    free(from->file);
    free(from->digest);
}

static fer_status take_digest(const fer_program_reader *reader, origin *from, fer_error *error)
{
    const fer_token *token = &from->digest_token;
    if (token->length == 0)
        return FER_OK;
    const char *digits = token->start + 1;
    size_t num_digits = strspn(digits, "0123456789abcdef");
    if (num_digits != FER_DIGEST_HEX - 1 || token->length != num_digits + 2)
        return fer_lexer_fail(&reader->lexer, token, FER_VALUE_ERROR, error,
                              "expected a digest, %d hex digits in quotes", FER_DIGEST_HEX - 1);
    from->digest = strndup(digits, num_digits);
    return from->digest == NULL ? fer_fail_memory(error) : FER_OK;
}

static fer_status parse_origin(fer_program_reader *reader, origin *from, fer_error *error)
{
    char *path = NULL;
    from->path_token = reader->lexer.token;
    FER_TRY(fer_program_expect_text(reader, "a .npy file's path in quotes", &path, error));
    FER_TRY(fer_program_place_path(reader, path, &from->path, error));
    FER_TRY(fer_path_absolute(from->path, &from->file, error));
    FER_TRY(fer_program_parse_attribute(reader, "digest", "a digest in quotes", &from->digest_token,
                                        error));
    return take_digest(reader, from, error);
}

static fer_status check_digest(const origin *from, const fer_type *type, const fer_tensor *tensor,
                               fer_error *error)
{
    if (from->digest == NULL)
        return FER_OK;
    char actual[FER_DIGEST_HEX];
    fer_constant_digest(type, tensor, actual);
    if (strcmp(actual, from->digest) == 0)
        return FER_OK;
    fer_place place = {.expected = from->digest, .actual = actual};
    return fer_fail_at(error, FER_VALUE_ERROR, &place,
                       "%s: the file holds another constant: its digest is \"%s\", not \"%s\"",
                       from->path, actual, from->digest);
}

static fer_status read_file(const fer_program_reader *reader, const origin *from,
                            const fer_type *type, fer_tensor **out_tensor, fer_error *error)
{
    fer_tensor *file = NULL;
    FER_TRY(reader->host->map(reader->host->context, from->path, &file, error));
    fer_status status = fer_constant_from_file(file, type, out_tensor, error);
    fer_tensor_release(file);
    return status == FER_OK ? FER_OK : fer_error_prepend(error, status, "%s: ", from->path);
}

static fer_status parse_elements(fer_program_reader *reader, const fer_graph *graph,
                                 const fer_type *type, origin *from, fer_tensor **out_tensor,
                                 fer_error *error)
{
    if (!fer_lexer_at(&reader->lexer, "from"))
        return fer_elements_parse(&reader->lexer, type, out_tensor, error);
    int64_t extents[FER_MAX_RANK];
    int64_t num_elements;
    FER_TRY(fer_elements_count(&reader->lexer, type, extents, &num_elements, error));
    fer_lexer_advance(&reader->lexer);
    FER_TRY(parse_origin(reader, from, error));
    fer_status status = read_file(reader, from, type, out_tensor, error);
    FER_TRY(fer_program_locate_in(reader, graph, &from->path_token, status, error));
    status = check_digest(from, type, *out_tensor, error);
    return fer_program_locate_in(reader, graph, &from->digest_token, status, error);
}

static fer_status keep(fer_graph *graph, fer_tensor *tensor, origin *from, fer_value **out_value,
                       fer_error *error)
{
    fer_node *node = NULL;
    FER_TRY(fer_graph_keep_constant(graph, tensor, &node, error));
    node->file = from->file;
    node->digest = from->digest;
    from->file = NULL;
    from->digest = NULL;
    *out_value = node->results[0];
    return FER_OK;
}

fer_status fer_program_parse_constant(fer_program_reader *reader, fer_graph *graph,
                                      const fer_step_names *left, fer_error *error)
{
    fer_token token = reader->lexer.token;
    fer_lexer_advance(&reader->lexer);
    FER_TRY(fer_step_names_check_one(left, reader, "constant", error));
    fer_type *type = NULL;
    fer_tensor *tensor = NULL;
    fer_value *value = NULL;
    origin from = {.path = NULL};
    fer_status status = fer_program_parse_type(reader, &type, error);
    if (status == FER_OK && !fer_lexer_at(&reader->lexer, "[") &&
        !fer_lexer_at(&reader->lexer, "from"))
        status = fer_lexer_unexpected(&reader->lexer, "the elements of the constant", error);
    if (status != FER_OK) {
        fer_type_release(type);
        return fer_program_advise(status, error, fer_program_advice("constant"));
    }
    status = parse_elements(reader, graph, type, &from, &tensor, error);
    if (status == FER_OK) {
        status = keep(graph, tensor, &from, &value, error);
        status = fer_program_locate_in(reader, graph, &token, status, error);
    }
    if (status == FER_OK)
        status = fer_step_names_give(left, reader, &value, error);
    clear_origin(&from);
    fer_tensor_release(tensor);
    fer_type_release(type);
    return status;
}
