// Checks of import in lockstep, which says of a model what its probes show.
#pragma once
#include "onnx/convert/symbolic/lockstep.h"

// Are there nodes that are something else at other bindings than the probes? They are added to the denied ones.
bool find_unknown_elsewhere(struct lockstep *l, bool *is_denied);
