#include "base/text.h"
#include "package/compile.h"
#include "package/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The preprocessor's word on each file is kept under the digest of all files of the package, in the
 * form of the marks that it prints, so that one reader serves both. */
#define KIND "described"

static void hash_files(fer_hasher *hasher, const fer_sources *files)
{
    for (size_t i = 0; i < files->count; i++) {
        fer_hasher_string(hasher, files->items[i].name);
        fer_hasher_field(hasher, &files->items[i].digest, sizeof(fer_digest));
    }
}

static void key_of(const fer_package *package, const fer_compiler *compiler,
                   char out_key[FER_DIGEST_HEX])
{
    fer_hasher hasher;
    fer_hasher_start(&hasher, FER_DIGEST_BYTES);
    fer_hasher_string(&hasher, fer_embedded_digest());
    fer_hasher_string(&hasher, compiler->identity);
    fer_flags_hash(&package->flags, &hasher);
    hash_files(&hasher, &package->files);
    for (const fer_outside *part = atomic_load(&package->outside); part != NULL; part = part->older)
        hash_files(&hasher, &part->files);
    fer_hasher_finish_hex(&hasher, out_key);
}

static bool is_judged_by_preprocessor(const fer_found *found)
{
    return found->kind == FER_FOUND_KERNEL || found->kind == FER_FOUND_SHAPE ||
           found->kind == FER_FOUND_SIGNATURE;
}

/* What the text showed of a line that the preprocessor found at the same place is the line's. */
static void keep_written(fer_scan *text, fer_found *found)
{
    for (size_t i = 0; i < text->num_items; i++) {
        fer_found *item = &text->items[i];
        if (item->num_written == 0 || item->kind != found->kind || item->line != found->line ||
            strcmp(item->name, found->name) != 0)
            continue;
        found->entry = item->entry;
        found->written = item->written;
        found->num_written = item->num_written;
        item->written = NULL;
        item->num_written = 0;
    }
}

/* Puts what the preprocessor found in place of what the text showed; the rest stays. */
static fer_status replace(fer_source *file, fer_scan *found, fer_error *error)
{
    fer_scan merged = {.hides_dtype_vars = file->scan.hides_dtype_vars};
    size_t capacity = file->scan.num_items + found->num_items + 1;
    merged.items = calloc(capacity, sizeof *merged.items);
    if (merged.items == NULL)
        return fer_fail_memory(error);
    merged.capacity = capacity;
    for (size_t i = 0; i < file->scan.num_items; i++) {
        fer_found *item = &file->scan.items[i];
        if (is_judged_by_preprocessor(item))
            continue;
        merged.items[merged.num_items++] = *item;
        *item = (fer_found){0};
    }
    file->has_kernel = false;
    for (size_t i = 0; i < found->num_items; i++) {
        file->has_kernel |= found->items[i].kind == FER_FOUND_KERNEL;
        keep_written(&file->scan, &found->items[i]);
        merged.items[merged.num_items++] = found->items[i];
        found->items[i] = (fer_found){0};
    }
    fer_scan_clear(&file->scan);
    file->scan = merged;
    return FER_OK;
}

static fer_status take_marks(fer_source *file, const char *marks, fer_error *error)
{
    fer_scan found;
    FER_TRY(fer_scan_preprocessed(marks, &found, error));
    fer_status status = replace(file, &found, error);
    fer_scan_clear(&found);
    return status;
}

static fer_status preprocess(const fer_store *store, const fer_compiler *compiler,
                             const fer_package *package, const fer_source *file, const char *key,
                             char **out_marks, fer_error *error)
{
    char *text = NULL;
    fer_scan found;
    fer_text marks = FER_TEXT_INIT;
    FER_TRY(fer_preprocess(store, compiler, package, file->name, &text, error));
    fer_status status = fer_scan_preprocessed(text, &found, error);
    free(text);
    FER_TRY(status);
    fer_scan_print(&found, &marks);
    fer_scan_clear(&found);
    FER_TRY(fer_text_take(&marks, out_marks, error));
    fer_store_write(store, KIND, key, *out_marks, strlen(*out_marks));
    return FER_OK;
}

/* One process at a time; the others then find what it kept. */
static fer_status preprocess_in_turn(const fer_store *store, const fer_compiler *compiler,
                                     const fer_package *package, const fer_source *file,
                                     const char *key, char **out_marks, fer_error *error)
{
    size_t size;
    fer_turn turn;
    bool has_turn;
    FER_TRY(fer_turn_wait(store, key, FER_TURN_SECONDS, &turn, &has_turn, error));
    fer_status status = fer_store_read(store, KIND, key, out_marks, &size, error);
    if (status == FER_OK && *out_marks == NULL)
        status = preprocess(store, compiler, package, file, key, out_marks, error);
    if (has_turn)
        fer_turn_end(&turn);
    return status;
}

static fer_status describe_file(const fer_store *store, const fer_compiler *compiler,
                                const fer_package *package, fer_source *file, const char *key,
                                fer_error *error)
{
    char *marks = NULL;
    size_t size;
    FER_TRY(fer_store_read(store, KIND, key, &marks, &size, error));
    if (marks == NULL)
        FER_TRY(preprocess_in_turn(store, compiler, package, file, key, &marks, error));
    fer_status status = take_marks(file, marks, error);
    free(marks);
    return status;
}

fer_status fer_package_describe(fer_package *package, fer_error *error)
{
    fer_store store;
    fer_compiler compiler = {0};
    FER_TRY(fer_store_open(&store, error));
    fer_status status = fer_compiler_find(&store, &compiler, error);
    char key[FER_DIGEST_HEX];
    if (status == FER_OK)
        key_of(package, &compiler, key);
    for (size_t i = 0; status == FER_OK && i < package->files.count; i++) {
        if (!fer_is_c_file(package->files.items[i].name))
            continue;
        char name[FER_DIGEST_HEX + 24];
        snprintf(name, sizeof name, "%s-%zu", key, i);
        status = describe_file(&store, &compiler, package, &package->files.items[i], name, error);
    }
    fer_compiler_clear(&compiler);
    fer_store_close(&store);
    return status;
}
