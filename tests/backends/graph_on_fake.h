// A graph on a device whose costs are computed: `FIXTURE(&f, device, text);`. Its plan is freed with it where a test
// made one.
#pragma once
#include "backends/backend.h"
#include "backends/fake/fake.h"
#include "backends/planning/planner.h"
#include "tests/support/parse_graph.h"

#define PLAIN (&(struct fake_device){0})

struct fixture {
    struct arena arena;
    struct graph g;
    struct backend *fake;
    struct plan plan;
};

static inline void set_up(struct fixture *f, const struct fake_device *device, const char *text)
{
    *f = (struct fixture){0};
    parse_graph(&f->g, &f->arena, text);
    f->fake = fake_backend_open(device, &(struct error){0});
    assert_non_null(f->fake);
}

static inline void tear_down(struct fixture *f)
{
    if (f->plan.graph)
        plan_free(&f->plan);
    backend_close(f->fake);
    graph_free(&f->g);
    arena_free(&f->arena);
}
