// The key of a term: a short byte string that says what it computes, equal for equal terms. Keys order terms in the
// same way in every run, and are what shards and checkpoints exchange.
//     leaf          its number
//     application   64 + output, number of the instance, then the keys of the arguments (ascending when commutative)
// Under a renaming of the inputs a leaf stands as what it is renamed to. A term is *canonical* when no renaming has a
// smaller key: among all renamings of a graph exactly that one is taken for the source of a substitution.
#ifndef GENERATOR_KEY_H
#define GENERATOR_KEY_H
#include "generator/store.h"

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
    uint16_t instance;
    uint8_t output;
};
// A renaming maps leaf i to order[i], of equal type. Calls `visit` with each renaming of the leaves in `used` (the
// others stay, and may be mapped to as well); the identity is the first. Stops when it returns false.
typedef bool renaming_fn(void *context, const uint8_t order[MAX_LEAVES]);
void renamings_visit(const struct family *family, uint32_t used, renaming_fn *visit, void *context);
// `order` may be NULL: no renaming.
void key_of_member(const struct store *s, const struct member *m, const uint8_t *order, struct key *ret_key);
int key_compare(const struct key *a, const struct key *b);
bool member_is_canonical(const struct store *s, const struct member *m);
uint32_t member_leaves(const struct store *s, const struct member *m);
#endif
