#include "package/library.h"
#include "package/package.h"

#include <stdlib.h>
#include <string.h>

/* Where a declaration and its kernel's file meet before anything is compiled: what the file calls
 * its parameters and dtype variables, and the kernel's line as far as its text is plain. */

/* A kernel's file and what it includes, itself first. Where the text does not tell all, any header
 * may be one, behind those that are. */
typedef struct place {
    const fer_package *package;
    const fer_source *main; /* the file that has the kernel; NULL: there is none of C */
    const fer_source **files;
    size_t num_files;
    size_t capacity;
    bool is_open; /* something else may be included: by a macro, or from beyond the snapshot */
} place;

static const fer_outside *outside_of(const fer_package *package)
{
    return atomic_load(&((fer_package *)package)->outside);
}

static fer_status add_file(place *at, const fer_source *file, fer_error *error)
{
    for (size_t i = 0; i < at->num_files; i++)
        if (at->files[i] == file)
            return FER_OK;
    if (at->num_files == at->capacity) {
        size_t capacity = at->capacity == 0 ? 16 : 2 * at->capacity;
        const fer_source **larger = realloc(at->files, capacity * sizeof *larger);
        if (larger == NULL)
            return fer_fail_memory(error);
        at->files = larger;
        at->capacity = capacity;
    }
    at->files[at->num_files++] = file;
    at->is_open = at->is_open || file->scan.hides_dtype_vars;
    return FER_OK;
}

static fer_status follow(place *at, const fer_outside *outside, const fer_source *file,
                         const fer_found *found, fer_error *error)
{
    char **places;
    const fer_source *next = NULL;
    FER_TRY(fer_include_places(at->package, file->name, found, &places, error));
    for (size_t i = 0; places[i] != NULL && next == NULL; i++)
        next = fer_package_file(at->package, outside, places[i]);
    bool has_place = places[0] != NULL || (found->is_quoted && found->name[0] == '/');
    fer_places_free(places);
    at->is_open = at->is_open || (next == NULL && has_place);
    return next == NULL ? FER_OK : add_file(at, next, error);
}

static fer_status add_headers(place *at, const fer_sources *files, fer_error *error)
{
    for (size_t i = 0; i < files->count; i++)
        if (!fer_is_c_file(files->items[i].name))
            FER_TRY(add_file(at, &files->items[i], error));
    return FER_OK;
}

/* A package that gives its compiler macros, or folders or files of includes, may mean anything. */
static fer_status find_files(place *at, fer_error *error)
{
    const fer_outside *outside = outside_of(at->package);
    const fer_flags *flags = &at->package->flags;
    at->is_open = flags->includes.count > 0;
    for (size_t i = 0; i < flags->cflags.count; i++)
        at->is_open = at->is_open || strspn(flags->cflags.items[i] + 1, "DUi") > 0;
    FER_TRY(add_file(at, at->main, error));
    for (size_t i = 0; i < at->num_files; i++) {
        const fer_source *file = at->files[i];
        for (size_t j = 0; j < file->scan.num_items; j++)
            if (file->scan.items[j].kind == FER_FOUND_INCLUDE)
                FER_TRY(follow(at, outside, file, &file->scan.items[j], error));
    }
    if (!at->is_open)
        return FER_OK;
    FER_TRY(add_headers(at, &at->package->files, error));
    for (; outside != NULL; outside = outside->older)
        FER_TRY(add_headers(at, &outside->files, error));
    return FER_OK;
}

static void clear_place(place *at)
{
    free(at->files);
    *at = (place){0};
}

static fer_status find_place(const fer_package *package, const char *kernel, place *out_place,
                             fer_error *error)
{
    fer_kernel_info info;
    place at = {.package = package};
    *out_place = at;
    if (package->object != NULL || !fer_package_find(package, kernel, &info))
        return FER_OK;
    at.main = fer_sources_find(&package->files, info.file);
    fer_status status = find_files(&at, error);
    if (status == FER_OK)
        *out_place = at;
    else
        clear_place(&at);
    return status;
}

static const fer_found *find_in(const fer_scan *scan, fer_found_kind kind, const char *name)
{
    for (size_t i = 0; i < scan->num_items; i++)
        if (scan->items[i].kind == kind && strcmp(scan->items[i].name, name) == 0)
            return &scan->items[i];
    return NULL;
}

static const fer_found *find(const place *at, fer_found_kind kind, const char *name,
                             const char **out_file)
{
    for (size_t i = 0; i < at->num_files; i++) {
        const fer_found *found = find_in(&at->files[i]->scan, kind, name);
        *out_file = at->files[i]->name;
        if (found != NULL)
            return found;
    }
    return NULL;
}

static bool any_hides_dtype_vars(const fer_sources *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].scan.hides_dtype_vars)
            return true;
    return false;
}

/* Whether a dtype variable, or anything, may be declared where only the preprocessor sees it. */
static bool may_be_hidden(const fer_package *package)
{
    bool is_hidden = any_hides_dtype_vars(&package->files);
    for (const fer_outside *part = outside_of(package); !is_hidden && part != NULL;
         part = part->older)
        is_hidden = any_hides_dtype_vars(&part->files);
    return is_hidden;
}

/* --- Parameters and dtype variables ----------------------------------------------------------- */

static fer_status check_param(const place *at, const char *kernel, const fer_param *param,
                              fer_error *error)
{
    static const char *const KINDS[] = {
        [FER_PARAM_INT] = "int", [FER_PARAM_FLOAT] = "float", [FER_PARAM_BOOL] = "bool",
        [FER_PARAM_STR] = "str", [FER_PARAM_DTYPE] = "dtype",
    };
    const char *file;
    const fer_found *found = find(at, FER_FOUND_PARAM, param->name, &file);
    if (found == NULL || strcmp(found->text, KINDS[param->kind]) == 0)
        return FER_OK;
    fer_place place = {.op = kernel, .expected = KINDS[param->kind], .actual = found->text};
    return fer_fail_at(error, FER_TYPE_ERROR, &place,
                       "%s: parameter '%s' is declared %s, but %s:%d has PARAM(%s, %s, ...)",
                       kernel, param->name, KINDS[param->kind], file, found->line, found->text,
                       param->name);
}

static fer_status check_names(const place *at, const char *kernel, const fer_param *params,
                              size_t num_params, const fer_dtype_var *dtype_vars,
                              size_t num_dtype_vars, fer_error *error)
{
    const char *file;
    for (size_t i = 0; i < num_params; i++)
        FER_TRY(check_param(at, kernel, &params[i], error));
    for (size_t i = 0; i < num_dtype_vars && !at->is_open; i++) {
        const char *name = dtype_vars[i].name;
        if (find(at, FER_FOUND_DTYPE_VAR, name, &file) == NULL)
            return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = kernel},
                               "%s: '%s' is declared a dtype variable, but %s has no "
                               "DTYPE_VAR(%s, ...)",
                               kernel, name, at->main->name, name);
    }
    return FER_OK;
}

fer_status fer_package_agrees(const fer_package *package, const char *kernel,
                              const fer_param *params, size_t num_params,
                              const fer_dtype_var *dtype_vars, size_t num_dtype_vars,
                              fer_error *error)
{
    place at;
    FER_TRY(find_place(package, kernel, &at, error));
    fer_status status = at.main == NULL ? FER_OK
                                        : check_names(&at, kernel, params, num_params, dtype_vars,
                                                      num_dtype_vars, error);
    clear_place(&at);
    return status;
}

/* --- The kernel's line ------------------------------------------------------------------------ */

void fer_line_of_entry(const fer_abi_entry *entry, fer_kernel_line *out_line)
{
    *out_line = (fer_kernel_line){
        .kind = entry->kind,
        .file = entry->file,
        .line = entry->line,
        .num_tensors = entry->num_tensors,
    };
    for (size_t i = 0; i < entry->num_tensors && i < FER_ABI_MAX_TENSORS; i++) {
        const fer_abi_tensor *tensor = &entry->tensors[i];
        out_line->tensors[i] = (fer_line_tensor){
            .name = tensor->name,
            .role = tensor->role,
            .rank = tensor->rank,
            .dtype =
                fer_dtype_from_dlpack(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes),
        };
    }
}

static bool is_defined_in(const fer_sources *files, const char *word)
{
    for (size_t i = 0; i < files->count; i++)
        if (find_in(&files->items[i].scan, FER_FOUND_DEFINE, word) != NULL)
            return true;
    return false;
}

/* Anywhere: a file may include any other. */
static bool is_macro(const place *at, const char *word)
{
    bool is_defined = is_defined_in(&at->package->files, word);
    for (const fer_outside *part = outside_of(at->package); !is_defined && part != NULL;
         part = part->older)
        is_defined = is_defined_in(&part->files, word);
    return is_defined;
}

/* Whether no word of the line stands for something else. */
static bool is_plain(const place *at, const fer_found *found)
{
    static const char *const WORDS[] = {"KERNEL", "MAP", "SHAPE", "OUT", "INOUT", "IN", "ANY"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (is_macro(at, WORDS[i]))
            return false;
    for (size_t i = 0; i < found->num_written; i++)
        if (is_macro(at, found->written[i].dtype) || is_macro(at, found->written[i].name))
            return false;
    return found->num_written > 0 && !at->is_open && !may_be_hidden(at->package);
}

/* A type that kernel.h or C names by one word. */
static fer_dtype dtype_of_word(const char *word)
{
    static const struct {
        const char *word;
        fer_dtype dtype;
    } C_TYPES[] = {
        {"_Bool", FER_BOOL},   {"int8_t", FER_I8},    {"int16_t", FER_I16}, {"int32_t", FER_I32},
        {"int64_t", FER_I64},  {"index_t", FER_I64},  {"uint8_t", FER_U8},  {"uint16_t", FER_U16},
        {"uint32_t", FER_U32}, {"uint64_t", FER_U64}, {"float", FER_F32},   {"double", FER_F64},
    };
    for (int dtype = 1; dtype < FER_NUM_DTYPES; dtype++)
        if (strcmp(fer_dtype_name((fer_dtype)dtype), word) == 0)
            return (fer_dtype)dtype;
    for (size_t i = 0; i < sizeof C_TYPES / sizeof *C_TYPES; i++)
        if (strcmp(C_TYPES[i].word, word) == 0)
            return C_TYPES[i].dtype;
    return FER_DTYPE_INVALID;
}

static void read_dtype(const place *at, const char *word, fer_line_tensor *tensor)
{
    const char *file;
    const fer_found *var = find(at, FER_FOUND_DTYPE_VAR, word, &file);
    if (var == NULL)
        tensor->dtype = dtype_of_word(word);
    else if (!var->is_conditional)
        tensor->dtype_var = word;
}

static fer_line_state read_line(const place *at, const char *kernel, fer_found_kind kind,
                                fer_kernel_line *out_line)
{
    const char *file = NULL;
    const fer_found *found = find(at, kind, kernel, &file);
    if (found == NULL)
        return at->is_open || may_be_hidden(at->package) ? FER_LINE_UNKNOWN : FER_LINE_ABSENT;
    if (!is_plain(at, found))
        return FER_LINE_UNKNOWN;
    *out_line = (fer_kernel_line){
        .kind = found->entry,
        .file = file,
        .line = found->line,
        .num_tensors = found->num_written,
    };
    for (size_t i = 0; i < found->num_written; i++) {
        const fer_written *written = &found->written[i];
        fer_line_tensor *tensor = &out_line->tensors[i];
        *tensor =
            (fer_line_tensor){.name = written->name, .role = written->role, .rank = written->rank};
        read_dtype(at, written->dtype, tensor);
    }
    return FER_LINE_READ;
}

fer_line_state fer_line_of_text(const fer_package *package, const char *kernel, bool is_shape,
                                fer_kernel_line *out_line)
{
    place at;
    if (find_place(package, kernel, &at, NULL) != FER_OK || at.main == NULL)
        return FER_LINE_UNKNOWN;
    fer_line_state state =
        read_line(&at, kernel, is_shape ? FER_FOUND_SHAPE : FER_FOUND_KERNEL, out_line);
    clear_place(&at);
    return state;
}
