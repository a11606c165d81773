// Caches when a step that is measured alone begins: where what it reads and writes lies. One model for all steps.
//
//   operands   just written, the first one last, by the threads that share the work: in the near caches as far as they
//              fit there
//   results    what was in their place was used some steps before: in the near caches if three steps of this size fit
//              there, else not
//   weights    in memory: a model's weights push each other out of the caches; of a small model (backend_expect_model)
//              only out of the near ones. Packed or not makes no difference
#pragma once
#include "backends/cpu/kernel.h"

struct cache_conditions;

// Prepares the step over random data; the request's `memory` is not looked at. NULL: failed, r->error says why.
struct cache_conditions *cache_conditions_make(const struct step_request *r);
void cache_conditions_free(struct cache_conditions *s);
void *cache_conditions_state(const struct cache_conditions *s);           // of the prepared step
char *const *cache_conditions_memory(const struct cache_conditions *s);   // that it runs over
size_t cache_conditions_weight_bytes(const struct cache_conditions *s);   // 0: few, or they stay where they are
// Makes everything lie as described, before each run.
void cache_conditions_settle(struct cache_conditions *s);
// Out of all caches.
void cache_conditions_flush(const void *at, size_t bytes);

#define CPU_TIMES_SWEPT 2   // as many bytes as a near cache has
// More than the caches hold that a core has alone, at b->sweep for each thread.
size_t cpu_sweep_bytes(struct cpu_backend *b);
