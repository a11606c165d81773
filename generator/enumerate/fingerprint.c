// A value's type is hashed once, when it is interned; its hash stands in front of the contents, and both are hashed.
#include "generator/enumerate/fingerprint.h"

#include <assert.h>
#include <string.h>

struct hash128 fingerprint_in_place(const struct gen_type *type, uint64_t *data)
{
    static_assert(sizeof type->hash == FINGERPRINT_ROOM * sizeof *data, "the type's hash fits in front");
    memcpy(data - FINGERPRINT_ROOM, &type->hash, sizeof type->hash);
    return hash_bytes_128(data - FINGERPRINT_ROOM, (FINGERPRINT_ROOM + type->elements) * sizeof *data, 0);
}

struct hash128 fingerprint_of(const struct gen_type *type, const uint64_t *data, struct arena *scratch)
{
    ARENA_MARK(mark, scratch);
    uint64_t *buffer = arena_alloc(scratch, (FINGERPRINT_ROOM + type->elements) * sizeof *data, _Alignof(uint64_t));
    memcpy(buffer + FINGERPRINT_ROOM, data, type->elements * sizeof *data);
    struct hash128 hash = fingerprint_in_place(type, buffer + FINGERPRINT_ROOM);
    return hash;
}
