// Search in grids: nothing is proposed twice or unsuitable, everything is found, the same questions get the same
// answers, and evolution needs fewer trials than chance does.
#include "tests/support/check.h"
#include "tuning/search/grid_search.h"

static const struct grid grids[] = {{1, {1}}, {1, {7}}, {2, {3, 5}}, {3, {4, 1, 9}}, {4, {6, 5, 4, 10}}};

TEST(points_have_the_numbers_of_their_coordinates)
{
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        const struct grid *g = &grids[i];
        struct random random = random_seed(i);
        for (int64_t p = 0; p < grid_count(g); p++) {
            int64_t at[GRID_AXES];
            grid_coordinates(g, p, at);
            assert_int_equal(grid_point(g, at), p);
            for (int axis = 0; axis < g->n_axes; axis++)
                assert_true(at[axis] >= 0 && at[axis] < g->sizes[axis]);
            int64_t mutated = grid_mutate(g, p, &random), crossed = grid_cross(g, p, mutated, &random);
            assert_true(mutated >= 0 && mutated < grid_count(g) && (mutated != p || grid_count(g) == 1));
            assert_true(crossed == p || crossed == mutated);   // they differ in one axis
        }
    }
}

// A valley with a ridge across it, and places that do not suit.
struct landscape {
    struct grid grid;
    bool is_predicted, is_predicted_well;
};

static bool suits(void *context, int64_t point)
{
    return point % 7 != 3;
}

static double value_at(const struct landscape *l, int64_t point)
{
    int64_t at[GRID_AXES];
    double sum = 1;
    grid_coordinates(&l->grid, point, at);
    for (int i = 0; i < l->grid.n_axes; i++)
        sum += fabs((double)at[i] - 0.7 * (double)l->grid.sizes[i]) * (1 + i);
    return sum + (at[0] == at[1] ? 5 : 0) + 1e-6 * (double)point;
}

static bool predict(void *context, int64_t point, double *ret_value)
{
    const struct landscape *l = context;
    *ret_value = l->is_predicted_well ? value_at(l, point) : (double)(point * 7919 % 1000);
    return l->is_predicted;
}

static struct grid_search *new_search(struct landscape *l, enum grid_search_strategy strategy, uint64_t seed)
{
    return grid_search_new(&(struct grid_search_problem){l->grid, strategy, seed, l, suits, predict});
}

static double least_of_all(const struct landscape *l)
{
    double least = INFINITY;
    for (int64_t p = 0; p < grid_count(&l->grid); p++)
        least = suits(NULL, p) ? fmin(least, value_at(l, p)) : least;
    return least;
}

TEST(every_suitable_point_is_proposed_once)
{
    for (size_t i = 2; i < COUNT_OF(grids); i++)
        for (int way = 0; way < 8; way++) {
            struct landscape l = {grids[i], way & 2, way & 4};
            struct grid_search *s = new_search(&l, way & 1 ? SEARCH_EXHAUSTIVE : SEARCH_EVOLUTIONARY, (uint64_t)way);
            char *is_seen = mem_alloc_zero((size_t)grid_count(&l.grid));
            int64_t points[9], n_seen = 0, n_suitable = 0;
            for (int64_t p = 0; p < grid_count(&l.grid); p++)
                n_suitable += suits(NULL, p);
            grid_search_tell(s, 0, value_at(&l, 0));   // known from elsewhere
            is_seen[n_seen++] = 1;
            assert_true(grid_search_take(s, 1) && !grid_search_take(s, 1) && !grid_search_take(s, 3));
            is_seen[1] = 1;
            n_seen++;
            grid_search_start_from(s, 5);
            grid_search_start_from(s, 1);
            assert_true(grid_search_propose_starts(s, 9, points) == 1 && points[0] == 5 && ++is_seen[5]);
            assert_int_equal(grid_search_propose_starts(s, 9, points), 0);   // the other one was taken
            grid_search_tell(s, 5, value_at(&l, 5));
            n_seen++;
            grid_search_start_from(s, 6);
            for (size_t n; (n = grid_search_propose(s, 9, points));)
                for (size_t k = 0; k < n; k++) {
                    assert_true(suits(NULL, points[k]) && !is_seen[points[k]] && (n_seen > 3 || points[0] == 6));
                    is_seen[points[k]] = 1;
                    grid_search_tell(s, points[k], n_seen++ % 11 ? value_at(&l, points[k]) : INFINITY);
                }
            assert_int_equal(n_seen, n_suitable);
            mem_free(is_seen, (size_t)grid_count(&l.grid));
            grid_search_free(s);
        }
}

// The best so far after so many trials.
static double run(struct landscape *l, enum grid_search_strategy strategy, uint64_t seed, size_t trials,
                  uint64_t *ret_hash)
{
    struct grid_search *s = new_search(l, strategy, seed);
    int64_t points[12], best[2];
    for (size_t i = 0; i < trials; i += 12)
        for (size_t n = grid_search_propose(s, 12, points), k = 0; k < n; k++) {
            grid_search_tell(s, points[k], value_at(l, points[k]));
            *ret_hash = *ret_hash * 31 + (uint64_t)points[k];
        }
    size_t n = grid_search_best(s, 2, best);
    assert_true(n == 2 && value_at(l, best[0]) <= value_at(l, best[1]));
    grid_search_free(s);
    return value_at(l, best[0]);
}

static double least_by_chance(const struct landscape *l, uint64_t seed, size_t trials)
{
    struct random r = random_seed(seed);
    double least = INFINITY;
    for (size_t i = 0; i < trials;) {
        int64_t point = (int64_t)random_below(&r, (uint64_t)grid_count(&l->grid));
        least = suits(NULL, point) ? fmin(least, value_at(l, point)) : least;
        i += suits(NULL, point);
    }
    return least;
}

TEST(evolution_beats_chance_and_predictions_help)
{
    struct landscape plain = {grids[4]}, well = {grids[4], true, true}, badly = {grids[4], true, false};
    double least = least_of_all(&plain), sums[4] = {0};
    uint64_t hash = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        sums[0] += least_by_chance(&plain, seed, 96) / least;
        sums[1] += run(&plain, SEARCH_EVOLUTIONARY, seed, 96, &hash) / least;
        sums[2] += run(&well, SEARCH_EVOLUTIONARY, seed, 96, &hash) / least;
        sums[3] += run(&badly, SEARCH_EVOLUTIONARY, seed, 96, &hash) / least;
    }
    assert_true(sums[1] < 1.2 * 40 && sums[1] < sums[0] && sums[2] <= sums[1]);
    assert_true(sums[3] < 1.6 * 40);   // what predicts nothing costs little
}

TEST(equal_seeds_and_answers_give_equal_proposals)
{
    struct landscape l = {grids[4], true, true};
    uint64_t first = 0, second = 0, other = 0;
    run(&l, SEARCH_EVOLUTIONARY, 5, 240, &first);
    run(&l, SEARCH_EVOLUTIONARY, 5, 240, &second);
    run(&l, SEARCH_EVOLUTIONARY, 6, 240, &other);
    assert_true(first == second && first != other);
}
