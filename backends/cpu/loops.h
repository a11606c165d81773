// Runs the loops of a plan's step, block by block, on all threads.
#pragma once
#include "backends/cpu/vector/vector.h"
#include "backends/planning/plan.h"

struct arena;
struct compiled_loops;
struct workers;

// Everything is allocated in `arena`, which must outlive the use. `threads` is how many will run it.
struct compiled_loops *loops_prepare(const struct step *step, const struct vector_functions *vector, int threads,
                                     struct arena *arena);
// `memory` has the address of every memory of the plan.
void loops_run(const struct compiled_loops *loops, const struct workers *workers, char *const *memory);
// One place on the shared axes, as a part of as many as were compiled for; only when they are shared at all.
bool loops_share_axes(const struct compiled_loops *loops);
void loops_run_place(const struct compiled_loops *loops, char *const *memory, const int64_t *shared, int part);
