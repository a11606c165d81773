// Boxes grow until something is well-typed; instances of each kind add to the bounds.
#include "verifier/direct_proof/small_instances.h"

#include "core/memory/hash.h"
#include "operators/traits.h"
#include "verifier/instances/ranks.h"
#include <string.h>

#define MAX_KINDS 1024

// Instances whose definitions have the same structure (formulas without the sizes in them) are alike: a few of each
// kind are analysed, the first ones, those without a size of 1, and those in which axes that are cut have other sizes.
struct kind {
    uint64_t structure;
    int analysed, without_ones;
    struct cut_axes cut_axes;
};
struct exploration {
    struct met_kinds *met;       // by instances
    const struct judge *hears;   // its listener hears the instances; NULL: nobody does
    struct bounds *bounds;       // NULL: nobody asks for them
    bool wants_one;              // only whether there are instances
    int n_kinds, n_cuts;
    struct kind kinds[MAX_KINDS];
    uint64_t cuts[MAX_KINDS];   // kinds with sizes of axes that are cut
};

static uint64_t structure_of_instance(struct instance *in, bool *ret_has_ones)
{
    uint64_t hash = 0;
    *ret_has_ones = false;
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++) {
        hash = hash * 10 + (in->types[v] ? (uint64_t)in->types[v]->rank + 1 : 0);
        for (int a = 0; in->types[v] && a < in->types[v]->rank; a++)
            *ret_has_ones = *ret_has_ones || in->types[v]->dim[a] == 1;
    }
    for (size_t n = 0; n < in->equation->pattern->nodes.count; n++)
        if (in->calls[n])
            hash = hash_step(hash, typing_structure(in->typing, in->calls[n]));
    return hash;
}

static struct kind *find_kind(struct exploration *ex, uint64_t structure)
{
    for (int i = 0; i < ex->n_kinds; i++)
        if (ex->kinds[i].structure == structure)
            return &ex->kinds[i];
    if (ex->n_kinds == MAX_KINDS)
        return NULL;
    ex->kinds[ex->n_kinds].structure = structure;
    return &ex->kinds[ex->n_kinds++];
}

static bool has_new_cuts(struct exploration *ex, const struct kind *kind, const struct instance *in)
{
    uint64_t cut = kind->structure;
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int a = 0; in->types[v] && a < in->types[v]->rank; a++)
            cut = hash_step(cut, kind->cut_axes.of_variable[v] >> a & 1 ? (uint64_t)in->types[v]->dim[a] : 0);
    for (int i = 0; i < ex->n_cuts; i++)
        if (ex->cuts[i] == cut)
            return false;
    if (ex->n_cuts < MAX_KINDS)
        ex->cuts[ex->n_cuts++] = cut;
    return true;
}

static bool explore_instance(void *context, struct instance *in)
{
    struct exploration *ex = context;
    bool has_ones;
    if (ex->hears && !instance_has_cuts(in))
        ex->hears->listener(ex->hears->listening, in);
    if (!ex->bounds)
        return true;
    kinds_note(ex->met, in);
    if (!bounds_note_types(ex->bounds, in))
        return !ex->wants_one;
    struct kind *kind = find_kind(ex, structure_of_instance(in, &has_ones));
    if (!kind)
        ex->bounds->doubt = "too many kinds of instances";
    else {
        bool is_one_of_few = has_ones ? kind->analysed++ < 6 : kind->without_ones++ < 4;
        if (has_new_cuts(ex, kind, in) || is_one_of_few)
            bounds_add(ex->bounds, in, &kind->cut_axes);
    }
    return !ex->wants_one;
}

static struct enumeration enumerate_box(struct judge *j, const struct equation *eq, const struct box *box,
                                        const struct attribute_value *attributes, uint64_t step_limit,
                                        bool (*visit)(void *context, struct instance *in), void *context)
{
    struct enumeration e = {.equation = eq,
                            .typing = &j->typing,
                            .scratch = &j->scratch,
                            .box = box,
                            .wanted = WANTED_BOTH,
                            .attributes = attributes,
                            .step_limit = step_limit,
                            .was_cut_short = true,
                            .visit = visit,
                            .context = context};
    if (step_limit > 0)
        enumerate_instances(&e);
    return e;
}

static bool search_box(struct judge *j, const struct equation *eq, const struct box *box,
                       const struct attribute_value *attributes, uint64_t step_limit, struct bounds *ret_bounds,
                       bool *ret_was_cut_short)
{
    struct exploration ex = {.met = &j->kinds,
                             .hears = j->listener && j->listens_to_search && !attributes ? j : NULL,
                             .bounds = ret_bounds,
                             .wants_one = !attributes && j->part > 0};
    if (ret_bounds)
        memset(ret_bounds, 0, sizeof *ret_bounds);
    struct enumeration e = enumerate_box(j, eq, box, attributes, step_limit, explore_instance, &ex);
    j->steps += e.steps;
    j->met_limits = j->met_limits || e.was_cut_short;
    if (e.was_cut_short && ret_bounds)
        ret_bounds->doubt = "too many types: the search for kinds of instances was cut short";
    *ret_was_cut_short = e.was_cut_short;
    return e.instances > 0;
}

bool explore_box(struct judge *j, const struct equation *eq, const struct box *box,
                 const struct attribute_value *attributes, uint64_t step_limit, struct bounds *ret_bounds)
{
    bool was_cut_short;
    return search_box(j, eq, box, attributes, step_limit, ret_bounds, &was_cut_short);
}

// Of those that are left to the search, half for the next box.
static uint64_t steps_for_box(const struct judge *j)
{
    uint64_t all = j->step_limit * j->search_times;
    return j->steps < all ? (all - j->steps) / 2 : 0;
}

// Kernels of three places that numbers name have no instances at sizes up to 2; images and kernels of three places,
// with two channels, are far fewer than all types of sizes up to 3.
static bool search_with_kernels(struct judge *j, const struct equation *eq, const struct box *small,
                                struct box *ret_box, struct bounds *ret_bounds, bool *ret_was_cut_short)
{
    struct box box = *small;
    *ret_was_cut_short = false;
    if (!box_add_sizes_of_kernels(&box, eq->pattern) ||
        !search_box(j, eq, &box, NULL, steps_for_box(j), ret_bounds, ret_was_cut_short))
        return false;
    *ret_box = box;
    return true;
}

// A kind may have larger instances alone: what is argued of others says nothing of it.
static int explore_kinds_that_are_left(struct judge *j, const struct equation *eq, int size, struct box *box,
                                       struct bounds *bounds)
{
    bool was_cut_short = false;
    for (int more = size + 1; more <= LARGEST_SIZE_EXPLORED && !was_cut_short; more++) {
        if (!bounds || kinds_are_met(&j->kinds, &j->learned, eq, box->max_rank))
            return size;
        struct bounds larger;
        struct box larger_box = box_to_explore(eq, box->max_rank, more);
        larger_box.has_split_trees = box->has_split_trees;
        box_copy_dtypes(&larger_box, box);
        search_box(j, eq, &larger_box, NULL, steps_for_box(j), &larger, &was_cut_short);
        if (was_cut_short)
            return size;
        *box = larger_box;
        *bounds = larger;
        size = more;
    }
    return size;
}

static bool visit_box(struct judge *j, const struct equation *eq, const struct box *box, uint64_t step_limit,
                      bool (*visit)(void *context, struct instance *in), void *context, bool *was_cut_short)
{
    struct enumeration e = enumerate_box(j, eq, box, NULL, step_limit, visit, context);
    *was_cut_short = *was_cut_short || e.was_cut_short;
    return e.instances > 0;
}

struct fewest_others {
    bool is_any;
    uint32_t count;
    uint8_t dtypes[MAX_RULE_VARIABLES];   // of all instances with that many
};

static uint8_t bit_of_dtype(const struct type *type)
{
    if (!type)   // of which nothing is asked
        return TRIES_ALL_DTYPES;
    return type->dtype == DTYPE_F32 ? TRIES_F32 : type->dtype == DTYPE_BOOL ? TRIES_BOOL : TRIES_I64;
}

static bool note_dtypes(void *context, struct instance *in)
{
    struct fewest_others *f = context;
    uint32_t n_variables = in->equation->pattern->n_variables, count = 0;
    for (uint32_t v = 0; v < n_variables; v++)
        count += in->types[v] && in->types[v]->dtype != DTYPE_F32;
    if (f->is_any && count > f->count)
        return true;
    if (!f->is_any || count < f->count)
        memset(f->dtypes, 0, sizeof f->dtypes);
    f->is_any = true;
    f->count = count;
    for (uint32_t v = 0; v < n_variables; v++)
        f->dtypes[v] |= bit_of_dtype(in->types[v]);
    return true;
}

// Rules speak of floating-point numbers: as few tensors as types allow are of others (a condition, indices), which
// instances at these sizes tell. False: the search for them was cut short.
static bool try_other_dtypes(struct judge *j, const struct equation *eq, struct box *box)
{
    struct fewest_others fewest = {0};
    bool was_cut_short = false;
    box_try_all_dtypes(box);
    visit_box(j, eq, box, steps_for_box(j), note_dtypes, &fewest, &was_cut_short);
    if (fewest.is_any)
        memcpy(box->dtypes, fewest.dtypes, sizeof box->dtypes);
    return !was_cut_short;
}

// Is an input of some node never of floating-point numbers, as a condition or an index? Then there are no instances of
// these alone, which are not looked for.
static bool needs_other_dtypes(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++)
            if (p->terms.items[p->nodes.items[n].inputs[i]].is_variable &&
                !operator_input_may_be_float(p->nodes.items[n].op, i))
                return true;
    return false;
}

int explore_smallest_box(struct judge *j, const struct equation *eq, int max_rank, struct box *ret_box,
                         struct bounds *ret_bounds, bool *ret_saw_all)
{
    *ret_saw_all = true;
    bool may_need_trees = eq->pattern->looks_at_split_trees, was_cut_short;
    for (int attempt = needs_other_dtypes(eq->pattern) ? 2 : 0; attempt < 4; attempt++)
        for (int size = 2; size <= LARGEST_SIZE_EXPLORED; size++) {
            if ((attempt & 1) && !may_need_trees)
                continue;
            *ret_box = box_to_explore(eq, max_rank, size);
            ret_box->has_split_trees = attempt & 1;
            if (attempt & 2)
                *ret_saw_all = try_other_dtypes(j, eq, ret_box) && *ret_saw_all;
            bool is_found = search_box(j, eq, ret_box, NULL, steps_for_box(j), ret_bounds, &was_cut_short);
            *ret_saw_all = *ret_saw_all && !was_cut_short;
            if (!is_found && size == 2) {
                is_found = search_with_kernels(j, eq, ret_box, ret_box, ret_bounds, &was_cut_short);
                *ret_saw_all = *ret_saw_all && !was_cut_short;
            }
            if (is_found)
                return explore_kinds_that_are_left(j, eq, size, ret_box, ret_bounds);
        }
    *ret_box = box_uniform(max_rank, 2);
    return 0;
}

// Split trees are tried before sizes that have many types.
bool explore_kinds(struct judge *j, const struct equation *eq, bool must_be_whole,
                   bool (*visit)(void *context, struct instance *in), void *context)
{
    static const struct {
        bool has_split_trees, has_other_dtypes;
        int low, high;
    } attempts[] = {{false, false, 2, 3}, {true, false, 2, 3}, {false, false, 4, 6},
                    {true, false, 4, 6},  {false, true, 2, 6}, {true, true, 2, 6}};
    bool was_cut_short = false, may_need_trees = eq->pattern->looks_at_split_trees;
    bool needs_others = needs_other_dtypes(eq->pattern);
    uint64_t most_steps = j->step_limit * j->search_times;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        for (int size = attempts[i].low; size <= attempts[i].high; size++) {
            struct box box = box_uniform(ranks_to_test(eq), size);
            box.has_split_trees = attempts[i].has_split_trees;
            if (attempts[i].has_other_dtypes)
                box_try_all_dtypes(&box);
            if ((box.has_split_trees && !may_need_trees) || (needs_others && !attempts[i].has_other_dtypes))
                continue;
            bool is_found = visit_box(j, eq, &box, most_steps, visit, context, &was_cut_short);
            if (!is_found && !was_cut_short && size == 2 && box_add_sizes_of_kernels(&box, eq->pattern))
                is_found = visit_box(j, eq, &box, most_steps, visit, context, &was_cut_short);
            if (is_found || (was_cut_short && must_be_whole))
                return !was_cut_short;
        }
    return false;
}
