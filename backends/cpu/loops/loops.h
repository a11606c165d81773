// Runs the loops of a plan's step by interpretation, block by block: what no kernel is generated for, and everything
// where there is no compiler.
#pragma once
#include "backends/planning/plan.h"

struct compiled_loops;
struct workers;

// Everything is allocated in `arena`, which must outlive the use. `threads` is how many will run it.
struct compiled_loops *loops_prepare(const struct step *step, int threads, struct arena *arena);
// `memory` has the address of every memory of the plan.
void loops_run(const struct compiled_loops *loops, const struct workers *workers, char *const *memory);
