// An instance of an equation: its variables bound to concrete types and attribute values, its nodes typed, and, on
// demand, its values: as polynomials of the input entries, and as numbers.
#ifndef VERIFIER_INSTANCES_INSTANCE_H
#define VERIFIER_INSTANCES_INSTANCE_H
#include "verifier/exact/polynomial_values.h"
#include "verifier/instances/equation.h"
#include "verifier/instances/typing.h"

struct text;

struct instance {
    const struct equation *equation;
    struct typing *typing;
    struct arena *scratch;
    const struct type *types[MAX_RULE_VARIABLES];   // of the variables; NULL: not bound yet
    type_id variables[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    const struct typed_call *calls[MAX_RULE_NODES];   // NULL: not typed, or ill-typed
    uint32_t any_activation;         // the attribute variable whose relu is any function to polynomials; or NO_VARIABLE
    head_id heads[MAX_RULE_NODES];   // with attributes that no type changes; NO_HEAD: evaluate them
    uint32_t variables_of_heads[MAX_RULE_NODES];   // that attributes depend on
    uint64_t evaluations[MAX_RULE_NODES];   // typing's number of the attributes, with the attribute variables as bound
};

void instance_init(struct instance *in, const struct equation *eq, struct typing *typing, struct arena *scratch);
void instance_bind(struct instance *in, uint32_t variable, type_id type);
struct term_bindings instance_bindings(const struct instance *in);
// The attribute variables of the node are bound: evaluates its attributes when they depend on nothing else.
void instance_settle_attributes(struct instance *in, uint32_t node);
bool instance_refuses_attributes(const struct instance *in, uint32_t node);   // settled ones, whatever the types are
// The node's operator with its attributes. False: a term has no value.
bool instance_head(struct instance *in, uint32_t node, head_id *ret_head);
// Types a node whose inputs were typed; false (and calls[node] NULL) when it is ill-typed.
bool instance_type_node(struct instance *in, uint32_t node);
// Has a variable a split tree on some axis?
bool instance_has_cuts(const struct instance *in);
// The type of a term whose nodes were typed; NO_TYPE: ill-typed.
type_id instance_term_type(const struct instance *in, term_id term);

// What the values of a larger one would take is no matter of a proof, nor of a trial.
#define MOST_ENTRIES ((int64_t)1 << 22)
// Do the tensors of both sides have more entries than MOST_ENTRIES, those between the stages of definitions counted?
bool instance_is_too_large(const struct instance *in);

enum comparison {
    COMPARISON_EQUAL,
    COMPARISON_BOTH_ILL_TYPED,
    COMPARISON_LEFT_ILL_TYPED,
    COMPARISON_RIGHT_ILL_TYPED,
    COMPARISON_OTHER_TYPE,
    COMPARISON_OTHER_SPLIT_TREE,
    COMPARISON_OTHER_VALUE,   // as polynomials, confirmed by numbers
    COMPARISON_UNDECIDED,     // polynomials differ, numbers do not; or there are no polynomials
    COMPARISON_TOO_LARGE,     // and nothing was computed
};
struct difference {
    enum comparison kind;
    uint32_t pair;
    int64_t entry;                    // OTHER_VALUE: of the output, in row-major order
    polynomial left, right;           // OTHER_VALUE, UNDECIDED when has_polynomials
    double left_value, right_value;   // OTHER_VALUE
    uint64_t seed;                    // of the numbers that confirmed it
    bool has_polynomials, needs_reals;
    const char *reason;   // UNDECIDED
};
// Both sides of every pair are well-typed, and of one type.
bool instance_has_values_on_both_sides(const struct instance *in);
// All nodes were typed. Compares every pair; the first one that is not equal is reported. `pool` is cleared first and
// its polynomials are valid until the next comparison. Without numbers polynomials that differ leave it undecided.
enum comparison instance_compare(struct instance *in, struct polynomial_pool *pool, bool with_numbers,
                                 struct difference *ret_difference);
// The same without the values: equal where types and, if the equation is strong, split trees are.
enum comparison instance_compare_types(const struct instance *in, struct difference *ret_difference);
// The same on one assignment of numbers to all entries (seed modulo 3: small integers, positive reals, any reals):
// equal is no proof.
enum comparison instance_compare_numbers(struct instance *in, uint64_t seed, struct difference *ret_difference);
void instance_print_difference(struct text *out, const struct instance *in, const struct polynomial_pool *pool,
                               const struct difference *difference);
#endif
