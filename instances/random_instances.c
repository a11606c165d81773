// Random attributes first, then a few sizes for each axis, among which well-typed instances are searched for.
#include "instances/random_instances.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "instances/size_ranges.h"
#include <string.h>

struct attempt {
    const struct random_search *search;
    struct typing *typing;
    const struct equation *equation;
    struct random random;
    struct arena *scratch;
    int rank;        // the largest one
    int long_axis;   // of sizes up to the largest, far; or -1
    bool has_windows;
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    struct box box;
    enum wanted_sides wanted;
    bool is_found;
    struct instance found;
};

static int64_t between(struct attempt *a, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(&a->random, (uint64_t)(high - low + 1));
}

static bool happens(struct attempt *a, uint64_t times, uint64_t of)
{
    return random_below(&a->random, of) < times;
}

// --- attributes ------------------------------------------------------------------------------------------------------

// Entries of attributes of windows, and numbers: wider ranges than those of domains. At the plain value the
// attribute does nothing.
static const struct entry_range {
    enum attribute_role role;
    int64_t low, plain, high;
} entry_ranges[] = {{ROLE_STRIDE, 1, 1, 5}, {ROLE_DILATION, 1, 1, 3}, {ROLE_WINDOW_PADS, 0, 0, 3},
                    {ROLE_KERNEL, 1, 1, 5}, {ROLE_GROUPS, 1, 1, 5},   {ROLE_MERGED_GROUPS, 1, 1, 5},
                    {ROLE_PADS, -2, 0, 3},  {ROLE_START, 0, 0, 4},    {ROLE_SIZE, 1, 1, 6},
                    {ROLE_STEP, -2, 1, 5},  {ROLE_GAPS, 0, 0, 3}};

static const struct entry_range *find_range(enum attribute_role role)
{
    return FIND(entry_ranges, sizeof entry_ranges / sizeof *entry_ranges, x, x->role == role);
}

static bool is_wide(const struct domain *d)
{
    return d->attribute && find_range(d->attribute->role) &&
           (d->attribute->kind == ATTRIBUTE_INTS || d->attribute->kind == ATTRIBUTE_INT);
}

static uint32_t length_of_list(const struct attempt *a, const struct domain *d)
{
    uint32_t axes = (uint32_t)(a->rank > 2 ? a->rank - 2 : 1);
    if (!d->is_whole || d->attribute->kind == ATTRIBUTE_INT)
        return 1;
    return d->attribute->role == ROLE_WINDOW_PADS ? 2 * axes
           : d->attribute->role == ROLE_PADS      ? 2 * (uint32_t)a->rank
                                                  : axes;
}

// Thresholds are found by doubling.
#define MOST_DOUBLINGS 5
static int64_t highest_entry(struct attempt *a, const struct entry_range *range)
{
    return a->search->is_far ? range->plain + ((int64_t)1 << between(a, 0, MOST_DOUBLINGS)) : range->high;
}

// Lists have an entry for each spatial axis, pads two. Often all entries are plain, or all but one, or all are alike.
static struct attribute_value choose_wide(struct attempt *a, const struct domain *d)
{
    const struct entry_range *range = find_range(d->attribute->role);
    uint32_t count = length_of_list(a, d);
    int64_t high = highest_entry(a, range);
    int64_t *ints = arena_array(a->scratch, int64_t, count + 1), value = between(a, range->low, high);
    enum { PLAIN, PLAIN_BUT_ONE, ALIKE, ANY, N_KINDS } kind = (int)between(a, 0, N_KINDS - 1);
    for (uint32_t i = 0; i < count; i++)
        ints[i] = kind == ALIKE ? value : kind == ANY ? between(a, range->low, high) : range->plain;
    if (kind == PLAIN_BUT_ONE)
        ints[random_below(&a->random, count)] = value;
    return (struct attribute_value){count, ints};
}

// Variables of one attribute often have one value, without which few rules are well-typed.
static void choose_attributes(struct attempt *a)
{
    const struct pattern *p = a->equation->pattern;
    struct domain domains[MAX_RULE_VARIABLES];
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        struct domain *d = &domains[v];
        *d = (struct domain){0};
        d->attribute = domain_attribute(p, v, &d->is_whole);
        uint32_t like = v;
        for (uint32_t u = 0; u < v; u++)
            if (d->attribute && domains[u].attribute && domains[u].is_whole == d->is_whole &&
                strcmp(domains[u].attribute->name, d->attribute->name) == 0)
                like = u;
        if (like < v && happens(a, 1, 2))
            a->attributes[v] = a->attributes[like];
        else if (is_wide(d))
            a->attributes[v] = choose_wide(a, d);
        else {
            *d = domain_of_variable(p, v, a->rank, DOMAIN_SMALL, a->scratch);
            a->attributes[v] = d->values[random_below(&a->random, d->count)];
        }
    }
}

// --- sizes -----------------------------------------------------------------------------------------------------------

static uint32_t size_bit(const struct attempt *a, int64_t size)
{
    return size >= 1 && size <= a->search->largest ? 1u << size : 0;
}

// Two sizes, their sum (of a concatenation) and a multiple (of groups).
static uint32_t choose_related_sizes(struct attempt *a, int64_t high)
{
    int64_t x = between(a, 1, high), y = between(a, 1, high);
    uint32_t sizes = size_bit(a, x) | size_bit(a, y);
    sizes |= happens(a, 1, 2) ? size_bit(a, x + y) : 0;
    sizes |= happens(a, 1, 3) ? size_bit(a, x * between(a, 2, 4)) : 0;
    return happens(a, 1, 4) ? sizes | size_bit(a, 1) : sizes;
}

// The entry for a spatial axis of an attribute of windows that some variable stands for, or a plain one.
static int64_t entry_of_windows(struct attempt *a, enum attribute_role role, uint32_t entry, int64_t plain)
{
    const struct pattern *p = a->equation->pattern;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        bool is_whole;
        const struct attribute *of_v = domain_attribute(p, v, &is_whole);
        if (of_v && of_v->role == role && a->attributes[v].count > entry && happens(a, 2, 3))
            return a->attributes[v].ints[entry];
    }
    return happens(a, 1, 2) ? plain : between(a, plain, plain + 1);
}

// Sizes of kernels and of images, and of what windows make of these.
static uint32_t choose_spatial_sizes(struct attempt *a, uint32_t axis, uint32_t n_axes)
{
    int64_t kernel = between(a, 1, 4), image = between(a, 1, a->search->largest);
    uint32_t sizes = size_bit(a, kernel) | size_bit(a, image);
    sizes |= happens(a, 1, 2) ? size_bit(a, between(a, 1, 3)) : 0;
    for (int depth = 0; depth < 2 && image > 0; depth++) {
        int64_t pads =
            entry_of_windows(a, ROLE_WINDOW_PADS, axis, 0) + entry_of_windows(a, ROLE_WINDOW_PADS, axis + n_axes, 0);
        int64_t reach = entry_of_windows(a, ROLE_DILATION, axis, 1) * (kernel - 1) + 1;
        image = image + pads < reach ? 0 : (image + pads - reach) / entry_of_windows(a, ROLE_STRIDE, axis, 1) + 1;
        sizes |= size_bit(a, image);
    }
    return sizes;
}

#define SMALL_SIZE 2
static uint32_t choose_sizes_of_axis(struct attempt *a, int axis)
{
    if (axis == a->long_axis && !(a->has_windows && axis >= 2))
        return choose_related_sizes(a, a->search->largest);
    if (a->long_axis >= 0 && a->rank > 2 && !a->has_windows)
        return choose_related_sizes(a, SMALL_SIZE);
    int64_t high = a->rank <= 2 ? a->search->largest : a->rank == 3 ? 6 : 3;
    if (a->has_windows && axis >= 2)
        return choose_spatial_sizes(a, (uint32_t)axis - 2, (uint32_t)a->rank - 2);
    return choose_related_sizes(a, high < a->search->largest ? high : a->search->largest);
}

// Axis i of all tensors of the largest rank has the sizes chosen for it, an axis of smaller ones those of some axis.
// Properties are tried with inputs that have cuts, too; rules are for inputs without any.
static void choose_sizes(struct attempt *a)
{
    uint32_t of_axis[MAX_RANK] = {0};
    const struct equation *eq = a->equation;
    a->box = (struct box){.max_rank = a->rank, .has_split_trees = eq->is_strong && eq->pattern->looks_at_split_trees};
    for (int i = 0; i < a->rank; i++)
        of_axis[i] = choose_sizes_of_axis(a, i);
    uint32_t of_scalar = size_bit(a, 1);
    for (int r = 0; r <= a->rank; r++)
        for (int i = 0; i < MAX_RANK; i++) {
            uint32_t sizes = r == 0 ? of_scalar : of_axis[r == a->rank ? i : between(a, 0, a->rank - 1)];
            for (int v = 0; v < MAX_RULE_VARIABLES; v++)
                a->box.sizes[v][r][i] = sizes;
        }
}

static int64_t choose_size(struct attempt *a, uint32_t sizes)
{
    for (int64_t n = between(a, 0, __builtin_popcount(sizes) - 1); n > 0; n--)
        sizes &= sizes - 1;
    return sizes ? __builtin_ctz(sizes) : 1;
}

static void allow_size(struct attempt *a, int64_t size)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 1; r <= a->rank; r++)
            for (int i = 0; i < MAX_RANK; i++)
                a->box.sizes[v][r][i] |= size_bit(a, size);
}

// Shapes that are variables are often those of a tensor, as large as others. Parts are as long as others, and far some
// axis is as long as all of them.
static void choose_shapes(struct attempt *a)
{
    for (uint32_t v = 0; v < a->equation->pattern->n_attribute_variables; v++) {
        bool is_whole;
        const struct attribute *of_v = domain_attribute(a->equation->pattern, v, &is_whole);
        bool is_of_parts = of_v && of_v->role == ROLE_PART_SIZES;
        bool is_of_sizes = is_of_parts || (of_v && of_v->role == ROLE_SHAPE);
        if (!is_of_sizes || !is_whole || happens(a, 1, 2))
            continue;
        uint32_t count = is_of_parts ? (uint32_t)between(a, 1, a->search->is_far ? 6 : 3) : (uint32_t)a->rank;
        int64_t *ints = arena_array(a->scratch, int64_t, count), sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += ints[i] = choose_size(a, a->box.sizes[0][a->rank][is_of_parts ? 0 : i]);
        if (is_of_parts && a->search->is_far)
            allow_size(a, sum);
        a->attributes[v] = (struct attribute_value){count, ints};
    }
}

// --- instances -------------------------------------------------------------------------------------------------------

static bool keep(void *context, struct instance *in)
{
    struct attempt *a = context;
    a->found = *in;
    a->is_found = true;
    return false;
}

// Rules speak of real numbers: of tensors that may be anything such are tried first.
static void find_instance(struct attempt *a)
{
    struct enumeration e = {.equation = a->equation,
                            .typing = a->typing,
                            .scratch = a->scratch,
                            .box = &a->box,
                            .wanted = a->wanted,
                            .attributes = a->attributes,
                            .step_limit = a->search->step_limit,
                            .random = &a->random,
                            .visit = keep,
                            .context = a};
    a->is_found = false;
    enumerate_instances(&e);
}

static bool has_windows(const struct pattern *p)
{
    return ANY(size_t, n, p->nodes.count,
               operator_find_role(p->nodes.items[n].op, ROLE_STRIDE) >= 0 ||
                   operator_find_role(p->nodes.items[n].op, ROLE_KERNEL) >= 0);
}

static bool show(struct random_search *s, struct instance *in, enum wanted_sides wanted)
{
    if (instance_has_more_entries(in, MOST_TRIED_ENTRIES))
        return true;
    s->instances++;
    return s->visit(s->context, in, wanted);
}

// No attempt asks what another one did, so that all is forgotten: what is asked again soon stays in the cache.
static bool run_attempt(struct random_search *s, struct typing *typing, struct arena *scratch,
                        const struct equation *eq, uint64_t key, bool has_other_dtypes)
{
    static const int ranks[] = {1, 2, 2, 2, 3, 3, 4, 4, 5}, ranks_with_windows[] = {3, 4, 4, 4, 4, 4, 4, 5};
    static const int far_ranks[] = {1, 2, 3, 4, 5, 5, 6}, far_ranks_with_windows[] = {3, 4, 4, 5, 5, 6};
    struct attempt a = {.search = s,
                        .typing = typing,
                        .scratch = scratch,
                        .equation = eq,
                        .random = random_seed(key),
                        .has_windows = has_windows(eq->pattern)};
    ARENA_MARK(mark, scratch);
    bool goes_on = true;
    typing_forget(typing);
    bool is_far = s->is_far;
    a.rank = is_far && a.has_windows ? far_ranks_with_windows[random_below(&a.random, 6)]
             : is_far                ? far_ranks[random_below(&a.random, 7)]
             : a.has_windows         ? ranks_with_windows[random_below(&a.random, 8)]
                                     : ranks[random_below(&a.random, 9)];
    a.long_axis = is_far ? (int)random_below(&a.random, (uint64_t)a.rank) : -1;
    choose_attributes(&a);
    choose_sizes(&a);
    choose_shapes(&a);
    if (has_other_dtypes)
        box_try_all_dtypes(&a.box);
    a.wanted = eq->is_strong && happens(&a, 1, 2) ? WANTED_RIGHT : WANTED_LEFT;
    find_instance(&a);
    if (a.is_found)
        goes_on = show(s, &a.found, a.wanted);
    return goes_on;
}

bool random_instances_visit(struct random_search *s, const struct equation *eq)
{
    uint64_t key = hash_mix(s->seed, hash_string(eq->name));
    bool goes_on = true;
    struct typing typing FREED_BY(typing_free);
    ARENA(scratch);
    s->instances = 0;
    typing_init(&typing);
    // Integers and truth values where there are no instances of real numbers alone.
    for (int others = 0; others < 2 && s->instances == 0; others++)
        for (uint32_t i = 0; i < s->attempts && s->instances < s->wanted && goes_on; i++)
            goes_on = run_attempt(s, &typing, &scratch, eq, random_keyed(key, i), others);
    return goes_on;
}
