// Hash-consing of nodes, and the constructors that keep the normal form.
#include "expressions/composition/pool.h"

#include "core/memory/hash.h"
#include "expressions/affine.h"
#include <string.h>

void pool_init(struct pool *p, struct arena *arena, int n_inputs, const struct type *inputs)
{
    *p = (struct pool){0};
    definition_init(&p->d, arena, n_inputs, inputs);
}

void pool_free(struct pool *p)
{
    definition_free(&p->d);
    table_free(&p->known);
    table_free(&p->scopes);
    table_free(&p->shapes);
    vecs_free(p, axes, iterators);
}

// --- nodes -----------------------------------------------------------------------------------------------------------

// A read is asked for with its indices beside it, where the node will say where they stand.
struct asked {
    struct expr_node node;
    const expr *indices;
};

static bool is_equal_node(const void *owner, uint32_t id, const void *key)
{
    const struct pool *p = owner;
    const struct asked *asked = key;
    struct expr_node known = p->d.nodes.items[id];
    size_t size = asked->node.count * sizeof *asked->indices;
    if (known.kind != EXPR_READ)
        return memcmp(&known, &asked->node, sizeof known) == 0;
    if (known.count != asked->node.count || (size && memcmp(&p->d.indices.items[known.a], asked->indices, size) != 0))
        return false;
    known.a = 0;
    return memcmp(&known, &asked->node, sizeof known) == 0;
}

static expr find_or_add(struct pool *p, struct expr_node node, const expr *indices)
{
    struct asked asked = {node, indices};
    uint64_t hash = hash_bytes(&node, sizeof node, 0);
    if (node.count)
        hash = hash_bytes(indices, node.count * sizeof *indices, hash);
    uint32_t found = table_find(&p->known, hash, is_equal_node, p, &asked);
    if (found != TABLE_NONE)
        return found;
    node.a = node.kind == EXPR_READ ? (expr)p->d.indices.count : node.a;
    for (uint32_t i = 0; i < node.count; i++)
        vec_push(&p->d.indices, indices[i]);
    expr added = (expr)p->d.nodes.count;
    vec_push(&p->d.nodes, node);
    table_insert(&p->known, hash, added);
    return added;
}

static expr node_of(struct pool *p, struct expr_node node)
{
    return find_or_add(p, node, NULL);
}

// --- iterators and scopes --------------------------------------------------------------------------------------------

static bool are_axes_of(const void *owner, uint32_t id, const void *key)
{
    const struct pool *p = owner;
    const struct pool_axes *axes = &p->axes.items[id];
    const struct type *type = key;
    const int64_t *extents = p->d.extents.items + axes->first_variable;
    return axes->rank == type->rank &&
           (type->rank == 0 || memcmp(extents, type->dim, (size_t)type->rank * sizeof *extents) == 0);
}

uint32_t pool_axes(struct pool *p, const struct type *type)
{
    struct pool_axes axes = {type->rank, (uint32_t)p->d.extents.count};
    uint64_t hash = hash_bytes(type->dim, (size_t)type->rank * sizeof *type->dim, (uint64_t)type->rank);
    uint32_t found = table_find(&p->shapes, hash, are_axes_of, p, type);
    if (found != TABLE_NONE)
        return p->axes.items[found].first_variable;
    for (int axis = 0; axis < type->rank; axis++)
        vec_push(&p->d.extents, type->dim[axis]);
    table_insert(&p->shapes, hash, (uint32_t)p->axes.count);
    vec_push(&p->axes, axes);
    return axes.first_variable;
}

uint32_t pool_reduction(struct pool *p, int depth, int64_t extent)
{
    for (size_t i = 0; i < p->iterators.count; i++)
        if (p->iterators.items[i].depth == depth && p->iterators.items[i].extent == extent)
            return p->iterators.items[i].variable;
    struct pool_iterator iterator = {depth, extent, (uint32_t)p->d.extents.count};
    vec_push(&p->d.extents, extent);
    vec_push(&p->iterators, iterator);
    return iterator.variable;
}

static bool is_equal_scope(const void *owner, uint32_t id, const void *key)
{
    const struct stage *known = &((const struct pool *)owner)->d.stages[id], *asked = key;
    return known->body == asked->body && known->first_variable == asked->first_variable &&
           known->type.dtype == asked->type.dtype && known->type.rank == asked->type.rank;
}

int pool_scope(struct pool *p, const struct type *type, expr body)
{
    struct stage asked = {.type = type_make(type->dtype, type->rank, type->dim), .body = body};
    asked.first_variable = pool_axes(p, &asked.type);
    uint64_t hash = hash_mix(hash_mix(asked.first_variable, (uint64_t)asked.type.dtype), body);
    uint32_t found = table_find(&p->scopes, hash, is_equal_scope, p, &asked);
    if (found != TABLE_NONE)
        return p->d.n_inputs + (int)found;
    int tensor = stage_add_over(&p->d, &asked.type, asked.first_variable);
    stage_set_body(&p->d, tensor, body);
    table_insert(&p->scopes, hash, (uint32_t)(tensor - p->d.n_inputs));
    return tensor;
}

// --- sums of indices -------------------------------------------------------------------------------------------------

static void add_form(struct affine_form *sum, const struct affine_form *f, int64_t factor)
{
    sum->base = wrapping_sum(sum->base, wrapping_product(factor, f->base));
    for (int i = 0; i < f->n; i++)
        sum->terms[sum->n++] = (struct scaled_atom){f->terms[i].atom, wrapping_product(factor, f->terms[i].factor)};
}

static void drop_term(struct affine_form *f, int place)
{
    f->n--;
    memmove(&f->terms[place], &f->terms[place + 1], (size_t)(f->n - place) * sizeof *f->terms);
}

static bool is_sorted(const struct affine_form *f)
{
    return !ANY(int, i, f->n, f->terms[i].factor == 0 || (i > 0 && f->terms[i - 1].atom >= f->terms[i].atom));
}

// Each atom once, in their order, none 0 times.
static void sort_terms(struct affine_form *f)
{
    struct affine_form sorted;
    if (is_sorted(f))
        return;
    sorted.base = f->base;
    sorted.n = 0;
    for (int i = 0; i < f->n; i++) {
        int at = sorted.n;
        while (at > 0 && sorted.terms[at - 1].atom > f->terms[i].atom)
            at--;
        if (at > 0 && sorted.terms[at - 1].atom == f->terms[i].atom) {
            sorted.terms[at - 1].factor = wrapping_sum(sorted.terms[at - 1].factor, f->terms[i].factor);
            continue;
        }
        memmove(&sorted.terms[at + 1], &sorted.terms[at], (size_t)(sorted.n++ - at) * sizeof *sorted.terms);
        sorted.terms[at] = f->terms[i];
    }
    for (int i = sorted.n; i-- > 0;)
        if (sorted.terms[i].factor == 0)
            drop_term(&sorted, i);
    *f = sorted;
}

static int place_of_term(const struct affine_form *f, expr atom, int64_t factor)
{
    return FIRST_OF(int, i, f->n, f->terms[i].atom == atom && f->terms[i].factor == factor);
}

// Joins one n * (e / n) + e mod n, which becomes e. False: there is none.
static bool join_remainder(struct pool *p, struct affine_form *f)
{
    for (int i = 0; i < f->n; i++) {
        struct expr_node n = p->d.nodes.items[f->terms[i].atom];
        struct affine_form whole;
        int64_t factor = f->terms[i].factor;
        if (n.kind != EXPR_INDEX_MOD || !affine_form_of(&p->d, n.a, &whole))
            continue;
        int quotient = place_of_term(f, pool_index_div(p, n.a, n.value), wrapping_product(factor, n.value));
        if (quotient == f->n || f->n - 2 + whole.n > MAX_AFFINE_TERMS)
            continue;
        drop_term(f, quotient > i ? quotient : i);
        drop_term(f, quotient > i ? i : quotient);
        add_form(f, &whole, factor);
        sort_terms(f);
        return true;
    }
    return false;
}

static expr add_plainly(struct pool *p, expr a, expr b)
{
    return node_of(p, (struct expr_node){.kind = EXPR_INDEX_ADD, .a = a, .b = b});
}

static expr multiply_plainly(struct pool *p, expr a, int64_t factor)
{
    return factor == 1 ? a : node_of(p, (struct expr_node){.kind = EXPR_INDEX_MUL, .a = a, .value = factor});
}

static expr index_of_form(struct pool *p, struct affine_form f)
{
    expr sum = 0;
    sort_terms(&f);
    while (join_remainder(p, &f))
        ;
    for (int i = 0; i < f.n; i++) {
        expr term = multiply_plainly(p, f.terms[i].atom, f.terms[i].factor);
        sum = i ? add_plainly(p, sum, term) : term;
    }
    if (f.n == 0)
        return pool_integer(p, f.base);
    return f.base ? add_plainly(p, sum, pool_integer(p, f.base)) : sum;
}

expr pool_integer(struct pool *p, int64_t value)
{
    return node_of(p, (struct expr_node){.kind = EXPR_INTEGER, .value = value});
}

expr pool_variable(struct pool *p, uint32_t variable)
{
    if (p->d.extents.items[variable] == 1)
        return pool_integer(p, 0);
    return node_of(p, (struct expr_node){.kind = EXPR_VARIABLE, .value = variable});
}

expr pool_index_add(struct pool *p, expr a, expr b)
{
    struct affine_form f, g;
    if (!affine_form_of(&p->d, a, &f) || !affine_form_of(&p->d, b, &g) || f.n + g.n > MAX_AFFINE_TERMS)
        return add_plainly(p, a, b);
    add_form(&f, &g, 1);
    return index_of_form(p, f);
}

expr pool_index_mul(struct pool *p, expr a, int64_t factor)
{
    struct affine_form f, product = {0};
    if (!affine_form_of(&p->d, a, &f))
        return multiply_plainly(p, a, factor);
    add_form(&product, &f, factor);
    return index_of_form(p, product);
}

// --- quotients and remainders ----------------------------------------------------------------------------------------

static void add_part(struct affine_form *f, expr atom, int64_t factor)
{
    if (factor != 0)
        f->terms[f->n++] = (struct scaled_atom){atom, factor};
}

// a = divisor * whole + rest, by the numbers in the sum: in the rest all factors are smaller than the divisor.
static bool take_multiples(const struct pool *p, expr a, int64_t divisor, struct affine_form *ret_whole,
                           struct affine_form *ret_rest)
{
    struct affine_form f;
    if (!affine_form_of(&p->d, a, &f))
        return false;
    *ret_whole = (struct affine_form){.base = floor_quotient(f.base, divisor)};
    *ret_rest = (struct affine_form){.base = f.base - divisor * ret_whole->base};
    for (int i = 0; i < f.n; i++) {
        add_part(ret_whole, f.terms[i].atom, f.terms[i].factor / divisor);
        add_part(ret_rest, f.terms[i].atom, f.terms[i].factor % divisor);
    }
    return true;
}

// Has the quotient one value wherever the index is?
static bool is_one_quotient(const struct pool *p, expr index, int64_t divisor, int64_t *ret_quotient)
{
    struct index_range range = index_range(&p->d, index);
    *ret_quotient = floor_quotient(range.low, divisor);
    return range.low <= range.high && range.low > -INDEX_UNBOUNDED && range.high < INDEX_UNBOUNDED &&
           floor_quotient(range.high, divisor) == *ret_quotient;
}

// A quotient of a quotient is one quotient.
static expr divide_plainly(struct pool *p, expr a, int64_t divisor)
{
    struct expr_node n = p->d.nodes.items[a];
    int64_t product;
    if (n.kind == EXPR_INDEX_DIV && !__builtin_mul_overflow(n.value, divisor, &product))
        return pool_index_div(p, n.a, product);
    return node_of(p, (struct expr_node){.kind = EXPR_INDEX_DIV, .a = a, .value = divisor});
}

expr pool_index_div(struct pool *p, expr a, int64_t divisor)
{
    struct affine_form whole, rest;
    int64_t quotient;
    if (divisor == 1)
        return a;
    if (!take_multiples(p, a, divisor, &whole, &rest))
        return divide_plainly(p, a, divisor);
    expr left = index_of_form(p, rest);
    if (is_one_quotient(p, left, divisor, &quotient)) {
        whole.base = wrapping_sum(whole.base, quotient);
        return index_of_form(p, whole);
    }
    return pool_index_add(p, index_of_form(p, whole), divide_plainly(p, left, divisor));
}

static expr remainder_plainly(struct pool *p, expr a, int64_t divisor)
{
    struct expr_node n = p->d.nodes.items[a];
    if (n.kind == EXPR_INDEX_MOD && n.value % divisor == 0)
        return pool_index_mod(p, n.a, divisor);
    return node_of(p, (struct expr_node){.kind = EXPR_INDEX_MOD, .a = a, .value = divisor});
}

expr pool_index_mod(struct pool *p, expr a, int64_t divisor)
{
    struct affine_form whole, rest;
    int64_t quotient;
    if (!take_multiples(p, a, divisor, &whole, &rest))
        return remainder_plainly(p, a, divisor);
    expr left = index_of_form(p, rest);
    if (is_one_quotient(p, left, divisor, &quotient))
        return pool_index_add(p, left, pool_integer(p, -divisor * quotient));
    return remainder_plainly(p, left, divisor);
}

expr pool_index_of(struct pool *p, expr scalar)
{
    p->d.is_data_dependent = true;
    return node_of(p, (struct expr_node){.kind = EXPR_INDEX_OF, .a = scalar});
}

// --- scalars ---------------------------------------------------------------------------------------------------------

expr pool_real(struct pool *p, double value)
{
    return node_of(p, (struct expr_node){.kind = EXPR_REAL, .real = value});
}

expr pool_scalar_of(struct pool *p, expr index)
{
    return node_of(p, (struct expr_node){.kind = EXPR_SCALAR_OF, .a = index});
}

expr pool_read(struct pool *p, int tensor, const expr *index, enum outside outside)
{
    const struct type *type = definition_tensor(&p->d, tensor);
    bool stays_inside = ALL(int, i, type->rank, index_stays_inside(&p->d, index[i], type->dim[i]));
    struct expr_node read = {.kind = EXPR_READ, .value = tensor, .count = (uint16_t)type->rank};
    read.b = stays_inside ? OUTSIDE_NEVER : (expr)outside;
    return find_or_add(p, read, index);
}

static bool is_one(const struct pool *p, expr e)
{
    return p->d.nodes.items[e].kind == EXPR_REAL && p->d.nodes.items[e].real == 1;
}

static expr apply_plainly(struct pool *p, enum scalar_function fn, expr a, expr b, expr c)
{
    int arity = function_arity(fn);
    bool commutes = fn == FN_ADD || fn == FN_MUL, is_swapped = commutes && a > b;
    if (fn == FN_MUL && (is_one(p, a) || is_one(p, b)))
        return is_one(p, a) ? b : a;
    return node_of(p, (struct expr_node){.kind = EXPR_APPLY,
                                         .fn = (uint8_t)fn,
                                         .a = is_swapped ? b : a,
                                         .b = is_swapped  ? a
                                              : arity > 1 ? b
                                                          : 0,
                                         .c = arity > 2 ? c : 0});
}

enum { MOST_MOVED = 10000 };

static bool moves_conditions(const struct pool *p)
{
    return !p->keeps_conditions && p->n_moved < MOST_MOVED;
}

static const struct expr_node *as_select(const struct pool *p, expr e, expr condition)
{
    const struct expr_node *node = &p->d.nodes.items[e];
    return node->kind == EXPR_SELECT && node->a == condition ? node : NULL;
}

static expr branch_of(const struct pool *p, expr e, expr condition, bool is_met)
{
    const struct expr_node *select = as_select(p, e, condition);
    return !select ? e : is_met ? select->b : select->c;
}

// The first one, in the order of the pool, that is outside of an operand. False: there is none.
static bool find_condition(const struct pool *p, const expr *operands, int n, expr *ret_condition)
{
    bool is_found = false;
    for (int i = 0; i < n; i++) {
        const struct expr_node *node = &p->d.nodes.items[operands[i]];
        if (node->kind != EXPR_SELECT || (is_found && *ret_condition <= node->a))
            continue;
        *ret_condition = node->a;
        is_found = true;
    }
    return is_found;
}

expr pool_apply(struct pool *p, enum scalar_function fn, expr a, expr b, expr c)
{
    expr operands[] = {a, b, c}, met[] = {a, b, c}, unmet[] = {a, b, c}, condition = 0;
    int arity = function_arity(fn);
    if (!moves_conditions(p) || !find_condition(p, operands, arity, &condition))
        return apply_plainly(p, fn, a, b, c);
    p->n_moved++;
    for (int i = 0; i < arity; i++) {
        met[i] = branch_of(p, operands[i], condition, true);
        unmet[i] = branch_of(p, operands[i], condition, false);
    }
    expr if_met = pool_apply(p, fn, met[0], met[1], met[2]);
    return pool_select(p, condition, if_met, pool_apply(p, fn, unmet[0], unmet[1], unmet[2]));
}

expr pool_select(struct pool *p, expr index, expr if_not_negative, expr otherwise)
{
    struct index_range range = index_range(&p->d, index);
    if_not_negative = branch_of(p, if_not_negative, index, true);
    otherwise = branch_of(p, otherwise, index, false);
    if (range.low >= 0 || if_not_negative == otherwise)
        return if_not_negative;
    if (range.high < 0)
        return otherwise;
    return node_of(p, (struct expr_node){.kind = EXPR_SELECT, .a = index, .b = if_not_negative, .c = otherwise});
}

expr pool_within(struct pool *p, expr index, int64_t size, expr inside)
{
    expr zero = pool_real(p, 0), to_end = pool_index_add(p, pool_index_mul(p, index, -1), pool_integer(p, size - 1));
    return pool_select(p, index, pool_select(p, to_end, inside, zero), zero);
}

static bool depends_on(const struct pool *p, expr index, uint32_t variable)
{
    const struct expr_node *node = &p->d.nodes.items[index];
    switch (node->kind) {
    case EXPR_INTEGER:
        return false;
    case EXPR_VARIABLE:
        return (uint32_t)node->value == variable;
    case EXPR_INDEX_ADD:
        return depends_on(p, node->a, variable) || depends_on(p, node->b, variable);
    case EXPR_INDEX_MUL:
    case EXPR_INDEX_DIV:
    case EXPR_INDEX_MOD:
        return depends_on(p, node->a, variable);
    default:
        return true;   // of data
    }
}

expr pool_reduce(struct pool *p, enum scalar_function fn, uint32_t variable, expr body)
{
    struct expr_node select = p->d.nodes.items[body];
    if (select.kind == EXPR_SELECT && moves_conditions(p) && !depends_on(p, select.a, variable)) {
        p->n_moved++;
        expr if_met = pool_reduce(p, fn, variable, select.b);
        return pool_select(p, select.a, if_met, pool_reduce(p, fn, variable, select.c));
    }
    return node_of(p, (struct expr_node){.kind = EXPR_REDUCE, .fn = (uint8_t)fn, .a = body, .value = variable});
}
