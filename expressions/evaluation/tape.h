// A definition at small sizes as straight-line code, over the prime field and over doubles: every entry of every stage
// is unrolled, reads outside of tensors and branches are decided, constants folded. What is left are lists of sums of
// products, of sums and of functions over numbered values, each run by one loop.
//
// For tensors of tens of entries that are evaluated millions of times: some ten times faster than a plan. The values
// are those of evaluate_field. Over doubles, where sums leave out products with a constant 0 and division by a constant
// is a product, they are those of evaluate_f64 up to rounding, as long as no factor of such a 0 is infinite.
#pragma once
#include <stdint.h>

struct arena;
struct definition;
struct tape;

// NULL: too large, or dependent on data. The tape lives in `arena` and needs `d` no more.
const struct tape *tape_make(const struct definition *d, uint64_t key, struct arena *arena);
// Several definitions of equal inputs as one: what they share is computed once. The outputs are those of all, one after
// the other.
const struct tape *tape_make_joint(const struct definition *const *d, int n, uint64_t key, struct arena *arena);
// The arrays as in evaluate_field. Threads may share a tape.
void tape_run(const struct tape *tape, const uint64_t *const *inputs, uint64_t *const *outputs, struct arena *scratch);
void tape_run_f64(const struct tape *tape, const double *const *inputs, double *const *outputs, struct arena *scratch);
