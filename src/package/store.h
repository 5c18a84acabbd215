/* The folder that outlives the process: small files by kind and key, each whole or absent. */
#ifndef FERRULE_PACKAGE_STORE_H
#define FERRULE_PACKAGE_STORE_H

#include "base/error.h"
#include "base/hash.h"

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
/* Whether the folder of that kind is there and nobody else can write to it. */
bool fer_store_owns(const fer_store *store, const char *kind);
/* Notes that a file of the store is used now; to the hour, so that use costs no write. */
void fer_store_touch(const char *path);
/* Files carry a digest of their kind, key and content, so that one that was altered or that lies in
 * another one's place is as good as none. */

/* The content, for the caller to free, which is a use; NULL when it is not there, cannot be read or
 * is not what was written. MEMORY. */
fer_status fer_store_read(const fer_store *store, const char *kind, const char *key,
                          char **out_data, size_t *out_size, fer_error *error);
/* Keeps the content if that is possible. False: it is not kept. */
bool fer_store_write(const fer_store *store, const char *kind, const char *key, const void *data,
                     size_t size);
/* The same without the digest, for what is called by its own. */
bool fer_store_write_plain(const fer_store *store, const char *kind, const char *name,
                           const void *data, size_t size);
/* Whether the bytes of a file are what was written; the content is what follows the first
 * FER_STORE_SEAL_BYTES. */
#define FER_STORE_SEAL_BYTES FER_DIGEST_HEX
bool fer_store_is_whole(const char *kind, const char *key, const char *data, size_t size);

/* The process's private folder, made at the first use. */
fer_status fer_private_folder(const char **out_path, fer_error *error);
/* A new empty folder to build in, for the caller to free and remove: in the store, or where that
 * cannot be written or is nearly full, among the temporary ones. */
fer_status fer_store_make_build_folder(const fer_store *store, char **out_path, fer_error *error);
fer_status fer_make_temporary_folder(char **out_path, fer_error *error);

#endif
