// How many bytes the weights of a result may take, and what the largest numbers in those of the model are: a search
// makes no weights that are larger, or infinite (search/weight_limits.h).
#pragma once
#include "optimizer/job/optimization.h"

// The limits of weights, of a model that is imported.
void optimizing_limit_weights(struct optimizing *o);
