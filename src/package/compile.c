#include "package/compile.h"

#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "package/advice.h"
#include "package/arguments.h"
#include "types/dtype.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- The command ------------------------------------------------------------------------------ */

/* Every byte that could mean something to the preprocessor goes as an octal escape. */
static void append_c_string(fer_text *text, fer_string string)
{
    fer_text_append_char(text, '"');
    for (size_t i = 0; i < string.num_bytes; i++) {
        unsigned char c = (unsigned char)string.data[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' || c == '_' ||
                        c == '-' || c == '.' || c == '/';
        if (is_plain)
            fer_text_append_char(text, (char)c);
        else
            fer_text_printf(text, "\\%03o", c);
    }
    fer_text_append_char(text, '"');
}

static void append_float(fer_text *text, double value)
{
    const char *sign = signbit(value) ? "-" : "";
    if (isnan(value))
        fer_text_append(text, "__builtin_nan(\"\")");
    else if (isinf(value))
        fer_text_printf(text, "(%s__builtin_inf())", sign);
    else
        fer_text_printf(text, "(%a)", value);
}

/* The C expression or dtype name that a parameter's value is given as. */
static void append_param_value(fer_text *text, const fer_param *param)
{
    switch (param->kind) {
    case FER_PARAM_INT:
        if (param->value.as_int == INT64_MIN)
            fer_text_append(text, "(-9223372036854775807LL - 1)");
        else
            fer_text_printf(text, "(%lldLL)", (long long)param->value.as_int);
        break;
    case FER_PARAM_FLOAT:
        append_float(text, param->value.as_float);
        break;
    case FER_PARAM_BOOL:
        fer_text_append(text, param->value.as_bool ? "1" : "0");
        break;
    case FER_PARAM_STR:
        append_c_string(text, param->value.as_str);
        break;
    case FER_PARAM_DTYPE:
        fer_text_append(text, fer_dtype_name(param->value.as_dtype));
        break;
    }
}

static void add_definitions(fer_arguments *arguments, const fer_request *request)
{
    fer_arguments_add(arguments, "-DFER_SPECIALISED=1");
    fer_arguments_add(arguments, "-DFER_WANT_%s=~,1", request->kernel);
    for (size_t i = 0; i < request->num_params; i++) {
        const fer_param *param = &request->params[i];
        fer_text value = FER_TEXT_INIT;
        append_param_value(&value, param);
        arguments->has_failed |= value.has_failed;
        fer_arguments_add(arguments, "-DFER_%s_%s=~,%s",
                          param->kind == FER_PARAM_DTYPE ? "DTYPE" : "VALUE", param->name,
                          fer_text_string(&value));
        fer_text_free(&value);
    }
    for (size_t i = 0; i < request->num_dtypes; i++)
        fer_arguments_add(arguments, "-DFER_DTYPE_%s=~,%s", request->dtypes[i].name,
                          fer_dtype_name(request->dtypes[i].dtype));
}

static void add_checks(fer_arguments *arguments, const fer_compiler *compiler,
                       const fer_workplace *place, const fer_request *request)
{
    if (request->told != NULL)
        fer_arguments_add(arguments, FER_CHECKED_FLAG);
    if (!request->is_verified)
        return;
    const char *const *flags = fer_verify_flags(compiler->is_clang);
    for (size_t i = 0; flags[i] != NULL; i++)
        fer_arguments_add(arguments, "%s", flags[i]);
    /* The build folder is gone when somebody asks for a line. */
    fer_arguments_add(arguments, "-fdebug-prefix-map=%s=.", place->package);
}

static void add_compiler(fer_arguments *arguments, const fer_compiler *compiler,
                         const fer_workplace *place)
{
    for (size_t i = 0; i < compiler->num_words; i++)
        fer_arguments_add(arguments, "%s", compiler->argv[i]);
    for (size_t i = 0; FER_KERNEL_FLAGS[i] != NULL; i++)
        fer_arguments_add(arguments, "%s", FER_KERNEL_FLAGS[i]);
    fer_arguments_add(arguments, "%s",
                      compiler->is_clang ? "-fmacro-backtrace-limit=1"
                                         : "-ftrack-macro-expansion=0");
    if (compiler->openmp != NULL)
        fer_arguments_add(arguments, "%s", compiler->openmp);
#ifdef FERRULE_KERNEL_SANITIZE
    fer_arguments_add_words(arguments, FERRULE_KERNEL_SANITIZE);
#endif
    fer_arguments_add(arguments, "-I%sinclude", place->up);
    /* The snapshot first: what it has is never read from where it came. */
    fer_arguments_add(arguments, "-iquote.");
    if (place->has_origin)
        fer_arguments_add(arguments, "-iquote%s" FER_ORIGIN_LINK, place->up);
}

/* What the package's own `package.ini` asks for. A folder in the package is looked at in the
 * snapshot first, as in add_compiler. The link never gets these: some change the whole process. */
static void add_package_flags(fer_arguments *arguments, const fer_package *package,
                              const fer_workplace *place)
{
    const fer_flags *flags = &package->flags;
    for (size_t i = 0; i < flags->cflags.count; i++)
        fer_arguments_add(arguments, "%s", flags->cflags.items[i]);
    for (size_t i = 0; i + 1 < flags->includes.count; i += 2) {
        const char *option = flags->includes.items[i];
        const char *folder = flags->includes.items[i + 1];
        fer_arguments_add(arguments, "%s", option);
        fer_arguments_add(arguments, "%s", folder);
        if (folder[0] == '/' || !place->has_origin)
            continue;
        fer_arguments_add(arguments, "%s", option);
        fer_arguments_add(arguments, "%s" FER_ORIGIN_LINK "/%s", place->up, folder);
    }
}

#define LINK_RULE "linked.d"

static void add_link(fer_arguments *arguments, const fer_package *package,
                     const fer_workplace *place, const char *product)
{
    const fer_arguments *libs = &package->flags.libs;
    fer_arguments_add(arguments, "-shared");
    fer_arguments_add(arguments, "-Wl,-z,defs");
    fer_arguments_add(arguments, "-o");
    fer_arguments_add(arguments, "%s", product);
    for (size_t i = 0; i < libs->count; i++)
        fer_arguments_add(arguments, "%s", libs->items[i]);
    if (libs->count > 0)
        fer_arguments_add(arguments, "-Wl,--dependency-file=%s" LINK_RULE, place->up);
    fer_arguments_add(arguments, "-Wl,--as-needed"); /* no OpenMP runtime for who does not use it */
    fer_arguments_add(arguments, "-lm");
}

/* A name that an option could be taken for stays a file. */
static void add_file(fer_arguments *arguments, const char *name)
{
    fer_arguments_add(arguments, "%s%s", name[0] == '-' ? "./" : "", name);
}

static void add_dependency_output(fer_arguments *arguments, const fer_workplace *place,
                                  size_t index)
{
    fer_arguments_add(arguments, "-MD");
    fer_arguments_add(arguments, "-MF");
    fer_arguments_add(arguments, "%sread%zu.d", place->up, index);
}

void fer_append_choices(fer_text *text, const fer_request *request)
{
    const char *separator = "<";
    for (size_t i = 0; i < request->num_dtypes; i++, separator = ", ")
        fer_text_printf(text, "%s%s = %s", separator, request->dtypes[i].name,
                        fer_dtype_name(request->dtypes[i].dtype));
    for (size_t i = 0; i < request->num_params; i++, separator = ", ") {
        const fer_param *param = &request->params[i];
        fer_text_printf(text, "%s%s = ", separator, param->name);
        if (param->kind == FER_PARAM_INT)
            fer_text_printf(text, "%lld", (long long)param->value.as_int);
        else if (param->kind == FER_PARAM_FLOAT)
            fer_text_printf(text, "%g", param->value.as_float);
        else if (param->kind == FER_PARAM_BOOL)
            fer_text_append(text, param->value.as_bool ? "true" : "false");
        else if (param->kind == FER_PARAM_STR)
            fer_text_append_quoted(text, param->value.as_str.data, param->value.as_str.num_bytes);
        else
            fer_text_append(text, fer_dtype_name(param->value.as_dtype));
    }
    if (request->num_dtypes + request->num_params > 0)
        fer_text_append_char(text, '>');
}

/* --- What the compiler said ------------------------------------------------------------------- */

/* The first line that tells of an error: `file:line:column: error: text`. */
typedef struct diagnosis {
    const char *file;
    size_t file_length;
    long line;
    const char *text;
    size_t text_length;
} diagnosis;

static bool find_diagnosis(const char *output, diagnosis *out)
{
    for (const char *line = output; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *mark = memmem(line, length, "error: ", 7);
        const char *colon = memchr(line, ':', length);
        if (mark != NULL && colon != NULL && colon < mark) {
            char *end;
            long number = strtol(colon + 1, &end, 10);
            if (end > colon + 1 && *end == ':') {
                *out = (diagnosis){
                    .file = line,
                    .file_length = (size_t)(colon - line),
                    .line = number,
                    .text = mark + 7,
                    .text_length = length - (size_t)(mark + 7 - line),
                };
                return true;
            }
        }
        line += length;
        line += *line == '\n';
    }
    return false;
}

static bool is_given(const fer_request *request, const char *name)
{
    for (size_t i = 0; i < request->num_params; i++)
        if (strcmp(request->params[i].name, name) == 0)
            return true;
    return false;
}

/* Whether the linker missed this name: `undefined reference to `name'`, `undefined symbol: name`.
 */
static bool misses_symbol(const char *output, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = strstr(output, "undefined "); p != NULL; p = strstr(p + 1, "undefined ")) {
        size_t rest = strcspn(p, "\n");
        const char *found = memmem(p, rest, name, length);
        if (found == NULL)
            continue;
        char before = found[-1];
        char after = found[length];
        if ((before == '`' || before == '\'' || before == ' ') &&
            (after == '\'' || after == '\n' || after == '\0'))
            return true;
    }
    return false;
}

/* What kernel.h refers to where a parameter has no value. */
#define MISSING_PARAM "the_value_of_parameter_"

static const char *find_missing_param(const fer_request *request, const char *output)
{
    const fer_sources *files = &request->package->files;
    for (size_t i = 0; i < files->count; i++)
        for (size_t j = 0; j < files->items[i].scan.num_items; j++) {
            const fer_found *found = &files->items[i].scan.items[j];
            char symbol[256];
            snprintf(symbol, sizeof symbol, MISSING_PARAM "%.200s", found->name);
            if (found->kind == FER_FOUND_PARAM && !is_given(request, found->name) &&
                misses_symbol(output, symbol))
                return found->name;
        }
    return NULL;
}

static bool is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* `fer_run_kernel__scale`, as kernel.h calls a function of the kernel, is just `scale` to its
 * author.
 */
static void hide_internal_names(char *output)
{
    char *to = output;
    for (const char *from = output; *from != '\0';) {
        size_t length = 0;
        while (is_name_part(from[length]))
            length++;
        const char *mark = memmem(from, length, "__", 2);
        if (length > 4 && memcmp(from, "fer_", 4) == 0 && mark != NULL &&
            mark + 2 < from + length) {
            length -= (size_t)(mark + 2 - from);
            from = mark + 2;
        }
        length += length == 0;
        memmove(to, from, length);
        to += length;
        from += length;
    }
    *to = '\0';
}

/* Whether the compiler knows no type of this name, in gcc's and in clang's words. */
static bool misses_type(const char *output, const char *name)
{
    static const char *const FORMS[] = {"'%.64s' undeclared", "undeclared identifier '%.64s'",
                                        "unknown type name '%.64s'"};
    char form[128];
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        snprintf(form, sizeof form, FORMS[i], name);
        if (strstr(output, form) != NULL)
            return true;
    }
    return false;
}

/* Where the kernel's line, or its SHAPE's, has a dtype that nothing declares. */
static const fer_written *find_missing_type(const fer_request *request, const char *output,
                                            int *out_line)
{
    const fer_scan *scan = request->main == NULL ? NULL : &request->main->scan;
    for (size_t i = 0; scan != NULL && i < scan->num_items; i++) {
        const fer_found *found = &scan->items[i];
        if (strcmp(found->name, request->kernel) != 0)
            continue;
        *out_line = found->line;
        for (size_t j = 0; j < found->num_written; j++)
            if (misses_type(output, found->written[j].dtype))
                return &found->written[j];
    }
    return NULL;
}

static fer_status fail_missing_type(const fer_request *request, const fer_written *missing,
                                    int line, fer_error *error)
{
    const char *word = missing->dtype;
    const char *near = fer_dtype_near(word, strlen(word));
    fer_place where = {.op = request->kernel, .operand = missing->name, .actual = word};
    if (near != NULL)
        return fer_fail_at(error, FER_TYPE_ERROR, &where,
                           "%s: %s:%d: '%s' has the dtype %s, which is none; did you mean '%s'?",
                           request->kernel, request->main->name, line, missing->name, word, near);
    return fer_fail_at(error, FER_TYPE_ERROR, &where,
                       "%s: %s:%d: '%s' has the dtype %s, which nothing declares; write "
                       "DTYPE_VAR(%s, f32); above, or a dtype in its place",
                       request->kernel, request->main->name, line, missing->name, word, word);
}

/* A file as the compiler names it, from the build folder, is where the author has it. */
static void append_author_path(fer_text *text, const fer_package *package,
                               const fer_workplace *place, const diagnosis *found)
{
    const char *file = found->file;
    size_t length = found->file_length;
    char origin[sizeof place->up + sizeof FER_ORIGIN_LINK];
    int skipped = snprintf(origin, sizeof origin, "%s" FER_ORIGIN_LINK "/", place->up);
    if (length > (size_t)skipped && memcmp(file, origin, (size_t)skipped) == 0) {
        file += skipped;
        length -= (size_t)skipped;
    }
    if (length > 2 && memcmp(file, "./", 2) == 0) {
        file += 2;
        length -= 2;
    }
    if (!package->is_inline && *file != '/')
        fer_text_printf(text, "%s/", package->path);
    fer_text_append_bytes(text, file, length);
}

/* Whether the folder of a build that fails is to be kept, for its command to be run again. */
static bool keeps_failed_builds(void)
{
    const char *wanted = getenv("FERRULE_KEEP_BUILD");
    return wanted != NULL && *wanted != '\0' && strcmp(wanted, "0") != 0;
}

/* As a shell takes it. */
static void append_command(fer_text *text, const fer_arguments *arguments,
                           const fer_workplace *place)
{
    bool is_kept = keeps_failed_builds();
    fer_text_append(text, "the command was: ");
    if (is_kept) {
        fer_arguments change = {0};
        fer_arguments_add(&change, "cd");
        fer_arguments_add(&change, "%s", place->package);
        fer_arguments_print(&change, text);
        fer_arguments_clear(&change);
        fer_text_append(text, " && ");
    }
    fer_arguments_print(arguments, text);
    if (!is_kept)
        fer_text_append(text, "\n(its folder is gone; FERRULE_KEEP_BUILD=1 keeps it)");
}

static fer_status fail_compile(const fer_request *request, const fer_workplace *place,
                               const fer_arguments *arguments, const fer_process_result *result,
                               fer_error *error)
{
    fer_place where = {.op = request->kernel};
    const char *param = find_missing_param(request, result->output);
    if (param != NULL)
        return fer_fail_at(error, FER_TYPE_ERROR, &where,
                           "%s: the kernel uses parameter '%s', which the declaration does not "
                           "have",
                           request->kernel, param);
    int line;
    const fer_written *missing = find_missing_type(request, result->output, &line);
    if (missing != NULL)
        return fail_missing_type(request, missing, line, error);
    fer_text text = FER_TEXT_INIT;
    fer_append_choices(&text, request);
    fer_text_append(&text, ": ");
    diagnosis first;
    if (find_diagnosis(result->output, &first)) {
        append_author_path(&text, request->package, place, &first);
        fer_text_printf(&text, ":%ld: %.*s", first.line, (int)first.text_length, first.text);
        fer_append_advice(&text, request, first.text, first.text_length);
    } else if (result->signal != 0) {
        fer_text_printf(&text, "the compiler was ended by signal %d", result->signal);
    } else if (result->exit_code != 0) {
        fer_text_printf(&text, "the compiler failed with exit code %d", result->exit_code);
    } else {
        fer_text_append(&text, "the compiler wrote no output file");
    }
    fer_text_printf(&text, "\n%s", result->output);
    if (text.length > 0 && text.data[text.length - 1] != '\n')
        fer_text_append_char(&text, '\n');
    append_command(&text, arguments, place);
    fer_status status = text.has_failed ? fer_fail_memory(error)
                                        : fer_fail_at(error, FER_COMPILE_ERROR, &where, "%s%s",
                                                      request->kernel, fer_text_string(&text));
    fer_text_free(&text);
    return status;
}

static fer_status find_file(const fer_workplace *place, const char *path, bool *out_is_there,
                            fer_error *error)
{
    char *resolved = NULL;
    FER_TRY(fer_path_join(place->package, path, &resolved, error));
    *out_is_there = access(resolved, F_OK) == 0;
    free(resolved);
    return FER_OK;
}

/* Runs the compiler. `product` is the file that it has to write, or NULL: an exit code may say too
 * much, and where another part of the process collects its children it is not known. What it says
 * when all goes well is added to `said`. */
static fer_status run_compiler(const fer_request *request, const fer_arguments *arguments,
                               const fer_workplace *place, const char *product, fer_text *said,
                               fer_error *error)
{
    if (arguments->has_failed)
        return fer_fail_memory(error);
    fer_process_result result;
    FER_TRY(fer_process_run((const char *const *)arguments->items, place->package, &result, NULL,
                            error));
    hide_internal_names(result.output);
    bool is_there = true;
    fer_status status = product == NULL ? FER_OK : find_file(place, product, &is_there, error);
    if (status == FER_OK && (result.exit_code != 0 || !is_there))
        status = fail_compile(request, place, arguments, &result, error);
    if (status == FER_OK)
        fer_text_append(said, result.output);
    free(result.output);
    return status;
}

/* --- What the compiler read ------------------------------------------------------------------- */

static fer_status add_dependency(fer_dependencies *dependencies, const char *path, fer_error *error)
{
    char *taken = NULL;
    FER_TRY(fer_normal_path(path, &taken, error));
    for (size_t i = 0; i < dependencies->count; i++)
        if (strcmp(dependencies->paths[i], taken) == 0) {
            free(taken);
            return FER_OK;
        }
    if (dependencies->count == dependencies->capacity) {
        size_t capacity = dependencies->capacity == 0 ? 64 : 2 * dependencies->capacity;
        char **larger = realloc(dependencies->paths, capacity * sizeof *larger);
        if (larger == NULL) {
            free(taken);
            return fer_fail_memory(error);
        }
        dependencies->paths = larger;
        dependencies->capacity = capacity;
    }
    dependencies->paths[dependencies->count++] = taken;
    return FER_OK;
}

/* Names a file as the author would: from the package. Our own headers are not the author's concern,
 * and what is no file is a piece of a name with a newline in it, which rules cannot write; only a
 * compiled file can have one, and those are added by themselves. */
static fer_status add_read_file(fer_dependencies *dependencies, const fer_workplace *place,
                                const char *path, fer_error *error)
{
    size_t up = strlen(place->up);
    bool is_there;
    FER_TRY(find_file(place, path, &is_there, error));
    if (!is_there)
        return FER_OK;
    if (strncmp(path, place->up, up) == 0) {
        if (strncmp(path + up, "include/", 8) == 0)
            return FER_OK;
        if (strncmp(path + up, FER_ORIGIN_LINK "/", sizeof FER_ORIGIN_LINK) == 0)
            path += up + sizeof FER_ORIGIN_LINK;
    }
    return add_dependency(dependencies, path, error);
}

/* Reads a make rule: blanks end a name, a backslash keeps one, `$$` is `$`. */
static fer_status read_rule(fer_dependencies *dependencies, const fer_workplace *place,
                            const char *rule, fer_error *error)
{
    const char *p = strstr(rule, ": ");
    fer_status status = FER_OK;
    fer_text path = FER_TEXT_INIT;
    for (p = p == NULL ? "" : p + 2; status == FER_OK; p++) {
        bool is_end = *p == '\0' || *p == ' ' || *p == '\n' || (p[0] == '\\' && p[1] == '\n');
        if (!is_end) {
            bool is_escape =
                (p[0] == '\\' && (p[1] == ' ' || p[1] == '#')) || (p[0] == '$' && p[1] == '$');
            p += is_escape;
            fer_text_append_char(&path, *p);
            continue;
        }
        if (path.has_failed)
            status = fer_fail_memory(error);
        else if (path.length > 0)
            status = add_read_file(dependencies, place, path.data, error);
        fer_text_free(&path);
        if (*p == '\0')
            break;
    }
    fer_text_free(&path);
    return status;
}

/* What the linker read, one file a line behind the first: only files of others, which have absolute
 * paths, are news. Linkers do not agree on whether blanks in a path are escaped. */
static fer_status read_link_rule(fer_dependencies *dependencies, const fer_workplace *place,
                                 const char *rule, fer_error *error)
{
    for (const char *line = rule; *line != '\0' && *line != '\n';) {
        size_t length = strcspn(line, "\n");
        const char *path = line + strspn(line, " ");
        size_t path_length = length - (size_t)(path - line);
        if (path_length > 2 && memcmp(path + path_length - 2, " \\", 2) == 0)
            path_length -= 2;
        line += length;
        line += *line == '\n';
        if (path[0] != '/')
            continue;
        fer_text text = FER_TEXT_INIT;
        for (size_t i = 0; i < path_length; i++) {
            bool is_escape = i + 1 < path_length && path[i] == '\\' && path[i + 1] == ' ';
            fer_text_append_char(&text, path[i += is_escape]);
        }
        fer_status status = text.has_failed ? fer_fail_memory(error)
                                            : add_read_file(dependencies, place, text.data, error);
        fer_text_free(&text);
        FER_TRY(status);
    }
    return FER_OK;
}

static bool is_linked(const fer_request *request, const fer_source *file)
{
    return file == request->main || (fer_is_c_file(file->name) && !file->has_kernel);
}

typedef fer_status (*rule_reader)(fer_dependencies *dependencies, const fer_workplace *place,
                                  const char *rule, fer_error *error);

static fer_status read_rule_file(const fer_workplace *place, const char *name, rule_reader reader,
                                 fer_dependencies *dependencies, fer_error *error)
{
    char *path = NULL;
    char *rule = NULL;
    size_t size;
    FER_TRY(fer_path_join(place->folder, name, &path, error));
    fer_status status = fer_file_read(path, &rule, &size, error);
    if (status == FER_OK)
        status = reader(dependencies, place, rule, error);
    free(rule);
    free(path);
    return status;
}

static fer_status read_dependencies(const fer_request *request, const fer_workplace *place,
                                    size_t num_files, fer_dependencies *dependencies,
                                    fer_error *error)
{
    const fer_sources *files = &request->package->files;
    for (size_t i = 0; i < files->count; i++) {
        if (is_linked(request, &files->items[i]))
            FER_TRY(add_dependency(dependencies, files->items[i].name, error));
    }
    for (size_t i = 0; i < num_files; i++) {
        char name[32];
        snprintf(name, sizeof name, "read%zu.d", i);
        FER_TRY(read_rule_file(place, name, read_rule, dependencies, error));
    }
    if (request->package->flags.libs.count == 0)
        return FER_OK;
    return read_rule_file(place, LINK_RULE, read_link_rule, dependencies, error);
}

/* --- Building --------------------------------------------------------------------------------- */

/* One file: one command. */
static fer_status build_one(const fer_compiler *compiler, const fer_request *request,
                            const fer_workplace *place, const char *product, fer_text *said,
                            fer_error *error)
{
    fer_arguments arguments = {0};
    add_compiler(&arguments, compiler, place);
    add_checks(&arguments, compiler, place, request);
    add_definitions(&arguments, request);
    add_file(&arguments, request->main->name);
    add_dependency_output(&arguments, place, 0);
    add_link(&arguments, request->package, place, product);
    fer_status status = run_compiler(request, &arguments, place, product, said, error);
    fer_arguments_clear(&arguments);
    return status;
}

/* Several: each by itself, since one command writes one list of what it read, and then the link,
 * which gets no flags of the package for its compiles. */
static fer_status build_several(const fer_compiler *compiler, const fer_request *request,
                                const fer_workplace *place, const char *product, fer_text *said,
                                fer_error *error)
{
    const fer_sources *files = &request->package->files;
    fer_arguments link = {0};
    fer_status status = FER_OK;
    size_t index = 0;
    add_compiler(&link, compiler, place);
    add_checks(&link, compiler, place, request);
    for (size_t i = 0; i < files->count && status == FER_OK; i++) {
        if (!is_linked(request, &files->items[i]))
            continue;
        char object[128];
        snprintf(object, sizeof object, "%sobject%zu.o", place->up, index);
        fer_arguments arguments = {0};
        add_compiler(&arguments, compiler, place);
        add_checks(&arguments, compiler, place, request);
        add_package_flags(&arguments, request->package, place);
        add_definitions(&arguments, request);
        fer_arguments_add(&arguments, "-c");
        add_file(&arguments, files->items[i].name);
        fer_arguments_add(&arguments, "-o");
        fer_arguments_add(&arguments, "%s", object);
        fer_arguments_add(&link, "%s", object);
        add_dependency_output(&arguments, place, index++);
        status = run_compiler(request, &arguments, place, object, said, error);
        fer_arguments_clear(&arguments);
    }
    add_link(&link, request->package, place, product);
    if (status == FER_OK)
        status = run_compiler(request, &link, place, product, said, error);
    fer_arguments_clear(&link);
    return status;
}

fer_status fer_compile(const fer_store *store, const fer_compiler *compiler,
                       const fer_request *request, fer_build *out_build, fer_error *error)
{
    *out_build = (fer_build){0};
    fer_build build = {.outside = atomic_load(&request->package->outside)};
    clock_gettime(CLOCK_REALTIME_COARSE, &build.began);
    FER_TRY(fer_workplace_open(store, request->package, build.outside, &build.place, error));
    size_t num_files = 0;
    for (size_t i = 0; i < request->package->files.count; i++)
        num_files += is_linked(request, &request->package->files.items[i]);
    char product[128];
    snprintf(product, sizeof product, "%skernel.so", build.place.up);
    bool is_plain = num_files == 1 && fer_flags_is_empty(&request->package->flags);
    fer_status status =
        is_plain ? build_one(compiler, request, &build.place, product, &build.said, error)
                 : build_several(compiler, request, &build.place, product, &build.said, error);
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(fer_path_join(build.place.package, product, &build.output, error));
    FER_TRY_DONE(read_dependencies(request, &build.place, num_files, &build.dependencies, error));
    *out_build = build;
    return FER_OK;

done:
    build.place.is_kept = keeps_failed_builds();
    fer_build_clear(&build);
    return status;
}

void fer_build_clear(fer_build *build)
{
    fer_workplace_close(&build->place);
    for (size_t i = 0; i < build->dependencies.count; i++)
        free(build->dependencies.paths[i]);
    free(build->dependencies.paths);
    free(build->output);
    fer_text_free(&build->said);
    *build = (fer_build){0};
}

fer_status fer_preprocess(const fer_store *store, const fer_compiler *compiler,
                          const fer_package *package, const char *file, char **out_text,
                          fer_error *error)
{
    fer_workplace place;
    fer_arguments arguments = {0};
    fer_request request = {.package = package, .kernel = file};
    *out_text = NULL;
    FER_TRY(fer_workplace_open(store, package, atomic_load(&package->outside), &place, error));
    add_compiler(&arguments, compiler, &place);
    add_package_flags(&arguments, package, &place);
    fer_arguments_add(&arguments, "-E");
    fer_arguments_add(&arguments, "-DFER_DESCRIBE=1");
    add_file(&arguments, file);
    fer_text said = FER_TEXT_INIT;
    fer_status status = run_compiler(&request, &arguments, &place, NULL, &said, error);
    place.is_kept = status != FER_OK && keeps_failed_builds();
    if (status == FER_OK)
        status = fer_text_take(&said, out_text, error);
    fer_text_free(&said);
    fer_arguments_clear(&arguments);
    fer_workplace_close(&place);
    return status;
}
