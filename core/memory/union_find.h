// Union-find: numbered items in classes, the least of which stands for its class.
#pragma once
#include <stdint.h>

static inline void union_find_init(uint32_t *parents, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        parents[i] = i;
}

static inline uint32_t union_find_root(uint32_t *parents, uint32_t item)
{
    while (parents[item] != item)
        item = parents[item] = parents[parents[item]];
    return item;
}

static inline void union_find_join(uint32_t *parents, uint32_t x, uint32_t y)
{
    uint32_t of_x = union_find_root(parents, x), of_y = union_find_root(parents, y);
    parents[of_x < of_y ? of_y : of_x] = of_x < of_y ? of_x : of_y;
}
