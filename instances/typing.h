// Typed applications, remembered: which types an operator gives for which input types and attributes. The search for
// instances asks the same question many times. Types are numbered, and so are operators with their attributes (heads),
// so that a question is a few numbers. Most answers are no: those take no more room than the question.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "core/memory/table.h"
#include "operators/operator.h"

typedef uint32_t type_id;
#define NO_TYPE UINT32_MAX
#define MAX_TYPED_INPUTS 16

typedef uint32_t head_id;
#define NO_HEAD UINT32_MAX

struct typed_call {
    bool is_typed;   // false: nothing else is known
    uint32_t n_inputs, n_outputs;
    const type_id *inputs, *outputs;
    const struct attribute_value *attributes;
    const struct operator* op;
    struct definition *definition;        // NULL until typing_definition made it
    const struct evaluation_plan *plan;   // NULL until typing_plan made it
};

struct typed_head {
    bool has_agreement;   // operator_agreement may be asked, and tells inputs apart
    const struct operator* op;
    const struct attribute_value *attributes;
};
struct typing {
    struct arena arena;
    struct arena temporary;   // of the definition being typed
    VEC(const struct type *) types;
    struct key_set head_keys;
    VEC(struct typed_head) heads;   // by the key's number
    struct table by_type;
    struct key_set questions;                 // a head and the types of inputs
    VEC(const struct typed_call *) answers;   // by the question's number
    VEC(int64_t) key;
    struct definition scratch;   // of what is being typed
    struct definition meaning;   // of what is about to be kept
};

void typing_init(struct typing *t);
void typing_free(struct typing *t);
// Forgets everything, and keeps the memory. Type numbers, calls and definitions given before are void then.
void typing_forget(struct typing *t);
void typing_trim(struct typing *t);   // where it has grown large
type_id typing_add(struct typing *t, const struct type *type);
const struct type *typing_type(const struct typing *t, type_id id);
// The number of an operator with attributes; valid until typing_trim.
head_id typing_head(struct typing *t, const struct operator* op, const struct attribute_value *attributes);
const struct attribute_value *typing_attributes(const struct typing *t, head_id head);
// Inputs of a typed application have one agreement where the head has any: most combinations are refused by it.
bool typing_has_agreement(const struct typing *t, head_id head);
uint32_t typing_agreement(const struct typing *t, head_id head, uint32_t input, type_id type);
// Never NULL; valid until typing_trim.
const struct typed_call *typing_apply(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs);
// The meaning of a typed call, made on first use.
const struct definition *typing_definition(struct typing *t, const struct typed_call *call);
// The definition, prepared for evaluation: most calls are evaluated at several numbers.
const struct evaluation_plan *typing_plan(struct typing *t, const struct typed_call *call);
