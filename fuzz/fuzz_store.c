/* Files of the store with any bytes, as a disk or somebody else may leave them. The first byte says
 * which kind, and whether the rest is the whole file or what was written into it: the first is
 * noticed unless it is what would have been written, the second is read back. Listing, judging and
 * pruning live with all of them, and no more is removed than the store's own. */
#include "package/prune.h"

#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY "0123456789abcdef0123456789abcdef"

static const struct {
    const char *kind;
    const char *name;
} FILES[] = {
    {"manifests", KEY}, {"described", KEY "-3"}, {"compilers", KEY}, {"entries", KEY ".so"}};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static const fer_store *open_store(void)
{
    static fer_store store;
    const char *folder;
    if (store.root == NULL) {
        require(fer_private_folder(&folder, NULL) == FER_OK);
        require(fer_path_join(folder, "store", &store.root, NULL) == FER_OK);
        require(fer_folder_make(store.root, NULL) == FER_OK);
    }
    return &store;
}

/* Whole as to reading is whole as to judging; what is written next is found. */
static void check_file(const fer_store *store, const char *kind, const char *name, bool is_sealed,
                       const uint8_t *data, size_t size)
{
    char *found;
    size_t found_size;
    fer_stored file = {.kind = kind, .name = (char *)name};
    require(fer_store_read(store, kind, name, &found, &found_size, NULL) == FER_OK);
    if (is_sealed)
        require(found != NULL && found_size == size);
    if (found != NULL) {
        size_t skipped = is_sealed ? 0 : FER_STORE_SEAL_BYTES;
        require(found_size == size - skipped && memcmp(found, data + skipped, found_size) == 0);
        require(found[found_size] == '\0');
    }
    if (strcmp(kind, "entries") != 0)
        require(fer_stored_is_whole(store, &file) == (found != NULL));
    free(found);
}

static void check_pruning(const fer_store *store)
{
    fer_stored_list list;
    fer_pruning pruning;
    require(fer_stored_read(store, &list, NULL) == FER_OK);
    for (size_t i = 0; i < list.count; i++)
        (void)fer_stored_is_whole(store, &list.items[i]);
    require(list.count == 1);
    fer_stored_clear(&list);
    require(fer_store_prune(store, 0, &pruning, NULL) == FER_OK);
    require(pruning.num_removed == 1 && pruning.num_kept == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fer_store *store = open_store();
    if (size == 0)
        return 0;
    size_t file = data[0] % (sizeof FILES / sizeof *FILES);
    bool is_sealed = (data[0] & 0x80) != 0;
    const char *kind = FILES[file].kind;
    const char *name = FILES[file].name;
    data++;
    size--;
    require(is_sealed ? fer_store_write(store, kind, name, data, size)
                      : fer_store_write_plain(store, kind, name, data, size));
    check_file(store, kind, name, is_sealed, data, size);
    check_pruning(store);
    return 0;
}
