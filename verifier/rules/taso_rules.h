// Reading of TASO's protobuf rule sets (graph_subst.pb), so that other people's rules can be judged and used.
//
// What TASO leaves to shapes is written out: a convolution's group is channels of the image / channels of the kernel,
// SAME at stride 1 becomes pads, window sizes and numbers of axes become conditions. Its element-wise operators
// broadcast at will; here they take equal shapes, so that a rule read is about these.
#pragma once
#include "substitutions/rule.h"

// Adds the rules of a file as taso-0, taso-1, ... False: not such a file, or an operator that has no counterpart here.
bool taso_rules_read(struct rule_set *set, const char *path, struct error *error);
