// Steps that are claimed beside the libraries' own: concatenation, and all that loops do not express as kernels from
// its definition.
#pragma once
#include "backends/cuda/internal.h"

// Claims (plan.h); the context is the device.
bool cuda_claim(void *context, struct planner *p, node_id node);
// Can they write their result there, within that of a concatenation (plan.h)?
bool cuda_writes_part(void *context, const struct planner *p, node_id node, const struct view *part);
