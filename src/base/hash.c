#include "base/hash.h"

#include <stdio.h>
#include <string.h>

void fer_hasher_start(fer_hasher *hasher, size_t num_bytes)
{
    hasher->num_bytes = num_bytes;
    blake2b_init(&hasher->state, num_bytes);
}

void fer_hasher_field(fer_hasher *hasher, const void *data, size_t length)
{
    char prefix[24];
    int prefix_length = snprintf(prefix, sizeof prefix, "%zu:", length);
    blake2b_update(&hasher->state, (const uint8_t *)prefix, (size_t)prefix_length);
    blake2b_update(&hasher->state, data, length);
}

void fer_hasher_string(fer_hasher *hasher, const char *string)
{
    fer_hasher_field(hasher, string, strlen(string));
}

static void write_hex(const uint8_t *bytes, size_t num_bytes, char *out_hex)
{
    for (size_t i = 0; i < num_bytes; i++)
        snprintf(out_hex + 2 * i, 3, "%02x", bytes[i]);
}

void fer_hasher_finish_hex(fer_hasher *hasher, char *out_hex)
{
    uint8_t bytes[BLAKE2B_OUTBYTES];
    blake2b_final(&hasher->state, bytes, hasher->num_bytes);
    write_hex(bytes, hasher->num_bytes, out_hex);
}

fer_digest fer_hasher_finish(fer_hasher *hasher)
{
    fer_digest digest;
    blake2b_final(&hasher->state, digest.bytes, sizeof digest.bytes);
    return digest;
}

fer_digest fer_digest_of(const void *data, size_t length)
{
    fer_digest digest;
    blake2b(digest.bytes, data, NULL, sizeof digest.bytes, length, 0);
    return digest;
}

void fer_digest_hex(const fer_digest *digest, char out_hex[FER_DIGEST_HEX])
{
    write_hex(digest->bytes, sizeof digest->bytes, out_hex);
}
