// A space of schedules as a grid: each axis has so many values, and each point a number, the last axis fastest.
#pragma once
#include "core/numbers/random.h"
#include <stdint.h>

#define GRID_AXES 8
struct grid {
    int n_axes;
    int64_t sizes[GRID_AXES];   // each at least 1
};
int64_t grid_count(const struct grid *g);
void grid_coordinates(const struct grid *g, int64_t point, int64_t ret_coordinates[GRID_AXES]);
int64_t grid_point(const struct grid *g, const int64_t coordinates[GRID_AXES]);
// One axis of a point, of those with several values, gets another value: mostly a near one.
int64_t grid_mutate(const struct grid *g, int64_t point, struct random *random);
// Each coordinate is that of one of both.
int64_t grid_cross(const struct grid *g, int64_t a, int64_t b, struct random *random);
