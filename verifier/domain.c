#include "verifier/domain.h"

#include "core/arena.h"
#include <string.h>

// Lists of integers: for each length up to the number of axes (times `per_axis`), every entry from low to high. Lists
// of more than `varied` entries repeat their first `varied` ones.
static const struct list_range {
    const char *name;
    int64_t low, high;
    uint32_t per_axis, varied, min_axes, max_axes;
    bool may_be_empty;
} list_ranges[] = {
    {"stride", 1, 2, 1, 2, 1, 2, false}, {"dilation", 1, 2, 1, 1, 1, 2, false}, {"pad", 0, 1, 2, 4, 1, 2, false},
    {"kernel", 1, 3, 1, 2, 1, 2, false}, {"shape", 1, 4, 1, 3, 1, 3, true},     {"shape", 1, 2, 1, 4, 4, 4, false},
    {"sizes", 1, 3, 1, 3, 1, 3, false},  {"start", 0, 1, 1, 2, 1, 2, true},     {"size", 1, 2, 1, 2, 1, 2, true},
    {"step", 1, 2, 1, 2, 1, 2, true},    {"pads", 0, 1, 2, 4, 1, 2, true},
};
static const struct list_range other_lists = {"", 0, 2, 1, 2, 1, 2, true};

// For windows that are used alike on both sides, where one would do.
static const struct list_example {
    const char *name;
    uint32_t count;
    int64_t items[4];
} list_examples[] = {
    {"stride", 1, {1}},    {"stride", 1, {2}},    {"stride", 2, {1, 1}},    {"stride", 2, {2, 1}},
    {"dilation", 1, {1}},  {"dilation", 1, {2}},  {"dilation", 2, {1, 1}},  {"dilation", 2, {1, 2}},
    {"pad", 2, {0, 0}},    {"pad", 2, {1, 0}},    {"pad", 4, {0, 0, 0, 0}}, {"pad", 4, {1, 0, 0, 1}},
    {"kernel", 1, {1}},    {"kernel", 1, {2}},    {"kernel", 1, {3}},       {"kernel", 2, {1, 1}},
    {"kernel", 2, {2, 1}}, {"kernel", 2, {3, 3}},
};

struct collector {
    enum domain_extent extent;
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
        while (i > 0 && entry[i - 1] == range->high)
            entry[--i] = range->low;
        if (i == 0)
            return;
        entry[i - 1]++;
    }
}

static void collect_range(struct collector *c, const struct list_range *range)
{
    if (range->may_be_empty)
        collect(c, NULL, 0);
    for (uint32_t axes = range->min_axes; axes <= range->max_axes; axes++)
        collect_lists_of(c, range, axes * range->per_axis);
}

// A few lists for each number of axes from `axes` on; false when the attribute is none of a window.
static bool collect_examples(struct collector *c, const char *name, uint32_t axes)
{
    uint32_t per_axis = strcmp(name, "pad") == 0 ? 2 : 1;
    bool is_known = false;
    for (size_t i = 0; i < sizeof list_examples / sizeof *list_examples; i++) {
        if (strcmp(list_examples[i].name, name) != 0)
            continue;
        is_known = true;
        if (list_examples[i].count >= axes * per_axis)
            collect(c, list_examples[i].items, list_examples[i].count);
    }
    return is_known;
}

static void collect_lists(struct collector *c, const char *name)
{
    bool is_known = false;
    bool has_examples = c->extent != DOMAIN_ALL && collect_examples(c, name, c->extent == DOMAIN_SOME ? 1 : 2);
    if (has_examples && c->extent == DOMAIN_SOME)
        return;
    for (size_t i = 0; i < sizeof list_ranges / sizeof *list_ranges; i++) {
        struct list_range range = list_ranges[i];
        if (strcmp(range.name, name) != 0)
            continue;
        is_known = true;
        range.max_axes = has_examples ? 1 : range.max_axes;
        collect_range(c, &range);
    }
    if (!is_known)
        collect_range(c, &other_lists);
}

static void collect_permutations_of(struct collector *c, int64_t *perm, int rank, int fixed)
{
    if (fixed == rank) {
        collect(c, perm, (uint32_t)rank);
        return;
    }
    for (int64_t axis = 0; axis < rank; axis++) {
        bool is_used = false;
        for (int i = 0; i < fixed; i++)
            is_used = is_used || perm[i] == axis;
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

static bool collect_attribute(struct collector *c, const struct attribute *attribute, bool is_whole, int max_rank)
{
    static const double reals[] = {0.5, 1e-5};
    bool is_group = strcmp(attribute->name, "group") == 0 || strcmp(attribute->name, "count") == 0;
    switch (attribute->kind) {
    case ATTRIBUTE_CHOICE:
        for (int64_t i = 0; attribute->choices[i]; i++)
            collect(c, &i, 1);
        return true;
    case ATTRIBUTE_REAL:
        for (size_t i = 0; i < 2; i++)
            collect(c, &(int64_t){real_to_bits(reals[i])}, 1);
        return true;
    case ATTRIBUTE_DTYPE:
        collect(c, &(int64_t){DTYPE_F32}, 1);
        collect(c, &(int64_t){DTYPE_I32}, 1);
        return false;
    case ATTRIBUTE_INTS:
        if (is_whole && strcmp(attribute->name, "perm") == 0)
            collect_permutations(c, max_rank);
        else if (is_whole && strcmp(attribute->name, "axes") == 0)
            collect_subsets(c, max_rank);
        else if (is_whole) {
            collect_lists(c, attribute->name);
            return strcmp(attribute->name, "shape") == 0 || strcmp(attribute->name, "sizes") == 0;
        } else {
            collect_lists(c, "kernel");
            return false;
        }
        return true;
    default:
        if (strcmp(attribute->name, "axis") == 0) {
            collect_integers(c, 0, max_rank - 1);
            return true;
        }
        if (strcmp(attribute->name, "keepdims") == 0) {
            collect_integers(c, 0, 1);
            return true;
        }
        collect_integers(c, is_group ? 1 : 0, 3);
        return is_group;
    }
}

// The attribute that the variable stands for, where it first stands alone. NULL: nowhere.
static const struct attribute *find_attribute(const struct pattern *p, uint32_t variable, bool *ret_is_whole)
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

static uint32_t entries_per_axis(const struct attribute *attribute)
{
    for (size_t i = 0; attribute->kind == ATTRIBUTE_INTS && i < sizeof list_examples / sizeof *list_examples; i++)
        if (strcmp(list_examples[i].name, attribute->name) == 0)
            return strcmp(attribute->name, "pad") == 0 ? 2 : 1;
    return 0;
}

static uint32_t nodes_with_variable(const struct pattern *p, uint32_t variable)
{
    uint32_t nodes = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *pattern = &p->nodes.items[n].attributes[i];
            if (pattern->count == 1 && pattern->terms[0]->kind == TERM_VARIABLE && pattern->terms[0]->value == variable)
                nodes |= 1u << n;
        }
    return nodes;
}

struct domain domain_of_variable(const struct pattern *p, uint32_t variable, int max_rank, enum domain_extent extent,
                                 struct arena *a)
{
    struct collector c = {.extent = extent, .a = a};
    struct domain domain = {0};
    bool is_whole;
    const struct attribute *attribute = find_attribute(p, variable, &is_whole);
    if (attribute) {
        domain.is_complete = collect_attribute(&c, attribute, is_whole, max_rank);
        domain.per_axis = is_whole ? entries_per_axis(attribute) : 0;
        domain.nodes = nodes_with_variable(p, variable);
    } else
        collect_integers(&c, 0, 3);
    domain.count = c.values.count;
    domain.values = arena_copy_array(a, c.values.items, c.values.count);
    vec_free(&c.values);
    return domain;
}
