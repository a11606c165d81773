// Why the ranks that are tried stand for all: axes that nothing names are carried along (T4), and windows go along all
// spatial axes alike (T5).
#include "substitutions/pattern.h"
#include "verifier/bounds/forms/terms.h"

#include "core/memory/arena.h"
#include "core/memory/union_find.h"
#include "core/text/text.h"
#include "operators/traits.h"
#include "verifier/instances/domain.h"

// --- axes that are told apart (T4) -----------------------------------------------------------------------------------

struct told_axes {
    int64_t leading, trailing;   // named by their number, from either end
    uint32_t variables;          // attribute variables that are an axis
    uint32_t sets;               // attribute variables that are a set of axes
    int64_t dropped;             // by reductions along numbered axes, on one way
    bool is_moved;               // axes are dropped or added in front, so that one number says several
    bool is_unknown;             // something else is done with axes, or with how many there are
};

// Terms of one rank: a variable has that of what is made of it where operators keep ranks.
struct same_ranks {
    const struct pattern *p;
    size_t n_terms;
    uint16_t parents[MAX_FORM_TERMS];
};

static term_id term_of_variable(const struct pattern *p, int64_t variable)
{
    term_id term = 0;
    while (term < p->terms.count && !(p->terms.items[term].is_variable && p->terms.items[term].index == variable))
        term++;
    return term;
}

static void join_ranks(struct same_ranks *s, term_id x, term_id y)
{
    if (x < s->n_terms && y < s->n_terms)
        union_find_join(s->parents, x, y);
}

static void join_ranks_by_condition(struct same_ranks *s, const struct condition *c)
{
    bool is_of_ranks =
        c->kind == CONDITION_EQUAL && c->a->kind == c->b->kind && (c->a->kind == TERM_RANK || c->a->kind == TERM_DIMS);
    if (is_of_ranks)
        join_ranks(s, term_of_variable(s->p, c->a->value), term_of_variable(s->p, c->b->value));
}

static struct same_ranks same_ranks_of(const struct equation *eq)
{
    struct same_ranks s = {.p = eq->pattern, .n_terms = eq->pattern->terms.count};
    s.n_terms = s.n_terms > MAX_FORM_TERMS ? 0 : s.n_terms;
    union_find_init(s.parents, MAX_FORM_TERMS);
    for (term_id t = 0; t < s.n_terms; t++) {
        const struct term *term = &s.p->terms.items[t];
        const struct pattern_node *node = term->is_variable ? NULL : &s.p->nodes.items[term->index];
        if (!node || node->n_inputs == 0)
            continue;
        if (operator_has(node->op, TRAIT_KEEPS_FIRST_RANK) ||
            (operator_reduces_axes(node->op) && dropped_axes(node) == 0))
            join_ranks(&s, t, node->inputs[0]);
        for (uint32_t i = 1; i < node->n_inputs && operator_has(node->op, TRAIT_KEEPS_RANK); i++)
            join_ranks(&s, node->inputs[0], node->inputs[i]);
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind))
            join_ranks_by_condition(&s, &eq->conditions[i]);
    return s;
}

// (- (rank ?x) 1) counts from the end of tensors of the rank of ?x; of another tensor it may be any axis.
static bool is_from_own_end(const struct same_ranks *s, term_id tensor, const struct attribute_term *t)
{
    if (t->kind != TERM_SUB || t->operands[0]->kind != TERM_RANK)
        return true;
    term_id counted = term_of_variable(s->p, t->operands[0]->value);
    return tensor < s->n_terms && counted < s->n_terms &&
           union_find_root(s->parents, tensor) == union_find_root(s->parents, counted);
}

// The side of the condition beside the variable; NULL: it says nothing of it.
static const struct attribute_term *other_side(const struct condition *c, int64_t variable)
{
    for (int side = 0; side < 2 && !condition_is_of_variable(c->kind); side++) {
        const struct attribute_term *t = side ? c->b : c->a;
        if (form_is_variable(t) && t->value == variable)
            return side ? c->a : c->b;
    }
    return NULL;
}

// An axis of the tensor. Conditions may say where a variable counts from, or that it is another one, or follows it.
static bool axis_is_from_own_end(const struct same_ranks *s, const struct equation *eq, term_id tensor,
                                 const struct attribute_term *t, uint32_t *seen)
{
    bool is_own = is_from_own_end(s, tensor, t);
    if (!form_is_variable(t) || (*seen >> t->value & 1))
        return is_own;
    *seen |= 1u << t->value;
    for (uint32_t i = 0; i < eq->n_conditions && is_own; i++) {
        const struct attribute_term *other = other_side(&eq->conditions[i], t->value);
        is_own = !other || axis_is_from_own_end(s, eq, tensor, other, seen);
    }
    return is_own;
}

static bool sizes_are_from_own_end(const struct same_ranks *s, const struct equation *eq,
                                   const struct attribute_term *t)
{
    uint32_t seen = 0;
    if (t->kind == TERM_DIM)
        return axis_is_from_own_end(s, eq, term_of_variable(s->p, t->value), t->operands[0], &seen);
    bool are_own = true;
    for (uint32_t i = 0; i < t->count && are_own; i++)
        are_own = sizes_are_from_own_end(s, eq, t->operands[i]);
    return are_own;
}

static bool axes_are_from_own_end(const struct same_ranks *s, const struct equation *eq,
                                  const struct pattern_node *node)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++) {
        enum attribute_role role = node->op->attributes[i].role;
        for (uint32_t j = 0; j < node->attributes[i].count; j++) {
            uint32_t seen = 0;
            if ((role == ROLE_AXIS || role == ROLE_AXES) && node->n_inputs > 0
                    ? !axis_is_from_own_end(s, eq, node->inputs[0], node->attributes[i].terms[j], &seen)
                    : !sizes_are_from_own_end(s, eq, node->attributes[i].terms[j]))
                return false;
        }
    }
    return true;
}

static bool condition_counts_from_own_ends(const struct same_ranks *s, const struct equation *eq,
                                           const struct condition *c)
{
    return condition_is_of_variable(c->kind) ||
           (sizes_are_from_own_end(s, eq, c->a) && sizes_are_from_own_end(s, eq, c->b));
}

// 3, $i or (- (rank ?x) 2); any other term may be another axis at ranks that are not tried.
static void note_axis(struct told_axes *told, const struct attribute_term *t)
{
    bool is_from_the_end = t->kind == TERM_SUB && t->operands[0]->kind == TERM_RANK && form_is_integer(t->operands[1]);
    if (form_is_integer(t))
        told->leading = t->value + 1 > told->leading ? t->value + 1 : told->leading;
    else if (form_is_variable(t))
        told->variables |= 1u << t->value;
    else if (is_from_the_end)
        told->trailing = t->operands[1]->value > told->trailing ? t->operands[1]->value : told->trailing;
    else
        told->is_unknown = true;
}

static void note_axes_of_sizes(struct told_axes *told, const struct attribute_term *t)
{
    if (t->kind == TERM_DIM)
        note_axis(told, t->operands[0]);
    told->is_unknown = told->is_unknown || t->kind == TERM_RANK || t->kind == TERM_LENGTH || t->kind == TERM_IOTA ||
                       t->kind == TERM_TAKE || t->kind == TERM_DROP || t->kind == TERM_REPEAT || t->kind == TERM_AT ||
                       t->kind == TERM_SUM || t->kind == TERM_PRODUCT;
    for (uint32_t i = 0; i < t->count && t->kind != TERM_DIM; i++)
        note_axes_of_sizes(told, t->operands[i]);
}

static void note_attribute(struct told_axes *told, const struct attribute *attribute, const struct attribute_pattern *a)
{
    bool is_axis = attribute->role == ROLE_AXIS, is_set = attribute->role == ROLE_AXES;
    for (uint32_t j = 0; j < a->count && attribute->kind != ATTRIBUTE_REAL; j++) {
        const struct attribute_term *t = a->terms[j];
        if (is_set && form_is_variable(t))
            told->sets |= 1u << t->value;   // of one axis, if it is an axis elsewhere
        else if (is_axis || is_set)
            note_axis(told, t);
        else
            note_axes_of_sizes(told, t);
    }
}

// A constant that is not one number at all places and sizes: a mean's kernel tells filters and channels from others.
static bool tells_axes(const struct operator* op)
{
    return !operator_has(op, TRAIT_UNIFORM) || operator_has(op, TRAIT_IS_OF_SIZES);
}

// Operators that do with an axis that they do not name what they do with any other such.
static void note_operator(struct told_axes *told, const struct pattern_node *node)
{
    const struct operator* op = node->op;
    bool is_named = operator_has_role(op, ROLE_AXIS) || operator_permutes(op);
    if (operator_works_entry_by_entry(op))
        return;
    if (operator_is_constant(op))
        told->is_unknown = told->is_unknown || (tells_axes(op) && rank_of_shape(node) == RANK_OPEN);
    else if (operator_multiplies_matrices(op))
        told->trailing = told->trailing > 2 ? told->trailing : 2;
    else if (operator_has_windows(op) || operator_enlarges(op) || operator_merges_groups(op))
        told->leading = told->leading > 2 ? told->leading : 2;
    else if (operator_repeats(op) || operator_reduces_axes(op))
        told->is_moved = told->is_moved || operator_repeats(op) || dropped_axes(node) == RANK_OPEN;
    else
        told->is_unknown = told->is_unknown || !(is_named && operator_has(op, TRAIT_KEEPS_RANK));
}

// A set of axes that is a list of numbers names these; one of which all entries are 0, or 1, names that axis.
static bool note_axes_of_set(struct told_axes *told, const struct condition *c)
{
    for (int side = 0; side < 2; side++) {
        const struct attribute_term *a = side ? c->b : c->a, *b = side ? c->a : c->b;
        bool is_of_entries = a->kind == TERM_SUM || a->kind == TERM_PRODUCT;
        const struct attribute_term *set = is_of_entries ? a->operands[0] : a;
        if (!form_is_variable(set) || !(told->sets >> set->value & 1) || form_is_variable(b))
            continue;
        if (b->kind != TERM_LIST)
            note_axis(told, b);
        for (uint32_t i = 0; i < b->count && b->kind == TERM_LIST; i++)
            note_axis(told, b->operands[i]);
        return true;
    }
    return false;
}

static void note_conditions(struct told_axes *told, const struct equation *eq)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        told->is_unknown = told->is_unknown || !form_condition_keeps_ranks(eq->pattern, c);
        if (condition_is_of_variable(c->kind) || c->a->kind == TERM_RANK)
            continue;   // a rank that is asked for is fixed, or another tensor's
        if ((form_is_variable(c->a) && (told->variables >> c->a->value & 1)) ||
            (form_is_variable(c->b) && (told->variables >> c->b->value & 1))) {
            note_axis(told, c->a);
            note_axis(told, c->b);
            continue;
        }
        if (note_axes_of_set(told, c))
            continue;
        bool is_of_entries = c->a->kind == TERM_SUM || c->a->kind == TERM_PRODUCT || c->a->kind == TERM_LENGTH;
        if (!is_of_entries)
            note_axes_of_sizes(told, c->a);
        note_axes_of_sizes(told, c->b);
    }
}

// By how much the ranks of what an output is made of exceed its own, at most.
static int64_t dropped_on_a_way(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &p->nodes.items[t->index];
    int64_t most = 0, dropped = node ? dropped_axes(node) : 0;
    for (uint32_t i = 0; node && i < node->n_inputs; i++) {
        int64_t below = dropped_on_a_way(p, node->inputs[i]);
        most = below > most ? below : most;
    }
    return most + (dropped == RANK_OPEN ? 0 : dropped);
}

static struct told_axes axes_told_apart(const struct equation *eq)
{
    struct told_axes told = {0};
    struct same_ranks same = same_ranks_of(eq);
    for (size_t n = 0; n < eq->pattern->nodes.count; n++) {
        const struct pattern_node *node = &eq->pattern->nodes.items[n];
        note_operator(&told, node);
        told.is_unknown = told.is_unknown || !axes_are_from_own_end(&same, eq, node);
        for (int i = 0; i < operator_n_attributes(node->op); i++)
            note_attribute(&told, &node->op->attributes[i], &node->attributes[i]);
    }
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        int64_t left = dropped_on_a_way(eq->pattern, eq->left[i]), right = dropped_on_a_way(eq->pattern, eq->right[i]);
        told.dropped += left > right ? left : right;
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        told.is_unknown = told.is_unknown || !condition_counts_from_own_ends(&same, eq, &eq->conditions[i]);
    note_conditions(&told, eq);
    told.sets &= ~told.variables;
    return told;
}

#define MOST_WAYS 4096
// Where sets of axes that are variables are dropped: on every way from an output to a tensor with axes once, all by one
// set, with no other set above. Then all variables have the axes that sets say, and outputs have those that are left.
struct dropping {
    const struct pattern *p;
    int64_t set;
    uint32_t ways;
};

static bool drops_once(struct dropping *d, term_id term, bool is_dropped)
{
    const struct term *t = &d->p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &d->p->nodes.items[t->index];
    if (!node || node->n_inputs == 0)
        return is_dropped;
    if (++d->ways > MOST_WAYS || operator_repeats(node->op))
        return false;
    if (operator_reduces_axes(node->op)) {
        const struct attribute_pattern *axes = pattern_node_attribute(node, ROLE_AXES);
        if (dropped_axes(node) != RANK_OPEN)
            return (is_dropped || !axes->count || form_is_integer(axes->terms[0])) &&
                   drops_once(d, node->inputs[0], is_dropped);
        bool is_set = form_is_one_variable(axes) && (d->set == RANK_OPEN || d->set == axes->terms[0]->value);
        d->set = is_set ? axes->terms[0]->value : RANK_OPEN;
        return is_set && !is_dropped && drops_once(d, node->inputs[0], true);
    }
    if (operator_scales(node->op))
        return d->p->terms.items[node->inputs[1]].is_variable && drops_once(d, node->inputs[0], is_dropped);
    bool is_once = true;
    for (uint32_t i = 0; i < node->n_inputs && is_once; i++)
        is_once = drops_once(d, node->inputs[i], is_dropped);
    return is_once;
}

static bool has_sets_of_one_tensor(const struct equation *eq)
{
    struct dropping d = {.p = eq->pattern, .set = RANK_OPEN};
    bool is_once = true;
    for (uint32_t i = 0; i < eq->n_pairs && is_once; i++)
        is_once = drops_once(&d, eq->left[i], false) && drops_once(&d, eq->right[i], false);
    return is_once;
}

// --- axes of tensors of several ranks --------------------------------------------------------------------------------

// Of the tensors of which a variable is an axis, or a set of axes: the largest rank that the text fixes, and the ranks
// that it leaves open, each by the term that stands for it.
struct axis_uses {
    int fixed;
    bool is_open[MAX_FORM_TERMS];
};

struct ranks {
    const struct fixed_ranks *fixed;
    const struct same_ranks *same;
};

static void note_use(const struct ranks *r, term_id tensor, const struct attribute_term *t, struct axis_uses *uses)
{
    int rank = known_rank(r->fixed, tensor);
    if (!form_is_variable(t))
        return;
    if (rank == RANK_OPEN && tensor < r->same->n_terms)
        uses[t->value].is_open[union_find_root(r->same->parents, tensor)] = true;
    uses[t->value].fixed = rank > uses[t->value].fixed ? rank : uses[t->value].fixed;
}

static void note_uses_of_sizes(const struct ranks *r, const struct attribute_term *t, struct axis_uses *uses)
{
    if (t->kind == TERM_DIM)
        note_use(r, term_of_variable(r->same->p, t->value), t->operands[0], uses);
    for (uint32_t i = 0; i < t->count && t->kind != TERM_DIM; i++)
        note_uses_of_sizes(r, t->operands[i], uses);
}

static void note_uses_of_node(const struct ranks *r, const struct pattern_node *node, struct axis_uses *uses)
{
    for (int i = 0; i < operator_n_attributes(node->op); i++) {
        enum attribute_role role = node->op->attributes[i].role;
        bool is_axis = (role == ROLE_AXIS || role == ROLE_AXES) && node->n_inputs > 0;
        for (uint32_t j = 0; j < node->attributes[i].count; j++)
            if (is_axis)
                note_use(r, node->inputs[0], node->attributes[i].terms[j], uses);
            else
                note_uses_of_sizes(r, node->attributes[i].terms[j], uses);
    }
}

// What is so of one variable is so of those that conditions tie to it.
static bool tie_uses(const struct condition *c, struct axis_uses *uses)
{
    if (condition_is_of_variable(c->kind) || !form_is_variable(c->a) || !form_is_variable(c->b))
        return false;
    struct axis_uses *x = &uses[c->a->value], *y = &uses[c->b->value];
    bool is_new = x->fixed != y->fixed;
    x->fixed = y->fixed = x->fixed > y->fixed ? x->fixed : y->fixed;
    for (size_t t = 0; t < MAX_FORM_TERMS; t++) {
        is_new = is_new || x->is_open[t] != y->is_open[t];
        x->is_open[t] = y->is_open[t] = x->is_open[t] || y->is_open[t];
    }
    return is_new;
}

static void find_axis_uses(const struct equation *eq, const struct ranks *r, struct axis_uses *uses)
{
    bool has_changed = true;
    for (size_t n = 0; n < eq->pattern->nodes.count; n++)
        note_uses_of_node(r, &eq->pattern->nodes.items[n], uses);
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind)) {
            note_uses_of_sizes(r, eq->conditions[i].a, uses);
            note_uses_of_sizes(r, eq->conditions[i].b, uses);
        }
    while (has_changed) {
        has_changed = false;
        for (uint32_t i = 0; i < eq->n_conditions; i++)
            has_changed = tie_uses(&eq->conditions[i], uses) || has_changed;
    }
}

// Where an axis of a tensor of a fixed rank is one of a tensor of any, no axis before it can be taken away: the fixed
// rank, which limits the variable, counts as that many leading axes. Where it is one of tensors of several open ranks,
// each of these has trailing axes of its own.
static void count_shared_axes(const struct equation *eq, const struct fixed_ranks *fixed, struct told_axes *told)
{
    struct axis_uses uses[MAX_RULE_VARIABLES] = {0};
    bool is_shared[MAX_FORM_TERMS] = {0};
    struct same_ranks same = same_ranks_of(eq);
    int64_t n_ranks = 0;
    find_axis_uses(eq, &(struct ranks){fixed, &same}, uses);
    for (int v = 0; v < MAX_RULE_VARIABLES; v++) {
        int n_open = 0;
        for (size_t t = 0; t < MAX_FORM_TERMS; t++)
            n_open += uses[v].is_open[t];
        if (n_open > 0 && uses[v].fixed > told->leading)
            told->leading = uses[v].fixed;
        for (size_t t = 0; t < MAX_FORM_TERMS && n_open > 1; t++)
            is_shared[t] = is_shared[t] || uses[v].is_open[t];
    }
    for (size_t t = 0; t < MAX_FORM_TERMS; t++)
        n_ranks += is_shared[t];
    told->trailing *= n_ranks > 1 ? n_ranks : 1;
}

// A variable set of axes tells those in it from the others, and one of each kind stands for all.
static int64_t axes_of_sets(uint32_t sets)
{
    return ((int64_t)1 << __builtin_popcount(sets)) - 1;
}

// Has it an entry for each axis, and others than permutations and windows, of which T7 and T5 speak?
static bool is_list_of_axes(const struct attribute *attribute)
{
    static const enum attribute_role others[] = {ROLE_AXES,        ROLE_PERMUTATION, ROLE_PART_SIZES, ROLE_STRIDE,
                                                 ROLE_WINDOW_PADS, ROLE_DILATION,    ROLE_KERNEL};
    bool is_list = attribute->kind == ATTRIBUTE_INTS;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_list = is_list && attribute->role != others[i];
    return is_list;
}

static int longest_value(const struct equation *eq, uint32_t variable, int max_rank)
{
    struct arena a;
    uint32_t longest = 0;
    arena_init(&a);
    struct domain d = domain_of_variable(eq->pattern, variable, max_rank, DOMAIN_SOME, &a);
    for (size_t i = 0; i < d.count; i++)
        longest = d.values[i].count > longest ? d.values[i].count : longest;
    arena_free(&a);
    return (int)longest;
}

// Where a shape or the like is a variable the lists that are tried may have fewer entries.
static int ranks_tried(const struct form_question *q)
{
    int tried = q->max_rank;
    for (size_t n = 0; n < q->eq->pattern->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(q->eq->pattern->nodes.items[n].op); i++) {
            const struct attribute *attribute = &q->eq->pattern->nodes.items[n].op->attributes[i];
            const struct attribute_pattern *a = &q->eq->pattern->nodes.items[n].attributes[i];
            if (!is_list_of_axes(attribute) || !form_is_one_variable(a))
                continue;
            int longest = longest_value(q->eq, (uint32_t)a->terms[0]->value, q->max_rank);
            longest = attribute->role == ROLE_PADS ? longest / 2 : longest;
            tried = longest < tried ? longest : tried;
        }
    return tried;
}

bool form_has_ranks(const struct form_question *q)
{
    struct fixed_ranks fixed;
    if (form_renames_entries(q->eq))
        return true;
    int tried = ranks_tried(q);
    find_fixed_ranks(q->eq, &fixed);
    if (largest_fixed_rank(&fixed) > tried) {
        text_printf(q->why, "tensors of rank %d, and ranks up to %d are tried", largest_fixed_rank(&fixed), tried);
        return false;
    }
    if (!has_open_ranks(&fixed))
        return true;
    struct told_axes told = axes_told_apart(q->eq);
    count_shared_axes(q->eq, &fixed, &told);
    int64_t apart =
        told.leading + told.trailing + told.dropped + __builtin_popcount(told.variables) + axes_of_sets(told.sets);
    bool is_named = told.variables || told.leading || told.trailing;
    bool is_shifted = told.dropped && (told.variables || told.trailing || told.sets);
    is_shifted = is_shifted || (told.is_moved && told.sets && !has_sets_of_one_tensor(q->eq));
    if (told.is_unknown)
        text_printf(q->why, "ranks above %d may differ from those that are tried", tried);
    else if (is_shifted || (told.is_moved && is_named))
        text_printf(q->why, "axes are named where others are added or dropped, at ranks above %d", tried);
    else if (apart > tried)
        text_printf(q->why, "%lld axes are told apart, and ranks up to %d are tried", (long long)apart, tried);
    else
        return true;
    return false;
}

// --- windows along any number of axes (T5) ---------------------------------------------------------------------------

static bool has_windows(const struct operator* op)
{
    return operator_has_windows(op) || operator_enlarges(op);
}

// Windows of sums of products, and of maxima, say nothing of zeros beside the image, and make zeros of zeros.
static bool makes_zeros_of_zeros(const struct operator* op)
{
    bool is_window_of_entries = operator_has_windows(op) && !operator_has(op, TRAIT_ADDS) &&
                                (operator_has(op, TRAIT_POLYNOMIAL) || !operator_has(op, TRAIT_SMOOTH));
    return operator_has(op, TRAIT_KEEPS_ZERO) || is_window_of_entries;
}

// Has every monomial of the term a factor of the place that is read? exp(x - x) is a number.
static bool tells_places(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &p->nodes.items[t->index];
    bool tells = !node || (makes_zeros_of_zeros(node->op) && node->n_inputs > 0);
    for (uint32_t i = 0; node && i < node->n_inputs && tells; i++)
        tells = tells_places(p, node->inputs[i]);
    return tells;
}

// A sum over places that nothing tells is the number of these, along all spatial axes.
static bool counts_places(const struct pattern *p, const struct pattern_node *node)
{
    bool counts = operator_has_windows(node->op) && operator_has(node->op, TRAIT_POLYNOMIAL);
    for (uint32_t i = 0; i < node->n_inputs && counts; i++)
        counts = !tells_places(p, node->inputs[i]);
    return counts;
}

#define AXES_OF_IMAGES_AND_CHANNELS 2
// Of rank 3 and 4, which have one spatial axis and two.
bool form_has_ranks_of_windows(const struct form_question *q)
{
    struct fixed_ranks fixed;
    bool is_open = false, are_counted = false;
    find_fixed_ranks(q->eq, &fixed);
    for (size_t t = 0; t < fixed.n_terms; t++) {
        const struct term *term = &q->eq->pattern->terms.items[t];
        const struct pattern_node *node = term->is_variable ? NULL : &q->eq->pattern->nodes.items[term->index];
        bool is_of_window = node && has_windows(node->op) && (fixed.of_term[t] == RANK_OPEN || fixed.of_term[t] > 4);
        is_open = is_open || is_of_window;
        are_counted = are_counted || (is_of_window && counts_places(q->eq->pattern, node));
    }
    if (!is_open)
        return true;
    struct told_axes told = axes_told_apart(q->eq);
    if (are_counted)
        text_add(q->why, "places of windows are counted, and nothing says along how many axes");
    else if (told.leading > AXES_OF_IMAGES_AND_CHANNELS || told.trailing || told.sets || told.dropped)
        text_add(q->why, "an axis of windows is named, and nothing says how many there are");
    else if (__builtin_popcount(told.variables) > 1)
        text_add(q->why, "axes of windows are variables, and nothing says how many there are");
    else
        return true;
    return false;
}
