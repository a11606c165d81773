// Sums of an operand's entries stand in a tensor with one more axis, which says for which product.
#include "derivation/rules/factorize.h"

#include "derivation/scopes/substitution.h"

struct factorizing {
    struct pool *p;
    struct scope s;   // a copy, that gets working variables
    const struct factorization *by;
};

static bool is_iterator(const struct factorizing *f, uint32_t variable)
{
    return ANY(int, i, f->by->algorithm->n_iterators, f->by->iterators[i] == variable);
}

static bool mentions_iterators(const struct factorizing *f, expr e)
{
    return ANY(int, i, f->by->algorithm->n_iterators, expr_mentions(f->p, e, f->by->iterators[i]));
}

static bool iterators_fit(const struct factorizing *f)
{
    const struct bilinear *b = f->by->algorithm;
    return ALL(int, i, b->n_iterators,
               variable_extent(f->p, f->by->iterators[i]) == b->extents[i] &&
                   scope_has_axis(&f->s, f->by->iterators[i]) == b->is_result[i]) &&
           ALL(int, i, f->s.n_guards, !mentions_iterators(f, f->s.guards[i])) && f->s.n_reads == 2;
}

// --- places ----------------------------------------------------------------------------------------------------------

static expr place_of(struct factorizing *f, const int *factors)
{
    expr place = pool_integer(f->p, 0);
    for (int i = 0; i < f->by->algorithm->n_iterators; i++)
        place = pool_index_add(f->p, place, pool_index_mul(f->p, pool_variable(f->p, f->by->iterators[i]), factors[i]));
    return place;
}

// The next larger factor; of two that are the same the last one has the place.
static int64_t factor_above(const struct bilinear *b, const int *factors, int iterator)
{
    int64_t above = 0;
    for (int i = 0; i < b->n_iterators; i++)
        if (factors[i] > factors[iterator] && (above == 0 || factors[i] < above))
            above = factors[i];
    return above;
}

static bool has_no_place(const struct bilinear *b, const int *factors, int iterator)
{
    for (int i = iterator + 1; i < b->n_iterators; i++)
        if (factors[i] == factors[iterator])
            return true;
    return factors[iterator] == 0;
}

// The read with iterators that are told by the place, such that at all of them it is the read.
static bool read_at_place(struct factorizing *f, expr read, const int *factors, uint32_t place, expr *ret_read)
{
    const struct bilinear *b = f->by->algorithm;
    struct substitution told = {0}, back = {0};
    for (int i = 0; i < b->n_iterators; i++) {
        expr digit = pool_integer(f->p, 0);
        if (!has_no_place(b, factors, i)) {
            int64_t above = factor_above(b, factors, i);
            digit = pool_index_div(f->p, pool_variable(f->p, place), factors[i]);
            digit = above ? pool_index_mod(f->p, digit, above / factors[i]) : digit;
        }
        substitution_add(&told, f->by->iterators[i], digit);
    }
    *ret_read = substitution_apply(f->p, &told, read);
    substitution_add(&back, place, place_of(f, factors));
    return substitution_apply(f->p, &back, *ret_read) == read;
}

// --- operands --------------------------------------------------------------------------------------------------------

// A tensor of sums of an operand's entries. Each of its axes but the last is an index of the operand that the algorithm
// leaves alone, or an iterator in one of the others.
struct operand {
    int tensor, rank;
    struct type type;
    expr read_at[MAX_RANK];        // in iterators of the scope
    uint32_t iterator[MAX_RANK];   // NO_ITERATOR: it is an index
    int axis_of[MAX_RANK];         // of an axis of what is read: the axis that is its index, or -1
};
#define NO_ITERATOR UINT32_MAX

static bool add_axis(struct operand *o, int64_t size, expr read_at, uint32_t iterator)
{
    if (o->rank == MAX_RANK - 1)   // and one more
        return false;
    o->type.dim[o->rank] = size;
    o->iterator[o->rank] = iterator;
    o->read_at[o->rank++] = read_at;
    return true;
}

static bool add_iterator(struct factorizing *f, struct operand *o, expr index, uint32_t variable)
{
    bool is_there = is_iterator(f, variable) || !expr_mentions(f->p, index, variable) ||
                    ANY(int, i, o->rank, o->iterator[i] == variable);
    return is_there || add_axis(o, variable_extent(f->p, variable), pool_variable(f->p, variable), variable);
}

static bool add_iterators(struct factorizing *f, struct operand *o, expr index)
{
    for (int i = 0; i < f->s.type.rank; i++)
        if (!add_iterator(f, o, index, f->s.first_axis + (uint32_t)i))
            return false;
    return ALL(int, i, f->s.n_sums, add_iterator(f, o, index, f->s.sums[i]));
}

static bool find_axes(struct factorizing *f, expr read, struct operand *o)
{
    const struct type type = *definition_tensor(&f->p->d, read_tensor_of(f->p, read));
    for (int axis = 0; axis < type.rank; axis++) {
        expr index = read_indices(f->p, read)[axis];
        bool is_left_alone = !mentions_iterators(f, index);
        o->axis_of[axis] = is_left_alone ? o->rank : -1;
        if (is_left_alone ? !add_axis(o, type.dim[axis], index, NO_ITERATOR) : !add_iterators(f, o, index))
            return false;
    }
    return true;
}

// The entry at a place, in variables of the new axes.
static expr entry_at(struct pool *p, const struct operand *o, expr read, uint32_t place, int which)
{
    struct substitution own = {0};
    expr index[MAX_RANK];
    int tensor = read_tensor_of(p, read), rank = definition_tensor(&p->d, tensor)->rank;
    uint32_t first = pool_axes(p, &o->type);
    substitution_add(&own, place, pool_integer(p, which));
    for (int i = 0; i < o->rank; i++)
        if (o->iterator[i] != NO_ITERATOR)
            substitution_add(&own, o->iterator[i], pool_variable(p, first + (uint32_t)i));
    for (int axis = 0; axis < rank; axis++)
        index[axis] = o->axis_of[axis] >= 0 ? pool_variable(p, first + (uint32_t)o->axis_of[axis])
                                            : substitution_apply(p, &own, read_indices(p, read)[axis]);
    return pool_read(p, tensor, index, OUTSIDE_ZERO);
}

static expr add_term(struct pool *p, expr terms, double factor, expr entry)
{
    expr term = pool_apply(p, FN_MUL, pool_real(p, factor < 0 ? -factor : factor), entry, 0);
    bool is_first = p->d.nodes.items[terms].kind == EXPR_REAL;
    if (is_first)
        return factor < 0 ? pool_apply(p, FN_NEG, term, 0, 0) : term;
    return pool_apply(p, factor < 0 ? FN_SUB : FN_ADD, terms, term, 0);
}

// The sum of these entries with these factors, those that are subtracted last.
static expr combine(struct pool *p, int n, const double *factors, const expr *entries)
{
    expr terms = pool_real(p, 0);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; i < n; i++)
            if (factors[i] * sign > 0)
                terms = add_term(p, terms, factors[i], entries[i]);
    return terms;
}

static expr divide(struct pool *p, expr e, double divisor)
{
    return divisor == 1 ? e : pool_apply(p, FN_DIV, e, pool_real(p, divisor), 0);
}

// The one whose number the index is.
static expr choose(struct pool *p, expr index, int n, const expr *items)
{
    expr chosen = items[0];
    for (int i = 1; i < n; i++)
        chosen = pool_select(p, pool_index_add(p, index, pool_integer(p, -i)), items[i], chosen);
    return chosen;
}

static bool make_operand(struct factorizing *f, expr read, const int *factors, int n_places,
                         const double sums[MOST_PRODUCTS][MOST_PLACES], double divisor, struct operand *o)
{
    struct pool *p = f->p;
    int n = f->by->algorithm->n_products;
    uint32_t place = scope_new_sum(p, &f->s, n_places);
    expr at_place, entries[MOST_PLACES], of_products[MOST_PRODUCTS];
    *o = (struct operand){0};
    if (!read_at_place(f, read, factors, place, &at_place) || !find_axes(f, read, o))
        return false;
    o->type.dim[o->rank] = n;
    o->type = type_make(f->s.type.dtype, o->rank + 1, o->type.dim);
    for (int i = 0; i < n_places; i++)
        entries[i] = entry_at(p, o, at_place, place, i);
    for (int i = 0; i < n; i++)
        of_products[i] = divide(p, combine(p, n_places, sums[i], entries), divisor);
    expr which = pool_variable(p, pool_axes(p, &o->type) + (uint32_t)o->rank);
    o->tensor = pool_scope(p, &o->type, choose(p, which, n, of_products));
    return type_has_allowed_size(&o->type);
}

// --- products --------------------------------------------------------------------------------------------------------

static bool begin_products(struct factorizing *f, struct scope *made, struct substitution *own)
{
    struct type type = {0};
    for (int i = 0; i < f->s.type.rank; i++)
        if (!is_iterator(f, f->s.first_axis + (uint32_t)i))
            type.dim[type.rank++] = f->s.type.dim[i];
    if (type.rank == MAX_RANK)
        return false;
    type.dim[type.rank++] = f->by->algorithm->n_products;
    *made = f->s;
    made->type = type_make(f->s.type.dtype, type.rank, type.dim);
    made->first_axis = pool_axes(f->p, &made->type);
    made->n_sums = made->n_reads = 0;
    for (int i = 0, next = 0; i < f->s.type.rank; i++)
        if (!is_iterator(f, f->s.first_axis + (uint32_t)i))
            substitution_add(own, f->s.first_axis + (uint32_t)i, scope_axis(f->p, made, next++));
    for (int i = 0; i < f->s.n_sums; i++)
        if (!is_iterator(f, f->s.sums[i]))
            made->sums[made->n_sums++] = f->s.sums[i];
    return type_has_allowed_size(&made->type);
}

static void add_read(struct factorizing *f, struct scope *made, const struct substitution *own, struct operand *o)
{
    expr index[MAX_RANK];
    for (int i = 0; i < o->rank; i++)
        index[i] = substitution_apply(f->p, own, o->read_at[i]);
    index[o->rank] = scope_axis(f->p, made, made->type.rank - 1);
    made->reads[made->n_reads++] = pool_read(f->p, o->tensor, index, OUTSIDE_ZERO);
}

static int make_products(struct factorizing *f, struct operand operands[2])
{
    struct scope made;
    struct substitution own = {0};
    if (!begin_products(f, &made, &own))
        return NO_SCOPE;
    for (int i = 0; i < made.n_guards; i++)
        made.guards[i] = substitution_apply(f->p, &own, made.guards[i]);
    for (int i = 0; i < 2; i++)
        add_read(f, &made, &own, &operands[i]);
    return scope_make(f->p, &made);
}

// --- the result ------------------------------------------------------------------------------------------------------

static int make_result(struct factorizing *f, int products)
{
    struct pool *p = f->p;
    const struct bilinear *b = f->by->algorithm;
    expr index[MAX_RANK], entries[MOST_PRODUCTS], results[MOST_PLACES];
    int rank = 0;
    for (int i = 0; i < f->s.type.rank; i++)
        if (!is_iterator(f, f->s.first_axis + (uint32_t)i))
            index[rank++] = scope_axis(p, &f->s, i);
    for (int i = 0; i < b->n_products; i++) {
        index[rank] = pool_integer(p, i);
        entries[i] = pool_read(p, products, index, OUTSIDE_NEVER);
    }
    for (int i = 0; i < b->n_result; i++)
        results[i] = combine(p, b->n_products, b->to_result[i], entries);
    return pool_scope(p, &f->s.type, choose(p, place_of(f, b->result), b->n_result, results));
}

int rule_factorize(struct pool *p, const struct scope *s, const struct factorization *by)
{
    struct factorizing f = {.p = p, .s = *s, .by = by};
    const struct bilinear *b = by->algorithm;
    struct operand operands[2];
    if (!iterators_fit(&f) ||
        !make_operand(&f, s->reads[by->first], b->first, b->n_first, b->of_first, 1, &operands[0]) ||
        !make_operand(&f, s->reads[1 - by->first], b->second, b->n_second, b->of_second, b->divisor, &operands[1]))
        return NO_SCOPE;
    int products = make_products(&f, operands);
    return products == NO_SCOPE ? NO_SCOPE : make_result(&f, products);
}
