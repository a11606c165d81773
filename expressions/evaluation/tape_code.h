// A tape, for who makes and who runs it.
#pragma once
#include "expressions/field_functions.h"

enum { MAX_TAPE_INPUTS = 8 };

// The action that a computed value is made by. A product sum has its factors as operands, two by two.
enum action { ACTION_APPLY, ACTION_REDUCE, ACTION_SUM, ACTION_PRODUCT_SUM };

// Values of one action and function that stand together.
struct run {
    uint8_t action, fn;
    uint32_t first, n;        // values
    const uint32_t *counts;   // operands of each; NULL: as many as the function takes
    const uint16_t *operands;
};
struct tape {
    uint64_t key;
    int n_inputs, n_outputs, n_runs;
    uint32_t n_values, n_constants, first_constant;   // values: inputs, constants, then computed ones
    size_t input_elements[MAX_TAPE_INPUTS];
    const uint64_t *constants;
    const struct run *runs;
    const size_t *output_elements;
    const uint16_t *const *outputs;   // of every output the values of its entries
};
