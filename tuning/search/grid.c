// Mixed radix numbers.
#include "tuning/search/grid.h"

#include "tuning/limits.def"
#include <stdbool.h>

int64_t grid_count(const struct grid *g)
{
    int64_t count = 1;
    for (int i = 0; i < g->n_axes; i++)
        count *= g->sizes[i];
    return count;
}

void grid_coordinates(const struct grid *g, int64_t point, int64_t ret_coordinates[GRID_AXES])
{
    for (int i = g->n_axes - 1; i >= 0; i--) {
        ret_coordinates[i] = point % g->sizes[i];
        point /= g->sizes[i];
    }
}

int64_t grid_point(const struct grid *g, const int64_t coordinates[GRID_AXES])
{
    int64_t point = 0;
    for (int i = 0; i < g->n_axes; i++)
        point = point * g->sizes[i] + coordinates[i];
    return point;
}

// -1: none has several values.
static int pick_axis(const struct grid *g, struct random *random)
{
    int axes[GRID_AXES], n = 0;
    for (int i = 0; i < g->n_axes; i++)
        if (g->sizes[i] > 1)
            axes[n++] = i;
    return n ? axes[random_below(random, (uint64_t)n)] : -1;
}

static int64_t another_value(int64_t size, int64_t value, struct random *random)
{
    int64_t other = (int64_t)random_below(random, (uint64_t)size - 1);
    return other + (other >= value);
}

int64_t grid_mutate(const struct grid *g, int64_t point, struct random *random)
{
    int64_t at[GRID_AXES];
    int axis = pick_axis(g, random);
    if (axis < 0)
        return point;
    grid_coordinates(g, point, at);
    int64_t near = at[axis] + (random_below(random, 2) ? 1 : -1);
    bool is_near = near >= 0 && near < g->sizes[axis] && random_unit(random) < SHARE_OF_NEAR_STEPS;
    at[axis] = is_near ? near : another_value(g->sizes[axis], at[axis], random);
    return grid_point(g, at);
}

int64_t grid_cross(const struct grid *g, int64_t a, int64_t b, struct random *random)
{
    int64_t of_a[GRID_AXES], of_b[GRID_AXES];
    grid_coordinates(g, a, of_a);
    grid_coordinates(g, b, of_b);
    for (int i = 0; i < g->n_axes; i++)
        of_a[i] = random_below(random, 2) ? of_a[i] : of_b[i];
    return grid_point(g, of_a);
}
