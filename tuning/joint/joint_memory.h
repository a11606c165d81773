// Knowledge of a joint search: the nodes of a pass, by the configuration of those before it, and what candidates
// cost. A candidate comes again soon or hardly ever, so few are remembered.
#pragma once
#include "tuning/joint/joint_candidate.h"

struct joint_memory;
struct joint_memory *joint_memory_new(void);
void joint_memory_free(struct joint_memory *m);
bool joint_memory_find_nodes(struct joint_memory *m, const struct joint_candidate *c, size_t pass,
                             pass_nodes *ret_nodes);   // adds them
void joint_memory_keep_nodes(struct joint_memory *m, const struct joint_candidate *c, size_t pass,
                             const pass_nodes *nodes);
bool joint_memory_find_cost(struct joint_memory *m, const struct joint_candidate *c, double *ret_cost);
void joint_memory_keep_cost(struct joint_memory *m, const struct joint_candidate *c);
void joint_memory_forget_costs(struct joint_memory *m);
