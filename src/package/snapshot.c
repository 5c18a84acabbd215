#include "base/path.h"
#include "base/text.h"
#include "package/package.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a package holds beside the files of its folder. A snapshot has to be whole before anything
 * is compiled from it, so includes are followed when the package is opened, by their text alone;
 * what only the preprocessor can tell (`#include NAME`) is added after the first build. */

/* Real packages include a few files each; a maze of folders that include one another ends here, and
 * the rest is found by the build. */
#define MAX_FOLLOWED 4096

fer_status fer_normal_path(const char *path, char **out_path, fer_error *error)
{
    *out_path = NULL;
    if (path[0] == '/')
        return fer_copy_string(path, out_path, error);
    fer_text normal = FER_TEXT_INIT;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        const char *slash = normal.length == 0 ? NULL : memrchr(normal.data, '/', normal.length);
        const char *last = slash == NULL ? normal.data : slash + 1;
        bool is_up = length == 2 && memcmp(path, "..", 2) == 0;
        if (is_up && normal.length > 0 && strcmp(last, "..") != 0) {
            normal.length = slash == NULL ? 0 : (size_t)(slash - normal.data);
            normal.data[normal.length] = '\0';
        } else if (length > 0 && !(length == 1 && *path == '.')) {
            if (normal.length > 0)
                fer_text_append_char(&normal, '/');
            fer_text_append_bytes(&normal, path, length);
        }
        path += length;
        path += *path == '/';
    }
    return fer_text_take(&normal, out_path, error);
}

const fer_source *fer_package_file(const fer_package *package, const fer_outside *outside,
                                   const char *path)
{
    const fer_source *found = fer_sources_find(&package->files, path);
    for (; found == NULL && outside != NULL; outside = outside->older)
        found = fer_sources_find(&outside->files, path);
    return found;
}

bool fer_package_is_whole(const fer_package *package, const fer_outside *outside)
{
    return package->is_inline || (outside != NULL && outside->is_whole);
}

void fer_outside_release(fer_outside *outside)
{
    while (outside != NULL) {
        fer_outside *older = outside->older;
        fer_sources_clear(&outside->files);
        free(outside);
        outside = older;
    }
}

bool fer_package_publish(fer_package *package, const fer_outside *seen, fer_sources *files)
{
    fer_outside *made = malloc(sizeof *made);
    if (made == NULL)
        return false;
    fer_outside *head = (fer_outside *)seen;
    *made = (fer_outside){.files = *files, .is_whole = true, .older = head};
    if (!atomic_compare_exchange_strong(&package->outside, &head, made)) {
        free(made);
        return false;
    }
    *files = (fer_sources){0};
    return true;
}

/* Reads a regular file that lies beside the package's own; `out_data` stays NULL where there is
 * none that can be read, which is the compiler's to judge. */
static fer_status read_beside(const fer_package *package, const char *path, char **out_data,
                              size_t *out_size, fer_error *error)
{
    *out_data = NULL;
    char *resolved = NULL;
    struct stat about;
    FER_TRY(fer_path_join(package->path, path, &resolved, error));
    fer_status status = FER_OK;
    if (stat(resolved, &about) == 0 && S_ISREG(about.st_mode))
        status = fer_file_read(resolved, out_data, out_size, NULL);
    free(resolved);
    return status == FER_MEMORY_ERROR ? fer_fail_memory(error) : FER_OK;
}

/* Takes the file at that place into the snapshot; whether there is one goes to `out_is_there`. */
static fer_status take(const fer_package *package, fer_outside *outside, const char *path,
                       bool *out_is_there, fer_error *error)
{
    char *data = NULL;
    size_t size = 0;
    *out_is_there = fer_package_file(package, outside, path) != NULL;
    if (*out_is_there)
        return FER_OK;
    FER_TRY(read_beside(package, path, &data, &size, error));
    if (data == NULL)
        return FER_OK;
    *out_is_there = true;
    return fer_sources_add(&outside->files, path, data, size, error);
}

static fer_status add_place(char **places, const char *folder, const char *name, fer_error *error)
{
    char *joined = NULL;
    while (*places != NULL)
        places++;
    if (folder == NULL)
        return fer_normal_path(name, places, error);
    FER_TRY(fer_path_join(folder, name, &joined, error));
    fer_status status = fer_normal_path(joined, places, error);
    free(joined);
    return status;
}

static fer_status add_places(const fer_package *package, const char *file, const fer_found *found,
                             char **places, fer_error *error)
{
    const fer_arguments *includes = &package->flags.includes;
    char *folder = NULL;
    fer_status status = FER_OK;
    if (found->is_quoted && strchr(file, '/') != NULL) {
        FER_TRY(fer_path_folder(file, &folder, error));
        status = add_place(places, folder, found->name, error);
        free(folder);
        FER_TRY(status);
    }
    if (found->is_quoted)
        FER_TRY(add_place(places, NULL, found->name, error));
    for (size_t i = 0; i + 1 < includes->count; i += 2)
        if (includes->items[i + 1][0] != '/')
            FER_TRY(add_place(places, includes->items[i + 1], found->name, error));
    return FER_OK;
}

fer_status fer_include_places(const fer_package *package, const char *file, const fer_found *found,
                              char ***out_places, fer_error *error)
{
    *out_places = NULL;
    char **places = calloc(package->flags.includes.count / 2 + 3, sizeof *places);
    if (places == NULL)
        return fer_fail_memory(error);
    fer_status status = FER_OK;
    if (found->kind == FER_FOUND_INCLUDE && found->name[0] != '/' &&
        strncmp(found->name, "ferrule/", 8) != 0)
        status = add_places(package, file, found, places, error);
    if (status == FER_OK)
        *out_places = places;
    else
        fer_places_free(places);
    return status;
}

void fer_places_free(char **places)
{
    for (char **place = places; place != NULL && *place != NULL; place++)
        free(*place);
    free(places);
}

/* `file` is a copy of the array's item, whose strings stay where they are when the array moves. */
static fer_status follow(const fer_package *package, fer_outside *outside, fer_source file,
                         fer_error *error)
{
    fer_status status = FER_OK;
    for (size_t i = 0; i < file.scan.num_items && status == FER_OK; i++) {
        char **places;
        bool is_there = false;
        FER_TRY(fer_include_places(package, file.name, &file.scan.items[i], &places, error));
        for (size_t j = 0; places[j] != NULL && !is_there && status == FER_OK; j++)
            status = take(package, outside, places[j], &is_there, error);
        fer_places_free(places);
    }
    return status;
}

static fer_source *next_unfollowed(fer_package *package, fer_outside *outside)
{
    fer_sources *const all[] = {&package->files, &outside->files};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < all[i]->count; j++)
            if (!all[i]->items[j].is_followed)
                return &all[i]->items[j];
    return NULL;
}

fer_status fer_package_follow_includes(fer_package *package, fer_error *error)
{
    fer_status status = FER_OK;
    fer_outside *outside = calloc(1, sizeof *outside);
    if (outside == NULL)
        return fer_fail_memory(error);
    while (status == FER_OK && outside->files.count < MAX_FOLLOWED) {
        fer_source *file = next_unfollowed(package, outside);
        if (file == NULL)
            break;
        file->is_followed = true;
        status = follow(package, outside, *file, error);
    }
    atomic_store(&package->outside, outside);
    return status;
}

/* --- What a build read ------------------------------------------------------------------------ */

static bool is_beyond(const fer_package *package, const fer_outside *outside, const char *path)
{
    return path[0] != '/' && fer_package_file(package, outside, path) == NULL;
}

bool fer_package_lacks(const fer_package *package, const fer_outside *outside, char *const *paths,
                       size_t num_paths)
{
    for (size_t i = 0; i < num_paths; i++)
        if (is_beyond(package, outside, paths[i]))
            return true;
    return false;
}

static fer_status read_missing(const fer_package *package, const fer_outside *outside,
                               char *const *paths, size_t num_paths, fer_sources *files,
                               fer_error *error)
{
    for (size_t i = 0; i < num_paths; i++) {
        if (!is_beyond(package, outside, paths[i]))
            continue;
        char *resolved = NULL;
        char *data = NULL;
        size_t size = 0;
        FER_TRY(fer_path_join(package->path, paths[i], &resolved, error));
        fer_status status = fer_file_read(resolved, &data, &size, error);
        free(resolved);
        FER_TRY(status);
        FER_TRY(fer_sources_add(files, paths[i], data, size, error));
    }
    return FER_OK;
}

fer_status fer_package_settle(fer_package *package, char *const *paths, size_t num_paths,
                              fer_error *error)
{
    const fer_outside *outside = atomic_load(&package->outside);
    while (!fer_package_is_whole(package, outside)) {
        fer_sources files = {0};
        fer_status status = read_missing(package, outside, paths, num_paths, &files, error);
        bool is_published = status == FER_OK && fer_package_publish(package, outside, &files);
        fer_sources_clear(&files);
        FER_TRY(status);
        const fer_outside *now = atomic_load(&package->outside);
        if (!is_published && now == outside)
            return fer_fail_memory(error);
        outside = now;
    }
    return FER_OK;
}
