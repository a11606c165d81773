// Values of each attribute by its role: ranges, lists, permutations, sets.
#include "instances/domain.h"

#include "core/memory/arena.h"

// Lists of integers: for each length up to the number of axes (times `per_axis`), every entry from low to high. Lists
// of more than `varied` entries repeat their first `varied` ones.
static const struct list_range {
    enum attribute_role role;
    int64_t low, high;
    uint32_t per_axis, varied, min_axes, max_axes;
    bool may_be_empty;
} list_ranges[] = {
    {ROLE_STRIDE, 1, 2, 1, 2, 1, 2, false},      {ROLE_DILATION, 1, 2, 1, 1, 1, 2, false},
    {ROLE_WINDOW_PADS, 0, 1, 2, 4, 1, 2, false}, {ROLE_KERNEL, 1, 3, 1, 2, 1, 2, false},
    {ROLE_SHAPE, 1, 4, 1, 3, 1, 3, true},        {ROLE_SHAPE, 1, 2, 1, 4, 4, 4, false},
    {ROLE_PART_SIZES, 1, 3, 1, 3, 1, 3, false},  {ROLE_START, 0, 1, 1, 2, 1, 2, true},
    {ROLE_SIZE, 1, 2, 1, 2, 1, 2, true},         {ROLE_STEP, -1, 2, 1, 2, 1, 2, true},
    {ROLE_PADS, -1, 1, 2, 4, 1, 2, true},        {ROLE_PADS, 0, 1, 2, 2, 3, 4, false},
    {ROLE_GAPS, 0, 2, 1, 2, 1, 4, true},
};
static const struct list_range other_lists = {ROLE_NONE, 0, 2, 1, 2, 1, 2, true};

// Lists of windows, for each number of axes a list and those that differ from it in one entry; two of them, in one
// order for all attributes, tell windows that are used alike.
static const struct list_example {
    enum attribute_role role;
    bool is_of_windows_alike;
    uint32_t count;
    int64_t items[4];
} list_examples[] = {
    {ROLE_STRIDE, true, 1, {1}},
    {ROLE_STRIDE, true, 1, {2}},
    {ROLE_STRIDE, true, 2, {1, 1}},
    {ROLE_STRIDE, true, 2, {2, 1}},
    {ROLE_STRIDE, false, 2, {1, 2}},
    {ROLE_DILATION, true, 1, {1}},
    {ROLE_DILATION, true, 1, {2}},
    {ROLE_DILATION, true, 2, {1, 1}},
    {ROLE_DILATION, true, 2, {1, 2}},
    {ROLE_DILATION, false, 2, {2, 1}},
    {ROLE_WINDOW_PADS, true, 2, {0, 0}},
    {ROLE_WINDOW_PADS, true, 2, {1, 0}},
    {ROLE_WINDOW_PADS, true, 4, {0, 0, 0, 0}},
    {ROLE_WINDOW_PADS, true, 4, {1, 0, 0, 1}},
    {ROLE_WINDOW_PADS, false, 2, {0, 1}},
    {ROLE_WINDOW_PADS, false, 4, {1, 0, 0, 0}},
    {ROLE_WINDOW_PADS, false, 4, {0, 1, 0, 0}},
    {ROLE_WINDOW_PADS, false, 4, {0, 0, 1, 0}},
    {ROLE_WINDOW_PADS, false, 4, {0, 0, 0, 1}},
    {ROLE_KERNEL, true, 1, {1}},
    {ROLE_KERNEL, true, 1, {2}},
    {ROLE_KERNEL, true, 1, {3}},
    {ROLE_KERNEL, true, 2, {1, 1}},
    {ROLE_KERNEL, true, 2, {2, 1}},
    {ROLE_KERNEL, true, 2, {3, 3}},
    {ROLE_KERNEL, false, 2, {1, 2}},
    {ROLE_KERNEL, false, 2, {2, 2}},
    {ROLE_KERNEL, false, 2, {2, 3}},
    {ROLE_KERNEL, false, 2, {3, 2}},
};

struct collector {
    enum domain_extent extent;
    int64_t largest_group;
    struct arena *a;
    VEC(struct attribute_value) values;
};

static void collect(struct collector *c, const int64_t *ints, uint32_t count)
{
    struct attribute_value value = {count, count ? arena_copy_array(c->a, ints, count) : NULL};
    vec_push(&c->values, value);
}

static void collect_integers(struct collector *c, int64_t low, int64_t high)
{
    for (int64_t i = low; i <= high; i++)
        collect(c, &i, 1);
}

static bool raise_entry(const struct list_range *range, int64_t *entry)
{
    bool is_largest = *entry >= range->high;
    *entry = is_largest ? range->low : *entry + 1;
    return !is_largest;
}

static void collect_lists_of(struct collector *c, const struct list_range *range, uint32_t length)
{
    int64_t entry[MAX_RANK * 2];
    uint32_t varied = length < range->varied ? length : range->varied;
    for (uint32_t i = 0; i < varied; i++)
        entry[i] = range->low;
    for (;;) {
        for (uint32_t i = varied; i < length; i++)
            entry[i] = entry[i % varied];
        collect(c, entry, length);
        uint32_t i = varied;
        while (i > 0 && !raise_entry(range, &entry[i - 1]))
            i--;
        if (i == 0)
            return;
    }
}

static void collect_range(struct collector *c, const struct list_range *range)
{
    if (range->may_be_empty)
        collect(c, NULL, 0);
    for (uint32_t axes = range->min_axes; axes <= range->max_axes; axes++)
        collect_lists_of(c, range, axes * range->per_axis);
}

// A few lists for each number of axes; false when the attribute is none of a window.
static bool collect_examples(struct collector *c, enum attribute_role role)
{
    bool is_known = false;
    EACH(list_examples, sizeof list_examples / sizeof *list_examples, e) {
        if (e->role != role)
            continue;
        is_known = true;
        if (c->extent != DOMAIN_ALIKE || e->is_of_windows_alike)
            collect(c, e->items, e->count);
    }
    return is_known;
}

static void collect_lists(struct collector *c, enum attribute_role role)
{
    bool is_known = false;
    if (c->extent != DOMAIN_SMALL && collect_examples(c, role))
        return;
    for (size_t i = 0; i < sizeof list_ranges / sizeof *list_ranges; i++)
        if (list_ranges[i].role == role) {
            is_known = true;
            collect_range(c, &list_ranges[i]);
        }
    if (!is_known)
        collect_range(c, &other_lists);
}

// Values of an entry of a list.
static void collect_entries(struct collector *c, enum attribute_role role)
{
    for (size_t i = 0; i < sizeof list_ranges / sizeof *list_ranges; i++)
        if (list_ranges[i].role == role) {
            struct list_range range = list_ranges[i];
            range.high = range.high < 3 ? 3 : range.high;
            int64_t entry = range.low;
            do
                collect(c, &entry, 1);
            while (raise_entry(&range, &entry));
            return;
        }
    collect_integers(c, 0, 3);
}

static void collect_permutations_of(struct collector *c, int64_t *perm, int rank, int fixed)
{
    if (fixed == rank) {
        collect(c, perm, (uint32_t)rank);
        return;
    }
    for (int64_t axis = 0; axis < rank; axis++) {
        bool is_used = ANY(int, i, fixed, perm[i] == axis);
        perm[fixed] = axis;
        if (!is_used)
            collect_permutations_of(c, perm, rank, fixed + 1);
    }
}

static void collect_permutations(struct collector *c, int max_rank)
{
    int64_t perm[MAX_RANK];
    for (int rank = 0; rank <= max_rank; rank++)
        collect_permutations_of(c, perm, rank, 0);
}

static void collect_subsets(struct collector *c, int max_rank)
{
    for (uint32_t set = 0; set < 1u << max_rank; set++) {
        int64_t axes[MAX_RANK];
        uint32_t n = 0;
        for (int axis = 0; axis < max_rank; axis++)
            if (set >> axis & 1)
                axes[n++] = axis;
        collect(c, axes, n);
    }
}

static bool counts_groups(const struct attribute *attribute)
{
    return attribute->role == ROLE_GROUPS || attribute->role == ROLE_MERGED_GROUPS;
}

static void collect_attribute(struct collector *c, const struct attribute *attribute, bool is_whole, int max_rank)
{
    static const double reals[] = {0.5, 1e-5, 0, 1, 2, -1, -3};
    bool is_group = counts_groups(attribute);
    switch (attribute->kind) {
    case ATTRIBUTE_CHOICE:
        for (int64_t i = 0; attribute->choices[i]; i++)
            collect(c, &i, 1);
        return;
    case ATTRIBUTE_REAL:
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
            collect(c, &(int64_t){real_to_bits(reals[i])}, 1);
        return;
    case ATTRIBUTE_DTYPE:
        collect(c, &(int64_t){DTYPE_F32}, 1);
        collect(c, &(int64_t){DTYPE_I32}, 1);
        return;
    case ATTRIBUTE_INTS:
        if (is_whole && attribute->role == ROLE_PERMUTATION)
            collect_permutations(c, max_rank);
        else if (is_whole && attribute->role == ROLE_AXES)
            collect_subsets(c, max_rank);
        else if (is_whole)
            collect_lists(c, attribute->role);
        else
            collect_entries(c, attribute->role);
        return;
    default:
        if (attribute->role == ROLE_AXIS)
            collect_integers(c, 0, max_rank - 1);
        else if (attribute->role == ROLE_KEEPDIMS)
            collect_integers(c, 0, 1);
        else
            collect_integers(c, is_group ? 1 : 0, is_group ? c->largest_group : 3);
    }
}

const struct attribute *domain_attribute(const struct pattern *p, uint32_t variable, bool *ret_is_whole)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *pattern = &p->nodes.items[n].attributes[i];
            *ret_is_whole = pattern->count == 1;
            for (uint32_t j = 0; j < pattern->count; j++)
                if (pattern->terms[j]->kind == TERM_VARIABLE && pattern->terms[j]->value == variable)
                    return &p->nodes.items[n].op->attributes[i];
        }
    return NULL;
}

// The entries that lists of windows have for each axis; 0: the attribute is none.
static uint32_t entries_per_axis(const struct attribute *attribute)
{
    bool is_list = attribute->kind == ATTRIBUTE_INTS && attribute_roles[attribute->role].is_of_window;
    return is_list ? (uint32_t)attribute_roles[attribute->role].per_axis : 0;
}

// Larger ones than any size that is tested are alike, and can be added to and doubled.
int64_t largest_integer_of_term(const struct attribute_term *t)
{
    int64_t largest = t->kind == TERM_INTEGER ? t->value : 0;
    largest = largest > INT32_MAX ? INT32_MAX : largest;
    return LARGEST(int64_t, largest, uint32_t, i, t->count, largest_integer_of_term(t->operands[i]));
}

static bool is_divided_in_term(const struct attribute_term *t, uint32_t variable)
{
    bool is_divided = t->kind == TERM_DIV && attribute_term_mentions_variable(t->operands[0], variable);
    return is_divided || ANY(uint32_t, i, t->count, is_divided_in_term(t->operands[i], variable));
}

// The largest number of groups: 2 and 4 of numbers that are halved.
static int64_t largest_group(const struct pattern *p, uint32_t variable)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                if (is_divided_in_term(p->nodes.items[n].attributes[i].terms[j], variable))
                    return 4;
    return 3;
}

struct domain domain_of_variable(const struct pattern *p, uint32_t variable, int max_rank, enum domain_extent extent,
                                 struct arena *a)
{
    struct collector c = {.extent = extent, .a = a};
    c.largest_group = largest_group(p, variable);
    bool is_whole = false;
    const struct attribute *attribute = domain_attribute(p, variable, &is_whole);
    struct domain domain = {.attribute = attribute, .is_whole = is_whole};
    if (attribute) {
        collect_attribute(&c, attribute, is_whole, max_rank);
        domain.per_axis = is_whole ? entries_per_axis(attribute) : 0;
        for (size_t n = 0; n < p->nodes.count; n++)
            domain.nodes |= (node_set)(node_attribute_of_variable(&p->nodes.items[n], variable) >= 0) << n;
        bool is_of_window = domain.per_axis && attribute->role != ROLE_KERNEL;
        domain.goes_together = extent == DOMAIN_ALIKE && is_of_window;
        domain.goes_alone = extent == DOMAIN_SOME && is_of_window;
    } else
        collect_integers(&c, 0, 3);
    domain.count = c.values.count;
    domain.values = arena_copy_array(a, c.values.items, c.values.count);
    vec_free(&c.values);
    return domain;
}
