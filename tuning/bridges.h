// Steps that no model has: convolutions with certain loops, each planned by itself, whose best schedules serve steps
// that may not reuse each other's (ETO's bridge operators).
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"
#include "tuning/reuse/reuse.h"

struct bridge {
    struct arena arena;
    struct graph graph;
    struct plan plan;
    const struct step *step;
    struct schedule_space space;
};
// NULL: no convolution has such loops in that family here.
struct bridge *bridge_new(struct backend *b, const char *family, const struct reuse_loops *loops);
void bridge_free(struct bridge *bridge);
