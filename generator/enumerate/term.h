// Terms as keys: what stands where in one, renaming, counting.
#pragma once
#include "generator/enumerate/key.h"

// Hashes of terms, from those of their arguments. Nodes are equal where they differ in the output that is read alone.
static inline uint64_t term_hash_mix(uint64_t hash)
{
    hash *= UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}
static inline uint64_t term_hash_of_leaf(int leaf)
{
    return term_hash_mix((uint64_t)leaf + 1);
}
static inline uint64_t term_hash_of_node(const struct family *f, int instance, uint64_t first, uint64_t second)
{
    uint64_t head = (uint64_t)(instance + 1) * UINT64_C(0xd6e8feb86659fd93);
    return term_hash_mix(head + first + (f->instances[instance].is_commutative ? second : second * 3));
}
static inline uint64_t term_hash_of_output(uint64_t node, int output)
{
    return node + (uint64_t)output * UINT64_C(0x9e3779b97f4a7c15);
}

enum { MAX_TERM_NODES = KEY_LENGTH / 2 };
// A term, and by where they start the terms within it.
struct measured {
    const struct key *key;
    uint8_t lengths[KEY_LENGTH];
    uint8_t numbers[KEY_LENGTH];   // equal for equal terms only
    uint64_t hashes[KEY_LENGTH];
    uint32_t nodes[KEY_LENGTH];   // the different nodes in it, as a set
    uint64_t bits[KEY_LENGTH];    // of these nodes, as a set of term_bit
    uint64_t node_hashes[MAX_TERM_NODES];
    uint8_t subterms[KEY_LENGTH];   // where different applications start, the whole first
    int n_subterms;
};
static inline uint64_t term_bit(uint64_t node_hash)   // some nodes share one
{
    return UINT64_C(1) << (node_hash >> 58);
}
static inline int term_node_at(const struct measured *m, int at)   // the number of an application's node
{
    return (m->numbers[at] - KEY_NODE) / MAX_NODE_OUTPUTS;
}
void term_measure(const struct family *family, const struct key *key, struct measured *ret_measured);
// Gives the length of the term that starts at `at`, and those of all within.
int term_measure_lengths(const struct family *family, const uint8_t *bytes, int at, uint8_t *ret_lengths);
uint64_t term_hash(const struct family *family, const struct key *key);
static inline bool term_is_equal(const struct measured *m, int a, int b)   // of two that start at a and b
{
    return m->numbers[a] == m->numbers[b];
}
// Arguments of a commutative operator stand in ascending order: swaps them when they do not.
void term_sort_arguments(uint8_t *bytes, int first_length, int second_length);

bool key_pair(const struct key *a, const struct key *b, struct key *ret_pair);   // false: too long
int key_count_nodes(const struct family *family, const struct key *key);         // different applications in the term
int key_count_products(const struct family *family, const struct key *key);   // those of them that are sums of products
bool key_has_more_nodes(const struct family *family, const struct key *key, int n_nodes);
// The term with the inputs renamed: leaf i becomes order[i].
void key_rename(const struct family *family, struct key *key, const uint8_t *order);
uint32_t key_inputs(const struct family *family, const struct key *key);   // set of the inputs in the term
// No renaming of it is smaller.
bool key_is_canonical(const struct family *family, const struct key *key);
// The smallest of all renamings of the terms together, n at most 8.
void keys_make_canonical(const struct family *family, struct key *keys, int n);
