// Every entry of every stage of a definition as a value computed of others: what a tape is made of.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"
#include "expressions/definition.h"
#include "expressions/evaluation/tape_code.h"

struct value {
    bool is_constant;
    uint8_t action, fn;
    uint16_t level;          // 0: inputs and constants
    uint32_t first, count;   // operands
    uint64_t constant;
    uint32_t number;   // in the tape
};
struct unrolling {
    const struct definition *d;
    struct arena *scratch;
    uint64_t key;
    VEC(struct value) values;
    VEC(uint32_t) operands;
    VEC(uint32_t) stack;       // of operands of sums that are being made
    VEC(uint32_t) constants;   // among the values
    int64_t *variables;
    uint32_t first_of_input[MAX_TAPE_INPUTS];
    uint32_t **stages;       // the values of the entries of each stage so far
    struct table computed;   // values: what is computed twice is one
    bool is_too_large;
};
struct unrolled_output {
    size_t elements;
    const uint32_t *values;
};

// The values of `d`, in `scratch`, unless that is too large, which the unrolling says then.
void unroll_definition(struct unrolling *u, const struct definition *d, uint64_t key, struct arena *scratch,
                       struct unrolled_output *ret_outputs);
void unrolling_free(struct unrolling *u);
