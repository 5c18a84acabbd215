/* The folder that outlives the process: small files by kind and key, each whole or absent. */
#ifndef FERRULE_PACKAGE_STORE_H
#define FERRULE_PACKAGE_STORE_H

#include "base/error.h"

typedef struct fer_store {
    char *root;
} fer_store;

/* $FERRULE_CACHE_DIR, else $XDG_CACHE_HOME/ferrule, else ~/.cache/ferrule. Where that cannot be
 * made, is no folder, belongs to somebody else or lets everybody write, a private temporary folder
 * that goes when the process ends. A folder that cannot be written still serves what it has. */
fer_status fer_store_open(fer_store *out_store, fer_error *error);
void fer_store_close(fer_store *store);

/* ROOT/KIND/KEY, for the caller to free. */
fer_status fer_store_path(const fer_store *store, const char *kind, const char *key,
                          char **out_path, fer_error *error);
/* Notes that a file of the store is used now; to the hour, so that use costs no write. */
void fer_store_touch(const char *path);
/* The content, for the caller to free, which is a use; false when it is not there or cannot be
 * read. */
bool fer_store_read(const fer_store *store, const char *kind, const char *key, char **out_data,
                    size_t *out_size);
/* Keeps the content if that is possible. False: it is not kept. */
bool fer_store_write(const fer_store *store, const char *kind, const char *key, const void *data,
                     size_t size);

/* The process's private folder, made at the first use. */
fer_status fer_private_folder(const char **out_path, fer_error *error);
/* A new empty folder to build in, for the caller to free and remove. */
fer_status fer_store_make_build_folder(const fer_store *store, char **out_path, fer_error *error);

#endif
