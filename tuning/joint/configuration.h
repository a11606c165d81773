// The settings of a compiler's passes at the nodes of a graph: of each pass a value for each node that it can be
// configured at, by the node's fingerprint. Nodes with the same fingerprint get the same value (XTAT-M, Phothilimthana
// et al., PACT 2021, whose config[fp(n)] this is).
#pragma once
#include "core/memory/vec.h"
#include "core/numbers/random.h"
#include "tuning/joint/pass_schedule.h"
#include <stdbool.h>
#include <stdint.h>

struct pass_node {
    uint64_t fingerprint;
    uint32_t n_values, standard;   // values are 0 .. n_values - 1; standard: without any search
    double weight;                 // seconds that its value may change: of two, the heavier one is tried first
};
typedef VEC(struct pass_node) pass_nodes;
struct setting {
    struct pass_node node;
    uint32_t value;
};
struct configuration {
    VEC(struct setting) settings;   // ascending by fingerprint, each once
};
// The best value that was met of a node (ConfStore). False: none.
typedef bool recall_value_fn(void *context, size_t pass, const struct pass_node *node, uint32_t *ret_value);

void configuration_free(struct configuration *c);
void configuration_copy(struct configuration *to, const struct configuration *from);   // `to` is one already, or zero
bool configuration_equal(const struct configuration *a, const struct configuration *b);
const struct setting *configuration_find(const struct configuration *c, uint64_t fingerprint);   // NULL: there is none
// Becomes one of these nodes (InferConfig): each has the value that it has there, as the same node, else the one that
// is recalled (NULL: none ever is), else the standard one. Sorts the nodes; of repetitions only the weight counts.
void configuration_fit(struct configuration *c, pass_nodes *nodes, recall_value_fn *recall, void *context, size_t pass);
bool configuration_can_change(const struct configuration *c);   // is there a node with several values?
// Some of the settings, each with this probability, and one at least, the heavier the likelier, get another value.
// Nothing where there is none.
void configuration_mutate(struct configuration *c, double probability, struct random *random);
// Each setting that both have becomes that of the other one with this probability.
void configuration_cross(struct configuration *c, const struct configuration *other, double probability,
                         struct random *random);

// A point of the joint space of all passes: of each pass its configuration, and what the whole takes. Unused passes
// have empty configurations.
struct joint_candidate {
    struct configuration of[MOST_PASSES];
    double cost;
};
void joint_candidate_free(struct joint_candidate *c);
void joint_candidate_copy(struct joint_candidate *to,
                          const struct joint_candidate *from);                      // `to` is one already, or zero
uint64_t joint_candidate_hash(const struct joint_candidate *c, size_t last_pass);   // of passes up to that one
bool joint_candidate_equal(const struct joint_candidate *a, const struct joint_candidate *b);   // whatever they take
