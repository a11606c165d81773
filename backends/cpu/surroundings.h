// Where what a step reads and writes lies when it begins: one model of memory for every step that is measured alone.
//
//   operands   just written, the first one last, by the threads that share the work: in the near caches as far as they
//              fit there
//   results    what was in their place was used some steps before: in the near caches if three steps of this size fit
//              there, else not
//   weights    in memory: a model's weights push each other out of the caches; of a small model (backend_expect_model)
//              only out of the near ones. Packed or not makes no difference
#pragma once
#include "backends/cpu/cpu_internal.h"

struct surroundings;

// Prepares the step over random data; the request's `memory` is not looked at. NULL: failed, r->error says why.
struct surroundings *surroundings_make(const struct step_request *r);
void surroundings_free(struct surroundings *s);
void *surroundings_state(const struct surroundings *s);           // of the prepared step
char *const *surroundings_memory(const struct surroundings *s);   // that it runs over
size_t surroundings_weight_bytes(const struct surroundings *s);   // 0: few, or they stay where they are
// Makes everything lie as described, before each run.
void surroundings_settle(struct surroundings *s);
// Out of all caches.
void surroundings_flush(const void *at, size_t bytes);
