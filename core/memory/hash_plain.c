// Hashes without a library, for builds on machines that have none (meson's option only_gpu).
#include "core/memory/hash.h"
#include <string.h>

static uint64_t scramble(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t hash = scramble(seed ^ (uint64_t)size * 0x9e3779b97f4a7c15u);
    while (size > 0) {
        uint64_t word = 0;
        size_t n = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, n);
        hash = scramble(hash + 0x9e3779b97f4a7c15u + word) ^ word << 1;
        at += n;
        size -= n;
    }
    return scramble(hash);
}

struct hash128 hash_bytes_128(const void *bytes, size_t size, uint64_t seed)
{
    return (struct hash128){hash_bytes(bytes, size, seed), hash_bytes(bytes, size, ~seed)};
}

uint64_t hash_string(const char *text)
{
    return hash_bytes(text, strlen(text), 0);
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};
    return hash_bytes(pair, sizeof pair, 0);
}
