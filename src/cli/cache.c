/* ferrule cache: the folder that compiled kernels are kept in. */
#include "base/path.h"
#include "base/text.h"
#include "cli/cli.h"
#include "package/manifest.h"
#include "package/prune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int run(int argc, char **argv);

const fer_subcommand fer_command_cache = {
    .name = "cache",
    .arguments = "[path | list | prune | clear | verify]",
    .summary = "show and tidy the folder of compiled kernels",
    .help = "\nAlone, says where it is and how much it holds.\n"
            "path    prints the folder\n"
            "list    prints the compiled kernels, the last used first: when it was used to the "
            "hour,\n"
            "        bytes, digest, `in use` or `-`, and the kernel, with tabs between;\n"
            "        `?` stands for the kernels of a shared object\n"
            "prune   removes what was not used longest, until $FERRULE_CACHE_BYTES are left;\n"
            "        that also happens after each compile\n"
            "clear   removes all but what a running process uses\n"
            "verify  reads every file, and removes those that are damaged\n",
    .letters = ":h",
    .options = FER_ONLY_HELP,
    .run = run,
};

static fer_status print_path(const fer_store *store, fer_error *error)
{
    (void)error;
    printf("%s\n", store->root);
    return FER_OK;
}

static fer_status print_summary(const fer_store *store, fer_error *error)
{
    fer_stored_list list;
    FER_TRY(fer_stored_read(store, &list, error));
    uint64_t bytes = 0;
    size_t num_binaries = 0;
    for (size_t i = 0; i < list.count; i++) {
        bytes += list.items[i].size;
        num_binaries += fer_stored_is_binary(&list.items[i]);
    }
    printf("%s\n%zu compiled kernels, %zu files, %llu of at most %llu bytes\n", store->root,
           num_binaries, list.count, (unsigned long long)bytes,
           (unsigned long long)fer_store_bound());
    fer_stored_clear(&list);
    return FER_OK;
}

/* --- list ------------------------------------------------------------------------------------- */

/* Which kernel a binary is: a manifest says so. */
typedef struct label {
    char entry[FER_DIGEST_HEX];
    char *kernel;
} label;

typedef struct labels {
    label *items;
    size_t count;
    size_t capacity;
    bool has_failed;
} labels;

static void add_label(void *context, const char *entry, const char *kernel)
{
    labels *all = context;
    if (all->count == all->capacity) {
        size_t capacity = all->capacity == 0 ? 64 : 2 * all->capacity;
        label *larger = realloc(all->items, capacity * sizeof *larger);
        if (larger == NULL) {
            all->has_failed = true;
            return;
        }
        all->items = larger;
        all->capacity = capacity;
    }
    label *added = &all->items[all->count];
    memcpy(added->entry, entry, sizeof added->entry);
    if (fer_copy_string(kernel, &added->kernel, NULL) == FER_OK)
        all->count++;
    else
        all->has_failed = true;
}

static int compare_labels(const void *a, const void *b)
{
    return memcmp(((const label *)a)->entry, ((const label *)b)->entry, FER_DIGEST_HEX - 1);
}

static fer_status read_labels(const fer_store *store, const fer_stored_list *list, labels *all,
                              fer_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        char *path = NULL;
        char *data = NULL;
        size_t size;
        if (strcmp(list->items[i].kind, "manifests") != 0)
            continue;
        FER_TRY(fer_store_path(store, list->items[i].kind, list->items[i].name, &path, error));
        if (fer_file_read(path, &data, &size, NULL) == FER_OK &&
            fer_store_is_whole(list->items[i].kind, list->items[i].name, data, size))
            (void)!fer_manifest_read(data + FER_STORE_SEAL_BYTES, size - FER_STORE_SEAL_BYTES,
                                     add_label, all);
        free(data);
        free(path);
    }
    if (all->has_failed)
        return fer_fail_memory(error);
    if (all->count > 0)
        qsort(all->items, all->count, sizeof *all->items, compare_labels);
    return FER_OK;
}

static void print_binary(const fer_stored *file, const labels *all)
{
    char used[32] = "";
    struct tm parts;
    if (localtime_r(&file->used.tv_sec, &parts) != NULL)
        strftime(used, sizeof used, "%Y-%m-%d %H:%M", &parts);
    label wanted;
    memcpy(wanted.entry, file->name, FER_DIGEST_HEX - 1);
    const label *found = all->count == 0 ? NULL
                                         : bsearch(&wanted, all->items, all->count,
                                                   sizeof *all->items, compare_labels);
    printf("%s\t%llu\t%.*s\t%s\t%s\n", used, (unsigned long long)file->size, FER_DIGEST_HEX - 1,
           file->name, file->is_held ? "in use" : "-", found != NULL ? found->kernel : "?");
}

static fer_status print_list(const fer_store *store, fer_error *error)
{
    fer_stored_list list;
    labels all = {0};
    FER_TRY(fer_stored_read(store, &list, error));
    fer_status status = read_labels(store, &list, &all, error);
    for (size_t i = list.count; status == FER_OK && i > 0; i--)
        if (fer_stored_is_binary(&list.items[i - 1]))
            print_binary(&list.items[i - 1], &all);
    for (size_t i = 0; i < all.count; i++)
        free(all.items[i].kernel);
    free(all.items);
    fer_stored_clear(&list);
    return status;
}

/* --- prune, clear and verify ------------------------------------------------------------------ */

static fer_status prune_to(const fer_store *store, uint64_t bound, fer_error *error)
{
    fer_pruning pruning;
    FER_TRY(fer_store_prune(store, bound, &pruning, error));
    printf("removed %zu files of %llu bytes; %zu of %llu bytes stay\n", pruning.num_removed,
           (unsigned long long)pruning.bytes_removed, pruning.num_kept,
           (unsigned long long)pruning.bytes_kept);
    return FER_OK;
}

static fer_status prune(const fer_store *store, fer_error *error)
{
    return prune_to(store, fer_store_bound(), error);
}

static fer_status clear(const fer_store *store, fer_error *error)
{
    return prune_to(store, 0, error);
}

static fer_status verify(const fer_store *store, fer_error *error)
{
    fer_stored_list list;
    FER_TRY(fer_stored_read(store, &list, error));
    fer_status status = FER_OK;
    size_t num_removed = 0;
    for (size_t i = 0; i < list.count && status == FER_OK; i++) {
        const fer_stored *file = &list.items[i];
        if (fer_stored_is_whole(store, file))
            continue;
        if (!fer_stored_remove(store, file)) {
            status = fer_fail(error, FER_IO_ERROR,
                              "%s/%s/%s: the file is damaged and cannot be removed: %s",
                              store->root, file->kind, file->name, strerror(errno));
            break;
        }
        num_removed++;
        printf("removed %s/%s/%s, which was damaged\n", store->root, file->kind, file->name);
    }
    if (status == FER_OK)
        printf("read %zu files, %zu were damaged\n", list.count, num_removed);
    fer_stored_clear(&list);
    return status;
}

/* --- Running ---------------------------------------------------------------------------------- */

typedef struct action {
    const char *name;
    fer_status (*perform)(const fer_store *store, fer_error *error);
} action;

static const action ACTIONS[] = {{"path", print_path}, {"list", print_list}, {"prune", prune},
                                 {"clear", clear},     {"verify", verify},   {"", print_summary}};

static int refuse_action(const char *name)
{
    const char *names[sizeof ACTIONS / sizeof *ACTIONS];
    size_t num_names = 0;
    for (; *ACTIONS[num_names].name != '\0'; num_names++)
        names[num_names] = ACTIONS[num_names].name;
    fer_hint hint;
    return fer_misuse(&fer_command_cache, "there is no action '%s'%s", name,
                      fer_did_you_mean(fer_near_name(name, names, num_names), &hint));
}

static int run(int argc, char **argv)
{
    const fer_subcommand *command = &fer_command_cache;
    int code = 0;
    if (!fer_has_no_options(command, argc, argv, &code))
        return code;
    if (optind + 1 < argc)
        return fer_misuse(command, "one action at a time; '%s' is too many", argv[optind + 1]);
    const char *name = optind == argc ? "" : argv[optind];
    const action *chosen = NULL;
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++)
        if (strcmp(ACTIONS[i].name, name) == 0)
            chosen = &ACTIONS[i];
    if (chosen == NULL || (optind < argc && *name == '\0'))
        return refuse_action(name);
    fer_error error = FER_ERROR_INIT;
    fer_store store;
    fer_status status = fer_store_open(&store, &error);
    if (status == FER_OK)
        status = chosen->perform(&store, &error);
    fer_store_close(&store);
    return fer_finish(status, &error);
}
