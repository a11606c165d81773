// Equations of sizes that a well-typed application meets (docs/theory/symbolic.md, S3), by traits and roles.
#include "verifier/symbolic_proof/typing_facts.h"

#include "operators/traits.h"
#include "verifier/symbolic_proof/lanes.h"
#include "verifier/symbolic_proof/symbols.h"

static int rank_of(const struct family *f, term_id term)
{
    return family_type(f, &f->lanes[0], term)->rank;
}

// A fact about sizes of no known form: nothing is assumed, and nothing is shown.
static void is_lost(struct family *f)
{
    if (f->asked.asks)
        family_fails(f, "sizes of no known form");
}

// All inputs but those of rank 0 have one shape; `but` is an axis that is left out.
static void have_one_shape(struct family *f, const struct pattern_node *n, int64_t but)
{
    term_id first = NO_POLY;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        int rank = rank_of(f, n->inputs[i]);
        if (rank == 0)
            continue;
        if (first != NO_POLY && rank_of(f, first) != rank)
            family_fails(f, "%s of several ranks", n->op->name);
        for (int a = 0; first != NO_POLY && !f->why && a < rank; a++)
            if (a != but)
                family_equal(f, family_size(f, n->inputs[i], a), family_size(f, first, a));
        first = n->inputs[i];
    }
}

static void are_multiplied(struct family *f, const struct pattern_node *n)
{
    term_id x = n->inputs[0], y = n->inputs[1];
    int of_x = rank_of(f, x), of_y = rank_of(f, y);
    if (of_x < 2 || of_y < 2) {
        is_lost(f);
        return;
    }
    family_equal(f, family_size(f, y, of_y - 2), family_size(f, x, of_x - 1));
    for (int a = 0; of_x == of_y && a < of_x - 2; a++)
        family_equal(f, family_size(f, y, a), family_size(f, x, a));
}

static poly attribute_entry(const struct family *f, uint32_t node, enum attribute_role role, uint32_t entry)
{
    int i = operator_find_role(f->equation->pattern->nodes.items[node].op, role);
    return i >= 0 && entry < f->meanings.of_node[node][i].n ? f->meanings.of_node[node][i].items[entry] : NO_POLY;
}

// The channels are those of the kernel in each group, and groups divide the filters.
static void are_convolved(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    poly groups = attribute_entry(f, node, ROLE_GROUPS, 0), channels = family_size(f, n->inputs[1], 1);
    family_equal(f, family_size(f, n->inputs[0], 1), poly_mul(f->polys, groups, channels));
    if (!f->symbols.has_new_equations)
        family_exact_quotient(f, family_size(f, n->inputs[1], 0), groups, n, 0);
}

// Groups divide the filters, and their number is a multiple of how many are merged.
static void are_merged(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    poly groups = attribute_entry(f, node, ROLE_GROUPS, 0), count = attribute_entry(f, node, ROLE_MERGED_GROUPS, 0);
    family_exact_quotient(f, groups, count, n, 0);
    if (!f->symbols.has_new_equations)
        family_exact_quotient(f, family_size(f, n->inputs[0], 0), groups, n, 1);
}

// An axis is repeated where its size is 1, and is what it was elsewhere; where it may be either, both are tried.
static void axis_is_repeated(struct family *f, uint32_t node, int axis, poly size, poly wanted)
{
    uint8_t *repeats = &f->outline.repeats[node][axis];
    poly one = poly_const(f->polys, 1);
    if (size == NO_POLY || wanted == NO_POLY) {
        is_lost(f);
        return;
    }
    if (size == wanted || size == one)
        return;
    if (*repeats == REPEATS_UNASKED && f->asked.asks)
        *repeats = REPEATS_NONE;
    if (*repeats == REPEATS_UNASKED)
        *repeats = choose(f->choices, 2) ? REPEATS_ONE : REPEATS_NONE;
    family_equal(f, size, *repeats == REPEATS_ONE ? one : wanted);
}

static void is_repeated(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    int rank = rank_of(f, n->inputs[0]), shape = operator_find_role(n->op, ROLE_SHAPE);
    int added = (int)f->meanings.of_node[node][shape].n - rank;
    for (int a = 0; a < rank && added >= 0; a++)
        axis_is_repeated(f, node, a, family_size(f, n->inputs[0], a),
                         attribute_entry(f, node, ROLE_SHAPE, (uint32_t)(added + a)));
}

poly family_entry_or(struct family *f, uint32_t node, enum attribute_role role, int entry, int64_t standard)
{
    int i = operator_find_role(f->equation->pattern->nodes.items[node].op, role);
    const struct list_of_polys *list = i < 0 ? NULL : &f->meanings.of_node[node][i];
    return list && entry < (int)list->n ? list->items[entry] : poly_const(f->polys, standard);
}

// H + pads - (K - 1) * d - 1
poly family_room_of_window(struct family *f, uint32_t node, int axis, int n_axes)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct polys *p = f->polys;
    poly one = poly_const(p, 1), room = family_size(f, n->inputs[0], 2 + axis);
    poly kernel = operator_has_role(n->op, ROLE_KERNEL) ? family_entry_or(f, node, ROLE_KERNEL, axis, 1)
                                                        : family_size(f, n->inputs[1], 2 + axis);
    room = poly_add(p, room, family_entry_or(f, node, ROLE_WINDOW_PADS, axis, 0));
    room = poly_add(p, room, family_entry_or(f, node, ROLE_WINDOW_PADS, n_axes + axis, 0));
    poly reach = poly_mul(p, poly_sub(p, kernel, one), family_entry_or(f, node, ROLE_DILATION, axis, 1));
    return poly_sub(p, poly_sub(p, room, reach), one);
}

// Is an application refused to an image of one axis and three places, by windows like these?
static bool refuses_window(struct family *f, const struct operator* op, int64_t kernel, int64_t pad, int64_t dilation)
{
    const struct {
        enum attribute_role role;
        uint32_t count;
        int64_t value;
    } lists[] = {
        {ROLE_KERNEL, 1, kernel}, {ROLE_WINDOW_PADS, 2, pad}, {ROLE_DILATION, 1, dilation}, {ROLE_STRIDE, 1, 1}};
    struct type image = type_make(DTYPE_F32, 3, (int64_t[]){1, 1, 3});
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct operator_call call = {op, 1, &image, attributes};
    struct definition d FREED_BY(definition_free) = {0};
    for (int i = 0; i < operator_n_attributes(op); i++) {
        int64_t *ints = arena_array(f->arena, int64_t, 2);
        attributes[i] = (struct attribute_value){1, ints};
        ints[0] = op->attributes[i].standard;
        for (size_t j = 0; j < sizeof lists / sizeof *lists; j++)
            if (op->attributes[i].role == lists[j].role) {
                attributes[i].count = lists[j].count;
                ints[0] = ints[1] = lists[j].value;
            }
    }
    definition_init(&d, f->arena, 1, &image);
    d.is_silent = true;
    return !operator_define(&d, &call);
}

static bool wants_pads(struct family *f, const struct operator* op)
{
    return operator_pools(op) && !refuses_window(f, op, 2, 1, 1) && refuses_window(f, op, 2, 2, 1);
}

static bool wants_steps(struct family *f, const struct operator* op)
{
    return operator_pools(op) && !refuses_window(f, op, 2, 1, 1) && refuses_window(f, op, 2, 2, 4);
}

bool family_has_empty_windows(struct family *f)
{
    const struct pattern_node *nodes = f->equation->pattern->nodes.items;
    return ANY(uint32_t, n, f->equation->pattern->nodes.count,
               vec_find(&f->lanes[0].definitions[n].nodes, e, e->kind == EXPR_READ && e->b == OUTSIDE_LOWEST) &&
                   !(wants_pads(f, nodes[n].op) && wants_steps(f, nodes[n].op)));
}

// Windows that fit, and, where an operator wants each of them to meet the image, pads of less than the window and steps
// of a dilation within the image.
static void windows_fit(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    int n_axes = rank_of(f, n->inputs[0]) - 2;
    struct polys *p = f->polys;
    bool refuses_pads = wants_pads(f, n->op), refuses_steps = wants_steps(f, n->op);
    for (int a = 0; a < n_axes; a++) {
        poly size = family_size(f, n->inputs[0], 2 + a), dilation = family_entry_or(f, node, ROLE_DILATION, a, 1);
        poly more = poly_sub(p, family_entry_or(f, node, ROLE_KERNEL, a, 1), poly_const(p, 1));
        family_not_negative(f, family_room_of_window(f, node, a, n_axes));
        for (int end = 0; refuses_pads && end < 2; end++)
            family_not_negative(f, poly_sub(p, poly_mul(p, more, dilation),
                                            family_entry_or(f, node, ROLE_WINDOW_PADS, a + end * n_axes, 0)));
        if (refuses_steps)
            family_not_negative(f, poly_mul(p, more, poly_sub(p, size, dilation)));
    }
}

// NO_POLY: the sizes are too many.
static poly times(struct family *f, poly product, poly size, uint32_t *n_sizes)
{
    int64_t number;
    *n_sizes += !poly_is_const(f->polys, size, &number);
    return *n_sizes > MOST_ATOMS ? NO_POLY : poly_mul(f->polys, product, size);
}

// A view has as many entries as its input.
static void is_viewed(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    int shape = operator_find_role(n->op, ROLE_SHAPE);
    poly before = poly_const(f->polys, 1), after = before;
    uint32_t of_x = 0, of_z = 0;
    if (shape < 0)
        return;
    for (int a = 0; a < rank_of(f, n->inputs[0]); a++)
        before = times(f, before, family_size(f, n->inputs[0], a), &of_x);
    for (uint32_t i = 0; i < f->meanings.of_node[node][shape].n; i++)
        after = times(f, after, f->meanings.of_node[node][shape].items[i], &of_z);
    family_equal(f, before, after);
}

static void is_enlarged(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    for (int a = 2; a < rank_of(f, n->inputs[0]); a++) {
        poly wanted = attribute_entry(f, node, ROLE_KERNEL, (uint32_t)a - 2);
        poly difference = poly_sub(f->polys, wanted, family_size(f, n->inputs[0], a));
        family_not_negative(f, difference);
        family_exact_quotient(f, difference, poly_const(f->polys, 2), n, (uint32_t)a);
    }
}

// --- cuts ------------------------------------------------------------------------------------------------------------

// The place at which the axis of the term was joined: the size of the first part on every way to a concatenation, or to
// an input that remembers one. Split trees have a meet only where these are equal.
struct ways {
    poly cut;                // NO_POLY: none has led to one yet
    bool leads_to_nothing;   // to an input that remembers none
    bool is_lost;            // what is behind is not known
};
static void equate_cuts(struct family *f, term_id term, int axis, struct ways *ways);

static void equate_cut(struct family *f, struct ways *ways, poly size)
{
    if (ways->cut != NO_POLY)
        family_equal(f, ways->cut, size);
    ways->cut = size;
}

// How many variables the index has, and whether `variable` is one of them.
static uint32_t count_variables(const struct definition *d, expr index, uint32_t variable, bool *mentions)
{
    const struct expr_node *n = &d->nodes.items[index];
    if (n->kind == EXPR_VARIABLE)
        *mentions = *mentions || n->value == variable;
    if (n->kind == EXPR_INTEGER || n->kind == EXPR_VARIABLE)
        return n->kind == EXPR_VARIABLE;
    uint32_t of_a = count_variables(d, n->a, variable, mentions);
    return of_a + (n->kind == EXPR_INDEX_ADD ? count_variables(d, n->b, variable, mentions) : 0);
}

// An index of a read of what has the axis: by its variable alone it is a way. With other variables beside it there is
// none; with numbers, or where sizes differ, there is at some sizes.
static void follow_index(struct family *f, uint32_t node, int stage, int axis, const struct expr_node *read, int i,
                         struct ways *ways)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    const struct meaning *m = &f->meanings.nodes[node];
    expr index = m->definition->indices.items[read->a + (expr)i];
    bool mentions = false;
    uint32_t variable = m->definition->stages[stage].first_variable + (uint32_t)axis;
    uint32_t n_variables = count_variables(m->definition, index, variable, &mentions);
    if (!mentions || n_variables > 1)
        return;
    bool is_way = m->definition->nodes.items[index].kind == EXPR_VARIABLE && read->value < m->definition->n_inputs &&
                  family_size(f, n->inputs[read->value], i) == m->dims[stage][axis];
    if (is_way)
        equate_cuts(f, n->inputs[read->value], i, ways);
    ways->is_lost = ways->is_lost || !is_way;
}

static void equate_cuts_of_inputs(struct family *f, uint32_t node, uint32_t output, int axis, struct ways *ways)
{
    const struct definition *d = f->meanings.nodes[node].definition;
    if (d->is_data_dependent) {
        ways->is_lost = true;
        return;
    }
    for (size_t e = 0; e < d->nodes.count; e++)
        for (int i = 0; d->nodes.items[e].kind == EXPR_READ && i < d->nodes.items[e].count; i++)
            follow_index(f, node, d->outputs[output], axis, &d->nodes.items[e], i, ways);
}

static void equate_cut_of_variable(struct family *f, uint32_t variable, int axis, struct ways *ways)
{
    uint8_t *remembers = &f->outline.remembers[variable][axis];
    if (f->equation->plain >> variable & 1 || (f->asked.asks && *remembers == REMEMBERS_UNASKED))
        *remembers = REMEMBERS_NOTHING;
    if (*remembers == REMEMBERS_UNASKED)
        *remembers = choose(f->choices, 2) ? REMEMBERS_CUT : REMEMBERS_NOTHING;
    if (*remembers == REMEMBERS_CUT)
        equate_cut(f, ways, family_remembered_cut(f, variable, axis));
    else
        ways->leads_to_nothing = true;
}

static void equate_cuts(struct family *f, term_id term, int axis, struct ways *ways)
{
    const struct term *t = &f->equation->pattern->terms.items[term];
    if (t->is_variable) {
        equate_cut_of_variable(f, t->index, axis, ways);
        return;
    }
    const struct pattern_node *n = &f->equation->pattern->nodes.items[t->index];
    bool is_on_axis =
        operator_has_role(n->op, ROLE_AXIS) && attribute_entry(f, t->index, ROLE_AXIS, 0) == poly_const(f->polys, axis);
    if (operator_splits(n->op) && is_on_axis)
        ways->is_lost = true;
    else if (operator_joins(n->op) && is_on_axis && n->n_inputs > 1)
        equate_cut(f, ways, family_size(f, n->inputs[0], axis));
    else
        equate_cuts_of_inputs(f, t->index, t->output, axis, ways);
}

static void is_cut_where_joined(struct family *f, uint32_t node, int axis)
{
    struct ways ways = {.cut = NO_POLY};
    equate_cuts(f, f->equation->pattern->nodes.items[node].inputs[0], axis, &ways);
    f->meanings.cuts[node] = ways.cut == NO_POLY ? POLY_ZERO : ways.cut;
    if (ways.leads_to_nothing || (ways.cut == NO_POLY && !ways.is_lost) || (f->asked.asks && ways.is_lost))
        family_is_impossible(f);
}

static void is_cut(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    int sizes = operator_find_role(n->op, ROLE_PART_SIZES);
    const struct list_of_polys *parts = &f->meanings.of_node[node][sizes];
    poly axis = attribute_entry(f, node, ROLE_AXIS, 0), sum = POLY_ZERO;
    int64_t place;
    if (!poly_is_const(f->polys, axis, &place) || place < 0 || place >= rank_of(f, n->inputs[0])) {
        is_lost(f);
        return;
    }
    for (uint32_t i = 0; i < parts->n; i++)
        sum = poly_add(f->polys, sum, parts->items[i]);
    if (parts->n)
        family_equal(f, family_size(f, n->inputs[0], (int)place), sum);
    else
        is_cut_where_joined(f, node, (int)place);
}

// Is a constant of these sizes defined, with the node's other attributes?
static bool constant_is_defined(struct family *f, uint32_t node, struct definition *d, const int64_t *sizes)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct attribute_value attributes[MAX_ATTRIBUTES];
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        const struct list_of_polys *list = &f->meanings.of_node[node][i];
        int64_t *ints = arena_array(f->arena, int64_t, list->n + 1);
        bool is_shape = n->op->attributes[i].role == ROLE_SHAPE;
        for (uint32_t j = 0; j < list->n; j++)
            if (is_shape || !poly_is_const(f->polys, list->items[j], &ints[j]))
                ints[j] = is_shape ? sizes[j] : 1;
        attributes[i] = (struct attribute_value){list->n, ints};
    }
    struct operator_call call = {n->op, 0, NULL, attributes};
    definition_clear(d, 0, NULL);
    return operator_define(d, &call);
}

// A constant asks of one size, where all others are 1, nothing, that it is odd, or 1. False: something else.
enum asked_size { SIZE_ANY, SIZE_ODD, SIZE_ONE };
static bool find_asked_size(struct family *f, uint32_t node, struct definition *d, uint32_t entry, bool is_of_pair,
                            enum asked_size *ret_asked)
{
    uint32_t taken = 0;
    for (int64_t size = 1; size <= 8; size++) {
        int64_t sizes[MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        sizes[entry] = size;
        if (is_of_pair)
            sizes[0] = sizes[1] = size;
        taken |= (uint32_t)constant_is_defined(f, node, d, sizes) << size;
    }
    *ret_asked = taken == 0x1fe ? SIZE_ANY : taken == 0xaa ? SIZE_ODD : SIZE_ONE;
    return taken == 0x1fe || taken == 0xaa || taken == 2;
}

// Kernels that are identities or means have sizes that are equal, odd, or 1: the same in all of the family's instances.
static void is_constant(struct family *f, uint32_t node)
{
    const struct list_of_polys *shape =
        &f->meanings.of_node[node][operator_find_role(f->equation->pattern->nodes.items[node].op, ROLE_SHAPE)];
    struct definition d FREED_BY(definition_free) = {0};
    if (shape->n > MAX_RANK) {
        is_lost(f);
        return;
    }
    definition_init(&d, f->arena, 0, NULL);
    d.is_silent = true;
    bool is_pair = shape->n >= 2 && !constant_is_defined(f, node, &d, (int64_t[MAX_RANK]){2, 1, 1, 1, 1, 1, 1, 1}) &&
                   constant_is_defined(f, node, &d, (int64_t[MAX_RANK]){2, 2, 1, 1, 1, 1, 1, 1});
    poly one = poly_const(f->polys, 1);
    if (is_pair)
        family_equal(f, shape->items[0], shape->items[1]);
    for (uint32_t i = 0; i < shape->n && !f->symbols.has_new_equations; i++) {
        enum asked_size asked;
        if (!find_asked_size(f, node, &d, i, is_pair && i < 2, &asked))
            is_lost(f);
        else if (asked == SIZE_ONE)
            family_equal(f, shape->items[i], one);
        else if (asked == SIZE_ODD)
            family_exact_quotient(f, poly_sub(f->polys, shape->items[i], one), poly_const(f->polys, 2), shape, i);
    }
}

// Ranks and axes say all of operators of one tensor without lists of sizes; the others have sizes of their own.
static bool has_sizes(const struct operator* op)
{
    return ANY(int, i, operator_n_attributes(op), attribute_roles[op->attributes[i].role].is_of_sizes);
}

// Ranges lie within the tensor: their first and last places, of which one follows from the other and the step's sign.
static void is_sliced(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct polys *p = f->polys;
    poly one = poly_const(p, 1);
    for (int a = 0; a < rank_of(f, n->inputs[0]); a++) {
        poly size = family_size(f, n->inputs[0], a), start = attribute_entry(f, node, ROLE_START, (uint32_t)a);
        poly count = attribute_entry(f, node, ROLE_SIZE, (uint32_t)a), step = family_entry_or(f, node, ROLE_STEP, a, 1);
        poly last = poly_add(p, start, poly_mul(p, poly_sub(p, count, one), step));
        bool goes_on = poly_is_never_less(p, step, one);
        bool goes_back = poly_is_never_less(p, poly_scale(p, step, -1), one);
        family_at_least_zero(f, poly_sub(p, count, one), n, 5 * (uint32_t)a);
        if (!goes_back) {
            family_at_least_zero(f, start, n, 5 * (uint32_t)a + 1);
            family_at_least_zero(f, poly_sub(p, poly_sub(p, size, one), last), n, 5 * (uint32_t)a + 2);
        }
        if (!goes_on) {
            family_at_least_zero(f, last, n, 5 * (uint32_t)a + 3);
            family_at_least_zero(f, poly_sub(p, poly_sub(p, size, one), start), n, 5 * (uint32_t)a + 4);
        }
    }
}

// Something is left of each axis.
static void is_padded(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    int rank = rank_of(f, n->inputs[0]);
    for (int a = 0; a < rank; a++) {
        poly size = family_size(f, n->inputs[0], a), begin = attribute_entry(f, node, ROLE_PADS, (uint32_t)a);
        poly end = attribute_entry(f, node, ROLE_PADS, (uint32_t)(rank + a));
        poly left = poly_add(f->polys, poly_add(f->polys, size, begin), end);
        family_at_least_zero(f, poly_sub(f->polys, left, poly_const(f->polys, 1)), n, (uint32_t)a);
    }
}

bool family_knows_typing(struct family *f, uint32_t node)
{
    const struct operator* op = f->equation->pattern->nodes.items[node].op;
    bool is_known = operator_works_entry_by_entry(op) || operator_joins(op) || operator_multiplies_matrices(op) ||
                    operator_convolves(op) || operator_pools(op) || operator_merges_groups(op) ||
                    operator_is_view(op) || operator_repeats(op) || operator_enlarges(op) || operator_splits(op) ||
                    operator_is_constant(op) || (operator_most_inputs(op) == 1 && !has_sizes(op));
    return is_known || family_fails(f, "%s, of whose typing not all is known", op->name);
}

void family_add_typing(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    int64_t axis = -1;
    if (operator_has_windows(n->op))
        windows_fit(f, node);
    if (operator_works_entry_by_entry(n->op))
        have_one_shape(f, n, -1);
    else if (operator_joins(n->op) && poly_is_const(f->polys, attribute_entry(f, node, ROLE_AXIS, 0), &axis))
        have_one_shape(f, n, axis);
    else if (operator_multiplies_matrices(n->op))
        are_multiplied(f, n);
    else if (operator_convolves(n->op))
        are_convolved(f, node);
    else if (operator_merges_groups(n->op))
        are_merged(f, node);
    else if (operator_is_view(n->op))
        is_viewed(f, node);
    else if (operator_repeats(n->op))
        is_repeated(f, node);
    else if (operator_enlarges(n->op))
        is_enlarged(f, node);
    else if (operator_splits(n->op))
        is_cut(f, node);
    else if (operator_slices(n->op) && n->n_inputs == 1)
        is_sliced(f, node);
    else if (operator_has_role(n->op, ROLE_PADS))
        is_padded(f, node);
    else if (operator_is_constant(n->op))
        is_constant(f, node);
}
