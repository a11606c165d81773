// Typed applications, remembered: which types an operator gives for which input types and attributes. The search for
// instances asks the same question many times. Types are numbered, so that a question is a short key.
#ifndef VERIFIER_TYPING_H
#define VERIFIER_TYPING_H
#include "core/arena.h"
#include "core/table.h"
#include "core/vec.h"
#include "operators/operator.h"

typedef uint32_t type_id;
#define NO_TYPE UINT32_MAX
#define MAX_TYPED_INPUTS 16

struct typed_call {
    const int64_t *key;   // operator, attributes, inputs
    uint32_t key_length;
    bool is_typed;
    uint32_t n_inputs, n_outputs;
    const type_id *inputs, *outputs;
    const struct attribute_value *attributes;
    const struct operator* op;
    struct definition *definition;   // NULL until typing_definition made it
    uint64_t structure;              // 0 until typing_structure found it
};
// The well-typed ones among the applications of an operator to every left tuple of types with every right type.
struct typed_pairs {
    const int64_t *key;
    uint32_t key_length, count;
    struct typed_pair {
        uint32_t left, right;   // which tuple, which type
        const struct typed_call *call;
    } * items;
};
struct typing {
    struct arena arena;
    struct arena rows;   // of the search that goes on; kept between searches, as is its memory
    VEC(const struct type *) types;
    VEC(const struct split_tree *) trees;
    VEC(struct typed_call *) calls;
    VEC(struct typed_pairs *) pairs;
    struct table by_type, by_tree, by_call, by_pairs;
    VEC(int64_t) key;
    struct definition scratch;
};

void typing_init(struct typing *t);
void typing_free(struct typing *t);
// Forgets everything when it has grown large. Type numbers, calls and definitions given before are void then.
void typing_trim(struct typing *t);
type_id typing_add(struct typing *t, const struct type *type);
const struct type *typing_type(const struct typing *t, type_id id);
// Never NULL; valid until typing_trim.
const struct typed_call *typing_apply(struct typing *t, const struct operator* op,
                                      const struct attribute_value *attributes, uint32_t n_inputs,
                                      const type_id *inputs);
// `lefts` has n_left tuples of n_inputs - 1 types, `rights` the last inputs. In ascending order; valid until typing_trim.
const struct typed_pairs *typing_apply_all(struct typing *t, const struct operator* op,
                                           const struct attribute_value *attributes, uint32_t n_inputs, uint32_t n_left,
                                           const type_id *lefts, uint32_t n_right, const type_id *rights);
// The meaning of a typed call, made on first use.
const struct definition *typing_definition(struct typing *t, const struct typed_call *call);
// A hash of its formulas without the sizes in them, never 0.
uint64_t typing_structure(struct typing *t, const struct typed_call *call);
#endif
