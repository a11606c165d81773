// The value of a single entry over the prime field. Entries of the inputs are asked for as they are needed, so nothing
// is stored: tensors may be of any size.
#pragma once
#include <stdint.h>

struct definition;

// The entry of input `input` at `index`, one number per axis.
typedef uint64_t entry_of_input(void *context, int input, const int64_t *index);

// Equal to what evaluate_field gives at that place of the output.
uint64_t evaluate_field_entry(const struct definition *d, uint64_t key, int output, const int64_t *index,
                              entry_of_input *read, void *context);
// How many scalar operations that takes, when an entry of input i takes input_costs[i].
double definition_entry_cost(const struct definition *d, int output, const double *input_costs);
