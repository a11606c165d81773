#include "generator/shapes.h"

#include "core/random.h"
#include "operators/evaluate.h"
#include "operators/field.h"
#include <math.h>
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
                                             c->attributes[a].ints[i]});
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
                                                 in->attributes[a].ints[e]});
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

// --- evaluation ------------------------------------------------------------------------------------------------------

struct tensor_value {
    struct type type;
    uint64_t *field;
    double *real;
};
struct evaluating {
    const struct sketch *sk;
    const struct shapes *s;
    const int64_t *sizes;
    const struct attribute_override *overrides;
    int n_overrides;
    uint64_t seed;
    struct arena *arena;
    enum { TYPES_ONLY, ON_FIELD, ON_REALS } domain;
    struct tensor_value nodes[MAX_SKETCH_NODES][MAX_NODE_OUTPUTS];
    uint32_t is_done;
};

static int64_t size_at(const struct evaluating *e, int kind, int owner, int attribute, int entry, int64_t standard)
{
    for (int i = 0; i < e->s->n; i++) {
        const struct size_place *p = &e->s->places[i];
        if ((int)p->kind == kind && p->owner == owner && p->attribute == attribute && p->entry == entry)
            return e->sizes[i];
    }
    return standard;
}

static const struct attribute_value *attributes_at(const struct evaluating *e, int kind, int owner,
                                                   const struct instance *in)
{
    int n = operator_n_attributes(in->op);
    struct attribute_value *values = arena_array(e->arena, struct attribute_value, n + 1);
    for (int a = 0; a < n; a++) {
        values[a] = in->attributes[a];
        if (holds_sizes(&in->op->attributes[a], in->op)) {
            int64_t *ints = arena_array(e->arena, int64_t, values[a].count + 1);
            for (uint32_t i = 0; i < values[a].count; i++)
                ints[i] = size_at(e, kind, owner, a, (int)i, values[a].ints[i]);
            values[a].ints = ints;
        }
        for (int i = 0; kind == SIZE_OF_ATTRIBUTE && i < e->n_overrides; i++)
            if (e->overrides[i].node == owner && e->overrides[i].attribute == a)
                values[a] = e->overrides[i].value;
    }
    return values;
}

static void allocate(struct evaluating *e, struct tensor_value *v)
{
    size_t n = (size_t)type_elements(&v->type);
    if (e->domain == ON_FIELD)
        v->field = arena_alloc(e->arena, n * sizeof *v->field, _Alignof(uint64_t));
    if (e->domain == ON_REALS)
        v->real = arena_alloc(e->arena, n * sizeof *v->real, _Alignof(double));
}

static struct tensor_value value_of_variable(struct evaluating *e, int variable)
{
    struct tensor_value v = {.type = e->sk->variables[variable]};
    for (int axis = 0; axis < v.type.rank; axis++)
        v.type.dim[axis] = size_at(e, SIZE_OF_VARIABLE, variable, 0, axis, v.type.dim[axis]);
    if (type_elements(&v.type) > 1 << 20)
        v.type.rank = RANK_UNKNOWN;
    if (e->domain == TYPES_ONLY || v.type.rank == RANK_UNKNOWN)
        return v;
    allocate(e, &v);
    struct random stream = random_seed(hash_mix(e->seed, (uint64_t)variable));
    size_t n = (size_t)type_elements(&v.type);
    for (size_t i = 0; i < n; i++)
        if (e->domain == ON_FIELD)
            v.field[i] = random_below(&stream, FIELD_PRIME);
        else
            v.real[i] = 2 * random_unit(&stream) - 1;
    return v;
}

static bool apply_instance(struct evaluating *e, const struct instance *in, const struct attribute_value *attributes,
                           const struct tensor_value *inputs, struct tensor_value *ret_outputs)
{
    struct type types[2];
    for (int i = 0; i < in->n_inputs; i++)
        types[i] = inputs[i].type;
    struct operator_call call = {in->op, in->n_inputs, types, attributes};
    struct definition d;
    definition_init(&d, e->arena, in->n_inputs, types);
    bool is_typed = operator_define(&d, &call) && d.n_outputs <= MAX_NODE_OUTPUTS;
    for (int i = 0; is_typed && i < d.n_outputs; i++) {
        ret_outputs[i] = (struct tensor_value){.type = *definition_output(&d, i)};
        is_typed = type_elements(&ret_outputs[i].type) <= 1 << 20;
        if (is_typed)
            allocate(e, &ret_outputs[i]);
    }
    const uint64_t *field_in[2] = {inputs[0].field, inputs[1].field};
    const double *real_in[2] = {inputs[0].real, inputs[1].real};
    uint64_t *field_out[2] = {ret_outputs[0].field, ret_outputs[1].field};
    double *real_out[2] = {ret_outputs[0].real, ret_outputs[1].real};
    if (is_typed && e->domain == ON_FIELD)
        evaluate_field(&d, e->seed, field_in, field_out, e->arena);
    if (is_typed && e->domain == ON_REALS)
        evaluate_f64(&d, real_in, real_out, e->arena);
    definition_free(&d);
    return is_typed;
}

static bool evaluate_reference(struct evaluating *e, reference r, struct tensor_value *ret_value)
{
    struct tensor_value inputs[2] = {0};
    if (reference_is_variable(r)) {
        *ret_value = value_of_variable(e, r);
        return ret_value->type.rank != RANK_UNKNOWN;
    }
    if (!reference_is_node(r)) {
        const struct instance *in = &e->sk->family->leaves[r - SKETCH_CONSTANT].constant;
        struct tensor_value outputs[MAX_NODE_OUTPUTS] = {0};
        if (!apply_instance(e, in, attributes_at(e, SIZE_OF_CONSTANT, r - SKETCH_CONSTANT, in), inputs, outputs))
            return false;
        *ret_value = outputs[0];
        return true;
    }
    int node = reference_node(r);
    const struct sketch_node *n = &e->sk->nodes[node];
    const struct instance *in = &e->sk->family->instances[n->instance];
    if (!(e->is_done & 1u << node)) {
        for (int i = 0; i < n->n_inputs; i++)
            if (!evaluate_reference(e, n->inputs[i], &inputs[i]))
                return false;
        if (!apply_instance(e, in, attributes_at(e, SIZE_OF_ATTRIBUTE, node, in), inputs, e->nodes[node]))
            return false;
        e->is_done |= 1u << node;
    }
    *ret_value = e->nodes[node][reference_output(r)];
    return true;
}

static bool are_close(const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= 1e-5 * (1 + fabs(x[i]))))
            return false;
    return true;
}

static bool is_equal_value(const struct evaluating *e, const struct tensor_value *x, const struct tensor_value *y)
{
    size_t n = (size_t)type_elements(&x->type);
    if (!types_agree(&x->type, &y->type))
        return false;
    if (e->domain == ON_FIELD)
        return memcmp(x->field, y->field, n * sizeof *x->field) == 0;
    return e->domain == TYPES_ONLY || are_close(x->real, y->real, n);
}

static enum verdict judge_evaluation(struct evaluating *e)
{
    struct arena_mark mark = arena_mark(e->arena);
    enum verdict verdict = VERDICT_EQUAL;
    for (int i = 0; i < e->sk->n_outputs && verdict == VERDICT_EQUAL; i++) {
        struct tensor_value x, y;
        if (!evaluate_reference(e, e->sk->source[i], &x) || !evaluate_reference(e, e->sk->target[i], &y) ||
            !type_equal(&x.type, &y.type))
            verdict = VERDICT_ILL_TYPED;   // a rule does not apply where the types of its sides differ
        else if (!is_equal_value(e, &x, &y))
            verdict = VERDICT_UNEQUAL;
    }
    arena_release(e->arena, mark);
    return verdict;
}

enum verdict shapes_judge(const struct sketch *sk, const struct shapes *s, const int64_t *sizes,
                          const struct attribute_override *overrides, int n_overrides, uint64_t seed,
                          struct arena *scratch)
{
    struct evaluating e = {sk, s, sizes, overrides, n_overrides, seed, scratch, TYPES_ONLY};
    enum verdict verdict = judge_evaluation(&e);
    if (verdict != VERDICT_EQUAL)
        return verdict;
    e.domain = ON_FIELD;
    e.is_done = 0;
    return judge_evaluation(&e);
}

static bool holds_on_reals(const struct sketch *sk, const struct shapes *s, const int64_t *sizes, uint64_t seed,
                           struct arena *scratch)
{
    struct evaluating e = {sk, s, sizes, NULL, 0, seed, scratch, ON_REALS};
    return judge_evaluation(&e) == VERDICT_EQUAL;
}

// --- which sizes change together -------------------------------------------------------------------------------------

struct changing {
    const struct sketch *sk;
    struct shapes *s;
    uint64_t seed;
    struct arena *scratch;
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
    return shapes_judge(c->sk, c->s, sizes, NULL, 0, c->seed, c->scratch);
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
            s->class_of[i] = s->n_classes;
    s->other[s->n_classes++] = value;
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

int shapes_assignments(const struct sketch *sk, const struct shapes *s, uint64_t seed, struct arena *scratch, int n,
                       int64_t *ret_sizes)
{
    struct random stream = random_seed(seed);
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
        found += shapes_judge(sk, s, sizes, NULL, 0, seed, scratch) == VERDICT_EQUAL;
    }
    return found;
}

enum shapes_verdict shapes_test(const struct sketch *sk, uint64_t seed, struct arena *scratch,
                                struct shapes *ret_shapes)
{
    struct changing c = {sk, ret_shapes, seed, scratch, {0}};
    find_places(sk, ret_shapes);
    for (int i = 0; i < ret_shapes->n; i++)
        c.base[i] = ret_shapes->places[i].base;
    if (!holds_on_reals(sk, ret_shapes, c.base, seed, scratch))
        return SHAPES_FALSE_ON_REALS;
    for (int i = 0; i < ret_shapes->n; i++)
        if (ret_shapes->class_of[i] < 0 && !find_class(&c, i))
            return SHAPES_FALSE_AT_OTHER_SIZES;
    int64_t sizes[2 * MAX_SIZES];
    int found = shapes_assignments(sk, ret_shapes, seed, scratch, 2, sizes);
    if (found < 2 && ret_shapes->n > 0)
        return SHAPES_NEVER_TESTED;
    for (int i = 0; i < found; i++)
        if (!holds_on_reals(sk, ret_shapes, sizes + i * MAX_SIZES, seed, scratch))
            return SHAPES_FALSE_ON_REALS;
    return SHAPES_HOLD;
}
