// XXH3 is compiled in here (its speed on short keys comes from inlining), and nowhere else.
#define XXH_INLINE_ALL
#include "core/memory/hash.h"
#include <string.h>
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

struct hash128 hash_bytes_128(const void *bytes, size_t size, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, seed);
    return (struct hash128){hash.low64, hash.high64};
}

uint64_t hash_string(const char *text)
{
    return hash_bytes(text, strlen(text), 0);
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};
    return XXH3_64bits(pair, sizeof pair);
}
