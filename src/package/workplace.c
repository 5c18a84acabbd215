#include "package/workplace.h"

#include "base/path.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The headers that travel inside the library (made by the build). */
extern const char fer_embedded_kernel_h[];
extern const size_t fer_embedded_kernel_h_size;
extern const char fer_embedded_smallfloat_h[];
extern const size_t fer_embedded_smallfloat_h_size;
extern const char fer_embedded_abi_h[];
extern const size_t fer_embedded_abi_h_size;

static char embedded_digest[FER_DIGEST_HEX];

static void digest_embedded(void)
{
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_field(&hasher, fer_embedded_kernel_h, fer_embedded_kernel_h_size);
    fer_hasher_field(&hasher, fer_embedded_smallfloat_h, fer_embedded_smallfloat_h_size);
    fer_hasher_field(&hasher, fer_embedded_abi_h, fer_embedded_abi_h_size);
    fer_hasher_finish_hex(&hasher, embedded_digest);
}

const char *fer_embedded_digest(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, digest_embedded);
    return embedded_digest;
}

/* How many folders above the package a relative path reaches. */
static size_t levels_above(const char *path)
{
    long level = 0;
    long lowest = 0;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && memcmp(path, "..", 2) == 0)
            level--;
        else if (length > 0 && !(length == 1 && *path == '.'))
            level++;
        lowest = level < lowest ? level : lowest;
        path += length;
        path += *path == '/';
    }
    return (size_t)-lowest;
}

static fer_status write_file(const char *folder, const char *name, const char *data, size_t size,
                             fer_error *error)
{
    char *path = NULL;
    char *parent = NULL;
    fer_status status = fer_path_join(folder, name, &path, error);
    if (status == FER_OK && strchr(name, '/') != NULL) {
        status = fer_path_folder(path, &parent, error);
        if (status == FER_OK)
            status = fer_folder_make(parent, error);
    }
    if (status == FER_OK)
        status = fer_file_write(path, data, size, error);
    free(parent);
    free(path);
    return status;
}

static fer_status write_sources(const char *folder, const fer_sources *sources, fer_error *error)
{
    for (size_t i = 0; i < sources->count; i++)
        FER_TRY(write_file(folder, sources->items[i].name, sources->items[i].data,
                           sources->items[i].size, error));
    return FER_OK;
}

static fer_status write_headers(const char *folder, fer_error *error)
{
    FER_TRY(write_file(folder, "include/ferrule/kernel.h", fer_embedded_kernel_h,
                       fer_embedded_kernel_h_size, error));
    FER_TRY(write_file(folder, "include/ferrule/smallfloat.h", fer_embedded_smallfloat_h,
                       fer_embedded_smallfloat_h_size, error));
    return write_file(folder, "include/ferrule/abi.h", fer_embedded_abi_h, fer_embedded_abi_h_size,
                      error);
}

static fer_status link_origin(fer_workplace *place, const fer_package *package,
                              const fer_outside *outside, fer_error *error)
{
    if (fer_package_is_whole(package, outside))
        return FER_OK;
    char *link_path = NULL;
    FER_TRY(fer_path_join(place->folder, FER_ORIGIN_LINK, &link_path, error));
    place->has_origin = symlink(package->path, link_path) == 0;
    free(link_path);
    return FER_OK;
}

static size_t deepest_climb(const fer_outside *outside)
{
    size_t depth = 0;
    for (; outside != NULL; outside = outside->older)
        for (size_t i = 0; i < outside->files.count; i++) {
            size_t levels = levels_above(outside->files.items[i].name);
            depth = levels > depth ? levels : depth;
        }
    return depth;
}

/* The package's own name with `depth` folders above it; `/above` stands for what is above the root.
 */
static void append_own_folders(fer_text *path, const fer_package *package, size_t depth)
{
    const char *name = package->is_inline ? "/package" : package->path;
    const char *p = name + strlen(name);
    size_t num_missing = depth + 1;
    while (p > name && num_missing > 0)
        num_missing -= *--p == '/';
    for (; num_missing > 0; num_missing--)
        fer_text_append(path, "/above");
    fer_text_append(path, p);
}

static fer_status lay_out(fer_workplace *place, const fer_package *package,
                          const fer_outside *outside, fer_error *error)
{
    size_t depth = deepest_climb(outside);
    size_t num_up = depth + 2; /* the package and `tree` */
    if (3 * num_up >= sizeof place->up)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "%s: a kernel reads a file %zu folders above its package", package->path,
                        depth);
    for (size_t i = 0; i < num_up; i++)
        memcpy(place->up + 3 * i, "../", 4);
    fer_text path = FER_TEXT_INIT;
    fer_text_printf(&path, "%s/tree", place->folder);
    append_own_folders(&path, package, depth);
    FER_TRY(fer_text_take(&path, &place->package, error));
    FER_TRY(fer_folder_make(place->package, error));
    FER_TRY(write_headers(place->folder, error));
    FER_TRY(write_sources(place->package, &package->files, error));
    for (const fer_outside *part = outside; part != NULL; part = part->older)
        FER_TRY(write_sources(place->package, &part->files, error));
    return link_origin(place, package, outside, error);
}

fer_status fer_workplace_open(const fer_store *store, const fer_package *package,
                              const fer_outside *outside, fer_workplace *out_place,
                              fer_error *error)
{
    *out_place = (fer_workplace){0};
    fer_workplace place = {0};
    FER_TRY(fer_store_make_build_folder(store, &place.folder, error));
    fer_status status = lay_out(&place, package, outside, error);
    if (status == FER_IO_ERROR) { /* the store's disk is full: others may not be */
        fer_workplace_close(&place);
        FER_TRY(fer_make_temporary_folder(&place.folder, error));
        status = lay_out(&place, package, outside, error);
    }
    if (status == FER_OK)
        *out_place = place;
    else
        fer_workplace_close(&place);
    return status;
}

void fer_workplace_close(fer_workplace *place)
{
    if (place->folder != NULL && !place->is_kept)
        fer_folder_remove(place->folder);
    free(place->folder);
    free(place->package);
    *place = (fer_workplace){0};
}
