#include "package/package.h"

#include "base/path.h"
#include "base/text.h"
#include "package/library.h"
#include "package/object.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INLINE_FILE "inline.c"

/* --- Files ------------------------------------------------------------------------------------ */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t suffix_length = strlen(suffix);
    return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

bool fer_is_c_file(const char *name)
{
    return has_suffix(name, ".c");
}

/* What a compile may read from the folder. Anything else that it reads is found out by the compile
 * itself. */
static bool is_source_file(const char *name)
{
    static const char *const SUFFIXES[] = {".c", ".h", ".inc", ".inl", ".def", ".tbl"};
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (name[0] != '.' && has_suffix(name, SUFFIXES[i]))
            return true;
    return false;
}

void fer_sources_clear(fer_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i].name);
        free(sources->items[i].data);
        fer_scan_clear(&sources->items[i].scan);
    }
    free(sources->items);
    *sources = (fer_sources){0};
}

/* Where the name is, or where it belongs. */
static size_t find_place(const fer_sources *sources, const char *name, bool *out_is_there)
{
    size_t low = 0;
    size_t high = sources->count;
    *out_is_there = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(sources->items[middle].name, name);
        if (order == 0) {
            *out_is_there = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const fer_source *fer_sources_find(const fer_sources *sources, const char *name)
{
    bool is_there;
    size_t place = find_place(sources, name, &is_there);
    return is_there ? &sources->items[place] : NULL;
}

static bool declares_kernel(const fer_scan *scan)
{
    for (size_t i = 0; i < scan->num_items; i++)
        if (scan->items[i].kind == FER_FOUND_KERNEL)
            return true;
    return false;
}

static fer_status grow(fer_sources *sources, fer_error *error)
{
    if (sources->count < sources->capacity)
        return FER_OK;
    size_t capacity = sources->capacity == 0 ? 16 : 2 * sources->capacity;
    fer_source *larger = realloc(sources->items, capacity * sizeof *larger);
    if (larger == NULL)
        return fer_fail_memory(error);
    sources->items = larger;
    sources->capacity = capacity;
    return FER_OK;
}

fer_status fer_sources_add(fer_sources *sources, const char *name, char *data, size_t size,
                           fer_error *error)
{
    bool is_there;
    size_t place = find_place(sources, name, &is_there);
    fer_status status = FER_OK;
    fer_source source = {.data = data, .size = size};
    if (is_there)
        goto done;
    source.digest = fer_digest_of(data, size);
    FER_TRY_DONE(grow(sources, error));
    FER_TRY_DONE(fer_scan_source(data, &source.scan, error));
    source.has_kernel = declares_kernel(&source.scan);
    FER_TRY_DONE(fer_copy_string(name, &source.name, error));
    memmove(&sources->items[place + 1], &sources->items[place],
            (sources->count - place) * sizeof source);
    sources->items[place] = source;
    sources->count++;
    return FER_OK;

done:
    free(data);
    fer_scan_clear(&source.scan);
    return status;
}

static fer_status read_file(fer_package *package, const char *name, fer_error *error)
{
    char *path = NULL;
    char *data = NULL;
    size_t size = 0;
    FER_TRY(fer_path_join(package->path, name, &path, error));
    struct stat about;
    /* A folder called x.c is no source; a link that leads nowhere is the compiler's to judge. */
    bool is_file = stat(path, &about) == 0 && S_ISREG(about.st_mode);
    fer_status status = is_file ? fer_file_read(path, &data, &size, error) : FER_OK;
    free(path);
    if (status != FER_OK || !is_file)
        return status;
    return fer_sources_add(&package->files, name, data, size, error);
}

static fer_status read_folder(fer_package *package, fer_error *error)
{
    DIR *folder = opendir(package->path);
    if (folder == NULL && errno == ENOMEM)
        return fer_fail_memory(error);
    if (folder == NULL)
        return fer_fail(error, FER_IO_ERROR, "%s: the package cannot be opened: %s", package->path,
                        strerror(errno));
    fer_status status = FER_OK;
    for (struct dirent *entry; status == FER_OK && (entry = readdir(folder)) != NULL;)
        if (is_source_file(entry->d_name))
            status = read_file(package, entry->d_name, error);
    closedir(folder);
    return status;
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static int compare_kernels(const void *a, const void *b)
{
    const fer_kernel_info *x = a;
    const fer_kernel_info *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = strcmp(x->file, y->file);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static size_t count_kernels(const fer_package *package)
{
    size_t count = 0;
    for (size_t i = 0; i < package->files.count; i++)
        for (size_t j = 0; j < package->files.items[i].scan.num_items; j++)
            count += package->files.items[i].scan.items[j].kind == FER_FOUND_KERNEL;
    return count;
}

/* The text of SIGNATURE for a kernel, or NULL. */
static const char *find_signature(const fer_package *package, const char *name)
{
    for (size_t i = 0; i < package->files.count; i++) {
        const fer_scan *scan = &package->files.items[i].scan;
        for (size_t j = 0; j < scan->num_items; j++)
            if (scan->items[j].kind == FER_FOUND_SIGNATURE &&
                strcmp(scan->items[j].name, name) == 0)
                return scan->items[j].text;
    }
    return NULL;
}

static void clear_kernels(fer_package *package)
{
    for (size_t i = 0; i < package->num_kernels; i++)
        free((char *)package->kernels[i].signature);
    free(package->kernels);
    package->kernels = NULL;
    package->num_kernels = 0;
}

static fer_status fail_signature(const fer_kernel_info *kernel, const char *signature,
                                 fer_error *error)
{
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = kernel->name},
                       "%s: its SIGNATURE is '%.80s' in %s, but the text goes on behind the name, "
                       "as in SIGNATURE(%s, \"(x: f32[n]) -> f32[n]\");",
                       kernel->name, signature, kernel->file, kernel->name);
}

/* Lists what the scans found; whether a name is there twice goes to `out_twice`. */
static fer_status list_kernels(fer_package *package, const fer_kernel_info **out_twice,
                               fer_error *error)
{
    *out_twice = NULL;
    clear_kernels(package);
    package->kernels = calloc(count_kernels(package) + 1, sizeof *package->kernels);
    if (package->kernels == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < package->files.count; i++) {
        const fer_source *file = &package->files.items[i];
        for (size_t j = 0; fer_is_c_file(file->name) && j < file->scan.num_items; j++) {
            const fer_found *found = &file->scan.items[j];
            if (found->kind != FER_FOUND_KERNEL)
                continue;
            fer_kernel_info *kernel = &package->kernels[package->num_kernels++];
            *kernel =
                (fer_kernel_info){.name = found->name, .file = file->name, .line = found->line};
            const char *signature = find_signature(package, found->name);
            fer_text text = FER_TEXT_INIT;
            if (signature == NULL)
                continue;
            if (strchr("(<", signature[strspn(signature, " \t\n")]) == NULL)
                return fail_signature(kernel, signature, error);
            fer_text_printf(&text, "%s%s", found->name, signature);
            FER_TRY(fer_text_take(&text, (char **)&kernel->signature, error));
        }
    }
    qsort(package->kernels, package->num_kernels, sizeof *package->kernels, compare_kernels);
    for (size_t i = 1; i < package->num_kernels && *out_twice == NULL; i++)
        if (strcmp(package->kernels[i - 1].name, package->kernels[i].name) == 0)
            *out_twice = &package->kernels[i - 1];
    return FER_OK;
}

/* A kernel that stands in an included file is one of each file that includes it. */
static bool needs_preprocessor(const fer_package *package)
{
    for (size_t i = 0; i < package->files.count; i++) {
        const fer_source *file = &package->files.items[i];
        if (file->scan.needs_preprocessor || (file->has_kernel && !fer_is_c_file(file->name)))
            return true;
    }
    const fer_outside *outside = atomic_load(&package->outside);
    for (size_t i = 0; outside != NULL && i < outside->files.count; i++)
        if (outside->files.items[i].scan.needs_preprocessor || outside->files.items[i].has_kernel)
            return true;
    return false;
}

static fer_status find_kernels(fer_package *package, fer_error *error)
{
    const fer_kernel_info *twice;
    FER_TRY(list_kernels(package, &twice, error));
    if (twice != NULL || needs_preprocessor(package)) {
        FER_TRY(fer_package_describe(package, error));
        FER_TRY(list_kernels(package, &twice, error));
    }
    if (twice == NULL)
        return FER_OK;
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = twice->name},
                       "%s: the kernel is defined twice in %s, at %s:%d and at %s:%d", twice->name,
                       package->path, twice[0].file, twice[0].line, twice[1].file, twice[1].line);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static fer_status allocate(fer_package **out_package, fer_error *error)
{
    fer_package *package = calloc(1, sizeof *package);
    if (package == NULL)
        return fer_fail_memory(error);
    atomic_init(&package->references, 1);
    *out_package = package;
    return FER_OK;
}

static bool is_regular_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

fer_status fer_package_open(const char *path, fer_package **out_package, fer_error *error)
{
    *out_package = NULL;
    fer_package *package = NULL;
    FER_TRY(allocate(&package, error));
    fer_status status = fer_is_own_package(path) ? fer_own_package(path, &package->path, error)
                                                 : fer_path_absolute(path, &package->path, error);
    if (status != FER_OK)
        goto done;
    if (is_regular_file(package->path)) {
        FER_TRY_DONE(fer_package_load_object(package, error));
    } else {
        FER_TRY_DONE(read_folder(package, error));
        FER_TRY_DONE(fer_flags_read(package->path, &package->flags, error));
        FER_TRY_DONE(fer_package_follow_includes(package, error));
        FER_TRY_DONE(find_kernels(package, error));
    }
    *out_package = package;
    package = NULL;

done:
    fer_package_release(package);
    return status;
}

fer_status fer_package_from_source(const char *source, fer_package **out_package, fer_error *error)
{
    *out_package = NULL;
    fer_package *package = NULL;
    char *data = NULL;
    size_t size = strlen(source);
    FER_TRY(allocate(&package, error));
    package->is_inline = true;
    char hex[FER_DIGEST_HEX];
    fer_digest digest = fer_digest_of(source, size);
    fer_digest_hex(&digest, hex);
    fer_text path = FER_TEXT_INIT;
    fer_text_printf(&path, "inline:%s", hex);
    fer_status status = fer_text_take(&path, &package->path, error);
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(fer_copy_string(source, &data, error));
    FER_TRY_DONE(fer_sources_add(&package->files, INLINE_FILE, data, size, error));
    FER_TRY_DONE(find_kernels(package, error));
    *out_package = package;
    package = NULL;

done:
    fer_package_release(package);
    return status;
}

fer_package *fer_package_retain(const fer_package *package)
{
    fer_package *retained = (fer_package *)package;
    atomic_fetch_add_explicit(&retained->references, 1, memory_order_relaxed);
    return retained;
}

void fer_package_release(fer_package *package)
{
    if (package == NULL ||
        atomic_fetch_sub_explicit(&package->references, 1, memory_order_acq_rel) > 1)
        return;
    clear_kernels(package);
    fer_sources_clear(&package->files);
    fer_outside_release(atomic_load(&package->outside));
    fer_object_unload(package->object);
    fer_flags_clear(&package->flags);
    free(package->path);
    free(package);
}

const char *fer_package_source(const fer_package *package)
{
    return package->is_inline ? fer_sources_find(&package->files, INLINE_FILE)->data : NULL;
}

const char *fer_package_path(const fer_package *package)
{
    return package->path;
}

size_t fer_package_num_kernels(const fer_package *package)
{
    return package->num_kernels;
}

fer_kernel_info fer_package_kernel(const fer_package *package, size_t index)
{
    return package->kernels[index];
}

bool fer_package_find(const fer_package *package, const char *name, fer_kernel_info *out_info)
{
    for (size_t i = 0; i < package->num_kernels; i++)
        if (strcmp(package->kernels[i].name, name) == 0) {
            if (out_info != NULL)
                *out_info = package->kernels[i];
            return true;
        }
    return false;
}
