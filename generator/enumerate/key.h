// The key of a term: a short byte string that says what it computes, equal for equal terms. Keys order terms in the
// same way in every run, and are what shards and checkpoints exchange.
//     leaf          its number
//     application   64 + output, number of the instance, then the keys of the arguments (ascending when commutative)
// A subterm that stands in a term twice is written twice: a term of five operators may be too long for a key.
// Under a renaming of the inputs a leaf stands as what it is renamed to. A term is *canonical* when no renaming has a
// smaller key: among all renamings of a graph exactly that one is taken for the source of a substitution.
#pragma once
#include "generator/enumerate/enumerate_tensors.h"

enum { KEY_LENGTH = 63, KEY_NODE = 64 };

struct key {
    uint8_t length;
    uint8_t bytes[KEY_LENGTH];
};
// A term: an application to stored tensors, or (instance == MEMBER_LEAF) the leaf arguments[0].
enum { MEMBER_LEAF = 0xffff };
struct member {
    struct hash128 fingerprint;
    uint32_t arguments[2];
    uint32_t support;   // the inputs that its value depends on, or more
    uint16_t instance;
    uint8_t output;
    uint8_t level : 4;               // operators
    uint8_t is_detour : 1;           // something that it is made of has its value
    uint8_t has_exact_support : 1;   // nothing more
};
// A renaming maps leaf i to order[i], of equal type. Calls `visit` with each renaming of the leaves in `used` (the
// others stay, and may be mapped to as well); the identity is the first. Stops when it returns false.
typedef bool renaming_fn(void *context, const uint8_t order[MAX_LEAVES]);
void renamings_visit(const struct family *family, uint32_t used, renaming_fn *visit, void *context);
bool key_of_member(const struct tensor_store *s, const struct member *m, struct key *ret_key);   // false: too long
void key_append(struct key *key, const struct key *part);
int key_compare(const struct key *a, const struct key *b);
int keys_compare(const struct key *a, const struct key *b, int n);   // of the first that differ
uint64_t key_hash(const struct key *key);
