#include "generator/shapes.h"

#include "core/random.h"
#include "generator/trial.h"
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
    bool is_window = strcmp(attribute->name, "kernel") == 0 && op->id == OP_ENLARGE;
    bool is_list = attribute->kind == ATTRIBUTE_INTS && (is_window || strcmp(attribute->name, "shape") == 0);
    return is_list || strcmp(attribute->name, "group") == 0;
}

static bool is_one_group(const struct attribute *attribute, const struct attribute_value *value)
{
    return attribute->kind == ATTRIBUTE_INT && value->ints[0] == 1;
}

static void add_constant_places(struct shapes *s, const struct family *f, int leaf)
{
    const struct instance *c = &f->leaves[leaf].constant;
    for (int a = 0; a < operator_n_attributes(c->op); a++)
        for (uint32_t i = 0; holds_sizes(&c->op->attributes[a], c->op) && i < c->attributes[a].count; i++)
            add_place(s, (struct size_place){SIZE_OF_CONSTANT, (uint8_t)leaf, (uint8_t)a, (uint8_t)i,
                                             (int32_t)c->attributes[a].ints[i]});
}

static bool uses_leaf(const struct sketch *sk, int leaf)
{
    reference r = (reference)(SKETCH_CONSTANT + leaf);
    for (int i = 0; i < sk->n_nodes; i++)
        for (int j = 0; j < sk->nodes[i].n_inputs; j++)
            if (sk->nodes[i].inputs[j] == r)
                return true;
    for (int i = 0; i < sk->n_outputs; i++)
        if (sk->source[i] == r || sk->target[i] == r)
            return true;
    return false;
}

static void find_places(const struct sketch *sk, struct shapes *s)
{
    memset(s, 0, sizeof *s);
    for (int v = 0; v < sk->n_variables; v++)
        for (int axis = 0; axis < sk->variables[v].rank; axis++)
            add_place(s,
                      (struct size_place){SIZE_OF_VARIABLE, (uint8_t)v, 0, (uint8_t)axis, sk->variables[v].dim[axis]});
    for (int leaf = sk->family->n_inputs; leaf < sk->family->n_leaves; leaf++)
        if (uses_leaf(sk, leaf))
            add_constant_places(s, sk->family, leaf);
    for (int i = 0; i < sk->n_nodes; i++) {
        const struct instance *in = &sk->family->instances[sk->nodes[i].instance];
        for (int a = 0; a < operator_n_attributes(in->op); a++)
            for (uint32_t e = 0; holds_sizes(&in->op->attributes[a], in->op) && e < in->attributes[a].count &&
                                 !is_one_group(&in->op->attributes[a], &in->attributes[a]);
                 e++)
                add_place(s, (struct size_place){SIZE_OF_ATTRIBUTE, (uint8_t)i, (uint8_t)a, (uint8_t)e,
                                                 (int32_t)in->attributes[a].ints[e]});
    }
    for (int i = 0; i < s->n; i++)
        s->class_of[i] = -1;
}

bool shapes_have_condition(const struct shapes *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->needs_condition[i] && s->places[i].kind == SIZE_OF_VARIABLE)
            return true;
    return false;
}

// --- which sizes change together -------------------------------------------------------------------------------------

struct changing {
    struct shapes *s;
    struct trial *trial;
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
    return trial_judge(c->trial, sizes, NULL, 0);
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
                 {all, 0}};
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
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (judge_change(c, set, values[i]) == VERDICT_UNEQUAL)
            return true;
    return base > 1 && judge_change(c, set, 1) == VERDICT_UNEQUAL;
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

static bool find_class(struct changing *c, int place)
{
    int64_t value;
    uint64_t set = find_set(c, place, &value);
    if (set && join_class(c, place, set, value))
        return true;
    bool is_refuted_alone = is_refuted(c, UINT64_C(1) << place, c->s->places[place].base);
    bool is_refuted_together = is_refuted(c, places_like(c->s, place), c->s->places[place].base);
    if (!set && !is_refuted_alone && !is_refuted_together)
        return true;
    c->s->needs_condition[place] = true;
    return is_window_size(c->s, place);
}

int shapes_assignments(struct trial *trial, int n, int64_t *ret_sizes)
{
    const struct shapes *s = trial->shapes;
    struct random stream = random_seed(trial->calls->seed);
    int found = 0;
    for (int attempt = 0; attempt < 8 * n && found < n; attempt++) {
        int64_t *sizes = ret_sizes + found * MAX_SIZES;
        int64_t extra[MAX_SIZES];
        for (int i = 0; i < s->n_classes; i++)
            extra[i] = attempt == 0 ? 1 : (int64_t)random_below(&stream, 3);
        for (int i = 0; i < s->n; i++) {
            int class = s->class_of[i];
            int64_t base = s->places[i].base;
            int64_t step = class < 0 ? 0 : s->other[class] ? s->other[class] - base : base;
            sizes[i] = class < 0 ? base : base + extra[class] * step;
        }
        found += trial_judge(trial, sizes, NULL, 0) == VERDICT_EQUAL;
    }
    return found;
}

enum shapes_verdict shapes_test(const struct sketch *sk, struct calls *calls, struct shapes *ret_shapes)
{
    struct trial trial;
    struct changing c = {ret_shapes, &trial, {0}};
    find_places(sk, ret_shapes);
    trial_init(&trial, sk, ret_shapes, calls);
    for (int i = 0; i < ret_shapes->n; i++)
        c.base[i] = ret_shapes->places[i].base;
    if (!trial_holds_on_reals(&trial, c.base))
        return SHAPES_FALSE_ON_REALS;
    for (int i = 0; i < ret_shapes->n; i++)
        if (ret_shapes->class_of[i] < 0 && !find_class(&c, i))
            return SHAPES_FALSE_AT_OTHER_SIZES;
    int64_t sizes[2 * MAX_SIZES];
    int found = shapes_assignments(&trial, 2, sizes);
    if (found < 2 && ret_shapes->n > 0)
        return SHAPES_NEVER_TESTED;
    for (int i = 0; i < found; i++)
        if (!trial_holds_on_reals(&trial, sizes + i * MAX_SIZES))
            return SHAPES_FALSE_ON_REALS;
    return SHAPES_HOLD;
}
