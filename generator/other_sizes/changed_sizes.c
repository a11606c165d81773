// Changes one size, then the least sets with others, and joins what changes together into classes.
#include "generator/other_sizes/changed_sizes.h"

#include "core/numbers/random.h"
#include "operators/traits.h"
#include <string.h>

// --- places ----------------------------------------------------------------------------------------------------------

static void add_place(struct shapes *s, struct size_place place)
{
    if (s->n < MAX_SIZES)
        s->places[s->n++] = place;
}

// Attributes that hold sizes of tensors: those named so, and groups, of which there may be as many as channels.
static bool holds_sizes(const struct attribute *attribute, const struct operator* op)
{
    bool is_window = attribute->role == ROLE_KERNEL && operator_enlarges(op);
    bool is_of_sizes = is_window || attribute->role == ROLE_SHAPE || attribute->role == ROLE_PART_SIZES;
    bool is_list = attribute->kind == ATTRIBUTE_INTS && is_of_sizes;
    return is_list || attribute->role == ROLE_GROUPS;
}

static void add_constant_places(struct shapes *s, const struct family *f, int leaf)
{
    const struct instance *c = &f->leaves[leaf].constant;
    for (int a = 0; a < operator_n_attributes(c->op); a++)
        for (uint32_t i = 0; holds_sizes(&c->op->attributes[a], c->op) && i < c->attributes[a].count; i++)
            add_place(s, (struct size_place){SIZE_OF_CONSTANT, (uint8_t)leaf, (uint8_t)a, (uint8_t)i,
                                             (int32_t)c->attributes[a].ints[i]});
}

static bool uses_leaf(const struct rule_graph *rg, int leaf)
{
    reference r = (reference)(RULE_GRAPH_CONSTANT + leaf);
    return ANY(int, i, rg->n_nodes, ANY(int, j, rg->nodes[i].n_inputs, rg->nodes[i].inputs[j] == r)) ||
           ANY(int, i, rg->n_outputs, rg->source[i] == r || rg->target[i] == r);
}

static void add_attribute_places(struct shapes *s, const struct rule_graph *rg, int node)
{
    const struct instance *in = &rg->family->instances[rg->nodes[node].instance];
    for (int a = 0; a < operator_n_attributes(in->op); a++)
        for (uint32_t e = 0; holds_sizes(&in->op->attributes[a], in->op) && e < in->attributes[a].count &&
                             (in->op->attributes[a].kind != ATTRIBUTE_INT || in->attributes[a].ints[0] != 1);
             e++)
            add_place(s, (struct size_place){SIZE_OF_ATTRIBUTE, (uint8_t)node, (uint8_t)a, (uint8_t)e,
                                             (int32_t)in->attributes[a].ints[e]});
}

static void find_places(const struct rule_graph *rg, struct shapes *s)
{
    memset(s, 0, sizeof *s);
    for (int v = 0; v < rg->n_variables; v++)
        for (int axis = 0; axis < rg->variables[v].rank; axis++)
            add_place(s,
                      (struct size_place){SIZE_OF_VARIABLE, (uint8_t)v, 0, (uint8_t)axis, rg->variables[v].dim[axis]});
    for (int leaf = rg->family->n_inputs; leaf < rg->family->n_leaves; leaf++)
        if (uses_leaf(rg, leaf))
            add_constant_places(s, rg->family, leaf);
    for (int i = 0; i < rg->n_nodes; i++)
        add_attribute_places(s, rg, i);
    for (int i = 0; i < s->n; i++)
        s->class_of[i] = -1;
}

bool shapes_have_condition(const struct shapes *s)
{
    return ANY(int, i, s->n, s->needs_condition[i] && s->places[i].kind == SIZE_OF_VARIABLE);
}

// --- which sizes change together -------------------------------------------------------------------------------------

struct changing {
    struct shapes *s;
    struct size_test *trial;
    enum evidence evidence;
    int64_t base[MAX_SIZES];
};

// The verdict when the places in `set` change: to `value`, or, if that is 0, to twice their size.
static enum verdict judge_change(const struct changing *c, uint64_t set, int64_t value)
{
    int64_t sizes[MAX_SIZES];
    for (int i = 0; i < c->s->n; i++) {
        bool is_changed = set >> i & 1;
        sizes[i] = !is_changed ? c->base[i] : value ? value : 2 * c->base[i];
    }
    return size_test_judge(c->trial, sizes, NULL, 0);
}

static uint64_t drop_single_places(const struct changing *c, uint64_t set, int keep, int64_t value)
{
    for (int i = 0; i < c->s->n; i++)
        if (set >> i & 1 && i != keep && judge_change(c, set & ~(UINT64_C(1) << i), value) == VERDICT_EQUAL)
            set &= ~(UINT64_C(1) << i);
    return set;
}

// Rows and columns of square matrices change together as long as all do. So: the smallest subset with at most one place
// of each tensor, found by trying them all.
struct choosing {
    const struct changing *c;
    uint64_t set, best;
    int keep, tries;
    int64_t value;
};
enum { MAX_CHOICES = 4000 };

static bool is_same_owner(const struct shapes *s, int a, int b)
{
    return s->places[a].kind == s->places[b].kind && s->places[a].owner == s->places[b].owner;
}

static void choose_places(struct choosing *ch, uint64_t chosen, int at)
{
    const struct shapes *s = ch->c->s;
    if (__builtin_popcountll(chosen) >= __builtin_popcountll(ch->best) || ch->tries >= MAX_CHOICES)
        return;
    if (at == s->n) {
        ch->tries++;
        if (judge_change(ch->c, chosen, ch->value) == VERDICT_EQUAL)
            ch->best = chosen;
        return;
    }
    int end = at + 1;
    while (end < s->n && is_same_owner(s, at, end))
        end++;
    bool has_keep = ch->keep >= at && ch->keep < end;
    if (!has_keep)
        choose_places(ch, chosen, end);
    for (int i = at; i < end; i++)
        if (ch->set >> i & 1 && (!has_keep || i == ch->keep))
            choose_places(ch, chosen | UINT64_C(1) << i, end);
}

static uint64_t shrink_set(const struct changing *c, uint64_t set, int keep, int64_t value)
{
    set = drop_single_places(c, set, keep, value);
    struct choosing ch = {.c = c, .set = set, .best = set, .keep = keep, .value = value};
    if (set & (set - 1))
        choose_places(&ch, 0, 0);
    return ch.best;
}

static uint64_t places_like(const struct shapes *s, int place)
{
    uint64_t set = 0;
    for (int i = 0; i < s->n; i++)
        if (s->places[i].base == s->places[place].base)
            set |= UINT64_C(1) << i;
    return set;
}

static uint64_t places_before_axis(const struct shapes *s, int axis)
{
    uint64_t set = 0;
    for (int i = 0; i < s->n; i++)
        if (s->places[i].entry < axis && s->places[i].kind != SIZE_OF_ATTRIBUTE)
            set |= UINT64_C(1) << i;
    return set;
}

// All but the ones of shapes, which only fill up the rank.
static uint64_t places_that_count(const struct shapes *s)
{
    uint64_t set = 0;
    for (int i = 0; i < s->n; i++)
        if (s->places[i].kind != SIZE_OF_ATTRIBUTE || s->places[i].base > 1)
            set |= UINT64_C(1) << i;
    return set;
}

// All but single entries, which may be repeated.
static uint64_t places_above_one(const struct shapes *s)
{
    uint64_t set = 0;
    for (int i = 0; i < s->n; i++)
        if (s->places[i].base > 1)
            set |= UINT64_C(1) << i;
    return set;
}

// A set of places that may change, with the place; 0: none is found.
static uint64_t find_set(const struct changing *c, int place, int64_t *ret_value)
{
    const struct shapes *s = c->s;
    uint64_t own = UINT64_C(1) << place, all = s->n < 64 ? (UINT64_C(1) << s->n) - 1 : UINT64_MAX;
    int64_t base = s->places[place].base;
    struct {
        uint64_t set;
        int64_t value;
    } tries[] = {{own, base + 1},
                 {own, base + 2},
                 {own, 2 * base},
                 {places_like(s, place), base + 1},
                 {places_like(s, place), base + 2},
                 {places_like(s, place), 2 * base},
                 {places_before_axis(s, 2) | own, 0},
                 {all, 0},
                 {places_that_count(s) | own, 0},
                 {places_above_one(s) | own, 0}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (judge_change(c, tries[i].set, tries[i].value) == VERDICT_EQUAL) {
            *ret_value = tries[i].value;
            return shrink_set(c, tries[i].set, place, tries[i].value);
        }
    return 0;
}

static bool is_window_size(const struct shapes *s, int place)
{
    const struct size_place *p = &s->places[place];
    return p->kind == SIZE_OF_ATTRIBUTE || (p->entry >= 2 && p->base <= MAX_WINDOW_SIZE);
}

// Does some change of the set that is well-typed make the sides differ?
static bool is_refuted(const struct changing *c, uint64_t set, int64_t base)
{
    const int64_t values[] = {base + 1, base + 2, 2 * base, base + 3};
    return ANY(size_t, i, sizeof values / sizeof *values, judge_change(c, set, values[i]) == VERDICT_UNEQUAL) ||
           (base > 1 && judge_change(c, set, 1) == VERDICT_UNEQUAL);
}

static bool join_class(struct changing *c, int place, uint64_t set, int64_t value)
{
    struct shapes *s = c->s;
    bool is_one_size = true;
    for (int i = 0; i < s->n; i++)
        if (set >> i & 1 && s->places[i].base != s->places[place].base)
            is_one_size = false;
    if (is_one_size && is_refuted(c, set, s->places[place].base))
        return false;
    for (int i = 0; i < s->n; i++)
        if (set >> i & 1 && s->class_of[i] < 0)
            s->class_of[i] = (int8_t)s->n_classes;
    s->other[s->n_classes++] = (int32_t)value;
    return true;
}

// An equation that was taken to be true is so at this change, at the next size and at 1.
static bool is_confirmed(const struct changing *c, uint64_t set, int64_t value)
{
    if (c->evidence != EVIDENCE_DERIVED)
        return true;
    c->trial->is_trusting = false;
    bool is_true = judge_change(c, set, value) == VERDICT_EQUAL && judge_change(c, set, value + 1) != VERDICT_UNEQUAL &&
                   judge_change(c, set, 1) != VERDICT_UNEQUAL;
    c->trial->is_trusting = true;
    return is_true;
}

static bool find_class(struct changing *c, int place)
{
    int64_t value;
    uint64_t set = find_set(c, place, &value);
    if (set && !is_confirmed(c, set, value))
        return false;
    if (set && join_class(c, place, set, value))
        return true;
    bool is_refuted_alone = is_refuted(c, UINT64_C(1) << place, c->s->places[place].base);
    bool is_refuted_together = is_refuted(c, places_like(c->s, place), c->s->places[place].base);
    if (!set && !is_refuted_alone && !is_refuted_together)
        return true;
    c->s->needs_condition[place] = true;
    return is_window_size(c->s, place);
}

// --- mixed assignments -----------------------------------------------------------------------------------------------

void shapes_sizes(const struct shapes *s, int example, int64_t *ret_sizes)
{
    for (int i = 0; i < s->n; i++) {
        int class = s->class_of[i];
        int64_t base = s->places[i].base;
        bool is_other = class >= 0 && example > 0;
        int64_t step = !is_other ? 0 : s->other[class] ? s->other[class] - base : base;
        ret_sizes[i] = is_other ? base + s->steps[example - 1][class] * step : base;
    }
}

struct assigning {
    struct size_test *trial;
    struct shapes *s;
    struct random stream;
    int attempts;
    bool is_refuted;   // by some assignment that was tried
};

// Assignments are drawn until there are `n`, out of eight times as many attempts since the first.
static void find_assignments(struct assigning *a, int n)
{
    struct shapes *s = a->s;
    int64_t sizes[MAX_SIZES];
    for (; a->attempts < 8 * n && s->n_assignments < n; a->attempts++) {
        for (int i = 0; i < s->n_classes; i++)
            s->steps[s->n_assignments][i] = a->attempts == 0 ? 1 : (uint8_t)random_below(&a->stream, 3);
        shapes_sizes(s, s->n_assignments + 1, sizes);
        enum verdict verdict = size_test_judge(a->trial, sizes, NULL, 0);
        a->is_refuted = a->is_refuted || verdict == VERDICT_UNEQUAL;
        s->n_assignments += verdict == VERDICT_EQUAL;
    }
}

static bool hold_on_reals(struct size_test *trial, const struct shapes *s)
{
    int64_t sizes[MAX_SIZES];
    for (int i = 1; i <= s->n_assignments; i++) {
        shapes_sizes(s, i, sizes);
        if (!size_test_holds_on_reals(trial, sizes, 1, 0))
            return false;
    }
    return true;
}

static enum shapes_verdict test_assignments(struct size_test *trial, struct shapes *s, bool *ret_is_refuted)
{
    struct assigning a = {.trial = trial, .s = s, .stream = random_seed(trial->calls->seed)};
    find_assignments(&a, 2);
    *ret_is_refuted = a.is_refuted;
    if (s->n_assignments < 2 && s->n > 0)
        return SHAPES_NEVER_TESTED;
    if (!hold_on_reals(trial, s))
        return SHAPES_FALSE_ON_REALS;
    find_assignments(&a, MAX_ASSIGNMENTS);   // one more for who reads them
    return SHAPES_HOLD;
}

// --- the test --------------------------------------------------------------------------------------------------------

static bool find_classes(struct changing *c)
{
    bool are_found = true;
    c->trial->is_trusting = c->evidence != EVIDENCE_NONE;
    are_found = are_found && ALL(int, i, c->s->n, c->s->class_of[i] >= 0 || find_class(c, i));
    c->trial->is_trusting = false;
    return are_found;
}

// ret_is_refuted: something was taken to be true that is not.
static enum shapes_verdict test(const struct rule_graph *rg, struct evaluation_cache *calls, enum evidence evidence,
                                struct shapes *ret_shapes, bool *ret_is_refuted)
{
    struct size_test trial;
    struct changing c = {.s = ret_shapes, .trial = &trial, .evidence = evidence};
    *ret_is_refuted = false;
    find_places(rg, ret_shapes);
    shapes_sizes(ret_shapes, 0, c.base);
    size_test_init(&trial, rg, ret_shapes, calls);
    if (!size_test_holds_on_reals(&trial, c.base, 4, 64))
        return SHAPES_FALSE_ON_REALS;
    if (find_classes(&c))
        return test_assignments(&trial, ret_shapes, ret_is_refuted);
    *ret_is_refuted = true;
    return SHAPES_FALSE_AT_OTHER_SIZES;
}

enum shapes_verdict shapes_test(const struct rule_graph *rg, struct evaluation_cache *calls, enum evidence evidence,
                                struct shapes *ret_shapes)
{
    bool is_refuted;
    enum shapes_verdict verdict = test(rg, calls, evidence, ret_shapes, &is_refuted);
    if (evidence != EVIDENCE_NONE && is_refuted)
        verdict = test(rg, calls, EVIDENCE_NONE, ret_shapes, &is_refuted);
    return verdict;
}
