// Search in a grid for the point that takes least, by asking and telling: it proposes points, and whoever measures them
// tells what they take. The same seed and the same answers give the same proposals; no point is proposed twice.
//
//     exhaustive      every point, in an order that spreads over the whole grid, so that it may end at any time
//     evolutionary    the starting points, then children of the best told so far (regularized evolution: parents win a
//                     tournament among a sample of these), crossed and mutated; strays from anywhere among them
//
// With a prediction, several times as many are drawn as are wanted, and the least by that are proposed; a share of the
// proposals goes on being drawn without.
#pragma once
#include "core/numbers/random.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A space of schedules as a grid: each axis has so many values, and each point a number, the last axis fastest.
#define GRID_AXES 8
struct grid {
    int n_axes;
    int64_t sizes[GRID_AXES];   // each at least 1
};
int64_t grid_count(const struct grid *g);
void grid_coordinates(const struct grid *g, int64_t point, int64_t ret_coordinates[GRID_AXES]);
int64_t grid_point(const struct grid *g, const int64_t coordinates[GRID_AXES]);
// An axis of a point that has several values gets another one of these: mostly a near one.
int64_t grid_mutate(const struct grid *g, int64_t point, struct random *random);
// Each coordinate is that of one of both.
int64_t grid_cross(const struct grid *g, int64_t a, int64_t b, struct random *random);

enum grid_search_strategy { SEARCH_EXHAUSTIVE, SEARCH_EVOLUTIONARY };
#define SEARCH_MOST_POINTS ((int64_t)1 << 24)   // of a grid

struct grid_search;
struct grid_search_problem {
    struct grid grid;
    enum grid_search_strategy strategy;
    uint64_t seed;
    void *context;
    bool (*suits)(void *context, int64_t point);   // NULL: all do
    bool (*predict)(void *context, int64_t point,
                    double *ret_value);   // orders points; false, or NULL: it is not known
};
struct grid_search *grid_search_new(const struct grid_search_problem *problem);
void grid_search_free(struct grid_search *s);
// Is proposed before all others, if it suits and was not told.
void grid_search_start_from(struct grid_search *s, int64_t point);
// Starting points alone.
size_t grid_search_propose_starts(struct grid_search *s, size_t most, int64_t *ret_points);
// At most so many; fewer, in the end none, where hardly any are left.
size_t grid_search_propose(struct grid_search *s, size_t most, int64_t *ret_points);
// Somebody else proposes it: it is not proposed any more. False: it was before, or does not suit.
bool grid_search_take(struct grid_search *s, int64_t point);
// The cost of a point, proposed or known from elsewhere; INFINITY: it cannot be had. Once for each.
void grid_search_tell(struct grid_search *s, int64_t point, double value);
size_t grid_search_best(const struct grid_search *s, size_t most,
                        int64_t *ret_points);   // of those told, the least first
