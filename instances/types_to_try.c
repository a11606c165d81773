// All types of each rank, and what conditions leave of them.
#include "instances/types_to_try.h"

#include "core/numbers/random.h"
#include "substitutions/pattern.h"

typedef VEC(type_id) type_vec;

// --- of one rank -----------------------------------------------------------------------------------------------------

// The last: a second axis may be cut, too, or a piece of two positions once more.
enum cuts { NO_CUTS, ONE_CUT, MORE_CUTS };

static void add_type_with_tree(struct typing *t, struct type type, int axis, const struct split_tree *tree,
                               type_vec *types)
{
    type.split[axis] = tree;
    vec_push(types, typing_add(t, &type));
}

static void add_types_with_second_cut(struct typing *t, struct type type, int axis, const struct split_tree *first,
                                      type_vec *types)
{
    type.split[axis] = first;
    for (int other = axis + 1; other < type.rank; other++)
        for (int64_t at = 1; at < type.dim[other]; at++)
            add_type_with_tree(t, type, other, &(struct split_tree){at, NULL, NULL}, types);
}

static void add_cut_types(struct typing *t, struct type type, enum cuts cuts, type_vec *types)
{
    static const struct split_tree halves = {1, NULL, NULL};
    for (int axis = 0; axis < type.rank; axis++)
        for (int64_t at = 1; at < type.dim[axis]; at++) {
            struct split_tree whole = {at, NULL, NULL}, of_first = {at, &halves, NULL}, of_second = {at, NULL, &halves};
            add_type_with_tree(t, type, axis, &whole, types);
            if (cuts == MORE_CUTS)
                add_types_with_second_cut(t, type, axis, &whole, types);
            if (cuts == MORE_CUTS && at == 2)
                add_type_with_tree(t, type, axis, &of_first, types);
            if (cuts == MORE_CUTS && type.dim[axis] - at == 2)
                add_type_with_tree(t, type, axis, &of_second, types);
        }
}

static int next_size(uint32_t sizes, int64_t above)
{
    uint32_t left = sizes & ~((2u << above) - 1);
    return left ? __builtin_ctz(left) : 0;
}

static void make_types_of_rank(struct typing *t, enum dtype dtype, int rank, enum cuts cuts, const int64_t *sizes,
                               type_vec *types)
{
    struct type type = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) {
        type.dim[i] = next_size((uint32_t)sizes[i], 0);
        if (type.dim[i] == 0)
            return;
    }
    if (rank == 0 && sizes[0] == 0)
        return;
    for (;;) {
        vec_push(types, typing_add(t, &type));
        if (cuts)
            add_cut_types(t, type, cuts, types);
        int i = rank;
        while (i > 0 && next_size((uint32_t)sizes[i - 1], type.dim[i - 1]) == 0) {
            type.dim[i - 1] = next_size((uint32_t)sizes[i - 1], 0);
            i--;
        }
        if (i == 0)
            return;
        type.dim[i - 1] = next_size((uint32_t)sizes[i - 1], type.dim[i - 1]);
    }
}

// A property may have tensors of which nothing but some sizes is asked: of the others one is enough.
static void find_sizes(const struct enumeration *e, uint32_t variable, int rank, int64_t *ret_sizes)
{
    const struct equation *eq = e->equation;
    uint32_t axes = eq->is_strong ? equation_axes_asked_for(eq, variable) : UINT32_MAX;
    for (int i = 0; i < MAX_RANK; i++) {
        uint32_t sizes = i < rank || i == 0 ? e->box->sizes[variable][rank][i] : 0;
        ret_sizes[i] = axes >> i & 1 ? sizes : sizes & -sizes;
    }
}

// Pieces that were cut again matter where something looks at cuts: the nodes of all other trees are there together.
static enum cuts cuts_of(const struct enumeration *e, uint32_t variable)
{
    if (!e->box->has_split_trees || (e->equation->plain >> variable & 1))
        return NO_CUTS;
    return e->box->has_more_cuts && e->equation->pattern->looks_at_split_trees ? MORE_CUTS : ONE_CUT;
}

#define MAX_TYPES (1u << 22)   // of one rank, as they are all held in memory
static bool are_too_many(const int64_t *sizes, int rank)
{
    double n = PRODUCT_ALL(double, int, i, rank, __builtin_popcount((uint32_t)sizes[i]));
    return n > MAX_TYPES;
}

static void shuffle(struct random *r, type_id *items, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        size_t j = (size_t)random_below(r, i + 1);
        type_id item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static void add_types(struct enumeration *e, uint32_t variable, uint16_t ranks, enum dtype dtype, type_vec *types)
{
    size_t first = types->count;
    for (int rank = 0; rank <= e->box->max_rank; rank++) {
        int64_t sizes[MAX_RANK];
        find_sizes(e, variable, rank, sizes);
        if (!(ranks >> rank & 1))
            continue;
        if (are_too_many(sizes, rank))
            e->was_cut_short = true;
        else
            make_types_of_rank(e->typing, dtype, rank, cuts_of(e, variable), sizes, types);
    }
    if (e->random)
        shuffle(e->random, types->items + first, types->count - first);
}

// Conditions that speak of nothing but the variable hold of its types or do not, whatever the others are.
static bool is_of_variable_alone(const struct condition *c, uint32_t variable)
{
    return !condition_is_of_variable(c->kind) && equation_variables_of_condition(c) == 1u << variable &&
           attribute_variables_of_term(c->a) == 0 && attribute_variables_of_term(c->b) == 0;
}

static void keep_types_with(const struct enumeration *e, const struct condition *c, uint32_t variable, type_vec *types)
{
    const struct type *tensors[MAX_RULE_VARIABLES] = {0};
    struct term_bindings b = {.tensors = tensors};
    size_t kept = 0;
    for (size_t i = 0; i < types->count; i++) {
        ARENA_MARK(mark, e->scratch);
        tensors[variable] = typing_type(e->typing, types->items[i]);
        if (condition_holds(c, &b, NULL, e->scratch))
            types->items[kept++] = types->items[i];
    }
    types->count = kept;
}

void types_to_try_find(struct enumeration *e, uint32_t variable, uint16_t ranks, struct types_to_try *ret_types)
{
    static const enum dtype dtypes[3] = {DTYPE_F32, DTYPE_BOOL, DTYPE_I64};
    int tried = e->box->dtypes[variable] ? e->box->dtypes[variable] : TRIES_F32;
    LOCAL_LIST(type_vec, types);
    for (int i = 0; i < 3; i++)
        if (tried >> i & 1)
            add_types(e, variable, ranks, dtypes[i], &types);
    for (uint32_t i = 0; i < e->equation->n_conditions; i++)
        if (is_of_variable_alone(&e->equation->conditions[i], variable))
            keep_types_with(e, &e->equation->conditions[i], variable, &types);
    vec_reserve(&types, 1);
    *ret_types = (struct types_to_try){(uint32_t)types.count, arena_copy_array(e->scratch, types.items, types.count)};
}
