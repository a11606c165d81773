// Equal values of attributes are changed together, in as few places as keep the rule true, to each value of a table.
#include "generator/other_sizes/generalize.h"

#include "substitutions/rule.h"
#include <string.h>

// A rule may have one more, the number of groups.
enum { MAX_VALUES_TO_TRY = 8, MAX_FREE_VALUES = MAX_RULE_VARIABLES - 1 };
// Values to try for attributes of these roles, beside those of the rule: of windows on images, then on rows.
static const struct values_to_try {
    enum attribute_role role;
    int n;
    struct {
        uint32_t count;
        int64_t ints[4];
    } values[MAX_VALUES_TO_TRY];
} tables[] = {
    {ROLE_STRIDE, 7, {{2, {1, 1}}, {2, {2, 2}}, {2, {2, 1}}, {2, {1, 3}}, {1, {1}}, {1, {2}}, {1, {3}}}},
    {ROLE_WINDOW_PADS,
     8,
     {{4, {0, 0, 0, 0}},
      {4, {1, 1, 1, 1}},
      {4, {0, 1, 2, 0}},
      {4, {1, 0, 1, 0}},
      {4, {0, 2, 0, 1}},
      {2, {0, 0}},
      {2, {1, 1}},
      {2, {2, 0}}}},
    {ROLE_DILATION, 5, {{2, {1, 1}}, {2, {2, 2}}, {2, {1, 2}}, {1, {1}}, {1, {2}}}},
    {ROLE_ACTIVATION, 2, {{1, {0}}, {1, {1}}}},
    {ROLE_PADDING, 2, {{1, {0}}, {1, {1}}}},
    {ROLE_AXIS, 4, {{1, {0}}, {1, {1}}, {1, {2}}, {1, {3}}}},
    {ROLE_KERNEL, 5, {{2, {3, 3}}, {2, {2, 2}}, {2, {3, 2}}, {1, {3}}, {1, {2}}}},
    {ROLE_PART_SIZES, 4, {{2, {1, 4}}, {2, {4, 1}}, {3, {1, 2, 2}}, {3, {3, 1, 1}}}},
    {ROLE_SHAPE, 6, {{2, {3, 4}}, {1, {12}}, {2, {4, 3}}, {3, {2, 3, 2}}, {3, {5, 3, 4}}, {2, {7, 4}}}},
};

// Lists that are not given mean ones (strides, dilations) or zeros (pads).
static bool is_same_meaning(enum attribute_role role, const struct attribute_value *a, const struct attribute_value *b)
{
    int64_t standard = attribute_roles[role].plain;
    uint32_t n = a->count > b->count ? a->count : b->count;
    if (a->count && b->count)
        return attribute_value_equal(a, b);
    return ALL(uint32_t, i, n, (a->count ? a->ints[i] : b->ints[i]) == standard);
}

struct generalizing {
    const struct rule_graph *rg;
    const struct shapes *s;
    struct size_test *trial;
    struct attribute_places *p;
    int64_t base[MAX_SIZES], other[MAX_SIZES];                                      // sizes
    const struct call_setting *settings[MAX_ATTRIBUTE_PLACES][MAX_VALUES_TO_TRY];   // NULL: not looked up yet
};

static const struct values_to_try *table_of(enum attribute_role role)
{
    return FIND(tables, sizeof tables / sizeof *tables, t, t->role == role);
}

static const struct instance *instance_at(const struct generalizing *g, int place)
{
    return &g->rg->family->instances[g->rg->nodes[g->p->places[place].node].instance];
}

static const struct attribute *attribute_at(const struct generalizing *g, int place)
{
    return &instance_at(g, place)->op->attributes[g->p->places[place].attribute];
}

static const struct attribute_value *value_at(const struct generalizing *g, int place)
{
    return &instance_at(g, place)->attributes[g->p->places[place].attribute];
}

// Sizes that types decide stay sizes, but for whole shapes and cuts.
static bool may_be_variable(const struct generalizing *g, int node, int attribute, enum attribute_role role)
{
    return table_of(role) &&
           (role == ROLE_SHAPE || role == ROLE_PART_SIZES || shapes_find(g->s, SIZE_OF_ATTRIBUTE, node, attribute) < 0);
}

static void find_places(struct generalizing *g)
{
    const struct rule_graph *rg = g->rg;
    uint32_t nodes = rule_graph_reach(rg, rg->source).nodes | rule_graph_reach(rg, rg->target).nodes;
    g->p->n = g->p->n_variables = 0;
    for (int i = 0; i < rg->n_nodes; i++) {
        const struct instance *in = &rg->family->instances[rg->nodes[i].instance];
        for (int a = 0; nodes & 1u << i && a < operator_n_attributes(in->op); a++)
            if (may_be_variable(g, i, a, in->op->attributes[a].role) && g->p->n < MAX_ATTRIBUTE_PLACES)
                g->p->places[g->p->n++] = (struct attribute_place){(uint8_t)i, (uint8_t)a, -1};
    }
}

// The node's setting with another value at the place. Sizes among its attributes stay what they are.
static const struct call_setting *setting_with(struct generalizing *g, int place, int value)
{
    const struct instance *in = instance_at(g, place);
    const struct values_to_try *table = table_of(attribute_at(g, place)->role);
    struct attribute_value values[MAX_ATTRIBUTES];
    if (g->settings[place][value])
        return g->settings[place][value];
    memcpy(values, in->attributes, sizeof *values * (size_t)operator_n_attributes(in->op));
    values[g->p->places[place].attribute] =
        (struct attribute_value){table->values[value].count, table->values[value].ints};
    return g->settings[place][value] = evaluation_cache_setting(g->trial->calls, in->op, values);
}

// Judged at the sizes of the enumeration, and at others: a dilation is no matter to kernels of one entry alone. `set`
// has one attribute of a node at most, as all are named alike.
static enum verdict judge_now(struct generalizing *g, uint64_t set, int value)
{
    struct setting_override overrides[MAX_ATTRIBUTE_PLACES];
    int n = 0;
    for (int i = 0; i < g->p->n; i++)
        if (set >> i & 1)
            overrides[n++] = (struct setting_override){g->p->places[i].node, setting_with(g, i, value)};
    enum verdict verdict = size_test_judge(g->trial, g->base, overrides, n);
    bool is_false_elsewhere = verdict == VERDICT_EQUAL && g->s->n_assignments > 0 &&
                              size_test_judge(g->trial, g->other, overrides, n) == VERDICT_UNEQUAL;
    return is_false_elsewhere ? VERDICT_UNEQUAL : verdict;
}

// The number of a window's axes that a list of so many entries speaks of; 0: it is no such list, or is not given.
static uint32_t axes_of_window(enum attribute_role role, uint32_t count)
{
    return attribute_roles[role].is_of_window ? count / (uint32_t)attribute_roles[role].per_axis : 0;
}

// Windows on rows and on images are never well-typed together: most values need no look at the rule.
static bool is_of_other_rank(const struct generalizing *g, uint64_t set, int value)
{
    int place = __builtin_ctzll(set);
    const struct instance *in = instance_at(g, place);
    enum attribute_role role = attribute_at(g, place)->role;
    uint32_t axes = axes_of_window(role, table_of(role)->values[value].count);
    for (int i = 0; i < operator_n_attributes(in->op) && axes; i++) {
        uint32_t known = axes_of_window(in->op->attributes[i].role, in->attributes[i].count);
        if (known && known != axes)
            return true;
    }
    return false;
}

static enum verdict judge_with(struct generalizing *g, uint64_t set, int value)
{
    return is_of_other_rank(g, set, value) ? VERDICT_ILL_TYPED : judge_now(g, set, value);
}

static uint64_t places_like(const struct generalizing *g, int place)
{
    uint64_t set = 0;
    for (int i = 0; i < g->p->n; i++)
        if (g->p->places[i].variable < 0 && strcmp(attribute_at(g, i)->name, attribute_at(g, place)->name) == 0 &&
            attribute_value_equal(value_at(g, i), value_at(g, place)))
            set |= UINT64_C(1) << i;
    return set;
}

static bool has_place_in_source(const struct generalizing *g, uint64_t set)
{
    uint32_t nodes = rule_graph_reach(g->rg, g->rg->source).nodes;
    return ANY(int, i, g->p->n, set >> i & 1 && nodes & 1u << g->p->places[i].node);
}

// The least set with the place that may change to the value; 0: none.
static uint64_t find_set(struct generalizing *g, int place, int value)
{
    uint64_t set = places_like(g, place), own = UINT64_C(1) << place;
    if (judge_with(g, own, value) == VERDICT_EQUAL)
        return own;
    if (set == own || judge_with(g, set, value) != VERDICT_EQUAL)
        return 0;
    for (int i = 0; i < g->p->n; i++)
        if (set >> i & 1 && i != place && judge_with(g, set & ~(UINT64_C(1) << i), value) == VERDICT_EQUAL)
            set &= ~(UINT64_C(1) << i);
    return set;
}

static bool holds_at_all_values(struct generalizing *g, uint64_t set, const struct values_to_try *table)
{
    return ALL(int, i, table->n, judge_with(g, set, i) != VERDICT_UNEQUAL);
}

// A node that joins the parts again has other types if there are more parts than two. (Nodes have two outputs here, so
// that types are all that is known of more.)
static uint32_t number_of_parts(struct generalizing *g, uint64_t set, int place)
{
    const struct values_to_try *table = table_of(attribute_at(g, place)->role);
    uint32_t n = attribute_at(g, place)->role == ROLE_PART_SIZES ? value_at(g, place)->count : 0;
    g->trial->is_trusting = true;
    for (int i = 0; i < table->n && n; i++)
        if (table->values[i].count != n && judge_now(g, set, i) == VERDICT_EQUAL)
            n = 0;
    g->trial->is_trusting = false;
    return n;
}

static void make_variable(struct generalizing *g, uint64_t set, int place)
{
    g->p->names[g->p->n_variables] = attribute_at(g, place)->name;
    g->p->n_parts[g->p->n_variables] = number_of_parts(g, set, place);
    for (int i = 0; i < g->p->n; i++)
        if (set >> i & 1)
            g->p->places[i].variable = g->p->n_variables;
    g->p->n_variables++;
}

static void generalize_place(struct generalizing *g, int place)
{
    const struct attribute *attribute = attribute_at(g, place);
    const struct values_to_try *table = table_of(attribute->role);
    for (int i = 0; i < table->n; i++) {
        struct attribute_value value = {table->values[i].count, table->values[i].ints};
        uint64_t set = is_same_meaning(attribute->role, &value, value_at(g, place)) ? 0 : find_set(g, place, i);
        if (!set)
            continue;
        if (has_place_in_source(g, set) && holds_at_all_values(g, set, table))
            make_variable(g, set, place);
        return;
    }
}

void generalize_attributes(struct size_test *trial, struct attribute_places *ret_places)
{
    struct generalizing g = {trial->rg, trial->shapes, trial, ret_places, {0}};
    shapes_sizes(trial->shapes, 0, g.base);
    if (trial->shapes->n_assignments > 0)
        shapes_sizes(trial->shapes, 1, g.other);
    find_places(&g);
    for (int i = 0; i < g.p->n && g.p->n_variables < MAX_FREE_VALUES; i++)
        if (g.p->places[i].variable < 0)
            generalize_place(&g, i);
}
