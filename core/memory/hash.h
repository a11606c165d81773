// XXH3 behind three names, so that only one file includes xxhash.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct hash128 {
    uint64_t low, high;
};
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);
struct hash128 hash_bytes_128(const void *bytes, size_t size, uint64_t seed);
uint64_t hash_string(const char *text);
uint64_t hash_mix(uint64_t a, uint64_t b);   // order-sensitive combination of two hashes

// The same for loops that are hot, with a value that need not be a hash: cheaper, and spread less well.
static inline uint64_t hash_step(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}
