// Applications of operators at any sizes, defined once and evaluated once: substitutions are tested at thousands of
// sizes, and the same terms over the same variables come up again and again. One `calls` serves one thread.
//
//   call_type      a type with its split trees, interned
//   call_setting   an operator with its attribute values, interned
//   call           a setting with argument types: result types, or that it is ill-typed, and how to evaluate it
//   value          a number: of a variable at some type, or of an output of a call on values. Its contents are computed
//                  when they are asked for, once in each domain
//
// All of them stay good until calls_limit says that they are gone.
#ifndef GENERATOR_CALLS_H
#define GENERATOR_CALLS_H
#include "core/arena.h"
#include "core/table.h"
#include "generator/universe.h"

enum { MAX_CALL_VARIABLES = 32 };

struct call_type {
    struct type type;
    uint64_t hash;
    uint32_t number;
    size_t elements;
};
struct call_setting {
    const struct operator* op;
    const struct attribute_value *attributes;
    uint64_t hash;
    uint32_t number;
};
typedef uint32_t call_value;
#define NO_CALL_VALUE UINT32_MAX

struct call;
struct call_application;
struct call_tensor;
struct calls {
    uint64_t seed;   // of variables and functions
    size_t max_bytes;
    uint32_t epoch;   // how often all was forgotten
    struct arena kept, scratch;
    VEC(struct call_type *) types;
    VEC(struct call_setting *) settings;
    VEC(struct call *) calls;
    VEC(struct call_application) applications;
    VEC(struct call_tensor) values;
    VEC(call_value) of_variable[MAX_CALL_VARIABLES];   // by the type's number
    struct table by_type, by_setting, by_call, by_application;
    VEC(uint64_t) field_rows[MAX_CALL_VARIABLES];
    VEC(double) real_rows[MAX_CALL_VARIABLES];
};
void calls_init(struct calls *c, uint64_t seed, size_t max_bytes);   // max_bytes: for calls_limit
void calls_free(struct calls *c);
// Forgets all when it takes more memory than asked for, which the epoch tells.
void calls_limit(struct calls *c);
const struct call_type *calls_type(struct calls *c, const struct type *type);
const struct call_setting *calls_setting(struct calls *c, const struct operator* op,
                                         const struct attribute_value *attributes);
// The tensor of a variable at a type without split trees.
call_value calls_variable(struct calls *c, int variable, const struct type *type);
// The first output, the others follow it; NO_CALL_VALUE: ill-typed. `inputs` may hold NO_CALL_VALUE beyond the last.
// Arguments and results of more than a million elements are ill-typed here.
call_value calls_apply(struct calls *c, const struct call_setting *setting, int n_inputs, const call_value *inputs);
const struct call_type *calls_type_of(const struct calls *c, call_value value);
// The contents. Those of variables are good until the next one is asked for.
const uint64_t *calls_field(struct calls *c, call_value value);
const double *calls_reals(struct calls *c, call_value value);
#endif
