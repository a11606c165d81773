// Looks for the best layouts: an optimistic problem is solved, its plan priced, and solved anew until nothing is a
// guess.
#pragma once
#include "backends/layouts/layout.h"

struct step_cost;

// What a step costs on the device. False: it is not known, and not to be measured, or the device failed.
typedef bool price_step_fn(struct backend *b, const struct plan *plan, const struct step *step,
                           struct step_cost *ret_cost, struct error *error);
// The layout of every tensor of the graph, LAYOUT_ANY for those without a choice; `ret_layouts` is in `arena`, NULL
// where the standard layouts are the best. `apart` (may be NULL) has PLAN_APART of the tensors that are to be so, and
// `ret_layouts` then, too. `ret_estimate` (may be NULL): what they cost, from the tables.
bool layouts_find(struct backend *b, price_step_fn *price, const struct graph *g, const uint8_t *apart,
                  struct arena *arena, uint8_t **ret_layouts, struct estimate *ret_estimate, struct error *error);
