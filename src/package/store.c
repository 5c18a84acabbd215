#include "package/store.h"

#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include <ferrule/package.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* --- The private folder ----------------------------------------------------------------------- */

typedef struct private_folder {
    struct private_folder *inherited; /* the parent's, whose path somebody may be reading */
    pid_t owner;
    char path[];
} private_folder;

static _Atomic(private_folder *) current_folder;

/* A forked child leaves its parent's folder alone. */
static void remove_private_folder(void)
{
    private_folder *folder = atomic_exchange(&current_folder, NULL);
    while (folder != NULL) {
        private_folder *inherited = folder->inherited;
        if (folder->owner == getpid())
            fer_folder_remove(folder->path);
        free(folder);
        folder = inherited;
    }
}

static fer_status make_temporary(const char *parent, char **out_path, fer_error *error)
{
    *out_path = NULL;
    char *path = NULL;
    FER_TRY(fer_path_join(parent, "ferrule.XXXXXX", &path, error));
    if (mkdtemp(path) == NULL) {
        fer_status status = fer_fail(error, FER_IO_ERROR, "%s: cannot make a temporary folder: %s",
                                     parent, strerror(errno));
        free(path);
        return status;
    }
    *out_path = path;
    return FER_OK;
}

static const char *temporary_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent == NULL || *parent != '/' ? "/tmp" : parent;
}

static fer_status make_private_folder(private_folder **out_folder, fer_error *error)
{
    char *path = NULL;
    FER_TRY(make_temporary(temporary_parent(), &path, error));
    size_t size = strlen(path) + 1;
    private_folder *made = malloc(sizeof *made + size);
    if (made == NULL) {
        fer_folder_remove(path);
        free(path);
        return fer_fail_memory(error);
    }
    made->inherited = NULL;
    made->owner = getpid();
    memcpy(made->path, path, size);
    free(path);
    *out_folder = made;
    return FER_OK;
}

fer_status fer_private_folder(const char **out_path, fer_error *error)
{
    private_folder *folder = atomic_load(&current_folder);
    if (folder == NULL || folder->owner != getpid()) {
        private_folder *made = NULL;
        FER_TRY(make_private_folder(&made, error));
        made->inherited = folder;
        if (atomic_compare_exchange_strong(&current_folder, &folder, made)) {
            atexit(remove_private_folder);
            folder = made;
        } else {
            fer_folder_remove(made->path);
            free(made);
        }
    }
    *out_path = folder->path;
    return FER_OK;
}

/* --- The store -------------------------------------------------------------------------------- */

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? NULL : value;
}

/* The folder that was asked for; NULL when nothing says one. */
static fer_status wanted_root(char **out_root, fer_error *error)
{
    *out_root = NULL;
    const char *given = environment("FERRULE_CACHE_DIR");
    if (given != NULL)
        return fer_path_absolute(given, out_root, error);
    const char *cache = environment("XDG_CACHE_HOME");
    if (cache != NULL && cache[0] == '/')
        return fer_path_join(cache, "ferrule", out_root, error);
    const char *home = environment("HOME");
    return home == NULL ? FER_OK : fer_path_join(home, ".cache/ferrule", out_root, error);
}

/* What is wrong with a folder that we would load code from; NULL: nothing. */
static const char *find_fault(const struct stat *about)
{
    if (!S_ISDIR(about->st_mode))
        return "it is no folder";
    if (about->st_uid != geteuid())
        return "it belongs to another user";
    return (about->st_mode & S_IWOTH) != 0 ? "everybody may write to it" : NULL;
}

static bool is_usable(const char *root)
{
    struct stat about;
    const char *fault = NULL;
    if (stat(root, &about) != 0 &&
        (fer_folder_make(root, NULL) != FER_OK || stat(root, &about) != 0))
        fault = strerror(errno);
    else
        fault = find_fault(&about);
    if (fault != NULL)
        fer_log(FER_LOG_CACHE, "%s is not used: %s", root, fault);
    return fault == NULL;
}

bool fer_store_owns(const fer_store *store, const char *kind)
{
    char path[PATH_MAX];
    struct stat about;
    int length = snprintf(path, sizeof path, "%s/%s", store->root, kind);
    return length > 0 && (size_t)length < sizeof path && lstat(path, &about) == 0 &&
           find_fault(&about) == NULL;
}

fer_status fer_store_open(fer_store *out_store, fer_error *error)
{
    *out_store = (fer_store){0};
    FER_TRY(wanted_root(&out_store->root, error));
    if (out_store->root != NULL && is_usable(out_store->root))
        return FER_OK;
    fer_store_close(out_store);
    const char *path;
    FER_TRY(fer_private_folder(&path, error));
    return fer_copy_string(path, &out_store->root, error);
}

void fer_store_close(fer_store *store)
{
    free(store->root);
    store->root = NULL;
}

fer_status fer_store_path(const fer_store *store, const char *kind, const char *key,
                          char **out_path, fer_error *error)
{
    fer_text path = FER_TEXT_INIT;
    fer_text_printf(&path, "%s/%s/%s", store->root, kind, key);
    return fer_text_take(&path, out_path, error);
}

void fer_store_touch(const char *path)
{
    enum { HOUR = 60 * 60 };
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    time_t age = time(NULL) - about.st_mtim.tv_sec;
    if (age >= HOUR || age <= -HOUR) /* a time to come: the clock was set back */
        (void)!utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* A file is the digest as hex, a newline, and the content. */
static void seal_of(const char *kind, const char *key, const void *data, size_t size,
                    char out_seal[FER_STORE_SEAL_BYTES])
{
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_string(&hasher, kind);
    fer_hasher_string(&hasher, key);
    fer_hasher_field(&hasher, data, size);
    fer_hasher_finish_hex(&hasher, out_seal);
    out_seal[FER_STORE_SEAL_BYTES - 1] = '\n';
}

bool fer_store_is_whole(const char *kind, const char *key, const char *data, size_t size)
{
    char seal[FER_STORE_SEAL_BYTES];
    if (size < sizeof seal)
        return false;
    seal_of(kind, key, data + sizeof seal, size - sizeof seal, seal);
    return memcmp(data, seal, sizeof seal) == 0;
}

fer_status fer_store_read(const fer_store *store, const char *kind, const char *key,
                          char **out_data, size_t *out_size, fer_error *error)
{
    char *path = NULL;
    char *data = NULL;
    size_t size = 0;
    *out_data = NULL;
    *out_size = 0;
    if (!fer_store_owns(store, kind))
        return FER_OK;
    FER_TRY(fer_store_path(store, kind, key, &path, error));
    fer_status status = fer_file_read(path, &data, &size, NULL);
    if (status == FER_OK && fer_store_is_whole(kind, key, data, size)) {
        fer_store_touch(path);
        *out_size = size - FER_STORE_SEAL_BYTES;
        memmove(data, data + FER_STORE_SEAL_BYTES, *out_size + 1);
        *out_data = data;
        data = NULL;
    }
    free(data);
    free(path);
    return status == FER_MEMORY_ERROR ? fer_fail_memory(error) : FER_OK;
}

static bool write_parts(const fer_store *store, const char *kind, const char *name,
                        const fer_bytes *parts, size_t num_parts)
{
    char *folder = NULL;
    char *path = NULL;
    bool is_written = fer_path_join(store->root, kind, &folder, NULL) == FER_OK &&
                      fer_store_path(store, kind, name, &path, NULL) == FER_OK &&
                      fer_folder_make(folder, NULL) == FER_OK && fer_store_owns(store, kind) &&
                      fer_file_write_parts(path, parts, num_parts, NULL) == FER_OK;
    free(folder);
    free(path);
    return is_written;
}

bool fer_store_write(const fer_store *store, const char *kind, const char *key, const void *data,
                     size_t size)
{
    char seal[FER_STORE_SEAL_BYTES];
    seal_of(kind, key, data, size, seal);
    return write_parts(store, kind, key, (fer_bytes[]){{seal, sizeof seal}, {data, size}}, 2);
}

bool fer_store_write_plain(const fer_store *store, const char *kind, const char *name,
                           const void *data, size_t size)
{
    return write_parts(store, kind, name, &(fer_bytes){data, size}, 1);
}

fer_status fer_make_temporary_folder(char **out_path, fer_error *error)
{
    return make_temporary(temporary_parent(), out_path, error);
}

/* Whether a compiler that writes there is likely to get to its end. */
static bool has_room(const char *path)
{
    enum { ENOUGH_BYTES = 8 << 20, ENOUGH_FILES = 64 };
    struct statvfs about;
    if (statvfs(path, &about) != 0)
        return true;
    return (uint64_t)about.f_bavail * about.f_frsize >= ENOUGH_BYTES &&
           (about.f_files == 0 || about.f_favail >= ENOUGH_FILES);
}

fer_status fer_store_make_build_folder(const fer_store *store, char **out_path, fer_error *error)
{
    char *parent = NULL;
    FER_TRY(fer_path_join(store->root, "build", &parent, error));
    bool is_made = fer_folder_make(parent, NULL) == FER_OK && fer_store_owns(store, "build") &&
                   has_room(parent) && make_temporary(parent, out_path, NULL) == FER_OK;
    free(parent);
    return is_made ? FER_OK : fer_make_temporary_folder(out_path, error);
}

fer_status fer_cache_path(char **out_path, fer_error *error)
{
    fer_store store;
    *out_path = NULL;
    FER_TRY(fer_store_open(&store, error));
    *out_path = store.root;
    return FER_OK;
}
