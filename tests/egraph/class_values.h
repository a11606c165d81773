// Do all e-nodes of a class compute the same? Each that is small and cheap, and whose children have known values, is
// evaluated over the prime field; leaves have pseudo-random entries.
#pragma once
#include "egraph/egraph.h"

// False: two e-nodes of one class differ. Tensors of up to `most_entries` entries are evaluated. Needs a clean e-graph.
bool classes_have_one_value(const struct egraph *e, int64_t most_entries, enode_id *ret_a, enode_id *ret_b);
