// The request that a graph is planned with: layouts by the backend's policy, its target and its codes.
#pragma once
#include "backends/contract/backend.h"

// The layout of every tensor by the backend's policy, in `arena`; NULL where they are the standard ones.
bool backend_find_layouts(struct backend *b, const struct graph *g, struct arena *arena, const uint8_t **ret_layouts,
                          struct error *error);
struct plan_request backend_plan_request(const struct backend *b, const struct graph *g, const uint8_t *layouts,
                                         struct arena *arena);
