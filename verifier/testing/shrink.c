// Steps down: of the instances with fewer axes, or at which each axis is as it is, one less, a half or 1, the first is
// taken that is smaller and differs; of attributes, one entry goes down with each step. It ends where there is none.
#include "verifier/testing/shrink.h"
#include "instances/random_instances.h"

enum { INTEGERS_TRIED = 10, MOST_SEARCHES = 300, MOST_COMPARED = 2000, STEPS_OF_SEARCH = 20000 };

struct shrinking {
    struct instance best;
    struct difference difference;
    enum wanted_sides wanted;
    uint32_t searches, compared;   // so far
    bool is_found;                 // by the search that goes on
};

// --- attributes ------------------------------------------------------------------------------------------------------

// The least value of an entry that goes down; -1: it does not.
static int64_t least_entry(const struct instance *in, uint32_t variable)
{
    bool is_whole;
    const struct attribute *attribute = domain_attribute(in->equation->pattern, variable, &is_whole);
    bool is_integer = attribute && (attribute->kind == ATTRIBUTE_INTS || attribute->kind == ATTRIBUTE_INT);
    return is_integer && attribute_roles[attribute->role].is_of_sizes ? attribute_roles[attribute->role].plain : -1;
}

static bool goes_down(const struct instance *in, uint32_t variable)
{
    uint32_t count = in->attributes[variable].count;
    return count != UINT32_MAX && count > 0 && least_entry(in, variable) >= 0;
}

// --- sizes -----------------------------------------------------------------------------------------------------------

static int64_t weight_of(const struct instance *in)
{
    int64_t weight = 0;
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int i = 0; in->types[v] && i < in->types[v]->rank; i++)
            weight += in->types[v]->dim[i];
    for (uint32_t v = 0; v < in->equation->pattern->n_attribute_variables; v++)
        for (uint32_t i = 0; goes_down(in, v) && i < in->attributes[v].count; i++)
            weight += in->attributes[v].ints[i];
    return weight;
}

static uint32_t sizes_below(int64_t size)
{
    return size < 2 || size > MAX_TESTED_SIZE ? 1u << 1 : 1u << size | 1u << (size - 1) | 1u << (size / 2) | 1u << 1;
}

// The sizes to try for an axis: for all axes, or for those alone that have the size `only`.
static uint32_t sizes_of_axis(int64_t size, int64_t only)
{
    return !only || size == only ? sizes_below(size) : 1u << (size > MAX_TESTED_SIZE ? 1 : size);
}

// Any size of an axis that the type has, for tensors of its own rank, or of a smaller one.
static void add_sizes(struct box *box, uint32_t variable, int rank, const struct type *t, int64_t only)
{
    uint32_t any = (1u << 1) | UNION_ALL(uint32_t, int, i, t->rank, sizes_of_axis(t->dim[i], only));
    box->sizes[variable][rank][0] = 1u << 1;
    for (int i = 0; i < rank; i++)
        box->sizes[variable][rank][i] = rank < t->rank ? any : sizes_of_axis(t->dim[i], only);
}

static struct box box_below(const struct instance *in, int64_t only)
{
    struct box box = {.has_split_trees = instance_has_cuts(in)};
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++) {
        const struct type *t = in->types[v];
        if (!t)
            continue;
        box.max_rank = t->rank > box.max_rank ? t->rank : box.max_rank;
        for (int rank = only ? t->rank : 0; rank <= t->rank; rank++)
            add_sizes(&box, v, rank, t, only);
        box.dtypes[v] = t->dtype == DTYPE_BOOL ? TRIES_BOOL : t->dtype == DTYPE_I64 ? TRIES_I64 : TRIES_F32;
    }
    return box;
}

// --- steps -----------------------------------------------------------------------------------------------------------

static bool is_difference(enum comparison c)
{
    return c != COMPARISON_EQUAL && c != COMPARISON_BOTH_ILL_TYPED && c != COMPARISON_TOO_LARGE;
}

// Another value at small integers, where the sides of `in` differ at some, in place of *difference.
static void round_to_integers(struct instance *in, struct difference *difference)
{
    struct difference at_integers;
    bool is_rounded = difference->kind != COMPARISON_OTHER_VALUE;
    for (uint64_t i = 0; i < INTEGERS_TRIED && !is_rounded; i++) {
        instance_compare_numbers(in, 3 * i, &at_integers);
        is_rounded = at_integers.kind == COMPARISON_OTHER_VALUE;
        if (is_rounded)
            *difference = at_integers;
    }
}

// Sides are compared at small integers first, and at the numbers that are known to tell the sides apart.
static bool differs(struct instance *in, uint64_t known_seed, struct difference *ret)
{
    return !instance_has_more_entries(in, MOST_TRIED_ENTRIES) &&
           (is_difference(instance_compare(in, ret)) || is_difference(instance_compare_numbers(in, known_seed, ret)));
}

static bool take_smaller(void *context, struct instance *in)
{
    struct shrinking *s = context;
    struct difference difference;
    if (weight_of(in) >= weight_of(&s->best) || (instance_has_cuts(in) && !instance_has_cuts(&s->best)))
        return true;
    s->compared++;
    if (differs(in, s->difference.seed, &difference)) {
        s->best = *in;
        s->difference = difference;
        s->is_found = true;
    }
    return !s->is_found && s->compared < MOST_COMPARED;
}

static bool search(struct shrinking *s, const struct attribute_value *attributes, int64_t only)
{
    struct box box = box_below(&s->best, only);
    struct enumeration e = {.equation = s->best.equation,
                            .typing = s->best.typing,
                            .scratch = s->best.scratch,
                            .box = &box,
                            .wanted = s->wanted,
                            .attributes = attributes,
                            .step_limit = STEPS_OF_SEARCH,
                            .visit = take_smaller,
                            .context = s};
    s->is_found = false;
    if (s->searches++ < MOST_SEARCHES && s->compared < MOST_COMPARED)
        enumerate_instances(&e);
    return s->is_found;
}

static bool search_with_entry(struct shrinking *s, uint32_t variable, uint32_t entry, int64_t value)
{
    const struct pattern *p = s->best.equation->pattern;
    struct attribute_value *attributes = arena_array(s->best.scratch, struct attribute_value, MAX_RULE_VARIABLES);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        attributes[v] = s->best.attributes[v];
    uint32_t count = attributes[variable].count;
    int64_t *ints = arena_array(s->best.scratch, int64_t, count);
    for (uint32_t i = 0; i < count; i++)
        ints[i] = i == entry ? value : attributes[variable].ints[i];
    attributes[variable].ints = ints;
    return search(s, attributes, 0);
}

static bool lower_entry(struct shrinking *s, uint32_t variable, uint32_t entry)
{
    int64_t least = least_entry(&s->best, variable), value = s->best.attributes[variable].ints[entry];
    if (value <= least)
        return false;
    return search_with_entry(s, variable, entry, least) ||
           (value / 2 > least && search_with_entry(s, variable, entry, value / 2)) ||
           (value - 1 > value / 2 && search_with_entry(s, variable, entry, value - 1));
}

static bool lower_attributes(struct shrinking *s)
{
    return ANY(uint32_t, v, s->best.equation->pattern->n_attribute_variables,
               goes_down(&s->best, v) && ANY(uint32_t, i, s->best.attributes[v].count, lower_entry(s, v, i)));
}

// Some instances with equal sizes are left where there are too many for all axes at once.
static bool lower_sizes(struct shrinking *s)
{
    if (search(s, s->best.attributes, 0))
        return true;
    return ANY(uint32_t, v, s->best.equation->pattern->n_variables,
               s->best.types[v] &&
                   ANY(int, i, s->best.types[v]->rank,
                       s->best.types[v]->dim[i] > 1 && search(s, s->best.attributes, s->best.types[v]->dim[i])));
}

void instance_shrink(struct instance *in, struct difference *difference, enum wanted_sides wanted)
{
    struct shrinking s = {.best = *in, .difference = *difference, .wanted = wanted};
    while (lower_sizes(&s) || lower_attributes(&s))
        ;
    *in = s.best;
    *difference = s.difference;
    round_to_integers(in, difference);
}
