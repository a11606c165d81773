// Offsets in one arena: one memory after the other, each at the lowest place where it fits between all those already
// placed that live at the same time.
#pragma once
#include "backends/planning/plan.h"

bool step_next_memory(const struct step *s, struct touched_memory *t);
bool step_reads_in_loops(const struct step *s, memory_id memory);
double loop_places(const struct loop *l);   // those of the reduction included
// Bytes of all that the step reads and writes, of each place once. An epilogue reads what else it needs: its own tensor
// is the step's result.
double step_distinct_bytes(const struct step *s, bool has_epilogue);
struct step_work step_work(const struct plan *plan, const struct step *s);   // bytes as above
// Offsets of all ARENA memories, such that none overlaps another that lives at the same time; only for running.
void plan_lay_out_memory(struct plan *plan);
// Does the memory last from run to run: a weight, or what is computed once?
bool plan_keeps(const struct plan *plan, memory_id memory);
// The memories that steps which run each time read: these, or what a kernel packs of them, last.
bool *plan_list_read(const struct plan *plan, struct arena *arena);
// After that: what a run touches, weights too, or the largest of what is only there before it, and whether there is
// memory for it; else EXIT_UNSUPPORTED.
size_t plan_bytes(const struct plan *plan);
bool plan_has_room(const struct plan *plan, struct error *error);
