// All strategies have a population, the most recent last: of annealing its one current candidate.
#include "tuning/joint/strategies.h"

#include "tuning/limits.def"
#include "tuning/model/ridge.h"
#include <math.h>

struct cursor {   // of the exhaustive search in a pass
    bool is_begun;
    VEC(uint64_t) done;   // nodes of this round
    uint64_t node;        // whose values are tried
    uint32_t value;
    double cost;   // of the best when the round began
};
struct strategy {
    enum strategy_kind kind;
    struct random random;
    VEC(struct joint_candidate) population;
    VEC(uint64_t) evaluated;           // hashes of all
    double temperature, differences;   // sum of all, as shares of costs
    size_t n_differences;
    struct cursor cursors[MOST_PASSES];
    VEC(struct observation) rows;   // of what was evaluated
    struct ridge model;
    bool is_model_believed;
};

static void add_to_population(struct strategy *s, const struct joint_candidate *c, size_t most)
{
    struct joint_candidate fresh = {0};
    if (s->population.count == most) {
        fresh = s->population.items[0];
        for (size_t i = 0; i + 1 < most; i++)
            s->population.items[i] = s->population.items[i + 1];
        s->population.count--;
    }
    joint_candidate_copy(&fresh, c);
    vec_push(&s->population, fresh);
}

// --- exhaustive ------------------------------------------------------------------------------------------------------

static bool is_done(const struct cursor *at, uint64_t node)
{
    return ANY(size_t, i, at->done.count, at->done.items[i] == node);
}

// NULL: all are done.
static const struct setting *find_heaviest(const struct cursor *at, const struct configuration *c)
{
    const struct setting *heaviest = NULL;
    vec_each(&c->settings, s)
        if ((!heaviest || s->node.weight > heaviest->node.weight) && !is_done(at, s->node.fingerprint))
            heaviest = s;
    return heaviest;
}

static void begin_round(struct cursor *at, double cost)
{
    vec_clear(&at->done);
    at->is_begun = true;
    at->cost = cost;
}

static void go_to(struct cursor *at, uint64_t node)
{
    at->value = node == at->node ? at->value : 0;
    at->node = node;
}

static bool next_value(struct strategy *s, const struct joint_candidate *best, size_t pass, struct joint_candidate *ret)
{
    struct cursor *at = &s->cursors[pass];
    const struct setting *setting = find_heaviest(at, &best->of[pass]);
    if (!at->is_begun || (!setting && best->cost < at->cost)) {
        begin_round(at, best->cost);
        setting = find_heaviest(at, &best->of[pass]);
    }
    for (; setting; setting = find_heaviest(at, &best->of[pass])) {
        go_to(at, setting->node.fingerprint);
        at->value += at->value == setting->value;
        if (at->value < setting->node.n_values)
            break;
        vec_push(&at->done, at->node);
        at->value = 0;
    }
    if (!setting)
        return false;
    joint_candidate_copy(ret, best);
    ret->of[pass].settings.items[setting - best->of[pass].settings.items].value = at->value++;
    return true;
}

// --- annealing -------------------------------------------------------------------------------------------------------

// Costs are sums, so a candidate that differs in many nodes tells no more than several that differ in one, and is
// better only if these are together.
static void anneal(struct strategy *s, size_t pass, struct joint_candidate *ret)
{
    joint_candidate_copy(ret, &vec_last(&s->population));
    double n = (double)ret->of[pass].settings.count, probability = fmin(MUTATION_WHEN_HOT, MORE_WHEN_HOT / n);
    configuration_mutate(&ret->of[pass], probability * s->temperature, &s->random);
}

static void accept_or_not(struct strategy *s, const struct joint_candidate *c)
{
    double worse = c->cost / vec_last(&s->population).cost - 1;
    if (!isfinite(worse))
        return;
    s->differences += fabs(worse);
    s->n_differences++;
    double typical = s->differences / (double)s->n_differences;
    if (worse <= 0 || random_unit(&s->random) < exp(-worse / (s->temperature * typical)))
        add_to_population(s, c, 1);
    s->temperature = s->temperature < COLDEST ? HOTTEST : s->temperature * COOLING;
}

// --- evolution -------------------------------------------------------------------------------------------------------

static const struct joint_candidate *win_tournament(struct strategy *s)
{
    const struct joint_candidate *a = &s->population.items[random_below(&s->random, s->population.count)];
    const struct joint_candidate *b = &s->population.items[random_below(&s->random, s->population.count)];
    return a->cost <= b->cost ? a : b;
}

static void note_evaluated(struct strategy *s, const struct joint_candidate *c)
{
    for (size_t pass = 0; pass < MOST_PASSES; pass++)
        vec_push(&s->evaluated, joint_candidate_hash(c, pass));
}

// With that configuration up to the pass, whatever followed of later ones. A collision of hashes costs an attempt.
static bool was_evaluated(const struct strategy *s, const struct joint_candidate *c, size_t pass)
{
    uint64_t hash = joint_candidate_hash(c, pass);
    return ANY(size_t, i, s->evaluated.count, s->evaluated.items[i] == hash);
}

static void breed(struct strategy *s, size_t pass, struct joint_candidate *ret)
{
    const struct joint_candidate *a = win_tournament(s), *b = win_tournament(s);
    joint_candidate_copy(ret, a);
    configuration_cross(&ret->of[pass], &b->of[pass], CROSSOVER, &s->random);
    if (joint_candidate_equal(ret, a))
        configuration_mutate(&ret->of[pass], MUTATION, &s->random);
    for (int i = 0; i < MOST_ATTEMPTS && was_evaluated(s, ret, pass); i++)
        configuration_mutate(&ret->of[pass], MUTATION, &s->random);
}

// --- the model -------------------------------------------------------------------------------------------------------

// A place for each node by its fingerprint; those of several nodes add up where there are more than places.
static void list_features(const struct joint_candidate *c, double ret[OBSERVATION_FEATURES])
{
    for (int i = 0; i < OBSERVATION_FEATURES; i++)
        ret[i] = 0;
    for (size_t pass = 0; pass < MOST_PASSES; pass++)
        for (size_t i = 0; i < c->of[pass].settings.count; i++) {
            const struct setting *s = &c->of[pass].settings.items[i];
            uint64_t place = random_keyed(s->node.fingerprint, (pass << 32) + s->value);
            ret[place % OBSERVATION_FEATURES] += s->value == s->node.standard ? 0 : 1;
        }
}

static void learn(struct strategy *s, const struct joint_candidate *c)
{
    struct observation row = {.value = log(c->cost)};
    list_features(c, row.features);
    if (!isfinite(row.value))
        return;
    vec_push(&s->rows, row);
    if (s->rows.count % ROWS_BETWEEN_FITS == 0)
        s->is_model_believed =
            ridge_fit(&s->model, s->rows.items, s->rows.count, OBSERVATION_FEATURES, PENALTY) && s->model.r >= LEAST_R;
}

// A configuration that was evaluated is not wanted again.
static double predict(const struct strategy *s, const struct joint_candidate *c, size_t pass)
{
    double features[OBSERVATION_FEATURES];
    list_features(c, features);
    return was_evaluated(s, c, pass) ? INFINITY : ridge_predict(&s->model, features);
}

static void breed_by_model(struct strategy *s, size_t pass, struct joint_candidate *ret)
{
    struct joint_candidate child FREED_BY(joint_candidate_free) = {0};
    breed(s, pass, ret);
    bool is_asked = s->is_model_believed && s->rows.count % STEPS_WITHOUT_MODEL != 0;
    for (int i = 1; is_asked && i < CHILDREN; i++) {
        breed(s, pass, &child);
        if (predict(s, &child, pass) < predict(s, ret, pass))
            joint_candidate_copy(ret, &child);
    }
}

// --- all of them -----------------------------------------------------------------------------------------------------

struct strategy *strategy_new(enum strategy_kind kind, const struct joint_candidate *start, uint64_t seed)
{
    struct strategy *s = mem_alloc_zero(sizeof *s);
    s->kind = kind;
    s->random = random_seed(seed);
    s->temperature = HOTTEST;
    add_to_population(s, start, POPULATION);
    note_evaluated(s, start);
    return s;
}

void strategy_free(struct strategy *s)
{
    for (size_t i = 0; i < s->population.count; i++)
        joint_candidate_free(&s->population.items[i]);
    vecs_free(s, population, rows, evaluated);
    for (size_t pass = 0; pass < MOST_PASSES; pass++)
        vec_free(&s->cursors[pass].done);
    mem_free(s, sizeof *s);
}

bool strategy_generate(struct strategy *s, const struct joint_candidate *best, size_t pass, struct joint_candidate *ret)
{
    if (s->kind == TUNE_BY_EXHAUSTIVE)
        return next_value(s, best, pass, ret);
    if (!configuration_can_change(&vec_last(&s->population).of[pass]))
        return false;
    if (s->kind == TUNE_BY_ANNEALING)
        anneal(s, pass, ret);
    else if (s->kind == TUNE_BY_EVOLUTION)
        breed(s, pass, ret);
    else
        breed_by_model(s, pass, ret);
    return true;
}

void strategy_select(struct strategy *s, const struct joint_candidate *evaluated)
{
    note_evaluated(s, evaluated);
    if (s->kind == TUNE_BY_ANNEALING)
        accept_or_not(s, evaluated);
    else if (s->kind != TUNE_BY_EXHAUSTIVE)
        add_to_population(s, evaluated, POPULATION);
    if (s->kind == TUNE_BY_MODEL)
        learn(s, evaluated);
}

void strategy_rescale(struct strategy *s, double ratio)
{
    for (size_t i = 0; i < s->population.count; i++)
        s->population.items[i].cost *= ratio;
    for (size_t pass = 0; pass < MOST_PASSES; pass++)
        s->cursors[pass].cost *= ratio;
    for (size_t i = 0; i < s->rows.count; i++)
        s->rows.items[i].value += log(ratio);
}
