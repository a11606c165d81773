// The values of an instance's terms at numbers that follow from a seed (modulo 3: small integers, positive reals, any
// reals). All in the instance's scratch.
#pragma once
#include "instances/instance.h"

struct number_values {
    node_set nodes;   // those to evaluate
    double *inputs[MAX_RULE_VARIABLES];
    double **of_node[MAX_RULE_NODES];   // one array per output
};
void number_values_make_inputs(const struct instance *in, uint64_t seed, struct number_values *v);
void number_values_evaluate(const struct instance *in, uint64_t seed, struct number_values *v);   // with its inputs
const double *number_values_of_term(const struct instance *in, const struct number_values *v, term_id term);
bool number_values_overflow(const struct instance *in, const struct number_values *v);   // is one infinite?
