// Which ranks an equation must be tested at: so many that the axes it names, the last ones and one that is neither all
// differ (docs/soundness.md, section 2.4).
#include "verifier/ranks.h"

#include <string.h>

int64_t largest_integer_of_term(const struct attribute_term *t)
{
    int64_t largest = t->kind == TERM_INTEGER ? t->value : 0;
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

static bool names_axes(const struct attribute *attribute)
{
    return strcmp(attribute->name, "axis") == 0 || strcmp(attribute->name, "axes") == 0;
}

static int64_t largest_axis_in_attribute(const struct pattern_node *node, int attribute)
{
    const struct attribute_pattern *p = &node->attributes[attribute];
    int64_t largest = 0;
    for (uint32_t j = 0; j < p->count; j++) {
        int64_t n = names_axes(&node->op->attributes[attribute]) ? largest_integer_of_term(p->terms[j])
                                                                 : largest_axis_in_term(p->terms[j]);
        largest = n > largest ? n : largest;
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
        if (operator_find_attribute(p->nodes.items[n].op, "stride") >= 0)
            return true;
    return false;
}

// Is there a list with an entry for each axis, or each spatial axis?
static bool has_list_of_known_length(const struct pattern *p)
{
    static const char *const names[] = {"stride", "pad", "dilation", "kernel", "shape", "perm"};
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            int attribute = operator_find_attribute(p->nodes.items[n].op, names[i]);
            if (attribute >= 0 && p->nodes.items[n].attributes[attribute].count > 1)
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

int ranks_to_test(const struct equation *eq)
{
    int64_t rank = rank_that_tells_axes(eq);
    return rank > LARGEST_RANK ? LARGEST_RANK : (int)rank;
}

bool ranks_are_too_few(const struct equation *eq)
{
    bool has_any_rank = pattern_has_windows(eq->pattern) && !has_list_of_known_length(eq->pattern);
    return rank_that_tells_axes(eq) > LARGEST_RANK || (has_any_rank && largest_axis_in_terms(eq) >= 2);
}
