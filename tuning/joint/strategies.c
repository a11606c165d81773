// Annealing has a current candidate; the exhaustive search goes on from the best, at a place in each pass.
#include "tuning/joint/strategies.h"

#include "tuning/limits.def"
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
    struct joint_candidate current;    // of annealing
    double temperature, differences;   // sum of all, as shares of costs
    size_t n_differences;
    struct cursor cursors[MOST_PASSES];
};

// --- exhaustive ------------------------------------------------------------------------------------------------------

static bool is_done(const struct cursor *at, uint64_t node)
{
    return ANY(size_t, i, at->done.count, at->done.items[i] == node);
}

// NULL: all are done.
static const struct setting *find_heaviest(const struct cursor *at, const struct configuration *c)
{
    const struct setting *heaviest = NULL;
    for (size_t i = 0; i < c->settings.count; i++) {
        const struct setting *s = &c->settings.items[i];
        if ((!heaviest || s->node.weight > heaviest->node.weight) && !is_done(at, s->node.fingerprint))
            heaviest = s;
    }
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
static bool anneal(struct strategy *s, size_t pass, struct joint_candidate *ret)
{
    if (!configuration_can_change(&s->current.of[pass]))
        return false;
    joint_candidate_copy(ret, &s->current);
    double n = (double)ret->of[pass].settings.count, probability = fmin(MUTATION_WHEN_HOT, MORE_WHEN_HOT / n);
    configuration_mutate(&ret->of[pass], probability * s->temperature, &s->random);
    return true;
}

static void accept_or_not(struct strategy *s, const struct joint_candidate *c)
{
    double worse = c->cost / s->current.cost - 1;
    if (!isfinite(worse))
        return;
    s->differences += fabs(worse);
    s->n_differences++;
    double typical = s->differences / (double)s->n_differences;
    if (worse <= 0 || random_unit(&s->random) < exp(-worse / (s->temperature * typical)))
        joint_candidate_copy(&s->current, c);
    s->temperature = s->temperature < COLDEST ? HOTTEST : s->temperature * COOLING;
}

// --- both ------------------------------------------------------------------------------------------------------------

struct strategy *strategy_new(enum strategy_kind kind, const struct joint_candidate *start, uint64_t seed)
{
    struct strategy *s = mem_alloc_zero(sizeof *s);
    s->kind = kind;
    s->random = random_seed(seed);
    s->temperature = HOTTEST;
    joint_candidate_copy(&s->current, start);
    return s;
}

void strategy_free(struct strategy *s)
{
    joint_candidate_free(&s->current);
    for (size_t pass = 0; pass < MOST_PASSES; pass++)
        vec_free(&s->cursors[pass].done);
    mem_free(s, sizeof *s);
}

bool strategy_generate(struct strategy *s, const struct joint_candidate *best, size_t pass, struct joint_candidate *ret)
{
    return s->kind == TUNE_BY_ANNEALING ? anneal(s, pass, ret) : next_value(s, best, pass, ret);
}

void strategy_select(struct strategy *s, const struct joint_candidate *evaluated)
{
    if (s->kind == TUNE_BY_ANNEALING)
        accept_or_not(s, evaluated);
}

void strategy_rescale(struct strategy *s, double ratio)
{
    s->current.cost *= ratio;
    for (size_t pass = 0; pass < MOST_PASSES; pass++)
        s->cursors[pass].cost *= ratio;
}
