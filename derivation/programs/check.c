// Inputs are pseudo-random functions of the place, so that nothing is stored.
#include "derivation/programs/check.h"

#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate_entry.h"
#include "expressions/field.h"

enum { PLACES_OF_AXIS = 5, MOST_BORDERS = 4096 };

struct comparison {
    struct definition one, other;
    uint64_t seed;
    const struct type *type;
};

static uint64_t entry(void *context, int input, const int64_t *index)
{
    const struct comparison *c = context;
    uint64_t key = hash_mix(c->seed, (uint64_t)input);
    for (int axis = 0; axis < c->one.inputs[input].rank; axis++)
        key = hash_mix(key, (uint64_t)index[axis]);
    return field_reduce(key);
}

static bool agrees_at(struct comparison *c, const int64_t *index)
{
    return evaluate_field_entry(&c->one, c->seed, 0, index, entry, c) ==
           evaluate_field_entry(&c->other, c->seed, 0, index, entry, c);
}

static int64_t border_place(int64_t size, uint64_t which)
{
    const int64_t places[PLACES_OF_AXIS] = {0, 1, size / 2, size - 2, size - 1};
    int64_t place = places[which];
    return place < 0 ? 0 : place >= size ? size - 1 : place;
}

static bool agrees_at_borders(struct comparison *c, struct random *random, uint64_t most)
{
    int64_t index[MAX_RANK] = {0};
    uint64_t all = 1;
    for (int axis = 0; axis < c->type->rank; axis++)
        all *= PLACES_OF_AXIS;
    for (uint64_t k = 0; k < (all < most ? all : most); k++) {
        uint64_t which = all <= most ? k : random_below(random, all);
        for (int axis = 0; axis < c->type->rank; axis++, which /= PLACES_OF_AXIS)
            index[axis] = border_place(c->type->dim[axis], which % PLACES_OF_AXIS);
        if (!agrees_at(c, index))
            return false;
    }
    return true;
}

static bool agrees_at_random(struct comparison *c, struct random *random, int n)
{
    int64_t index[MAX_RANK] = {0};
    for (int k = 0; k < n; k++) {
        for (int axis = 0; axis < c->type->rank; axis++)
            index[axis] = (int64_t)random_below(random, (uint64_t)c->type->dim[axis]);
        if (!agrees_at(c, index))
            return false;
    }
    return true;
}

static void comparison_init(const struct derivation *dv, int one, int other, uint64_t seed, struct comparison *ret)
{
    composition_extract(&dv->all, one, &ret->one);
    composition_extract(&dv->all, other, &ret->other);
    ret->seed = seed;
    ret->type = definition_output(&ret->one, 0);
}

static void comparison_free(struct comparison *c)
{
    definition_free(&c->one);
    definition_free(&c->other);
}

static double work_of_entry(const struct comparison *c)
{
    LOCAL_ZEROS(double, costs, c->one.n_inputs + 1);
    return 1 + definition_entry_cost(&c->one, 0, costs) + definition_entry_cost(&c->other, 0, costs);
}

bool programs_agree(const struct derivation *dv, int one, int other, uint64_t seed, const struct check_limits *limits)
{
    struct comparison c FREED_BY(comparison_free);
    struct random random = random_seed(seed);
    comparison_init(dv, one, other, seed, &c);
    double affordable = limits->most_work / work_of_entry(&c);
    uint64_t most = affordable < 8 ? 8 : affordable > MOST_BORDERS ? MOST_BORDERS : (uint64_t)affordable;
    int n_random = (uint64_t)limits->n_random < most ? limits->n_random : (int)most;
    return type_equal_shape(c.type, definition_output(&c.other, 0)) &&
           (type_elements(c.type) == 0 ||
            (agrees_at_borders(&c, &random, most) && agrees_at_random(&c, &random, n_random)));
}

bool programs_agree_everywhere(const struct derivation *dv, int one, int other, uint64_t seed)
{
    struct comparison c FREED_BY(comparison_free);
    int64_t index[MAX_RANK] = {0};
    comparison_init(dv, one, other, seed, &c);
    bool agree = type_equal_shape(c.type, definition_output(&c.other, 0));
    for (int64_t n = agree ? type_elements(c.type) : 0; n-- > 0 && agree;) {
        int64_t rest = n;
        for (int axis = c.type->rank; axis-- > 0; rest /= c.type->dim[axis])
            index[axis] = rest % c.type->dim[axis];
        agree = agrees_at(&c, index);
    }
    return agree;
}
