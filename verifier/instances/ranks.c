// Which ranks an equation must be tested at: so many that the axes it names, the last ones and one that is neither all
// differ (docs/theory/bounds.md, section 2.4).
#include "verifier/instances/ranks.h"

#include "substitutions/pattern.h"

#include <string.h>

// Larger ones than any size that is tested are alike, and can be added to and doubled.
int64_t largest_integer_of_term(const struct attribute_term *t)
{
    int64_t largest = t->kind == TERM_INTEGER ? t->value : 0;
    largest = largest > INT32_MAX ? INT32_MAX : largest;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t n = largest_integer_of_term(t->operands[i]);
        largest = n > largest ? n : largest;
    }
    return largest;
}

// Axes named by numbers in (dim ?x 2).
static int64_t largest_axis_in_term(const struct attribute_term *t)
{
    int64_t largest = t->kind == TERM_DIM ? largest_integer_of_term(t->operands[0]) : 0;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t n = largest_axis_in_term(t->operands[i]);
        largest = n > largest ? n : largest;
    }
    return largest;
}

static bool is_number_of_axes(const struct attribute_term *t)
{
    return t->kind == TERM_RANK || t->kind == TERM_LENGTH;
}

// How many axes fewer than all.
static int64_t axes_left_out(const struct attribute_term *t)
{
    bool is_sum = t->kind == TERM_ADD || t->kind == TERM_SUB || t->kind == TERM_MUL;
    for (uint32_t i = 0; is_sum && i < t->count; i++)
        if (is_number_of_axes(t->operands[i]))
            return largest_integer_of_term(t);
    return 0;
}

// Entries of a list that numbers choose, or that are looked up in a list of numbers: 0 to 3 of (at (list 0 1 1 0) $i);
// and numbers of axes that some are left out of.
static int64_t largest_entry_in_term(const struct attribute_term *t)
{
    bool is_part = t->kind == TERM_TAKE || t->kind == TERM_DROP;
    int64_t largest = is_part              ? largest_integer_of_term(t->operands[0])
                      : t->kind == TERM_AT ? largest_integer_of_term(t->operands[1])
                                           : axes_left_out(t);
    if (t->kind == TERM_AT && t->operands[0]->kind == TERM_LIST && t->operands[0]->count > largest)
        largest = t->operands[0]->count - 1;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t n = largest_entry_in_term(t->operands[i]);
        largest = n > largest ? n : largest;
    }
    return largest;
}

static bool names_axes(const struct attribute *attribute)
{
    return attribute->role == ROLE_AXIS || attribute->role == ROLE_AXES;
}

static int64_t largest_axis_in_attribute(const struct pattern_node *node, int attribute)
{
    const struct attribute_pattern *p = &node->attributes[attribute];
    int64_t largest = 0;
    for (uint32_t j = 0; j < p->count; j++) {
        int64_t n = names_axes(&node->op->attributes[attribute]) ? largest_integer_of_term(p->terms[j])
                                                                 : largest_axis_in_term(p->terms[j]);
        int64_t entry = largest_entry_in_term(p->terms[j]);
        largest = n > largest ? n : largest;
        largest = entry > largest ? entry : largest;
    }
    return largest;
}

// In attributes that are axes, or in the terms of all others.
static int64_t largest_axis_in_attributes(const struct pattern *p, bool wants_axes)
{
    int64_t largest = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            if (names_axes(&p->nodes.items[n].op->attributes[i]) != wants_axes)
                continue;
            int64_t named = largest_axis_in_attribute(&p->nodes.items[n], i);
            largest = named > largest ? named : largest;
        }
    return largest;
}

static int64_t largest_axis_in_conditions(const struct equation *eq)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        for (int side = 0; side < 2 && !condition_is_of_variable(c->kind); side++) {
            int64_t named = largest_axis_in_term(side ? c->b : c->a);
            largest = named > largest ? named : largest;
        }
    }
    return largest;
}

bool pattern_has_windows(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        if (operator_find_role(p->nodes.items[n].op, ROLE_STRIDE) >= 0)
            return true;
    return false;
}

// The tensors that stand in one term with this one, or with one that does.
static uint32_t tensors_connected_with(const struct pattern *p, uint32_t variable)
{
    uint32_t connected = 1u << variable, before = 0;
    while (connected != before) {
        before = connected;
        for (uint32_t n = 0; n < p->nodes.count; n++) {
            uint32_t of_node = equation_variables_of_node(p, n);
            connected |= of_node & connected ? of_node : 0;
        }
    }
    return connected;
}

// Is there a list with an entry for each axis, or each spatial axis, of one of the tensors?
static bool has_list_of_known_length(const struct pattern *p, uint32_t tensors)
{
    static const enum attribute_role roles[] = {ROLE_STRIDE, ROLE_WINDOW_PADS, ROLE_DILATION,
                                                ROLE_KERNEL, ROLE_SHAPE,       ROLE_PERMUTATION};
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
            bool has_length = pattern_node_attribute(&p->nodes.items[n], roles[i])->count > 1;
            if (has_length && (equation_variables_of_node(p, (uint32_t)n) & tensors))
                return true;
        }
    return false;
}

static int64_t largest_axis_in_terms(const struct equation *eq)
{
    int64_t in_attributes = largest_axis_in_attributes(eq->pattern, false);
    int64_t in_conditions = largest_axis_in_conditions(eq);
    return in_attributes > in_conditions ? in_attributes : in_conditions;
}

static int64_t rank_by_conditions(const struct equation *eq, uint32_t variable)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (c->kind == CONDITION_EQUAL && c->a->kind == TERM_RANK && c->a->value == variable &&
            c->b->kind == TERM_INTEGER)
            return c->b->value;
    }
    return 0;
}

static int64_t rank_by_permutations(const struct pattern *p, uint32_t variable)
{
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        uint32_t count = pattern_node_attribute(node, ROLE_PERMUTATION)->count;
        const struct term *read = node->n_inputs ? &p->terms.items[node->inputs[0]] : NULL;
        if (count > 1 && read && read->is_variable && read->index == variable)
            return count;
    }
    return 0;
}

// The one that the text says, in a condition or by a permutation with an entry for each axis; 0: none.
static int64_t written_rank(const struct equation *eq, uint32_t variable)
{
    int64_t rank = rank_by_conditions(eq, variable);
    return rank ? rank : rank_by_permutations(eq->pattern, variable);
}

static int64_t largest_written_rank(const struct equation *eq)
{
    int64_t largest = 0;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++) {
        int64_t rank = written_rank(eq, v);
        largest = rank > largest ? rank : largest;
    }
    return largest;
}

static bool are_all_ranks_written(const struct equation *eq)
{
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        if (written_rank(eq, v) == 0)
            return false;
    return true;
}

// A rank at which every axis named is a leading one that nothing else tells from its neighbours, and the last two axes
// are others; one rank more only adds another such axis. Those of images stand behind the axes of images and channels,
// so that rank 4 has all kinds of them, unless terms name some and nothing says how many there are.
#define LARGEST_RANK 6
static int64_t rank_that_tells_axes(const struct equation *eq)
{
    int64_t named = largest_axis_in_attributes(eq->pattern, true), in_terms = largest_axis_in_terms(eq);
    if (!pattern_has_windows(eq->pattern) && in_terms > named)
        named = in_terms;
    return named + 3 < 4 ? 4 : named + 3;
}

// Windows are argued of one spatial axis and two.
int ranks_to_test(const struct equation *eq)
{
    int64_t rank = rank_that_tells_axes(eq), written = largest_written_rank(eq);
    if (!pattern_has_windows(eq->pattern) && written > rank)
        rank = written;
    return rank > LARGEST_RANK ? LARGEST_RANK : (int)rank;
}

// (= (rank ?x) 4), a rank that is tried.
static bool fixes_rank_of(const struct condition *c, int64_t variable)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_RANK && c->a->value == variable &&
           c->b->kind == TERM_INTEGER && c->b->value <= 4;
}

static bool has_fixed_rank(const struct equation *eq, int64_t variable)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (fixes_rank_of(&eq->conditions[i], variable))
            return true;
    return false;
}

// Tensors of which the term names the size of a spatial axis.
static uint32_t tensors_with_named_axis(const struct attribute_term *t)
{
    uint32_t tensors = t->kind == TERM_DIM && largest_integer_of_term(t->operands[0]) >= 2 ? 1u << t->value : 0;
    for (uint32_t i = 0; i < t->count; i++)
        tensors |= tensors_with_named_axis(t->operands[i]);
    return tensors;
}

// (drop 2 (dims ?k)): the spatial axes, however many there are.
static bool is_spatial_part(const struct attribute_term *t)
{
    return t->kind == TERM_DROP && t->operands[0]->kind == TERM_INTEGER && t->operands[0]->value == 2 &&
           t->operands[1]->kind == TERM_DIMS;
}

// Are entries chosen by their number, or looked up, or so many axes left out that ranks of images have none left?
static bool chooses_entries(const struct attribute_term *t)
{
    bool chooses = (t->kind == TERM_TAKE || t->kind == TERM_DROP || t->kind == TERM_AT) && !is_spatial_part(t);
    chooses = chooses || axes_left_out(t) >= 4;
    for (uint32_t i = 0; i < t->count && !chooses; i++)
        chooses = chooses_entries(t->operands[i]);
    return chooses;
}

static uint32_t tensors_with_axis_named_in_attributes(const struct pattern *p)
{
    uint32_t tensors = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                tensors |= tensors_with_named_axis(p->nodes.items[n].attributes[i].terms[j]) |
                           (chooses_entries(p->nodes.items[n].attributes[i].terms[j])
                                ? equation_variables_of_node(p, (uint32_t)n)
                                : 0);
    return tensors;
}

uint32_t tensors_of_open_rank(const struct equation *eq)
{
    uint32_t tensors = 0;
    if (!pattern_has_windows(eq->pattern))
        return 0;
    tensors = tensors_with_axis_named_in_attributes(eq->pattern);
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!condition_is_of_variable(eq->conditions[i].kind))
            tensors |= tensors_with_named_axis(eq->conditions[i].a) | tensors_with_named_axis(eq->conditions[i].b);
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        if (has_fixed_rank(eq, v) || has_list_of_known_length(eq->pattern, tensors_connected_with(eq->pattern, v)))
            tensors &= ~(1u << v);
    return tensors;
}

// --- numbers of axes -------------------------------------------------------------------------------------------------

// Numbers of axes, and more or less by a number, or as many for each: what places from either end, and lengths, are.
static bool is_linear_in_axes(const struct attribute_term *t)
{
    bool is_sum = t->kind == TERM_ADD || t->kind == TERM_SUB || t->kind == TERM_MUL;
    if (!is_sum || t->count != 2)
        return is_number_of_axes(t) || t->kind == TERM_INTEGER || t->kind == TERM_VARIABLE;
    const struct attribute_term *a = t->operands[0], *b = t->operands[1];
    bool is_linear = t->kind != TERM_MUL || a->kind == TERM_INTEGER || b->kind == TERM_INTEGER;
    return is_linear && is_linear_in_axes(a) && is_linear_in_axes(b);
}

// Is a number of axes something else than a place or a length? It may be one number at the ranks that are tried.
static bool computes_with_axes(const struct attribute_term *t, bool is_place)
{
    if (is_place && is_linear_in_axes(t))
        return false;
    bool computes = is_number_of_axes(t);
    for (uint32_t i = 0; i < t->count && !computes; i++) {
        bool is_length = i == 0 && (t->kind == TERM_REPEAT || t->kind == TERM_IOTA);
        computes = computes_with_axes(t->operands[i], is_length || t->kind == TERM_DIM);
    }
    return computes;
}

static bool has_numbers_of_axes(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                if (computes_with_axes(p->nodes.items[n].attributes[i].terms[j],
                                       names_axes(&p->nodes.items[n].op->attributes[i])))
                    return true;
    return false;
}

// Where all ranks are written there are no larger ones.
bool ranks_are_too_few(const struct equation *eq)
{
    bool are_open =
        pattern_has_windows(eq->pattern) || !are_all_ranks_written(eq) || largest_written_rank(eq) > LARGEST_RANK;
    return has_numbers_of_axes(eq->pattern) || (are_open && rank_that_tells_axes(eq) > LARGEST_RANK) ||
           tensors_of_open_rank(eq);
}
