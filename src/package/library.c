#include "package/library.h"

#include "base/log.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "package/compile.h"
#include "package/lock.h"
#include "package/manifest.h"
#include "package/object.h"
#include "package/overlay.h"
#include "package/prune.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* uthash aborts where memory ends unless it is told to go on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define MAX_IDLE 128

enum { SECOND_NS = 1000000000, ASK_EVERY_NS = SECOND_NS / 10 };

struct fer_library {
    char digest[FER_DIGEST_HEX]; /* key: of the binary's content */
    fer_object *object;          /* its own, or its package's */
    fer_package *package;        /* not NULL: a shared object, which is not in the table */
    const fer_abi_entry *kernel;
    const fer_abi_entry *shape;
    size_t references;  /* under the lock; 0: idle */
    fer_library *newer; /* among the idle ones */
    fer_library *older;
    UT_hash_handle hh;
};

/* A build that some thread is at. */
typedef struct pending {
    char key[FER_DIGEST_HEX];
    struct pending *next;
} pending;

/* All process-wide state of this file. Libraries that nobody holds stay loaded, the least recently
 * used go first. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t build_ended;
    fer_library *table;
    fer_library *newest_idle;
    fer_library *oldest_idle;
    size_t num_idle;
    pending *builds;
    fer_compile_observer observer;
    void *observer_context;
    fer_warning_reader warning_reader;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .build_ended = PTHREAD_COND_INITIALIZER};

/* NULL: kernels are not verified. */
static _Atomic(fer_outside_function) told_to_verify;

static atomic_uint_least64_t num_compiles;
static atomic_uint_least64_t num_hits;
static atomic_uint_least64_t num_misses;
static atomic_uint_least64_t num_bindings;

fer_counters fer_read_counters(void)
{
    return (fer_counters){.compiles = atomic_load(&num_compiles),
                          .cache_hits = atomic_load(&num_hits),
                          .cache_misses = atomic_load(&num_misses),
                          .bindings = atomic_load(&num_bindings)};
}

void fer_set_compile_observer(fer_compile_observer observer, void *context)
{
    pthread_mutex_lock(&state.lock);
    state.observer = observer;
    state.observer_context = context;
    pthread_mutex_unlock(&state.lock);
}

void fer_set_interrupt(fer_interrupt is_interrupted, void *context)
{
    fer_process_set_interrupt(is_interrupted, context);
}

void fer_set_warning_reader(fer_warning_reader reader)
{
    pthread_mutex_lock(&state.lock);
    state.warning_reader = reader;
    pthread_mutex_unlock(&state.lock);
}

void fer_verify_kernels(fer_outside_function told)
{
    atomic_store(&told_to_verify, told);
}

/* --- Forking ---------------------------------------------------------------------------------- */

static void before_fork(void)
{
    fer_loader_lock();
    pthread_mutex_lock(&state.lock);
    fer_overlay_lock();
}

static void after_fork(void)
{
    fer_overlay_unlock();
    pthread_mutex_unlock(&state.lock);
    fer_loader_unlock();
}

/* The threads that were building are not in the child, which builds for itself; and the locks know
 * their owner by a number that is another one here. */
static void after_fork_in_child(void)
{
    state.builds = NULL;
    state.build_ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    state.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    fer_overlay_reset();
    fer_loader_reset();
}

static void add_fork_handlers(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void fer_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, add_fork_handlers);
}

/* --- Loaded libraries ------------------------------------------------------------------------- */

static void unload(fer_library *library)
{
    if (library == NULL)
        return;
    if (library->package == NULL)
        fer_object_unload(library->object);
    fer_package_release(library->package);
    free(library);
}

static void leave_idle_list(fer_library *library)
{
    *(library->newer == NULL ? &state.newest_idle : &library->newer->older) = library->older;
    *(library->older == NULL ? &state.oldest_idle : &library->older->newer) = library->newer;
    library->newer = NULL;
    library->older = NULL;
    state.num_idle--;
}

static void enter_idle_list(fer_library *library)
{
    library->older = state.newest_idle;
    *(state.newest_idle == NULL ? &state.oldest_idle : &state.newest_idle->newer) = library;
    state.newest_idle = library;
    state.num_idle++;
}

/* A loaded library of that content, held for the caller; NULL: it is not loaded. */
static fer_library *take_loaded(const char *digest)
{
    fer_library *library;
    HASH_FIND_STR(state.table, digest, library);
    if (library == NULL)
        return NULL;
    if (library->references++ == 0)
        leave_idle_list(library);
    return library;
}

fer_library *fer_library_retain(const fer_library *library)
{
    fer_library *retained = (fer_library *)library;
    pthread_mutex_lock(&state.lock);
    retained->references++;
    pthread_mutex_unlock(&state.lock);
    return retained;
}

void fer_library_release(fer_library *library)
{
    fer_library *evicted = NULL;
    if (library == NULL)
        return;
    pthread_mutex_lock(&state.lock);
    if (--library->references == 0 && library->package != NULL) {
        evicted = library; /* its package keeps what is loaded */
    } else if (library->references == 0) {
        enter_idle_list(library);
        if (state.num_idle > MAX_IDLE) {
            evicted = state.oldest_idle;
            leave_idle_list(evicted);
            HASH_DEL(state.table, evicted);
        }
    }
    pthread_mutex_unlock(&state.lock);
    if (evicted != NULL)
        atomic_fetch_sub(&num_bindings, 1);
    unload(evicted); /* outside the lock: a library's destructors may call anything */
}

const fer_abi_entry *fer_library_kernel(const fer_library *library)
{
    return library->kernel;
}

const fer_abi_entry *fer_library_shape(const fer_library *library)
{
    return library->shape;
}

const fer_openmp *fer_library_openmp(const fer_library *library)
{
    return library->object->has_openmp ? &library->object->openmp : NULL;
}

const char *fer_library_path(const fer_library *library)
{
    return library->object->path;
}

const char *fer_library_digest(const fer_library *library)
{
    return library->digest;
}

/* --- Loading ---------------------------------------------------------------------------------- */

static fer_status find_entries(fer_library *library, const char *kernel, fer_error *error)
{
    const fer_abi_table *table = library->object->table;
    for (const fer_abi_entry *const *p = table->begin; p < table->end; p++) {
        if (*p == NULL || strcmp((*p)->name, kernel) != 0)
            continue;
        if ((*p)->kind == FER_ABI_SHAPE)
            library->shape = *p;
        else
            library->kernel = *p;
    }
    if (library->kernel == NULL)
        return fer_fail(error, FER_COMPILE_ERROR,
                        "%s: no KERNEL or MAP of that name was compiled; is it under a condition "
                        "that does not hold?",
                        kernel);
    return FER_OK;
}

/* Whatever is wrong with what a compiler made is the compiler's fault. */
static fer_status load_object(const char *kernel, const char *digest, const char *path,
                              fer_object **out_object, fer_error *error)
{
    fer_error cause = FER_ERROR_INIT;
    fer_status status = fer_object_load(path, path, digest, out_object, &cause);
    if (status == FER_MEMORY_ERROR)
        status = fer_fail_memory(error);
    else if (status != FER_OK)
        status = fer_fail(error, FER_COMPILE_ERROR, "%s: the compiled kernel is of no use: %s",
                          kernel, cause.message);
    fer_error_clear(&cause);
    return status;
}

static void set_outside(const fer_object *object, fer_outside_function told)
{
    void *place = told == NULL ? NULL : fer_object_symbol(object, "fer_tell_outside");
    if (place != NULL)
        memcpy(place, &told, sizeof told);
}

/* Loads a binary whose content was judged. Called without the lock, since constructors may call
 * anything; two threads that load the same one find the first one's in the table. */
static fer_status load(const fer_request *request, const char *digest, const char *path,
                       fer_library **out_library, fer_error *error)
{
    fer_library *library = calloc(1, sizeof *library);
    if (library == NULL)
        return fer_fail_memory(error);
    memcpy(library->digest, digest, FER_DIGEST_HEX);
    library->references = 1;
    fer_status status = load_object(request->kernel, digest, path, &library->object, error);
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(find_entries(library, request->kernel, error));
    set_outside(library->object, request->told);
    pthread_mutex_lock(&state.lock);
    fer_library *loaded = take_loaded(digest);
    if (loaded == NULL) {
        HASH_ADD_STR(state.table, digest, library);
        loaded = library->hh.tbl == NULL ? NULL : library;
        library = loaded == NULL ? library : NULL;
        if (loaded != NULL)
            atomic_fetch_add(&num_bindings, 1);
    }
    pthread_mutex_unlock(&state.lock);
    *out_library = loaded;
    status = loaded == NULL ? fer_fail_memory(error) : FER_OK;

done:
    unload(library);
    return status;
}

/* IO: the file is not there, or has other content than its digest says. */
static fer_status check_content(const char *path, const char *digest, fer_error *error)
{
    char *data = NULL;
    size_t size;
    FER_TRY(fer_file_read(path, &data, &size, error));
    char hex[FER_DIGEST_HEX];
    fer_digest actual = fer_digest_of(data, size);
    fer_digest_hex(&actual, hex);
    free(data);
    return strcmp(hex, digest) == 0 ? FER_OK : fer_fail(error, FER_IO_ERROR, "%s: damaged", path);
}

/* --- The store's binaries --------------------------------------------------------------------- */

#define ENTRIES "entries"

static void entry_name(const char *digest, char out_name[FER_DIGEST_HEX + 3])
{
    memcpy(out_name, digest, FER_DIGEST_HEX - 1);
    memcpy(out_name + FER_DIGEST_HEX - 1, ".so", 4);
}

static fer_status open_file(const fer_store *store, const fer_request *request, const char *digest,
                            const char *path, fer_library **out_library, fer_error *error)
{
    if (!fer_store_owns(store, ENTRIES))
        return fer_fail(error, FER_IO_ERROR, "%s: not ours alone", path);
    FER_TRY(check_content(path, digest, error));
    return load(request, digest, path, out_library, error);
}

/* Opens what a manifest leads to. Anything wrong with it but MEMORY is a miss: it is built again.
 */
static fer_status open_entry(const fer_store *store, const char *key, const fer_request *request,
                             const char *digest, fer_library **out_library, fer_error *error)
{
    char name[FER_DIGEST_HEX + 3];
    char *path = NULL;
    entry_name(digest, name);
    FER_TRY(fer_store_path(store, ENTRIES, name, &path, error));
    fer_store_touch(path);
    pthread_mutex_lock(&state.lock);
    *out_library = take_loaded(digest);
    pthread_mutex_unlock(&state.lock);
    fer_status status = FER_OK;
    if (*out_library == NULL) {
        fer_store_hold(store, key);
        fer_store_hold(store, digest);
        status = open_file(store, request, digest, path, out_library, NULL);
    }
    free(path);
    return status == FER_MEMORY_ERROR ? fer_fail_memory(error) : FER_OK;
}

/* Keeps a binary in the store, or where that cannot be, for as long as the process lives. */
static fer_status keep_entry(const fer_store *store, const char *digest, const char *data,
                             size_t size, char **out_path, fer_error *error)
{
    char name[FER_DIGEST_HEX + 3];
    entry_name(digest, name);
    if (fer_store_write_plain(store, ENTRIES, name, data, size))
        return fer_store_path(store, ENTRIES, name, out_path, error);
    const char *folder;
    FER_TRY(fer_private_folder(&folder, error));
    FER_TRY(fer_path_join(folder, name, out_path, error));
    return fer_file_write(*out_path, data, size, error);
}

fer_status fer_library_keep(const char *data, size_t size, char out_digest[FER_DIGEST_HEX],
                            char **out_path, fer_error *error)
{
    char name[FER_DIGEST_HEX + 3];
    fer_store store;
    fer_watch_forks(); /* what is kept is loaded next */
    fer_digest digest = fer_digest_of(data, size);
    fer_digest_hex(&digest, out_digest);
    entry_name(out_digest, name);
    FER_TRY(fer_store_open(&store, error));
    fer_store_hold(&store, out_digest);
    fer_status status = fer_store_path(&store, ENTRIES, name, out_path, error);
    if (status != FER_OK)
        goto done;
    status =
        fer_store_owns(&store, ENTRIES) ? check_content(*out_path, out_digest, NULL) : FER_IO_ERROR;
    if (status == FER_OK) {
        fer_store_touch(*out_path);
        goto done;
    }
    free(*out_path);
    *out_path = NULL;
    status = status == FER_MEMORY_ERROR
                 ? fer_fail_memory(error)
                 : keep_entry(&store, out_digest, data, size, out_path, error);

done:
    fer_store_close(&store);
    return status;
}

/* --- Building --------------------------------------------------------------------------------- */

static void append_subject(fer_text *text, const fer_request *request)
{
    fer_text_append(text, request->kernel);
    fer_append_choices(text, request);
}

__attribute__((format(printf, 3, 4))) static void
log_of(fer_log_topic topic, const fer_request *request, const char *format, ...)
{
    if (!fer_log_has(topic))
        return;
    fer_text text = FER_TEXT_INIT;
    append_subject(&text, request);
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&text, format, arguments);
    va_end(arguments);
    fer_log(topic, "%s", fer_text_string(&text));
    fer_text_free(&text);
}

static void tell_observer(const fer_request *request, const char *more, bool is_done)
{
    pthread_mutex_lock(&state.lock);
    fer_compile_observer observer = state.observer;
    void *context = state.observer_context;
    pthread_mutex_unlock(&state.lock);
    if (observer == NULL)
        return;
    fer_text what = FER_TEXT_INIT;
    append_subject(&what, request);
    fer_text_append(&what, more);
    observer(context, fer_text_string(&what), is_done);
    fer_text_free(&what);
}

static void tell_warnings(const fer_request *request, const char *said)
{
    pthread_mutex_lock(&state.lock);
    fer_warning_reader reader = state.warning_reader;
    pthread_mutex_unlock(&state.lock);
    for (const char *line = said; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
        fer_log(FER_LOG_COMPILE, "%s", line);
    if (*said == '\0' || reader == NULL)
        return;
    fer_text what = FER_TEXT_INIT;
    append_subject(&what, request);
    reader(fer_text_string(&what), said);
    fer_text_free(&what);
}

static fer_status compile_once(const fer_store *store, const fer_compiler *compiler,
                               const fer_request *request, fer_build *out_build, fer_error *error)
{
    atomic_fetch_add(&num_compiles, 1);
    tell_observer(request, "", false);
    double start = fer_log_clock();
    fer_status status = fer_compile(store, compiler, request, out_build, error);
    log_of(FER_LOG_COMPILE, request, " of %s: %s %.1f ms", request->package->path,
           status == FER_OK ? "compiled in" : "failed after", fer_log_clock() - start);
    tell_observer(request, "", true);
    if (status == FER_OK)
        tell_warnings(request, fer_text_string(&out_build->said));
    return status;
}

/* Compiles from a snapshot that has all that is read. A build that read more, which only the
 * preprocessor could tell, is repeated: what it read may have changed since, and from now on the
 * snapshot is what counts. */
static fer_status compile(const fer_store *store, const fer_compiler *compiler,
                          const fer_request *request, fer_package *package, fer_build *out_build,
                          fer_error *error)
{
    FER_TRY(compile_once(store, compiler, request, out_build, error));
    const fer_dependencies *read = &out_build->dependencies;
    bool has_read_more = fer_package_lacks(package, out_build->outside, read->paths, read->count);
    fer_status status = fer_package_settle(package, read->paths, read->count, error);
    if (status == FER_OK && !has_read_more)
        return FER_OK;
    fer_build_clear(out_build);
    FER_TRY(status);
    return compile_once(store, compiler, request, out_build, error);
}

static fer_status build(const fer_store *store, const fer_compiler *compiler, const char *key,
                        const fer_request *request, fer_package *package, fer_library **out_library,
                        fer_error *error)
{
    fer_build made = {0};
    char *data = NULL;
    char *path = NULL;
    size_t size = 0;
    char digest[FER_DIGEST_HEX];
    atomic_fetch_add(&num_misses, 1);
    log_of(FER_LOG_CACHE, request, ": miss of %s", key);
    fer_status status = compile(store, compiler, request, package, &made, error);
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(fer_file_read(made.output, &data, &size, error));
    fer_digest content = fer_digest_of(data, size);
    fer_digest_hex(&content, digest);
    FER_TRY_DONE(keep_entry(store, digest, data, size, &path, error));
    fer_store_hold(store, key);
    fer_store_hold(store, digest);
    fer_manifest_record(store, key, compiler, request, &made, digest);
    FER_TRY_DONE(load(request, digest, path, out_library, error));
    fer_pruning pruning; /* the build is done either way */
    log_of(FER_LOG_CACHE, request, ": kept as %s", path);
    if (fer_store_prune(store, fer_store_bound(), &pruning, NULL) == FER_OK &&
        pruning.num_removed > 0)
        fer_log(FER_LOG_CACHE, "removed %zu files of %llu bytes, not used for longest",
                pruning.num_removed, (unsigned long long)pruning.bytes_removed);

done:
    fer_build_clear(&made);
    free(data);
    free(path);
    return status;
}

/* NULL in `out_library`: the store does not have it. */
static fer_status find(const fer_store *store, const char *key, const fer_compiler *compiler,
                       const fer_request *request, fer_package *package, fer_library **out_library,
                       fer_error *error)
{
    char digest[FER_DIGEST_HEX];
    bool is_found;
    FER_TRY(fer_manifest_find(store, key, compiler, package, digest, &is_found, error));
    if (is_found)
        FER_TRY(open_entry(store, key, request, digest, out_library, error));
    if (*out_library == NULL)
        return FER_OK;
    atomic_fetch_add(&num_hits, 1);
    log_of(FER_LOG_CACHE, request, ": hit %s", fer_library_path(*out_library));
    return FER_OK;
}

/* A wait that is over at once is not worth a word. A process that was killed while it started a
 * compiler leaves its turn a moment later. */
#define QUIET_SECONDS 0.05

static void log_wait(const fer_request *request, double start, const char *for_what)
{
    double waited = fer_log_clock() - start;
    if (waited >= 1e3 * QUIET_SECONDS)
        log_of(FER_LOG_COMPILE, request, ": waited %.1f ms for another %s", waited, for_what);
}

/* Waits while another process builds this, and says so. */
static fer_status take_turn(const fer_store *store, const char *key, const fer_request *request,
                            fer_turn *out_turn, bool *out_has_turn, fer_error *error)
{
    double start = fer_log_clock();
    FER_TRY(fer_turn_wait(store, key, QUIET_SECONDS, out_turn, out_has_turn, error));
    if (*out_has_turn)
        return FER_OK;
    log_of(FER_LOG_COMPILE, request, ": waits for another process that compiles it");
    tell_observer(request, " (by another process)", false);
    fer_status status = fer_turn_wait(store, key, FER_TURN_SECONDS, out_turn, out_has_turn, error);
    tell_observer(request, " (by another process)", true);
    log_wait(request, start, *out_has_turn ? "process" : "process, and no longer");
    return status;
}

/* One process at a time; the others then find what it built. */
static fer_status build_in_turn(const fer_store *store, const char *key,
                                const fer_compiler *compiler, const fer_request *request,
                                fer_package *package, fer_library **out_library, fer_error *error)
{
    fer_turn turn;
    bool has_turn;
    FER_TRY(take_turn(store, key, request, &turn, &has_turn, error));
    fer_status status = find(store, key, compiler, request, package, out_library, error);
    if (status == FER_OK && *out_library == NULL)
        status = build(store, compiler, key, request, package, out_library, error);
    if (has_turn)
        fer_turn_end(&turn);
    return status;
}

/* Finds it in the store, or builds it. Without a compiler the store may still have it. */
static fer_status find_or_build(const fer_store *store, const char *key, const fer_request *request,
                                fer_package *package, fer_library **out_library, fer_error *error)
{
    fer_compiler compiler = {0};
    fer_error missing = FER_ERROR_INIT;
    fer_status found = fer_compiler_find(store, &compiler, &missing);
    fer_status status = FER_OK;
    if (found == FER_MEMORY_ERROR)
        goto done;
    FER_TRY_DONE(
        find(store, key, found == FER_OK ? &compiler : NULL, request, package, out_library, error));
    if (*out_library == NULL && found == FER_OK)
        status = build_in_turn(store, key, &compiler, request, package, out_library, error);

done:
    if (status == FER_OK && *out_library == NULL)
        status = fer_error_move(error, &missing);
    if (status != FER_OK && found != FER_OK && status != FER_IO_ERROR)
        status = fer_error_prepend(error, status, "%s: ", request->kernel);
    fer_error_clear(&missing);
    fer_compiler_clear(&compiler);
    return status;
}

static bool is_being_built(const char *key)
{
    const pending *other = state.builds;
    while (other != NULL && strcmp(other->key, key) != 0)
        other = other->next;
    return other != NULL;
}

/* The lock is held, but not while it is asked: the answer may call back. False: interrupted. */
static bool wait_for_a_build(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += ASK_EVERY_NS;
    end.tv_sec += end.tv_nsec / SECOND_NS;
    end.tv_nsec %= SECOND_NS;
    pthread_cond_timedwait(&state.build_ended, &state.lock, &end);
    pthread_mutex_unlock(&state.lock);
    bool is_interrupted = fer_process_is_interrupted();
    pthread_mutex_lock(&state.lock);
    return !is_interrupted;
}

/* One thread at a time for one key; the others wait, and then find what it built. */
static fer_status begin_build(pending *self, const fer_request *request, fer_error *error)
{
    double start = fer_log_clock();
    fer_status status = FER_OK;
    pthread_mutex_lock(&state.lock);
    while (status == FER_OK && is_being_built(self->key))
        if (!wait_for_a_build())
            status = fer_fail(error, FER_COMPILE_ERROR,
                              "interrupted while another thread compiles the same");
    if (status == FER_OK) {
        self->next = state.builds;
        state.builds = self;
    }
    pthread_mutex_unlock(&state.lock);
    log_wait(request, start, "thread");
    return status;
}

static void end_build(pending *self)
{
    pthread_mutex_lock(&state.lock);
    pending **link = &state.builds;
    while (*link != NULL && *link != self) /* NULL: a child has forgotten its parent's builds */
        link = &(*link)->next;
    if (*link != NULL)
        *link = self->next;
    pthread_cond_broadcast(&state.build_ended);
    pthread_mutex_unlock(&state.lock);
}

static fer_status open_in_store(const fer_request *request, fer_library **out_library,
                                fer_error *error)
{
    fer_watch_forks();
    fer_store store;
    pending self;
    FER_TRY(fer_store_open(&store, error));
    fer_manifest_key(request, self.key);
    fer_status status = begin_build(&self, request, error);
    if (status == FER_OK) {
        /* What a package learns of files outside it is a cache to everyone else. */
        status = find_or_build(&store, self.key, request, (fer_package *)request->package,
                               out_library, error);
        end_build(&self);
    }
    fer_store_close(&store);
    return status;
}

/* From a package that is a shared object. */
static fer_status choose(const fer_package *package, const fer_request *request,
                         fer_library **out_library, fer_error *error)
{
    fer_library made = {.object = package->object, .references = 1};
    memcpy(made.digest, package->object->digest, FER_DIGEST_HEX);
    FER_TRY(fer_object_choose(package->object, request, &made.kernel, &made.shape, error));
    fer_library *library = malloc(sizeof *library);
    if (library == NULL)
        return fer_fail_memory(error);
    *library = made;
    library->package = fer_package_retain(package);
    atomic_fetch_add(&num_bindings, 1);
    *out_library = library;
    return FER_OK;
}

static fer_status open_request(fer_request *request, fer_library **out_library, fer_error *error)
{
    const fer_package *package = request->package;
    *out_library = NULL;
    fer_kernel_info info;
    if (!fer_package_find(package, request->kernel, &info))
        return fer_fail(error, FER_VALUE_ERROR, "%s: there is no such kernel in %s",
                        request->kernel, package->path);
    request->main = fer_sources_find(&package->files, info.file);
    if (package->object != NULL)
        return choose(package, request, out_library, error);
    fer_status status = open_in_store(request, out_library, error);
    return status == FER_IO_ERROR ? fer_error_prepend(error, status, "%s: ", request->kernel)
                                  : status;
}

fer_status fer_library_open(const fer_package *package, const char *kernel, const fer_param *params,
                            size_t num_params, const fer_dtype_choice *dtypes, size_t num_dtypes,
                            fer_library **out_library, fer_error *error)
{
    fer_outside_function told = atomic_load(&told_to_verify);
    fer_request request = {
        .package = package,
        .kernel = kernel,
        .params = params,
        .num_params = num_params,
        .dtypes = dtypes,
        .num_dtypes = num_dtypes,
        .told = told,
        .is_verified = told != NULL,
    };
    return open_request(&request, out_library, error);
}

fer_status fer_library_open_checked(const fer_package *package, const char *kernel,
                                    const fer_param *params, size_t num_params,
                                    const fer_dtype_choice *dtypes, size_t num_dtypes,
                                    fer_outside_function told, fer_library **out_library,
                                    fer_error *error)
{
    fer_request request = {
        .package = package,
        .kernel = kernel,
        .params = params,
        .num_params = num_params,
        .dtypes = dtypes,
        .num_dtypes = num_dtypes,
        .told = told,
    };
    return open_request(&request, out_library, error);
}
