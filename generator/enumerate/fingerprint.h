// Fingerprints find equal graphs: that of a graph is a hash of its value on random integers.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "generator/enumerate/family_types.h"

// XXH3-128 over shape, split trees and contents.
struct hash128 fingerprint_of(const struct gen_type *type, const uint64_t *data, struct arena *scratch);
enum { FINGERPRINT_ROOM = 2 };
// The same; overwrites the FINGERPRINT_ROOM numbers in front of `data`.
struct hash128 fingerprint_in_place(const struct gen_type *type, uint64_t *data);
