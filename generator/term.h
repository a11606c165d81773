// Terms as keys: what stands where in one, renaming, counting.
#ifndef GENERATOR_TERM_H
#define GENERATOR_TERM_H
#include "generator/key.h"

// A term with what is asked of it again and again.
struct measured {
    const struct key *key;
    uint8_t lengths[KEY_LENGTH];    // of the terms within it, by where they start
    uint8_t subterms[KEY_LENGTH];   // where its different applications start, the whole first
    int n_subterms;
};
void term_measure(const struct family *family, const struct key *key, struct measured *ret_measured);
// Gives the length of the term that starts at `at`, and those of all within.
int term_measure_lengths(const struct family *family, const uint8_t *bytes, int at, uint8_t *ret_lengths);
bool term_is_equal(const struct measured *m, int a, int b);   // of two that start at a and b
// Arguments of a commutative operator stand in ascending order: swaps them when they do not.
void term_sort_arguments(uint8_t *bytes, int first_length, int second_length);

bool key_pair(const struct key *a, const struct key *b, struct key *ret_pair);   // false: too long
int key_count_nodes(const struct family *family, const struct key *key);         // different applications in the term
bool key_has_more_nodes(const struct family *family, const struct key *key, int n_nodes);
// The term with the inputs renamed: leaf i becomes order[i].
void key_rename(const struct family *family, struct key *key, const uint8_t *order);
uint32_t key_inputs(const struct family *family, const struct key *key);   // set of the inputs in the term
// No renaming of it is smaller.
bool key_is_canonical(const struct family *family, const struct key *key);
// The smallest of all renamings of the terms together, n at most 8.
void keys_make_canonical(const struct family *family, struct key *keys, int n);
#endif
