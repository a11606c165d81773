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

struct typed_call {
    const int64_t *key;   // operator, attributes, inputs
    uint32_t key_length;
    bool is_typed;
    uint32_t n_inputs, n_outputs;
    const type_id *inputs, *outputs;
    const struct attribute_value *attributes;
    const struct operator* op;
    struct definition *definition;   // NULL until typing_definition made it
};
struct typing {
    struct arena arena;
    VEC(const struct type *) types;
    VEC(const struct split_tree *) trees;
    VEC(struct typed_call *) calls;
    struct table by_type, by_tree, by_call;
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
// The meaning of a typed call, made on first use.
const struct definition *typing_definition(struct typing *t, const struct typed_call *call);
#endif
