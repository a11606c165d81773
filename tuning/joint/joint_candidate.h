// A point of the joint space of all passes: of each pass its configuration, and what the whole takes.
#pragma once
#include "tuning/joint/configuration.h"
#include "tuning/joint/pass_schedule.h"

struct joint_candidate {
    struct configuration of[MOST_PASSES];
    double cost;
};
void joint_candidate_free(struct joint_candidate *c);
void joint_candidate_copy(struct joint_candidate *to,
                          const struct joint_candidate *from);                      // `to` is one already, or zero
uint64_t joint_candidate_hash(const struct joint_candidate *c, size_t last_pass);   // of passes up to that one
bool joint_candidate_equal(const struct joint_candidate *a, const struct joint_candidate *b);   // whatever they take
