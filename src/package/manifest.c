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
 *   kernel LENGTH:KERNEL
 *   file DIGEST DEV INO SIZE MTIME MTIME_NS CTIME CTIME_NS LENGTH:PATH
 *   absent LENGTH:PATH
 *   end
 *
 * Paths are bytes, so they carry their length, and so does the kernel with its specialisation,
 * which is for people. Relative paths start at the package. The numbers of stat stand for the
 * content while they stay the same; all are zero when the file was changed so shortly before that
 * they might not tell a further change. */
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
    if (num_params > 0)
        memcpy(params, request->params, num_params * sizeof *params);
    if (num_dtypes > 0)
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
    fer_flags_hash(&request->package->flags, &hasher);
    if (request->told != NULL)
        fer_hasher_string(&hasher, FER_CHECKED_FLAG);
    for (int is_clang = 0; request->is_verified && is_clang < 2; is_clang++) {
        const char *const *flags = fer_verify_flags(is_clang);
        for (size_t i = 0; flags[i] != NULL; i++)
            fer_hasher_string(&hasher, flags[i]);
    }
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

static fer_status digest_file(const char *path, fer_digest *out_digest)
{
    char *data = NULL;
    size_t size;
    FER_TRY(fer_file_read(path, &data, &size, NULL));
    *out_digest = fer_digest_of(data, size);
    free(data);
    return FER_OK;
}

static bool digest_is(const fer_digest *digest, const char *hex)
{
    char own[FER_DIGEST_HEX];
    fer_digest_hex(digest, own);
    return strcmp(own, hex) == 0;
}

/* --- Reading a manifest ----------------------------------------------------------------------- */

typedef struct cursor {
    const char *p;
    const char *end;
    bool has_no_memory;
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

/* `LENGTH:BYTES` and the line's end; the copy is the caller's. */
static char *take_bytes(cursor *c)
{
    long long length;
    if (!take_number(c, &length) || !take_word(c, ":") || length <= 0 || length >= c->end - c->p ||
        c->p[length] != '\n')
        return NULL;
    char *bytes = strndup(c->p, (size_t)length);
    c->has_no_memory |= bytes == NULL;
    c->p += length + 1;
    return bytes;
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
    out->path = take_word(c, " ") ? take_bytes(c) : NULL;
    return out->path != NULL;
}

/* What a record is held against. */
typedef struct judge {
    const fer_package *package;
    const fer_outside *outside; /* the package's, as it was at first */
    fer_sources adopted;        /* files that the snapshot lacks and the record names */
    bool has_no_memory;         /* and so cannot say */
} judge;

/* The path from the working directory, for the caller to free; NULL when there is no memory. */
static char *resolve(judge *j, const char *path)
{
    char *resolved = NULL;
    if (fer_path_join(j->package->path, path, &resolved, NULL) != FER_OK)
        j->has_no_memory = true;
    return resolved;
}

/* Whether a file that is not in the snapshot still holds what it held. */
static bool is_unchanged(judge *j, const file_line *line)
{
    struct stat about;
    fer_digest current;
    if (stat(line->path, &about) != 0)
        return false;
    facts now = read_facts(&about);
    if (line->facts.numbers[1] != 0 && memcmp(&now, &line->facts, sizeof now) == 0)
        return true;
    fer_status status = digest_file(line->path, &current);
    j->has_no_memory |= status == FER_MEMORY_ERROR;
    return status == FER_OK && digest_is(&current, line->digest);
}

static bool exists(judge *j, const char *path)
{
    char *resolved = resolve(j, path);
    struct stat about;
    bool is_there = resolved != NULL && stat(resolved, &about) == 0;
    free(resolved);
    return is_there;
}

static const fer_source *find_file(const judge *j, const char *path)
{
    const fer_source *found = fer_package_file(j->package, j->outside, path);
    return found != NULL ? found : fer_sources_find(&j->adopted, path);
}

/* Reads a file beyond the folder, if it still has this content. */
static bool adopt(judge *j, const file_line *line)
{
    char *resolved = resolve(j, line->path);
    char *data = NULL;
    size_t size;
    fer_status status = FER_IO_ERROR;
    if (resolved != NULL)
        status = fer_file_read(resolved, &data, &size, NULL);
    free(resolved);
    if (status == FER_OK) {
        fer_digest digest = fer_digest_of(data, size);
        if (!digest_is(&digest, line->digest)) {
            free(data);
            return false;
        }
        status = fer_sources_add(&j->adopted, line->path, data, size, NULL);
    }
    j->has_no_memory |= status == FER_MEMORY_ERROR;
    return status == FER_OK;
}

static bool file_holds(judge *j, const file_line *line)
{
    const fer_source *file = find_file(j, line->path);
    if (file != NULL)
        return digest_is(&file->digest, line->digest);
    if (line->path[0] == '/')
        return is_unchanged(j, line);
    return !fer_package_is_whole(j->package, j->outside) && adopt(j, line);
}

static bool absence_holds(judge *j, const char *path)
{
    if (find_file(j, path) != NULL)
        return false;
    return fer_package_is_whole(j->package, j->outside) || !exists(j, path);
}

/* The first two lines of a record; the copy of the kernel is the caller's. */
static bool take_head(cursor *c, char out_entry[FER_DIGEST_HEX], char out_compiler[FER_DIGEST_HEX],
                      char **out_kernel)
{
    if (!take_word(c, "record ") || !take_hex(c, out_entry) || !take_word(c, " ") ||
        !take_hex(c, out_compiler) || !take_word(c, "\nkernel "))
        return false;
    *out_kernel = take_bytes(c);
    return *out_kernel != NULL;
}

/* Reads one record and says whether it holds. False in `out_is_whole`: the text is damaged. */
static bool read_record(cursor *c, const fer_compiler *compiler, judge *j,
                        char out_entry[FER_DIGEST_HEX], bool *out_is_whole)
{
    char made_by[FER_DIGEST_HEX];
    char *kernel;
    *out_is_whole = false;
    if (!take_head(c, out_entry, made_by, &kernel))
        return false;
    free(kernel);
    bool holds = compiler == NULL || strcmp(made_by, compiler->identity) == 0;
    while (!take_word(c, "end\n")) {
        file_line line = {.path = NULL};
        if (take_word(c, "file ")) {
            if (!take_file(c, &line))
                return false;
            holds = holds && file_holds(j, &line);
        } else if (take_word(c, "absent ")) {
            line.path = take_bytes(c);
            if (line.path == NULL)
                return false;
            holds = holds && absence_holds(j, line.path);
        } else {
            return false;
        }
        free(line.path);
    }
    *out_is_whole = true;
    return holds;
}

bool fer_manifest_read(const char *data, size_t size, fer_manifest_visitor visit, void *context)
{
    /* No compiler has this identity, so that nothing but the text is looked at. */
    static const fer_compiler NOBODY = {.identity = ""};
    cursor c = {.p = data, .end = data + size};
    bool is_whole = c.p < c.end;
    while (is_whole && c.p < c.end) {
        char entry[FER_DIGEST_HEX];
        char made_by[FER_DIGEST_HEX];
        char *kernel = NULL;
        cursor head = c;
        (void)!read_record(&c, &NOBODY, NULL, entry, &is_whole);
        if (is_whole && visit != NULL && take_head(&head, entry, made_by, &kernel))
            visit(context, entry, kernel);
        free(kernel);
    }
    return is_whole;
}

/* The first record of the manifest that holds. */
static bool find_record(const char *manifest, size_t size, const fer_compiler *compiler, judge *j,
                        char out_entry[FER_DIGEST_HEX])
{
    cursor c = {.p = manifest, .end = manifest + size};
    bool is_found = false;
    bool is_whole = true;
    while (!is_found && is_whole && !j->has_no_memory && c.p < c.end) {
        fer_sources_clear(&j->adopted); /* what the last one adopted before it failed */
        is_found = read_record(&c, compiler, j, out_entry, &is_whole);
        j->has_no_memory |= c.has_no_memory;
    }
    return is_found && !j->has_no_memory;
}

/* Finds a record, and makes the snapshot whole with what it names. */
static fer_status find_and_adopt(const char *manifest, size_t size, const fer_compiler *compiler,
                                 fer_package *package, char out_entry[FER_DIGEST_HEX],
                                 bool *out_is_found, fer_error *error)
{
    judge j = {.package = package};
    bool is_found = false;
    bool is_kept = false;
    fer_status status = FER_OK;
    while (status == FER_OK && !is_kept) {
        j.outside = atomic_load(&package->outside);
        is_found = find_record(manifest, size, compiler, &j, out_entry);
        is_kept = !is_found || fer_package_is_whole(package, j.outside) ||
                  fer_package_publish(package, j.outside, &j.adopted);
        /* Another thread that made the snapshot whole first is no failure: then that is what
         * counts.
         */
        if (j.has_no_memory || (!is_kept && j.outside == atomic_load(&package->outside)))
            status = fer_fail_memory(error);
    }
    fer_sources_clear(&j.adopted);
    *out_is_found = status == FER_OK && is_found;
    return status;
}

fer_status fer_manifest_find(const fer_store *store, const char *key, const fer_compiler *compiler,
                             fer_package *package, char out_entry[FER_DIGEST_HEX],
                             bool *out_is_found, fer_error *error)
{
    char *data = NULL;
    size_t size;
    *out_is_found = false;
    FER_TRY(fer_store_read(store, KIND, key, &data, &size, error));
    fer_status status = FER_OK;
    if (data != NULL)
        status = find_and_adopt(data, size, compiler, package, out_entry, out_is_found, error);
    free(data);
    return status;
}

/* --- Writing a manifest ----------------------------------------------------------------------- */

static void append_counted(fer_text *text, const char *string)
{
    fer_text_printf(text, "%zu:%s\n", strlen(string), string);
}

/* What a record is written from. */
typedef struct recorder {
    const fer_package *package;
    const fer_outside *outside;
    const fer_build *build;
    fer_text text;
    bool is_kept; /* nothing changed while the compiler ran, or could not be written down */
} recorder;

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Whether a file may have changed since the build began. A time to come is that of a clock that was
 * set back, and says nothing. */
static bool may_have_changed(const fer_build *build, const struct stat *about)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return !is_before(&about->st_ctim, &build->began) && is_before(&about->st_ctim, &now);
}

/* A file beyond the snapshot, as it is after the build. */
static bool examine(const recorder *r, const char *path, fer_digest *out_digest, facts *out_facts)
{
    struct stat about;
    if (digest_file(path, out_digest) != FER_OK || stat(path, &about) != 0 ||
        may_have_changed(r->build, &about))
        return false;
    if (!is_just_changed(&about))
        *out_facts = read_facts(&about);
    return true;
}

static void append_file(recorder *r, const char *path)
{
    facts known = {{0}};
    fer_digest digest = {{0}};
    const fer_source *file = fer_package_file(r->package, r->outside, path);
    if (file != NULL)
        digest = file->digest;
    else if (!examine(r, path, &digest, &known))
        r->is_kept = false;
    char hex[FER_DIGEST_HEX];
    fer_digest_hex(&digest, hex);
    fer_text_printf(&r->text, "file %s", hex);
    for (size_t i = 0; i < sizeof known.numbers / sizeof *known.numbers; i++)
        fer_text_printf(&r->text, " %lld", known.numbers[i]);
    fer_text_append_char(&r->text, ' ');
    append_counted(&r->text, path);
}

static bool is_read(const fer_build *build, const char *path)
{
    for (size_t i = 0; i < build->dependencies.count; i++)
        if (strcmp(build->dependencies.paths[i], path) == 0)
            return true;
    return false;
}

static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* The normal path of folder and name, for the caller to free; NULL: there is no memory. */
static char *place_of(const char *folder, const char *name)
{
    char *joined = NULL;
    char *path = NULL;
    if ((folder == NULL ? fer_copy_string(name, &joined, NULL)
                        : fer_path_join(folder, name, &joined, NULL)) == FER_OK)
        (void)!fer_normal_path(joined, &path, NULL);
    free(joined);
    return path;
}

/* A place where an include may be. True: it was read there. Else what is there is recorded, mostly
 * that nothing is; a file counts whole, though a `__has_include` only asks whether it is there. */
static bool probe(recorder *r, const char *folder, const char *name)
{
    char *path = place_of(folder, name);
    if (path == NULL) {
        r->is_kept = false;
        return true;
    }
    bool was_read = is_read(r->build, path);
    bool is_there = fer_package_file(r->package, r->outside, path) != NULL ||
                    (path[0] == '/' && is_regular(path));
    if (!was_read && is_there) {
        append_file(r, path);
    } else if (!was_read) {
        fer_text_append(&r->text, "absent ");
        append_counted(&r->text, path);
    }
    free(path);
    return was_read;
}

/* The places for an include before the one where it was read, in the compiler's order, up to the
 * system's own folders. */
static void probe_include(recorder *r, const fer_found *found, const char *folder)
{
    if (found->is_quoted && folder != NULL && probe(r, folder, found->name))
        return;
    if (found->is_quoted && probe(r, NULL, found->name))
        return;
    const fer_arguments *includes = &r->package->flags.includes;
    for (size_t i = 0; i + 1 < includes->count && found->name[0] != '/'; i += 2)
        if (probe(r, includes->items[i + 1], found->name))
            return;
    if (found->name[0] != '/')
        (void)probe(r, "/usr/local/include", found->name);
}

static void append_probes(recorder *r, const fer_source *source)
{
    char *folder = NULL;
    if (strchr(source->name, '/') != NULL && fer_path_folder(source->name, &folder, NULL) != FER_OK)
        r->is_kept = false;
    for (size_t i = 0; i < source->scan.num_items; i++) {
        const fer_found *found = &source->scan.items[i];
        if (found->kind == FER_FOUND_INCLUDE && strncmp(found->name, "ferrule/", 8) != 0)
            probe_include(r, found, folder);
    }
    free(folder);
}

/* The places for each library before the one where it was found, in the package's own folders. */
static void probe_libraries(recorder *r)
{
    static const char *const SUFFIXES[] = {"so", "a"};
    const fer_arguments *libs = &r->package->flags.libs;
    for (size_t i = 0; i < libs->count; i++) {
        bool was_read = strncmp(libs->items[i], "-l", 2) != 0 || libs->items[i][2] == ':';
        for (size_t j = 0; j < 2 * libs->count && !was_read; j++) {
            if (strncmp(libs->items[j / 2], "-L", 2) != 0)
                continue;
            fer_text name = FER_TEXT_INIT;
            fer_text_printf(&name, "lib%s.%s", libs->items[i] + 2, SUFFIXES[j % 2]);
            was_read = name.has_failed || probe(r, libs->items[j / 2] + 2, name.data);
            r->is_kept = r->is_kept && !name.has_failed;
            fer_text_free(&name);
        }
    }
}

static void append_record(recorder *r)
{
    probe_libraries(r);
    const fer_dependencies *dependencies = &r->build->dependencies;
    for (size_t i = 0; i < dependencies->count; i++)
        append_file(r, dependencies->paths[i]);
    for (size_t i = 0; i < dependencies->count; i++) {
        const fer_source *file = fer_package_file(r->package, r->outside, dependencies->paths[i]);
        if (file != NULL)
            append_probes(r, file);
    }
}

/* The records that were there stay behind the new one, up to a bound. */
static void append_older(fer_text *text, const fer_store *store, const char *key)
{
    char *older = NULL;
    size_t size;
    if (fer_store_read(store, KIND, key, &older, &size, NULL) != FER_OK || older == NULL)
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

void fer_manifest_record(const fer_store *store, const char *key, const fer_compiler *compiler,
                         const fer_request *request, const fer_build *build, const char *entry)
{
    recorder r = {
        .package = request->package,
        .outside = atomic_load(&request->package->outside),
        .build = build,
        .text = FER_TEXT_INIT,
        .is_kept = true,
    };
    fer_text kernel = FER_TEXT_INIT;
    fer_text_append(&kernel, request->kernel);
    fer_append_choices(&kernel, request);
    fer_text_printf(&r.text, "record %s %s\nkernel ", entry, compiler->identity);
    append_counted(&r.text, fer_text_string(&kernel));
    r.is_kept = !kernel.has_failed;
    fer_text_free(&kernel);
    append_record(&r);
    fer_text_append(&r.text, "end\n");
    append_older(&r.text, store, key);
    if (r.is_kept && !r.text.has_failed)
        fer_store_write(store, KIND, key, r.text.data, r.text.length);
    fer_text_free(&r.text);
}
