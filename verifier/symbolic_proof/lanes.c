// The same applications at several assignments of large random numbers: found, defined, and compared in form.
#include "verifier/symbolic_proof/lanes.h"

#include "substitutions/pattern.h"
#include "verifier/symbolic_proof/symbols.h"

#include <string.h>

struct lane *lanes_make(void)
{
    struct lane *lanes = mem_alloc_zero((LANES + 1) * sizeof *lanes);
    for (int l = 0; l <= LANES; l++)
        for (int n = 0; n < MAX_RULE_NODES; n++)
            definition_init(&lanes[l].definitions[n], NULL, 0, NULL);
    return lanes;
}

void lanes_free(struct lane *lanes)
{
    for (int l = 0; l <= LANES; l++)
        for (int n = 0; n < MAX_RULE_NODES; n++)
            definition_free(&lanes[l].definitions[n]);
    mem_free(lanes, (LANES + 1) * sizeof *lanes);
}

// Half of the tries have pads beyond all windows, for images that are no larger than those.
static int64_t random_value(struct random *r, const struct symbol *s, uint64_t coins, bool is_far)
{
    if (!s->is_one)
        return 0;
    if (is_far && s->far)
        return s->far + (int64_t)random_below(r, 1000);
    bool is_of_image = s->coin ? coins >> s->coin & 1 : random_below(r, 2);
    if (s->of_image && is_of_image)
        return s->of_image + (int64_t)random_below(r, (uint64_t)s->n_of_image);
    return s->low + (int64_t)random_below(r, (uint64_t)(s->high - s->low + 1));
}

// Values that those of other symbols say. False: some symbol is less than its least value.
static bool solve_values(struct family *f, struct lane *lane)
{
    return !ANY(uint32_t, i, f->symbols.n,
                f->symbols.values[i] != NO_POLY &&
                    (!poly_evaluate(f->polys, f->symbols.values[i], lane->values, &lane->values[i]) ||
                     lane->values[i] < f->polys->atoms.items[i].least));
}

static bool choose_values(struct family *f, struct lane *lane)
{
    bool is_far = random_below(&f->random, 2);
    uint64_t coins = random_below(&f->random, (uint64_t)1 << (MAX_RULE_VARIABLES + 1));
    for (uint32_t i = 0; i < f->symbols.n; i++)
        lane->values[i] = random_value(&f->random, &f->symbols.items[i], coins, is_far);
    return solve_values(f, lane);
}

static bool value_in_lane(const struct family *f, const struct lane *lane, poly a, int64_t *ret_value)
{
    return poly_evaluate(f->polys, a, lane->values, ret_value);
}

// False: a size has no value.
static bool bind_axis(struct family *f, struct lane *lane, uint32_t variable, int axis)
{
    struct type *type = &lane->variables[variable];
    int64_t cut;
    if (!value_in_lane(f, lane, f->meanings.sizes[variable][axis], &type->dim[axis]))
        return false;
    if (f->outline.remembers[variable][axis] != REMEMBERS_CUT)
        return true;
    if (!value_in_lane(f, lane, family_remembered_cut(f, variable, axis), &cut))
        return false;
    type->split[axis] = split_tree_join(f->arena, cut, NULL, NULL);
    return true;
}

static bool bind_lane(struct family *f, struct lane *lane)
{
    const struct pattern *p = f->equation->pattern;
    for (uint32_t v = 0; v < p->n_variables; v++) {
        lane->types[v] = f->outline.types[v] ? &lane->variables[v] : NULL;
        if (!f->outline.types[v])
            continue;
        lane->variables[v] = type_make(f->outline.types[v]->dtype, f->outline.types[v]->rank, f->outline.types[v]->dim);
        if (ANY(int, a, f->outline.types[v]->rank, !bind_axis(f, lane, v, a)))
            return false;
    }
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        int64_t *ints = arena_array(f->arena, int64_t, f->meanings.attributes[v].n + 1);
        for (uint32_t i = 0; i < f->meanings.attributes[v].n; i++)
            if (!value_in_lane(f, lane, f->meanings.attributes[v].items[i], &ints[i]))
                return false;
        lane->attributes[v] = (struct attribute_value){f->meanings.attributes[v].n, ints};
    }
    return true;
}

const struct type *family_type(const struct family *f, const struct lane *lane, term_id term)
{
    const struct term *t = &f->equation->pattern->terms.items[term];
    return t->is_variable ? lane->types[t->index] : definition_output(&lane->definitions[t->index], (int)t->output);
}

static bool find_call(struct family *f, const struct lane *lane, uint32_t node, struct operator_call *ret_call)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct attribute_value *attributes = arena_array(f->arena, struct attribute_value, MAX_ATTRIBUTES);
    struct type *inputs = arena_array(f->arena, struct type, n->n_inputs + 1);
    struct term_bindings bindings = {lane->types, lane->attributes};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = *family_type(f, lane, n->inputs[i]);
    *ret_call = (struct operator_call){n->op, (int)n->n_inputs, inputs, attributes};
    return pattern_evaluate_attributes(n, &bindings, f->arena, attributes);
}

static bool define_call(struct family *f, const struct operator_call *call, struct definition *d)
{
    d->arena = f->arena;
    definition_clear(d, call->n_inputs, call->inputs);
    return operator_define(d, call);
}

static bool define_in_lane(struct family *f, struct lane *lane, uint32_t node)
{
    struct operator_call call;
    return find_call(f, lane, node, &call) && define_call(f, &call, &lane->definitions[node]);
}

static bool is_undefined(const struct family *f, uint32_t node)
{
    return f->undefined >> node & 1;
}

#define TRIES 400
// New values for the lane, at which all nodes up to this one are well-typed.
static bool find_lane(struct family *f, struct lane *lane, uint32_t n_nodes)
{
    for (int i = 0; i < TRIES; i++) {
        struct arena_mark mark = arena_mark(f->arena);
        bool is_typed = choose_values(f, lane) && bind_lane(f, lane);
        is_typed = is_typed && ALL(uint32_t, n, n_nodes, is_undefined(f, n) || define_in_lane(f, lane, n));
        if (is_typed)
            return true;
        arena_release(f->arena, mark);
    }
    return false;
}

static bool have_one_form(const struct definition *x, const struct definition *y)
{
    bool are_alike = x->nodes.count == y->nodes.count && x->extents.count == y->extents.count &&
                     x->indices.count == y->indices.count && x->n_stages == y->n_stages &&
                     x->is_data_dependent == y->is_data_dependent && !x->is_data_dependent;
    for (size_t i = 0; are_alike && i < x->nodes.count; i++) {
        const struct expr_node *a = &x->nodes.items[i], *b = &y->nodes.items[i];
        bool has_number = a->kind == EXPR_READ || a->kind == EXPR_VARIABLE || a->kind == EXPR_REDUCE;
        are_alike = a->kind == b->kind && a->fn == b->fn && a->count == b->count && a->a == b->a && a->b == b->b &&
                    a->c == b->c && (!has_number || a->value == b->value);
    }
    are_alike = are_alike && ALL(size_t, i, x->indices.count, x->indices.items[i] == y->indices.items[i]);
    for (int i = 0; are_alike && i < x->n_stages; i++)
        are_alike = x->stages[i].type.rank == y->stages[i].type.rank && x->stages[i].body == y->stages[i].body &&
                    x->stages[i].first_variable == y->stages[i].first_variable;
    return are_alike;
}

bool family_reads_undefined(const struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    const struct term *terms = f->equation->pattern->terms.items;
    return ANY(uint32_t, i, n->n_inputs,
               !terms[n->inputs[i]].is_variable && is_undefined(f, terms[n->inputs[i]].index));
}

// An equation that is not solved may make it ill-typed at all sizes that are tried; others may solve that one.
static bool leave_undefined(struct family *f, struct lane *lane, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    char reason[200];
    memcpy(reason, lane->definitions[node].reason, sizeof reason);
    f->undefined |= (node_set)1 << node;
    if (f->symbols.has_unsolved && find_lane(f, lane, node))
        return true;
    f->lacks_lanes = true;
    return family_fails(f, "no large sizes at which %s is well-typed: %s", n->op->name, reason);
}

static bool is_of_an_input(const struct definition *d, enum dtype dtype)
{
    return dtype == DTYPE_BOOL || ANY(int, i, d->n_inputs, d->inputs[i].dtype == dtype);
}

// Values are real numbers: the result has the element type of an input, or truth values.
static bool converts_nothing(const struct family *f, uint32_t node)
{
    const struct definition *d = &f->lanes[0].definitions[node];
    const struct operator* op = f->equation->pattern->nodes.items[node].op;
    return !d->n_inputs || (ALL(int, i, d->n_outputs, is_of_an_input(d, definition_output(d, i)->dtype)) &&
                            !ANY(int, i, operator_n_attributes(op), op->attributes[i].kind == ATTRIBUTE_DTYPE));
}

// --- the ends of images ----------------------------------------------------------------------------------------------

// The application to an image of another size on one axis. False: it is not well-typed, or makes another size.
static bool define_resized(struct family *f, const struct operator_call *call, int axis, int64_t size, int64_t result,
                           struct definition *d)
{
    struct type *inputs = arena_array(f->arena, struct type, (size_t)call->n_inputs);
    memcpy(inputs, call->inputs, (size_t)call->n_inputs * sizeof *inputs);
    inputs[0].dim[axis] = size;
    struct operator_call resized = {call->op, call->n_inputs, inputs, call->attributes};
    return define_call(f, &resized, d) && definition_output(d, 0)->dim[axis] == result;
}

// The smallest image of which windows in these steps leave as much: the last one ends where its pads do.
static int64_t smallest_image(struct family *f, const struct operator_call *call, int axis, int64_t stride,
                              int64_t result, struct definition *d)
{
    int64_t largest = call->inputs[0].dim[axis], smallest = largest - stride + 1;
    while (smallest < largest) {
        int64_t middle = smallest + (largest - smallest) / 2;
        if (define_resized(f, call, axis, middle, result, d))
            largest = middle;
        else
            smallest = middle + 1;
    }
    return smallest;
}

// Large numbers seldom meet a window in steps that ends where the image with its pads does, or a step before that: is
// the definition of one form there, too? (A mean that ignores padding counts places only where it reaches it.)
static bool has_one_form_at_ends(struct family *f, const struct lane *lane, uint32_t node)
{
    const struct definition *usual = &lane->definitions[node];
    struct operator_call call;
    struct definition d FREED_BY(definition_free) = {0};
    int role = operator_find_role(f->equation->pattern->nodes.items[node].op, ROLE_STRIDE);
    bool is_one = true;
    if (role < 0 || !find_call(f, lane, node, &call))
        return true;
    definition_init(&d, NULL, 0, NULL);
    for (int axis = 2; axis < call.inputs[0].rank && is_one; axis++) {
        int64_t stride = attribute_entry_or(&call.attributes[role], (uint32_t)axis - 2, 1);
        int64_t result = definition_output(usual, 0)->dim[axis];
        int64_t size = smallest_image(f, &call, axis, stride, result, &d);
        for (int end = 0; end < 2; end++, size += stride - 1)
            is_one = is_one && (!define_resized(f, &call, axis, size, result, &d) || have_one_form(usual, &d));
    }
    return is_one;
}

bool lanes_define(struct family *f, uint32_t node)
{
    const struct definition *d = &f->lanes[0].definitions[node];
    for (int l = 0; l < LANES; l++)
        if (!define_in_lane(f, &f->lanes[l], node) && !find_lane(f, &f->lanes[l], node + 1))
            return leave_undefined(f, &f->lanes[l], node);
    if (!converts_nothing(f, node))
        return family_fails(f, "%s converts", f->equation->pattern->nodes.items[node].op->name);
    for (int l = 1; l < LANES; l++)
        if (!have_one_form(d, &f->lanes[l].definitions[node]))
            return family_fails(f, "the definition of %s has several forms",
                                f->equation->pattern->nodes.items[node].op->name);
    if (!has_one_form_at_ends(f, &f->lanes[0], node))
        return family_fails(f, "the definition of %s has another form where windows end with the image",
                            f->equation->pattern->nodes.items[node].op->name);
    return true;
}

static bool is_beyond_limits(const struct definition *d)
{
    return ANY(int, i, d->n_stages, !type_has_allowed_size(&d->stages[i].type));
}

// Nodes that are not assumed, up to this one. Where the result is too large for any tensor other numbers are taken.
static bool define_asked(struct family *f, struct lane *lane, uint32_t node)
{
    bool is_defined = define_in_lane(f, lane, node);
    for (int i = 0; i < TRIES && !is_defined && is_beyond_limits(&lane->definitions[node]); i++) {
        is_defined = find_lane(f, lane, (uint32_t)f->equation->pattern->nodes.count);
        for (uint32_t n = 0; n <= node && is_defined; n++)
            is_defined = f->asked.assumed >> n & 1 || define_in_lane(f, lane, n);
    }
    return is_defined;
}

bool lanes_are_defined(struct family *f, uint32_t node)
{
    for (int l = 0; l < LANES; l++)
        if (!define_asked(f, &f->lanes[l], node))
            return family_fails(f, "one side alone is well-typed: %s", f->lanes[l].definitions[node].reason);
    for (int l = 1; l < LANES; l++)
        if (!have_one_form(&f->lanes[0].definitions[node], &f->lanes[l].definitions[node]))
            return family_fails(f, "a definition of several forms");
    return true;
}

// All axes of inputs remember a concatenation, the same if they are of one size, but for the one with that number, and
// those of which it is known what they remember.
static void bind_trees(struct family *f, struct lane *lane, uint32_t without)
{
    const struct equation *eq = f->equation;
    uint32_t number = 0;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int a = 0; f->outline.types[v] && a < f->outline.types[v]->rank; a++) {
            struct type *type = &lane->variables[v];
            bool remembers = number++ != without && type->dim[a] > 1 && !(eq->plain >> v & 1);
            if (f->outline.remembers[v][a] == REMEMBERS_UNASKED)
                type->split[a] = remembers ? split_tree_join(f->arena, type->dim[a] / 2, NULL, NULL) : NULL;
        }
}

static bool remembers_alike(struct family *f, struct lane *lane, uint32_t without)
{
    const struct equation *eq = f->equation;
    bind_trees(f, lane, without);
    return ALL(uint32_t, n, eq->pattern->nodes.count, define_in_lane(f, lane, n)) &&
           ALL(uint32_t, i, eq->n_pairs,
               type_equal_split(family_type(f, lane, eq->left[i]), family_type(f, lane, eq->right[i])));
}

// A view makes of an axis the axis itself where sizes happen to be equal: here all of them are. False: nothing is
// well-typed there.
static bool find_lane_of_equal_sizes(struct family *f, struct lane *lane)
{
    enum { SIZE = 12 };
    memcpy(lane->values, f->lanes[0].values, sizeof lane->values);
    for (uint32_t v = 0; v < f->equation->pattern->n_variables; v++)
        for (int a = 0; f->outline.types[v] && a < f->outline.types[v]->rank; a++) {
            atom x;
            if (poly_is_atom(f->polys, f->meanings.sizes[v][a], &x))
                lane->values[x] = SIZE;
        }
    bool is_typed = solve_values(f, lane) && bind_lane(f, lane);
    return is_typed && ALL(uint32_t, n, f->equation->pattern->nodes.count, define_in_lane(f, lane, n));
}

// The axes of inputs whose trees meet in that of a result are those without which it has none (S9, lemma 7).
bool lanes_remember_alike(struct family *f)
{
    uint32_t n_axes = SUM_ALL(uint32_t, uint32_t, v, f->equation->pattern->n_variables,
                              f->outline.types[v] ? (uint32_t)f->outline.types[v]->rank : 0);
    struct lane *equal = &f->lanes[LANES - 1];
    bool has_equal = find_lane_of_equal_sizes(f, equal);
    for (uint32_t without = 0; without <= n_axes; without++)
        if (!remembers_alike(f, &f->lanes[0], without) || (has_equal && !remembers_alike(f, equal, without)))
            return family_fails(f, "the sides remember other concatenations");
    return true;
}

// Any values that sizes and attributes may have.
bool lanes_begin(struct family *f)
{
    for (int l = 0; l < LANES; l++)
        if (!find_lane(f, &f->lanes[l], 0)) {
            f->lacks_lanes = true;
            return family_fails(f, "no large sizes");
        }
    return true;
}

// Are all integers what they were found to be, in lanes that were chosen anew, too? The definition has the same form.
static bool integers_are_so(struct family *f, uint32_t node, const struct lane *lane)
{
    const struct definition *d = &lane->definitions[node];
    const struct meaning *m = &f->meanings.nodes[node];
    int64_t value;
    for (size_t e = 0; e < d->nodes.count; e++) {
        const struct expr_node *n = &d->nodes.items[e];
        bool is_known = m->integers[e] != NO_POLY;
        if (is_known && (!value_in_lane(f, lane, m->integers[e], &value) ||
                         (n->kind == EXPR_REAL ? (double)value != n->real : value != n->value)))
            return false;
        if (!is_known && n->kind == EXPR_REAL && n->real != m->definition->nodes.items[e].real)
            return false;
    }
    return !ANY(size_t, i, d->extents.count,
                m->extents[i] != NO_POLY &&
                    (!value_in_lane(f, lane, m->extents[i], &value) || value != d->extents.items[i])) &&
           !ANY(int, i, d->n_stages,
                ANY(int, a, d->stages[i].type.rank,
                    m->dims[i][a] != NO_POLY &&
                        (!value_in_lane(f, lane, m->dims[i][a], &value) || value != d->stages[i].type.dim[a])));
}

#define SMALL_LANES 40
#define WIDE_LANES 24
#define MANY_VALUES 64   // of polynomials that are 0 at so many, factors are too large
#define SMALL_VALUES 4
static int64_t value_up_to(const struct family *f, struct random *random, uint32_t symbol, uint64_t n_values)
{
    int64_t least = f->polys->atoms.items[symbol].least;
    return (least < -1 ? -1 : least) + (int64_t)random_below(random, n_values);
}

static bool choose_small_values(struct family *f, struct random *random, struct lane *lane)
{
    for (uint32_t i = 0; i < f->symbols.n; i++)
        lane->values[i] = value_up_to(f, random, i, SMALL_VALUES);
    return solve_values(f, lane) && bind_lane(f, lane);
}

static bool has_few_values(const struct symbol *s)
{
    return s->is_one && s->high - s->low + s->n_of_image < MANY_VALUES;
}

// The symbol of few values whose turn it is.
static uint32_t symbol_of_turn(const struct family *f, uint32_t turn)
{
    uint32_t n_few = COUNT(uint32_t, i, f->symbols.n, has_few_values(&f->symbols.items[i])), before = turn % n_few;
    return FIRST_OF(uint32_t, i, f->symbols.n, has_few_values(&f->symbols.items[i]) && before-- == 0);
}

static uint64_t random_power(struct random *random, uint64_t least, uint64_t n_doublings)
{
    return least << random_below(random, n_doublings);
}

static bool have_allowed_sizes(const struct family *f, const struct lane *lane)
{
    return ALL(uint32_t, v, f->equation->pattern->n_variables,
               !lane->types[v] || type_has_allowed_size(lane->types[v]));
}

// The symbol and some others of few values, or all, have values just above those, up to ten, or up to thousands; the
// others small, usual or large ones, as a size less a polynomial of large numbers is none else.
static bool choose_wide_values(struct family *f, struct random *random, uint32_t symbol, struct lane *lane)
{
    enum { USUAL, SMALL, LARGE, N_KINDS } others = random_below(random, N_KINDS);
    uint64_t most_of_others = others == SMALL ? SMALL_VALUES : random_power(random, 4, 14);
    uint64_t odds = random_power(random, 1, 4), most = random_power(random, 8, 10);
    uint64_t coins = random_below(random, (uint64_t)1 << (MAX_RULE_VARIABLES + 1));
    bool are_near = random_below(random, 2), are_alike = random_below(random, 2);
    for (uint32_t i = 0; i < f->symbols.n; i++) {
        const struct symbol *s = &f->symbols.items[i];
        bool is_wide = has_few_values(s) && (random_below(random, odds) == 0 || i == symbol);
        if (is_wide && are_near)
            lane->values[i] = s->high + 1 + (int64_t)random_below(random, 2);
        else if (is_wide)
            lane->values[i] = value_up_to(f, random, i, are_alike ? most : random_power(random, 8, 10));
        else if (others == USUAL)
            lane->values[i] = random_value(random, s, coins, false);
        else
            lane->values[i] = value_up_to(f, random, i, most_of_others);
    }
    return solve_values(f, lane) && lane->values[symbol] > f->symbols.items[symbol].high && bind_lane(f, lane) &&
           have_allowed_sizes(f, lane);
}

// Many tries: few numbers leave a size its least that is a difference.
static bool find_wide_values(struct family *f, struct random *random, uint32_t turn, struct lane *lane)
{
    uint32_t symbol = symbol_of_turn(f, turn);
    return ANY(int, t, TRIES / 4, choose_wide_values(f, random, symbol, lane));
}

// Nodes that are ill-typed there say nothing, nor do those that read them.
static bool nodes_agree(struct family *f, struct lane *lane)
{
    node_set undefined = f->undefined;
    bool agree = true;
    f->undefined = 0;
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count && agree; n++) {
        const struct definition *known = f->meanings.nodes[n].definition;
        if (!known || family_reads_undefined(f, n) || !define_in_lane(f, lane, n))
            f->undefined |= (node_set)1 << n;
        else
            agree = !have_one_form(known, &lane->definitions[n]) || integers_are_so(f, n, lane);
    }
    f->undefined = undefined;
    return agree;
}

// A quotient has one number or another in all lanes where few strides are small enough (1 + 2 / s is 1 or 2 from s = 2
// on, and its square 3 times that less 2): small numbers tell what it may be taken for. A polynomial of steps may be 0
// at the few numbers that these are in all lanes: wide ones tell.
bool lanes_agree_elsewhere(struct family *f)
{
    struct lane *lane = &f->lanes[LANES];
    struct random random = random_seed(1);
    bool agree = true, has_few = ANY(uint32_t, i, f->symbols.n, has_few_values(&f->symbols.items[i]));
    for (int i = 0; i < SMALL_LANES + (has_few ? WIDE_LANES : 0) && agree; i++) {
        ARENA_MARK(mark, f->arena);
        bool is_chosen = i < SMALL_LANES ? choose_small_values(f, &random, lane)
                                         : find_wide_values(f, &random, i - SMALL_LANES, lane);
        agree = !is_chosen || nodes_agree(f, lane);
    }
    return agree || family_fails(f, "sizes that large numbers do not tell apart");
}

bool lanes_agree(struct family *f)
{
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count; n++)
        for (int l = 0; l < LANES && f->asked.assumed >> n & 1; l++)
            if (!have_one_form(f->meanings.nodes[n].definition, &f->lanes[l].definitions[n]) ||
                !integers_are_so(f, n, &f->lanes[l]))
                return family_fails(f, "the definition of %s has several forms",
                                    f->equation->pattern->nodes.items[n].op->name);
    return lanes_agree_elsewhere(f);
}
