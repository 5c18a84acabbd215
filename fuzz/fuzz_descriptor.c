/* Texts that the store keeps of compiles and of the preprocessor's word on a file, past their
 * digest: reading them as manifest or as marks gives an error or what is there. A manifest's record
 * that holds names a binary; marks that are written again are read alike. The first byte says
 * which. */
#include "package/manifest.h"

#include "base/path.h"
#include "package/scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY "0123456789abcdef0123456789abcdef"

static const char SOURCE[] = "#include <ferrule/kernel.h>\n"
                             "MAP(same, f32, IN(f32, x)) { return x; }\n";

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

static void count_record(void *context, const char *entry, const char *kernel)
{
    require(strlen(entry) == FER_DIGEST_HEX - 1 && kernel[0] != '\0');
    ++*(size_t *)context;
}

/* One that is whole has records; with any compiler one of them may hold. */
static void check_manifest(const char *text, size_t size)
{
    const fer_store *store = open_store();
    fer_package *package = NULL;
    char entry[FER_DIGEST_HEX] = "";
    bool is_found;
    size_t num_records = 0;
    bool is_whole = fer_manifest_read(text, size, count_record, &num_records);
    require(!is_whole || num_records > 0);
    require(fer_package_from_source(SOURCE, &package, NULL) == FER_OK);
    require(fer_store_write(store, "manifests", KEY, text, size));
    require(fer_manifest_find(store, KEY, NULL, package, entry, &is_found, NULL) == FER_OK);
    require(!is_found || (num_records > 0 && strlen(entry) == FER_DIGEST_HEX - 1));
    fer_package_release(package);
}

static void check_marks(const char *text)
{
    fer_scan scan;
    fer_scan again;
    fer_error error = FER_ERROR_INIT;
    fer_text marks = FER_TEXT_INIT;
    if (fer_scan_preprocessed(text, &scan, &error) == FER_OK) {
        fer_scan_print(&scan, &marks);
        require(fer_scan_preprocessed(fer_text_string(&marks), &again, NULL) == FER_OK);
        require(again.num_items == scan.num_items);
        for (size_t i = 0; i < scan.num_items; i++) {
            const fer_found *a = &scan.items[i];
            const fer_found *b = &again.items[i];
            require(a->kind == b->kind && strcmp(a->name, b->name) == 0 && a->line == b->line);
            require((a->text == NULL) == (b->text == NULL));
            require(a->text == NULL || strcmp(a->text, b->text) == 0);
        }
        fer_scan_clear(&scan);
        fer_scan_clear(&again);
        fer_text_free(&marks);
    } else {
        require(error.message != NULL);
    }
    fer_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 2 == 0)
        check_manifest(text, size - 1);
    else
        check_marks(text);
    free(text);
    return 0;
}
