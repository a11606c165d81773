// The best layouts for a graph: of all plans that differ in the layouts of tensors only, one whose steps cost least in
// sum.
//
// A step's cost depends on few choices (plan.h): its own, and those of the memories that it reads. The copies of
// one tensor depend on its choice and those of its readers, and are shared by readers that want the same layout. So the
// cost of a plan is a sum of tables over few choices each, and its minimum is found (assignment.h): exactly, but where
// that takes too much work. Then `gap` of the estimate says how far from it the layouts may be.
//
// Tables are filled as far as is needed: the best layouts are found as if each entry that is missing were some share of
// the least entry of its table (layout_support), then planned and priced, until none is missing. A table is kept for
// all graphs in which the same step or tensor stands between the same choices.
#pragma once
#include "backends/planning/plan.h"

struct backend;
struct estimate;
struct step_cost;

// The cost of a step on the device. False: it is not known, and not to be measured, or the device failed.
typedef bool price_step_fn(struct backend *b, const struct plan *plan, const struct step *step,
                           struct step_cost *ret_cost, struct error *error);
// The layout of every tensor of the graph, LAYOUT_ANY for those without a choice; `ret_layouts` is in `arena`, NULL
// where the standard layouts are the best. When the user interrupts, they are the best of those whose costs are known.
// `apart` (may be NULL) has PLAN_APART of the tensors that are to be so, and
// `ret_layouts` then, too. `ret_estimate` (may be NULL): what they cost, from the tables.
bool layouts_find(struct backend *b, price_step_fn *price, const struct graph *g, const uint8_t *apart,
                  struct arena *arena, uint8_t **ret_layouts, struct estimate *ret_estimate, struct error *error);
