// Every entry of every stage of a definition as a value computed of those before it: what a tape is made of.
#pragma once
#include "core/memory/vec.h"
#include "expressions/definition.h"

enum { MAX_TAPE_INPUTS = 8 };

// The action that a value is made by. A product sum has its factors as operands, two by two.
enum action { ACTION_INPUT, ACTION_CONSTANT, ACTION_APPLY, ACTION_REDUCE, ACTION_SUM, ACTION_PRODUCT_SUM };
struct value {
    uint8_t action, fn;
    uint32_t first, count;   // operands
    uint64_t constant;
};
struct unrolling {
    const struct definition *d;
    struct arena *scratch;
    uint64_t key;
    uint32_t n_inputs;          // entries of all inputs
    VEC(struct value) values;   // these first
    VEC(uint32_t) operands;
    VEC(uint32_t) stack;       // of operands of sums that are being made
    VEC(uint32_t) constants;   // among the values
    int64_t *variables;
    uint32_t first_of_input[MAX_TAPE_INPUTS];
    uint32_t **stages;   // the values of the entries of each stage so far
    bool is_too_large;
};

// The values of `d`, in `scratch`, unless that is too large, which the unrolling says then.
void unroll_definition(struct unrolling *u, const struct definition *d, uint64_t key, struct arena *scratch);
void unrolling_free(struct unrolling *u);
