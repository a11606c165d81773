// Assignments and variables ask for the same types again and again, so lists of them are kept: those of a rank, and
// what conditions leave of all ranks.
#include "instances/types_to_try.h"

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

struct type_list {
    uint32_t count;
    const type_id *items;
};

#define MAX_TYPES (1u << 22)   // of one rank, as they are all held in memory
static bool has_too_many_types(const struct enumeration *e, uint32_t variable, uint16_t ranks)
{
    bool has_too_many = false;
    for (int rank = e->box->min_rank; rank <= e->box->max_rank; rank++) {
        int64_t sizes[MAX_RANK];
        double n = 1;
        find_sizes(e, variable, rank, sizes);
        for (int i = 0; i < rank; i++)
            n *= __builtin_popcount((uint32_t)sizes[i]);
        has_too_many = has_too_many || ((ranks >> rank & 1) && n > MAX_TYPES);
    }
    return has_too_many;
}

#define SIZES_OF_QUESTION 4   // where they begin
static void add_types_of_rank(const struct enumeration *e, uint32_t variable, enum dtype dtype, int rank,
                              type_vec *types)
{
    struct typing *t = e->typing;
    int64_t question[SIZES_OF_QUESTION + MAX_RANK] = {QUESTION_TYPES, dtype, rank, cuts_of(e, variable)};
    find_sizes(e, variable, rank, question + SIZES_OF_QUESTION);
    uint32_t found = answers_find(&t->memo, SIZES_OF_QUESTION + MAX_RANK, question);
    const struct type_list *kept = found == ANSWERS_NONE ? NULL : t->memo.items.items[found];
    size_t first = types->count;
    for (uint32_t i = 0; kept && i < kept->count; i++)
        vec_push(types, kept->items[i]);
    if (kept)
        return;
    make_types_of_rank(t, dtype, rank, cuts_of(e, variable), question + SIZES_OF_QUESTION, types);
    vec_reserve(types, 1);
    struct type_list *list = arena_new(&t->arena, struct type_list);
    list->count = (uint32_t)(types->count - first);
    list->items = arena_copy_array(&t->arena, types->items + first, list->count);
    answers_add(&t->memo, &t->arena, SIZES_OF_QUESTION + MAX_RANK, question, list);
}

static void add_types_of_ranks(const struct enumeration *e, uint32_t variable, uint16_t ranks, type_vec *types)
{
    static const enum dtype dtypes[3] = {DTYPE_F32, DTYPE_BOOL, DTYPE_I64};
    int tried = e->box->dtypes[variable] ? e->box->dtypes[variable] : TRIES_F32;
    for (int rank = e->box->min_rank; rank <= e->box->max_rank; rank++) {
        if (!(ranks >> rank & 1))
            continue;
        for (int i = 0; i < 3; i++)
            if (tried >> i & 1)
                add_types_of_rank(e, variable, dtypes[i], rank, types);
    }
}

// --- what conditions leave -------------------------------------------------------------------------------------------

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
        struct arena_mark mark = arena_mark(e->scratch);
        tensors[variable] = typing_type(e->typing, types->items[i]);
        if (condition_holds(c, &b, NULL, e->scratch))
            types->items[kept++] = types->items[i];
        arena_release(e->scratch, mark);
    }
    types->count = kept;
}

static struct relation find_types(const struct enumeration *e, uint32_t variable, uint16_t ranks)
{
    struct typing *t = e->typing;
    type_vec types = {0};
    add_types_of_ranks(e, variable, ranks, &types);
    for (uint32_t i = 0; i < e->equation->n_conditions; i++)
        if (is_of_variable_alone(&e->equation->conditions[i], variable))
            keep_types_with(e, &e->equation->conditions[i], variable, &types);
    vec_reserve(&types, 1);
    uint32_t count = (uint32_t)types.count;
    const type_id *kept = arena_copy_array(&t->arena, types.items, count);
    vec_free(&types);
    return relation_of_variable(t, variable, count, kept);
}

// --- what was found before -------------------------------------------------------------------------------------------

static void ask_about_term(struct typing *t, const struct attribute_term *term)
{
    vec_push(&t->key, (int64_t)term->kind);
    vec_push(&t->key, term->value);
    vec_push(&t->key, (int64_t)term->count);
    for (uint32_t i = 0; i < term->count; i++)
        ask_about_term(t, term->operands[i]);
}

static void ask_about_conditions(const struct enumeration *e, uint32_t variable)
{
    for (uint32_t i = 0; i < e->equation->n_conditions; i++) {
        const struct condition *c = &e->equation->conditions[i];
        if (!is_of_variable_alone(c, variable))
            continue;
        vec_push(&e->typing->key, (int64_t)c->kind);
        ask_about_term(e->typing, c->a);
        ask_about_term(e->typing, c->b);
    }
}

// All that the types depend on.
static void ask_about_types(const struct enumeration *e, uint32_t variable, uint16_t ranks)
{
    struct typing *t = e->typing;
    int64_t sizes[MAX_RANK];
    vec_clear(&t->key);
    vec_push(&t->key, QUESTION_TYPES_TO_TRY);
    vec_push(&t->key, variable);
    vec_push(&t->key, cuts_of(e, variable));
    vec_push(&t->key, e->box->dtypes[variable]);
    for (int rank = e->box->min_rank; rank <= e->box->max_rank; rank++) {
        vec_push(&t->key, ranks >> rank & 1 ? rank : -1);
        find_sizes(e, variable, rank, sizes);
        for (int i = 0; (ranks >> rank & 1) && i < MAX_RANK; i++)
            vec_push(&t->key, sizes[i]);
    }
    ask_about_conditions(e, variable);
}

struct relation relation_of_types_to_try(struct enumeration *e, uint32_t variable, uint16_t ranks)
{
    struct typing *t = e->typing;
    e->was_cut_short = e->was_cut_short || has_too_many_types(e, variable, ranks);
    if (e->was_cut_short)
        return (struct relation){.number = ANSWERS_NONE, .variables = 1u << variable, .width = 1};
    ask_about_types(e, variable, ranks);
    uint32_t number = answers_find(&t->memo, t->key.count, t->key.items);
    if (number != ANSWERS_NONE)
        return *(const struct relation *)t->memo.items.items[number];
    struct relation *found = arena_new(&t->arena, struct relation);
    answers_add(&t->memo, &t->arena, t->key.count, t->key.items, found);
    *found = find_types(e, variable, ranks);
    return *found;
}
