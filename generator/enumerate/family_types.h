// The types and applications of one family, each defined once: what evaluation in bulk needs.
//
//   gen_type     a type with its split trees, interned: equal types are one pointer
//   signature    (instance, argument types) with the result types, or the fact that it is ill-typed
//   meaning      a definition and how to evaluate it: signatures that differ in split trees mostly share one
//
// They may be read and extended by many threads; each asks through a `lookup` of its own, which remembers what it
// saw, so that the lock is taken once per signature and thread. Numbers of types are not the same in every run: no
// result may depend on them.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/table.h"
#include "generator/enumerate/space.h"

enum { MAX_NODE_OUTPUTS = 2 };

struct gen_type {
    struct type type;
    uint32_t number;
    size_t elements;
    struct hash128 hash;            // of shape and split trees
    const struct gen_type *plain;   // with SPLIT_ANY taken for no split: values are compared so
};
struct signature {
    bool is_typed;
    int n_outputs;
    const struct gen_type *outputs[MAX_NODE_OUTPUTS];
    const struct meaning *meaning;
};
struct meaning {
    struct type inputs[2];
    struct definition definition;
    const struct tape *tape;   // NULL: too large, there is a plan
    const struct evaluation_plan *plan;
};
struct family_types {
    const struct family *family;
    uint64_t seed;
    int threads;   // that work on the family
    struct arena arena, draft_arena;
    struct meaning draft;   // of the signature that is being made
    VEC(struct gen_type *) types;
    VEC(struct signature *) signatures;
    VEC(struct meaning *) meanings;
    struct table by_type, by_signature, by_meaning;
    const uint64_t *random;   // of family_types_draw
    struct constant {
        const struct gen_type *type;   // NULL: an input, or ill-typed
        const uint64_t *data;
    } constants[MAX_LEAVES];
};
// The well-typed applications to arguments of two types, or of one.
struct typed_application {
    uint32_t instance, first_output;   // among the outputs of all
    const struct signature *signature;
};
struct applications {
    const struct typed_application *items;
    uint32_t count, n_outputs;
};
// The kind of an application decides, beside the types, which operators may be applied.
enum application_kind { SECOND_ORDER = 1, FIRST_IS_NODE = 2, SECOND_IS_NODE = 4, APPLICATION_KINDS = 8 };
struct lookup {
    struct family_types *family_types;
    struct table cache, by_types;
    VEC(const struct signature *) seen;
    VEC(const struct applications *) applications;
    struct arena kept, scratch;
};
enum { RANDOM_ROWS = MAX_LEAVES, RANDOM_ROW = 8192 };

// The values of variables, RANDOM_ROWS rows of RANDOM_ROW field elements, which all families of a seed have in common.
const uint64_t *family_types_draw(struct arena *a, uint64_t seed);
// `random`: drawn of the same seed; kept. False: a constant is ill-typed; `ret_reason` (of 200 bytes) says why.
bool family_types_init(struct family_types *u, const struct family *family, uint64_t seed, int threads,
                       const uint64_t *random, char *ret_reason);
void family_types_free(struct family_types *u);
const struct gen_type *family_types_type(struct family_types *u, const struct type *type);   // takes the lock
// The values of variable `row`: RANDOM_ROW of them, NULL where there is no such row.
const uint64_t *family_types_random(const struct family_types *u, int row);

void lookup_init(struct lookup *l, struct family_types *u);
void lookup_free(struct lookup *l);
// Never NULL. `b` is NULL for one argument. Argument patterns on shapes are part of being well-typed.
const struct signature *lookup_signature(struct lookup *l, int instance, const struct gen_type *a,
                                         const struct gen_type *b);
// SECOND_ORDER leaves commutative operators out; nodes are no arguments where leaves are wanted.
const struct applications *lookup_applications(struct lookup *l, const struct gen_type *a, const struct gen_type *b,
                                               int kind);
// Evaluates all of them into arrays of the output types' elements.
void lookup_evaluate_all(struct lookup *l, const struct applications *all, const uint64_t *a, const uint64_t *b,
                         uint64_t *const *outputs);
// Evaluates into arrays of the output types' elements.
void lookup_evaluate(struct lookup *l, const struct signature *s, const uint64_t *a, const uint64_t *b,
                     uint64_t *const *outputs);
// Equal shapes and split trees, SPLIT_ANY taken for no split: that of a constant is no property of its value.
bool types_agree(const struct type *a, const struct type *b);
