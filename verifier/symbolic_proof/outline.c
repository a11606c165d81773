// The outline of a family, which all of its instances have in common, chosen in the order of the text: ranks,
// element types, lengths of lists, axes, sets of axes, permutations and choices, all that there are
// (docs/theory/symbolic.md, S1).
#include "verifier/symbolic_proof/outline.h"

#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/symbolic_proof/attribute_lists.h"
#include "verifier/symbolic_proof/symbols.h"

// --- tensors ---------------------------------------------------------------------------------------------------------

// NULL: it has none yet.
static const struct type *type_of_term(const struct family *f, term_id term)
{
    const struct term *t = &f->equation->pattern->terms.items[term];
    const struct typed_call *call = t->is_variable ? NULL : f->outline.calls[t->index];
    return t->is_variable ? f->outline.types[t->index] : call ? typing_type(f->typing, call->outputs[t->output]) : NULL;
}

// An input of the node that has a type already; NULL: none.
static const struct type *typed_input(const struct family *f, const struct pattern_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (type_of_term(f, n->inputs[i]))
            return type_of_term(f, n->inputs[i]);
    return NULL;
}

static bool is_rank_of(const struct condition *c, uint32_t variable)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_RANK && c->a->value == variable &&
           c->b->kind == TERM_INTEGER;
}

// The one that a condition says. -1: none does, or none that there is.
static int rank_by_condition(const struct equation *eq, uint32_t variable)
{
    const struct condition *said = FIND(eq->conditions, eq->n_conditions, c,
                                        is_rank_of(c, variable) && c->b->value >= 0 && c->b->value <= MAX_RANK);
    return said ? (int)said->b->value : -1;
}

// `n` reads the tensor; NULL: only its sizes are named.
static int choose_rank(struct family *f, uint32_t variable, const struct pattern_node *n)
{
    int rank = rank_by_condition(f->equation, variable);
    const struct type *other = n ? typed_input(f, n) : NULL;
    if (rank < 0 && other && n->op->flags & OPERATOR_KEEPS_RANK)
        rank = other->rank;
    return rank >= 0 ? rank : (int)choose(f->choices, MAX_RANK + 1);
}

static enum dtype dtype_by_condition(const struct equation *eq, uint32_t variable)
{
    const struct condition *said =
        FIND(eq->conditions, eq->n_conditions, c, c->kind == CONDITION_DTYPE && c->variable == variable);
    return said ? said->dtype : DTYPE_NONE;
}

static bool is_read(const struct pattern *p, uint32_t variable)
{
    const struct term *terms = p->terms.items;
    return vec_find(
        &p->nodes, n,
        ANY(uint32_t, i, n->n_inputs, terms[n->inputs[i]].is_variable && terms[n->inputs[i]].index == variable));
}

// Element types: one of each class that operators tell apart, and another one of floating-point numbers, as constants
// have one of their own.
#define OTHER_FLOAT DTYPE_F64
static enum dtype choose_dtype(struct family *f, uint32_t variable)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_I64, DTYPE_BOOL, OTHER_FLOAT};
    enum dtype dtype = dtype_by_condition(f->equation, variable);
    return dtype != DTYPE_NONE ? dtype : dtypes[is_read(f->equation->pattern, variable) ? choose(f->choices, 4) : 0];
}

static void choose_type(struct family *f, uint32_t variable, const struct pattern_node *n)
{
    if (f->outline.types[variable])
        return;
    struct type *type = arena_new(f->arena, struct type);
    int rank = choose_rank(f, variable, n);
    *type = (struct type){.rank = rank, .dtype = choose_dtype(f, variable)};
    f->outline.types[variable] = type;
    family_add_sizes(f, variable);
}

// --- attribute variables ---------------------------------------------------------------------------------------------

// The first node, of those that are assumed, where the variable stands alone, beside a tensor that has a type if
// there is such a node. NULL: none.
static const struct pattern_node *node_of_variable(const struct family *f, uint32_t variable)
{
    const struct pattern *p = f->equation->pattern;
    const struct pattern_node *any = NULL;
    for (uint32_t n = p->nodes.count; n-- > 0;) {
        const struct pattern_node *node = &p->nodes.items[n];
        bool is_typed = node->n_inputs == 0 || type_of_term(f, node->inputs[0]);
        bool is_assumed = f->asked.assumed >> n & 1;
        if (is_assumed && node_attribute_of_variable(node, variable) >= 0 && (is_typed || !any))
            any = node;
    }
    return any;
}

// Is it in attributes of sizes alone?
static bool is_of_sizes(const struct pattern *p, uint32_t variable)
{
    return !ANY(uint32_t, n, p->nodes.count,
                ANY(int, i, operator_n_attributes(p->nodes.items[n].op),
                    ANY(uint32_t, j, p->nodes.items[n].attributes[i].count,
                        attribute_term_mentions_variable(p->nodes.items[n].attributes[i].terms[j], variable) &&
                            !attribute_roles[p->nodes.items[n].op->attributes[i].role].is_of_sizes)));
}

static bool is_in_condition(const struct equation *eq, uint32_t variable)
{
    bool is_in = false;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind))
            is_in = is_in || attribute_term_mentions_variable(eq->conditions[i].a, variable) ||
                    attribute_term_mentions_variable(eq->conditions[i].b, variable);
    return is_in;
}

// The number of entries that a condition says; 0: none does.
static uint32_t length_by_condition(const struct equation *eq, uint32_t variable)
{
    const struct condition *said =
        FIND(eq->conditions, eq->n_conditions, c,
             c->kind == CONDITION_EQUAL && c->a->kind == TERM_LENGTH && c->a->operands[0]->kind == TERM_VARIABLE &&
                 c->a->operands[0]->value == variable && c->b->kind == TERM_INTEGER && c->b->value > 0 &&
                 c->b->value <= MAX_OUTPUTS);
    return said ? (uint32_t)said->b->value : 0;
}

// How many outputs of cuts by the variable are read, or 0 where it is anything but a whole attribute.
static uint32_t n_parts_read(const struct equation *eq, uint32_t variable)
{
    const struct pattern *p = eq->pattern;
    uint32_t n_read = 1;
    if (is_in_condition(eq, variable))
        return 0;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                if (attribute_term_mentions_variable(p->nodes.items[n].attributes[i].terms[j], variable) &&
                    (i != node_attribute_of_variable(&p->nodes.items[n], variable) ||
                     p->nodes.items[n].op->attributes[i].role != ROLE_PART_SIZES))
                    return 0;
    vec_each(&p->terms, term) {
        bool is_part = !term->is_variable && node_attribute_of_variable(&p->nodes.items[term->index], variable) >= 0;
        n_read = is_part && term->output + 1 > n_read ? term->output + 1 : n_read;
    }
    return n_read;
}

// Parts behind all that are read may be one (S1, lemma 3).
static uint32_t choose_n_parts(struct family *f, uint32_t variable)
{
    uint32_t length = length_by_condition(f->equation, variable), n_read = n_parts_read(f->equation, variable);
    return length ? length : 1 + choose(f->choices, n_read ? n_read + 1 : MAX_OUTPUTS);
}

// Lists of windows have entries for all axes but the first two: none is left empty, as graphs say what they mean.
static uint32_t choose_length(struct family *f, uint32_t variable, enum attribute_role role, int rank)
{
    return role == ROLE_SHAPE               ? choose(f->choices, MAX_RANK + 1)
           : role == ROLE_PART_SIZES        ? choose_n_parts(f, variable)
           : attribute_roles[role].per_axis ? attribute_role_length(role, rank)
                                            : 1;
}

static uint32_t factorial(uint32_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static bool stands_in(const struct family *f, term_id term, uint32_t variable)
{
    const struct pattern *p = f->equation->pattern;
    node_set nodes = equation_nodes_of_term(p, term);
    return ANY(uint32_t, n, p->nodes.count,
               (nodes >> n & 1) && (attribute_variables_of_node(&p->nodes.items[n]) >> variable & 1));
}

// How many transpositions by the variable are on every way from the term to a tensor that has axes, where all other
// operators work entry by entry. ANY_NUMBER: there is no way; MIXED: ways differ, or something else is on one.
enum { ANY_NUMBER = -1, MIXED = -2 };
static int count_transpositions(const struct family *f, term_id term, uint32_t variable)
{
    const struct term *t = &f->equation->pattern->terms.items[term];
    if (t->is_variable)
        return f->outline.types[t->index] && f->outline.types[t->index]->rank == 0 ? ANY_NUMBER : 0;
    const struct pattern_node *n = &f->equation->pattern->nodes.items[t->index];
    bool transposes = operator_permutes(n->op) && n->n_inputs == 1 && node_attribute_of_variable(n, variable) >= 0;
    int number = transposes || operator_works_entry_by_entry(n->op) ? ANY_NUMBER : MIXED;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        bool is_scalar = operator_rank_of_input(n->op, i) == 0 && !stands_in(f, n->inputs[i], variable);
        int of_input = is_scalar ? ANY_NUMBER : count_transpositions(f, n->inputs[i], variable);
        bool is_same = of_input == number || of_input == ANY_NUMBER;
        number = number == ANY_NUMBER ? of_input : is_same ? number : MIXED;
    }
    return transposes && number >= 0 ? number + 1 : number;
}

// Both sides are then the transposition of what they are without any (S1, lemma 5).
static bool is_identity_enough(const struct family *f, uint32_t variable)
{
    const struct equation *eq = f->equation;
    int number = ANY_NUMBER;
    for (uint32_t i = 0; i < 2 * eq->n_pairs; i++) {
        int of_side = count_transpositions(f, i & 1 ? eq->right[i / 2] : eq->left[i / 2], variable);
        number = number == ANY_NUMBER || number == of_side ? of_side : MIXED;
    }
    for (uint32_t i = 0; i < eq->n_guards && number >= 0; i++)
        if (count_transpositions(f, eq->guards[i], variable) == MIXED)
            return false;
    return number >= 0 && !is_in_condition(eq, variable);
}

static void choose_permutation(struct family *f, uint32_t variable, uint32_t rank, int64_t *ret_permutation)
{
    uint32_t number = is_identity_enough(f, variable) ? 0 : choose(f->choices, factorial(rank)), left = 0;
    int64_t places[MAX_RANK];
    for (; left < rank; left++)
        places[left] = left;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t place = number % left;
        number /= left;
        ret_permutation[i] = places[place];
        for (uint32_t j = place; j + 1 < left; j++)
            places[j] = places[j + 1];
        left--;
    }
}

static uint32_t choose_axes(struct family *f, uint32_t rank, int64_t *ret_axes)
{
    uint32_t set = choose(f->choices, 1u << rank), n = 0;
    for (uint32_t a = 0; a < rank; a++)
        if (set >> a & 1)
            ret_axes[n++] = a;
    return n;
}

static uint32_t count_choices(const struct attribute *a)
{
    uint32_t n = 0;
    while (a->choices[n])
        n++;
    return n;
}

// 0, 1, or one of which nothing is known but its sign: where it is only put beside entries, these stand for all.
static int64_t choose_number(struct family *f)
{
    static const double numbers[] = {0, 1, 0.73908513321516067, -0.73908513321516067};
    return real_to_bits(numbers[choose(f->choices, 4)]);
}

// Is the number put beside entries, or everywhere, as it is?
static bool puts_numbers(const struct operator* op)
{
    return operator_has_role(op, ROLE_PADS) || operator_has_role(op, ROLE_GAPS) || operator_is_constant(op);
}

static bool is_only_put(const struct pattern *p, uint32_t variable)
{
    return !vec_find(&p->nodes, n, (attribute_variables_of_node(n) >> variable & 1) && !puts_numbers(n->op));
}

static bool has_types(const struct family *f, const struct attribute_term *t)
{
    uint32_t tensors = equation_variables_of_term(t);
    return !ANY(uint32_t, v, f->equation->pattern->n_variables, tensors >> v & 1 && !f->outline.types[v]) &&
           attribute_variables_of_term(t) == 0;
}

// All others are impossible where the condition is assumed. False: no condition says numbers.
static bool take_value_of_condition(struct family *f, uint32_t variable, int64_t *ints, uint32_t *ret_count)
{
    struct list_of_polys list;
    EACH(f->equation->conditions, f->equation->n_conditions, c) {
        if (c->kind != CONDITION_EQUAL || c->a->kind != TERM_VARIABLE || c->a->value != variable ||
            !has_types(f, c->b) || !family_list(f, c->b, &list) || list.n > MAX_RANK)
            continue;
        *ret_count = FIRST_OF(uint32_t, n, list.n, !poly_is_const(f->polys, list.items[n], &ints[n]));
        if (*ret_count == list.n)
            return true;
    }
    return false;
}

// All values that an attribute of this kind may have. False: it has others than those that are tried.
static bool choose_value(struct family *f, uint32_t variable, const struct attribute *a, bool puts_number, int rank,
                         int64_t *ints, uint32_t *ret_count)
{
    if (a->kind != ATTRIBUTE_REAL && take_value_of_condition(f, variable, ints, ret_count))
        return true;
    *ret_count = 1;
    if (a->role == ROLE_AXIS && rank == 0)
        f->is_impossible = true;
    else if (a->role == ROLE_AXIS)
        ints[0] = choose(f->choices, (uint32_t)rank);
    else if (a->role == ROLE_AXES)
        *ret_count = choose_axes(f, (uint32_t)rank, ints);
    else if (a->role == ROLE_PERMUTATION)
        choose_permutation(f, variable, *ret_count = (uint32_t)rank, ints);
    else if (a->role == ROLE_KEEPDIMS)
        ints[0] = choose(f->choices, 2);
    else if (a->kind == ATTRIBUTE_CHOICE)
        ints[0] = choose(f->choices, count_choices(a));
    else if (a->kind == ATTRIBUTE_REAL && puts_number)
        ints[0] = choose_number(f);
    else
        return false;
    return !f->is_impossible;
}

static bool choose_attribute(struct family *f, uint32_t variable)
{
    const struct pattern *p = f->equation->pattern;
    const struct pattern_node *n = node_of_variable(f, variable);
    int64_t *ints = arena_array(f->arena, int64_t, MAX_RANK + 1);
    if (f->outline.is_chosen >> variable & 1)
        return true;
    f->outline.is_chosen |= 1u << variable;
    if (!n)
        return family_fails(f, "$%s stands alone nowhere", p->attribute_variables[variable]);
    const struct attribute *a = &n->op->attributes[node_attribute_of_variable(n, variable)];
    const struct type *input = n->n_inputs ? type_of_term(f, n->inputs[0]) : NULL;
    int rank = input ? input->rank : MAX_RANK;
    if (n->n_inputs && !input && a->role != ROLE_SHAPE && a->role != ROLE_PART_SIZES)
        return family_fails(f, "$%s is used before it is known what for", p->attribute_variables[variable]);
    if (attribute_roles[a->role].is_of_sizes) {
        if (!is_of_sizes(p, variable))
            return family_fails(f, "$%s is a size and something else", p->attribute_variables[variable]);
        family_add_list(f, variable, a->role, choose_length(f, variable, a->role, rank), NULL);
        return true;
    }
    uint32_t count;
    if (!choose_value(f, variable, a, is_only_put(p, variable), rank, ints, &count))
        return f->is_impossible
                   ? false
                   : family_fails(f, "$%s has other values than those tried", p->attribute_variables[variable]);
    family_add_list(f, variable, a->role, count, ints);
    return true;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static bool choose_variables_of_term(struct family *f, const struct attribute_term *t)
{
    uint32_t tensors = equation_variables_of_term(t), attributes = attribute_variables_of_term(t);
    for (uint32_t v = 0; v < f->equation->pattern->n_variables; v++)
        if (tensors >> v & 1)
            choose_type(f, v, NULL);
    return !ANY(uint32_t, v, f->equation->pattern->n_attribute_variables,
                attributes >> v & 1 && !choose_attribute(f, v));
}

static void choose_inputs(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &f->equation->pattern->terms.items[n->inputs[i]];
        if (t->is_variable)
            choose_type(f, t->index, n);
    }
}

static bool evaluate_attributes(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    return ALL(int, i, operator_n_attributes(n->op),
               ALL(uint32_t, j, n->attributes[i].count, choose_variables_of_term(f, n->attributes[i].terms[j]))) &&
           family_evaluate_attributes(f, node) && !f->is_impossible;
}

static bool outline_of_node(struct family *f, uint32_t node, struct outline *ret_outline)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct type *inputs = arena_array(f->arena, struct type, n->n_inputs + 1);
    struct attribute_value *attributes = arena_array(f->arena, struct attribute_value, MAX_ATTRIBUTES);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = *type_of_term(f, n->inputs[i]);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        const struct list_of_polys *list = &f->meanings.of_node[node][i];
        int64_t *ints = arena_array(f->arena, int64_t, list->n + 1);
        for (uint32_t j = 0; j < list->n; j++)
            if (!poly_is_const(f->polys, list->items[j], &ints[j]) &&
                !attribute_roles[n->op->attributes[i].role].is_of_sizes)
                return family_fails(f, "%s of %s depends on sizes", n->op->attributes[i].name, n->op->name);
        attributes[i] = (struct attribute_value){list->n, ints};
    }
    *ret_outline = (struct outline){n->op, n->n_inputs, inputs, attributes};
    return true;
}

static bool has_outputs_read(const struct family *f, uint32_t node)
{
    const struct pattern *p = f->equation->pattern;
    return !ANY(size_t, t, p->terms.count,
                !p->terms.items[t].is_variable && p->terms.items[t].index == node &&
                    p->terms.items[t].output >= f->outline.calls[node]->n_outputs);
}

// Nothing is claimed of arithmetic with integers, and no rule is applied where its operators compute any.
static bool computes_integers(const struct family *f, uint32_t node)
{
    bool computes = ANY(uint32_t, i, f->outline.calls[node]->n_outputs,
                        dtype_is_integer(typing_type(f->typing, f->outline.calls[node]->outputs[i])->dtype));
    return computes && !operator_moves_entries(f->equation->pattern->nodes.items[node].op);
}

static bool type_node(struct family *f, uint32_t node)
{
    struct outline outline;
    choose_inputs(f, node);
    if (!evaluate_attributes(f, node) || !outline_of_node(f, node, &outline))
        return false;
    if (outline.n_inputs > MAX_TYPED_INPUTS)
        return family_fails(f, "%s of many tensors", outline.op->name);
    f->outline.calls[node] = outline_apply(f->typing, &outline);
    bool is_possible = f->outline.calls[node] && has_outputs_read(f, node);
    f->asked.is_one_sided = f->asked.asks && !is_possible;
    f->is_impossible = !f->asked.is_one_sided && (!is_possible || computes_integers(f, node));
    return is_possible && !f->is_impossible;
}

static bool sides_have_one_type(struct family *f)
{
    const struct equation *eq = f->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        const struct type *left = type_of_term(f, eq->left[i]), *right = type_of_term(f, eq->right[i]);
        if (!left || !right)
            return family_fails(f, "a tensor that no operator reads");
        if (left->dtype != right->dtype || left->rank != right->rank)
            return family_fails(f, "outputs of several ranks or element types");
    }
    return true;
}

// Nothing is asked of a rule where both sides have windows along more axes than it is matched at (operators/traits.h).
static bool has_many_window_axes(const struct family *f, const term_id *side)
{
    const struct pattern *p = f->equation->pattern;
    node_set nodes = equation_nodes_of_side(f->equation, side);
    return ANY(uint32_t, n, p->nodes.count,
               nodes >> n & 1 &&
                   operator_has_many_window_axes(p->nodes.items[n].op,
                                                 typing_type(f->typing, f->outline.calls[n]->outputs[0])->rank));
}

static bool is_left_out(const struct family *f)
{
    return !f->equation->is_strong && has_many_window_axes(f, f->equation->left) &&
           has_many_window_axes(f, f->equation->right);
}

// Values are the same real numbers in each floating-point type: the family with one such type stands for this one.
static bool has_other_float(const struct family *f)
{
    return ANY(uint32_t, v, f->equation->pattern->n_variables,
               (f->outline.types[v] && f->outline.types[v]->dtype == OTHER_FLOAT &&
                dtype_by_condition(f->equation, v) == DTYPE_NONE));
}

static bool type_nodes(struct family *f, bool are_assumed)
{
    f->asked.asks = !are_assumed;
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count && !f->asked.is_one_sided; n++)
        if ((f->asked.assumed >> n & 1) == are_assumed && !type_node(f, n) && !f->asked.is_one_sided)
            return false;
    f->asked.asks = false;
    return true;
}

bool family_choose_outline(struct family *f)
{
    const struct equation *eq = f->equation;
    if (!type_nodes(f, true))
        return false;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind) &&
            (!choose_variables_of_term(f, eq->conditions[i].a) || !choose_variables_of_term(f, eq->conditions[i].b) ||
             !family_assume_condition(f, &eq->conditions[i]) || f->is_impossible))
            return false;
    if (!type_nodes(f, false))
        return false;
    if (f->asked.is_one_sided)
        return true;
    if (is_left_out(f))
        return family_is_impossible(f);
    return sides_have_one_type(f) && (!has_other_float(f) || family_is_impossible(f));
}
