// Which sizes are tried where nothing is known of an equation yet: small ones, and those that its numbers and the
// values of its attributes ask for.
#include "instances/size_ranges.h"

#include "core/numbers/integers.h"
#include "operators/traits.h"
#include <string.h>

#define LARGEST_EXPLORED 12
#define LARGE_EQUATION 8   // nodes: it has too many types for the sizes that shapes name

struct box box_uniform(int max_rank, int bound)
{
    struct box box = {.max_rank = max_rank};
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= max_rank; r++)
            for (int a = 0; a < MAX_RANK; a++)
                box.sizes[v][r][a] = SIZES_UP_TO(bound);
    return box;
}

// Adds sizes of the axes from `first` on up to `end`, of tensors of that rank and above.
static void add_sizes(struct box *box, int least_rank, int first, int end, uint32_t sizes)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = least_rank; r <= box->max_rank; r++)
            for (int a = first; a < end; a++)
                box->sizes[v][r][a] |= sizes;
}

// Axes that windows are on stand behind those of images and channels. Only these need larger sizes: one more axis of
// size 7 is seven times as many types.
void box_add_spatial_sizes(struct box *box, int size)
{
    add_sizes(box, 3, 2, MAX_RANK, SIZES_UP_TO(size));
}

static void add_channels(struct box *box, uint32_t sizes)
{
    add_sizes(box, 3, 0, 2, sizes);
}

// --- numbers that the text names -------------------------------------------------------------------------------------

// The largest one in attributes with the role, where `other` stands for what is no number; 1: there is none.
static int64_t largest_named(const struct pattern *p, enum attribute_role role, int64_t other)
{
    int64_t largest = 1;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct attribute_pattern *list = pattern_node_attribute(&p->nodes.items[n], role);
        bool is_of_size = role != ROLE_SHAPE || operator_has(p->nodes.items[n].op, TRAIT_IS_KERNEL);
        for (uint32_t i = 0; is_of_size && i < list->count; i++)
            largest = larger_of(largest, list->terms[i]->kind == TERM_INTEGER ? list->terms[i]->value : other);
    }
    return largest;
}

// With one entry in each part entries of it and of the parts are the same: twice as many, too.
static uint32_t sizes_for(int64_t named)
{
    return named > 1 && 2 * named <= MAX_TESTED_SIZE ? 1u << named | 1u << 2 * named : 0;
}

// Sizes named as what groups divide, or as what tensors are repeated or reshaped to.
static uint32_t sizes_named(const struct pattern *p, enum attribute_role role)
{
    uint32_t sizes = 0;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct attribute_pattern *list = pattern_node_attribute(&p->nodes.items[n], role);
        for (uint32_t i = 0; p->nodes.items[n].n_inputs && i < list->count; i++)
            sizes |= sizes_for(largest_integer_of_term(list->terms[i]));
    }
    return sizes;
}

// Sizes beyond what growing boxes come to: sums and concatenations have these of others, too.
static uint32_t sizes_of_conditions(const struct equation *eq, int max_rank)
{
    uint32_t sizes = 0;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int axis = 0; axis < max_rank; axis++) {
            int64_t named = equation_size_by_condition(eq, v, axis);
            sizes |= named > LARGEST_SIZE_EXPLORED && named <= MAX_TESTED_SIZE ? 1u << named : 0;
        }
    return sizes;
}

bool box_add_remainders_of_groups(struct box *box, const struct equation *eq)
{
    int64_t largest = larger_of(largest_named(eq->pattern, ROLE_GROUPS, LARGEST_GROUPS_TRIED),
                                largest_named(eq->pattern, ROLE_MERGED_GROUPS, LARGEST_GROUPS_TRIED));
    add_channels(box, SIZES_UP_TO(smaller_of(largest, LARGEST_REMAINDERS)));
    return largest > 1;
}

bool box_add_sizes_of_kernels(struct box *box, const struct pattern *p)
{
    int64_t largest = larger_of(largest_named(p, ROLE_KERNEL, 1), largest_named(p, ROLE_SHAPE, 1));
    box_add_spatial_sizes(box, (int)smaller_of(largest, LARGEST_EXPLORED));
    return largest > 1;
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
    const struct pattern *p = eq->pattern;
    struct box box = box_uniform(max_rank, size);
    // Two places of a window with holes: with one place dilations make no difference.
    int64_t dilation = smaller_of(largest_named(p, ROLE_DILATION, 2), LARGEST_EXPLORED);
    if (dilation > 1)
        box_add_spatial_sizes(&box, (int)dilation + 1);
    add_channels(&box, sizes_named(p, ROLE_GROUPS));
    add_sizes(&box, 0, 0, MAX_RANK, p->nodes.count > LARGE_EQUATION ? 0 : sizes_named(p, ROLE_SHAPE));
    add_sizes(&box, 0, 0, MAX_RANK, sizes_of_conditions(eq, max_rank));
    return box;
}
