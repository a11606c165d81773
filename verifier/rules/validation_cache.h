// What earlier runs have validated, by content: a text file in the user's cache folder. A result counts only for the
// very program that found it, since operators are part of it; without a cache folder nothing is known.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"

struct known_results {
    uint64_t program;   // hash of the program itself
    VEC(uint64_t) contents;
    struct table by_content;
};
void known_load(struct known_results *k);
bool known_has(const struct known_results *k, uint64_t content);
void known_add(struct known_results *k, uint64_t content);
void known_save(const struct known_results *k);   // failures are ignored: the next run validates again
void known_free(struct known_results *k);
