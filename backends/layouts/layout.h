// The best layouts for a graph: of all plans that differ in the layouts of tensors only, one whose steps cost least in
// sum.
//
// What a step costs depends on few choices (plan.h): its own, and those of the memories that it reads. The copies of
// one tensor depend on its choice and those of its readers, and are shared by readers that want the same layout. So the
// cost of a plan is a sum of tables over few choices each, and its minimum is found (assignment.h): exactly, but where
// that takes too much work. Then `gap` of the estimate says how far from it the layouts may be.
//
// Tables are filled as far as is needed: the best layouts are found as if each entry that is missing were some share of
// the least entry of its table (layout_support), then planned and priced, until none is missing. A table is kept for
// all graphs in which the same step or tensor stands between the same choices.
#pragma once
#include "backends/planning/plan.h"

struct arena;
struct backend;
struct error;
struct estimate;
struct graph;
struct layout_memory;   // tables that were filled
