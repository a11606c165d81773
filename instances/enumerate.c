// Variables are bound in an order in which nodes are known early.
#include "instances/enumerate.h"

#include "core/numbers/random.h"
#include "instances/rank_classes.h"
#include "substitutions/pattern.h"

// --- types to try ----------------------------------------------------------------------------------------------------
// The types that a search tries for a variable: those of the box's sizes that the conditions leave which speak of
// nothing else.
// All types of each rank, and what conditions leave of them.

struct types_to_try {
    uint32_t count;
    const type_id *items;
};

typedef VEC(type_id) type_vec;

// --- of one rank -----------------------------------------------------------------------------------------------------

// The last: a second axis may be cut, too, or a piece of two positions once more.
enum cuts { NO_CUTS, ONE_CUT, MORE_CUTS };

static void add_type_with_tree(struct typing *t, struct type type, int axis, const struct split_tree *tree,
                               type_vec *types)
{
    type.split[axis] = tree;
    vec_push(types, typing_add(t, &type));
}

static void add_types_with_second_cut(struct typing *t, struct type type, int axis, const struct split_tree *first,
                                      type_vec *types)
{
    type.split[axis] = first;
    for (int other = axis + 1; other < type.rank; other++)
        for (int64_t at = 1; at < type.dim[other]; at++)
            add_type_with_tree(t, type, other, &(struct split_tree){at, NULL, NULL}, types);
}

static void add_cut_types(struct typing *t, struct type type, enum cuts cuts, type_vec *types)
{
    static const struct split_tree halves = {1, NULL, NULL};
    for (int axis = 0; axis < type.rank; axis++)
        for (int64_t at = 1; at < type.dim[axis]; at++) {
            struct split_tree whole = {at, NULL, NULL}, of_first = {at, &halves, NULL}, of_second = {at, NULL, &halves};
            add_type_with_tree(t, type, axis, &whole, types);
            if (cuts == MORE_CUTS)
                add_types_with_second_cut(t, type, axis, &whole, types);
            if (cuts == MORE_CUTS && at == 2)
                add_type_with_tree(t, type, axis, &of_first, types);
            if (cuts == MORE_CUTS && type.dim[axis] - at == 2)
                add_type_with_tree(t, type, axis, &of_second, types);
        }
}

static int next_size(uint32_t sizes, int64_t above)
{
    uint32_t left = sizes & ~((2u << above) - 1);
    return left ? __builtin_ctz(left) : 0;
}

static void make_types_of_rank(struct typing *t, enum dtype dtype, int rank, enum cuts cuts, const int64_t *sizes,
                               type_vec *types)
{
    struct type type = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) {
        type.dim[i] = next_size((uint32_t)sizes[i], 0);
        if (type.dim[i] == 0)
            return;
    }
    if (rank == 0 && sizes[0] == 0)
        return;
    for (;;) {
        vec_push(types, typing_add(t, &type));
        if (cuts)
            add_cut_types(t, type, cuts, types);
        int i = rank;
        while (i > 0 && next_size((uint32_t)sizes[i - 1], type.dim[i - 1]) == 0) {
            type.dim[i - 1] = next_size((uint32_t)sizes[i - 1], 0);
            i--;
        }
        if (i == 0)
            return;
        type.dim[i - 1] = next_size((uint32_t)sizes[i - 1], type.dim[i - 1]);
    }
}

// A property may have tensors of which nothing but some sizes is asked: of the others one is enough.
static void find_sizes(const struct enumeration *e, uint32_t variable, int rank, int64_t *ret_sizes)
{
    const struct equation *eq = e->equation;
    uint32_t axes = eq->is_strong ? equation_axes_asked_for(eq, variable) : UINT32_MAX;
    for (int i = 0; i < MAX_RANK; i++) {
        uint32_t sizes = i < rank || i == 0 ? e->box->sizes[variable][rank][i] : 0;
        ret_sizes[i] = axes >> i & 1 ? sizes : sizes & -sizes;
    }
}

// Pieces that were cut again matter where something looks at cuts: the nodes of all other trees are there together.
static enum cuts cuts_of(const struct enumeration *e, uint32_t variable)
{
    if (!e->box->has_split_trees || (e->equation->plain >> variable & 1))
        return NO_CUTS;
    return e->box->has_more_cuts && e->equation->pattern->looks_at_split_trees ? MORE_CUTS : ONE_CUT;
}

#define MAX_TYPES (1u << 22)   // of one rank, as they are all held in memory
static bool are_too_many(const int64_t *sizes, int rank)
{
    double n = PRODUCT_ALL(double, int, i, rank, __builtin_popcount((uint32_t)sizes[i]));
    return n > MAX_TYPES;
}

static void shuffle(struct random *r, type_id *items, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        size_t j = (size_t)random_below(r, i + 1);
        type_id item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static void add_types(struct enumeration *e, uint32_t variable, uint16_t ranks, enum dtype dtype, type_vec *types)
{
    size_t first = types->count;
    for (int rank = 0; rank <= e->box->max_rank; rank++) {
        int64_t sizes[MAX_RANK];
        find_sizes(e, variable, rank, sizes);
        if (!(ranks >> rank & 1))
            continue;
        if (are_too_many(sizes, rank))
            e->was_cut_short = true;
        else
            make_types_of_rank(e->typing, dtype, rank, cuts_of(e, variable), sizes, types);
    }
    if (e->random)
        shuffle(e->random, types->items + first, types->count - first);
}

// Conditions that speak of nothing but the variable hold of its types or do not, whatever the others are.
static bool is_of_variable_alone(const struct condition *c, uint32_t variable)
{
    return !condition_is_of_variable(c->kind) && equation_variables_of_condition(c) == 1u << variable &&
           attribute_variables_of_term(c->a) == 0 && attribute_variables_of_term(c->b) == 0;
}

static void keep_types_with(const struct enumeration *e, const struct condition *c, uint32_t variable, type_vec *types)
{
    const struct type *tensors[MAX_RULE_VARIABLES] = {0};
    struct term_bindings b = {.tensors = tensors};
    size_t kept = 0;
    for (size_t i = 0; i < types->count; i++) {
        ARENA_MARK(mark, e->scratch);
        tensors[variable] = typing_type(e->typing, types->items[i]);
        if (condition_holds(c, &b, NULL, e->scratch))
            types->items[kept++] = types->items[i];
    }
    types->count = kept;
}

// Finds types of these ranks, one bit each, in e->scratch. The enumeration is cut short where there are too many.
static void types_to_try_find(struct enumeration *e, uint32_t variable, uint16_t ranks, struct types_to_try *ret_types)
{
    static const enum dtype dtypes[3] = {DTYPE_F32, DTYPE_BOOL, DTYPE_I64};
    int tried = e->box->dtypes[variable] ? e->box->dtypes[variable] : TRIES_F32;
    LOCAL_LIST(type_vec, types);
    for (int i = 0; i < 3; i++)
        if (tried >> i & 1)
            add_types(e, variable, ranks, dtypes[i], &types);
    for (uint32_t i = 0; i < e->equation->n_conditions; i++)
        if (is_of_variable_alone(&e->equation->conditions[i], variable))
            keep_types_with(e, &e->equation->conditions[i], variable, &types);
    vec_reserve(&types, 1);
    *ret_types = (struct types_to_try){(uint32_t)types.count, arena_copy_array(e->scratch, types.items, types.count)};
}

// --- instances -------------------------------------------------------------------------------------------------------

#define MAX_SEARCHED 32   // conditions

// Nodes and conditions that are known when so many variables are bound, and were not before.
struct level {
    uint32_t variable;     // that is bound next
    node_set nodes;        // to be typed
    uint32_t conditions;   // to be asked
    node_set shaped;       // whose attributes read the shape of the variable, and of no other
};
// A node that is typed next, with the variable as one input and another one that is known: few types agree with that.
struct agreeing {
    uint32_t node;   // NO_NODE: there is none
    uint32_t input, other;
    term_id other_term;
    head_id head;         // `of_types` are those with this one
    uint32_t *of_types;   // that are tried; NULL: not asked yet
};
#define NO_NODE UINT32_MAX
struct search {
    struct enumeration *e;
    struct instance in;
    node_set required;   // nodes that must be well-typed
    uint32_t n_levels;   // variables
    struct level levels[MAX_RULE_VARIABLES + 1];
    struct types_to_try types[MAX_RULE_VARIABLES];   // of each variable
    struct agreeing agreeing[MAX_RULE_VARIABLES];    // of each level
    head_id *heads[MAX_RULE_NODES];                  // of shaped nodes at each type; NULL: none is known
};

// --- what is tried ---------------------------------------------------------------------------------------------------

static uint32_t used_variables(const struct equation *eq)
{
    uint32_t variables =
        UNION_ALL(uint32_t, uint32_t, i, eq->pattern->nodes.count, equation_variables_of_node(eq->pattern, i));
    for (uint32_t i = 0; i < eq->pattern->terms.count; i++)
        if (eq->pattern->terms.items[i].is_variable)
            variables |= 1u << eq->pattern->terms.items[i].index;
    return variables |
           UNION_ALL(uint32_t, uint32_t, i, eq->n_conditions, equation_variables_of_condition(&eq->conditions[i]));
}

// Other ranks than lists of windows ask for are ill-typed, whatever the sizes are.
static void find_types(struct search *s, uint32_t variables)
{
    const struct pattern *p = s->e->equation->pattern;
    struct rank_classes classes;
    struct ranks_left left;
    rank_classes_make(&classes, &left, p, s->required);
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((s->required >> n & 1) && s->in.heads[n] != NO_HEAD)
            ranks_left_restrict_node(&left, &classes, p, n, typing_attributes(s->e->typing, s->in.heads[n]));
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        if (variables >> v & 1)
            types_to_try_find(s->e, v, left.of_class[classes.class_of_variable[v]], &s->types[v]);
}

// False: no types go with them.
static bool bind_attributes(struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    bool may_be_typed = true;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        s->in.attributes[v] = s->e->attributes[v];
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        instance_settle_attributes(&s->in, n);
        may_be_typed = may_be_typed && !((s->required >> n & 1) && instance_refuses_attributes(&s->in, n));
    }
    return may_be_typed;
}

// --- the order of the search -----------------------------------------------------------------------------------------

// A variable of those that the node waits for which waits for the fewest.
static uint32_t choose_variable(const struct search *s, uint32_t left)
{
    uint32_t chosen = left;
    for (uint32_t n = 0; n < s->e->equation->pattern->nodes.count; n++) {
        uint32_t waits_for = equation_variables_of_node(s->e->equation->pattern, n) & left;
        if ((s->required >> n & 1) && waits_for && __builtin_popcount(waits_for) < __builtin_popcount(chosen))
            chosen = waits_for;
    }
    return (uint32_t)__builtin_ctz(chosen);
}

static void note_what_is_known(const struct search *s, struct level *level, uint32_t left, node_set *nodes,
                               uint32_t *conditions)
{
    const struct equation *eq = s->e->equation;
    level->nodes = level->conditions = 0;
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (!(*nodes >> n & 1) && (equation_variables_of_node(eq->pattern, n) & left) == 0)
            level->nodes |= (node_set)1 << n;
    for (uint32_t i = 0; i < eq->n_conditions && i < MAX_SEARCHED; i++)
        if (!(*conditions >> i & 1) && (equation_variables_of_condition(&eq->conditions[i]) & left) == 0)
            level->conditions |= 1u << i;
    *nodes |= level->nodes;
    *conditions |= level->conditions;
}

static node_set nodes_of_shape(const struct pattern *p, uint32_t variable)
{
    return UNION_ALL(node_set, uint32_t, n, p->nodes.count,
                     (node_set)(equation_variables_of_attributes(&p->nodes.items[n]) == 1u << variable) << n);
}

static void plan_levels(struct search *s, uint32_t variables)
{
    uint32_t conditions = 0;
    node_set nodes = 0;
    note_what_is_known(s, &s->levels[0], variables, &nodes, &conditions);
    for (uint32_t left = variables; left; s->n_levels++) {
        uint32_t next = choose_variable(s, left);
        s->levels[s->n_levels].variable = next;
        s->levels[s->n_levels].shaped = nodes_of_shape(s->e->equation->pattern, next);
        left &= ~(1u << next);
        note_what_is_known(s, &s->levels[s->n_levels + 1], left, &nodes, &conditions);
    }
}

// --- agreement -------------------------------------------------------------------------------------------------------

static uint32_t variables_of_term(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    return t->is_variable ? 1u << t->index : equation_variables_of_node(p, t->index);
}

// Does the node have a head before the level's variable is bound, which may have an agreement?
static bool has_head_before(const struct search *s, uint32_t node, uint32_t level)
{
    return s->in.heads[node] == NO_HEAD ? ANY(uint32_t, i, level, s->levels[i].shaped >> node & 1)
                                        : typing_has_agreement(s->e->typing, s->in.heads[node]);
}

static struct agreeing agreeing_of_node(const struct search *s, uint32_t node, uint32_t level)
{
    const struct pattern *p = s->e->equation->pattern;
    const struct pattern_node *n = &p->nodes.items[node];
    uint32_t variable = s->levels[level].variable;
    struct agreeing found = {.node = NO_NODE, .input = UINT32_MAX, .other = UINT32_MAX, .head = NO_HEAD};
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &p->terms.items[n->inputs[i]];
        if (t->is_variable && t->index == variable)
            found.input = i;
        else if (!(variables_of_term(p, n->inputs[i]) >> variable & 1))
            found.other = i;
    }
    if (found.input == UINT32_MAX || found.other == UINT32_MAX || !has_head_before(s, node, level))
        return found;
    found.node = node;
    found.other_term = n->inputs[found.other];
    return found;
}

static void find_agreeing(struct search *s)
{
    for (uint32_t i = 0; i < s->n_levels; i++) {
        s->agreeing[i].node = NO_NODE;
        for (uint32_t n = 0; s->levels[i + 1].nodes >> n && s->agreeing[i].node == NO_NODE; n++)
            if (s->levels[i + 1].nodes & s->required & (node_set)1 << n)
                s->agreeing[i] = agreeing_of_node(s, n, i);
    }
}

// The agreements of the types that are tried at the level, and the one that is wanted. NULL: any may do.
static const uint32_t *agreements_at(struct search *s, uint32_t number, uint32_t *ret_wanted)
{
    struct agreeing *a = &s->agreeing[number];
    head_id head = a->node == NO_NODE ? NO_HEAD : s->in.heads[a->node];
    type_id other = head == NO_HEAD ? NO_TYPE : instance_term_type(&s->in, a->other_term);
    const struct types_to_try *types = &s->types[s->levels[number].variable];
    if (other == NO_TYPE || !typing_has_agreement(s->e->typing, head))
        return NULL;
    if (!a->of_types)
        a->of_types = arena_array(s->e->scratch, uint32_t, types->count + 1);
    for (uint32_t i = 0; head != a->head && i < types->count; i++)
        a->of_types[i] = typing_agreement(s->e->typing, head, a->input, types->items[i]);
    a->head = head;
    *ret_wanted = typing_agreement(s->e->typing, head, a->other, other);
    return a->of_types;
}

// --- the search ------------------------------------------------------------------------------------------------------

static bool type_nodes(struct search *s, node_set nodes)
{
    for (uint32_t n = 0; nodes >> n; n++)
        if ((nodes >> n & 1) && !instance_type_node(&s->in, n) && (s->required >> n & 1))
            return false;
    return true;
}

static bool conditions_hold(struct search *s, uint32_t conditions)
{
    enum weight_kind weights[MAX_RULE_VARIABLES];
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        weights[v] = WEIGHT_GIVEN;
    if (!conditions)
        return true;
    struct term_bindings b = instance_bindings(&s->in);
    ARENA_MARK(mark, s->e->scratch);
    bool hold = true;
    for (uint32_t i = 0; hold && i < MAX_SEARCHED && conditions >> i; i++)
        if (conditions >> i & 1)
            hold = condition_holds(&s->e->equation->conditions[i], &b, weights, s->e->scratch);
    return hold;
}

static bool has_required_outputs(const struct search *s)
{
    const struct equation *eq = s->e->equation;
    for (uint32_t t = 0; t < eq->pattern->terms.count; t++) {
        const struct term *term = &eq->pattern->terms.items[t];
        if (!term->is_variable && (s->required >> term->index & 1) && instance_term_type(&s->in, t) == NO_TYPE)
            return false;
    }
    return true;
}

#define UNASKED_HEAD (NO_HEAD - 1)
static head_id *unasked_heads(struct search *s, uint32_t count)
{
    head_id *heads = arena_array(s->e->scratch, head_id, count + 1);
    for (uint32_t i = 0; i < count; i++)
        heads[i] = UNASKED_HEAD;
    return heads;
}

// The variable has the i-th type that is tried for it: nodes that read its shape alone have the heads that they had
// with this type before, whatever others are.
static void set_heads(struct search *s, const struct level *level, uint32_t i)
{
    for (uint32_t n = 0; level->shaped >> n; n++) {
        if (!(level->shaped >> n & 1))
            continue;
        if (!s->heads[n])
            s->heads[n] = unasked_heads(s, s->types[level->variable].count);
        if (s->heads[n][i] == UNASKED_HEAD)
            s->heads[n][i] = instance_evaluate_head(&s->in, n);
        s->in.heads[n] = s->heads[n][i];
    }
}

static void clear_heads(struct search *s, const struct level *level)
{
    for (uint32_t n = 0; level->shaped >> n; n++)
        if (level->shaped >> n & 1)
            s->in.heads[n] = NO_HEAD;
}

static bool search_from(struct search *s, uint32_t number);

static bool try_types(struct search *s, uint32_t number)
{
    const struct level *level = &s->levels[number];
    uint32_t variable = level->variable;
    const struct types_to_try *types = &s->types[variable];
    uint32_t wanted = 0;
    const uint32_t *agreements = agreements_at(s, number, &wanted);
    bool goes_on = true;
    for (uint32_t i = 0; i < types->count && goes_on && !s->e->was_cut_short; i++) {
        s->e->was_cut_short = ++s->e->steps > s->e->step_limit;
        if (agreements && agreements[i] != wanted)
            continue;
        instance_bind(&s->in, variable, types->items[i]);
        set_heads(s, level, i);
        goes_on = s->e->was_cut_short || search_from(s, number + 1);
    }
    instance_bind(&s->in, variable, NO_TYPE);
    clear_heads(s, level);
    return goes_on;
}

static bool search_from(struct search *s, uint32_t number)
{
    if (!type_nodes(s, s->levels[number].nodes) || !conditions_hold(s, s->levels[number].conditions))
        return true;
    if (number < s->n_levels)
        return try_types(s, number);
    if (!has_required_outputs(s))
        return true;
    s->e->instances++;
    return s->e->visit(s->e->context, &s->in);
}

// There may be very many attributes that no types go with.
#define STEPS_OF_REFUSAL 25
bool enumerate_instances(struct enumeration *e)
{
    struct search s = {.e = e, .required = equation_required_nodes(e->equation, e->wanted)};
    uint32_t variables = used_variables(e->equation);
    e->steps = e->instances = 0;
    e->was_cut_short = false;
    instance_init(&s.in, e->equation, e->typing, e->scratch);
    if (!bind_attributes(&s)) {
        e->steps = STEPS_OF_REFUSAL;
        e->was_cut_short = e->steps > e->step_limit;
        return true;
    }
    ARENA_MARK(mark, e->scratch);
    plan_levels(&s, variables);
    find_types(&s, variables);
    find_agreeing(&s);
    return e->was_cut_short || search_from(&s, 0);
}
