// What earlier runs have validated, by its text: a file in the user's cache folder. A result counts only for the very
// program that found it, since operators are part of it; without a cache folder nothing is known.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "core/memory/vec.h"

struct property;

struct known_results {
    uint64_t program;   // hash of the program itself
    struct arena arena;
    VEC(const char *) texts;
    struct table by_text;
};
void known_load(struct known_results *k);
bool known_has(const struct known_results *k, const struct property *p);
void known_add(struct known_results *k, const struct property *p);
void known_save(const struct known_results *k);   // failures are ignored: the next run validates again
void known_free(struct known_results *k);
