// A definition at small sizes as straight-line code over the prime field: every entry of every stage is unrolled, reads
// outside of tensors and branches are decided, constants folded. What is left are lists of sums of products, of sums
// and of functions over numbered values, each run by one loop.
//
// For tensors of tens of entries that are evaluated millions of times: some ten times faster than a plan. The values
// are those of evaluate_field.
#pragma once
#include <stdint.h>

struct arena;
struct definition;
struct tape;

// NULL: too large, or dependent on data. The tape lives in `arena` and needs `d` no more.
const struct tape *tape_make(const struct definition *d, uint64_t key, struct arena *arena);
// The arrays as in evaluate_field. Threads may share a tape.
void tape_run(const struct tape *tape, const uint64_t *const *inputs, uint64_t *const *outputs, struct arena *scratch);
