// Taking apart goes down sums, guards and products; making sorts them. The order of sums is that of their colors,
// hashes of what mentions them that know no names; where colors are equal, all orders are built and the one of the
// lowest body counts: the pool knows which bodies are the same.
#include "derivation/scopes/scope.h"

#include "core/memory/hash.h"
#include "expressions/affine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Depths of reductions that no scope has: variables of scopes that are being worked on.
enum { WORKING_DEPTH = 1000, MOST_ORDERS = 24 };

int64_t variable_extent(const struct pool *p, uint32_t variable)
{
    return p->d.extents.items[variable];
}

const expr *read_indices(const struct pool *p, expr read)
{
    return &p->d.indices.items[p->d.nodes.items[read].a];
}

int read_tensor_of(const struct pool *p, expr read)
{
    return (int)p->d.nodes.items[read].value;
}

expr scope_axis(struct pool *p, const struct scope *s, int axis)
{
    return pool_variable(p, s->first_axis + (uint32_t)axis);
}

bool expr_mentions(const struct pool *p, expr e, uint32_t variable)
{
    return definition_mentions(&p->d, e, variable);
}

bool scope_mentions(const struct pool *p, const struct scope *s, uint32_t variable)
{
    return ANY(int, i, s->n_reads, expr_mentions(p, s->reads[i], variable)) ||
           ANY(int, i, s->n_guards, expr_mentions(p, s->guards[i], variable));
}

bool read_is_outside(const struct pool *p, expr read)
{
    const struct type *type = definition_tensor(&p->d, read_tensor_of(p, read));
    for (int i = 0; i < type->rank; i++) {
        struct index_range range = index_range(&p->d, read_indices(p, read)[i]);
        if (range.low <= range.high && (range.high < 0 || range.low >= type->dim[i]))
            return true;
    }
    return false;
}

void scope_substitute(struct pool *p, struct scope *s, const struct substitution *by)
{
    for (int i = 0; i < s->n_reads; i++)
        s->reads[i] = substitution_apply(p, by, s->reads[i]);
    for (int i = 0; i < s->n_guards; i++)
        s->guards[i] = substitution_apply(p, by, s->guards[i]);
}

int scope_copy(struct pool *p, const struct type *type, int tensor, const expr *index)
{
    return pool_scope(p, type, pool_read(p, tensor, index, OUTSIDE_ZERO));
}

static bool is_own_axis(const struct pool *p, expr index, const struct stage *scope, int axis)
{
    const struct expr_node *n = &p->d.nodes.items[index];
    return scope->type.dim[axis] == 1 ? n->kind == EXPR_INTEGER && n->value == 0
                                      : n->kind == EXPR_VARIABLE && n->value == scope->first_variable + axis;
}

int scope_copied_whole(const struct pool *p, int tensor)
{
    if (!scope_is_copy(p, tensor))
        return tensor;
    const struct stage *scope = &p->d.stages[tensor - p->d.n_inputs];
    int read = read_tensor_of(p, scope->body);
    if (!type_equal(definition_tensor(&p->d, read), &scope->type))
        return tensor;
    for (int axis = 0; axis < scope->type.rank; axis++)
        if (!is_own_axis(p, read_indices(p, scope->body)[axis], scope, axis))
            return tensor;
    return read;
}

void scope_init(struct pool *p, const struct type *type, struct scope *ret_scope)
{
    *ret_scope = (struct scope){.type = type_make(type->dtype, type->rank, type->dim), .factor = 1, .divisor = 1};
    ret_scope->first_axis = pool_axes(p, &ret_scope->type);
}

uint32_t scope_new_sum(struct pool *p, struct scope *s, int64_t extent)
{
    return pool_reduction(p, WORKING_DEPTH + s->n_used++, extent);
}

// --- taking apart ----------------------------------------------------------------------------------------------------

struct taking {
    struct pool *p;
    struct scope *s;
    struct substitution names;
};

static bool take(struct taking *t, expr e);

// Only products that doubles have exactly: what is equal stays so.
static bool multiply_exactly(double *product, double by)
{
    double result = *product * by;
    bool is_exact = isfinite(result) && fma(*product, by, -result) == 0;
    *product = result;
    return is_exact;
}

static bool take_read(struct taking *t, expr e)
{
    if (t->p->d.nodes.items[e].b == OUTSIDE_LOWEST || t->s->n_reads == MOST_READS)
        return false;
    t->s->reads[t->s->n_reads++] = substitution_apply(t->p, &t->names, e);
    return t->p->d.nodes.items[t->s->reads[t->s->n_reads - 1]].kind == EXPR_READ;
}

static bool take_sum(struct taking *t, const struct expr_node *n)
{
    int64_t extent = t->p->d.extents.items[n->value];
    if (n->fn != FN_ADD || t->s->n_sums == MOST_SUMS || extent < 1)
        return false;
    uint32_t variable = scope_new_sum(t->p, t->s, extent);
    if (extent > 1)
        t->s->sums[t->s->n_sums++] = variable;
    substitution_add(&t->names, (uint32_t)n->value, pool_variable(t->p, variable));
    bool is_taken = take(t, n->a);
    t->names.n--;
    return is_taken;
}

static bool is_zero(const struct pool *p, expr e)
{
    return p->d.nodes.items[e].kind == EXPR_REAL && p->d.nodes.items[e].real == 0;
}

static bool take_guard(struct taking *t, const struct expr_node *n)
{
    bool is_negative = is_zero(t->p, n->b);
    if ((!is_negative && !is_zero(t->p, n->c)) || t->s->n_guards == MOST_GUARDS)
        return false;
    expr guard = substitution_apply(t->p, &t->names, n->a);
    if (is_negative)
        guard = pool_index_add(t->p, pool_index_mul(t->p, guard, -1), pool_integer(t->p, -1));
    t->s->guards[t->s->n_guards++] = guard;
    return take(t, is_negative ? n->c : n->b);
}

static bool take_quotient(struct taking *t, const struct expr_node *n)
{
    const struct expr_node *by = &t->p->d.nodes.items[n->b];
    return by->kind == EXPR_REAL && by->real != 0 && multiply_exactly(&t->s->divisor, by->real) && take(t, n->a);
}

static bool take(struct taking *t, expr e)
{
    const struct expr_node n = t->p->d.nodes.items[e];   // nodes may move
    switch ((enum expr_kind)n.kind) {
    case EXPR_REAL:
        return multiply_exactly(&t->s->factor, n.real);
    case EXPR_READ:
        return take_read(t, e);
    case EXPR_REDUCE:
        return take_sum(t, &n);
    case EXPR_SELECT:
        return take_guard(t, &n);
    case EXPR_APPLY:
        return n.fn == FN_MUL   ? take(t, n.a) && take(t, n.b)
               : n.fn == FN_DIV ? take_quotient(t, &n)
               : n.fn == FN_NEG ? multiply_exactly(&t->s->factor, -1) && take(t, n.a)
                                : false;
    default:
        return false;
    }
}

bool scope_take(struct pool *p, int tensor, struct scope *ret_scope)
{
    if (tensor < p->d.n_inputs)
        return false;
    const struct stage stage = p->d.stages[tensor - p->d.n_inputs];
    scope_init(p, &stage.type, ret_scope);
    struct taking t = {.p = p, .s = ret_scope};
    return take(&t, stage.body);
}

// --- normal form -----------------------------------------------------------------------------------------------------

// A sum over what does not mention its iterator is a multiple.
static bool drop_idle_sums(const struct pool *p, struct scope *s)
{
    bool is_exact = true;
    for (int i = s->n_sums; i-- > 0;)
        if (!scope_mentions(p, s, s->sums[i])) {
            is_exact = is_exact && multiply_exactly(&s->factor, (double)variable_extent(p, s->sums[i]));
            memmove(&s->sums[i], &s->sums[i + 1], (size_t)(--s->n_sums - i) * sizeof *s->sums);
        }
    return is_exact;
}

// Does the guard say no more than that an index is inside of an axis of this size? A quotient is where what it divides
// is inside of as many times that size.
static bool is_said_by_index(struct pool *p, expr index, int64_t size, expr guard)
{
    const struct expr_node n = p->d.nodes.items[index];
    expr to_end = pool_index_add(p, pool_index_mul(p, index, -1), pool_integer(p, size - 1));
    return guard == index || guard == to_end ||
           (n.kind == EXPR_INDEX_DIV && is_said_by_index(p, n.a, index_saturated_product(size, n.value), guard));
}

// The same for all axes of a read, which is 0 outside.
static bool is_said_by_read(struct pool *p, expr read, expr guard)
{
    struct type type = *definition_tensor(&p->d, read_tensor_of(p, read));
    return ANY(int, axis, type.rank, is_said_by_index(p, read_indices(p, read)[axis], type.dim[axis], guard));
}

static bool is_idle_guard(struct pool *p, const struct scope *s, int place)
{
    for (int i = 0; i < place; i++)
        if (s->guards[i] == s->guards[place])
            return true;
    return ANY(int, i, s->n_reads, is_said_by_read(p, s->reads[i], s->guards[place])) ||
           index_range(&p->d, s->guards[place]).low >= 0;
}

// The sum of multiples of a number and another number is not negative where their quotients by it are not.
static expr smallest_guard(struct pool *p, expr guard)
{
    struct affine_form f;
    int64_t divisor = 0;
    for (int i = 0; affine_form_of(&p->d, guard, &f) && i < f.n; i++)
        divisor = greatest_common_divisor(divisor, f.terms[i].factor);
    return divisor > 1 ? pool_index_div(p, guard, divisor) : guard;
}

// A guard that is never true makes the scope 0.
static void drop_idle_guards(struct pool *p, struct scope *s)
{
    for (int i = 0; i < s->n_guards; i++)
        s->guards[i] = smallest_guard(p, s->guards[i]);
    for (int i = s->n_guards; i-- > 0;) {
        if (index_range(&p->d, s->guards[i]).high < 0)
            s->factor = 0;
        if (is_idle_guard(p, s, i))
            memmove(&s->guards[i], &s->guards[i + 1], (size_t)(--s->n_guards - i) * sizeof *s->guards);
    }
}

struct coloring {
    const struct pool *p;
    const struct scope *s;
    uint64_t colors[MOST_SUMS];
    int marked;
};

static uint64_t hash_variable(const struct coloring *c, int64_t variable)
{
    for (int i = 0; i < c->s->n_sums; i++)
        if (c->s->sums[i] == variable)
            return i == c->marked ? 0x51ed270b : hash_mix(1, c->colors[i]);
    return hash_mix(2, (uint64_t)variable);
}

// Sums of indices are in the order of names, which does not count.
static uint64_t hash_expr(const struct coloring *c, expr e)
{
    const struct expr_node *n = &c->p->d.nodes.items[e];
    uint64_t hash = hash_mix(n->kind, n->kind == EXPR_VARIABLE ? 0 : (uint64_t)n->value);
    struct operands below = expr_operands(&c->p->d, e);
    if (n->kind == EXPR_VARIABLE)
        return hash_variable(c, n->value);
    if (n->kind == EXPR_INDEX_ADD)
        return hash_expr(c, n->a) + hash_expr(c, n->b);
    for (uint32_t i = 0; i < below.n; i++)
        hash = hash_mix(hash, hash_expr(c, below.items[i]));
    return hash;
}

static uint64_t color_of_sum(struct coloring *c, int sum)
{
    uint64_t color = 0;
    c->marked = sum;
    for (int i = 0; i < c->s->n_reads; i++)
        color += hash_expr(c, c->s->reads[i]);
    for (int i = 0; i < c->s->n_guards; i++)
        color += 3 * hash_expr(c, c->s->guards[i]);
    return hash_mix((uint64_t)variable_extent(c->p, c->s->sums[sum]), color);
}

static void color_sums(struct coloring *c)
{
    uint64_t next[MOST_SUMS];
    for (int i = 0; i < c->s->n_sums; i++)
        c->colors[i] = (uint64_t)variable_extent(c->p, c->s->sums[i]);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < c->s->n_sums; i++)
            next[i] = color_of_sum(c, i);
        memcpy(c->colors, next, sizeof next);
    }
}

COMPARISON(by_number, expr, ORDER(*x, *y))

// The body with the sums in this order, the first one outermost.
static expr body_in_order(struct pool *p, const struct scope *s, const int *order)
{
    struct substitution names = {0};
    expr guards[MOST_GUARDS], reads[MOST_READS], body = pool_real(p, s->factor);
    for (int i = 0; i < s->n_sums; i++) {
        uint32_t variable = s->sums[order[i]];
        substitution_add(&names, variable, pool_variable(p, pool_reduction(p, i, variable_extent(p, variable))));
    }
    for (int i = 0; i < s->n_guards; i++)
        guards[i] = substitution_apply(p, &names, s->guards[i]);
    for (int i = 0; i < s->n_reads; i++)
        reads[i] = substitution_apply(p, &names, s->reads[i]);
    qsort(guards, (size_t)s->n_guards, sizeof *guards, by_number);
    qsort(reads, (size_t)s->n_reads, sizeof *reads, by_number);
    for (int i = 0; i < s->n_reads; i++)
        body = pool_apply(p, FN_MUL, body, reads[i], 0);
    if (s->divisor != 1)
        body = pool_apply(p, FN_DIV, body, pool_real(p, s->divisor), 0);
    for (int i = s->n_guards; i-- > 0;)
        body = pool_select(p, guards[i], body, pool_real(p, 0));
    for (int i = s->n_sums; i-- > 0;)
        body = pool_reduce(p, FN_ADD, pool_reduction(p, i, variable_extent(p, s->sums[order[i]])), body);
    return body;
}

struct ordering {
    struct pool *p;
    const struct scope *s;
    const struct coloring *c;
    int order[MOST_SUMS], n_built;
    expr lowest;
};

static void swap_places(int *order, int a, int b)
{
    int kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

// Builds all orders of the sums from `place` on that colors do not tell apart.
static void build_orders(struct ordering *o, int place)
{
    if (o->n_built == MOST_ORDERS)
        return;
    if (place == o->s->n_sums) {
        expr body = body_in_order(o->p, o->s, o->order);
        o->lowest = o->n_built++ == 0 || body < o->lowest ? body : o->lowest;
        return;
    }
    for (int i = place; i < o->s->n_sums && o->c->colors[o->order[i]] == o->c->colors[o->order[place]]; i++) {
        swap_places(o->order, place, i);
        build_orders(o, place + 1);
        swap_places(o->order, place, i);
    }
}

static void sort_by_color(struct ordering *o)
{
    for (int i = 0; i < o->s->n_sums; i++) {
        o->order[i] = i;
        for (int j = i; j > 0 && o->c->colors[o->order[j]] < o->c->colors[o->order[j - 1]]; j--)
            swap_places(o->order, j, j - 1);
    }
}

int scope_make(struct pool *p, const struct scope *s)
{
    struct scope plain = *s;
    drop_idle_guards(p, &plain);
    if (plain.factor == 0)
        return pool_scope(p, &s->type, pool_real(p, 0));
    if (!drop_idle_sums(p, &plain))
        return NO_SCOPE;
    struct coloring colors = {.p = p, .s = &plain};
    struct ordering o = {.p = p, .s = &plain, .c = &colors};
    color_sums(&colors);
    sort_by_color(&o);
    build_orders(&o, 0);
    return pool_scope(p, &s->type, o.lowest);
}
