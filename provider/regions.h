// Which nodes of a graph are taken, in which connected regions: those that the importer understands, as many together
// as can run as one, without a way out of a region and back into it.
#pragma once
#include "core/memory/vec.h"
#include "provider/model_bytes.h"

struct region {
    size_t *nodes, n;   // numbers in the view, ascending; in the arena
};
struct regions {
    VEC(struct region) items;
    size_t n_taken;           // nodes in all regions
    int64_t likely_length;    // of texts, at which most are understood (model_bytes.h)
    struct model_bytes all;   // of all nodes that were asked for, where all were understood
    size_t n_all;             // 0: they were not, or it was taken
};
// False: error, and nothing is taken.
bool regions_find(struct regions *ret_regions, const struct runtime *r, const struct graph_view *view,
                  struct arena *arena, struct error *error);
// The model of a region, which is made (model_bytes_make) unless it is there.
bool regions_make_model(struct regions *regions, const struct region *region, const struct runtime *r,
                        const struct graph_view *view, struct arena *arena, struct model_bytes *ret_model,
                        struct error *error);
void regions_free(struct regions *regions);
