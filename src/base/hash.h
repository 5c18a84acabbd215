/* Digests for what outlives the process (BLAKE2b, from libb2). In-memory keys use xxHash directly.
 */
#ifndef FERRULE_BASE_HASH_H
#define FERRULE_BASE_HASH_H

#include <blake2.h>
#include <stddef.h>
#include <stdint.h>

#define FER_DIGEST_BYTES 16                       /* of content keys */
#define FER_DIGEST_HEX (2 * FER_DIGEST_BYTES + 1) /* as text, with the terminator */

typedef struct fer_digest {
    uint8_t bytes[FER_DIGEST_BYTES];
} fer_digest;

/* A running digest over fields, each written `length:field`, so that no two lists of fields give
 * the same bytes. */
typedef struct fer_hasher {
    blake2b_state state;
    size_t num_bytes;
} fer_hasher;

/* `num_bytes` of digest, 8 for tokens, FER_DIGEST_BYTES for content keys. */
void fer_hasher_start(fer_hasher *hasher, size_t num_bytes);
void fer_hasher_field(fer_hasher *hasher, const void *data, size_t length);
void fer_hasher_string(fer_hasher *hasher, const char *string);
/* Writes 2 * num_bytes hex digits and a terminator. */
void fer_hasher_finish_hex(fer_hasher *hasher, char *out_hex);
fer_digest fer_hasher_finish(fer_hasher *hasher); /* for FER_DIGEST_BYTES only */

/* The digest of bytes as they are, without a length before them. */
fer_digest fer_digest_of(const void *data, size_t length);
void fer_digest_hex(const fer_digest *digest, char out_hex[FER_DIGEST_HEX]);

#endif
