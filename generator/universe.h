// The types and applications of one family, each defined once: what evaluation in bulk needs.
//
//   gen_type     a type with its split trees, interned: equal types are one pointer
//   signature    (instance, argument types) with the result types and the definition, or the fact that it is ill-typed
//
// A universe may be read and extended by many threads; each asks through a `lookup` of its own, which remembers what it
// saw, so that the lock is taken once per signature and thread. Numbers of types are not the same in every run: no
// result may depend on them.
#ifndef GENERATOR_UNIVERSE_H
#define GENERATOR_UNIVERSE_H
#include "core/arena.h"
#include "core/hash.h"
#include "core/table.h"
#include "generator/space.h"

enum { MAX_NODE_OUTPUTS = 2 };

struct gen_type {
    struct type type;
    uint32_t number;
    size_t elements;
    struct hash128 hash;            // of shape and split trees
    const struct gen_type *plain;   // with SPLIT_ANY taken for no split: values are compared so
};
struct signature {
    uint64_t key;
    bool is_typed;
    int n_inputs, n_outputs;
    const struct gen_type *outputs[MAX_NODE_OUTPUTS];
    struct type inputs[2];
    struct definition definition;
    const struct evaluation_plan *plan;
};
struct universe {
    const struct family *family;
    uint64_t seed;
    struct arena arena;
    VEC(struct gen_type *) types;
    VEC(struct signature *) signatures;
    struct table by_type, by_signature;
    uint64_t *random;   // RANDOM_ROWS rows of RANDOM_ROW field elements
    struct constant {
        const struct gen_type *type;   // NULL: an input, or ill-typed
        const uint64_t *data;
    } constants[MAX_LEAVES];
};
struct lookup {
    struct universe *universe;
    struct table cache;
    VEC(const struct signature *) seen;
    struct arena scratch;
};
enum { RANDOM_ROWS = 2 * MAX_LEAVES, RANDOM_ROW = 8192 };

// False: a constant is ill-typed; `ret_reason` (of 200 bytes) says why.
bool universe_init(struct universe *u, const struct family *family, uint64_t seed, char *ret_reason);
void universe_free(struct universe *u);
const struct gen_type *universe_type(struct universe *u, const struct type *type);   // takes the lock
// The values of variable `row`: RANDOM_ROW of them, NULL where the universe has no such row.
const uint64_t *universe_random(const struct universe *u, int row);

void lookup_init(struct lookup *l, struct universe *u);
void lookup_free(struct lookup *l);
// Never NULL. `b` is NULL for one argument. Argument patterns on shapes are part of being well-typed.
const struct signature *lookup_signature(struct lookup *l, int instance, const struct gen_type *a,
                                         const struct gen_type *b);
// Evaluates into arrays of the output types' elements.
void lookup_evaluate(struct lookup *l, const struct signature *s, const uint64_t *a, const uint64_t *b,
                     uint64_t *const *outputs);
// Equal shapes and split trees, SPLIT_ANY taken for no split: that of a constant is no property of its value.
bool types_agree(const struct type *a, const struct type *b);
// XXH3-128 over shape, split trees and contents.
struct hash128 fingerprint_of(const struct gen_type *type, const uint64_t *data, struct arena *scratch);
#endif
