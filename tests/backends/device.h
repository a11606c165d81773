// A device for a block, and a plan of a graph on one in these layouts: `DEVICE(name, open_device(1));`,
// `PLAN(name, device, graph, layouts, arena);`.
#pragma once
#include "backends/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/planning/planner.h"
#include "tests/support/check.h"

static inline void close_device(struct backend **b)
{
    backend_close(*b);
}

static inline struct plan plan_on(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena)
{
    struct plan plan = {0};
    struct plan_request request = backend_plan_request(b, g, layouts, arena);
    OK(plan_make(&plan, &request, &error));
    return plan;
}

#define DEVICE(name, opened) struct backend *name FREED_BY(close_device) = opened
#define PLAN(name, ...) struct plan name FREED_BY(plan_free) = plan_on(__VA_ARGS__)
