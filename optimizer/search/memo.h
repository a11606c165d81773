// Results computed before, by the list of words that describes it: hashed, and compared. Words are kept as few bytes,
// most as one, which end where they end: equal lists of words are equal bytes.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "graph/graph.h"

struct encoding {
    VEC(uint8_t) bytes;
    size_t n_words;
};
// A beginning of an encoding, or all of it.
struct key_words {
    const uint8_t *bytes;
    size_t n_bytes, n_words;
};
void encoding_add(struct encoding *s, int64_t word);
void encoding_add_type(struct encoding *s, const struct type *t);
void encoding_add_attributes(struct encoding *s, const struct node *n);
void encoding_clear(struct encoding *s);
void encoding_free(struct encoding *s);
struct key_words encoding_key(const struct encoding *s);   // all of it, until something is added

struct memo {
    size_t max_words, n_words;   // all is forgotten when there would be more
    struct arena arena;          // of their bytes
    struct key_set keys;
    VEC(double) values;   // by the key's number
};
void memo_init(struct memo *m, size_t max_words);
void memo_free(struct memo *m);   // it may be filled anew
bool memo_find(const struct memo *m, struct key_words key, double *ret_value);
void memo_set(struct memo *m, struct key_words key, double value);   // also where there is one
