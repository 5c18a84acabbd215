#include "package/prune.h"

#include "base/path.h"
#include "base/text.h"
#include "package/lock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_LENGTH (FER_DIGEST_HEX - 1)
#define LEFTOVER_SECONDS (24 * 60 * 60)

/* The folders of the store, and how a name goes on behind its key. */
enum { BINARIES, MANIFESTS, DESCRIPTIONS, COMPILERS, NUM_KINDS };
static const char *const KINDS[NUM_KINDS] = {"entries", "manifests", "described", "compilers"};

/* --- The bound -------------------------------------------------------------------------------- */

/* Digits and perhaps a power of 1024. */
static bool parse_bytes(const char *text, uint64_t *out_bytes)
{
    static const char UNITS[] = "KMG";
    if (!isdigit((unsigned char)*text))
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end == '\0' ? NULL : strchr(UNITS, *end);
    if (errno != 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')))
        return false;
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - UNITS + 1);
    if (number > UINT64_MAX >> shift)
        return false;
    *out_bytes = (uint64_t)number << shift;
    return true;
}

static const char *read_environment(void)
{
    const char *text = getenv("FERRULE_CACHE_BYTES");
    return text == NULL || *text == '\0' ? NULL : text;
}

uint64_t fer_store_bound(void)
{
    const char *text = read_environment();
    uint64_t bytes;
    return text != NULL && parse_bytes(text, &bytes) ? bytes : FER_STORE_DEFAULT_BYTES;
}

fer_status fer_store_check_environment(fer_error *error)
{
    const char *text = read_environment();
    uint64_t bytes;
    if (text == NULL || parse_bytes(text, &bytes))
        return FER_OK;
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.actual = text},
                       "FERRULE_CACHE_BYTES is '%s', but it is a number of bytes, such as "
                       "536870912 or 512M",
                       text);
}

/* --- Listing ---------------------------------------------------------------------------------- */

static bool is_all(const char *text, size_t length, const char *characters)
{
    return strspn(text, characters) >= length;
}

/* Whether the store gives such a name, or one of that kind while it writes. */
static bool is_own_name(size_t kind, const char *name, bool *out_is_temporary)
{
    if (strlen(name) < KEY_LENGTH || !is_all(name, KEY_LENGTH, "0123456789abcdef"))
        return false;
    const char *rest = name + KEY_LENGTH;
    if (kind == BINARIES) {
        if (strncmp(rest, ".so", 3) != 0)
            return false;
        rest += 3;
    } else if (kind == DESCRIPTIONS) {
        size_t num_digits = rest[0] == '-' ? strspn(rest + 1, "0123456789") : 0;
        if (num_digits == 0)
            return false;
        rest += 1 + num_digits;
    }
    *out_is_temporary = rest[0] == '.' && strlen(rest) == 7;
    return *rest == '\0' || *out_is_temporary;
}

static fer_status add(fer_stored_list *list, const fer_stored *file, const char *name,
                      fer_error *error)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        fer_stored *larger = realloc(list->items, capacity * sizeof *larger);
        if (larger == NULL)
            return fer_fail_memory(error);
        list->items = larger;
        list->capacity = capacity;
    }
    fer_stored added = *file;
    FER_TRY(fer_copy_string(name, &added.name, error));
    list->items[list->count++] = added;
    return FER_OK;
}

static bool is_old(const struct stat *about)
{
    return about->st_mtim.tv_sec + LEFTOVER_SECONDS < time(NULL);
}

static DIR *open_kind(const fer_store *store, const char *kind)
{
    char *path = NULL;
    if (fer_path_join(store->root, kind, &path, NULL) != FER_OK)
        return NULL;
    int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    free(path);
    DIR *folder = file < 0 ? NULL : fdopendir(file);
    if (file >= 0 && folder == NULL)
        close(file);
    return folder;
}

static fer_status list_kind(const fer_store *store, size_t kind, int lock_file,
                            fer_stored_list *list, fer_error *error)
{
    DIR *folder = open_kind(store, KINDS[kind]);
    fer_status status = FER_OK;
    while (folder != NULL && status == FER_OK) {
        const struct dirent *entry = readdir(folder);
        if (entry == NULL)
            break;
        struct stat about;
        bool is_temporary;
        if (!is_own_name(kind, entry->d_name, &is_temporary) ||
            fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode) || (is_temporary && !is_old(&about)))
            continue;
        fer_stored file = {
            .kind = KINDS[kind],
            .size = (uint64_t)about.st_size,
            .used = about.st_mtim,
            .is_held = !is_temporary && fer_locks_has(lock_file, entry->d_name),
            .is_leftover = is_temporary,
        };
        status = add(list, &file, entry->d_name, error);
    }
    if (folder != NULL)
        closedir(folder);
    return status;
}

static int compare_by_use(const void *a, const void *b)
{
    const fer_stored *x = a;
    const fer_stored *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

fer_status fer_stored_read(const fer_store *store, fer_stored_list *out_list, fer_error *error)
{
    fer_stored_list list = {0};
    int file = fer_locks_open(store);
    fer_status status = FER_OK;
    for (size_t kind = 0; kind < NUM_KINDS && status == FER_OK; kind++)
        status = list_kind(store, kind, file, &list, error);
    if (file >= 0)
        close(file);
    if (status != FER_OK)
        fer_stored_clear(&list);
    else if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, compare_by_use);
    *out_list = list;
    return status;
}

void fer_stored_clear(fer_stored_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].name);
    free(list->items);
    *list = (fer_stored_list){0};
}

bool fer_stored_is_binary(const fer_stored *file)
{
    return file->kind == KINDS[BINARIES] && !file->is_leftover;
}

/* --- Removing --------------------------------------------------------------------------------- */

bool fer_stored_remove(const fer_store *store, const fer_stored *file)
{
    DIR *folder = open_kind(store, file->kind);
    if (folder == NULL)
        return errno == ENOENT;
    bool is_gone = unlinkat(dirfd(folder), file->name, 0) == 0 || errno == ENOENT;
    int cause = errno;
    closedir(folder);
    errno = cause;
    return is_gone;
}

/* Whether somebody used it after it was listed. */
static bool is_used_since(const fer_store *store, const fer_stored *file)
{
    char *path = NULL;
    struct stat about;
    bool is_used = fer_store_path(store, file->kind, file->name, &path, NULL) != FER_OK ||
                   (lstat(path, &about) == 0 && (about.st_mtim.tv_sec != file->used.tv_sec ||
                                                 about.st_mtim.tv_nsec != file->used.tv_nsec));
    free(path);
    return is_used;
}

/* Folders in which a compiler ran whose caller did not live to remove them. */
static void remove_old_builds(const fer_store *store)
{
    static const char PREFIX[] = "ferrule.";
    DIR *folder = open_kind(store, "build");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        struct stat about;
        char *path = NULL;
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 &&
            strlen(entry->d_name) == sizeof PREFIX - 1 + 6 &&
            fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(about.st_mode) && is_old(&about) &&
            fer_store_path(store, "build", entry->d_name, &path, NULL) == FER_OK)
            fer_folder_remove(path);
        free(path);
    }
    if (folder != NULL)
        closedir(folder);
}

fer_status fer_store_prune(const fer_store *store, uint64_t bound, fer_pruning *out_pruning,
                           fer_error *error)
{
    *out_pruning = (fer_pruning){0};
    fer_stored_list list;
    FER_TRY(fer_stored_read(store, &list, error));
    fer_pruning pruning = {.num_kept = list.count};
    for (size_t i = 0; i < list.count; i++)
        pruning.bytes_kept += list.items[i].size;
    for (size_t i = 0; i < list.count; i++) {
        const fer_stored *file = &list.items[i];
        bool is_too_much = pruning.bytes_kept > bound || bound == 0; /* then empty files go too */
        bool may_go = file->is_leftover || (is_too_much && !file->is_held);
        if (!may_go || is_used_since(store, file) || !fer_stored_remove(store, file))
            continue;
        pruning.num_removed++;
        pruning.bytes_removed += file->size;
        pruning.num_kept--;
        pruning.bytes_kept -= file->size;
    }
    fer_stored_clear(&list);
    remove_old_builds(store);
    *out_pruning = pruning;
    return FER_OK;
}

/* --- Judging ---------------------------------------------------------------------------------- */

static bool is_digest_of(const char *hex, const char *data, size_t size)
{
    char actual[FER_DIGEST_HEX];
    fer_digest digest = fer_digest_of(data, size);
    fer_digest_hex(&digest, actual);
    return memcmp(actual, hex, KEY_LENGTH) == 0;
}

bool fer_stored_is_whole(const fer_store *store, const fer_stored *file)
{
    char *path = NULL;
    char *data = NULL;
    size_t size = 0;
    bool is_whole = !file->is_leftover &&
                    fer_store_path(store, file->kind, file->name, &path, NULL) == FER_OK &&
                    fer_file_read(path, &data, &size, NULL) == FER_OK;
    if (is_whole && file->kind == KINDS[BINARIES])
        is_whole = is_digest_of(file->name, data, size);
    else if (is_whole)
        is_whole = fer_store_is_whole(file->kind, file->name, data, size);
    free(data);
    free(path);
    return is_whole;
}
