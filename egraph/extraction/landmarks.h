// Classes that every selection has (landmarks, in planning: Keyder, Richter and Helmert, "Sound and complete landmarks
// for and/or graphs", ECAI 2010).
#pragma once
#include <stdbool.h>

struct extraction_problem;

// For a problem whose roots can be built. ret_is_needed: n_classes items, all of those; ret_is_cyclic: n_nodes items,
// nodes that need their own class below them.
void landmarks_find(const struct extraction_problem *p, bool *ret_is_needed, bool *ret_is_cyclic);
