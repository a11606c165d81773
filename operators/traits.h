// Traits of operators, as their definitions and the roles of their attributes say: who asks has no list of operators.
//
// Traits are those of the definitions at many applications, which operators/traits/derive.c finds when the program is
// built; a definition that is changed changes them. That the form of a definition is the same at all sizes is what
// docs/theory/symbolic.md (A1) assumes of operators.
#pragma once
#include "expressions/traits.h"
#include "operators/operator.h"

// Traits beside those of definitions.
enum operator_trait {
    TRAIT_IS_KERNEL = 1 << 22,             // without inputs, and of rank 3 and more: filters, channels, a window
    TRAIT_MULTIPLIES_MATRICES = 1 << 23,   // contracts, and is typed as a product of matrices
    TRAIT_IDEMPOTENT = 1 << 24,            // entry by entry, and what it makes it makes of that again (relu, floor)
    TRAIT_INVOLUTION = 1 << 25,            // entry by entry, and makes the input of what it makes (neg, not)
    TRAIT_CHANGES_FORM = 1 << 26,          // another function at other ranks, sizes or numbers, or refuses large ones
};

enum { MOST_KNOWN_INPUTS = 16 };
#define RANK_OPEN (-1)
struct operator_traits {
    unsigned plain;                          // without an activation
    unsigned activated;                      // with any; as `plain` for who takes none
    int8_t input_ranks[MOST_KNOWN_INPUTS];   // the one rank that the input can have, or RANK_OPEN
    uint16_t inputs_of_other_types;          // those that may have another element type than the output, one bit each
    uint16_t inputs_of_floats;               // those that may have floating-point numbers, one bit each
    uint8_t output_type;                     // the one that it makes of inputs of any other, or DTYPE_NONE
};
extern const struct operator_traits operator_traits[OP_COUNT];

static inline bool operator_has(const struct operator* op, unsigned traits)
{
    return (operator_traits[op->id].plain & traits) == traits;
}

static inline int operator_rank_of_input(const struct operator* op, uint32_t input)
{
    return input < MOST_KNOWN_INPUTS ? operator_traits[op->id].input_ranks[input] : RANK_OPEN;
}

static inline bool operator_input_may_be_float(const struct operator* op, uint32_t input)
{
    return input >= MOST_KNOWN_INPUTS || (operator_traits[op->id].inputs_of_floats >> input & 1);
}

static inline bool operator_has_role(const struct operator* op, enum attribute_role role)
{
    return operator_find_role(op, role) >= 0;
}

// --- by roles --------------------------------------------------------------------------------------------------------

static inline bool operator_has_windows(const struct operator* op)
{
    return operator_has_role(op, ROLE_STRIDE);
}

// Rules speak of windows along as many axes as runtimes have them.
enum { MOST_WINDOW_AXES = 3 };
static inline bool operator_has_many_window_axes(const struct operator* op, int rank)
{
    return (operator_has_windows(op) || operator_has_role(op, ROLE_KERNEL)) && rank - 2 > MOST_WINDOW_AXES;
}

// Does a rule speak of an application that makes such a tensor? It is proved over the reals; integers truncate.
static inline bool operator_is_of_rules(const struct operator* op, const struct type *output)
{
    return dtype_is_float(output->dtype) && !operator_has_many_window_axes(op, output->rank);
}

static inline bool operator_pools(const struct operator* op)   // by windows of written sizes
{
    return operator_has_windows(op) && operator_has_role(op, ROLE_KERNEL);
}

static inline bool operator_enlarges(const struct operator* op)   // a kernel, with zeros around it
{
    return operator_has_role(op, ROLE_KERNEL) && !operator_has_windows(op);
}

static inline bool operator_merges_groups(const struct operator* op)
{
    return operator_has_role(op, ROLE_MERGED_GROUPS);
}

static inline bool operator_joins(const struct operator* op)   // tensors, one behind the other on an axis
{
    return operator_most_inputs(op) == VARIADIC && operator_has_role(op, ROLE_AXIS);
}

static inline bool operator_splits(const struct operator* op)   // an axis into parts
{
    return operator_has_role(op, ROLE_PART_SIZES);
}

static inline bool operator_slices(const struct operator* op)   // a range on each axis
{
    return operator_has_role(op, ROLE_START) && operator_has_role(op, ROLE_SIZE);
}

static inline bool operator_permutes(const struct operator* op)
{
    return operator_has_role(op, ROLE_PERMUTATION);
}

static inline bool operator_reduces_axes(const struct operator* op)
{
    return operator_has_role(op, ROLE_AXES) && operator_has_role(op, ROLE_KEEPDIMS);
}

static inline bool operator_is_view(const struct operator* op)
{
    return op->flags & OPERATOR_IS_VIEW;
}

static inline bool operator_repeats(const struct operator* op)   // a tensor along axes
{
    return operator_most_inputs(op) == 1 && operator_has_role(op, ROLE_SHAPE) && !operator_is_view(op);
}

static inline bool operator_is_constant(const struct operator* op)   // of a written shape
{
    return operator_most_inputs(op) == 0 && operator_has_role(op, ROLE_SHAPE);
}

// --- by traits -------------------------------------------------------------------------------------------------------

// The result has the sizes of every input but those of rank 0, and at each place a formula of what these have there,
// the same at all places.
static inline bool operator_works_entry_by_entry(const struct operator* op)
{
    return operator_has(op, TRAIT_ENTRY_BY_ENTRY);
}

static inline bool operator_convolves(const struct operator* op)   // by windows whose sizes and weights a tensor has
{
    return operator_has(op, TRAIT_CONTRACTS) && operator_has_windows(op) && !operator_has_role(op, ROLE_KERNEL);
}

static inline bool operator_multiplies_matrices(const struct operator* op)
{
    return operator_has(op, TRAIT_MULTIPLIES_MATRICES);
}

// Entries as they are, to other places. What reads places that data say has no domain for want of a form, and divides
// nothing.
static inline bool operator_moves_entries(const struct operator* op)
{
    bool is_read_by_data = operator_has(op, TRAIT_PARTIAL) && !operator_has(op, TRAIT_DIVIDES);
    return is_read_by_data || operator_permutes(op) || operator_splits(op) || operator_joins(op) ||
           operator_repeats(op) || operator_is_view(op);
}

static inline bool operator_reads_other_types(const struct operator* op)
{
    return operator_traits[op->id].inputs_of_other_types != 0;
}

static inline bool operator_subtracts(const struct operator* op)
{
    return operator_has(op, TRAIT_POLYNOMIAL | TRAIT_SUBTRACTS);
}

static inline bool operator_adds(const struct operator* op)
{
    return operator_has(op, TRAIT_POLYNOMIAL | TRAIT_ADDS);
}

// Products, and what moves entries.
static inline bool operator_adds_nothing(const struct operator* op)
{
    return operator_has(op, TRAIT_POLYNOMIAL) && !(operator_traits[op->id].plain & (TRAIT_ADDS | TRAIT_SUMS));
}
