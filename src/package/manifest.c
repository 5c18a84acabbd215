#include "package/manifest.h"

#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A manifest is a list of records, the newest first; a record is lines:
 *
 *   record ENTRY COMPILER
 *   file DIGEST DEV INO SIZE MTIME MTIME_NS CTIME CTIME_NS LENGTH:PATH
 *   absent LENGTH:PATH
 *   end
 *
 * Paths are bytes, so they carry their length. Relative ones start at the package. The numbers of
 * stat stand for the content while they stay the same; all are zero when the file was changed so
 * shortly before that they might not tell a further change. */
#define KIND "manifests"
#define MAX_RECORDS 8
#define MAX_MANIFEST_BYTES (1 << 20)
#define RACY_SECONDS 2

/* --- The key ---------------------------------------------------------------------------------- */

static int compare_by_name(const void *a, const void *b)
{
    const char *const *x = a; /* fer_param and fer_dtype_choice begin with their names */
    const char *const *y = b;
    return strcmp(*x, *y);
}

static void hash_param(fer_hasher *hasher, const fer_param *param)
{
    fer_hasher_string(hasher, param->name);
    fer_hasher_field(hasher, &param->kind, sizeof param->kind);
    if (param->kind == FER_PARAM_STR)
        fer_hasher_field(hasher, param->value.as_str.data, param->value.as_str.num_bytes);
    else if (param->kind == FER_PARAM_BOOL)
        fer_hasher_string(hasher, param->value.as_bool ? "true" : "false");
    else if (param->kind == FER_PARAM_DTYPE)
        fer_hasher_string(hasher, fer_dtype_name(param->value.as_dtype));
    else
        fer_hasher_field(hasher, &param->value.as_int, sizeof param->value.as_int);
}

/* The order in which parameters and variables are declared makes no other kernel. */
static void hash_choices(fer_hasher *hasher, const fer_request *request)
{
    fer_param params[64];
    fer_dtype_choice dtypes[64];
    size_t num_params = request->num_params < 64 ? request->num_params : 64;
    size_t num_dtypes = request->num_dtypes < 64 ? request->num_dtypes : 64;
    memcpy(params, request->params, num_params * sizeof *params);
    memcpy(dtypes, request->dtypes, num_dtypes * sizeof *dtypes);
    qsort(params, num_params, sizeof *params, compare_by_name);
    qsort(dtypes, num_dtypes, sizeof *dtypes, compare_by_name);
    for (size_t i = 0; i < request->num_params; i++)
        hash_param(hasher, i < 64 ? &params[i] : &request->params[i]);
    fer_hasher_string(hasher, "dtypes");
    for (size_t i = 0; i < request->num_dtypes; i++) {
        const fer_dtype_choice *choice = i < 64 ? &dtypes[i] : &request->dtypes[i];
        fer_hasher_string(hasher, choice->name);
        fer_hasher_string(hasher, fer_dtype_name(choice->dtype));
    }
}

void fer_manifest_key(const fer_request *request, char out_key[FER_DIGEST_HEX])
{
    const fer_sources *files = &request->package->files;
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_string(&hasher, fer_version());
    fer_hasher_string(&hasher, fer_embedded_digest());
    fer_hasher_string(&hasher, fer_target_cpu());
    for (size_t i = 0; FER_KERNEL_FLAGS[i] != NULL; i++)
        fer_hasher_string(&hasher, FER_KERNEL_FLAGS[i]);
#ifdef FERRULE_KERNEL_SANITIZE
    fer_hasher_string(&hasher, FERRULE_KERNEL_SANITIZE);
#endif
    fer_hasher_string(&hasher, request->kernel);
    hash_choices(&hasher, request);
    fer_hasher_string(&hasher, request->main->name);
    for (size_t i = 0; i < files->count; i++) {
        const fer_source *file = &files->items[i];
        if (file != request->main && (!fer_is_c_file(file->name) || file->has_kernel))
            continue;
        fer_hasher_string(&hasher, file->name);
        fer_hasher_field(&hasher, &file->digest, sizeof file->digest);
    }
    fer_hasher_finish_hex(&hasher, out_key);
}

/* --- Files ------------------------------------------------------------------------------------ */

typedef struct facts {
    long long numbers[7];
} facts;

static facts read_facts(const struct stat *about)
{
    return (facts){{(long long)about->st_dev, (long long)about->st_ino, (long long)about->st_size,
                    (long long)about->st_mtim.tv_sec, (long long)about->st_mtim.tv_nsec,
                    (long long)about->st_ctim.tv_sec, (long long)about->st_ctim.tv_nsec}};
}

static bool is_just_changed(const struct stat *about)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return about->st_mtim.tv_sec + RACY_SECONDS > now.tv_sec ||
           about->st_ctim.tv_sec + RACY_SECONDS > now.tv_sec;
}

/* The path from the working directory, for the caller to free; NULL when there is no memory. */
static char *resolve(const fer_package *package, const char *path)
{
    char *resolved = NULL;
    (void)!fer_path_join(package->path, path, &resolved, NULL);
    return resolved;
}

static bool digest_file(const char *path, fer_digest *out_digest)
{
    char *data = NULL;
    size_t size;
    if (fer_file_read(path, &data, &size, NULL) != FER_OK)
        return false;
    *out_digest = fer_digest_of(data, size);
    free(data);
    return true;
}

static bool digest_is(const fer_digest *digest, const char *hex)
{
    char own[FER_DIGEST_HEX];
    fer_digest_hex(digest, own);
    return strcmp(own, hex) == 0;
}

/* Whether a file that is not in the snapshot still holds what it held. */
static bool is_unchanged(const fer_package *package, const char *path, const char *digest,
                         const facts *remembered)
{
    char *resolved = resolve(package, path);
    struct stat about;
    fer_digest current;
    bool is_same = resolved != NULL && stat(resolved, &about) == 0;
    if (is_same) {
        facts now = read_facts(&about);
        is_same = (remembered->numbers[1] != 0 && memcmp(&now, remembered, sizeof now) == 0) ||
                  (digest_file(resolved, &current) && digest_is(&current, digest));
    }
    free(resolved);
    return is_same;
}

static const fer_source *find_snapshot(const fer_package *package, const char *path)
{
    const fer_source *found = fer_sources_find(&package->files, path);
    return found != NULL ? found : fer_sources_find(&package->outside, path);
}

static bool exists(const fer_package *package, const char *path)
{
    char *resolved = resolve(package, path);
    struct stat about;
    bool is_there = resolved != NULL && stat(resolved, &about) == 0;
    free(resolved);
    return is_there;
}

/* --- Reading a manifest ----------------------------------------------------------------------- */

typedef struct cursor {
    const char *p;
    const char *end;
} cursor;

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(c->end - c->p) < length || memcmp(c->p, word, length) != 0)
        return false;
    c->p += length;
    return true;
}

static bool take_hex(cursor *c, char out[FER_DIGEST_HEX])
{
    static const size_t LENGTH = FER_DIGEST_HEX - 1;
    if ((size_t)(c->end - c->p) < LENGTH || strspn(c->p, "0123456789abcdef") < LENGTH)
        return false;
    memcpy(out, c->p, LENGTH);
    out[LENGTH] = '\0';
    c->p += LENGTH;
    return true;
}

static bool take_number(cursor *c, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(c->p, &end, 10);
    if (end == c->p || end > c->end || errno != 0)
        return false;
    c->p = end;
    return true;
}

/* `LENGTH:PATH` and the line's end; the copy is the caller's. */
static char *take_path(cursor *c)
{
    long long length;
    if (!take_number(c, &length) || !take_word(c, ":") || length <= 0 || length >= c->end - c->p ||
        c->p[length] != '\n')
        return NULL;
    char *path = strndup(c->p, (size_t)length);
    c->p += length + 1;
    return path;
}

typedef struct file_line {
    char digest[FER_DIGEST_HEX];
    facts facts;
    char *path;
} file_line;

static bool take_file(cursor *c, file_line *out)
{
    if (!take_hex(c, out->digest))
        return false;
    for (size_t i = 0; i < sizeof out->facts.numbers / sizeof *out->facts.numbers; i++)
        if (!take_word(c, " ") || !take_number(c, &out->facts.numbers[i]))
            return false;
    out->path = take_word(c, " ") ? take_path(c) : NULL;
    return out->path != NULL;
}

/* Reads a file outside the folder into the snapshot, if it still has this content. */
static bool adopt(fer_package *package, const file_line *line)
{
    char *resolved = resolve(package, line->path);
    char *data = NULL;
    size_t size;
    bool is_read = resolved != NULL && fer_file_read(resolved, &data, &size, NULL) == FER_OK;
    free(resolved);
    if (!is_read)
        return false;
    fer_digest digest = fer_digest_of(data, size);
    if (!digest_is(&digest, line->digest)) {
        free(data);
        return false;
    }
    return fer_sources_add(&package->outside, line->path, data, size, NULL) == FER_OK;
}

static bool file_holds(fer_package *package, const file_line *line)
{
    const fer_source *snapshot = find_snapshot(package, line->path);
    if (snapshot != NULL)
        return digest_is(&snapshot->digest, line->digest);
    if (line->path[0] == '/')
        return is_unchanged(package, line->path, line->digest, &line->facts);
    return !package->is_settled && adopt(package, line);
}

static bool absence_holds(const fer_package *package, const char *path)
{
    if (find_snapshot(package, path) != NULL)
        return false;
    return package->is_settled || !exists(package, path);
}

/* Reads one record and says whether it holds. False in `out_is_whole`: the text is damaged. */
static bool read_record(cursor *c, const fer_compiler *compiler, fer_package *package,
                        char out_entry[FER_DIGEST_HEX], bool *out_is_whole)
{
    char made_by[FER_DIGEST_HEX];
    *out_is_whole = false;
    if (!take_word(c, "record ") || !take_hex(c, out_entry) || !take_word(c, " ") ||
        !take_hex(c, made_by) || !take_word(c, "\n"))
        return false;
    bool holds = compiler == NULL || strcmp(made_by, compiler->identity) == 0;
    while (!take_word(c, "end\n")) {
        file_line line = {.path = NULL};
        if (take_word(c, "file ")) {
            if (!take_file(c, &line))
                return false;
            holds = holds && file_holds(package, &line);
        } else if (take_word(c, "absent ")) {
            line.path = take_path(c);
            if (line.path == NULL)
                return false;
            holds = holds && absence_holds(package, line.path);
        } else {
            return false;
        }
        free(line.path);
    }
    *out_is_whole = true;
    return holds;
}

bool fer_manifest_find(const fer_store *store, const char *key, const fer_compiler *compiler,
                       fer_package *package, char out_entry[FER_DIGEST_HEX])
{
    char *data = NULL;
    size_t size;
    if (!fer_store_read(store, KIND, key, &data, &size))
        return false;
    cursor c = {.p = data, .end = data + size};
    bool is_found = false;
    bool is_whole = true;
    pthread_mutex_lock(&package->lock);
    while (!is_found && is_whole && c.p < c.end) {
        is_found = read_record(&c, compiler, package, out_entry, &is_whole);
        if (!is_found && !package->is_settled)
            fer_sources_clear(&package->outside); /* what a record adopted before it failed */
    }
    package->is_settled |= is_found;
    pthread_mutex_unlock(&package->lock);
    free(data);
    return is_found;
}

/* --- Writing a manifest ----------------------------------------------------------------------- */

static void append_path(fer_text *text, const char *path)
{
    fer_text_printf(text, "%zu:%s\n", strlen(path), path);
}

static fer_status append_file(fer_text *text, const fer_package *package, const char *path,
                              fer_error *error)
{
    facts known = {{0}};
    fer_digest digest;
    const fer_source *snapshot = find_snapshot(package, path);
    if (snapshot != NULL) {
        digest = snapshot->digest;
    } else {
        struct stat about;
        if (stat(path, &about) != 0 || !digest_file(path, &digest))
            return fer_fail(error, FER_IO_ERROR, "%s: it went away during the compile", path);
        if (!is_just_changed(&about))
            known = read_facts(&about);
    }
    char hex[FER_DIGEST_HEX];
    fer_digest_hex(&digest, hex);
    fer_text_printf(text, "file %s", hex);
    for (size_t i = 0; i < sizeof known.numbers / sizeof *known.numbers; i++)
        fer_text_printf(text, " %lld", known.numbers[i]);
    fer_text_append_char(text, ' ');
    append_path(text, path);
    return FER_OK;
}

static bool is_read(const fer_dependencies *dependencies, const char *path)
{
    for (size_t i = 0; i < dependencies->count; i++)
        if (strcmp(dependencies->paths[i], path) == 0)
            return true;
    return false;
}

/* Records that a place where an include would be looked for first holds nothing. */
static fer_status append_absent(fer_text *text, const fer_dependencies *dependencies,
                                const char *folder, const char *name, fer_error *error)
{
    char *path = NULL;
    if (folder == NULL)
        FER_TRY(fer_copy_string(name, &path, error));
    else
        FER_TRY(fer_path_join(folder, name, &path, error));
    if (!is_read(dependencies, path)) {
        fer_text_append(text, "absent ");
        append_path(text, path);
    }
    free(path);
    return FER_OK;
}

static fer_status append_probes(fer_text *text, const fer_source *source,
                                const fer_dependencies *dependencies, fer_error *error)
{
    char *folder = NULL;
    if (strchr(source->name, '/') != NULL)
        FER_TRY(fer_path_folder(source->name, &folder, error));
    fer_status status = FER_OK;
    for (size_t i = 0; i < source->scan.num_items && status == FER_OK; i++) {
        const fer_found *found = &source->scan.items[i];
        if (found->kind != FER_FOUND_INCLUDE || strncmp(found->name, "ferrule/", 8) == 0)
            continue;
        if (found->is_quoted)
            status = append_absent(text, dependencies, folder, found->name, error);
        if (status == FER_OK && found->name[0] != '/')
            status = append_absent(text, dependencies, "/usr/local/include", found->name, error);
    }
    free(folder);
    return status;
}

static fer_status settle(fer_package *package, const fer_dependencies *dependencies,
                         fer_error *error)
{
    for (size_t i = 0; i < dependencies->count && !package->is_settled; i++) {
        const char *path = dependencies->paths[i];
        if (path[0] == '/' || find_snapshot(package, path) != NULL)
            continue;
        char *resolved = NULL;
        char *data = NULL;
        size_t size = 0;
        FER_TRY(fer_path_join(package->path, path, &resolved, error));
        fer_status status = fer_file_read(resolved, &data, &size, error);
        free(resolved);
        FER_TRY(status);
        FER_TRY(fer_sources_add(&package->outside, path, data, size, error));
    }
    package->is_settled = true;
    return FER_OK;
}

static fer_status append_record(fer_text *text, const fer_package *package,
                                const fer_dependencies *dependencies, fer_error *error)
{
    for (size_t i = 0; i < dependencies->count; i++)
        FER_TRY(append_file(text, package, dependencies->paths[i], error));
    for (size_t i = 0; i < dependencies->count; i++) {
        const fer_source *source = find_snapshot(package, dependencies->paths[i]);
        if (source != NULL)
            FER_TRY(append_probes(text, source, dependencies, error));
    }
    return FER_OK;
}

/* The records that were there stay behind the new one, up to a bound. */
static void append_older(fer_text *text, const fer_store *store, const char *key)
{
    char *older = NULL;
    size_t size;
    if (!fer_store_read(store, KIND, key, &older, &size))
        return;
    const char *end = older;
    for (size_t i = 1; i < MAX_RECORDS; i++) {
        const char *next = strstr(end, "\nend\n");
        if (next == NULL)
            break;
        end = next + 5;
    }
    if (size < MAX_MANIFEST_BYTES)
        fer_text_append_bytes(text, older, (size_t)(end - older));
    free(older);
}

fer_status fer_manifest_record(const fer_store *store, const char *key,
                               const fer_compiler *compiler, fer_package *package,
                               const fer_dependencies *dependencies, const char *entry,
                               fer_error *error)
{
    fer_text text = FER_TEXT_INIT;
    fer_text_printf(&text, "record %s %s\n", entry, compiler->identity);
    pthread_mutex_lock(&package->lock);
    fer_status status = settle(package, dependencies, error);
    if (status == FER_OK)
        status = append_record(&text, package, dependencies, error);
    pthread_mutex_unlock(&package->lock);
    fer_text_append(&text, "end\n");
    append_older(&text, store, key);
    if (status == FER_OK && !text.has_failed)
        fer_store_write(store, KIND, key, text.data, text.length);
    fer_text_free(&text);
    return status;
}
