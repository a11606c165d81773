// Which nodes of a graph are taken, in which connected regions: those that the importer understands, as many together
// as can run as one, without a way out of a region and back into it.
#pragma once
#include "core/memory/vec.h"
#include "provider/graph_view.h"

struct error;

struct region {
    size_t *nodes, n;   // numbers in the view, ascending; in the arena
};
struct regions {
    VEC(struct region) items;
    size_t n_taken;          // nodes in all regions
    int64_t likely_length;   // of texts, at which most are understood (model_bytes.h)
};
// False: error, and nothing is taken.
bool regions_find(struct regions *ret_regions, const struct runtime *r, const struct graph_view *view,
                  struct arena *arena, struct error *error);
void regions_free(struct regions *regions);
