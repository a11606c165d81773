// Boxes of sizes: which types are tried for each variable of an equation.
#pragma once
#include "instances/domain.h"

// Element types that are tried, one bit each.
enum { TRIES_F32 = 1, TRIES_BOOL = 2, TRIES_I64 = 4, TRIES_ALL_DTYPES = 7 };

// The sizes to try for each axis of each variable at each rank: bit n stands for size n.
struct box {
    int max_rank;
    uint32_t sizes[MAX_RULE_VARIABLES][MAX_RANK + 1][MAX_RANK];   // 0: no type of that rank
    bool has_split_trees;                 // variables with split trees too: a cut at every place of one axis
    bool has_more_cuts;                   // and, of what looks at cuts, two axes, or a piece once more
    uint8_t dtypes[MAX_RULE_VARIABLES];   // 0: f32 alone
};
struct box box_uniform(int max_rank, int bound);   // all sizes up to it, at all ranks
void box_try_all_dtypes(struct box *box);
void box_copy_dtypes(struct box *box, const struct box *from);
enum { LARGEST_SIZE_EXPLORED = 6 };
// All sizes up to `size`, and those without which numbers in the equation (groups, dilations, parts) say nothing.
struct box box_to_explore(const struct equation *eq, int max_rank, int size);
// Adds all sizes up to the number of groups, or LARGEST_REMAINDERS, of filters and channels, where groups divide axes.
// False: there are no groups.
enum { LARGEST_REMAINDERS = 8, LARGEST_GROUPS_TRIED = 3 };
bool box_add_remainders_of_groups(struct box *box, const struct equation *eq);
// Adds the sizes that kernels named by numbers need on the axes that windows are on. False: there are none.
bool box_add_sizes_of_kernels(struct box *box, const struct pattern *p);
// All sizes up to `size` for the axes that windows are on.
void box_add_spatial_sizes(struct box *box, int size);
