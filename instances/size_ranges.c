// Which sizes are tried where nothing is known of an equation yet: small ones, and those that its numbers and the
// values of its attributes ask for.
#include "instances/size_ranges.h"

#include "operators/traits.h"
#include <string.h>

struct box box_uniform(int max_rank, int bound)
{
    struct box box = {.max_rank = max_rank};
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= max_rank; r++)
            for (int a = 0; a < MAX_RANK; a++)
                box.sizes[v][r][a] = SIZES_UP_TO(bound);
    return box;
}

// The largest number of groups that the text names; for those that are variables or sizes LARGEST_GROUPS_TRIED stands.
static int64_t pattern_largest_groups(const struct pattern *p)
{
    int64_t largest = 1;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *groups = &p->nodes.items[n].attributes[i];
            bool is_number = groups->count && groups->terms[0]->kind == TERM_INTEGER;
            if (!groups->count || !attribute_counts_groups(&p->nodes.items[n].op->attributes[i]))
                continue;
            int64_t named = is_number ? groups->terms[0]->value : LARGEST_GROUPS_TRIED;
            largest = named > largest ? named : largest;
        }
    return largest;
}

// Groups that are named by a number need channels that these divide, with more than one in each.
static void add_sizes_of_groups(struct box *box, const struct pattern *p)
{
    uint32_t sizes = 0;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        const struct attribute_pattern *groups = pattern_node_attribute(node, ROLE_GROUPS);
        int64_t named = groups->count ? largest_integer_of_term(groups->terms[0]) : 1;
        if (named > 2 && 2 * named <= MAX_TESTED_SIZE)
            sizes |= 1u << named | 1u << 2 * named;
    }
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 3; r <= box->max_rank; r++)
            for (int a = 0; a < 2; a++)
                box->sizes[v][r][a] |= sizes;
}

// The axes of each variable that groups may divide or count: filters of what kernels are made of, channels of what
// images are made of, and both of what stands below operators that move axes. What is joined or worked on together has
// the same.
enum { AXIS_OF_FILTERS = 1, AXIS_OF_CHANNELS = 2 };
static bool keeps_axes(const struct pattern_node *n)
{
    return operator_joins(n->op) || operator_splits(n->op) || operator_works_entry_by_entry(n->op) ||
           operator_pools(n->op) || operator_enlarges(n->op);
}

// Of all variables that the term is made of.
static unsigned axes_of_term(const struct pattern *p, term_id term, const uint8_t *axes_of_variables)
{
    const struct term *t = &p->terms.items[term];
    unsigned axes = t->is_variable ? axes_of_variables[t->index] : 0;
    for (uint32_t i = 0;
         !t->is_variable && keeps_axes(&p->nodes.items[t->index]) && i < p->nodes.items[t->index].n_inputs; i++)
        axes |= axes_of_term(p, p->nodes.items[t->index].inputs[i], axes_of_variables);
    return axes;
}

static void note_axes_of_term(const struct pattern *p, term_id term, unsigned axes, uint8_t *axes_of_variables)
{
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        axes_of_variables[t->index] |= (uint8_t)axes;
    for (uint32_t i = 0;
         !t->is_variable && keeps_axes(&p->nodes.items[t->index]) && i < p->nodes.items[t->index].n_inputs; i++)
        note_axes_of_term(p, p->nodes.items[t->index].inputs[i], axes, axes_of_variables);
}

static void note_axes_of_groups(const struct pattern *p, uint8_t *axes_of_variables)
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct pattern_node *node = &p->nodes.items[n];
            unsigned axes = AXIS_OF_FILTERS | AXIS_OF_CHANNELS;
            if (operator_convolves(node->op))
                axes = i == 0 ? AXIS_OF_CHANNELS : AXIS_OF_FILTERS;
            else if (operator_merges_groups(node->op))
                axes = AXIS_OF_FILTERS;
            else if (keeps_axes(node))
                for (uint32_t k = axes = 0; k < node->n_inputs; k++)
                    axes |= axes_of_term(p, node->inputs[k], axes_of_variables);
            note_axes_of_term(p, node->inputs[i], axes, axes_of_variables);
        }
}

// Filters and channels that may be parts of an axis that groups divide.
bool box_add_remainders_of_groups(struct box *box, const struct equation *eq)
{
    uint8_t axes[MAX_RULE_VARIABLES] = {0};
    int64_t largest = pattern_largest_groups(eq->pattern);
    if (largest == 1)
        return false;
    // What is found below one node may be joined below another.
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        note_axes_of_groups(eq->pattern, axes);
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 3; r <= box->max_rank; r++)
            for (int a = 0; a < 2; a++)
                if (axes[v] >> a & 1)
                    box->sizes[v][r][a] |= SIZES_UP_TO(largest < LARGEST_REMAINDERS ? largest : LARGEST_REMAINDERS);
                else
                    box->sizes[v][r][a] = SIZES_UP_TO(2);
    return true;
}

static void add_sizes(struct box *box, uint32_t sizes)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= box->max_rank; r++)
            for (int a = 0; a < MAX_RANK; a++)
                box->sizes[v][r][a] |= sizes;
}

#define LARGEST_EXPLORED 12
// A reshape to parts that a number names: with one entry in each part entries of it and of the parts are the same.
static uint32_t sizes_of_reshapes(const struct pattern *p)
{
    uint32_t sizes = 0;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        int shape = operator_find_role(node->op, ROLE_SHAPE);
        for (uint32_t j = 0; operator_is_view(node->op) && j < node->attributes[shape].count; j++) {
            int64_t named = largest_integer_of_term(node->attributes[shape].terms[j]);
            sizes |= named > 1 && 2 * named <= MAX_TESTED_SIZE ? 1u << named | 1u << 2 * named : 0;
        }
    }
    return sizes;
}

// Large equations have too many types for that.
#define LARGE_EQUATION 8
static bool is_too_large_for_parts(const struct pattern *p)
{
    return p->nodes.count > LARGE_EQUATION && sizes_of_reshapes(p);
}

static void add_sizes_of_reshapes(struct box *box, const struct pattern *p)
{
    add_sizes(box, is_too_large_for_parts(p) ? 0 : sizes_of_reshapes(p));
}

// An axis of one entry is repeated as often as a number says, one of that many entries is left as it is.
static void add_sizes_of_broadcasts(struct box *box, const struct pattern *p)
{
    uint32_t sizes = 0;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        int shape = operator_find_role(node->op, ROLE_SHAPE);
        for (uint32_t j = 0; operator_repeats(node->op) && j < node->attributes[shape].count; j++) {
            int64_t named = largest_integer_of_term(node->attributes[shape].terms[j]);
            sizes |= named > 1 && named <= MAX_TESTED_SIZE ? 1u << named : 0;
        }
    }
    add_sizes(box, sizes);
}

// Conditions name them, beyond what growing boxes come to: sums and concatenations have these of others, too.
static void add_sizes_of_conditions(struct box *box, const struct equation *eq)
{
    uint32_t sizes = 0;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int axis = 0; axis < box->max_rank; axis++) {
            int64_t named = equation_size_by_condition(eq, v, axis);
            sizes |= named > LARGEST_SIZE_EXPLORED && named <= MAX_TESTED_SIZE ? 1u << named : 0;
        }
    add_sizes(box, sizes);
}

// The largest dilation that may be tried, where dilations are not all 1.
static int64_t largest_dilation(const struct pattern *p)
{
    int64_t largest = 1;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct attribute_pattern *list = pattern_node_attribute(&p->nodes.items[n], ROLE_DILATION);
        for (uint32_t j = 0; j < list->count; j++) {
            int64_t named = list->terms[j]->kind == TERM_INTEGER ? list->terms[j]->value : 2;
            largest = named > largest ? named : largest;
        }
    }
    return largest < LARGEST_EXPLORED ? largest : LARGEST_EXPLORED;
}

// What is read in windows stands behind the axes of images and channels. Only these need larger sizes: one more axis of
// size 7 is seven times as many types.
void box_add_spatial_sizes(struct box *box, int size)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 3; r <= box->max_rank; r++)
            for (int a = 2; a < r; a++)
                box->sizes[v][r][a] |= SIZES_UP_TO(size);
}

// The largest kernel that numbers name; 1: none.
static int64_t largest_kernel(const struct pattern *p)
{
    static const enum attribute_role roles[] = {ROLE_KERNEL, ROLE_SHAPE};
    int64_t largest = 1;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
            const struct pattern_node *node = &p->nodes.items[n];
            const struct attribute_pattern *list = pattern_node_attribute(node, roles[i]);
            bool is_of_kernel = i == 0 || operator_has(node->op, TRAIT_IS_KERNEL);
            for (uint32_t k = 0; is_of_kernel && k < list->count; k++)
                if (list->terms[k]->kind == TERM_INTEGER && list->terms[k]->value > largest)
                    largest = list->terms[k]->value;
        }
    return largest < LARGEST_EXPLORED ? largest : LARGEST_EXPLORED;
}

bool box_add_sizes_of_kernels(struct box *box, const struct pattern *p)
{
    box_add_spatial_sizes(box, (int)largest_kernel(p));
    return largest_kernel(p) > 1;
}

void box_try_all_dtypes(struct box *box)
{
    memset(box->dtypes, TRIES_ALL_DTYPES, sizeof box->dtypes);
}

void box_copy_dtypes(struct box *box, const struct box *from)
{
    memcpy(box->dtypes, from->dtypes, sizeof box->dtypes);
}

struct box box_to_explore(const struct equation *eq, int max_rank, int size)
{
    struct box box = box_uniform(max_rank, size);
    // Two places of a window with holes: with one place dilations make no difference.
    if (largest_dilation(eq->pattern) > 1)
        box_add_spatial_sizes(&box, (int)largest_dilation(eq->pattern) + 1);
    add_sizes_of_groups(&box, eq->pattern);
    add_sizes_of_reshapes(&box, eq->pattern);
    add_sizes_of_broadcasts(&box, eq->pattern);
    add_sizes_of_conditions(&box, eq);
    return box;
}
