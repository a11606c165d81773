// Where what a step reads and writes lies when it begins: one model of memory for every step that is measured alone.
//
//   operands   just written, the first one last, by the threads that share the work: in the near caches as far as they
//              fit there
//   results    what was in their place was used some steps before: in the near caches if three steps of this size fit
//              there, else not
//   weights    in memory: a model's weights push each other out of the caches; of a small model (backend_expect_model)
//              only out of the near ones. Packed or not makes no difference
#ifndef BACKENDS_CPU_SURROUNDINGS_H
#define BACKENDS_CPU_SURROUNDINGS_H
#include "backends/cpu/cpu_internal.h"

struct surroundings;
struct turn {   // a prepared step and the memories that it runs over
    void *state;
    char **memory;
};

// Prepares the step over random data, in the request's arena; its `memory` is not looked at. NULL: failed, r->error
// says why.
struct surroundings *surroundings_make(const struct step_request *r);
void surroundings_free(struct surroundings *s);
void *surroundings_state(const struct surroundings *s);
size_t surroundings_weight_bytes(const struct surroundings *s);   // 0: few, or they stay where they are
// As many copies of the weights as no cache keeps, which take turns from now on, as the layers of a model do. False:
// there is one, whose weights are flushed each time.
bool surroundings_multiply(struct surroundings *s, const struct step_request *r);
// Makes everything lie as described, and gives what to run next.
struct turn *surroundings_settle(struct surroundings *s);
#endif
