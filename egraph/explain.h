// Paths in the proof forest: from both ends up to where they meet.
#pragma once
#include "egraph/egraph.h"

// Calls `visit` for every edge of the forest between two e-nodes of one class.
void egraph_explain(const struct egraph *e, enode_id a, enode_id b,
                    void (*visit)(void *context, enode_id x, enode_id y, uint32_t reason), void *context);
