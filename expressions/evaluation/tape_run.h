// A loop for each run of a tape: sums of products are reduced once.
#pragma once
#include <stdint.h>

struct arena;
struct tape;

// The arrays as in evaluate_field. Threads may share a tape.
void tape_run(const struct tape *tape, const uint64_t *const *inputs, uint64_t *const *outputs, struct arena *scratch);
