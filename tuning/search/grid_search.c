// Points have a state each; those told are kept in order of their values.
#include "tuning/search/grid_search.h"

#include "core/memory/vec.h"
#include "tuning/limits.def"
#include <assert.h>
#include <math.h>
#include <string.h>

// --- the grid --------------------------------------------------------------------------------------------------------
// Points are mixed radix numbers.

int64_t grid_count(const struct grid *g)
{
    return PRODUCT_ALL(int64_t, int, i, g->n_axes, g->sizes[i]);
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

// --- the search ------------------------------------------------------------------------------------------------------

enum state { UNSEEN, UNSUITABLE, PROPOSED, TOLD };
struct told {
    int64_t point;
    double value;
};
struct grid_search {
    struct grid_search_problem problem;
    struct random random;
    int64_t count, next, stride;   // of the order that spreads
    bool has_left_some;            // that were drawn in this order, and not proposed
    uint8_t *states;
    VEC(struct told) told;   // the least first
    VEC(int64_t) starts;
    size_t n_started;
};

// --- points ----------------------------------------------------------------------------------------------------------

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

// Near the golden section of the grid, and without a common divisor.
static int64_t stride_of(int64_t count)
{
    int64_t stride = (int64_t)(0.618 * (double)count);
    while (stride > 1 && greatest_divisor(count, stride) != 1)
        stride--;
    return stride > 1 ? stride : 1;
}

struct grid_search *grid_search_new(const struct grid_search_problem *problem)
{
    struct grid_search *s = mem_alloc_zero(sizeof *s);
    s->problem = *problem;
    s->random = random_seed(problem->seed);
    s->count = grid_count(&problem->grid);
    assert(s->count <= SEARCH_MOST_POINTS);
    s->stride = stride_of(s->count);
    s->states = mem_new_array(uint8_t, (size_t)s->count);
    memset(s->states, UNSEEN, (size_t)s->count);
    return s;
}

void grid_search_free(struct grid_search *s)
{
    mem_free(s->states, (size_t)s->count);
    vecs_free(s, told, starts);
    mem_free(s, sizeof *s);
}

void grid_search_start_from(struct grid_search *s, int64_t point)
{
    vec_push(&s->starts, point);
}

static bool is_open(struct grid_search *s, int64_t point)
{
    if (s->states[point] == UNSEEN && s->problem.suits && !s->problem.suits(s->problem.context, point))
        s->states[point] = UNSUITABLE;
    return s->states[point] == UNSEEN;
}

void grid_search_tell(struct grid_search *s, int64_t point, double value)
{
    assert(s->states[point] != TOLD);
    s->states[point] = TOLD;
    if (isinf(value))
        return;
    vec_push(&s->told, ((struct told){point, value}));
    size_t i = s->told.count - 1;
    for (; i && s->told.items[i - 1].value > value; i--)
        s->told.items[i] = s->told.items[i - 1];
    s->told.items[i] = (struct told){point, value};
}

size_t grid_search_best(const struct grid_search *s, size_t most, int64_t *ret_points)
{
    size_t n = most < s->told.count ? most : s->told.count;
    for (size_t i = 0; i < n; i++)
        ret_points[i] = s->told.items[i].point;
    return n;
}

// --- drawing ---------------------------------------------------------------------------------------------------------

static int64_t next_in_this_round(struct grid_search *s)
{
    while (s->next < s->count) {
        int64_t point = s->next++ * s->stride % s->count;   // below 2^48
        if (is_open(s, point))
            return point;
    }
    return -1;
}

// The next open one in the order that spreads; -1: there is none any more.
static int64_t next_in_order(struct grid_search *s)
{
    int64_t point = next_in_this_round(s);
    if (point >= 0 || !s->has_left_some)
        return point;
    s->next = 0;
    s->has_left_some = false;
    return next_in_this_round(s);
}

static int64_t pick_parent(struct grid_search *s)
{
    size_t n = s->told.count < PARENTS ? s->told.count : PARENTS, best = n;
    for (int i = 0; i < TOURNAMENT; i++) {
        size_t other = random_below(&s->random, n);
        best = other < best ? other : best;
    }
    return s->told.items[best].point;
}

static int64_t draw_child(struct grid_search *s)
{
    const struct grid *g = &s->problem.grid;
    if (!s->told.count || random_unit(&s->random) < SHARE_OF_STRAYS)
        return (int64_t)random_below(&s->random, (uint64_t)s->count);
    int64_t child = pick_parent(s);
    if (random_unit(&s->random) < SHARE_OF_CROSSED)
        child = grid_cross(g, child, pick_parent(s), &s->random);
    return grid_mutate(g, child, &s->random);
}

static int64_t draw(struct grid_search *s)
{
    for (int i = 0; s->problem.strategy == SEARCH_EVOLUTIONARY && i < DRAWS_IN_VAIN; i++) {
        int64_t child = draw_child(s);
        if (is_open(s, child))
            return child;
    }
    return next_in_order(s);
}

static bool predict(const struct grid_search *s, int64_t point, double *ret_value)
{
    return s->problem.predict && s->problem.predict(s->problem.context, point, ret_value);
}

// The least of several by the prediction; without one the first.
static int64_t draw_predicted(struct grid_search *s)
{
    int64_t best = draw(s);
    double least, value;
    if (best < 0 || random_unit(&s->random) < SHARE_UNPREDICTED || !predict(s, best, &least))
        return best;
    s->states[best] = PROPOSED;
    for (int i = 1; i < DRAWN_FOR_EACH; i++) {
        int64_t other = draw(s);
        if (other < 0)
            break;
        if (!predict(s, other, &value))
            value = INFINITY;
        bool is_better = value < least;
        s->states[is_better ? best : other] = UNSEEN;
        s->has_left_some = true;
        best = is_better ? other : best;
        least = is_better ? value : least;
        s->states[best] = PROPOSED;
    }
    return best;
}

static int64_t next_start(struct grid_search *s)
{
    while (s->n_started < s->starts.count) {
        int64_t point = s->starts.items[s->n_started++];
        if (is_open(s, point))
            return point;
    }
    return -1;
}

bool grid_search_take(struct grid_search *s, int64_t point)
{
    bool is_taken = is_open(s, point);
    s->states[point] = is_taken ? PROPOSED : s->states[point];
    return is_taken;
}

size_t grid_search_propose_starts(struct grid_search *s, size_t most, int64_t *ret_points)
{
    size_t n = 0;
    for (int64_t point; n < most && (point = next_start(s)) >= 0; n++) {
        s->states[point] = PROPOSED;
        ret_points[n] = point;
    }
    return n;
}

size_t grid_search_propose(struct grid_search *s, size_t most, int64_t *ret_points)
{
    size_t n = grid_search_propose_starts(s, most, ret_points);
    for (int64_t point; n < most && (point = draw_predicted(s)) >= 0; n++) {
        s->states[point] = PROPOSED;
        ret_points[n] = point;
    }
    return n;
}
