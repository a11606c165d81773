// Applications of operators at any sizes, defined once and evaluated once: substitutions are tested at thousands of
// sizes, and the same terms over the same variables come up again and again. One `calls` serves one thread.
//
//   call_type      a type with its split trees, interned
//   call_setting   an operator with its attribute values, interned
//   call           a setting with argument types: result types, or that it is ill-typed
//   method         how to evaluate calls of equal meaning
//   value          a number: of a variable at some type, or of an output of a call on values. Its contents are computed
//                  when they are asked for, once in each domain
//
// Types and settings stay good. Values do until evaluation_cache_limit is asked the next time, calls until it says that
// they are gone: what is known of a call (types, a tape) takes little and lasts, what evaluates it a few times takes
// more.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "generator/enumerate/family_types.h"

// Every variable has values of several draws: those of draw k are variable `v + k * CALL_VARIABLES`. Reals are between
// -1 and 1 in the first draw, and between -2 and 2, -4 and 4, -8 and 8, where thresholds are, in the next; then from -1
// again.
enum { CALL_VARIABLES = 24, CALL_DRAWS = 16, MAX_CALL_VARIABLES = CALL_VARIABLES * CALL_DRAWS };

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
#define NO_CALL_VALUE UINT32_MAX   // where there is no such argument

struct call;
struct method;
struct call_application;
struct call_tensor;
enum call_domain { CALL_FIELD, CALL_REAL, CALL_DOMAINS };   // field elements, and doubles
union call_number {
    uint64_t field;
    double real;
};
struct evaluation_cache {
    uint64_t seed;   // of variables and functions
    size_t max_bytes;
    struct arena lasting, of_calls, kept, scratch;
    struct definition draft;
    VEC(struct call_type *) types;
    VEC(struct call_setting *) settings;
    VEC(struct call *) calls;
    VEC(struct method *) methods;
    VEC(struct call_application) applications;
    VEC(struct call_tensor) values;
    VEC(call_value) of_variable[MAX_CALL_VARIABLES];                         // by the type's number
    struct table by_type, by_setting, by_call, by_meaning, by_application;   // by_meaning: of methods with a definition
    VEC(union call_number) rows[CALL_DOMAINS][MAX_CALL_VARIABLES];
};
void evaluation_cache_init(struct evaluation_cache *c, uint64_t seed,
                           size_t max_bytes);   // max_bytes: for evaluation_cache_limit
void evaluation_cache_free(struct evaluation_cache *c);
// Forgets the values, or calls and values, when all takes more memory than asked for.
void evaluation_cache_limit(struct evaluation_cache *c);
const struct call_type *evaluation_cache_type(struct evaluation_cache *c, const struct type *type);
const struct call_setting *evaluation_cache_setting(struct evaluation_cache *c, const struct operator* op,
                                                    const struct attribute_value *attributes);
// The tensor of a variable at a type without split trees.
call_value evaluation_cache_variable(struct evaluation_cache *c, int variable, const struct call_type *type);
// Arguments and results of more than a million elements are ill-typed here.
const struct call *evaluation_cache_find(struct evaluation_cache *c, const struct call_setting *setting, int n_inputs,
                                         const struct call_type *const *inputs);
const struct call_type *const *evaluation_cache_results(const struct call *call);   // NULL: ill-typed
// False: ill-typed, or of more outputs than nodes have here, of which the first ones' types are known.
bool evaluation_cache_may_apply(const struct call *call);
// The first output of a call that may be applied; the others follow it.
call_value evaluation_cache_apply(struct evaluation_cache *c, const struct call *call, const call_value *inputs);
const struct call_type *evaluation_cache_type_of(const struct evaluation_cache *c, call_value value);
// The contents, as uint64_t or double. Those of variables are good until the next one is asked for.
const void *evaluation_cache_contents(struct evaluation_cache *c, enum call_domain domain, call_value value);
